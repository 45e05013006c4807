// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows arrive in the order of their addresses, so a span is written as they come: its index and its
 * rows grow side by side and become a block when the span ends. Building takes little more memory
 * than the table.
 *
 * Three cases make it longer than a loop. An `end` at the pc of the next function must be replaced,
 * so a row is held back until the next one has another pc. A granule with a row at each byte has
 * one more than the index can count: the last one becomes ROW_UNSUPPORTED, and the next granule
 * begins with the true rule. A block that reaches its largest size is cut between two granules.
 */
#include "unwind/spans.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "unwind/row.h"
#include "unwind/table.h"

void spans_init(struct spans *s, struct unwind_table *table, uint64_t words_max)
{
	memset(s, 0, sizeof(*s));
	s->table = table;
	s->words_max = words_max;
}

void spans_free(struct spans *s)
{
	free(s->index);
	free(s->rows);
	s->index = s->rows = NULL;
}

/* Makes room for one more word. */
static int words_grow(uint32_t **words, uint32_t *room, uint64_t need)
{
	uint64_t more = *room + *room / 2 + 256;
	uint32_t *grown;

	if (need <= *room)
		return 0;
	if (more < need)
		more = need;
	if (more > UINT32_MAX)
		return -EFBIG;
	grown = realloc(*words, more * sizeof(**words));
	if (!grown)
		return -ENOMEM;
	*words = grown;
	*room = (uint32_t)more;
	return 0;
}

/* Rows of the granule that is being written. */
static uint32_t granule_rows(const struct spans *s)
{
	return s->nrows - s->index[s->nindex - 1];
}

static int span_push_row(struct spans *s, uint32_t offset, uint32_t rule)
{
	uint32_t count = granule_rows(s);
	int err;

	s->stored = rule;
	if (count && ROW_OFFSET(s->rows[s->nrows - 1]) == offset) {
		s->rows[s->nrows - 1] = ROW_WORD(offset, rule);
		return 0;
	}
	if (count == INDEX_ROWS_MAX) {
		s->stored = RULE(ROW_UNSUPPORTED, ROW_CLASS_GRANULE_FULL);
		offset = ROW_OFFSET(s->rows[s->nrows - 1]);
		s->rows[s->nrows - 1] = ROW_WORD(offset, s->stored);
		s->table->classes[ROW_CLASS_GRANULE_FULL]++;
		return 0;
	}
	err = words_grow(&s->rows, &s->rows_room, (uint64_t)s->nrows + 1);
	if (!err)
		s->rows[s->nrows++] = ROW_WORD(offset, rule);
	return err;
}

/* Until the span is closed an index word is only the number of the granule's first row. */
static int span_push_granule(struct spans *s)
{
	int err = words_grow(&s->index, &s->index_room, (uint64_t)s->nindex + 1);

	if (!err)
		s->index[s->nindex++] = s->nrows;
	return err;
}

static int span_append(struct spans *s, const struct unwind_span *span)
{
	struct unwind_table *t = s->table;
	int err;

	if (GROW(t->spans, t->nspans, s->spans_room, UINT32_MAX))
		return -ENOMEM;
	err = words_grow(&t->words, &s->words_room, (uint64_t)t->nwords + span->nwords);
	if (err)
		return err;
	for (uint32_t i = 0; i < s->nindex; i++) {
		uint32_t next = i + 1 < s->nindex ? s->index[i + 1] : s->nrows;

		t->words[t->nwords + i] = INDEX_WORD(s->index[i], next - s->index[i]);
	}
	memcpy(t->words + t->nwords + s->nindex, s->rows, s->nrows * sizeof(*s->rows));
	t->nwords += span->nwords;
	t->nrows += s->nrows;
	for (uint32_t i = 0; i < s->nrows; i++)
		t->nderived += !!(s->rows[i] & RULE_DERIVED);
	t->spans[t->nspans++] = *span;
	return 0;
}

static int span_close(struct spans *s)
{
	struct unwind_span span;

	s->open = false;
	/* An `end` right at the end of the span is redundant. */
	if (s->nindex > 1 && granule_rows(s) == 1 &&
	    s->rows[s->nrows - 1] == ROW_WORD(0, RULE(ROW_END, 0))) {
		s->nindex--;
		s->nrows--;
	}
	span = (struct unwind_span){
		.start = s->start << GRANULE_SHIFT,
		.end = (s->start + s->nindex) << GRANULE_SHIFT,
		.first = s->table->nwords,
		.nwords = s->nindex + s->nrows,
		.ngranules = s->nindex,
	};
	if ((uint64_t)span.first + span.nwords > s->words_max)
		return -EFBIG;
	return span_append(s, &span);
}

/* Begins a span at a granule; its first row says what holds there. */
static int span_open(struct spans *s, uint64_t granule, uint32_t rule)
{
	int err;

	s->open = true;
	s->start = granule;
	s->nindex = s->nrows = 0;
	err = span_push_granule(s);
	return err ? err : span_push_row(s, 0, rule);
}

/* Moves on to the granule after the one at hand. */
static int span_next_granule(struct spans *s)
{
	uint64_t granule = s->start + s->nindex;
	int err;

	if ((uint64_t)s->table->nwords + s->nindex + s->nrows > s->words_max)
		return -EFBIG;
	if (s->nindex + s->nrows + 2 + INDEX_ROWS_MAX > SPAN_MAX_WORDS) {
		err = span_close(s);
		return err ? err : span_open(s, granule, s->now);
	}
	err = span_push_granule(s);
	if (!err && s->stored != s->now)
		err = span_push_row(s, 0, s->now);
	return err;
}

static int span_add(struct spans *s, uint64_t pc, uint32_t rule)
{
	uint64_t granule = pc >> GRANULE_SHIFT;
	int err = 0;

	if (s->open && s->now == ROW_END && granule > s->start + s->nindex + SPAN_GAP_MAX) {
		err = span_close(s);
		if (err)
			return err;
	}
	if (!s->open)
		err = span_open(s, granule, RULE(ROW_END, 0));
	while (!err && s->start + s->nindex <= granule)
		err = span_next_granule(s);
	if (!err)
		err = span_push_row(s, pc & (GRANULE_SIZE - 1), rule);
	s->now = rule;
	return err;
}

static int spans_flush(struct spans *s)
{
	/* Also drops an `end` outside any span: now is ROW_END before the first. */
	if (!s->pending || s->rule == s->now)
		return 0;
	s->pending = false;
	return span_add(s, s->pc, s->rule);
}

int spans_add(struct spans *s, uint64_t pc, uint32_t rule)
{
	int err;

	pc = pc >> ARCH_PC_SHIFT << ARCH_PC_SHIFT;
	if (s->pending && pc == s->pc) {
		s->rule = rule;
		return 0;
	}
	err = spans_flush(s);
	s->pending = true;
	s->pc = pc;
	s->rule = rule;
	return err;
}

int spans_finish(struct spans *s)
{
	int err = spans_flush(s);

	s->pending = false;
	return !err && s->open ? span_close(s) : err;
}
