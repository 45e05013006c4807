/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_STEP_H
#define STACKTOP_UNWIND_STEP_H

/*
 * One step of the walk: from a frame to its caller. Compiled into the BPF program and into the
 * host's tests and tools from this one source. The includer first provides the seam:
 *
 *	int step_read_user(struct walk *w, void *to, __u64 size, __u64 from)
 *		copies user memory; 0, or non-zero when any byte of it cannot be read
 *	const __u32 *step_shard(__u32 shard)
 *		the SHARD_WORDS words of a shard, or NULL
 *	const struct map_entry *step_map_entries(void)
 *		the MAP_ENTRIES_MAX entries that all processes' lists stand in, or NULL; behind a
 *		list, w->code_count entries with rows that were made for the process
 *	const struct wide_rule *step_wide_rule(__u32 index)
 *		or NULL
 *	STEP_KEY(n)
 *		key number n (enum stackhash_key) of the hash of stacks, an rvalue
 *	STEP_BARRIER(x)
 *		keeps the compiler from reasoning about x; in BPF it makes the mask that follows
 *		it stand right before the access, where the verifier wants to see it
 *	STEP_CODE_MASK
 *		the bits of an address of code, where others may be set beside; unless defined, 48
 *	STEP_TOUCH(entry)
 *		called with each entry of the lists that is used; unless defined, nothing
 *	STEP_BARE(w)
 *		called where the frame of w->pc, in a mapping with frame w->code_frame, has neither
 *		CFI nor a frame pointer that is surely its own; unless defined, nothing
 *	STEP_APART(w)
 *		true if w->fp, which is above w->sp, is in another mapping; unless defined, 0
 *	STEP_STALE(w)
 *		called where a row that was made from code leads to no return address; unless
 *		defined, nothing
 *	STEP_UNLISTED(w)
 *		the frame of a w->pc that no list has; unless defined, the address
 *	STEP_RECALL(w, addr)
 *		the rule in force at addr, kept by another walk, with w->to_frame and w->kept_at
 *		set; 0: none is kept; unless defined, 0
 *	WALK_KEEP(w, rule)
 *		keeps the rule of the last frame, of a file's text, for other walks; unless
 *		defined, nothing
 *	STEP_BELIEVE(w, entry)
 *		calls STEP_TOUCH; 0: something else may be mapped where that entry of the lists
 *		says; unless defined, 1
 *	STEP_THREAD_POINTER(w)
 *		the register of the thread; 0: not known; unless defined, 0
 *	STEP_COPY(to, size, from)
 *		copies memory of the walk; unless defined, memcpy, and string.h is included before
 *	STEP_NOTE(w, what, value), STEP_NOTE_ROW(w, addr, word)
 *		note what the step uses, to be shown: `mapped` and `map` (the entry of the pc),
 *		`cfa`, `ra_at` and `fp_at` (addresses of the caller's pc and FP); the row in force
 *		at addr, which is word number `word`; unless defined, nothing
 *	WALK_REFILL(w, addr), WALK_SEARCH_MAP(w, addr), WALK_SEARCH_LIST(w, addr),
 *	WALK_LISTED(w, addr), WALK_RULE_AT(w, addr), WALK_COVERED(w, addr),
 *	WALK_AFTER_CALL(w, addr), WALK_LOAD_WORD(w, addr), WALK_LOAD_REGISTER(w, reg),
 *	WALK_DEREF(w, addr, kind),
 *	WALK_WIDE(w, index), WALK_SIGCONTEXT(w, at), WALK_SWITCH(w, ra_at), WALK_BARE(w),
 *	WALK_FRAME_POINTER(w, reason), WALK_EDGE(w), WALK_EDGE_SOME(w), WALK_EPILOGUE(w, code),
 *	WALK_SCAN(w), WALK_SCAN_SOME(w), WALK_JUDGE_CALL(w), WALK_TRY_CALL(w),
 *	WALK_AT_ZERO(w, cfa, fp), WALK_NULL_CALL(w), WALK_CODE_RULE(w, addr),
 *	WALK_HAS_LEFT(w),
 *	WALK_GO(w, index)
 *		call the function of that name; unless defined, directly. BPF defines them as
 *		global functions, which the verifier checks once, apart from their callers
 *
 * Searches have no branch that depends on data inside the body of their loop, so that the verifier
 * sees one path; every index is masked right before its use.
 */

