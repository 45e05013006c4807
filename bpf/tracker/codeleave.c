// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See codeleave.h. The code is read a page at a time, since pages around a place may not be there.
 * Pieces that were found from different places and contradict each other are left out.
 */
#include "bpf/tracker/codeleave.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/prog/layout.h"
#include "bpf/tracker/codedraft.h"
#include "bpf/tracker/codereader.h"
#include "symbols/base/grow.h"
#include "symbols/base/search.h"
#include "symbols/base/work.h"
#include "symbols/insn/disasm.h"
#include "unwind/arch.h"
#include "unwind/derive.h"
#include "unwind/effect.h"
#include "unwind/leave.h"
#include "unwind/row.h"

#define PAGE	     4096u
#define BEFORE	     (2 * PAGE) /* of a place: loops lead back */
#define BEHIND	     (4 * PAGE)
#define WINDOW_MAX   (64 * PAGE)
#define WINDOW_BYTES (WINDOW_MAX + BEFORE + BEHIND)
#define WORK_MAX     (1u << 20) /* instructions of one reading */
#define ADDRESS_MAX  (1ull << 47)
#define ENTRY_BYTES  15u /* of an instruction */
#define ENTRY_INSNS  128u
#define ENTRY_PATHS  16u
#define WRONG_MAX    256u /* places that are compared with all rows */

struct piece { /* of one rule */
	uint64_t start, end;
	uint32_t rule;
};

struct pieces {
	struct piece *all;
	size_t n, room;
	uint64_t window;		 /* address of the bytes being read */
	uint8_t known[WINDOW_BYTES / 8]; /* its bytes that have a rule, a bit for each */
};

static int add_piece(struct pieces *p, uint64_t start, uint64_t end, uint32_t rule)
{
	if (GROW(p->all, p->n, p->room, SIZE_MAX))
		return -ENOMEM;
	p->all[p->n++] = (struct piece){start, end, rule};
	for (uint64_t at = start - p->window; at < end - p->window && at < WINDOW_BYTES; at++)
		p->known[at / 8] |= (uint8_t)(1u << at % 8);
	return 0;
}

static bool is_known(const struct pieces *p, uint64_t addr)
{
	const uint64_t at = addr - p->window;

	return at < WINDOW_BYTES && p->known[at / 8] >> at % 8 & 1;
}

/* What has no rule of it. */
static int add_unknown(struct pieces *p, uint64_t start, uint64_t end, uint32_t rule)
{
	uint64_t from, to = start;
	int err = 0;

	while (to < end && !err) {
		for (from = to; from < end && is_known(p, from); from++)
			;
		for (to = from; to < end && !is_known(p, to); to++)
			;
		if (from < to)
			err = add_piece(p, from, to, rule);
	}
	return err;
}

/* --- one window of code ---------------------------------------------------------------------- */

/* The rows as pieces. A return address is looked up by the byte before it, in the call. */
static int take_rows(struct pieces *p, const struct derived *d, uint64_t place, bool by_use)
{
	int (*const add)(struct pieces *, uint64_t, uint64_t, uint32_t) =
		by_use ? add_unknown : add_piece;
	const uint64_t pc = place & ~BARE_EXACT;
	int err = 0;

	for (size_t i = 0; i + 1 < d->nrows && !err; i++) {
		if (RULE_KIND(d->rows[i].rule) == ROW_END)
			continue;
		err = add(p, d->rows[i].pc, d->rows[i + 1].pc, d->rows[i].rule);
		if (!err && !(place & BARE_EXACT) && d->rows[i].pc <= pc && pc < d->rows[i + 1].pc)
			err = add(p, pc - 1, pc, d->rows[i].rule);
	}
	return err;
}

/* What is asked about the places of a window, each behind what all places say before. */
enum ask {
	ASK_LEAVE, /* how the function leaves its frame */
	ASK_USE,   /* whether it uses FP as its own */
	ASK_WHOLE, /* the same of the whole function: the next leaf is elsewhere in it */
	ASKS,
};

