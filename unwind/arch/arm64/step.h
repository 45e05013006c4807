/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ARCH_ARM64_STEP_H
#define STACKTOP_UNWIND_ARCH_ARM64_STEP_H

/*
 * What a step from code without CFI can tell by instructions and by x30. A part of unwind/bare.h.
 *
 * The frame pointer is that of the innermost frame that has a record, since code without CFI keeps
 * it too (AAPCS64). So the question is only whether the function has made its record: if not, x30
 * is its return address. The next instructions tell, if they come to what a function does with x30:
 * saving it, loading it, returning by it. Else x30 is that address if no call from this function
 * can have left it there.
 */

#define WALK_EDGE_STEPS 10
#define WALK_SCAN_TURNS 8
#define WALK_SCAN_WORDS 4     /* of two instructions each */
#define WALK_LEAF_BYTES 65536 /* from its start; more is hardly a single function */

/* True at the frame of a signal's handler, by what follows the registers in it. at: of these. */
static __always_inline int walk_is_signal_frame(struct walk *w, __u64 at)
{
	__u64 value;

	return !step_read_user(w, &value, sizeof(value), at + SIGCONTEXT_RECORDS) &&
	       value == SIGCONTEXT_FPSIMD;
}

/*
 * Where the sigcontext is when a handler returns; 0: not known. If SP is not, x29 leads to the
 * record behind the kernel's frame, which has this size unless there are large vector registers.
 */
static __always_inline __u64 walk_sigcontext_at(struct walk *w)
{
	__u64 at = w->fp - SIGNAL_FRAME_BYTES + SIGCONTEXT_AT;

	if (!walk_sp_is_least(w))
		return w->sp + SIGCONTEXT_AT;
	return walk_is_signal_frame(w, at) ? at : 0;
}

/* --- what the next instructions say ---------------------------------------------------------- */

enum walk_edge {
	EDGE_NONE,
	EDGE_GOES_ON,
	EDGE_RETURN, /* the return address is look_ra, and the caller's SP look_sp */
	EDGE_SAVED,  /* it is about to be saved, or has been: the caller's SP is not below */
};

/* For BPF, which decodes it once, apart from what is done with each kind. */
static __always_inline __u32 walk_epilogue(__u64 code)
{
	return arch_epilogue(code);
}

/* Loads what the instruction loads of a frame record. 0: it cannot be read. */
static __always_inline int walk_edge_load(struct walk *w, __u32 step, __u64 at)
{
	if (step & ARCH_STEP_FP) {
		if (walk_load(w, at, &w->look_fp))
			return 0;
		w->look_fp = arch_data(w->look_fp);
		at += 8;
	}
	if (step & (ARCH_STEP_LINK | ARCH_STEP_LINK_2)) {
		if (step & ARCH_STEP_LINK_2 && !(step & ARCH_STEP_FP))
			at += 8;
		if (walk_load(w, at, &w->look_ra))
			return 0;
		w->look_ra = arch_code(w->look_ra);
		STEP_NOTE(w, ra_at, at);
	}
	return 1;
}

/*
 * The frame pointer is about to be set to the record at the address. Then the record is made
 * already, if it has what the registers have.
 */
static __always_inline int walk_edge_set_fp(struct walk *w, __u64 at)
{
	__u64 fp, ra;

	if (!w->look_ra || walk_load(w, at, &fp) || arch_data(fp) != w->look_fp ||
	    walk_load(w, at + 8, &ra) || arch_code(ra) != w->look_ra)
		return EDGE_NONE;
	return EDGE_SAVED;
}

static __always_inline int walk_edge_some(struct walk *w)
{
	__u64 code = 0, at;
	__u32 step, kind;
	__s64 value;

	if (step_read_user(w, &code, 4, w->look_pc))
		return EDGE_NONE;
	step = WALK_EPILOGUE(w, code);
	kind = ARCH_STEP_KIND(step);
	value = ARCH_STEP_VALUE(step);
	if (kind == ARCH_STEP_JUMP) {
		w->look_pc += (__u64)(__s64)((__s32)((__u32)code << 6) >> 4);
		return EDGE_GOES_ON;
	}
	w->look_pc += 4;
	at = (step & ARCH_STEP_BY_FP ? w->look_fp : w->look_sp) + value;
	if (kind == ARCH_STEP_SET_FP)
		return walk_edge_set_fp(w, at);
	if (kind == ARCH_STEP_SET_SP)
		w->look_sp = at;
	if (step & ARCH_STEP_BEHIND)
		at = w->look_sp;
	if (step & ARCH_STEP_MOVES)
		w->look_sp += value;
	if (kind == ARCH_STEP_STORE && step & (ARCH_STEP_LINK | ARCH_STEP_LINK_2) && w->look_ra)
		return EDGE_SAVED;
	if (kind == ARCH_STEP_LOAD && !walk_edge_load(w, step, at))
		return EDGE_NONE;
	if (kind == ARCH_STEP_RETURN ||
	    (kind == ARCH_STEP_TAIL && w->look_pc - w->code_start > w->code_end - w->code_start))
		return w->look_ra ? EDGE_RETURN : EDGE_NONE;
	if (kind == ARCH_STEP_TAIL)
		return EDGE_NONE;
	return kind ? EDGE_GOES_ON : EDGE_NONE;
}