#include <linux/types.h>

#include "unwind/walk.h"

#ifndef STEP_CODE_MASK
#define STEP_CODE_MASK ((1ull << 48) - 1)
#endif
#ifndef STEP_UNLISTED
#define STEP_UNLISTED(w) FRAME_ADDRESS((w)->pc)
#endif
#ifndef STEP_BARE
#define STEP_BARE(w) ((void)0)
#endif
#ifndef STEP_APART
#define STEP_APART(w) 0
#endif
#ifndef STEP_STALE
#define STEP_STALE(w) ((void)0)
#endif
#ifndef STEP_TOUCH
#define STEP_TOUCH(entry) ((void)(entry))
#endif
#ifndef STEP_BELIEVE
#define STEP_BELIEVE(w, entry) (STEP_TOUCH(entry), 1)
#endif
#ifndef STEP_THREAD_POINTER
#define STEP_THREAD_POINTER(w) 0
#endif
#ifndef STEP_COPY
#define STEP_COPY(to, size, from) memcpy(to, from, size)
#endif
#ifndef STEP_RECALL
#define STEP_RECALL(w, addr) 0
#endif
#ifndef WALK_KEEP
#define WALK_KEEP(w, rule) ((void)0)
#endif
#ifndef STEP_NOTE
#define STEP_NOTE(w, what, value)    ((void)0)
#define STEP_NOTE_ROW(w, addr, word) ((void)0)
#endif
#ifndef WALK_AFTER_CALL
#define WALK_AFTER_CALL walk_after_call
#endif
#ifndef WALK_REFILL
#define WALK_REFILL	       walk_refill
#define WALK_SEARCH_MAP	       walk_search_map
#define WALK_BARE	       walk_bare
#define WALK_FRAME_POINTER     walk_frame_pointer
#define WALK_WIDE	       walk_wide
#define WALK_GO		       walk_go
#define WALK_RULE_AT	       walk_rule_at
#define WALK_SWITCH	       walk_switch
#define WALK_EDGE	       walk_edge
#define WALK_EDGE_SOME	       walk_edge_some
#define WALK_EPILOGUE(w, code) walk_epilogue(code)
#define WALK_LISTED	       walk_search_map
#define WALK_SEARCH_LIST       walk_search_list
#define WALK_COVERED	       walk_covered
#define WALK_SIGCONTEXT	       walk_sigcontext
#define WALK_JUDGE_CALL	       walk_judge_call
#define WALK_LOAD_REGISTER     walk_load_register
#define WALK_LOAD_WORD	       walk_load_word
#define WALK_DEREF	       walk_deref
#define WALK_SCAN	       walk_scan
#define WALK_SCAN_SOME	       walk_scan_some
#define WALK_TRY_CALL	       walk_try_call
#define WALK_AT_ZERO	       walk_at_zero
#define WALK_NULL_CALL	       walk_null_call
#define WALK_CODE_RULE	       walk_code_rule
#define WALK_HAS_LEFT	       walk_has_left
#endif

#include "unwind/lookup.h"

static __always_inline void walk_mix(struct walk *w, __u64 value)
{
	stackhash_add(&w->hash, value, STEP_KEY(STACKHASH_FACTOR_A), STEP_KEY(STACKHASH_FACTOR_B));
}

/*
 * Where a call leaves the return address in a register, a frame pointer is the address of a record
 * anywhere in its frame: it tells no more of the stack pointer than that it is not below.
 */
static __always_inline int walk_sp_is_least(const struct walk *w)
{
	return ARCH_HAS_LINK && w->sp_is_least;
}

static __always_inline void walk_know_sp(struct walk *w)
{
	if (ARCH_HAS_LINK)
		w->sp_is_least = 0;
}

