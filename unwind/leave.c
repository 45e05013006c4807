// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers are followed as distances from what SP and FP are at the place where it begins, along
 * all jumps. A return tells that its SP is right below the CFA, which settles the distance of each
 * instruction on the way there. All returns have to agree.
 *
 * A call may not return, and then other code follows it. So what follows a call is explored last,
 * and is dropped if it contradicts what is known by then.
 */
#include "unwind/leave.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/work.h"
#include "unwind/arch.h"
#include "unwind/derive.h"
#include "unwind/effect.h"
#include "unwind/row.h"

#define INSNS_MAX      4096u /* of one exploration */
#define SLOTS	       (4 * INSNS_MAX)
#define NONE	       UINT32_MAX
#define TAKEN_BACK_MAX 32u
#define WORD	       8
#define START_BYTES    8192u /* before the place, in which its function may begin */
#define START_ALIGN    ARCH_FUNCTION_ALIGN
#define STARTS_MAX     8u
#define GAP_MAX	       64u

enum base { BASE_NONE, BASE_SP, BASE_FP };

/* A distance from SP or FP at the place where the exploration begins. */
struct place {
	enum base base;
	int32_t at;
};

enum fp_value {
	FP_ITS,	   /* as at the beginning */
	FP_LOADED, /* from fp_at */
	FP_PLACE,  /* it is fp_at */
	FP_LOST,
};

struct fp_state {
	enum fp_value value;
	struct place at;
};

/* In front of an instruction. */
struct leave_state {
	struct place sp;
	struct fp_state fp;
	struct place saved; /* where saved_fp was written last */
	struct fp_state saved_fp;
	bool pushed; /* ... by a push, as compilers do that restore it from there */
};

struct leave_insn {
	uint32_t at; /* offset in the code */
	uint8_t size;
	bool proved; /* a return is reached from here */
	uint32_t next[2];
	struct leave_state state;
};

struct leave {
	const struct leave_code *code;
	struct disasm *disasm;
	struct work *work;
	struct leave_insn insns[INSNS_MAX];
	uint32_t ninsns;
	uint32_t slots[SLOTS]; /* index + 1 by address */
	/* Each twice at most: FP may be lost later. */
	uint32_t todo[2 * INSNS_MAX], ntodo;
	uint32_t calls[2 * INSNS_MAX], ncalls; /* what follows them is to be explored */
	struct leave_state exits[3]; /* at the returns, by the base of SP; BASE_NONE: no such */
	bool bad;		     /* a contradiction */
	unsigned int taken_back;     /* calls behind which there was one */
	bool weak;		     /* no return but behind a call that may throw */
	uint32_t last;		     /* the instruction farthest behind */
	uint32_t straight;	     /* the beginning leads as far without a jump */
	uint32_t place;		     /* that is looked for from a start; else 0 */
};

static struct place plus(struct place p, int64_t by)
{
	int64_t at = p.at + by;

	if (p.base == BASE_NONE || at > INT32_MAX / 2 || at < INT32_MIN / 2)
		return (struct place){0};
	return (struct place){p.base, (int32_t)at};
}

static bool same_place(struct place a, struct place b)
{
	return a.base == b.base && a.at == b.at;
}

static bool same_fp(struct fp_state a, struct fp_state b)
{
	return a.value == b.value && same_place(a.at, b.at);
}

static bool same_state(const struct leave_state *a, const struct leave_state *b)
{
	return same_place(a->sp, b->sp) && same_fp(a->fp, b->fp);
}

/* --- one instruction ------------------------------------------------------------------------- */

static void save_fp(struct leave_state *s, struct place to, bool pushed)
{
	const bool kept = s->pushed && s->saved.base != BASE_NONE;

	/* The function spills a value of its own. */
	if ((s->fp.value == FP_LOST || (kept && !pushed)) && !same_place(to, s->saved))
		return;
	s->saved = to;
	s->pushed = pushed;
	s->saved_fp = s->fp;
}