/*
 * Takes the step if the next instructions tell where the return address is, which is exact. x30 is
 * known in a frame that was interrupted only.
 */
static __always_inline int walk_edge(struct walk *w)
{
	const int has_link = w->exact && w->known == WALK_ALL_KNOWN;
	int i, edge = EDGE_GOES_ON;
	__u64 link;

	if (walk_sp_is_least(w)) /* what is loaded cannot be found */
		return 0;
	w->look_pc = w->pc;
	w->look_sp = w->sp;
	w->look_fp = w->fp;
	link = has_link ? arch_code(w->regs[ARCH_LINK]) : 0;
	w->look_ra = link;
	for (i = 0; i < WALK_EDGE_STEPS; i++) {
		edge = WALK_EDGE_SOME(w);
		if (edge != EDGE_GOES_ON)
			break;
	}
	/*
	 * A record was loaded, and what comes then has not been decoded up to the return. Of the
	 * return address alone, the frame pointer may still be the function's own.
	 */
	if (edge < EDGE_RETURN && (w->look_ra == link || w->look_fp == w->fp))
		return 0;
	if (w->look_sp < w->sp && edge == EDGE_RETURN)
		return 0;
	if (!WALK_AFTER_CALL(w, w->look_ra))
		return 0;
	w->pc = w->look_ra;
	w->fp = w->look_fp;
	w->sp_is_least = edge != EDGE_RETURN;
	if (edge == EDGE_RETURN)
		w->sp = w->look_sp;
	w->fp_chain = 0;
	w->exact = 0;
	w->known = 0;
	return 1;
}

/* --- a function without a record ---------------------------------------------------------------
 */

/* Searches the next instructions for what is in no leaf. 1: there is one. */
static __always_inline int walk_scan_some(struct walk *w)
{
	__u64 code[WALK_SCAN_WORDS], found = 0, left = w->scan_end - w->scan_at;
	int i;

	if (w->scan_at >= w->scan_end)
		return 0;
	if (step_read_user(w, code, sizeof(code), w->scan_at))
		return 1;
	for (i = 0; i < WALK_SCAN_WORDS; i++) {
		/* of those before the end: the sign of their distance to it */
		found |= arch_is_no_leaf(code[i]) & (8ull * i - left) >> 63;
		found |= arch_is_no_leaf(code[i] >> 32) & (8ull * i + 4 - left) >> 63;
	}
	w->scan_at += sizeof(code);
	return found != 0;
}

/* 1: there is one in [scan_at, scan_end), or too much to be searched. */
static __always_inline int walk_scan(struct walk *w)
{
	int i;

	for (i = 0; i < WALK_SCAN_TURNS; i++)
		if (WALK_SCAN_SOME(w))
			return 1;
	return w->scan_at < w->scan_end;
}

/*
 * True if what has called by the address is this function's caller, and not the function itself: it
 * is in other code, or its call leads to where this function begins, which up to the pc makes no
 * record and does not return. A function may go on from one entry of the lists to the next.
 */
static __always_inline int walk_is_caller(struct walk *w, __u64 ra)
{
	__u64 code, start;

	if ((ra - 1 < w->code_start || ra - 1 >= w->code_end) &&
	    ra - w->pc + WALK_LEAF_BYTES > 2 * WALK_LEAF_BYTES)
		return 1;
	if (step_read_user(w, &code, 8, ra - 8))
		return 0;
	start = arch_call_target(code, ra);
	if (!start || w->pc - start >= WALK_LEAF_BYTES || (start < ra && ra <= w->pc) ||
	    step_read_user(w, &code, 8, start) || arch_begins_frame(code))
		return 0;
	w->scan_at = start;
	w->scan_end = w->pc;
	return !WALK_SCAN(w);
}

/* Takes the step by x30 if the function has made no record and called no other. */
static __always_inline int walk_bare_leaf(struct walk *w)
{
	__u64 ra = arch_code(w->regs[ARCH_LINK]), saved;

	if (w->known != WALK_ALL_KNOWN || !w->exact || !WALK_AFTER_CALL(w, ra))
		return 0;
	if (!walk_load(w, w->fp + 8, &saved) && arch_code(saved) == ra)
		return 0;
	if (!WALK_COVERED(w, ra - 1) && !walk_is_caller(w, ra))
		return 0;
	w->pc = ra;
	w->sp_is_least = 1;
	w->exact = 0;
	w->known = 0;
	return 1;
}

/* No rows are made from code on arm64, so no reader needs these words. */
static __always_inline __u64 walk_return_words(struct walk *w)
{
	(void)w;
	return 0;
}

/* Whose the frame pointer is that leads to w->fp_ra. */
static __always_inline int walk_owner(struct walk *w)
{
	(void)w;
	return OWNER_THIS;
}

#endif