/* Prepares a walk. The caller has set w->regs and the list. */
static __always_inline void walk_begin(struct walk *w, int exact)
{
	w->pc = w->regs[ARCH_PC];
	w->sp = arch_data(w->regs[ARCH_SP]);
	w->fp = arch_data(w->regs[ARCH_FP]);
	w->hash.a = STEP_KEY(STACKHASH_START_A);
	w->hash.b = STEP_KEY(STACKHASH_START_B);
	w->nframes = 0;
	w->exact = exact;
	w->known = WALK_ALL_KNOWN;
	w->fp_chain = 0;
	walk_know_sp(w);
	w->keeps_fp = 0;
	w->switches = 0;
	w->own = 0;
	w->guessed = 0;
	w->map.start = 1;
	w->map.end = 0;
	w->changed = 0;
	w->window_size = 0;
	w->window_next = WALK_WINDOW_MIN;
	w->again = 0;
	w->by_file = 0;
}

/*
 * The frame of the pc, in the file that is mapped there. mapped: w->map is the entry of the address
 * that was looked up. A pc that nothing is mapped at may be any number that CFI or a frame pointer
 * led to, so its highest bits must not become flags of a frame.
 */
static __always_inline __u64 walk_frame(struct walk *w, int mapped)
{
	w->to_frame = mapped ? w->map.frame : 0;
	if (w->to_frame)
		return w->pc + w->to_frame;
	w->own = 1;
	if (mapped && MAP_KIND(w->map.meta) != MAP_PENDING)
		return w->pc;
	return STEP_UNLISTED(w);
}

#include "unwind/rows.h"
#include "unwind/trail.h"

/* Marks the last frame as exact: it was not reached by a call, so its name is that of the pc. */
static __always_inline void walk_mark_exact(struct walk *w)
{
	__u32 last = w->nframes - 1;

	if (w->known == WALK_ALL_KNOWN)
		return;
	STEP_BARRIER(last);
	w->frames[last & (WALK_FRAMES_MAX - 1)] |= FRAME_EXACT;
}

/* Reads the registers of the sigcontext at the address. */
static __always_inline int walk_read_sigcontext(struct walk *w, __u64 at)
{
#if ARCH_SIGCONTEXT_IN_ORDER
	return step_read_user(w, w->regs, sizeof(w->regs), at);
#else
	/* By way of the window, since BPF has no room on its stack. */
	w->window_size = 0;
	if (step_read_user(w, w->window, 8 * SIGCONTEXT_COUNT, at))
		return WALK_READ_FAULT;
	arch_from_sigcontext(w->regs, (const __u64 *)w->window);
	return 0;
#endif
}

/*
 * Continues with the code that a signal interrupted, whose registers are in the sigcontext at the
 * address. While the kernel restores them, SP is that of the interrupted code before the pc is;
 * then the sigcontext cannot be found.
 */
static __always_inline int walk_sigcontext(struct walk *w, __u64 at)
{
	walk_mark_exact(w);
	if (walk_read_sigcontext(w, at))
		return WALK_READ_FAULT;
	w->pc = arch_code(w->regs[ARCH_PC]);
	w->sp = arch_data(w->regs[ARCH_SP]);
	w->fp = arch_data(w->regs[ARCH_FP]);
	w->known = WALK_ALL_KNOWN;
	w->exact = 1;
	w->fp_chain = 0;
	walk_know_sp(w);
	if (w->nframes == 1 && !walk_find_map(w, w->pc))
		return WALK_NO_REGISTERS;
	return WALK_CONTINUE;
}

/*
 * The first step of a thread in rt_sigreturn, whatever the CFI of its trampoline says. If no such
 * call is before the pc the kernel has restored all registers already.
 */
static __always_inline int walk_leave_signal(struct walk *w)
{
	__u64 code;

	if (!step_read_user(w, &code, sizeof(code), w->pc - 8) && !arch_is_behind_sigreturn(code)) {
		w->exact = 1;
		return WALK_CONTINUE;
	}
	w->frames[0] = walk_frame(w, walk_find_map(w, w->pc - 1));
	w->sps[0] = w->sp;
	w->nframes = 1;
	walk_mix(w, w->frames[0]);
	return WALK_SIGCONTEXT(w, w->sp + SIGCONTEXT_AT);
}

#include "unwind/bare.h"

