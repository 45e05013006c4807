// SPDX-License-Identifier: GPL-2.0-or-later
/* See codefile.h. Rows and names come in pieces, so that little memory is needed beside the table.
 */
#include "bpf/tracker/codefile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/tracker/codedraft.h"
#include "symbols/base/bytes.h"
#include "symbols/base/search.h"
#include "unwind/row.h"
#include "unwind/spans.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define CHUNK	   512u
#define WORDS_MORE 1024u /* beyond the estimate */
#define WIDE_MAX   4096u /* of one file; a process has dozens */

struct places { /* offsets in the file */
	struct codefile_head head;
	uint64_t rows, wide, names, text;
};

static int read_head(const struct bytes *bytes, struct places *p)
{
	int err = bytes_read(bytes, 0, &p->head, sizeof(p->head));

	if (err)
		return err;
	if (p->head.magic != CODEFILE_MAGIC || p->head.nrows > 2 * CODE_ROWS_MAX ||
	    p->head.nwide > WIDE_MAX || p->head.nnames > CODE_NAMES_MAX ||
	    p->head.ntext > CODE_TEXT_MAX)
		return -EINVAL;
	p->rows = sizeof(p->head);
	p->wide = p->rows + (uint64_t)p->head.nrows * sizeof(struct code_row);
	p->names = p->wide + (uint64_t)p->head.nwide * sizeof(struct wide_rule);
	p->text = p->names + (uint64_t)p->head.nnames * sizeof(struct code_name);
	return 0;
}

/* --- rows ------------------------------------------------------------------------------------ */

struct table_draft {
	struct spans spans;
	uint64_t words; /* that the table takes, at most */
	uint32_t nspans;
	uint64_t pc; /* of the last row */
	uint32_t rule;
	const struct wide_rule *rules;
	uint32_t nrules;
	struct wide_rules *wide;
};

/* The number of a wide rule here; what is no rule says nothing. */
static uint32_t rule_here(const struct table_draft *d, uint32_t rule)
{
	int index;

	switch (RULE_KIND(rule)) {
	case ROW_SP:
	case ROW_FP:
	case ROW_OUTERMOST:
	case ROW_UNSUPPORTED:
		return rule & 0xffffffu;
	case ROW_WIDE:
		if (RULE_PAYLOAD(rule) >= d->nrules)
			break;
		index = wide_rules_index(d->wide, &d->rules[RULE_PAYLOAD(rule)]);
		return index < 0 ? RULE(ROW_UNSUPPORTED, ROW_CLASS_WIDE_FULL)
				 : RULE(ROW_WIDE, index);
	default:
		break;
	}
	return RULE(ROW_END, 0);
}

/* The words that a row takes, with the index of the granules since the last one. */
static uint64_t row_words(const struct table_draft *d, uint64_t pc)
{
	uint64_t granules = (pc >> GRANULE_SHIFT) - (d->pc >> GRANULE_SHIFT);

	if (RULE_KIND(d->rule) == ROW_END && granules > SPAN_GAP_MAX)
		granules = 1;
	return granules + 2;
}

/* Of one rule for a large buffer the first part counts. */
static void cut_rows(struct table_draft *d, uint64_t pc)
{
	const uint64_t left = CODE_WORDS_MAX - d->words;
	uint64_t end = d->pc + 1 + ((left > 2 ? left - 2 : 0) << GRANULE_SHIFT);

	if (RULE_KIND(d->rule) != ROW_END)
		spans_add(&d->spans, end < pc ? end : pc, RULE(ROW_END, 0));
}

/* 1: no more fits. */
static int add_row(struct table_draft *d, uint64_t pc, uint32_t rule)
{
	const uint64_t words = row_words(d, pc);

	if (pc >= CODE_ADDR_MAX || (d->pc && pc <= d->pc))
		return -EINVAL;
	d->nspans += RULE_KIND(d->rule) == ROW_END &&
		     (pc >> GRANULE_SHIFT) > (d->pc >> GRANULE_SHIFT) + SPAN_GAP_MAX;
	if (words > CODE_WORDS_MAX - d->words || d->nspans > CODE_SPANS_MAX) {
		cut_rows(d, pc);
		return 1;
	}
	d->words += words;
	d->pc = pc;
	d->rule = rule;
	return spans_add(&d->spans, pc, rule);
}

static int add_rows(const struct bytes *bytes, const struct places *p, struct table_draft *d,
		    const atomic_bool *cancel)
{
	struct code_row rows[CHUNK];
	int err = 0;

	for (uint32_t at = 0; at < p->head.nrows && !err; at += CHUNK) {
		const uint32_t n = p->head.nrows - at < CHUNK ? p->head.nrows - at : CHUNK;

		if (cancel && atomic_load(cancel))
			return -ECANCELED;
		err = bytes_read(bytes, p->rows + (uint64_t)at * sizeof(*rows), rows,
				 n * sizeof(*rows));
		for (uint32_t i = 0; i < n && !err; i++)
			err = add_row(d, rows[i].pc, rule_here(d, rows[i].rule));
	}
	return err;
}