/* Places from which others have led by here say nothing new; most are in the same functions. */
static int follow_place(struct pieces *p, const struct leave_code *code, uint64_t place,
			enum ask ask, struct disasm *disasm, struct work *work)
{
	const uint64_t pc = place & ~BARE_EXACT;
	struct derived d = {0};
	int err;

	if (ask != ASK_WHOLE && is_known(p, pc - (place & BARE_EXACT ? 0 : 1)))
		return 0;
	err = ask == ASK_LEAVE ? leave_rows(code, pc, !(place & BARE_EXACT), disasm, work, &d)
			       : leave_by_use(code, pc, ask == ASK_WHOLE, disasm, work, &d);
	if (!err)
		err = take_rows(p, &d, place, ask != ASK_LEAVE);
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
	p->window = code.addr;
	memset(p->known, 0, sizeof(p->known));
	while (i < *n && (places[i] & ~BARE_EXACT) - code.addr < code.size)
		i++;
	for (enum ask ask = 0; ask < ASKS; ask++)
		for (size_t k = 0; k < i && !err; k++)
			err = follow_place(p, &code, places[k], ask, disasm, work);
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

/* Index of the first of the draft's first n runs, which are sorted, that ends behind the address.
 */
static uint32_t first_run(const struct code_draft *d, uint32_t n, uint64_t addr)
{
	return (uint32_t)SEARCH(n, i, d->runs[i].end <= addr);
}

/* Drops the pieces that something has described, in part or as a whole. */
static void drop_described(struct pieces *p, const struct code_draft *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		const uint32_t run = first_run(d, d->nruns, p->all[i].start);

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

/* Drops the pieces that are wrong at one of these places. */
static void drop_wrong(struct pieces *p, const uint64_t *places, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t at =
			(places[i] & ~(BARE_EXACT | BARE_STALE)) - (places[i] & BARE_EXACT ? 0 : 1);
		size_t kept = 0;

		for (size_t k = 0; k < p->n; k++)
			if (at < p->all[k].start || at >= p->all[k].end)
				p->all[kept++] = p->all[k];
		p->n = kept;
	}
}

/* Moves those that are wrong to the end; the number of the others. */
static size_t keep_right(uint64_t *places, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t place = places[i];

		if (place & BARE_STALE)
			continue;
		places[i] = places[kept];
		places[kept++] = place;
	}
	return kept;
}

/* Moves the places that nothing has described to the front; their number. */
static size_t keep_undescribed(const struct code_draft *d, uint64_t *places, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t at = (places[i] & ~BARE_EXACT) - (places[i] & BARE_EXACT ? 0 : 1);
		const uint32_t run = first_run(d, d->nruns, at);

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
			const uint64_t from = open.start;

			err = end_run(d, from, next->start, open.rule);
			open = without_overlap(&open, next);
			if (open.start < from) /* an earlier piece disagrees, too */
				open.start = from;
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
	uint8_t *bytes = ARCH_DERIVES ? malloc(WINDOW_BYTES) : NULL;
	struct disasm *disasm = NULL;
	struct pieces *p = calloc(1, sizeof(*p));
	size_t wrong, all; /* places[wrong ... all - 1]: there rows were wrong */
	int err = p ? -ENOTSUP : -ENOMEM;

	if (p && ARCH_DERIVES)
		err = bytes ? disasm_new(ARCH_MACHINE, &disasm) : -ENOMEM;
	codedraft_sort(d);
	all = n;
	wrong = n = keep_right(places, n);
	all = all - wrong < WRONG_MAX ? all : wrong + WRONG_MAX;
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
		err = follow_window(m, &places[i], &count, bytes, p, disasm, &work);
	}
	if (!err || err == -E2BIG) {
		drop_wrong(p, places + wrong, all - wrong);
		drop_described(p, d);
		err = draw_up(p, d);
	}
	codedraft_sort(d);
	disasm_free(disasm);
	if (p)
		free(p->all);
	free(p);
	free(bytes);
	return err == -ENOTSUP ? 0 : err;
}