/*
 * Called for a thread that is in the kernel. While that calls a signal's handler SP is that of the
 * handler's frame before the pc is the handler's; then this takes the registers of the code that
 * was interrupted from the frame.
 */
static __always_inline void walk_enter_signal(struct walk *w)
{
	__u64 at = w->sp + ARCH_SIGNAL_FRAME + SIGCONTEXT_AT, value;
	__u32 exact = w->exact;

	if (step_read_user(w, &value, sizeof(value), at + 8 * SIGCONTEXT_PC) || value != w->pc ||
	    !walk_is_signal_frame(w, at))
		return;
	WALK_SIGCONTEXT(w, at);
	w->exact = exact;
}

/* True if the function has loaded SP right before its call, so that its own frame is elsewhere. */
static __always_inline int walk_has_moved_sp(struct walk *w)
{
	__u64 code;
	int i;

	for (i = 0; i < WALK_MOVE_BYTES; i += ARCH_MOVE_STEP)
		if (!step_read_user(w, &code, 8, w->pc - 8 - (__u64)i) && arch_moves_sp(code))
			return 1;
	return 0;
}

/*
 * Where CFI leads to a return address of zero, with the caller's CFA and FP. That is the bottom
 * only where something else says so too: the main thread's stack begins there, or nothing can be
 * read above it, or the frame pointer is zero or leads to the top, as coroutines begin.
 */
static __always_inline int walk_at_zero(struct walk *w, __u64 cfa, __u64 fp)
{
	__u64 top = (cfa + 4095) & ~4095ull, word;

	if (w->start_stack && w->start_stack - cfa < WALK_START_BYTES)
		return WALK_BOTTOM;
	if (w->exact || walk_has_moved_sp(w))
		return WALK_ZERO;
	if (top - cfa < WALK_START_BYTES && step_read_user(w, &word, 8, top))
		return WALK_BOTTOM;
	return !fp || fp - cfa < WALK_START_BYTES ? WALK_BOTTOM_FP : WALK_ZERO;
}

/* From a null pointer that was called: only the call has changed the stack. */
static __always_inline int walk_null_call(struct walk *w)
{
	__u64 ra = arch_code(w->regs[ARCH_LINK]), sp = w->sp;

	if (!w->exact || w->known != WALK_ALL_KNOWN)
		return WALK_NO_MAPPING;
	if (!ARCH_HAS_LINK) {
		if (walk_load(w, sp, &ra))
			return WALK_READ_FAULT;
		sp += 8;
	}
	if (!WALK_AFTER_CALL(w, ra))
		return WALK_NO_MAPPING;
	STEP_NOTE(w, ra_at, ARCH_HAS_LINK ? 0 : sp - 8);
	STEP_NOTE(w, cfa, sp);
	w->pc = ra;
	w->sp = sp;
	w->exact = 0;
	w->known &= ARCH_CALLEE_SAVED;
	return WALK_CONTINUE;
}

/*
 * A CFA that is not above the stack pointer is right only on another stack, which CFI has found by
 * a register that it restored or by an address in memory, or where a leaf has taken its return
 * address from the stack, and CFI still finds it there: the kernel leaves 128 bytes below the stack
 * pointer alone. The return address, at ra_at, must follow a call.
 */
static __always_inline int walk_switch(struct walk *w, __u64 ra_at)
{
	__u64 ra;

	if (w->switches >= WALK_SWITCHES_MAX || walk_load(w, ra_at, &ra) ||
	    !WALK_AFTER_CALL(w, arch_code(ra)))
		return WALK_BAD_CFA;
	w->switches++;
	return 0;
}

/* w->loaded: what a CFA's rule of the kind finds at the address. */
static __always_inline int walk_deref(struct walk *w, __u64 at, __u32 kind)
{
	int err = walk_load(w, at, &at);

	return !err && kind == WIDE_CFA_DEREF_TWICE ? walk_load(w, at, &at) : err;
}

static __always_inline int walk_load_register(struct walk *w, __u32 reg)
{
	if (reg == ARCH_SP) {
		w->loaded = w->sp;
		return 0;
	}
	if (reg == ARCH_FP) {
		w->loaded = w->fp;
		return 0;
	}
	if (reg >= ARCH_KNOWN_REGS || !(w->known >> reg & 1))
		return WALK_REGISTER;
	STEP_BARRIER(reg);
	reg &= 31;
	if (reg >= ARCH_KNOWN_REGS)
		return WALK_REGISTER;
	w->loaded = arch_data(w->regs[reg]);
	return 0;
}