static void load_fp(struct leave_state *s, struct place from)
{
	if (from.base != BASE_NONE && same_place(from, s->saved))
		s->fp = s->saved_fp;
	else
		s->fp = (struct fp_state){FP_LOADED, from};
}

static struct place from_fp(const struct leave_state *s, int32_t value)
{
	const struct place its = {BASE_FP, 0};

	return s->fp.value == FP_ITS	 ? plus(its, value)
	       : s->fp.value == FP_PLACE ? plus(s->fp.at, value)
					 : (struct place){0};
}

/* Forgets a save that is now below SP: a function reached by a tail jump may reuse the slot. */
static void forget_popped(struct leave_state *s)
{
	if (s->saved.base == s->sp.base && s->saved.at < s->sp.at)
		s->saved = (struct place){0};
}

/* The state behind it. False: nothing is known there. */
static bool follow(struct leave_state *s, const struct effect *e)
{
	switch (e->kind) {
	case EFFECT_PUSH:
	case EFFECT_PUSH_FP:
		s->sp = plus(s->sp, -WORD);
		if (e->kind == EFFECT_PUSH_FP)
			save_fp(s, s->sp, true);
		else if (same_place(s->saved, s->sp))
			s->saved = (struct place){0};
		break;
	case EFFECT_POP:
	case EFFECT_POP_FP:
		if (e->kind == EFFECT_POP_FP)
			load_fp(s, s->sp);
		s->sp = plus(s->sp, WORD);
		forget_popped(s);
		break;
	case EFFECT_ADD_SP:
		s->sp = plus(s->sp, e->value);
		forget_popped(s);
		break;
	case EFFECT_FP_LOST:
	case EFFECT_ZERO_FP:
		s->fp = (struct fp_state){.value = FP_LOST};
		break;
	case EFFECT_SP_FROM_FP:
		s->sp = from_fp(s, e->value);
		forget_popped(s);
		break;
	case EFFECT_FP_FROM_SP:
		s->fp = (struct fp_state){FP_PLACE, plus(s->sp, e->value)};
		break;
	case EFFECT_STORE_FP:
		save_fp(s, plus(s->sp, e->value), false);
		break;
	case EFFECT_LOAD_FP:
		load_fp(s, plus(s->sp, e->value));
		break;
	case EFFECT_RELOAD_FP:
		load_fp(s, from_fp(s, e->value));
		break;
	case EFFECT_LEAVE:
		s->sp = from_fp(s, 0);
		load_fp(s, s->sp);
		s->sp = plus(s->sp, WORD);
		forget_popped(s);
		break;
	case EFFECT_BAD:
	case EFFECT_SP_LOST:
	case EFFECT_BOTH_LOST:
		return false;
	default:
		break;
	}
	return s->sp.base != BASE_NONE;
}

/* --- exploring ------------------------------------------------------------------------------- */

/* The slot of an offset, which holds its instruction or is free. */
static uint32_t *find_slot(struct leave *l, uint32_t at)
{
	uint32_t i = at * 2654435761u % SLOTS;

	while (l->slots[i] && l->insns[l->slots[i] - 1].at != at)
		i = (i + 1) % SLOTS;
	return &l->slots[i];
}

/* Paths meet. FP may be anything by then, if it was saved; SP may not. */
static void meet(struct leave *l, uint32_t n, const struct leave_state *state)
{
	struct leave_state *old = &l->insns[n].state;

	if (!same_place(old->sp, state->sp))
		l->bad = true;
	else if (!same_fp(old->fp, state->fp) && old->fp.value != FP_LOST) {
		old->fp = (struct fp_state){.value = FP_LOST};
		l->todo[l->ntodo++] = n;
	}
}

