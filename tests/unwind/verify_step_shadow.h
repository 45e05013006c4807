/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_UNWIND_VERIFY_STEP_SHADOW_H
#define STACKTOP_TESTS_UNWIND_VERIFY_STEP_SHADOW_H

/*
 * The witness that reads no CFI: it sees every instruction and keeps the stack of callers that
 * calls, returns and signals make. A return that does not fit, a longjmp or an exception drops the
 * callers below the new stack pointer; another stack's callers are put aside until the stack
 * pointer comes back to them. The callers before the first look are unknown, except that there are
 * none before a program's first instruction.
 */

#include <sys/user.h>

#include "tests/unwind/verify_step_space.h"

#define ASIDE_MAX 64u
#define CODES	  (1u << 16)

struct caller { /* what a caller gets back */
	uint64_t pc, sp, fp;
	bool exact;
};

struct shadow {
	struct caller *callers; /* innermost last */
	unsigned int n, room;
	bool rooted; /* the first one has no caller */
	uint64_t sp; /* when put aside */
};

enum code {
	CODE_OTHER,
	CODE_CALL,
	CODE_RET,
	CODE_JUMP, /* to an address in a register or in memory */
	CODE_SYSCALL,
	CODE_LOAD_SP, /* from memory */
	CODE_MOVE_SP, /* from a register */
};

struct witness {
	struct space *space;
	struct shadow now, aside[ASIDE_MAX];
	unsigned int naside;
	uint64_t calls, returns, tail_returns, unwound, switches, signals, fp_changed;
	struct {
		uint64_t pc;
		uint8_t code;
	} codes[CODES];
};

static inline void shadow_push(struct shadow *s, struct caller caller)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->callers = realloc(s->callers, s->room * sizeof(*s->callers));
		if (!s->callers)
			err(2, "memory");
	}
	s->callers[s->n++] = caller;
}

/* Forgets everything: at a program's start (rooted), or after a part that ran unseen. */
static inline void witness_reset(struct witness *w, bool rooted)
{
	free(w->now.callers);
	for (unsigned int i = 0; i < w->naside; i++)
		free(w->aside[i].callers);
	w->naside = 0;
	w->now = (struct shadow){.rooted = rooted};
	memset(w->codes, 0, sizeof(w->codes));
}

static inline enum code code_decode(const uint8_t *c)
{
	unsigned int i = 0, rex = 0;

	while (i < 6 && (c[i] == 0xf2 || c[i] == 0xf3 || c[i] == 0x3e || c[i] == 0x66 ||
			 c[i] == 0x2e || (c[i] & 0xf0) == 0x40)) {
		rex = (c[i] & 0xf0) == 0x40 ? c[i] : 0;
		i++;
	}
	if (c[i] == 0xe8 || (c[i] == 0xff && (c[i + 1] >> 3 & 7) == 2))
		return CODE_CALL;
	if (c[i] == 0xc3 || c[i] == 0xc2)
		return CODE_RET;
	if (c[i] == 0xff && (c[i + 1] >> 3 & 7) == 4)
		return CODE_JUMP;
	if (c[i] == 0x0f && c[i + 1] == 0x05)
		return CODE_SYSCALL;
	if (c[i] == 0x8b && !(rex & 4) && (c[i + 1] >> 3 & 7) == 4)
		return c[i + 1] >> 6 == 3 ? CODE_MOVE_SP : CODE_LOAD_SP;
	if (c[i] == 0x89 && !(rex & 1) && c[i + 1] >> 6 == 3 && (c[i + 1] & 7) == 4)
		return CODE_MOVE_SP;
	return CODE_OTHER;
}

static inline enum code witness_code(struct witness *w, uint64_t pc)
{
	size_t at = (pc ^ pc >> 16) % CODES;
	uint8_t bytes[16] = {0};

	if (w->codes[at].pc != pc) {
		if (!space_read(w->space, bytes, sizeof(bytes), pc))
			space_read(w->space, bytes, 4096 - (pc & 4095) % 4096, pc);
		w->codes[at].pc = pc;
		w->codes[at].code = code_decode(bytes);
	}
	return w->codes[at].code;
}

/* Drops callers with frames that the stack pointer has left. */
static inline void shadow_drop(struct witness *w, uint64_t sp)
{
	struct shadow *s = &w->now;

	if (s->n && s->callers[s->n - 1].sp <= sp)
		w->unwound++;
	while (s->n && s->callers[s->n - 1].sp <= sp)
		s->n--;
}