static __always_inline int walk_register(struct walk *w, __u32 reg, __u64 *value)
{
	int err = WALK_LOAD_REGISTER(w, reg);

	*value = w->loaded;
	return err;
}

/* Restores the one register that the rows of the file follow. */
static __always_inline void walk_keep(struct walk *w, const struct wide_rule *r, __u64 cfa)
{
	__u32 reg = WIDE_KEPT_REG(r->flags);
	__u64 value;

	if (reg && !r->kept) {
		w->known &= 1u << reg;
		return;
	}
	w->known = 0;
	if (!reg || r->kept == WIDE_KEPT_LOST || walk_read(w, cfa - 8ull * r->kept, &value))
		return;
	STEP_BARRIER(reg);
	reg &= 15;
	w->regs[reg] = value;
	w->known = 1u << reg;
}

/*
 * True where CFA = *FP + 16, the place of a record that the caller's FP leads to, but the callee
 * has restored that FP already, as Lisp's functions do with the frame that SBCL makes for them.
 */
static __always_inline int walk_has_left(struct walk *w)
{
	__u64 ra;

	return !w->exact && !walk_load(w, w->fp + 8, &ra) && ra != w->pc && WALK_AFTER_CALL(w, ra);
}

/*
 * The caller of Go's systemstack is on the stack of the goroutine, which has saved the stack
 * pointer. If that cannot be found the frame pointer, which is the caller's, leads to the caller's
 * caller.
 */
static __always_inline int walk_go(struct walk *w, __u32 index)
{
	const struct wide_rule *r = step_wide_rule(index);
	__u64 at = STEP_THREAD_POINTER(w), fp = w->fp, ra;

	if (!r)
		return WALK_NO_TABLE;
	if (!at || !r->cfa_off || step_read_user(w, &at, sizeof(at), at + (__s64)r->cfa_off) ||
	    step_read_user(w, &at, sizeof(at), at + (__s64)r->cfa_add) ||
	    step_read_user(w, &at, sizeof(at), at + (__s64)r->fp_off) ||
	    step_read_user(w, &at, sizeof(at), at + (__s64)r->ra_off) || WALK_SWITCH(w, at)) {
		w->guessed = 1;
		at = w->fp + 8;
		if (walk_load(w, w->fp, &fp))
			return WALK_READ_FAULT;
		if (at < w->sp && WALK_SWITCH(w, at))
			return WALK_BAD_CFA;
	}
	if (walk_load(w, at, &ra))
		return WALK_READ_FAULT;
	STEP_NOTE(w, ra_at, at);
	STEP_NOTE(w, cfa, at + 8);
	ra = arch_code(ra);
	if (!ra)
		return WALK_AT_ZERO(w, at + 8, fp);
	w->pc = ra;
	w->sp = at + 8;
	w->fp = fp;
	w->fp_chain = 0;
	w->exact = 0;
	w->known = 0;
	return WALK_CONTINUE;
}

