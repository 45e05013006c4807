/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ARCH_X86_64_STEP_H
#define STACKTOP_UNWIND_ARCH_X86_64_STEP_H

/*
 * What a step from code without CFI can tell by instructions and by return addresses, which calls
 * push. A part of unwind/bare.h.
 */

#define WALK_SCAN_TURNS	    16 /* 512 bytes of a frame are searched */
#define WALK_SCAN_WORDS	    4
#define WALK_FRAME_BYTES    35 /* up to the prologue; node 24 has 21 */
#define WALK_RETURN_WORDS   6
#define WALK_CANDIDATES	    3	  /* return addresses of one frame that are judged */
#define WALK_TRIES	    4	  /* frames from there to the one that has the frame pointer */
#define WALK_FUNCTION_BYTES 65536 /* from its start; more is hardly a single function */
#define WALK_EPILOGUE_STEPS 10

/*
 * True at the frame of a signal's handler that has not begun: its return address, where SP is,
 * leads to the code for the return. at: of its sigcontext.
 */
static __always_inline int walk_is_signal_frame(struct walk *w, __u64 at)
{
	__u64 value;

	(void)at;
	return !step_read_user(w, &value, sizeof(value), w->sp) &&
	       !step_read_user(w, &value, sizeof(value), value) && arch_begins_sigreturn(value);
}

/* Where the sigcontext is when a handler returns; 0: not known. */
static __always_inline __u64 walk_sigcontext_at(struct walk *w)
{
	return w->sp + SIGCONTEXT_AT;
}

/* --- where a frame is not complete ----------------------------------------------------------- */

enum walk_edge { EDGE_NONE, EDGE_GOES_ON, EDGE_RETURN };

/* For BPF, which decodes it once, apart from what is done with each kind. */
static __always_inline __u32 walk_epilogue(__u64 code)
{
	return arch_epilogue(code);
}

/*
 * Looks at one instruction. EDGE_GOES_ON: it belongs to an epilogue. EDGE_RETURN: the return
 * address is at look_sp.
 */
static __always_inline int walk_edge_some(struct walk *w)
{
	__u64 code;
	__u32 step;

	if (step_read_user(w, &code, 8, w->look_pc))
		return EDGE_NONE;
	if (w->look_pc == w->pc && w->exact) {
		if (arch_begins_frame(code))
			return EDGE_RETURN;
		if (arch_sets_fp(code)) {
			if (step_read_user(w, &code, 8, w->pc - 8) ||
			    !arch_is_behind_push_fp(code) || walk_load(w, w->look_sp, &w->look_fp))
				return EDGE_NONE;
			w->look_sp += 8;
			return EDGE_RETURN;
		}
	}
	step = WALK_EPILOGUE(w, code);
	if (step & ARCH_EPILOGUE_RETURN)
		return EDGE_RETURN;
	if (step & ARCH_EPILOGUE_LEAVE)
		w->look_sp = w->look_fp;
	if (step & (ARCH_EPILOGUE_LEAVE | ARCH_EPILOGUE_POP_FP) &&
	    walk_load(w, w->look_sp, &w->look_fp))
		return EDGE_NONE;
	w->look_sp += ARCH_EPILOGUE_MOVES(step);
	w->look_pc += ARCH_EPILOGUE_LENGTH(step);
	return step ? EDGE_GOES_ON : EDGE_NONE;
}

/*
 * Takes the step where the frame is not set up yet or is about to go: in the first instructions of
 * a function, and where nothing but pops and the return is left. What is popped until then is where
 * the caller's frame begins, so this is exact.
 */
static __always_inline int walk_edge(struct walk *w)
{
	int i, edge = EDGE_GOES_ON;
	__u64 ra, sp;

	w->look_pc = w->pc;
	w->look_sp = w->sp;
	w->look_fp = w->fp;
	for (i = 0; i < WALK_EPILOGUE_STEPS; i++) {
		edge = WALK_EDGE_SOME(w);
		if (edge != EDGE_GOES_ON)
			break;
	}
	sp = w->look_sp;
	if (edge != EDGE_RETURN || sp < w->sp || sp & 7 || walk_load(w, sp, &ra) ||
	    !WALK_AFTER_CALL(w, ra))
		return 0;
	STEP_NOTE(w, ra_at, sp);
	STEP_NOTE(w, cfa, sp + 8);
	w->pc = ra;
	w->sp = sp + 8;
	w->fp = w->look_fp;
	w->fp_chain = 0;
	w->exact = 0;
	w->known = 0;
	return 1;
}

