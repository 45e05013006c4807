// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See codeleave.h. The code is read a page at a time, since pages around a place may not be there.
 * Pieces that were found from different places and contradict each other are left out.
 */
#include "bpf/tracker/codeleave.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bpf/prog/layout.h"
#include "bpf/tracker/codedraft.h"
#include "bpf/tracker/codereader.h"
#include "symbols/base/grow.h"
#include "symbols/base/search.h"
#include "symbols/base/work.h"
#include "symbols/insn/disasm.h"
#include "unwind/arch.h"
#include "unwind/derive.h"
#include "unwind/leave.h"
#include "unwind/row.h"

#define PAGE	    4096u
#define BEFORE	    (2 * PAGE) /* of a place: loops lead back */
#define BEHIND	    (4 * PAGE)
#define WINDOW_MAX  (64 * PAGE)
#define WORK_MAX    (1u << 20) /* instructions of one reading */
#define ADDRESS_MAX (1ull << 47)

struct piece { /* of one rule */
	uint64_t start, end;
	uint32_t rule;
};

struct pieces {
	struct piece *all;
	size_t n, room;
};

static int add_piece(struct pieces *p, uint64_t start, uint64_t end, uint32_t rule)
{
	if (GROW(p->all, p->n, p->room, SIZE_MAX))
		return -ENOMEM;
	p->all[p->n++] = (struct piece){start, end, rule};
	return 0;
}

/* --- one window of code ---------------------------------------------------------------------- */

/* The rows as pieces. A return address is looked up by the byte before it, in the call. */
static int take_rows(struct pieces *p, const struct derived *d, uint64_t place)
{
	const uint64_t pc = place & ~BARE_EXACT;
	int err = 0;

	for (size_t i = 0; i + 1 < d->nrows && !err; i++) {
		if (RULE_KIND(d->rows[i].rule) == ROW_END)
			continue;
		err = add_piece(p, d->rows[i].pc, d->rows[i + 1].pc, d->rows[i].rule);
		if (!err && !(place & BARE_EXACT) && d->rows[i].pc == pc)
			err = add_piece(p, pc - 1, pc, d->rows[i].rule);
	}
	return err;
}

/* True if a place that was followed before has led by here; most are in the same functions. */
static bool is_known(const struct pieces *p, uint64_t place)
{
	const uint64_t at = (place & ~BARE_EXACT) - (place & BARE_EXACT ? 0 : 1);

	for (size_t i = 0; i < p->n; i++)
		if (at >= p->all[i].start && at < p->all[i].end)
			return true;
	return false;
}

static int follow_place(struct pieces *p, const struct leave_code *code, uint64_t place,
			struct disasm *disasm, struct work *work)
{
	struct derived d = {0};
	int err;

	if (is_known(p, place))
		return 0;
	err = leave_rows(code, place & ~BARE_EXACT, !(place & BARE_EXACT), disasm, work, &d);

	if (!err)
		err = take_rows(p, &d, place);
	derived_free(&d);
	return err;
}

/* Bytes of whole pages from addr on that can be read. */
static size_t read_pages(struct code_memory *m, uint64_t addr, uint8_t *to, size_t size)
{
	size_t n = 0;

	while (n < size && !codereader_memory(m, addr + n, to + n, PAGE))
		n += PAGE;
	return n;
}

/*
 * places: those of one window, ascending; *n is their number, and becomes that of the ones that
 * were followed, at least one: what is behind a page that cannot be read is in a window of its own.
 */
static int follow_window(struct code_memory *m, const uint64_t *places, size_t *n, uint8_t *bytes,
			 struct pieces *p, struct disasm *disasm, struct work *work)
{
	const uint64_t first = (places[0] & ~BARE_EXACT) & ~(uint64_t)(PAGE - 1),
		       last = places[*n - 1] & ~BARE_EXACT;
	uint64_t addr = first > BEFORE ? first - BEFORE : 0,
		 end = (last & ~(uint64_t)(PAGE - 1)) + BEHIND;
	struct leave_code code = {.bytes = bytes};
	size_t i = 0;
	int err = 0;