static __always_inline int walk_wide(struct walk *w, __u32 index)
{
	const struct wide_rule *r = step_wide_rule(index);
	__u64 cfa, value = 0, fp = w->fp, ra = 0, ra_at = 0;
	int err;

	if (!r)
		return WALK_NO_TABLE;
	if (!ARCH_HAS_LINK && r->cfa_kind == WIDE_CFA_GO)
		return WALK_GO(w, index);
	err = walk_register(w, r->cfa_reg, &value);
	if (err)
		return err;
	cfa = value + (__s64)r->cfa_off;
	if (walk_sp_is_least(w) && r->cfa_reg == ARCH_SP) {
		if (r->cfa_kind != WIDE_CFA_REG || r->fp_kind != WIDE_AT_CFA)
			return WALK_REGISTER;
		cfa = w->fp - (__s64)r->fp_off;
		if (cfa - (__s64)r->cfa_off < w->sp)
			return WALK_BAD_CFA;
	}
	if (r->flags & WIDE_CLONED) {
		err = walk_register(w, ARCH_RESULT, &value);
		if (err)
			return err;
		if (!value)
			return WALK_BOTTOM;
	}
	if (r->flags & WIDE_SIGCONTEXT)
		return WALK_SIGCONTEXT(w, cfa - 8 * SIGCONTEXT_SP);
	if (r->cfa_kind == WIDE_CFA_DEREF && r->cfa_reg == ARCH_FP && !r->cfa_off &&
	    r->cfa_add == 16 && WALK_HAS_LEFT(w)) {
		cfa += (__s64)r->cfa_add;
	} else if (r->cfa_kind & WIDE_CFA_DEREF) {
		err = WALK_DEREF(w, cfa, r->cfa_kind);
		if (err)
			return err;
		cfa = w->loaded + (__s64)r->cfa_add;
	}
	STEP_NOTE(w, cfa, cfa);
	if (r->fp_kind == WIDE_AT_CFA || r->fp_kind == WIDE_AT_REG) {
		value = cfa;
		if (r->fp_kind == WIDE_AT_REG) {
			err = walk_register(w, r->fp_reg, &value);
			if (err)
				return err;
		}
		STEP_NOTE(w, fp_at, value + (__s64)r->fp_off);
		if (walk_load(w, value + (__s64)r->fp_off, &fp))
			fp = WALK_NO_FP;
		fp = arch_data(fp);
	} else if (r->fp_kind == WIDE_IN_REG) {
		err = walk_register(w, r->fp_reg, &fp);
		if (err)
			return err;
	} else if (r->fp_kind == WIDE_UNDEFINED) {
		fp = WALK_NO_FP;
	} else if (r->fp_kind == WIDE_IS_CFA) {
		fp = cfa;
	}
	if (r->ra_kind == WIDE_AT_CFA || r->ra_kind == WIDE_AT_REG) {
		value = cfa;
		if (r->ra_kind == WIDE_AT_REG) {
			err = walk_register(w, r->ra_reg, &value);
			if (err)
				return err;
		}
		ra_at = value + (__s64)r->ra_off;
		STEP_NOTE(w, ra_at, ra_at);
		err = walk_load(w, ra_at, &ra);
		if (err)
			return err;
	} else if (r->ra_kind == WIDE_IN_REG) {
		err = walk_register(w, r->ra_reg, &ra);
		if (err)
			return err;
	} else {
		return WALK_BOTTOM;
	}
	if (r->flags & WIDE_SP_LOST)
		return WALK_REGISTER;
	ra = arch_code(ra);
	if (!ra && !(r->flags & WIDE_SIGNAL))
		return WALK_AT_ZERO(w, cfa, fp);
	w->exact = r->flags & WIDE_SIGNAL ? 1 : 0;
	/*
	 * A signal handler may run on a stack of its own. Else the caller's frame lies above, or
	 * right here when the return address has been taken from the stack, as in vfork.
	 */
	if (!w->exact && (cfa < w->sp || (cfa == w->sp && r->ra_kind != WIDE_IN_REG))) {
		if (r->cfa_base == WIDE_BASE(WIDE_CFA_REG, ARCH_SP) || r->ra_kind == WIDE_IN_REG)
			return WALK_BAD_CFA;
		err = WALK_SWITCH(w, ARCH_HAS_LINK ? ra_at : cfa + ARCH_RA_AT);
		if (err)
			return err;
	}
	walk_keep(w, r, cfa);
	w->pc = ra;
	w->sp = r->fp_kind == WIDE_IS_CFA ? w->sp + (__s64)r->cfa_add : cfa;
	w->fp = fp;
	w->fp_chain = 0;
	walk_know_sp(w);
	return WALK_CONTINUE;
}

/*
 * True at the start of code below an outermost frame, whose caller's FP is zero: what began the
 * stack has written it as a return address, as that of BEAM's normal_exit.
 */
static __always_inline int walk_is_written_start(struct walk *w, __u64 cfa, __u64 fp, __u64 ra)
{
	return !fp && cfa == w->fp + 16 && ra && walk_find_map(w, ra);
}