/* The instruction at an offset; NONE: it is outside, or there are too many. */
static uint32_t reach(struct leave *l, int64_t at, const struct leave_state *state)
{
	uint32_t *slot;

	if (at < 0 || (uint64_t)at >= l->code->size)
		return NONE;
	slot = find_slot(l, (uint32_t)at);
	if (*slot) {
		meet(l, *slot - 1, state);
		return *slot - 1;
	}
	if (l->ninsns == INSNS_MAX)
		return NONE;
	l->insns[l->ninsns] =
		(struct leave_insn){.at = (uint32_t)at, .next = {NONE, NONE}, .state = *state};
	if (l->insns[l->ninsns].at > l->insns[l->last].at)
		l->last = l->ninsns;
	l->todo[l->ntodo++] = l->ninsns++;
	*slot = l->ninsns;
	return l->ninsns - 1;
}

static void on_return(struct leave *l, struct leave_insn *i)
{
	struct leave_state *known = &l->exits[i->state.sp.base];

	if (i->state.fp.value != FP_ITS && i->state.fp.value != FP_LOADED)
		return;
	if (known->sp.base == BASE_NONE)
		*known = i->state;
	else if (!same_state(known, &i->state))
		l->bad = true;
	i->proved = true;
}

/*
 * True behind the end of a frame that FP had, where the return address is next: a function that
 * takes its arguments from the stack moves SP once more before it returns.
 */
static bool has_left(const struct leave_state *s)
{
	const struct place ra = {BASE_FP, WORD}, slot = {BASE_FP, 0};

	return same_place(s->sp, ra) && s->fp.value == FP_LOADED && same_place(s->fp.at, slot);
}

/* True if what follows a call is a gap or another function, so that it does not return. */
static bool ends_function(struct leave *l, int64_t next)
{
	struct effect e;

	if ((uint64_t)next >= l->code->size)
		return true;
	arch_effect(l->disasm, l->code->bytes + next, l->code->size - (size_t)next, &e);
	return e.kind == EFFECT_PAD || e.kind == EFFECT_BAD ||
	       (!((l->code->addr + (uint64_t)next) % START_ALIGN) &&
		(e.kind == EFFECT_PUSH || e.kind == EFFECT_PUSH_FP ||
		 (e.kind == EFFECT_ADD_SP && e.value < 0)));
}

static int explore_one(struct leave *l, uint32_t n)
{
	struct leave_insn *i = &l->insns[n];
	struct leave_state state = i->state;
	struct effect e;
	int64_t next;

	arch_effect(l->disasm, l->code->bytes + i->at, l->code->size - i->at, &e);
	i->size = e.size;
	next = (int64_t)i->at + e.size;
	if (i->at == l->place && l->place && (e.kind == EFFECT_PAD || e.kind == EFFECT_BAD))
		return 0; /* behind a call that does not return */
	if (e.kind == EFFECT_RETURN || has_left(&state))
		on_return(l, i);
	else if (e.kind == EFFECT_JUMP || e.kind == EFFECT_BRANCH)
		i->next[1] = reach(l, next + e.value, &state);
	else if (e.kind == EFFECT_CALL || e.kind == EFFECT_CALL_COMPUTED) {
		if (!ends_function(l, next))
			l->calls[l->ncalls++] = n;
		else if (l->place && next == l->place)
			i->next[0] =
				reach(l, next, &state); /* nothing of the call is on the stack */
	} else if (e.kind != EFFECT_STOP && e.kind != EFFECT_JUMP_COMPUTED && follow(&state, &e))
		i->next[0] = reach(l, next, &state);
	if (e.kind == EFFECT_BRANCH)
		i->next[0] = reach(l, next, &state);
	return work_add(l->work, 1);
}

static int explore_all(struct leave *l)
{
	int err = 0;

	while (l->ntodo && !err && !l->bad)
		err = explore_one(l, l->todo[--l->ntodo]);
	return err;
}