	/* From the first page on that can be read together with the first place's. */
	for (; addr <= first && !code.size; addr += PAGE) {
		code.addr = addr;
		code.size = read_pages(m, addr, bytes, end - addr);
		if (code.addr + code.size <= first)
			code.size = 0;
	}
	for (; i < *n && (places[i] & ~BARE_EXACT) - code.addr < code.size && !err; i++)
		err = follow_place(p, &code, places[i], disasm, work);
	*n = i ? i : 1;
	return err;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int compare_places(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left & ~BARE_EXACT,
		       b = *(const uint64_t *)right & ~BARE_EXACT;

	return a < b ? -1 : a > b;
}

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	return a->start != b->start ? (a->start < b->start ? -1 : 1)
				    : (a->end < b->end ? -1 : a->end > b->end);
}

/* Index of the first of the draft's runs, which are sorted, that ends behind the address. */
static uint32_t first_run(const struct code_draft *d, uint64_t addr)
{
	return (uint32_t)SEARCH(d->nruns, i, d->runs[i].end <= addr);
}

/* Drops the pieces that something has described, in part or as a whole. */
static void drop_described(struct pieces *p, const struct code_draft *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		const uint32_t run = first_run(d, p->all[i].start);

		if (run == d->nruns || d->runs[run].start >= p->all[i].end)
			p->all[kept++] = p->all[i];
	}
	p->n = kept;
}

/* Adds [start, end) of the rule, behind all that was added before. */
static int end_run(struct code_draft *d, uint64_t start, uint64_t end, uint32_t rule)
{
	int err = rule && start < end ? codedraft_row(d, start, rule) : 0;

	return err ? err : codedraft_end(d, end);
}

/* What only one of two pieces has behind the part that both have. */
static struct piece without_overlap(const struct piece *a, const struct piece *b)
{
	const struct piece *shorter = a->end < b->end ? a : b, *longer = shorter == a ? b : a;

	return (struct piece){shorter->end, longer->end, longer->rule};
}

/* Moves the places that nothing has described to the front; their number. */
static size_t keep_undescribed(const struct code_draft *d, uint64_t *places, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t at = (places[i] & ~BARE_EXACT) - (places[i] & BARE_EXACT ? 0 : 1);
		const uint32_t run = first_run(d, at);

		if (run == d->nruns || d->runs[run].start > at)
			places[kept++] = places[i];
	}
	return kept;
}

/* The pieces without what overlaps and disagrees, as runs. */
static int draw_up(struct pieces *p, struct code_draft *d)
{
	struct piece open = {0};
	int err = 0;

	if (p->n)
		qsort(p->all, p->n, sizeof(p->all[0]), compare_pieces);
	for (size_t i = 0; i < p->n && !err; i++) {
		struct piece *next = &p->all[i];

		if (next->start < open.end && next->rule != open.rule) {
			err = end_run(d, open.start, next->start, open.rule);
			open = without_overlap(&open, next);
			continue;
		}
		if (next->start <= open.end && next->rule == open.rule) {
			if (next->end > open.end)
				open.end = next->end;
			continue;
		}
		err = end_run(d, open.start, open.end, open.rule);
		open = *next;
	}
	if (!err)
		err = end_run(d, open.start, open.end, open.rule);
	return err == -E2BIG ? 0 : err;
}

int codeleave_read(struct code_memory *m, uint64_t *places, size_t n, struct code_draft *d)
{
	struct work work = {.limit = WORK_MAX};
	uint8_t *bytes = ARCH_DERIVES ? malloc(WINDOW_MAX + BEFORE + BEHIND) : NULL;
	struct disasm *disasm = NULL;
	struct pieces p = {0};
	int err = -ENOTSUP;

	if (ARCH_DERIVES)
		err = bytes ? disasm_new(ARCH_MACHINE, &disasm) : -ENOMEM;
	codedraft_sort(d);
	n = keep_undescribed(d, places, n);
	if (!err && n)
		qsort(places, n, sizeof(places[0]), compare_places);
	for (size_t i = 0, count; i < n && !err; i += count) {
		const uint64_t first = places[i] & ~BARE_EXACT;

		if (first >= ADDRESS_MAX)
			break;
		for (count = 1; i + count < n; count++)
			if ((places[i + count] & ~BARE_EXACT) - first >= WINDOW_MAX - PAGE)
				break;
		err = follow_window(m, &places[i], &count, bytes, &p, disasm, &work);
	}
	if (!err || err == -E2BIG) {
		drop_described(&p, d);
		err = draw_up(&p, d);
	}
	disasm_free(disasm);
	free(p.all);
	free(bytes);
	return err == -ENOTSUP ? 0 : err;
}
