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
 *	STEP_BARRIER(x)
 *		keeps the compiler from reasoning about x; in BPF it makes the mask that follows
 *		it stand right before the access, where the verifier wants to see it
 *	WALK_REFILL(w, addr), WALK_SEARCH_MAP(w, addr), WALK_FRAME_POINTER(w, reason),
 *	WALK_WIDE(w, index)
 *		call the function of that name; unless defined, directly. In BPF through global
 *		functions, which are verified once, apart from all their callers
 *
 * Searches have no branch that depends on data inside the body of their loop, so that the verifier
 * sees one path; every index is masked right before its use.
 */

#include <linux/types.h>

#include "unwind/walk.h"

#ifndef WALK_REFILL
#define WALK_REFILL	   walk_refill
#define WALK_SEARCH_MAP	   walk_search_map
#define WALK_FRAME_POINTER walk_frame_pointer
#define WALK_WIDE	   walk_wide
#endif

static __always_inline __u64 walk_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* Prepares a walk from w->regs, which the caller has filled in, as it did the list. */
static __always_inline void walk_begin(struct walk *w, int exact)
{
	w->pc = w->regs[DWARF_RIP];
	w->sp = w->regs[DWARF_RSP];
	w->fp = w->regs[DWARF_RBP];
	w->hash = 0x243f6a8885a308d3ull;
	w->nframes = 0;
	w->exact = exact;
	w->has_regs = 1;
	w->fp_chain = 0;
	w->map.start = 1;
	w->map.end = 0;
	w->window_size = 0;
	w->window_next = WALK_WINDOW_MIN;
}

/* Fills the window from addr on: as much as planned, else to the end of the page, else one word. */
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
	return addr >= w->map.start && addr < w->map.end;
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
	__u64 granule = (addr - w->map.base) >> GRANULE_SHIFT;
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
	STEP_BARRIER(at);
	return ROW_RULE(words[at & SHARD_MASK]);
}

/*
 * True when a call instruction ends right before the address: E8 rel32, or FF /2 with each length
 * of its operand, which is what tells a return address from any other number that points to code.
 */
static __always_inline int walk_after_call(struct walk *w, __u64 addr)
{
	__u64 code;

	if (addr < 8 || step_read_user(w, &code, 8, addr - 8))
		return 0;
	/* byte i of code is at addr - 8 + i */
	if ((code >> 24 & 0xff) == 0xe8)
		return 1;
	if ((code >> 48 & 0x38ff) == 0x10ff || (code >> 40 & 0x38ff) == 0x10ff ||
	    (code >> 32 & 0x38ff) == 0x10ff || (code >> 16 & 0x38ff) == 0x10ff ||
	    (code >> 8 & 0x38ff) == 0x10ff)
		return 1;
	return 0;
}

/*
 * True for a return address that nobody's call has left: the beginning of a function, with nothing
 * known of the byte before. makecontext puts __start_context there, below a coroutine's function.
 */
static __always_inline int walk_is_planted(struct walk *w)
{
	__s64 rule;

	if (w->exact || !walk_find_map(w, w->pc) || MAP_KIND(w->map.meta) != MAP_CFI)
		return 0;
	rule = walk_find_rule(w, w->pc);
	return rule >= 0 && RULE_KIND((__u32)rule) != ROW_END && !walk_after_call(w, w->pc);
}

/*
 * Follows the frame pointer, if it looks like one: above the stack pointer, aligned, near, leading
 * to an older frame and to a return address. The first of a chain must come right after a call.
 */
static __always_inline int walk_frame_pointer(struct walk *w, int reason)
{
	__u64 fp = w->fp, caller_fp, ra;
	int err;

	if (walk_is_planted(w))
		return WALK_BOTTOM;
	if (!fp && !w->has_regs)
		return WALK_BOTTOM; /* psABI 3.4.1: the deepest frame has a zero frame pointer */
	if (fp < w->sp || fp & 7 || fp - w->sp > 64ull << 20)
		return reason;
	err = walk_read(w, fp, &caller_fp);
	if (err)
		return reason;
	err = walk_read(w, fp + 8, &ra);
	if (err)
		return reason;
	if (!ra && !caller_fp)
		return WALK_BOTTOM;
	if (caller_fp && caller_fp <= fp)
		return reason;
	if (!walk_find_map(w, ra - 1))
		return reason;
	if (!w->fp_chain && !walk_after_call(w, ra))
		return reason;
	w->pc = ra;
	w->sp = fp + 16;
	w->fp = caller_fp;
	w->fp_chain = 1;
	w->exact = 0;
	w->has_regs = 0;
	return WALK_GOES_ON;
}