/*
 * True if a function of V8, whose code keeps frame pointers, has no frame at the pc: before its
 * prologue, which may follow checks of the arguments and of the code's validity, or after its
 * epilogue. Anywhere else a return address on top of the stack is stale.
 */
static __always_inline int walk_lacks_frame(struct walk *w)
{
	__u64 code;
	int i;

	for (i = 0; i < WALK_FRAME_BYTES; i += ARCH_FRAME_STEP) {
		if (step_read_user(w, &code, 8, w->pc + (__u64)i))
			return 0;
		if (arch_frame_is_near(code) || (!i && arch_frame_has_gone(code)))
			return 1;
	}
	return 0;
}

/*
 * In code without CFI, a leaf that has not used the stack has its return address on top of it and
 * the frame pointer of its caller. Taken only if it leads to CFI, or if the frame of the caller
 * begins right there.
 */
static __always_inline int walk_bare_leaf(struct walk *w)
{
	const __u32 keeps = w->keeps_fp && !w->code_frame;
	__u64 ra;

	w->lacks_frame = 0;
	if (w->known != WALK_ALL_KNOWN || !w->exact)
		return 0;
	if (keeps)
		w->lacks_frame = (__u32)walk_lacks_frame(w);
	if (w->lacks_frame != keeps || walk_load(w, w->sp, &ra) || !WALK_AFTER_CALL(w, ra))
		return 0;
	if (keeps ? !walk_find_map(w, ra - 1)
		  : !WALK_COVERED(w, ra - 1) && (w->fp != w->sp + 8 || !walk_find_map(w, ra - 1)))
		return 0;
	STEP_NOTE(w, ra_at, w->sp);
	STEP_NOTE(w, cfa, w->sp + 8);
	w->pc = ra;
	w->sp += 8;
	w->exact = 0;
	w->known &= ARCH_CALLEE_SAVED;
	return 1;
}

/* --- whose is the frame pointer? ------------------------------------------------------------- */

/* Searches a few words for a return address. 1: it is at scan_at - 8. */
static __always_inline int walk_scan_some(struct walk *w)
{
	__u64 ra;
	int i;

	for (i = 0; i < WALK_SCAN_WORDS; i++) {
		if (w->scan_at >= w->scan_end || walk_load(w, w->scan_at, &ra))
			return 0;
		w->scan_at += 8;
		if (ra >> 47 == 0 && WALK_LISTED(w, ra - 1) && WALK_AFTER_CALL(w, ra))
			return 1;
	}
	return 0;
}

static __always_inline int walk_scan(struct walk *w)
{
	int i;

	for (i = 0; i < WALK_SCAN_TURNS; i++)
		if (WALK_SCAN_SOME(w))
			return 1;
	return 0;
}

/* Where the call before a return address leads, if that stands in the code; else 0. */
static __always_inline __u64 walk_call_target(struct walk *w, __u64 ra)
{
	__u64 code;

	if (step_read_user(w, &code, 8, ra - 8))
		return 0;
	return arch_call_target(code, ra);
}

/*
 * True if the function that has the frame pointer was called where this frame's code begins, and
 * saves the register first.
 */
static __always_inline int walk_is_framed(struct walk *w, __u64 ra)
{
	__u64 start = walk_call_target(w, ra), code;

	return start && w->pc - start < WALK_FUNCTION_BYTES && start >= w->code_start &&
	       !step_read_user(w, &code, 8, start) && arch_begins_frame(code);
}

enum walk_call { CALL_IMPOSSIBLE, CALL_GOES_ON, CALL_FOUND, CALL_UNSURE };

/*
 * One frame further from look_pc, a return address, and look_sp by their CFI. CALL_FOUND: the frame
 * pointer is that of look_pc's frame. CALL_IMPOSSIBLE: no call has pushed what would have to be a
 * return address, so nothing here was called from there.
 */
static __always_inline int walk_try_call(struct walk *w)
{
	__u32 rule, kind;
	__u64 cfa;

	if (!WALK_LISTED(w, w->look_pc - 1))
		return CALL_IMPOSSIBLE;
	rule = WALK_RULE_AT(w, w->look_pc - 1);
	kind = RULE_KIND(rule);
	if (kind == ROW_FP)
		return w->look_sp <= w->fp ? CALL_FOUND : CALL_IMPOSSIBLE;
	if (kind != ROW_SP)
		return kind == ROW_PLT ? CALL_IMPOSSIBLE : CALL_UNSURE;
	cfa = w->look_sp + RULE_CFA(rule);
	/* The slot of this frame's own return address, if the frame pointer is its own. */
	if (cfa <= w->look_sp || cfa + ARCH_RA_AT == w->fp + 8 ||
	    walk_load(w, cfa + ARCH_RA_AT, &w->look_pc) || !WALK_AFTER_CALL(w, w->look_pc))
		return CALL_IMPOSSIBLE;
	w->look_sp = cfa;
	return CALL_GOES_ON;
}

