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
 *		the MAP_ENTRIES_MAX entries that all processes' lists stand in, or NULL
 *	const struct wide_rule *step_wide_rule(__u32 index)
 *		or NULL
 *	STEP_KEY(n)
 *		key number n (enum stackhash_key) of the hash of stacks, an rvalue
 *	STEP_BARRIER(x)
 *		keeps the compiler from reasoning about x; in BPF it makes the mask that follows
 *		it stand right before the access, where the verifier wants to see it
 *	STEP_TOUCH(entry)
 *		called with each entry of the lists that is used; unless defined, nothing
 *	STEP_UNLISTED(w)
 *		the frame of a w->pc that no list has; unless defined, the address
 *	STEP_NOTE(w, what, value), STEP_NOTE_ROW(w, addr, word)
 *		note what the step uses, to be shown: `mapped` and `map` (the entry of the pc),
 *		`cfa`, `ra_at` and `fp_at` (addresses of the caller's pc and FP); the row in force
 *		at addr, which is word number `word`; unless defined, nothing
 *	WALK_REFILL(w, addr), WALK_SEARCH_MAP(w, addr), WALK_FRAME_POINTER(w, reason),
 *	WALK_WIDE(w, index), WALK_COVERED(w, addr), WALK_SWITCH(w, cfa), WALK_AFTER_CALL(w, addr)
 *		call the function of that name; unless defined, directly. BPF defines them as global
 *		functions, which the verifier checks once, apart from their callers
 *
 * Searches have no branch that depends on data inside the body of their loop, so that the verifier
 * sees one path; every index is masked right before its use.
 */

#include <linux/types.h>

#include "unwind/walk.h"

#ifndef STEP_UNLISTED
#define STEP_UNLISTED(w) FRAME_ADDRESS((w)->pc)
#endif
#ifndef STEP_TOUCH
#define STEP_TOUCH(entry) ((void)(entry))
#endif
#ifndef STEP_NOTE
#define STEP_NOTE(w, what, value)    ((void)0)
#define STEP_NOTE_ROW(w, addr, word) ((void)0)
#endif
#ifndef WALK_AFTER_CALL
#define WALK_AFTER_CALL walk_after_call
#endif
#ifndef WALK_REFILL
#define WALK_REFILL	   walk_refill
#define WALK_SEARCH_MAP	   walk_search_map
#define WALK_FRAME_POINTER walk_frame_pointer
#define WALK_WIDE	   walk_wide
#define WALK_COVERED	   walk_covered
#define WALK_SWITCH	   walk_switch
#endif

static __always_inline void walk_mix(struct walk *w, __u64 value)
{
	stackhash_add(&w->hash, value, STEP_KEY(STACKHASH_FACTOR_A), STEP_KEY(STACKHASH_FACTOR_B));
}

/* Prepares a walk. The caller has set w->regs and the list. */
static __always_inline void walk_begin(struct walk *w, int exact)
{
	w->pc = w->regs[ARCH_PC];
	w->sp = w->regs[ARCH_SP];
	w->fp = w->regs[ARCH_FP];
	w->hash.a = STEP_KEY(STACKHASH_START_A);
	w->hash.b = STEP_KEY(STACKHASH_START_B);
	w->nframes = 0;
	w->exact = exact;
	w->known = WALK_ALL_KNOWN;
	w->fp_chain = 0;
	w->switches = 0;
	w->own = 0;
	w->map.start = 1;
	w->map.end = 0;
	w->changed = 0;
	w->window_size = 0;
	w->window_next = WALK_WINDOW_MIN;
}

/* Drops the entry that was found last: something else is mapped there now. */
static __always_inline void walk_distrust(struct walk *w)
{
	w->map.start = 1;
	w->map.end = 0;
	w->changed = 1;
}

/* Reads the window from addr on: as much as planned, else to the end of the page, else one word. */
static __always_inline int walk_refill(struct walk *w, __u64 addr)
{
	__u64 size = w->window_next, room = w->window_top - addr;
	__u64 page = 4096 - (addr & 4095);

	if (room < size)
		size = room < 8 ? 8 : room;
	STEP_BARRIER(size);
	if (size > WALK_WINDOW_MAX)
		size = WALK_WINDOW_MAX;
	w->window_at = addr;
	w->window_next = size * 2 > WALK_WINDOW_MAX ? WALK_WINDOW_MAX : size * 2;
	if (step_read_user(w, w->window, size, addr)) {
		w->window_size = 0;
		w->window_next = WALK_WINDOW_MIN;
		if (size <= page || page < 8) {
			size = 8;
		} else {
			size = page;
			w->window_top = addr + page;
		}
		STEP_BARRIER(size);
		if (size > WALK_WINDOW_MAX)
			size = WALK_WINDOW_MAX;
		if (step_read_user(w, w->window, size, addr)) {
			size = 8;
			if (step_read_user(w, w->window, size, addr))
				return -1;
		}
	}
	w->window_size = size;
	return 0;
}

static __always_inline int walk_read(struct walk *w, __u64 addr, __u64 *value)
{
	__u64 at = addr - w->window_at;

	if (w->window_size < 8 || at > w->window_size - 8) {
		if (WALK_REFILL(w, addr))
			return WALK_READ_FAULT;
		at = 0;
	}
	STEP_BARRIER(at);
	*value = *(const __u64 *)(w->window + (at & (WALK_WINDOW_MAX - 1)));
	return 0;
}

/* Finds the entry that covers addr and keeps it in w->map; 0 when there is none. */
static __always_inline int walk_search_map(struct walk *w, __u64 addr)
{
	const struct map_entry *entries, *e;
	__u32 at, n, half, take;
	int i;

	w->changed = 0;
	entries = step_map_entries();
	n = w->list_count;
	if (!entries || !n)
		return 0;
	at = w->list_at;
	for (i = 0; i < MAP_LIST_STEPS; i++) {
		if (n <= 1)
			break;
		half = n >> 1;
		take = at + half;
		STEP_BARRIER(take);
		/* all ones when the middle entry starts at or below addr */
		take = ~(__u32)((__s64)(addr - entries[take & (MAP_ENTRIES_MAX - 1)].start) >> 63);
		at += half & take;
		n -= half;
	}
	STEP_BARRIER(at);
	e = &entries[at & (MAP_ENTRIES_MAX - 1)];
	w->map = *e;
	w->map_at = at;
	if (addr < w->map.start || addr >= w->map.end)
		return 0;
	STEP_TOUCH(at);
	return 1;
}

static __always_inline int walk_find_map(struct walk *w, __u64 addr)
{
	if (addr >= w->map.start && addr < w->map.end)
		return 1;
	return WALK_SEARCH_MAP(w, addr);
}

/* The rule in force at addr, inside w->map, which has rows. -1: no such shard. */
static __always_inline __s64 walk_find_rule(struct walk *w, __u64 addr)
{
	__u64 granule = (addr >> GRANULE_SHIFT) - (w->map.start >> GRANULE_SHIFT);
	__u32 offset = addr & (GRANULE_SIZE - 1);
	__u32 rows = w->map.word + MAP_GRANULES(w->map.meta);
	__u32 word, at, n, half, take;
	const __u32 *words;
	int i;

	if (granule >= MAP_GRANULES(w->map.meta))
		return ROW_END;
	words = step_shard(w->map.word >> SHARD_SHIFT);
	if (!words)
		return -1;
	at = w->map.word + (__u32)granule;
	STEP_BARRIER(at);
	word = words[at & SHARD_MASK];
	/* The row before the granule's first is in force where the granule begins. */
	at = rows + INDEX_FIRST(word) - 1;
	n = INDEX_ROWS(word) + 1;
	for (i = 0; i < 8; i++) {
		if (n <= 1)
			break;
		half = n >> 1;
		take = at + half;
		STEP_BARRIER(take);
		take = ROW_OFFSET(words[take & SHARD_MASK]);
		take = (take - offset - 1) >> 31; /* 1 when take <= offset */
		at += half & -take;
		n -= half;
	}
	STEP_NOTE_ROW(w, addr, at);
	STEP_BARRIER(at);
	return ROW_RULE(words[at & SHARD_MASK]);
}

/*
 * True when a call instruction ends right before the address, which is what tells a return address
 * from any other number that points to code.
 */
static __always_inline int walk_after_call(struct walk *w, __u64 addr)
{
	__u64 code;

	if (addr < 8 || step_read_user(w, &code, 8, addr - 8))
		return 0;
	return arch_is_call(&code);
}

/* True when there is a rule for the address; w->map is then the mapping. */
static __always_inline int walk_covered(struct walk *w, __u64 addr)
{
	__s64 rule;

	if (!walk_find_map(w, addr) || MAP_KIND(w->map.meta) != MAP_CFI)
		return 0;
	rule = walk_find_rule(w, addr);
	return rule >= 0 && RULE_KIND((__u32)rule) != ROW_END;
}

/*
 * True for a return address that no call has pushed, at the beginning of a function behind text
 * without CFI: makecontext writes __start_context there, below the function of a coroutine.
 */
static __always_inline int walk_is_context_start(struct walk *w)
{
	return !w->exact && WALK_COVERED(w, w->pc) && !WALK_AFTER_CALL(w, w->pc);
}

/*
 * True where a zero frame pointer means the deepest frame, as the psABIs have it, and not a
 * register that happens to be zero: behind a chain, where the main thread's stack begins, or in
 * front of the exit of musl's threads.
 */
static __always_inline int walk_is_deepest(struct walk *w)
{
	__u64 code;

	if (w->known == WALK_ALL_KNOWN)
		return 0;
	if (w->fp_chain || !w->start_stack || w->start_stack - w->sp < WALK_START_BYTES)
		return 1;
	return !step_read_user(w, &code, 8, w->pc) && arch_is_thread_exit(code);
}

/*
 * True at the code that the kernel lets a signal handler return to. glibc's has CFI; musl's and
 * Go's have none. Within a chain of frame pointers, where each frame would pay for the look, only
 * at the beginning of an aligned function.
 */
static __always_inline int walk_is_sigreturn(struct walk *w)
{
	__u64 code, at = w->pc;

	if (w->fp_chain && at & (ARCH_FUNCTION_ALIGN - 1))
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

/*
 * The frame of the pc, in the file that is mapped there. mapped: w->map is the entry of the address
 * that was looked up. The pc may be any number that CFI or a frame pointer led to, so its highest
 * bits must not become flags of a frame.
 */
static __always_inline __u64 walk_frame(struct walk *w, int mapped)
{
	__u64 to_frame = mapped ? w->map.frame : 0;

	if (to_frame)
		return w->pc + to_frame;
	w->own = 1;
	if (mapped && MAP_KIND(w->map.meta) != MAP_PENDING)
		return FRAME_ADDRESS(w->pc);
	return STEP_UNLISTED(w);
}

/* Marks the last frame as exact: it was not reached by a call, so its name is that of the pc. */
static __always_inline void walk_mark_exact(struct walk *w)
{
	__u32 last = w->nframes - 1;

	if (w->known == WALK_ALL_KNOWN)
		return;
	STEP_BARRIER(last);
	w->frames[last & (WALK_FRAMES_MAX - 1)] |= FRAME_EXACT;
}

/*
 * Continues with the code that a signal interrupted, whose registers are in the sigcontext at the
 * address. While the kernel restores them, SP is that of the interrupted code before the pc is;
 * then the sigcontext cannot be found.
 */
static __always_inline int walk_sigcontext(struct walk *w, __u64 at)
{
	__u64 g[SIGCONTEXT_COUNT];

	walk_mark_exact(w);
	if (step_read_user(w, g, sizeof(g), at))
		return WALK_READ_FAULT;
	arch_from_sigcontext(w->regs, g);
	w->pc = g[SIGCONTEXT_PC];
	w->sp = g[SIGCONTEXT_SP];
	w->fp = g[SIGCONTEXT_FP];
	w->known = WALK_ALL_KNOWN;
	w->exact = 1;
	w->fp_chain = 0;
	if (w->nframes == 1 && !walk_find_map(w, w->pc))
		return WALK_NO_REGISTERS;
	return w->pc ? WALK_CONTINUE : WALK_BOTTOM;
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
	w->nframes = 1;
	walk_mix(w, w->frames[0]);
	return walk_sigcontext(w, w->sp + SIGCONTEXT_AT);
}

/*
 * In code without CFI, a leaf that has not used the stack has its return address on top of it and
 * the frame pointer of its caller. Taken only if it leads to CFI, or if the frame of the caller
 * begins right there.
 */
static __always_inline int walk_bare_leaf(struct walk *w)
{
	__u64 ra;

	if (w->known != WALK_ALL_KNOWN || !w->exact || walk_read(w, w->sp, &ra) ||
	    !WALK_AFTER_CALL(w, ra))
		return 0;
	if (!WALK_COVERED(w, ra - 1) && (w->fp != w->sp + 8 || !walk_find_map(w, ra - 1)))
		return 0;
	STEP_NOTE(w, ra_at, w->sp);
	STEP_NOTE(w, cfa, w->sp + 8);
	w->pc = ra;
	w->sp += 8;
	w->exact = 0;
	w->known &= ARCH_CALLEE_SAVED;
	return 1;
}

/*
 * Follows the frame pointer if it looks like one: above the stack pointer, aligned, near, leading
 * to a return address and to an older frame. The first return address of a chain must follow a
 * call. A caller with CFI may have any number in the place of a saved frame pointer.
 */
static __always_inline int walk_frame_pointer(struct walk *w, int reason)
{
	__u64 fp = w->fp, caller_fp, ra;

	if (walk_is_sigreturn(w))
		return walk_sigcontext(w, w->sp + SIGCONTEXT_AT);
	if (walk_is_context_start(w))
		return WALK_BOTTOM;
	/* Nothing is on the stack of ld.so's _start, which has no CFI. */
	if (w->start_stack && w->sp == w->start_stack)
		return WALK_BOTTOM;
	if (!fp && walk_is_deepest(w))
		return WALK_BOTTOM;
	if (walk_bare_leaf(w))
		return WALK_CONTINUE;
	if (fp < w->sp || fp & 7 || fp - w->sp > 64ull << 20)
		return reason;
	if (walk_read(w, fp, &caller_fp) || walk_read(w, fp + 8, &ra))
		return reason;
	if (!ra && !caller_fp)
		return w->fp_chain ? WALK_BOTTOM : reason;
	if (!walk_find_map(w, ra - 1))
		return reason;
	if (caller_fp && caller_fp <= fp) {
		if (!WALK_AFTER_CALL(w, ra) || !WALK_COVERED(w, ra - 1))
			return reason;
	} else if (!w->fp_chain && !WALK_AFTER_CALL(w, ra)) {
		return reason;
	}
	STEP_NOTE(w, fp_at, fp);
	STEP_NOTE(w, ra_at, fp + 8);
	STEP_NOTE(w, cfa, fp + 16);
	w->pc = ra;
	w->sp = fp + 16;
	w->fp = caller_fp;
	w->fp_chain = 1;
	w->exact = 0;
	w->known = 0;
	return WALK_CONTINUE;
}

/*
 * A CFA that is not above the stack pointer is right only on another stack, which CFI has found by
 * a register that it restored. The return address there must follow a call.
 */
static __always_inline int walk_switch(struct walk *w, __u64 cfa)
{
	__u64 ra;

	if (w->switches >= WALK_SWITCHES_MAX || walk_read(w, cfa + ARCH_RA_AT, &ra) ||
	    !WALK_AFTER_CALL(w, ra))
		return WALK_BAD_CFA;
	w->switches++;
	return 0;
}

static __always_inline int walk_register(const struct walk *w, __u32 reg, __u64 *value)
{
	if (reg == ARCH_SP) {
		*value = w->sp;
		return 0;
	}
	if (reg == ARCH_FP) {
		*value = w->fp;
		return 0;
	}
	if (reg >= DWARF_COUNT || !(w->known >> reg & 1))
		return WALK_REGISTER;
	STEP_BARRIER(reg);
	reg &= 31;
	if (reg >= DWARF_COUNT)
		return WALK_REGISTER;
	*value = w->regs[reg];
	return 0;
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

static __always_inline int walk_wide(struct walk *w, __u32 index)
{
	const struct wide_rule *r = step_wide_rule(index);
	__u64 cfa, value = 0, fp = w->fp, ra = 0;
	int err;

	if (!r)
		return WALK_NO_TABLE;
	err = walk_register(w, r->cfa_reg, &value);
	if (err)
		return err;
	cfa = value + (__s64)r->cfa_off;
	if (r->flags & WIDE_CLONED) {
		err = walk_register(w, ARCH_RESULT, &value);
		if (err)
			return err;
		if (!value)
			return WALK_BOTTOM;
	}
	if (r->flags & WIDE_SIGCONTEXT)
		return walk_sigcontext(w, cfa - 8 * SIGCONTEXT_SP);
	if (r->cfa_kind == WIDE_CFA_DEREF) {
		err = walk_read(w, cfa, &value);
		if (err)
			return err;
		cfa = value + (__s64)r->cfa_add;
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
		if (walk_read(w, value + (__s64)r->fp_off, &fp))
			fp = WALK_NO_FP;
	} else if (r->fp_kind == WIDE_IN_REG) {
		err = walk_register(w, r->fp_reg, &fp);
		if (err)
			return err;
	} else if (r->fp_kind == WIDE_UNDEFINED) {
		fp = WALK_NO_FP;
	}
	if (r->ra_kind == WIDE_AT_CFA || r->ra_kind == WIDE_AT_REG) {
		value = cfa;
		if (r->ra_kind == WIDE_AT_REG) {
			err = walk_register(w, r->ra_reg, &value);
			if (err)
				return err;
		}
		STEP_NOTE(w, ra_at, value + (__s64)r->ra_off);
		err = walk_read(w, value + (__s64)r->ra_off, &ra);
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
	w->exact = r->flags & WIDE_SIGNAL ? 1 : 0;
	/*
	 * A signal handler may run on a stack of its own. Else the caller's frame lies above, or
	 * right here when the return address has been taken from the stack, as in vfork.
	 */
	if (!w->exact && (cfa < w->sp || (cfa == w->sp && r->ra_kind != WIDE_IN_REG))) {
		if (r->cfa_reg == ARCH_SP || r->ra_kind == WIDE_IN_REG)
			return WALK_BAD_CFA;
		err = WALK_SWITCH(w, cfa);
		if (err)
			return err;
	}
	walk_keep(w, r, cfa);
	w->pc = ra;
	w->sp = cfa;
	w->fp = fp;
	w->fp_chain = 0;
	return ra ? WALK_CONTINUE : WALK_BOTTOM;
}

/* Frames based on SP or FP and PLT stubs: nearly all of them. */
static __always_inline int walk_row(struct walk *w, __u32 rule)
{
	__u32 kind = RULE_KIND(rule), depth = 0, known = 0;
	__u64 cfa, fp = w->fp, ra;
	int err;

	if (kind == ROW_PLT) {
		known = w->known & ARCH_CALLEE_SAVED;
		cfa = arch_plt_cfa(w->sp, w->pc, rule & 15);
	} else {
		cfa = (kind == ROW_SP ? w->sp : w->fp) + RULE_CFA(rule);
		depth = RULE_FP_DEPTH(rule);
	}
	STEP_NOTE(w, cfa, cfa);
	STEP_NOTE(w, ra_at, cfa + ARCH_RA_AT);
	STEP_NOTE(w, fp_at, depth ? cfa - depth : 0);
	if (cfa <= w->sp) {
		err = kind == ROW_FP ? WALK_SWITCH(w, cfa) : WALK_BAD_CFA;
		if (err)
			return err;
	}
	/* The saved FP is below the return address, so one window has both. */
	if (depth && walk_read(w, cfa - depth, &fp))
		fp = WALK_NO_FP;
	err = walk_read(w, cfa + ARCH_RA_AT, &ra);
	if (err)
		return err;
	w->pc = ra;
	w->sp = cfa;
	w->fp = fp;
	w->exact = 0;
	w->known = known;
	w->fp_chain = 0;
	return ra ? WALK_CONTINUE : WALK_BOTTOM;
}

/* Appends the frame of the pc; WALK_DEPTH: there is no room. mapped: as in walk_frame. */
static __always_inline int walk_add_frame(struct walk *w, int mapped)
{
	__u32 n = w->nframes;
	__u64 frame;

	if (n >= WALK_FRAMES_MAX)
		return WALK_DEPTH;
	frame = walk_frame(w, mapped) | (w->exact ? FRAME_EXACT : 0);
	STEP_BARRIER(n);
	w->frames[n & (WALK_FRAMES_MAX - 1)] = frame;
	w->nframes = n + 1;
	walk_mix(w, frame);
	return 0;
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
	if (fp < w->sp || fp & 7 || fp - w->sp > 64ull << 20 || walk_read(w, fp, &caller_fp) ||
	    walk_read(w, fp + 8, &ra) || !WALK_AFTER_CALL(w, ra))
		return reason;
	w->pc = ra;
	w->sp = fp + 16;
	w->fp = caller_fp;
	w->exact = 0;
	return WALK_CONTINUE;
}

/* Appends the frame of the pc and moves w to its caller: WALK_CONTINUE, or why there is none. */
static __always_inline int walk_step(struct walk *w)
{
	__u64 addr = w->exact ? w->pc : w->pc - 1;
	int mapped = walk_find_map(w, addr);
	__u32 kind;
	__s64 rule;

	if (walk_add_frame(w, mapped))
		return WALK_DEPTH;
	if (!mapped)
		return w->changed ? WALK_CHANGED : WALK_NO_MAPPING;
	STEP_NOTE(w, mapped, 1);
	STEP_NOTE(w, map, w->map);
	kind = MAP_KIND(w->map.meta);
	if (kind == MAP_PENDING)
		return WALK_NO_TABLE;
	if (kind != MAP_CFI)
		return WALK_FRAME_POINTER(w, WALK_NO_FRAME_POINTER);
	rule = walk_find_rule(w, addr);
	if (rule < 0)
		return WALK_NO_TABLE;
	kind = RULE_KIND((__u32)rule);
	if (kind == ROW_SP || kind == ROW_FP || kind == ROW_PLT)
		return walk_row(w, rule);
	if (kind == ROW_WIDE)
		return WALK_WIDE(w, RULE_PAYLOAD((__u32)rule));
	if (kind == ROW_OUTERMOST)
		return WALK_BOTTOM;
	if (kind == ROW_UNSUPPORTED)
		return WALK_UNSUPPORTED;
	return WALK_FRAME_POINTER(w, WALK_NOT_COVERED);
}

#endif
