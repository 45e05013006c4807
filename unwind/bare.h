/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_BARE_H
#define STACKTOP_UNWIND_BARE_H

/*
 * The step from code without CFI: made at run time, or of a file that has none at this place. A
 * part of unwind/step.h, which describes the seam.
 *
 * All that there is is a frame pointer, which is the function's own or that of a frame further out
 * if the function leaves the register alone. Followed there it would skip the frames between. Whose
 * it is, the processor's part tells (unwind/arch/): it also knows by the next instructions where a
 * frame begins or is about to go.
 */

#include "unwind/lookup.h"

#define WALK_FP_DISTANCE (64ull << 20) /* from the stack pointer */
#define WALK_FP_NEAR	 4096

/*
 * True for a return address that no call has pushed, at the beginning of a function behind text
 * without CFI: makecontext writes __start_context there, below the function of a coroutine.
 */
static __always_inline int walk_is_context_start(struct walk *w)
{
	return !w->exact && WALK_COVERED(w, w->pc) && !WALK_AFTER_CALL(w, w->pc);
}

/*
 * True at the code that the kernel lets a signal handler return to. glibc's has CFI on x86-64;
 * musl's, Go's and the kernel's own have none. Within a chain of frame pointers each frame pays for
 * the look, where such code is not aligned as functions are.
 */
static __always_inline int walk_is_sigreturn(struct walk *w)
{
	__u64 code, at = w->pc;

	if (w->fp_chain && at & (ARCH_SIGRETURN_ALIGN - 1))
		return 0;
	if (w->known == WALK_ALL_KNOWN && !w->exact)
		at -= ARCH_SIGRETURN_SIZE; /* in the system call already */
	if (step_read_user(w, &code, 8, at))
		return 0;
	if (w->exact && arch_is_system_call(code)) {
		at -= ARCH_SIGRETURN_CALL;
		if (step_read_user(w, &code, 8, at))
			return 0;
	}
	if (!arch_begins_sigreturn(code))
		return 0;
	return !step_read_user(w, &code, 8, at + ARCH_SIGRETURN_SIZE - 8) &&
	       arch_ends_sigreturn(code);
}

/* --- the deepest frame ----------------------------------------------------------------------- */

/*
 * WALK_BOTTOM for a frame that says itself that it is the deepest: it makes the frame pointer zero
 * right before the call, as BEAM's process_main; or the exit of a thread of musl follows.
 * WALK_BOTTOM_FP where no call has pushed the return address, as that of Go's goexit: only the zero
 * in the frame pointer tells it from an address that is none. Else WALK_CONTINUE.
 */
static __always_inline int walk_root(struct walk *w)
{
	__u64 code;

	if (w->exact || step_read_user(w, &code, 8, w->pc - 8))
		return WALK_CONTINUE;
	if (arch_clears_fp(code))
		return WALK_BOTTOM;
	if (!WALK_AFTER_CALL(w, w->pc))
		return WALK_BOTTOM_FP;
	return !step_read_user(w, &code, 8, w->pc) && arch_is_thread_exit(code) ? WALK_BOTTOM
										: WALK_CONTINUE;
}

/*
 * True where a zero frame pointer means the deepest frame, as the psABIs have it, and not a
 * register that happens to be zero: where the main thread's stack begins, or another stack ends.
 */
static __always_inline int walk_is_deepest(struct walk *w)
{
	__u64 word;

	if (!w->start_stack || w->start_stack - w->sp < WALK_START_BYTES)
		return 1;
	return w->fp_chain && step_read_user(w, &word, 8, ((w->sp - 1) | 4095) + 1);
}

/* --- the processor --------------------------------------------------------------------------- */

enum walk_owner {
	OWNER_THIS,   /* this frame's */
	OWNER_OTHER,  /* another's: the step was made to the caller, which lies between */
	OWNER_UNSURE, /* a return address lies between that may be left over */
};

#include ARCH_STEP_H

/* --- the step -------------------------------------------------------------------------------- */

/*
 * What a frame pointer has to look like: above the stack pointer, aligned, near, leading to a
 * return address and to an older frame. The first return address of a chain must follow a call. A
 * caller with CFI may have any number in the place of a saved frame pointer.
 */
