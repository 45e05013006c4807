/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_LOOKUP_H
#define STACKTOP_UNWIND_LOOKUP_H

/*
 * What a step of the walk looks up: words of the stack, mappings, the row in force, and whether a
 * call precedes an address. A part of unwind/step.h, which describes the seam.
 */

#include "unwind/walk.h"

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

/* The same where speed does not count; BPF has one copy of it. */
static __always_inline int walk_load_word(struct walk *w, __u64 addr)
{
	return walk_read(w, addr, &w->loaded);
}

static __always_inline int walk_load(struct walk *w, __u64 addr, __u64 *value)
{
	if (WALK_LOAD_WORD(w, addr))
		return WALK_READ_FAULT;
	*value = w->loaded;
	return 0;
}

/* Index of the last entry of the process's list that starts at or below addr, or of its first. */
static __always_inline __u32 walk_search_list(const struct walk *w, __u64 addr)
{
	const struct map_entry *entries = step_map_entries();
	__u64 at = w->list_at, n = w->list_count, behind = addr + 1, half, take;
	int i;

	if (!entries)
		return 0;

	for (i = 0; i < MAP_LIST_STEPS; i++) {
		half = n >> 1;
		take = at + half;
		STEP_BARRIER(take);
		/* all ones when the middle entry starts at or below addr */
		take = (__s64)(entries[take & (MAP_ENTRIES_MAX - 1)].start - behind) >> 63;
		STEP_BARRIER(take);
		at += half & take;
		n -= half;
	}
	return at;
}

/* Finds the entry that covers addr and keeps it in w->map; 0 when there is none. */
static __always_inline int walk_search_map(struct walk *w, __u64 addr)
{
	const struct map_entry *entries, *e;
	__u32 at;

	w->changed = 0;
	entries = step_map_entries();
	if (!entries || !w->list_count)
		return 0;
	at = WALK_SEARCH_LIST(w, addr);
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
	__u64 offset = addr & (GRANULE_SIZE - 1);
	__u64 rows = w->map.word + MAP_GRANULES(w->map.meta);
	__u64 word, at, n, half, take;
	const __u32 *words;
	int i;

	if (granule >= MAP_GRANULES(w->map.meta))
		return ROW_END;
	words = step_shard(w->map.word >> SHARD_SHIFT);
	if (!words)
		return -1;
	at = w->map.word + granule;
	STEP_BARRIER(at);
	word = words[at & SHARD_MASK];
	/* The row before the granule's first is in force where the granule begins. */
	at = rows + INDEX_FIRST(word) - 1;
	n = INDEX_ROWS(word) + 1;
	for (i = 0; i < 8; i++) {
		half = n >> 1;
		take = at + half;
		STEP_BARRIER(take);
		take = ROW_OFFSET(words[take & SHARD_MASK]);
		take = (take - offset - 1) >> 63; /* 1 when take <= offset */
		at += half & -take;
		n -= half;
	}
	STEP_NOTE_ROW(w, addr, at);
	/* Until the next row of the granule, or the granule's end. */
	take = at + 1;
	half = (__s64)(take - rows - INDEX_FIRST(word) - INDEX_ROWS(word)) >> 63;
	STEP_BARRIER(take);
	n = ROW_OFFSET(words[take & SHARD_MASK]);
	w->row_end = addr - offset + (n & half) + (GRANULE_SIZE & ~half);
	STEP_BARRIER(at);
	return ROW_RULE(words[at & SHARD_MASK]);
}

/*
 * True when a call instruction ends right before the address, which is what tells a return address
 * from any other number that points to code; or, if calls leave it in a register, when it is where
 * a signal's handler returns to, which is there likewise.
 */
static __always_inline int walk_after_call(struct walk *w, __u64 addr)
{
	__u64 code;

	if (addr < 8 || addr & ((1u << ARCH_PC_SHIFT) - 1) || step_read_user(w, &code, 8, addr - 8))
		return 0;
	if (!ARCH_HAS_LINK || arch_is_call(&code))
		return arch_is_call(&code);
	return !step_read_user(w, &code, 8, addr) && arch_begins_sigreturn(code);
}

/*
 * The rule at an address for which the lists have none, among the rows that were made for this
 * process: from what it says of its code, or from the code. One of ROW_END: there is none.
 */
static __always_inline __u32 walk_code_rule(struct walk *w, __u64 addr)
{
	const struct map_entry *entries = step_map_entries(), map = w->map;
	const __u32 list_at = w->list_at, list_count = w->list_count;
	__s64 rule = RULE(ROW_END, 0);
	__u32 at;

	if (!entries || !w->code_count)
		return RULE(ROW_END, 0);
	w->list_at += list_count;
	w->list_count = w->code_count;
	at = walk_search_list(w, addr); /* a call would be one too many for BPF */
	w->list_at = list_at;
	w->list_count = list_count;
	STEP_BARRIER(at);
	w->map = entries[at & (MAP_ENTRIES_MAX - 1)];
	if (addr >= w->map.start && addr < w->map.end && MAP_KIND(w->map.meta) == MAP_CFI) {
		STEP_TOUCH(at);
		STEP_NOTE(w, map, w->map);
		rule = walk_find_rule(w, addr);
	}
	w->map = map;
	return rule < 0 ? RULE_NO_TABLE : (__u32)rule;
}

/* The rule in force at the address, which is inside w->map; one of ROW_END where there is none. */
static __always_inline __u32 walk_rule_at(struct walk *w, __u64 addr)
{
	__s64 rule = RULE(ROW_END, 0);

	if (MAP_KIND(w->map.meta) == MAP_CFI)
		rule = walk_find_rule(w, addr);
	if (rule < 0)
		return RULE_NO_TABLE;
	return RULE_KIND(rule) == ROW_END ? walk_code_rule(w, addr) : (__u32)rule;
}

/* True when there is a rule for the address; w->map is then the mapping. */
static __always_inline int walk_covered(struct walk *w, __u64 addr)
{
	return walk_find_map(w, addr) && RULE_KIND(WALK_RULE_AT(w, addr)) != ROW_END;
}

#endif