/* Goes on behind a call or a jump, or takes all back that was found there. */
static int explore_behind(struct leave *l, uint32_t n)
{
	const uint32_t ninsns = l->ninsns, ncalls = l->ncalls;
	struct leave_state exits[3];
	int err;

	memcpy(exits, l->exits, sizeof(exits));
	l->insns[n].next[0] =
		reach(l, (int64_t)l->insns[n].at + l->insns[n].size, &l->insns[n].state);
	err = explore_all(l);
	if (!l->bad)
		return err;
	l->bad = false;
	l->ninsns = ninsns;
	l->ncalls = ncalls;
	l->taken_back++;
	memset(l->slots, 0, sizeof(l->slots));
	l->last = l->straight = 0;
	for (uint32_t k = 0; k < ninsns; k++) {
		*find_slot(l, l->insns[k].at) = k + 1;
		if (l->insns[k].at > l->insns[l->last].at)
			l->last = k;
	}
	l->ntodo = 0;
	l->insns[n].next[0] = NONE;
	memcpy(l->exits, exits, sizeof(exits));
	return err;
}

static void prove(struct leave *l)
{
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t n = l->ninsns; n-- > 0;) {
			struct leave_insn *i = &l->insns[n];

			for (int k = 0; k < 2 && !i->proved; k++)
				if (i->next[k] < l->ninsns && l->insns[i->next[k]].proved)
					more = i->proved = true;
		}
	}
}

/* --- rows ------------------------------------------------------------------------------------ */

static uint32_t make_rule(enum row_kind kind, int64_t cfa, int64_t depth)
{
	if (cfa <= 0 || cfa > (int64_t)RULE_CFA_MAX || cfa % 8 || depth < 0 ||
	    depth > (int64_t)RULE_FP_DEPTH_MAX || depth % 8 || depth == WORD)
		return RULE(ROW_END, 0);
	return RULE_FRAME(kind, cfa, depth) | RULE_DERIVED;
}

/* Below the CFA. -1: not there, since it is of another register, or was popped. */
static int64_t depth_of(const struct leave_state *exit, const struct leave_state *s,
			struct place at)
{
	if (at.base != exit->sp.base || (s->sp.base == at.base && at.at < s->sp.at))
		return -1;
	return (int64_t)exit->sp.at + WORD - at.at;
}

/* Where the caller's FP is, below the CFA; 0: in the register; -1: not known. */
static int64_t find_fp(const struct leave_state *exit, const struct leave_state *s)
{
	int64_t depth = -1;

	if (same_fp(s->saved_fp, exit->fp) && (s->pushed || !same_fp(s->fp, exit->fp)))
		depth = depth_of(exit, s, s->saved);
	if (depth < 0 && same_fp(s->fp, exit->fp))
		return 0;
	return depth >= 0 ? depth : depth_of(exit, s, exit->fp.at);
}

static uint32_t rule_of(const struct leave *l, const struct leave_insn *i)
{
	const struct leave_state *s = &i->state, *exit = &l->exits[s->sp.base];

	if (!i->proved)
		return RULE(ROW_END, 0);
	if (exit->sp.base != BASE_NONE)
		return make_rule(ROW_SP, (int64_t)exit->sp.at + WORD - s->sp.at, find_fp(exit, s));
	exit = &l->exits[BASE_FP];
	if (exit->sp.base == BASE_NONE || s->fp.value != FP_ITS)
		return RULE(ROW_END, 0);
	return make_rule(ROW_FP, (int64_t)exit->sp.at + WORD, find_fp(exit, s));
}

static int compare_insns(const void *left, const void *right)
{
	const struct leave_insn *a = left, *b = right;

	return a->at < b->at ? -1 : a->at > b->at;
}

static int add_row(struct derived *out, uint64_t pc, uint32_t rule)
{
	if (GROW(out->rows, out->nrows, out->room, SIZE_MAX))
		return -ENOMEM;
	out->rows[out->nrows++] = (struct derived_row){pc, rule};
	return 0;
}