/*
 * The words from SP on that may be the return address to the C function that runs code in one
 * frame: bit n is word n. From there CFI leads on for two frames, or to one that needs FP. The
 * nearest of the addresses are w->returns then.
 */
static __always_inline __u64 walk_return_words(struct walk *w)
{
	const __u64 fp = w->fp;
	int i, call;

	w->return_words = w->return_ra = 0; /* the verifier keeps no account of these */
	w->scan_at = w->sp;
	w->scan_end = w->sp + 8 * 64;
	w->fp = ~0ull; /* no frame of the stack has this one */
	for (i = 0; i < WALK_SCAN_TURNS + WALK_RETURN_WORDS; i++) {
		/* BPF has no deeper call left than those of a part of the search. */
		if (!WALK_SCAN_SOME(w) || walk_load(w, w->scan_at - 8, &w->look_ra))
			continue;
		/* Code without a file that has called: it is not in one frame. */
		if (!w->map.frame && !w->return_words)
			break;
		if (!w->map.frame)
			continue;
		w->look_pc = w->look_ra;
		w->look_sp = w->scan_at;
		call = WALK_TRY_CALL(w);
		if (call == CALL_GOES_ON)
			call = WALK_TRY_CALL(w);
		if (call == CALL_IMPOSSIBLE)
			continue;
		if (!w->return_words)
			w->return_ra = w->look_ra;
		w->return_words |= 1ull << ((w->scan_at - 8 - w->sp) / 8 & 63);
	}
	w->fp = fp;
	return w->return_words;
}

/*
 * Judges the return address at scan_at - 8. CALL_FOUND: CFI leads from there to the frame that has
 * the frame pointer.
 */
static __always_inline int walk_judge_call(struct walk *w)
{
	const __u64 at = w->scan_at - 8;
	__u64 ra, target;
	int i, call = CALL_GOES_ON;

	if (walk_load(w, at, &ra))
		return CALL_IMPOSSIBLE;
	target = walk_call_target(w, ra);
	/* It called something else: further on in this code, or by an address that is fixed. */
	if (target && (ra < w->code_start || ra >= w->code_end ? !w->code_frame : target > w->pc))
		return CALL_IMPOSSIBLE;
	w->look_pc = ra;
	w->look_sp = at + 8;
	for (i = 0; i < WALK_TRIES && call == CALL_GOES_ON; i++)
		call = WALK_TRY_CALL(w);
	return call;
}

/* Moves to the caller whose return address is at scan_at - 8. */
static __always_inline int walk_take_caller(struct walk *w)
{
	const __u64 at = w->scan_at - 8;
	__u64 ra;

	/* What the frame pointer leads to has called that frame, and not this one. */
	if (!WALK_COVERED(w, w->fp_ra - 1) || walk_load(w, at, &ra))
		return OWNER_UNSURE;
	STEP_NOTE(w, ra_at, at);
	STEP_NOTE(w, cfa, at + 8);
	w->pc = ra;
	w->sp = at + 8;
	w->fp_chain = 0;
	w->exact = 0;
	w->known = 0;
	return OWNER_OTHER;
}

/* Whose the frame pointer is that leads to w->fp_ra. */
static __always_inline int walk_owner(struct walk *w)
{
	int i, call = CALL_IMPOSSIBLE;

	if (w->keeps_fp && !w->code_frame)
		return w->lacks_frame ? OWNER_UNSURE : OWNER_THIS;
	if (!w->list_count)
		return OWNER_UNSURE;
	w->scan_at = w->sp;
	w->scan_end = w->fp;
	for (i = 0; i < WALK_CANDIDATES && call == CALL_IMPOSSIBLE; i++) {
		if (!WALK_SCAN(w))
			return w->scan_at < w->scan_end ? OWNER_UNSURE : OWNER_THIS;
		if (!i && (walk_is_framed(w, w->fp_ra)))
			return OWNER_THIS;
		call = WALK_JUDGE_CALL(w);
	}
	return call == CALL_FOUND ? walk_take_caller(w) : OWNER_UNSURE;
}

#endif