static inline void follow_return(struct witness *w, const struct user_regs_struct *r)
{
	struct shadow *s = &w->now;
	unsigned int i = s->n;

	while (i && (s->callers[i - 1].pc != r->rip || s->callers[i - 1].sp != r->rsp))
		i--;
	if (i) {
		w->unwound += s->n != i;
		w->fp_changed += s->n == i && s->callers[i - 1].fp != r->rbp;
		w->returns++;
		s->n = i - 1;
	} else if (s->n) {
		w->tail_returns += s->callers[s->n - 1].sp > r->rsp;
		shadow_drop(w, r->rsp);
	}
}

static inline void follow_sigreturn(struct witness *w, const struct user_regs_struct *r)
{
	struct shadow *s = &w->now;

	/* Back to the interrupted frame, whatever the handler did to its registers. */
	while (s->n && !s->callers[s->n - 1].exact)
		s->n--;
	if (s->n)
		s->n--;
	shadow_drop(w, r->rsp);
}

/* The stack pointer has moved to another stack. */
static inline void follow_switch(struct witness *w, uint64_t from, uint64_t to)
{
	struct shadow next = {0};

	w->switches++;
	for (unsigned int i = w->naside; i-- > 0;) {
		/* swapcontext saves the stack pointer that its return will set */
		if (to - w->aside[i].sp + 64 <= 256) {
			next = w->aside[i];
			w->aside[i] = w->aside[--w->naside];
			break;
		}
	}
	w->now.sp = from;
	if (w->naside == ASIDE_MAX) {
		free(w->aside[0].callers);
		w->aside[0] = w->aside[--w->naside];
	}
	w->aside[w->naside++] = w->now;
	w->now = next;
}

/* A write to the stack pointer: to an older frame, to one more piece of this one, or away. */
static inline void follow_move(struct witness *w, enum code code, uint64_t from, uint64_t to)
{
	struct shadow *s = &w->now;
	unsigned int i = s->n;

	if (to == from)
		return;
	if (to < from) {
		/* Out of a handler on a signal stack that lies above. */
		while (i && !s->callers[i - 1].exact)
			i--;
		if (i && to >= s->callers[i - 1].sp) {
			s->n = i;
			shadow_drop(w, to);
			return;
		}
		if (code == CODE_LOAD_SP || from - to > 1u << 20)
			follow_switch(w, from, to);
		return;
	}
	if (s->n ? to <= s->callers[0].sp : to - from < 1u << 16)
		return;
	/* From a handler's signal stack back to the interrupted one? */
	while (i && !(s->callers[i - 1].sp > to && s->callers[i - 1].sp - to < 8u << 20))
		i--;
	if (i) {
		w->unwound++;
		s->n = i;
	} else if (s->n || to - from > 1u << 20) {
		follow_switch(w, from, to);
	}
}

/* Applies the instruction at last.rip to the stack of callers. */
static inline void witness_follow(struct witness *w, const struct user_regs_struct *last,
				  const struct user_regs_struct *r)
{
	enum code code = witness_code(w, last->rip);
	uint64_t word = 0;

	switch (code) {
	case CODE_CALL:
		if (r->rsp != last->rsp - 8 || !space_word(w->space, r->rsp, &word))
			break;
		w->calls++;
		shadow_push(&w->now, (struct caller){word, last->rsp, last->rbp, false});
		break;
	case CODE_RET:
		if (r->rsp > last->rsp)
			follow_return(w, r);
		break;
	case CODE_JUMP:
		shadow_drop(w, r->rsp);
		break;
	case CODE_SYSCALL:
		if (last->rax == 15)
			follow_sigreturn(w, r);
		break;
	case CODE_LOAD_SP:
	case CODE_MOVE_SP:
		follow_move(w, code, last->rsp, r->rsp);
		break;
	default:
		break;
	}
}

/*
 * After a signal was delivered: if a handler was entered, its frame leads to a trampoline, and the
 * trampoline's to the interrupted frame (struct rt_sigframe: return address, then ucontext).
 */
static inline void witness_signal(struct witness *w, const struct user_regs_struct *last,
				  const struct user_regs_struct *r)
{
	uint64_t word = 0, sp = 0, pc = 0, fp = 0;

	if (!space_word(w->space, r->rsp + 8 + 40 + 15 * 8, &sp) || sp != last->rsp ||
	    !space_word(w->space, r->rsp + 8 + 40 + 16 * 8, &pc) || last->rip - pc > 2 ||
	    !space_word(w->space, r->rsp + 8 + 40 + 10 * 8, &fp) ||
	    !space_word(w->space, r->rsp, &word))
		return;
	shadow_push(&w->now, (struct caller){pc, sp, fp, true});
	shadow_push(&w->now, (struct caller){word, r->rsp + 8, r->rbp, false});
	w->signals++;
}

#endif