static __always_inline int walk_is_sound(struct walk *w)
{
	const __u64 fp = w->fp;

	if (fp + ARCH_FP_BELOW < w->sp || fp & 7 || fp + ARCH_FP_BELOW - w->sp > WALK_FP_DISTANCE ||
	    walk_load(w, fp, &w->fp_caller) || walk_load(w, fp + 8, &w->fp_ra))
		return 0;
	w->fp_caller = arch_data(w->fp_caller);
	w->fp_ra = arch_code(w->fp_ra);
	if (!w->fp_ra) /* where a call does not write it, a zero was meant to be there */
		return !w->fp_caller && (ARCH_HAS_LINK || w->fp_chain);
	if (!walk_find_map(w, w->fp_ra - 1))
		return 0;
	if (w->fp_caller && w->fp_caller <= fp)
		return WALK_AFTER_CALL(w, w->fp_ra) && WALK_COVERED(w, w->fp_ra - 1);
	return w->fp_chain || WALK_AFTER_CALL(w, w->fp_ra);
}

/*
 * True if the frame pointer is in another stack than the stack pointer: BEAM calls C functions on
 * the stack of the scheduler's thread. Memory without a file only, and once in a walk.
 */
static __always_inline int walk_is_elsewhere(struct walk *w)
{
	const __u64 fp = w->fp;
	__u64 record[2];

	if (w->code_frame || w->exact || w->switches >= WALK_SWITCHES_MAX || !fp || fp & 7 ||
	    step_read_user(w, record, sizeof(record), fp))
		return 0;
	w->fp_caller = arch_data(record[0]);
	w->fp_ra = arch_code(record[1]);
	if (!WALK_AFTER_CALL(w, w->fp_ra) || !walk_find_map(w, w->fp_ra - 1) ||
	    (w->fp_caller && w->fp_caller <= fp))
		return 0;
	w->switches = WALK_SWITCHES_MAX;
	w->window_top = 0;
	return 1;
}

#define WALK_JUDGE (-1)

/*
 * The step where no frame pointer is needed, or WALK_JUDGE: walk_frame_pointer is to decide on the
 * one that leads to w->fp_ra.
 */
static __always_inline int walk_bare(struct walk *w)
{
	__u64 at;
	int root;

	w->code_start = w->map.start;
	w->code_end = w->map.end;
	w->code_frame = w->map.frame;
	w->fp_ra = 0;
	w->elsewhere = 0;
	if (walk_is_sigreturn(w)) {
		at = walk_sigcontext_at(w);
		return at ? WALK_SIGCONTEXT(w, at) : WALK_REGISTER;
	}
	if (walk_is_context_start(w)) {
		walk_mark_exact(w);
		walk_mix(w, FRAME_EXACT); /* the frame is in the hash without it */
		return WALK_BOTTOM;
	}
	/* Nothing is on the stack of ld.so's _start, which has no CFI. */
	if (w->start_stack && w->sp == w->start_stack)
		return WALK_BOTTOM;
	if (!w->fp && w->known != WALK_ALL_KNOWN) {
		root = walk_root(w);
		if (root != WALK_CONTINUE)
			return root;
		if (walk_is_deepest(w))
			return WALK_BOTTOM_FP;
	}
	if (w->exact && WALK_EDGE(w))
		return WALK_CONTINUE;
	if (walk_bare_leaf(w))
		return WALK_CONTINUE;
	if (walk_is_sound(w) && (w->fp - w->sp < WALK_FP_NEAR || !STEP_APART(w)))
		return w->fp_ra ? WALK_JUDGE : WALK_BOTTOM_FP;
	w->elsewhere = walk_is_elsewhere(w);
	if (!w->elsewhere)
		w->fp_ra = 0;
	return WALK_JUDGE;
}

/*
 * Takes the step by the frame pointer, or to the caller that lies before it. Where it is not sure
 * the place is noted: what the code does from there may become a row.
 */
static __always_inline int walk_frame_pointer(struct walk *w, int reason)
{
	int owner;

	/* A function that leaves the register alone, and says how its frame ends. */
	if (!w->exact && !w->fp_chain && WALK_EDGE(w))
		return WALK_CONTINUE;
	if (!w->fp_ra) {
		STEP_BARE(w);
		return reason;
	}
	owner = w->elsewhere ? OWNER_THIS : walk_owner(w);
	if (owner == OWNER_OTHER)
		return WALK_CONTINUE;
	if (owner == OWNER_UNSURE) {
		STEP_BARE(w);
		w->guessed = 1;
	}
	STEP_NOTE(w, fp_at, w->fp);
	STEP_NOTE(w, ra_at, w->fp + 8);
	STEP_NOTE(w, cfa, w->fp + 16);
	w->pc = w->fp_ra;
	w->sp = w->fp + 16;
	w->fp = w->fp_caller;
	w->sp_is_least = ARCH_HAS_LINK;
	w->fp_chain = 1;
	w->exact = 0;
	w->known = 0;
	return WALK_CONTINUE;
}

#endif