static int add_rows(struct leave *l, struct derived *out)
{
	uint32_t rule, last = RULE(ROW_END, 0);
	uint64_t end = 0;
	int err = 0;

	/* The links between them are not needed any more. */
	qsort(l->insns, l->ninsns, sizeof(l->insns[0]), compare_insns);
	for (uint32_t n = 0; n < l->ninsns && !err; n++) {
		const struct leave_insn *i = &l->insns[n];

		rule = rule_of(l, i);
		if (last && end != i->at) {
			err = add_row(out, l->code->addr + end, RULE(ROW_END, 0));
			last = RULE(ROW_END, 0);
		}
		if (!err && rule != last)
			err = add_row(out, l->code->addr + i->at, rule);
		last = rule;
		end = (uint64_t)i->at + i->size;
	}
	if (last && !err)
		err = add_row(out, l->code->addr + end, RULE(ROW_END, 0));
	return err;
}

/* True if there is a place that is looked for, and nothing has led to it. */
static bool is_missing(struct leave *l)
{
	return l->place && !*find_slot(l, l->place);
}

static const struct leave_state begin = {.sp = {BASE_SP, 0}};

static bool has_exit(const struct leave *l)
{
	return l->exits[BASE_SP].sp.base != BASE_NONE || l->exits[BASE_FP].sp.base != BASE_NONE;
}

/*
 * True for a call behind all that is known, to which only jumps lead. What the beginning leads to
 * without a jump only becomes more, but for what is taken back.
 */
static bool is_outlying(struct leave *l, uint32_t call)
{
	uint32_t next = l->insns[l->straight].next[0];

	while (next < l->ninsns && l->insns[next].at > l->insns[l->straight].at) {
		l->straight = next;
		next = l->insns[next].next[0];
	}
	return call == l->last && call != l->straight &&
	       l->insns[call].at + l->insns[call].size != l->place;
}

/*
 * Takes the call whose end is nearest behind the beginning: what does not return stands at the end
 * of a function mostly, and the return that is found first counts. An outlying one only if
 * `outlying`. NONE: there is none.
 */
static uint32_t next_call(struct leave *l, uint32_t from, bool outlying)
{
	uint32_t best = NONE, call;

	for (uint32_t i = 0; i < l->ncalls; i++)
		if ((best == NONE ||
		     l->insns[l->calls[i]].at - from < l->insns[l->calls[best]].at - from) &&
		    (outlying || !is_outlying(l, l->calls[i])))
			best = i;
	if (best == NONE)
		return NONE;
	call = l->calls[best];
	l->calls[best] = l->calls[--l->ncalls];
	return call;
}

/*
 * True for a jump over something short that nothing is known to lead to, with SP where it was at
 * the beginning: not lower, as for the arguments of a call.
 */
static bool is_gap(struct leave *l, uint32_t jump)
{
	const struct leave_insn *i = &l->insns[jump];
	const uint32_t gap = i->at + i->size;

	if (i->next[0] != NONE || i->next[1] == NONE || *find_slot(l, gap) ||
	    !same_place(i->state.sp, begin.sp))
		return false;
	for (uint32_t behind = gap + 1; behind <= gap + GAP_MAX; behind++)
		if (*find_slot(l, behind))
			return true;
	return false;
}

/* A loop without an end may still have the return that the compiler wrote for it, between its
 * parts. */
static int explore_gaps(struct leave *l)
{
	const uint32_t ninsns = l->ninsns;
	int err = 0;

	for (uint32_t n = 0; n < ninsns && l->taken_back < TAKEN_BACK_MAX && !has_exit(l) && !err;
	     n++)
		if (is_gap(l, n))
			err = explore_behind(l, n);
	return err;
}

/*
 * Explores from an offset on, where the state is that of the beginning. An outlying call is
 * followed only if there is no return elsewhere, or nothing else leads to the place: there,
 * compilers put what throws, and behind it comes another function, or data, which may look like
 * code.
 */
