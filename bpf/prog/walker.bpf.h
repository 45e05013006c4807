/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_WALKER_BPF_H
#define STACKTOP_BPF_PROG_WALKER_BPF_H

/*
 * The walk of a user stack. Its state is in a per-CPU map and each step is a global function, so
 * that the verifier checks it once instead of once for each turn of the loop.
 */
#include <stddef.h>
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/layout.h"
#include "bpf/prog/maps.bpf.h"
#include "bpf/prog/step_env.bpf.h"

#define FP_ONLY_FRAMES_MAX 48 /* in a process that user space does not know */

static __always_inline struct cpu_state *this_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&walk_state, &zero);
}

static __always_inline const __u32 *step_shard(__u32 shard)
{
	__u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&shards, &shard);
	struct shard_words *s;

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

/* Tells user space of the place. stale: the row there, of memory without a file, is wrong. */
__attribute__((noinline)) int walk_note_bare(int stale)
{
	__u32 zero = 0, slot;
	struct bare_list *list = bpf_map_lookup_elem(&bare_places, &zero);
	struct cpu_state *st = this_state();
	__u64 tgid, pc, words = 0;

	if (!list || !st || (stale && st->walk.to_frame) ||
	    (st->walk.keeps_fp && !st->walk.code_frame))
		return 0;
	tgid = ((const struct stack_record *)st->walk.head)->tgid;
	pc = st->walk.pc | (st->walk.exact ? BARE_EXACT : 0) | (stale ? BARE_STALE : 0);
	slot = (pc ^ tgid << 32) * 0x9e3779b97f4a7c15ull >> 54;
	STEP_BARRIER(slot);
	slot &= BARE_PLACES - 1;
	if (list->places[slot].pc != pc || list->places[slot].tgid != tgid) {
		if (!st->walk.code_frame)
			words = walk_return_words(&st->walk);
		list->places[slot].tgid = tgid;
		list->places[slot].words = words;
		list->places[slot].ra = st->walk.return_ra;
		list->places[slot].pc = pc;
	}
	return 0;
}

__attribute__((noinline)) int walk_call_refill(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st || walk_refill(&st->walk, addr))
		return -1;
	asm volatile("" ::: "memory"); /* what the verifier knows of the window is forgotten */
	returns_restore(&st->returns, st->walk.window, st->walk.window_at, st->walk.window_size);
	return 0;
}

static __always_inline struct vma_search *vma_search(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return NULL;
	/* Otherwise clang computes the address before the check; older verifiers reject that. */
	STEP_BARRIER(st);
	return &st->vma;
}

/* True if the frame pointer, which is above, is in another mapping; 0 where the kernel hides them.
 */
__attribute__((noinline)) int walk_is_apart(__u64 sp, __u64 fp)
{
	const struct vma_search *s = vma_search();

	return s && vma_find(sp) && fp >= s->end;
}

/*
 * The stamp of a sample. Where the kernel does not count changes it is for this sample only, so
 * that each walk checks an entry once.
 */
static __always_inline __u32 stamp_of(__u64 exec_id)
{
	__u32 changes;

	if (config.has_task_regs ? !vma_changes_here(&changes) : !vma_changes(&changes))
		return (__u32)bpf_ktime_get_ns() | 1;
	exec_id = (exec_id ^ changes) * 0x9e3779b97f4a7c15ull;
	return (__u32)(exec_id >> 32) | 1;
}

/* The check of the entry that was found last. */
static __always_inline struct entry_check *check_of(const struct cpu_state *st)
{
	struct check_list *list;
	__u32 zero = 0, at = st->walk.map_at;

	list = bpf_map_lookup_elem(&checks, &zero);
	if (!list)
		return NULL;
	STEP_BARRIER(at);
	return &list->entries[at & (MAP_ENTRIES_MAX - 1)];
}

/* 1: the entry needs no check. 0: its tag, to be checked, is in the state. */
__attribute__((noinline)) int walk_entry_is_believed(void)
{
	struct cpu_state *st = this_state();
	const struct entry_check *check = st ? check_of(st) : NULL;

	if (!check || check->stamp == st->stamp || check->tag == VMA_ANY)
		return 1;
	st->tag = check->tag;
	return 0;
}