/*
 * Frames based on SP or FP and PLT stubs: nearly all of them. WALK_JUDGE: the row was made from
 * code and leads to no return address, which is as if there were none.
 */
static __always_inline int walk_row(struct walk *w, __u32 rule)
{
	__u32 kind = RULE_KIND(rule), depth = 0, known = 0, in_link;
	__u64 cfa, fp = w->fp, ra, ra_at;
	int err;

	if (kind == ROW_PLT) {
		known = w->known & ARCH_CALLEE_SAVED;
		cfa = arch_plt_cfa(w->sp, w->pc, rule & 15);
	} else {
		cfa = (kind == ROW_SP ? w->sp : w->fp) + RULE_CFA(rule);
		depth = RULE_FP_DEPTH(rule);
		/* Where nothing but the return address is on the stack, no register was saved. */
		if (kind == ROW_SP && RULE_CFA(rule) == -ARCH_RA_AT && !depth)
			known = w->known & ARCH_CALLEE_SAVED;
		if (walk_sp_is_least(w) && kind == ROW_SP && depth) {
			cfa = w->fp + depth;
			if (cfa - RULE_CFA(rule) < w->sp)
				return WALK_BAD_CFA;
		}
	}
	in_link = ARCH_HAS_LINK && !depth;
	ra_at = ARCH_HAS_LINK ? cfa - depth + 8 : cfa + ARCH_RA_AT;
	STEP_NOTE(w, cfa, cfa);
	STEP_NOTE(w, ra_at, in_link ? 0 : ra_at);
	STEP_NOTE(w, fp_at, depth ? cfa - depth : 0);
	if (cfa < w->sp || (cfa == w->sp && !in_link)) {
		err = WALK_BAD_CFA;
		if (!in_link && (kind == ROW_FP || (cfa == w->sp && w->exact)))
			err = WALK_SWITCH(w, ra_at);
		if (err)
			return err;
	}
	/* The saved FP is below the return address, so one window has both. */
	if (depth && walk_load(w, cfa - depth, &fp))
		fp = WALK_NO_FP;
	if (in_link) {
		if (!(w->known >> ARCH_LINK & 1))
			return WALK_REGISTER;
		ra = w->regs[ARCH_LINK];
	} else {
		err = walk_read(w, ra_at, &ra);
		if (err)
			return err;
	}
	ra = arch_code(ra);
	/* Of code that can be written at any time, or made from a wrong reading of it. */
	if (rule & RULE_DERIVED && !WALK_AFTER_CALL(w, ra) &&
	    !walk_is_written_start(w, cfa, fp, ra) && !(w->to_frame && WALK_COVERED(w, ra))) {
		STEP_STALE(w);
		return WALK_JUDGE;
	}
	if (!ra)
		return WALK_AT_ZERO(w, cfa, fp);
	w->pc = ra;
	w->sp = cfa;
	w->fp = arch_data(fp);
	w->exact = 0;
	w->known = known;
	w->fp_chain = 0;
	walk_know_sp(w);
	if (w->to_frame)
		WALK_KEEP(w, rule);
	return WALK_CONTINUE;
}

/* Appends a frame. WALK_DEPTH: there is no room. */
static __always_inline int walk_append(struct walk *w, __u64 frame)
{
	__u64 n = w->nframes;

	if (n >= WALK_FRAMES_MAX)
		return WALK_DEPTH;
	frame |= w->exact ? FRAME_EXACT : 0;
	STEP_BARRIER(n);
	n &= WALK_FRAMES_MAX - 1;
	w->frames[n] = frame;
	w->sps[n] = w->sp;
	w->nframes = n + 1;
	walk_mix(w, frame);
	return 0;
}

/* Appends the frame of the pc. mapped: as in walk_frame. */
static __always_inline int walk_add_frame(struct walk *w, int mapped)
{
	return walk_append(w, walk_frame(w, mapped));
}

/*
 * The step without mappings and CFI: all that can be checked is that a frame pointer leads upwards
 * and to an address behind a call.
 */