static int explore_from(struct leave *l, uint32_t at)
{
	bool gaps = false;
	uint32_t call;
	int err;

	reach(l, at, &begin);
	err = explore_all(l);
	while (l->taken_back < TAKEN_BACK_MAX && !err && !l->bad) {
		call = next_call(l, at, false);
		if (call == NONE && !has_exit(l) && !gaps) {
			gaps = true;
			err = explore_gaps(l);
			continue;
		}
		if (call == NONE && (!has_exit(l) || is_missing(l))) {
			l->weak = true;
			call = next_call(l, at, true);
		}
		if (call == NONE)
			break;
		err = explore_behind(l, call);
	}
	return err;
}

static void forget(struct leave *l)
{
	const struct leave_code *code = l->code;
	struct disasm *disasm = l->disasm;
	struct work *work = l->work;

	memset(l, 0, sizeof(*l));
	l->code = code;
	l->disasm = disasm;
	l->work = work;
}

/* False in *found: the place is not reached from there without a contradiction. */
static int try_start(struct leave *l, uint32_t start, uint32_t place, bool *found)
{
	int err;

	forget(l);
	l->place = place;
	/* The return address is where SP points to. */
	l->exits[BASE_SP] = (struct leave_state){.sp = {BASE_SP, 0}};
	err = explore_from(l, start);
	*found = !err && !l->bad && *find_slot(l, place);
	/* What leads to the place, that is; the rest may be other functions. */
	if (*found)
		l->insns[*find_slot(l, place) - 1].proved = true;
	prove(l);
	return err;
}

static int find_start(struct leave *l, uint32_t place, bool *found)
{
	const struct leave_code *code = l->code;
	const uint32_t first = place > START_BYTES ? place - START_BYTES : 1;
	unsigned int tries = 0;
	int err = 0;

	for (uint32_t at = place; at >= first && !*found && tries < STARTS_MAX && !err; at--) {
		if ((code->addr + at) % START_ALIGN ||
		    !arch_may_begin(l->disasm, code->bytes, at, code->size))
			continue;
		tries++;
		err = try_start(l, at, place, found);
	}
	return err;
}

/*
 * True if the frame at the place is nothing but its return address. A function that makes calls has
 * more, since SP has to be a multiple of 16 there (psABI 3.2.2), if not everywhere then here.
 */
static bool is_empty(struct leave *l, uint32_t place)
{
	const struct place sp = l->exits[BASE_SP].sp;
	const uint32_t n = *find_slot(l, place);

	return sp.base != BASE_NONE && n && same_place(l->insns[n - 1].state.sp, sp);
}

/*
 * True if the frame would have an FP only by what stands behind a call that may throw: what comes
 * there may be the end of another function, whose frame would take the place of this one's.
 */
static bool is_doubtful(const struct leave *l)
{
	return l->weak && l->exits[BASE_SP].sp.base == BASE_NONE;
}

/* NULL: no memory. */
static struct leave *leave_new(const struct leave_code *code, struct disasm *disasm,
			       struct work *work)
{
	struct leave *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->code = code;
	l->disasm = disasm;
	l->work = work;
	return l;
}

int leave_rows(const struct leave_code *code, uint64_t pc, bool behind_call, struct disasm *disasm,
	       struct work *work, struct derived *out)
{
	const uint32_t place = (uint32_t)(pc - code->addr);
	struct leave *l;
	bool found;
	int err;

	if (pc < code->addr || pc - code->addr >= code->size || code->size > UINT32_MAX)
		return 0;
	l = leave_new(code, disasm, work);
	if (!l)
		return -ENOMEM;
	err = explore_from(l, place);
	prove(l);
	found = !l->bad && l->ninsns && l->insns[0].proved && !is_doubtful(l) &&
		!(behind_call && is_empty(l, place));
	if (!err && !found)
		err = find_start(l, place, &found);
	if (!err && found && !(behind_call && is_empty(l, place)))
		err = add_rows(l, out);
	free(l);
	return err;
}