static __always_inline int walk_register(const struct walk *w, __u32 reg, __u64 *value)
{
	if (reg == DWARF_RSP) {
		*value = w->sp;
		return 0;
	}
	if (reg == DWARF_RBP) {
		*value = w->fp;
		return 0;
	}
	if (!w->has_regs || reg >= DWARF_COUNT)
		return WALK_REGISTER;
	STEP_BARRIER(reg);
	reg &= 31;
	if (reg >= DWARF_COUNT)
		return WALK_REGISTER;
	*value = w->regs[reg];
	return 0;
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
	if (r->cfa_kind == WIDE_CFA_DEREF) {
		err = walk_read(w, cfa, &value);
		if (err)
			return err;
		cfa = value + (__s64)r->cfa_add;
	}
	if (r->fp_kind == WIDE_AT_CFA || r->fp_kind == WIDE_AT_REG) {
		value = cfa;
		if (r->fp_kind == WIDE_AT_REG) {
			err = walk_register(w, r->fp_reg, &value);
			if (err)
				return err;
		}
		err = walk_read(w, value + (__s64)r->fp_off, &fp);
		if (err)
			return err;
	} else if (r->fp_kind == WIDE_IN_REG) {
		err = walk_register(w, r->fp_reg, &fp);
		if (err)
			return err;
	} else if (r->fp_kind == WIDE_UNDEFINED) {
		fp = 0;
	}
	if (r->ra_kind == WIDE_AT_CFA || r->ra_kind == WIDE_AT_REG) {
		value = cfa;
		if (r->ra_kind == WIDE_AT_REG) {
			err = walk_register(w, r->ra_reg, &value);
			if (err)
				return err;
		}
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
	if (!w->exact && (cfa < w->sp || (cfa == w->sp && r->ra_kind != WIDE_IN_REG)))
		return WALK_BAD_CFA;
	w->pc = ra;
	w->sp = cfa;
	w->fp = fp;
	w->has_regs = 0;
	w->fp_chain = 0;
	return ra ? WALK_GOES_ON : WALK_BOTTOM;
}

/* RSP- and RBP-based frames and PLT stubs: nearly all of them. */
static __always_inline int walk_row(struct walk *w, __u32 rule)
{
	__u32 kind = RULE_KIND(rule), depth = 0;
	__u64 cfa, fp = w->fp, ra;
	int err;

	if (kind == ROW_PLT) {
		cfa = w->sp + 8 + ((w->pc & 15) >= (rule & 15) ? 8 : 0);
	} else {
		cfa = (kind == ROW_RSP ? w->sp : w->fp) + RULE_CFA(rule);
		depth = RULE_FP_DEPTH(rule);
	}
	if (cfa <= w->sp)
		return WALK_BAD_CFA;
	/* The saved RBP lies below the return address, so one window serves both. */
	if (depth) {
		err = walk_read(w, cfa - depth, &fp);
		if (err)
			return err;
	}
	err = walk_read(w, cfa - 8, &ra);
	if (err)
		return err;
	w->pc = ra;
	w->sp = cfa;
	w->fp = fp;
	w->exact = 0;
	w->has_regs = 0;
	w->fp_chain = 0;
	return ra ? WALK_GOES_ON : WALK_BOTTOM;
}

/* Notes the frame at hand and moves w to its caller: WALK_GOES_ON, or why there is none. */
static __always_inline int walk_step(struct walk *w)
{
	__u64 addr = w->exact ? w->pc : w->pc - 1;
	__u64 frame = w->pc | (w->exact ? FRAME_EXACT : 0);
	__u32 n = w->nframes, kind;
	__s64 rule;

	if (n >= WALK_FRAMES_MAX)
		return WALK_DEPTH;
	STEP_BARRIER(n);
	w->frames[n & (WALK_FRAMES_MAX - 1)] = frame;
	w->nframes = n + 1;
	w->hash = walk_mix(w->hash, frame);

	if (!walk_find_map(w, addr))
		return WALK_NO_MAPPING;
	kind = MAP_KIND(w->map.meta);
	if (kind == MAP_PENDING)
		return WALK_NO_TABLE;
	if (kind != MAP_CFI)
		return WALK_FRAME_POINTER(w, WALK_NO_FRAME_POINTER);
	rule = walk_find_rule(w, addr);
	if (rule < 0)
		return WALK_NO_TABLE;
	kind = RULE_KIND((__u32)rule);
	if (kind == ROW_RSP || kind == ROW_RBP || kind == ROW_PLT)
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