static __always_inline int walk_by_fp_only(struct walk *w, int reason)
{
	__u64 fp = w->fp, caller_fp, ra;

	if (walk_add_frame(w, 0))
		return WALK_DEPTH;
	if (fp + ARCH_FP_BELOW < w->sp || fp & 7 || fp + ARCH_FP_BELOW - w->sp > 64ull << 20 ||
	    walk_load(w, fp, &caller_fp) || walk_load(w, fp + 8, &ra) ||
	    !WALK_AFTER_CALL(w, arch_code(ra)))
		return reason;
	w->pc = arch_code(ra);
	w->sp = fp + 16;
	w->fp = arch_data(caller_fp);
	w->exact = 0;
	return WALK_CONTINUE;
}

static __always_inline int walk_without_cfi(struct walk *w, int reason)
{
	int bare = WALK_BARE(w);

	return bare == WALK_JUDGE ? WALK_FRAME_POINTER(w, reason) : bare;
}

/*
 * Finds the frame of the pc, which is w->frame then, and the rule in force at addr: that pc, or the
 * byte before. Where there is none: RULE_CHANGED ... RULE_NO_CFI, or one of ROW_END.
 */
static __always_inline __u32 walk_look_up(struct walk *w, __u64 addr)
{
	__u32 kind, made;
	__s64 rule;
	int mapped;

	w->looked_at = addr;
	w->recalled = STEP_RECALL(w, addr);
	if (w->recalled) {
		w->frame = w->pc + w->to_frame;
		return w->recalled;
	}
	mapped = walk_find_map(w, addr);
	w->frame = walk_frame(w, mapped);
	if (!mapped)
		return w->changed ? RULE_CHANGED : RULE_NO_MAPPING;
	STEP_NOTE(w, mapped, 1);
	STEP_NOTE(w, map, w->map);
	kind = MAP_KIND(w->map.meta);
	if (kind == MAP_PENDING)
		return RULE_NO_TABLE;
	w->kept_at = w->map_at;
	/* Rows that code made at run time has given may be those of what was there before. */
	if (w->keeps_fp && !w->to_frame)
		return RULE_NO_CFI;
	rule = kind == MAP_CFI ? walk_find_rule(w, addr) : RULE_NO_CFI;
	if (rule < 0)
		return RULE_NO_TABLE;
	if (RULE_KIND(rule) != ROW_END)
		return rule;
	made = WALK_CODE_RULE(w, addr);
	return RULE_KIND(made) == ROW_END ? (__u32)rule : made;
}

static __always_inline int walk_to_caller(struct walk *w)
{
	__u32 rule = walk_look_up(w, w->exact ? w->pc : w->pc - 1), kind;
	int err;

	if (walk_append(w, w->frame))
		return WALK_DEPTH;
	kind = RULE_KIND(rule);
	if (kind == ROW_SP || kind == ROW_FP || kind == ROW_PLT) {
		err = walk_row(w, rule);
		if (err != WALK_JUDGE)
			return err;
		walk_find_map(w, w->looked_at);
		return walk_without_cfi(w, WALK_NO_FRAME_POINTER);
	}
	if (kind != ROW_END && w->to_frame && !w->recalled)
		WALK_KEEP(w, rule);
	if (kind == ROW_WIDE)
		return WALK_WIDE(w, RULE_PAYLOAD(rule));
	if (kind == ROW_OUTERMOST)
		return WALK_BOTTOM;
	if (kind == ROW_UNSUPPORTED)
		return WALK_UNSUPPORTED;
	if (rule == RULE_CHANGED)
		return WALK_CHANGED;
	if (rule == RULE_NO_MAPPING)
		return w->pc < WALK_NULL_BYTES ? WALK_NULL_CALL(w) : WALK_NO_MAPPING;
	if (rule == RULE_NO_TABLE)
		return WALK_NO_TABLE;
	return walk_without_cfi(w, rule == RULE_NO_CFI ? WALK_NO_FRAME_POINTER : WALK_NOT_COVERED);
}

/* Appends the frame of the pc and moves w to its caller: WALK_CONTINUE, or why there is none. */
static __always_inline int walk_step(struct walk *w)
{
	int reason = walk_to_caller(w);

	return w->guessed && walk_is_complete(reason) ? WALK_GUESSED : reason;
}

#endif