int codefile_table(int fd, struct wide_rules *wide, const atomic_bool *cancel,
		   struct unwind_table **out)
{
	const struct bytes bytes = {.fd = fd};
	struct table_draft d = {.wide = wide, .rule = RULE(ROW_END, 0)};
	struct unwind_table *table = calloc(1, sizeof(*table));
	struct wide_rule *rules = NULL;
	struct places p;
	int err = table ? read_head(&bytes, &p) : -ENOMEM;

	*out = NULL;
	wide_rules_share(wide);
	spans_init(&d.spans, table, CODE_WORDS_MAX + WORDS_MORE);
	if (!err) {
		rules = calloc(p.head.nwide + 1, sizeof(*rules));
		err = rules ? bytes_read(&bytes, p.wide, rules, p.head.nwide * sizeof(*rules))
			    : -ENOMEM;
	}
	d.rules = rules;
	d.nrules = err ? 0 : p.head.nwide;
	if (!err)
		err = add_rows(&bytes, &p, &d, cancel);
	/* The last row of a sound file is an end. */
	if (!err && RULE_KIND(d.rule) != ROW_END)
		err = spans_add(&d.spans, d.pc + 1, RULE(ROW_END, 0));
	if (err >= 0)
		err = spans_finish(&d.spans);
	spans_free(&d.spans);
	free(rules);
	if (err) {
		unwind_table_free(table);
		return err;
	}
	table->cfi_bytes = (uint64_t)p.head.nrows * sizeof(struct code_row);
	*out = table;
	return 0;
}

/* True if the draft's first n runs, which are sorted, have some of [from, to). */
static bool has_rows(const struct code_draft *d, uint32_t n, uint64_t from, uint64_t to)
{
	const size_t run = SEARCH(n, i, d->runs[i].end <= from);

	return run < n && d->runs[run].start < to;
}

/* Adds the last row, up to this one, to the draft. */
static int keep_row(struct code_draft *d, uint32_t known, struct table_draft *last,
		    const struct code_row *row)
{
	int err = 0;

	if (last->pc && row->pc <= last->pc)
		return -EINVAL;
	if (RULE_KIND(last->rule) == ROW_END || has_rows(d, known, last->pc, row->pc))
		codedraft_end(d, last->pc);
	else
		err = codedraft_row(d, last->pc, last->rule);
	last->pc = row->pc;
	last->rule = rule_here(last, row->rule);
	return err;
}

int codefile_rows(int fd, struct code_draft *d)
{
	const struct bytes bytes = {.fd = fd};
	const uint32_t known = d->nruns;
	struct table_draft last = {.wide = d->wide, .rule = RULE(ROW_END, 0)};
	struct wide_rule *rules = NULL;
	struct code_row rows[CHUNK];
	struct places p;
	int err = read_head(&bytes, &p);

	if (!err) {
		rules = calloc(p.head.nwide + 1, sizeof(*rules));
		err = rules ? bytes_read(&bytes, p.wide, rules, p.head.nwide * sizeof(*rules))
			    : -ENOMEM;
	}
	last.rules = rules;
	last.nrules = err ? 0 : p.head.nwide;
	for (uint32_t at = 0; at < p.head.nrows && !err; at += CHUNK) {
		const uint32_t n = p.head.nrows - at < CHUNK ? p.head.nrows - at : CHUNK;

		err = bytes_read(&bytes, p.rows + (uint64_t)at * sizeof(*rows), rows,
				 n * sizeof(*rows));
		for (uint32_t i = 0; i < n && !err; i++)
			err = keep_row(d, known, &last, &rows[i]);
	}
	codedraft_end(d, last.pc);
	free(rules);
	return err;
}

/* --- names ----------------------------------------------------------------------------------- */

int codefile_names(int fd, codefile_name_fn *fn, void *arg)
{
	const struct bytes bytes = {.fd = fd};
	struct code_name names[CHUNK];
	char *text = NULL;
	struct places p;
	int err = read_head(&bytes, &p);

	if (!err) {
		text = calloc(1, (size_t)p.head.ntext + 1);
		err = text ? bytes_read(&bytes, p.text, text, p.head.ntext) : -ENOMEM;
	}
	for (uint32_t at = 0; !err && at < p.head.nnames; at += CHUNK) {
		const uint32_t n = p.head.nnames - at < CHUNK ? p.head.nnames - at : CHUNK;

		err = bytes_read(&bytes, p.names + (uint64_t)at * sizeof(*names), names,
				 n * sizeof(*names));
		for (uint32_t i = 0; i < n && !err; i++)
			if (names[i].text < p.head.ntext)
				err = fn(arg, names[i].start, names[i].size, text + names[i].text);
	}
	free(text);
	return err;
}