/* 1: the mapping found last has the tag. The entry needs no check until a mapping changes. */
__attribute__((noinline)) int walk_entry_is_true(void)
{
	struct cpu_state *st = this_state();
	struct entry_check *check;

	if (!st || !vma_is(&st->vma, st->tag))
		return 0;
	check = check_of(st);
	if (check)
		check->stamp = st->stamp;
	return 1;
}

static __always_inline struct trail *this_trail(const struct cpu_state *st)
{
	__u32 number = st->trail;

	return bpf_map_lookup_elem(&trails, &number);
}

/* 1: the entry of the lists that a kept rule belongs to is known to be true. */
__attribute__((noinline)) int trail_believe(__u32 entry)
{
	struct cpu_state *st = this_state();
	struct check_list *list;
	__u32 zero = 0;

	touch(entry);
	if (!config.checks_lists)
		return 1;
	list = bpf_map_lookup_elem(&checks, &zero);
	if (!st || !list)
		return 0;
	STEP_BARRIER(entry);
	return list->entries[entry & (MAP_ENTRIES_MAX - 1)].stamp == st->stamp;
}

static __always_inline struct found_row *row_of(const struct cpu_state *st, __u64 addr)
{
	__u32 number = rows_place(addr, st->version) | bpf_get_smp_processor_id() << ROWS_SHIFT;

	return bpf_map_lookup_elem(&rows, &number);
}

static __always_inline __u32 walk_recall(__u64 addr)
{
	struct cpu_state *st = this_state();
	const struct found_row *row;

	if (!st || !st->version)
		return 0;
	row = row_of(st, addr);
	return row ? row_recall(&st->walk, row, addr, st->version) : 0;
}

/* Gives the walk the trail of the thread, whose process has that version of its list. */
__attribute__((noinline)) int walk_begin_trail(__u32 version)
{
	__u32 cpu = bpf_get_smp_processor_id(), tid;
	struct cpu_state *st = this_state();
	struct trail *t;

	if (!st)
		return 0;
	tid = (__u32)bpf_get_current_pid_tgid();
	st->trail = cpu << TRAILS_SHIFT | (tid * 0x9e3779b1u) >> (32 - TRAILS_SHIFT);
	t = this_trail(st);
	if (!t) {
		st->trail = TRAIL_NONE;
		return 0;
	}
	st->version = version;
	trail_begin(&st->walk, t,
		    t->exec_id == st->exec_id && t->tid == tid && t->version == version);
	t->exec_id = st->exec_id;
	t->tid = tid;
	t->version = version;
	return 0;
}

/* Keeps the rule of the last frame for other walks. */
__attribute__((noinline)) int walk_keep_rule(__u32 rule)
{
	struct cpu_state *st = this_state();
	const __u32 kind = RULE_KIND(rule);
	struct found_row *row;
	struct trail *t;

	if (!st || !st->version || (!st->walk.recalled && st->walk.by_file))
		return 0;
	if (!st->walk.recalled) {
		row = row_of(st, st->walk.looked_at);
		if (row)
			row_keep(&st->walk, row, rule, st->version);
	}
	t = this_trail(st);
	if (t && (kind == ROW_SP || kind == ROW_FP))
		trail_note(&st->walk, t, rule);
	return 0;
}

__attribute__((noinline)) int walk_finish_trail(void)
{
	struct cpu_state *st = this_state();
	struct trail *t = st ? this_trail(st) : NULL;

	if (t)
		trail_finish(&st->walk, t);
	return 0;
}

/* 0: something else is mapped at the address now. */
static __always_inline int entry_holds(__u64 addr)
{
	if (walk_entry_is_believed())
		return 1;
	return vma_find(addr) && walk_entry_is_true();
}

__attribute__((noinline)) __u32 walk_call_search_list(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return 0;
	return walk_search_list(&st->walk, addr);
}

__attribute__((noinline)) int walk_call_load_register(__u32 reg)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_REGISTER;
	return walk_load_register(&st->walk, reg);
}

__attribute__((noinline)) int walk_call_sigcontext(__u64 at)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_sigcontext(&st->walk, at);
}

__attribute__((noinline)) int walk_call_load_word(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return -1;
	return walk_load_word(&st->walk, addr);
}

__attribute__((noinline)) int walk_call_deref(__u64 addr, __u32 kind)
{
	struct cpu_state *st = this_state();

	if (!st)
		return -1;
	return walk_deref(&st->walk, addr, kind);
}