/*
 * True if a return address may be that to the function which runs such code: its call is by an
 * address in a register or in memory, or a path of the function that it names comes to such a call
 * or jump before any other. *depth: where that has pushed FP, below the CFA; 0: it has not, as far
 * as known.
 */
static bool runs_code(struct code_memory *m, struct disasm *disasm, uint64_t ra, int64_t *depth)
{
	struct {
		uint64_t at;
		int64_t pushed, depth;
	} paths[ENTRY_PATHS];
	uint64_t call, at;
	int64_t pushed = 8;
	uint32_t n = 0;
	uint8_t code[ENTRY_BYTES];
	struct effect e;

	*depth = 0;
	if (codereader_memory(m, ra - sizeof(call), &call, sizeof(call)))
		return false;
	at = arch_call_target(call, ra);
	for (unsigned int i = 0; at && i < ENTRY_INSNS; i++) {
		e.kind = EFFECT_BAD;
		if (!codereader_memory(m, at, code, sizeof(code)))
			arch_effect(disasm, code, sizeof(code), &e);
		if (e.kind == EFFECT_JUMP_COMPUTED || e.kind == EFFECT_CALL_COMPUTED)
			return true;
		if (e.kind == EFFECT_CALL || e.kind == EFFECT_RETURN || e.kind == EFFECT_STOP ||
		    e.kind == EFFECT_BAD) {
			if (!n)
				return false;
			at = paths[--n].at;
			pushed = paths[n].pushed;
			*depth = paths[n].depth;
			continue;
		}
		pushed += e.kind == EFFECT_PUSH || e.kind == EFFECT_PUSH_FP ? 8 : 0;
		pushed -= e.kind == EFFECT_ADD_SP ? e.value : 0;
		if (e.kind == EFFECT_PUSH_FP && !*depth)
			*depth = pushed;
		at += e.size;
		if (e.kind == EFFECT_JUMP) {
			at += (uint64_t)(int64_t)e.value;
		} else if (e.kind == EFFECT_BRANCH && n < ENTRY_PATHS) {
			paths[n].at = at + (uint64_t)(int64_t)e.value;
			paths[n].pushed = pushed;
			paths[n++].depth = *depth;
		}
	}
	return !at;
}

/* The rule for code in one frame; 0 if none of its callers is proven. */
static uint32_t constant_rule(struct code_memory *m, struct disasm *disasm,
			      const struct code_constant *c)
{
	const uint32_t cfa = 8 * c->word + 8;
	int64_t depth = 0;
	uint32_t i = 0;

	while (i < CODE_CALLERS_MAX && c->ras[i] && !runs_code(m, disasm, c->ras[i], &depth))
		i++;
	if (i == CODE_CALLERS_MAX || !c->ras[i])
		return 0;
	depth = depth > 0 && depth <= cfa ? depth : 0;
	return RULE_FRAME(ROW_SP, cfa, (uint32_t)depth) | RULE_DERIVED;
}

int codeleave_constants(struct code_memory *m, const struct code_constant *constants, size_t n,
			struct code_draft *d)
{
	const uint32_t nruns = d->nruns;
	struct disasm *disasm = NULL;
	int err = ARCH_DERIVES ? disasm_new(ARCH_MACHINE, &disasm) : -ENOTSUP;

	for (size_t i = 0; i < n && !err; i++) {
		const struct code_constant *c = &constants[i];
		const uint32_t rule = constant_rule(m, disasm, c);
		uint64_t from = rule ? c->start : c->end;

		for (uint32_t run = first_run(d, nruns, from); from < c->end && !err; run++) {
			const bool more = run < nruns && d->runs[run].start < c->end;

			err = end_run(d, from, more ? d->runs[run].start : c->end, rule);
			from = more ? d->runs[run].end : c->end;
		}
	}
	codedraft_sort(d);
	disasm_free(disasm);
	return err == -E2BIG || err == -ENOTSUP ? 0 : err;
}
