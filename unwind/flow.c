// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The code is cut into instructions first, from each known start on. Then each function is explored
 * from its start, where the CFA is right above the return address, along all its jumps. At a return
 * the CFA has to be there again and FP has to be the caller's, and so at a jump to another
 * function, which returns in place of this one: this proves the states on the way, and whatever
 * contradicts it (an instruction that is none, a stack that shrinks below the return address, an
 * address made of the caller's FP, as in code with another use for it) takes back all that was
 * found from this start.
 *
 * Code that no jump leads to is either the next function, to which nothing else leads, or a case
 * of a jump table. Both are tried: the state of the jump, then that of a function's start. A return
 * settles which one it is, since its frame has to be empty; without one there is no state.
 *
 * Coroutines change stacks: the function saves SP, takes that of another stack, which it has left
 * in the same way, and restores from there what it has saved here. So the state is the same on
 * both.
 *
 * A call may not return, and then other code follows it. So what follows a call is explored last,
 * and gives way to what jumps and branches say. If it leads into a contradiction the call is marked
 * and everything is done again without that edge.
 */
#include "unwind/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/search.h"
#include "symbols/base/work.h"
#include "unwind/effect.h"
#include "unwind/flowcut.h"

#define WORD	   8
#define RA_ONLY	   8 /* CFA - SP where a function begins, and where it returns */
#define FRAME_MAX  (1 << 24)
#define RETRIES	   8	      /* without one more call that does not return */
#define STEPS_EACH 16u	      /* of all exploring, per instruction */
#define SWITCH_MAX 32u	      /* instructions from a change of stacks to the return */
#define TRIAL_MAX  (1u << 16) /* steps of an exploration */

struct undo {
	uint32_t insn;
	struct flow_state state;
};

struct pending {
	uint32_t call;	  /* instruction */
	uint32_t suspect; /* the call that may have led here wrongly; NO_INSN */
};

/* An exploration, and what remains from one to the next. */
struct explore {
	struct flow *flow;
	struct undo *undos;
	uint32_t nundos, undos_room;
	uint32_t *todo; /* instructions whose state is new */
	uint32_t ntodo, todo_room;
	struct pending *pending; /* calls, as a heap by address */
	uint32_t npending, pending_room;
	uint32_t call, suspect; /* that led to the instruction at hand */
	uint64_t steps, steps_max;
	uint32_t turn; /* number of the exploration */
	/* Of this exploration. */
	uint32_t root;
	bool guess; /* the state at the root is one */
	bool violated, proved, called;
	unsigned int njumps; /* different states at computed jumps */
	struct flow_state jump;
};

static const struct flow_state entry = {.sp = RA_ONLY};
static const struct flow_state lost = {.sp = RA_ONLY, .fp = FLOW_FP_OTHER};
static const struct flow_state outermost = {.sp = FLOW_OUTERMOST};

static bool state_equal(const struct flow_state *a, const struct flow_state *b)
{
	return a->sp == b->sp && a->fp == b->fp && a->slot == b->slot;
}

/* --- what an instruction does to a state -------------------------------------------------------
 */

static struct flow_state state_meet(const struct flow_state *a, const struct flow_state *b)
{
	struct flow_state s = *a;

	if (a->sp != b->sp) {
		s.sp = FLOW_UNKNOWN;
		if (a->sp == FLOW_OUTERMOST || b->sp == FLOW_OUTERMOST)
			s.fp = FLOW_FP_OTHER;
	}
	if (a->fp != b->fp)
		s.fp = FLOW_FP_OTHER;
	if (a->slot != b->slot)
		s.slot = 0;
	return s;
}

static void state_add_sp(struct flow_state *s, int64_t value)
{
	int64_t sp = (int64_t)s->sp - value;

	if (s->sp > 0)
		s->sp = sp > FRAME_MAX ? FLOW_UNKNOWN : sp > 0 ? (int32_t)sp : FLOW_NONE;
}

/* FP gets its value from the stack at the distance from the CFA. */
static void state_load_fp(struct flow_state *s, int64_t distance)
{
	if (s->slot && s->slot == distance)
		s->fp = s->slot = 0;
	else
		s->fp = FLOW_FP_OTHER;
}

static void state_set_fp(struct flow_state *s, int64_t distance)
{
	s->fp = distance > 0 && distance <= FRAME_MAX ? (int32_t)distance : FLOW_FP_OTHER;
}

static void state_save_fp(struct flow_state *s, int64_t distance)
{
	if (s->fp == FLOW_FP_CALLER && !s->slot && distance > WORD && distance <= FRAME_MAX)
		s->slot = (int32_t)distance;
}

/* FLOW_NONE in sp: the stack does not allow it. */
static struct flow_state state_after(struct flow_state s, const struct flow_insn *insn)
{
	bool known = s.sp > 0;

	if (s.sp == FLOW_OUTERMOST)
		return s;
	if (known && insn->flags & TAKES_RA) {
		s.sp = FLOW_POPPED;
		return s;
	}
	switch (insn->kind) {
	case EFFECT_PUSH:
		state_add_sp(&s, -WORD);
		break;
	case EFFECT_PUSH_FP:
		state_add_sp(&s, -WORD);
		if (known)
			state_save_fp(&s, s.sp);
		break;
	case EFFECT_POP:
		state_add_sp(&s, WORD);
		break;
	case EFFECT_POP_FP:
		state_load_fp(&s, known ? s.sp : 0);
		state_add_sp(&s, WORD);
		break;
	case EFFECT_ADD_SP:
		state_add_sp(&s, insn->value);
		break;
	case EFFECT_SP_LOST:
		s.sp = FLOW_UNKNOWN;
		break;
	case EFFECT_FP_LOST:
		s.fp = FLOW_FP_OTHER;
		break;
	case EFFECT_BOTH_LOST:
		s.sp = FLOW_UNKNOWN;
		s.fp = FLOW_FP_OTHER;
		break;
	case EFFECT_SP_FROM_FP:
		known = s.fp > 0 && (int64_t)s.fp - insn->value > 0 &&
			(int64_t)s.fp - insn->value <= FRAME_MAX;
		s.sp = known ? s.fp - insn->value : FLOW_UNKNOWN;
		break;
	case EFFECT_FP_FROM_SP:
		state_set_fp(&s, known ? (int64_t)s.sp - insn->value : 0);
		break;
	case EFFECT_STORE_FP:
		if (known)
			state_save_fp(&s, (int64_t)s.sp - insn->value);
		break;
	case EFFECT_LOAD_FP:
		state_load_fp(&s, known ? (int64_t)s.sp - insn->value : 0);
		break;
	case EFFECT_RELOAD_FP:
		state_load_fp(&s, s.fp > 0 ? (int64_t)s.fp - insn->value : 0);
		break;
	case EFFECT_ZERO_FP:
		s.fp = FLOW_FP_OTHER;
		break;
	case EFFECT_LEAVE:
		s.sp = s.fp > 0 ? s.fp : FLOW_UNKNOWN;
		state_load_fp(&s, s.fp > 0 ? s.fp : 0);
		state_add_sp(&s, WORD);
		break;
	default:
		break;
	}
	return s;
}

/* --- exploring ------------------------------------------------------------------------------ */

static int explore_todo(struct explore *e, uint32_t insn)
{
	if (GROW(e->todo, e->ntodo, e->todo_room, UINT32_MAX))
		return -ENOMEM;
	e->todo[e->ntodo++] = insn;
	return 0;
}

static int explore_set(struct explore *e, uint32_t insn, const struct flow_state *state)
{
	if (GROW(e->undos, e->nundos, e->undos_room, UINT32_MAX))
		return -ENOMEM;
	e->undos[e->nundos++] = (struct undo){insn, e->flow->insns[insn].state};
	e->flow->insns[insn].state = *state;
	e->flow->insns[insn].turn = e->turn;
	return explore_todo(e, insn);
}

enum edge { EDGE_JUMP, EDGE_NEXT, EDGE_CALL };

/*
 * What may be another function proves nothing of this one, if both have the same state there: that
 * of a function's start.
 */
static void explore_proved(struct explore *e, bool proved)
{
	e->proved |=
		proved && (e->suspect == NO_INSN || e->flow->insns[e->suspect].state.sp != RA_ONLY);
}

/*
 * Assembly may overwrite its caller's frame pointer, if it is called by assembly that has saved it.
 */
static bool may_lose_fp(const struct explore *e, const struct flow_state *s)
{
	return !e->guess && e->flow->insns[e->root].flags & START && !e->flow->strict && !s->slot;
}

/* True if all from the function's start to there is padding: Go has symbols that mark such places.
 */
static bool is_padding(const struct explore *e, uint32_t to)
{
	uint32_t i = e->root;

	while (i < to && e->flow->insns[i].kind == EFFECT_PAD)
		i++;
	return i == to;
}

static int explore_edge(struct explore *e, uint32_t to, const struct flow_state *state,
			enum edge edge)
{
	struct flow *f = e->flow;
	struct flow_state *old, met;

	if (to == NO_INSN || to >= f->ninsns) {
		/* Behind the end of the code only a call that does not return may lead. */
		e->violated |= edge == EDGE_JUMP;
		return 0;
	}
	old = &f->insns[to].state;
	if (f->insns[to].flags & START && to != e->root) {
		if (edge == EDGE_JUMP && state->sp > 0 && !state_equal(state, &entry))
			e->violated = true;
		else if (edge == EDGE_NEXT && is_padding(e, to))
			return 0;
		else if (edge != EDGE_CALL && !e->guess && state_equal(state, &entry))
			explore_proved(e, true); /* what it calls last returns in its place */
		else if (edge == EDGE_NEXT && state->sp == RA_ONLY && may_lose_fp(e, state)) {
			explore_proved(e, true);
			f->insns[to].flags |= FP_GONE;
		}
		return 0;
	}
	if (!old->sp)
		return explore_set(e, to, state);
	if (state_equal(old, state)) {
		explore_proved(e, (edge != EDGE_CALL || e->suspect == NO_INSN) &&
					  f->insns[to].turn != e->turn);
		return 0;
	}
	if (edge == EDGE_CALL)
		return 0;
	/* What was proved before is right, so the guess is wrong. */
	if (e->guess && f->insns[to].turn != e->turn && old->sp != state->sp) {
		e->violated = true;
		return 0;
	}
	met = state_meet(old, state);
	return state_equal(old, &met) ? 0 : explore_set(e, to, &met);
}

static bool pending_before(const struct pending *a, const struct pending *b)
{
	return a->call < b->call;
}

static int pending_push(struct explore *e, uint32_t call)
{
	uint32_t at = e->npending;
	struct pending *p, swap;

	if (GROW(e->pending, e->npending, e->pending_room, UINT32_MAX))
		return -ENOMEM;
	p = e->pending;
	p[e->npending++] = (struct pending){call, e->suspect};
	for (; at && pending_before(&p[at], &p[(at - 1) / 2]); at = (at - 1) / 2) {
		swap = p[at];
		p[at] = p[(at - 1) / 2];
		p[(at - 1) / 2] = swap;
	}
	return 0;
}

static struct pending pending_pop(struct explore *e)
{
	struct pending *p = e->pending, first = p[0], swap;
	uint32_t at = 0, child;

	p[0] = p[--e->npending];
	for (;;) {
		child = 2 * at + 1;
		if (child + 1 < e->npending && pending_before(&p[child + 1], &p[child]))
			child++;
		if (child >= e->npending || !pending_before(&p[child], &p[at]))
			return first;
		swap = p[at];
		p[at] = p[child];
		p[child] = swap;
		at = child;
	}
}

static void explore_jump_state(struct explore *e, const struct flow_state *state)
{
	if (!e->njumps || !state_equal(&e->jump, state))
		e->njumps++;
	e->jump = *state;
}

static bool is_endbr(const struct flow *f, uint32_t at)
{
	return f->insns[at].size == 4 && !memcmp(f->code + f->insns[at].at, "\xf3\x0f\x1e\xfa", 4);
}

/*
 * True for a function without a caller: the program's entry, and one that begins with FP set to
 * zero, which marks the deepest frame (psABI 3.4.1).
 */
static bool is_deepest(const struct flow *f, uint32_t at)
{
	if (f->entry && f->addr + f->insns[at].at == f->entry)
		return true;
	if (is_endbr(f, at) && at + 1 < f->ninsns)
		at++;
	return f->insns[at].kind == EFFECT_ZERO_FP;
}

bool flow_is_child(const struct flow *f, uint32_t at)
{
	return f->insns[at].kind == EFFECT_ZERO_FP && at >= 3 &&
	       f->insns[at - 1].kind == EFFECT_BRANCH && f->insns[at - 3].size == 2 &&
	       !memcmp(f->code + f->insns[at - 3].at, "\x0f\x05", 2);
}

/* True for an instruction that ends the frame that FP has, with the return address next. */
static bool ends_frame(const struct flow *f, uint32_t at, const struct flow_state *after)
{
	const struct flow_insn *insn = &f->insns[at];

	return state_equal(after, &entry) &&
	       (insn->kind == EFFECT_LEAVE ||
		(insn->kind == EFFECT_POP_FP && at && f->insns[at - 1].kind == EFFECT_SP_FROM_FP));
}

/*
 * True for the instruction that changes stacks in a coroutine's switch: the stack pointer was saved
 * right before, and from here on nothing but what is restored leads to the return, or to a jump
 * that has taken the return address, or leaves it. That instruction is marked.
 */
static bool switches(struct flow *f, uint32_t at, const struct flow_state *before)
{
	struct flow_state s = *before;
	uint32_t end = f->ninsns - at < SWITCH_MAX ? f->ninsns : at + SWITCH_MAX, popped = NO_INSN,
		 i;

	if (s.sp <= 0)
		return false;
	for (i = at; i && at - i < SWITCH_MAX && f->insns[i - 1].kind == EFFECT_NONE; i--)
		;
	if (!i || f->insns[i - 1].kind != EFFECT_SAVE_SP)
		return false;
	for (i = at + 1; i < end; i++) {
		const struct flow_insn *insn = &f->insns[i];
		int64_t up = insn->kind == EFFECT_ADD_SP ? insn->value : WORD;

		switch (insn->kind) {
		case EFFECT_POP:
		case EFFECT_ADD_SP:
			if (s.sp == up) {
				popped = i;
				s.sp = FLOW_POPPED;
				break;
			}
			if (up < 0 || s.sp < up)
				return false;
			/* fall through */
		case EFFECT_NONE:
		case EFFECT_POP_FP:
		case EFFECT_LOAD_FP:
			s = state_after(s, insn);
			break;
		case EFFECT_RETURN:
		case EFFECT_JUMP_COMPUTED:
			if (s.fp != FLOW_FP_CALLER || s.slot ||
			    (s.sp != RA_ONLY && (popped == NO_INSN || insn->kind == EFFECT_RETURN)))
				return false;
			if (popped != NO_INSN)
				f->insns[popped].flags |= TAKES_RA;
			return true;
		default:
			return false;
		}
	}
	return false;
}

/* Applies one instruction, and follows it to all that may come next but what follows a call. */
static int explore_step(struct explore *e, uint32_t at)
{
	const struct flow_insn *insn = &e->flow->insns[at];
	struct flow_state before = insn->state, after;
	bool inside;
	int err = 0;

	if (insn->flags & USES_FP && before.fp == FLOW_FP_CALLER && !before.slot &&
	    before.sp != FLOW_OUTERMOST)
		e->violated = true;
	/* The return address is no data, but for setjmp. */
	if (e->guess && insn->flags & USES_SP && before.sp > 0 &&
	    insn->value == before.sp - RA_ONLY)
		e->violated = true;
	if (state_equal(&before, &entry) && flow_is_child(e->flow, at))
		e->flow->insns[at].state = before = outermost;
	/* It takes the return address away, to change the arguments above it. */
	if (!e->guess && insn->kind == EFFECT_POP && !(insn->flags & TAKES_RA) &&
	    state_equal(&before, &entry))
		return 0;
	after = state_after(before, insn);
	if (insn->kind == EFFECT_SP_LOST && switches(e->flow, at, &before)) {
		after = before;
		explore_proved(e, true);
	}
	/* It pushes the return address again, behind more arguments. */
	if (!e->guess && insn->kind == EFFECT_PUSH && insn->flags & USES_SP && before.sp > 0 &&
	    insn->value == before.sp - RA_ONLY && before.fp == FLOW_FP_CALLER && !before.slot)
		after = entry;
	if (ends_frame(e->flow, at, &after)) {
		explore_proved(e, true);
		/* It takes the return address away, to drop arguments that are above it. */
		if (at + 1 < e->flow->ninsns && e->flow->insns[at + 1].kind == EFFECT_POP)
			return 0;
	}
	if (after.sp == FLOW_NONE || (after.sp > 0 && after.sp < RA_ONLY))
		e->violated = true;
	if (e->violated)
		return 0;
	switch (insn->kind) {
	case EFFECT_BAD:
		e->violated = true;
		return 0;
	case EFFECT_STOP:
		return 0;
	case EFFECT_RETURN:
		if (after.sp > 0) {
			if (after.sp == RA_ONLY &&
			    (after.fp == FLOW_FP_CALLER || may_lose_fp(e, &after)))
				explore_proved(e, true);
			else
				e->violated = true;
		}
		return 0;
	case EFFECT_JUMP_COMPUTED:
		if (after.sp > 0 || after.fp > 0)
			explore_jump_state(e, &after);
		else
			e->njumps += 2;
		return 0;
	case EFFECT_CALL:
	case EFFECT_CALL_COMPUTED:
		e->called = true;
		return insn->flags & NORETURN ? 0 : pending_push(e, at);
	case EFFECT_JUMP:
	case EFFECT_BRANCH:
		inside = flowcut_target(insn) >= 0 && flowcut_target(insn) < e->flow->size;
		if (inside)
			err = explore_edge(e, flowcut_find(e->flow, flowcut_target(insn)), &after,
					   EDGE_JUMP);
		if (err || insn->kind == EFFECT_JUMP)
			return err;
		break;
	default:
		break;
	}
	return explore_edge(e, at + 1, &after, EDGE_NEXT);
}

/* True if a function rather than the rest of this one might follow the call. */
static bool is_suspect(const struct flow *f, uint32_t call)
{
	const struct flow_insn *next = &f->insns[call + 1];

	return next->kind == EFFECT_PAD || !((f->addr + next->at) & 15) ||
	       next->kind == EFFECT_PUSH || next->kind == EFFECT_PUSH_FP ||
	       (next->kind == EFFECT_ADD_SP && next->value < 0) || is_endbr(f, call + 1);
}

static int explore_behind_call(struct explore *e)
{
	struct pending p = pending_pop(e);
	struct flow_insn *insn = &e->flow->insns[p.call];
	struct flow_state state = insn->state;

	e->call = p.call;
	e->suspect = p.suspect;
	if (p.call + 1 >= e->flow->ninsns)
		return 0;
	/* A call of the next instruction only pushes its address. */
	if (insn->kind == EFFECT_CALL && !insn->value && state.sp > 0)
		state.sp = FLOW_UNKNOWN;
	if (e->suspect == NO_INSN && is_suspect(e->flow, p.call))
		e->suspect = p.call;
	return explore_edge(e, p.call + 1, &state, EDGE_CALL);
}

static void explore_undo(struct explore *e)
{
	while (e->nundos) {
		struct undo *u = &e->undos[--e->nundos];

		e->flow->insns[u->insn].state = u->state;
	}
}

/* What is known of the state at the root of an exploration. */
enum trust {
	GUESS,	 /* the code has to prove it */
	CERTAIN, /* a function begins there: one that calls others need not return */
	PROVED,
};

static int explore_once(struct explore *e, uint32_t root, const struct flow_state *state)
{
	uint64_t steps = e->steps;
	int err;

	e->nundos = e->ntodo = e->npending = 0;
	e->call = e->suspect = NO_INSN;
	e->root = root;
	e->violated = e->called = false;
	e->proved = state->sp == FLOW_OUTERMOST;
	e->njumps = 0;
	e->turn++;
	err = explore_set(e, root, state);
	while (!err && !e->violated && (e->ntodo || e->npending)) {
		err = work_add(e->flow->work, 1);
		if (!err)
			err = e->ntodo ? explore_step(e, e->todo[--e->ntodo])
				       : explore_behind_call(e);
		if (++e->steps - steps > TRIAL_MAX || e->steps > e->steps_max)
			e->violated = true;
	}
	return err;
}

/*
 * Explores from an instruction on, again without a call if what follows it contradicts. False in
 * *good: nothing was proved, and nothing has changed.
 */
static int explore_from(struct explore *e, uint32_t root, const struct flow_state *state,
			enum trust trust, bool *good)
{
	uint32_t blamed[RETRIES];
	unsigned int nblamed = 0;
	int err;

	e->guess = trust == GUESS;
	for (;;) {
		uint32_t blame;

		err = explore_once(e, root, state);
		blame = e->suspect == NO_INSN && trust != GUESS ? e->call : e->suspect;
		if (err || !e->violated || blame == NO_INSN || nblamed == RETRIES)
			break;
		explore_undo(e);
		e->flow->insns[blame].flags |= NORETURN;
		blamed[nblamed++] = blame;
	}
	*good = !err && !e->violated &&
		(e->proved || trust == PROVED ||
		 (trust == CERTAIN && e->called && !e->flow->strict));
	if (*good)
		return 0;
	explore_undo(e);
	while (nblamed)
		e->flow->insns[blamed[--nblamed]].flags &= (uint8_t)~NORETURN;
	return err;
}

/* True where code begins that no path has reached. */
static bool is_open(const struct flow *f, uint32_t i)
{
	const struct flow_insn *insn = &f->insns[i];

	return !insn->state.sp && insn->kind != EFFECT_PAD && insn->kind != EFFECT_BAD &&
	       (!i || flowcut_ends_block(&f->insns[i - 1]));
}

/*
 * A function that ends with a computed jump, and in what follows it the cases that prove the state
 * of this jump; these are explored first.
 */
static int prove_by_case(struct flow *f, struct explore *e, uint32_t root, bool *good)
{
	const struct flow_state jump = e->jump;
	int err = 0;

	*good = false;
	for (uint32_t i = root + 1; i < f->ninsns && !(f->insns[i].flags & START) && !err && !*good;
	     i++)
		if (is_open(f, i))
			err = explore_from(e, i, &jump, GUESS, good);
	return err || !*good ? err : explore_from(e, root, &entry, PROVED, good);
}

static int flow_pass(struct flow *f, struct explore *e)
{
	struct flow_state jump = {0};
	unsigned int njumps = 0; /* of the function at hand */
	bool good;
	int err = 0;

	for (uint32_t i = 0; i < f->ninsns && !err; i++) {
		struct flow_insn *insn = &f->insns[i];

		if (insn->flags & START) {
			const struct flow_state *state = is_deepest(f, i)	 ? &outermost
							 : insn->flags & FP_GONE ? &lost
										 : &entry;

			njumps = 0;
			err = explore_from(e, i, state, CERTAIN, &good);
			if (!err && !good && !e->violated && e->njumps == 1)
				err = prove_by_case(f, e, i, &good);
			if (good) {
				njumps = e->njumps;
				jump = e->jump;
			}
			continue;
		}
		if (!is_open(f, i))
			continue;
		good = false;
		if (njumps == 1)
			err = explore_from(e, i, &jump, GUESS, &good);
		if (err || good || (njumps == 1 && state_equal(&jump, &entry)))
			continue;
		err = explore_from(e, i, &entry, insn->flags & TAKEN && !njumps ? CERTAIN : GUESS,
				   &good);
		if (good && !njumps) {
			njumps = e->njumps;
			jump = e->jump;
		}
	}
	return err;
}

int flow_run(struct flow *f)
{
	struct explore e = {.flow = f};
	int err = flowcut_run(f);

	e.steps_max = (uint64_t)f->ninsns * STEPS_EACH;
	if (!err)
		err = flow_pass(f, &e);
	free(e.undos);
	free(e.todo);
	free(e.pending);
	return err;
}

void flow_free(struct flow *f)
{
	free(f->insns);
	f->insns = NULL;
	f->ninsns = f->insns_room = 0;
}