__attribute__((noinline)) int walk_call_covered(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return 0;
	return walk_covered(&st->walk, addr);
}

__attribute__((noinline)) int walk_find_entry(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return 0;
	return walk_search_map(&st->walk, addr);
}

/* Gives the walk the list of the file of the mapping found last; 0: it has none. */
__attribute__((noinline)) int walk_take_file(void)
{
	struct cpu_state *st = this_state();
	struct file_entry *file;

	if (!st || !st->vma.file || (!vma_shown_tag() && !vma_real_tag()))
		return 0;
	st->file.dev = st->vma.dev;
	st->file.inode = st->vma.number;
	file = bpf_map_lookup_elem(&files, &st->file);
	if (!file || file->change != vma_change(&st->vma))
		return 0;
	st->list_at = st->walk.list_at;
	st->list_count = st->walk.list_count;
	st->walk.list_at = file->list_at;
	st->walk.list_count = file->list_count;
	return 1;
}

/*
 * Gives the walk the list of the process again. An entry that was found in the list of the file is
 * moved to the addresses of the mapping and cut to it.
 */
__attribute__((noinline)) int walk_leave_file(int found)
{
	struct cpu_state *st = this_state();
	struct map_entry *e;
	__u32 skipped;
	__u64 by;

	if (!st)
		return 0;
	st->walk.list_at = st->list_at;
	st->walk.list_count = st->list_count;
	e = &st->walk.map;
	if (!found) {
		e->start = 1;
		e->end = 0;
		return 0;
	}
	by = st->vma.base - FILE_SPACE;
	e->start += by;
	e->end += by;
	if (e->frame)
		e->frame -= by;
	if (e->end > st->vma.end)
		e->end = st->vma.end;
	if (e->start >= st->vma.start)
		return 1;
	if (MAP_KIND(e->meta) == MAP_CFI) {
		skipped = (st->vma.start >> GRANULE_SHIFT) - (e->start >> GRANULE_SHIFT);
		e->word += skipped;
		e->meta -= skipped;
	}
	e->start = st->vma.start;
	return 1;
}

/*
 * Finds the entry of an address by the file that is mapped there, where the list of the process
 * has none or a wrong one.
 */
static __always_inline int search_file(const struct cpu_state *st, __u64 addr)
{
	if (!vma_find(addr) || !walk_take_file())
		return 0;
	return walk_leave_file(walk_find_entry(addr - st->vma.base + FILE_SPACE));
}

__attribute__((noinline)) int walk_search_lists(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return 0;
	st->walk.by_file = 0;
	if (walk_find_entry(addr)) {
		if (!config.checks_lists || entry_holds(addr))
			return 1;
		walk_distrust(&st->walk);
	}
	st->distrusted = st->walk.changed;
	st->walk.by_file = 1;
	if (config.checks_lists && search_file(st, addr))
		return 1;
	st->walk.changed = st->distrusted;
	return 0;
}

/* The frame of a pc that is in no list: in the file that is mapped there, if any. */
__attribute__((noinline)) __u64 walk_unlisted(__u64 pc, int exact)
{
	__u64 addr = exact ? pc : pc - 1, offset = 0;
	__u64 file = config.checks_lists ? vma_file(addr, &offset) : 0;

	offset += pc - addr;
	if (file && offset <= FRAME_OFFSET_MAX)
		return FRAME_IN_FILE | (file & FRAME_TAG_MASK) | offset;
	return FRAME_ADDRESS(pc);
}

__attribute__((noinline)) __u32 walk_call_rule_at(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return RULE(ROW_END, 0);
	return walk_rule_at(&st->walk, addr);
}

__attribute__((noinline)) __u32 walk_call_code_rule(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return RULE(ROW_END, 0);
	return walk_code_rule(&st->walk, addr);
}

__attribute__((noinline)) int walk_call_after_call(__u64 addr)
{
	struct cpu_state *st = this_state();

	if (!st)
		return 0;
	return walk_after_call(&st->walk, addr);
}

__attribute__((noinline)) int walk_call_edge(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return 0;
	return walk_edge(&st->walk);
}

__attribute__((noinline)) __u32 walk_call_epilogue(__u64 code)
{
	return walk_epilogue(code);
}

