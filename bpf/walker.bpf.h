/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_WALKER_BPF_H
#define STACKTOP_BPF_WALKER_BPF_H

/*
 * The walk of a user stack. Its state is in a per-CPU map and each step is a global function, so
 * that the verifier checks it once instead of once for each turn of the loop.
 */
#include <stddef.h>
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/layout.h"
#include "bpf/maps.bpf.h"
#include "bpf/seams.bpf.h"

#define BLIND_FRAMES_MAX 48 /* of a process that is not known */

static __always_inline struct cpu_state *this_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&states, &zero);
}

static __always_inline const __u32 *step_shard(__u32 shard)
{
	__u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&shards, &shard);
	struct shard *s;

	if (!inner)
		return NULL;
	s = bpf_map_lookup_elem(inner, &zero);
	return s ? s->words : NULL;
}

static __always_inline const struct map_entry *step_map_entries(void)
{
	__u32 zero = 0;
	struct map_list *list = bpf_map_lookup_elem(&map_lists, &zero);

	return list ? list->entries : NULL;
}

static __always_inline const struct wide_rule *step_wide_rule(__u32 index)
{
	__u32 zero = 0;
	struct wide_list *list = bpf_map_lookup_elem(&wide_rules, &zero);

	if (!list)
		return NULL;
	STEP_BARRIER(index);
	return &list->rules[index & (WIDE_RULES_MAX - 1)];
}

/* Written once until user space clears it: the line stays shared between the CPUs. */
static __always_inline void touch(__u32 entry)
{
	__u32 zero = 0;
	struct touch_list *list = bpf_map_lookup_elem(&touched, &zero);

	if (!list)
		return;
	STEP_BARRIER(entry);
	entry &= MAP_ENTRIES_MAX - 1;
	if (!list->entries[entry])
		list->entries[entry] = 1;
}

__attribute__((noinline)) int refill(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return -1;
	return walk_refill(&st->walk, addr);
}

__attribute__((noinline)) int search_map(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return 0;
	return walk_search_map(&st->walk, addr);
}

__attribute__((noinline)) int covered(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return 0;
	return walk_covered(&st->walk, addr);
}

__attribute__((noinline)) int switch_stack(__u64 cfa)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_BAD_CFA;
	return walk_switch(&st->walk, cfa);
}

__attribute__((noinline)) int frame_pointer(int reason)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_frame_pointer(&st->walk, reason);
}

__attribute__((noinline)) int wide(__u32 index)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_wide(&st->walk, index);
}

__attribute__((noinline)) int step(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_step(&st->walk);
}

/* Two nested loops, so that the verifier follows 32 + 33 turns and not 1,024. */
__attribute__((noinline)) int some_steps(void)
{
	int i, reason;

	for (i = 0; i < 32; i++) {
		reason = step();
		if (reason != WALK_GOES_ON)
			return reason;
	}
	return WALK_GOES_ON;
}

__attribute__((noinline)) int leave_signal(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_leave_signal(&st->walk);
}

__attribute__((noinline)) int blind(int reason)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_blind(&st->walk, reason);
}

/* Ends with the reason; frames beyond the loop's turns are left out. */
__attribute__((noinline)) int walk_blindly(int reason)
{
	int i;

	for (i = 0; i < BLIND_FRAMES_MAX; i++)
		if (blind(reason) != WALK_GOES_ON)
			break;
	return reason;
}

static __always_inline int walk_all(int in_sigreturn)
{
	int i, reason;

	if (in_sigreturn) {
		reason = leave_signal();
		if (reason != WALK_GOES_ON)
			return reason;
	}
	for (i = 0; i < (int)(WALK_FRAMES_MAX / 32 + 1); i++) {
		reason = some_steps();
		if (reason != WALK_GOES_ON)
			return reason;
	}
	return WALK_DEPTH;
}

#endif