/* True if the instruction behind this one is the next, with the same FP. */
static bool keeps_fp(const struct effect *e)
{
	switch ((enum effect_kind)e->kind) {
	case EFFECT_NONE:
	case EFFECT_PAD:
	case EFFECT_PUSH:
	case EFFECT_POP:
	case EFFECT_ADD_SP:
	case EFFECT_SP_LOST:
	case EFFECT_SP_FROM_FP:
	case EFFECT_STORE_FP:
	case EFFECT_BRANCH:
	case EFFECT_CALL:
	case EFFECT_CALL_COMPUTED:
	case EFFECT_ADDRESS:
	case EFFECT_ABSOLUTE:
		return true;
	default:
		return false;
	}
}

/* True if another function may follow the call, which need not return. */
static bool may_end(struct leave *l, const struct effect *e, int64_t next)
{
	return (e->kind == EFFECT_CALL || e->kind == EFFECT_CALL_COMPUTED) &&
	       (!((l->code->addr + (uint64_t)next) % START_ALIGN) || ends_function(l, next));
}

/* Explores from an offset on as long as FP stays the same. *own: it is the function's. */
static int explore_use(struct leave *l, uint32_t from, bool *own)
{
	struct effect e;
	int err = 0;

	reach(l, from, &begin);
	while (l->ntodo && !err) {
		struct leave_insn *i = &l->insns[l->todo[--l->ntodo]];
		int64_t next;

		arch_effect(l->disasm, l->code->bytes + i->at, l->code->size - i->at, &e);
		i->size = e.size;
		i->proved = true;
		next = (int64_t)i->at + e.size;
		*own |= e.below_fp || e.kind == EFFECT_LEAVE || e.kind == EFFECT_SP_FROM_FP;
		l->bad |= e.kind == EFFECT_RETURN; /* FP is the caller's there */
		if (e.kind == EFFECT_JUMP || e.kind == EFFECT_BRANCH)
			reach(l, next + e.value, &begin);
		if (keeps_fp(&e) && !may_end(l, &e, next))
			reach(l, next, &begin);
		err = work_add(l->work, 1);
	}
	return err;
}

/* The offset behind the nearest `push FP; FP = SP` before the place; the place: there is none. */
static uint32_t find_prologue(const struct leave *l, uint32_t place)
{
	const uint32_t first = place > START_BYTES ? place - START_BYTES : 0;
	struct effect push, set;
	uint64_t code;

	for (uint32_t at = place; at-- > first;) {
		if (l->code->size - at < sizeof(code))
			continue;
		memcpy(&code, l->code->bytes + at, sizeof(code));
		if (!arch_begins_frame(code))
			continue;
		arch_effect(l->disasm, l->code->bytes + at, sizeof(code), &push);
		arch_effect(l->disasm, l->code->bytes + at + push.size, sizeof(code) - push.size,
			    &set);
		if (push.kind == EFFECT_PUSH_FP && at + push.size + set.size <= place)
			return at + push.size + set.size;
	}
	return place;
}

int leave_by_use(const struct leave_code *code, uint64_t pc, bool whole, struct disasm *disasm,
		 struct work *work, struct derived *out)
{
	const uint32_t place = (uint32_t)(pc - code->addr);
	uint32_t from = place;
	struct leave *l;
	bool own;
	int err = 0;

	if (pc < code->addr || pc - code->addr >= code->size || code->size > UINT32_MAX)
		return 0;
	l = leave_new(code, disasm, work);
	if (!l)
		return -ENOMEM;
	if (whole)
		from = find_prologue(l, place);
	own = from < place;
	if (!whole || own)
		err = explore_use(l, from, &own);
	l->exits[BASE_FP] =
		(struct leave_state){.sp = {BASE_FP, WORD}, .fp = {FP_LOADED, {BASE_FP, 0}}};
	if (!err && own && !l->bad && *find_slot(l, place))
		err = add_rows(l, out);
	free(l);
	return err;
}