__attribute__((noinline)) int walk_call_edge_some(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return EDGE_NONE;
	return walk_edge_some(&st->walk);
}

__attribute__((noinline)) int walk_call_scan_some(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return 0;
	return walk_scan_some(&st->walk);
}

__attribute__((noinline)) int walk_call_scan(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return 0;
	return walk_scan(&st->walk);
}

/* Of unwind/arch/x86_64/step.h only. */
#if !ARCH_HAS_LINK
__attribute__((noinline)) int walk_call_judge_call(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return CALL_UNSURE;
	return walk_judge_call(&st->walk);
}

__attribute__((noinline)) int walk_call_try_call(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return CALL_UNSURE;
	return walk_try_call(&st->walk);
}
#endif

__attribute__((noinline)) int walk_call_bare(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_bare(&st->walk);
}

__attribute__((noinline)) int walk_call_switch(__u64 cfa)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_BAD_CFA;
	return walk_switch(&st->walk, cfa);
}

__attribute__((noinline)) int walk_call_at_zero(__u64 cfa, __u64 fp)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_ZERO;
	return walk_at_zero(&st->walk, cfa, fp);
}

__attribute__((noinline)) int walk_call_has_left(void)
{
	struct cpu_state *st = this_state();

	return st ? walk_has_left(&st->walk) : 0;
}

__attribute__((noinline)) int walk_call_null_call(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_MAPPING;
	return walk_null_call(&st->walk);
}

__attribute__((noinline)) int walk_call_frame_pointer(int reason)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_frame_pointer(&st->walk, reason);
}

__attribute__((noinline)) int walk_call_go(__u32 index)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_go(&st->walk, index);
}

__attribute__((noinline)) int walk_call_wide(__u32 index)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_wide(&st->walk, index);
}

__attribute__((noinline)) int walk_call_step(void)
{
	struct cpu_state *st = this_state();
	struct trail *t;
	__u32 n;

	if (!st)
		return WALK_NO_REGISTERS;
	t = this_trail(st);
	if (t) {
		n = st->walk.nframes;
		if (trail_meet(&st->walk, t))
			walk_trail(&st->walk, t);
		n = st->walk.nframes - n;
		st->walk.again += n;
		if (n)
			return WALK_CONTINUE;
	}
	return walk_step(&st->walk);
}

/* Two nested loops, so that the verifier follows 32 + 33 turns and not 1,024. */
__attribute__((noinline)) int walk_some_steps(void)
{
	int i, reason;

	for (i = 0; i < 32; i++) {
		reason = walk_call_step();
		if (reason != WALK_CONTINUE)
			return reason;
	}
	return WALK_CONTINUE;
}

__attribute__((noinline)) int walk_call_leave_signal(void)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_leave_signal(&st->walk);
}

__attribute__((noinline)) int walk_call_enter_signal(void)
{
	struct cpu_state *st = this_state();

	if (st)
		walk_enter_signal(&st->walk);
	return 0;
}

__attribute__((noinline)) int walk_call_by_fp_only(int reason)
{
	struct cpu_state *st = this_state();

	if (!st)
		return WALK_NO_REGISTERS;
	return walk_by_fp_only(&st->walk, reason);
}

/* Two nested loops, as for the steps. */
__attribute__((noinline)) int walk_some_by_fp_only(int reason)
{
	int i;

	for (i = 0; i < 8; i++)
		if (walk_call_by_fp_only(reason) != WALK_CONTINUE)
			return reason;
	return WALK_CONTINUE;
}

/* Returns the reason; frames beyond FP_ONLY_FRAMES_MAX are left out. */
__attribute__((noinline)) int walk_rest_by_fp_only(int reason)
{
	int i;

	for (i = 0; i < (int)(FP_ONLY_FRAMES_MAX / 8); i++)
		if (walk_some_by_fp_only(reason) != WALK_CONTINUE)
			break;
	return reason;
}

static __always_inline int walk_all(int in_sigreturn)
{
	int i, reason;

	if (in_sigreturn) {
		reason = walk_call_leave_signal();
		if (reason != WALK_CONTINUE)
			return reason;
	}
	for (i = 0; i < (int)(WALK_FRAMES_MAX / 32 + 1); i++) {
		reason = walk_some_steps();
		if (reason != WALK_CONTINUE)
			return reason;
	}
	return WALK_DEPTH;
}

#endif
