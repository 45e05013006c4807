/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_SAMPLE_BPF_H
#define STACKTOP_BPF_PROG_SAMPLE_BPF_H

/*
 * What all programs share that take the stacks of a task: whose it is, its kernel stack and its
 * user stack, their hashes, and how they are sent and counted.
 */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/prog/arch.bpf.h"
#include "bpf/prog/layout.h"
#include "bpf/prog/maps.bpf.h"
#include "bpf/prog/modules.bpf.h"
#include "bpf/prog/pidns.bpf.h"
#include "bpf/prog/runtime_layout.h"
#include "bpf/prog/walker.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, RUNTIME_COUNT);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} runtime_programs SEC(".maps");

/* Fields of the kernel that are used; libbpf finds them through its BTF. */
struct uprobes_state {
	struct xol_area *xol_area;
} __attribute__((preserve_access_index));

struct mm_struct {
	unsigned long start_stack;
	struct uprobes_state uprobes_state;
} __attribute__((preserve_access_index));

struct task_struct {
	struct mm_struct *mm;
	void *stack;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	__u64 start_time;
	__u64 self_exec_id;
	__u64 start_boottime;
	int tgid;
	int pid;
	unsigned int flags;
	unsigned int __state;
	unsigned int in_iowait : 1;
	unsigned int frozen : 1;
	struct files_struct *files;
	struct uprobe_task *utask;
	char comm[16];
} __attribute__((preserve_access_index));

/* tgid << 32 | tid of a task in our PID namespace; 0: it has none there. */
__attribute__((noinline)) __u64 sample_namespace_ids(__u64 of)
{
	const struct task_struct___pidns *task = (const void *)of, *leader = NULL;
	const struct pid *pid;
	__u32 tgid, tid;
	unsigned int level;

	if (!config.pidns_inode || bpf_core_read(&leader, sizeof(leader), &task->group_leader))
		return 0;
	pid = pidns_pid(leader, &level);
	if (!pid || level < config.pidns_level)
		return 0;
	tgid = pidns_number_at(pid, config.pidns_level, config.pidns_inode);
	if (!tgid || leader == task)
		return (__u64)tgid << 32 | tgid;
	pid = pidns_pid(task, &level);
	if (!pid || level < config.pidns_level)
		return 0;
	tid = pidns_number_at(pid, config.pidns_level, config.pidns_inode);
	return tid ? (__u64)tgid << 32 | tid : 0;
}

/* tgid << 32 | tid of the current task, as in side-band records and /proc. */
static __always_inline __u64 current_ids(void)
{
	if (config.pidns_inode)
		return sample_namespace_ids(bpf_get_current_task());
	return bpf_get_current_pid_tgid();
}

/* Clock ticks from boot on, as field 22 of /proc/PID/stat has them. */
__attribute__((noinline)) __u64 sample_process_start(void)
{
	const struct task_struct___pidns *task = (void *)bpf_get_current_task(), *leader;
	__u64 start;

	if (bpf_core_read(&leader, sizeof(leader), &task->group_leader) ||
	    bpf_core_read(&start, sizeof(start), &leader->start_boottime))
		return 0;
	return (start + config.boottime_offset) / CLOCK_TICK_NS;
}

enum choice { CHOICE_LEFT_OUT, CHOICE_TAKEN, CHOICE_UNDECIDED };

/* Whether the current process is chosen. Its start tells it from a later one with the same PID. */
__attribute__((noinline)) int sample_choice(__u32 tgid, __u32 filtering)
{
	const struct target *t = bpf_map_lookup_elem(&targets, &tgid);
	struct task_struct *task = (void *)bpf_get_current_task(), *leader;
	__u64 comm[2] = {};

	if (t && t->start && t->start != sample_process_start())
		t = NULL;
	if (filtering == FILTER_LISTED)
		return t && t->chosen ? CHOICE_TAKEN : CHOICE_LEFT_OUT;
	if (!t || bpf_core_read(&leader, sizeof(leader), &task->group_leader) ||
	    bpf_core_read_str(comm, sizeof(comm), &leader->comm) < 0 ||
	    ((const __u64 *)t->comm)[0] != comm[0] || ((const __u64 *)t->comm)[1] != comm[1])
		return CHOICE_UNDECIDED;
	return t->chosen ? CHOICE_TAKEN : CHOICE_LEFT_OUT;
}

/* 1: user space already has this stack. */
__attribute__((noinline)) int sample_stack_is_seen(__u64 hash)
{
	__u32 set = hash & config.seen_mask;
	struct seen_set *k = bpf_map_lookup_elem(&seen_stacks, &set);
	int i;

	if (!k)
		return 0;
#pragma unroll
	for (i = 0; i < (int)SEEN_WAYS; i++)
		if (k->hash[i] == hash)
			return 1;
	return 0;
}

__attribute__((noinline)) int sample_mark_seen(__u64 hash)
{
	__u32 set = hash & config.seen_mask;
	struct seen_set *k = bpf_map_lookup_elem(&seen_stacks, &set);
	__u32 way = bpf_ktime_get_ns() >> 10;

	if (k) {
		STEP_BARRIER(way);
		k->hash[way & (SEEN_WAYS - 1)] = hash;
	}
	return 0;
}

static __always_inline void send_stack(struct profiler_stats *s, struct stack_record *rec,
				       __u64 frames_max)
{
	__u64 n = rec->nframes;

	if (sample_stack_is_seen(rec->hash))
		return;
	if (n > frames_max)
		n = frames_max;
	/* The verifier wants the bound on the very register that is used. */
	n = sizeof(*rec) + n * 8;
	STEP_BARRIER(n);
	if (n > sizeof(*rec) + frames_max * 8)
		return;
	/* User space reads at its own pace; it is woken only when the ring fills up. */
	if (bpf_ringbuf_output(&stacks, rec, n,
			       bpf_ringbuf_query(&stacks, BPF_RB_AVAIL_DATA) > config.ring_wake
				       ? BPF_RB_FORCE_WAKEUP
				       : BPF_RB_NO_WAKEUP)) {
		s->ring_full++;
		return;
	}
	s->stacks++;
	sample_mark_seen(rec->hash);
}

#define HASH_TURN 8u

/* Hashes some more frames of the kernel stack, from first on; 0: that was the last. */
__attribute__((noinline)) int sample_hash_some(__u32 first)
{
	struct cpu_state *st = this_state();
	struct stack_record *rec;
	struct stackhash hash;
	__u64 n, at = first;
	int i;

	if (!st)
		return 0;
	rec = (struct stack_record *)st->kernel_head;
	hash = st->kernel_hash;
	n = rec->nframes;
	for (i = 0; i < (int)HASH_TURN; i++) {
		if (at >= n)
			break;
		STEP_BARRIER(at);
		stackhash_add(&hash, st->kernel_frames[at & KERNEL_FRAMES_MAX],
			      STEP_KEY(STACKHASH_FACTOR_A), STEP_KEY(STACKHASH_FACTOR_B));
		at++;
	}
	st->kernel_hash = hash;
	return at < n;
}

/* Hashes the kernel stack in the state and sends it if it is new. */
__attribute__((noinline)) int sample_finish_kernel_stack(void)
{
	__u32 zero = 0, i;
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);
	struct cpu_state *st = this_state();
	struct stack_record *rec;

	if (!s || !st)
		return 0;
	rec = (struct stack_record *)st->kernel_head;
	st->kernel_hash.a = STEP_KEY(STACKHASH_START_A);
	st->kernel_hash.b = STEP_KEY(STACKHASH_START_B);
	stackhash_add(&st->kernel_hash, rec->kernel_code, STEP_KEY(STACKHASH_FACTOR_A),
		      STEP_KEY(STACKHASH_FACTOR_B));
	for (i = 0; i <= KERNEL_FRAMES_MAX / HASH_TURN; i++)
		if (!sample_hash_some(i * HASH_TURN))
			break;
	rec->hash = stackhash_end(&st->kernel_hash, STACKHASH_KERNEL);
	send_stack(s, rec, KERNEL_FRAMES_MAX);
	return 0;
}

/* Counts the walk, and completes its record. */
__attribute__((noinline)) int sample_hash_user(int reason)
{
	__u32 zero = 0;
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);
	struct cpu_state *st = this_state();
	struct stack_record *rec;

	if (!s || !st)
		return 0;
	if (!st->waits) {
		s->walks++;
		s->frames += st->walk.nframes;
		s->again += st->walk.again;
		if (walk_is_complete(reason))
			s->complete++;
		if (reason == WALK_BOTTOM_FP)
			s->complete_fp++;
	}
	rec = (struct stack_record *)st->walk.head;
	walk_mix(&st->walk, reason);
	if (st->walk.own) {
		walk_mix(&st->walk, rec->tgid);
		walk_mix(&st->walk, st->exec_id);
	}
	rec->hash = stackhash_end(&st->walk.hash, STACKHASH_USER);
	rec->nframes = st->walk.nframes;
	rec->start_stack = st->walk.start_stack;
	rec->exec_id = st->exec_id;
	rec->kernel = 0;
	rec->reason = reason;
	return 0;
}

__attribute__((noinline)) int sample_send_user(void)
{
	__u32 zero = 0;
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);
	struct cpu_state *st = this_state();

	if (s && st)
		send_stack(s, (struct stack_record *)st->walk.head, WALK_FRAMES_MAX);
	return 0;
}

/*
 * Takes the registers of user mode at the entry into the kernel, of the current task unless another
 * is given. 0, or an error.
 */
static __always_inline int entry_registers(struct cpu_state *st, struct task_struct *task)
{
	const void *from;

	if (config.has_task_regs) {
		if (!task)
			task = bpf_get_current_task_btf();
		from = (const void *)bpf_task_pt_regs(task);
	} else {
		void *stack = NULL;

		if (!task)
			task = (void *)bpf_get_current_task();
		bpf_core_read(&stack, sizeof(stack), &task->stack);
		from = stack + config.thread_size - entry_regs_size();
	}
	return bpf_probe_read_kernel(&st->regs, sizeof(st->regs), from);
}

/* mm->start_stack of the current task: 0 for a kernel thread. */
static __always_inline __u64 current_start_stack(void)
{
	unsigned long start_stack = 0;
	struct mm_struct *mm = NULL;

	if (config.has_task_regs) {
		struct task_struct *task = bpf_get_current_task_btf();

		mm = task->mm;
		return mm ? mm->start_stack : 0;
	}
	struct task_struct *task = (void *)bpf_get_current_task();

	bpf_core_read(&mm, sizeof(mm), &task->mm);
	if (mm)
		bpf_core_read(&start_stack, sizeof(start_stack), &mm->start_stack);
	return start_stack;
}

/* See struct count_key. */
static __always_inline __u64 current_exec_id(void)
{
	__u64 execs = 0, start = 0;

	if (config.has_task_regs) {
		struct task_struct *task = bpf_get_current_task_btf();

		execs = task->self_exec_id;
		start = task->group_leader->start_time;
	} else {
		struct task_struct *task = (void *)bpf_get_current_task(), *leader = NULL;

		bpf_core_read(&execs, sizeof(execs), &task->self_exec_id);
		bpf_core_read(&leader, sizeof(leader), &task->group_leader);
		bpf_core_read(&start, sizeof(start), &leader->start_time);
	}
	return start + execs ? start + execs : 1;
}

#define FORK_IS_NEW_NS 5000000000ull /* the tracker reads of forks several times a second */

/*
 * A process that was forked a moment ago, and has the start_stack of its parent, has the same
 * mappings: takes the list of the parent while the tracker has not published the child. 0: none.
 */
__attribute__((noinline)) int sample_take_parents_list(__u64 start_stack)
{
	struct task_struct *task = (void *)bpf_get_current_task(), *leader, *parent;
	struct cpu_state *st = this_state();
	struct proc_entry *proc;
	__u64 start;
	__u32 tgid;

	if (!st || bpf_core_read(&leader, sizeof(leader), &task->group_leader) ||
	    bpf_core_read(&start, sizeof(start), &leader->start_time) ||
	    bpf_ktime_get_ns() - start > FORK_IS_NEW_NS ||
	    bpf_core_read(&parent, sizeof(parent), &task->real_parent) ||
	    bpf_core_read(&tgid, sizeof(tgid), &parent->tgid))
		return 0;
	if (config.pidns_inode)
		tgid = sample_namespace_ids((__u64)parent) >> 32;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	if (!proc || proc->start_stack != start_stack)
		return 0;
	st->walk.list_at = proc->list_at;
	st->walk.list_count = proc->list_count;
	st->walk.code_count = proc->code_count;
	return 1;
}

/*
 * Gives the walk the list of the current process's mappings: WALK_CONTINUE, or why there is none.
 * The first sample after the tracker has made an entry writes the exec id to it.
 */
static __always_inline int take_list(struct cpu_state *st, __u64 start_stack)
{
	struct proc_entry *proc;
	__u32 tgid, version;

	tgid = ((struct stack_record *)st->walk.head)->tgid;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	if (config.checks_lists)
		st->stamp = stamp_of(st->exec_id);
	if (!proc)
		return sample_take_parents_list(start_stack) ? WALK_CONTINUE : WALK_UNKNOWN_PROCESS;
	if (proc->start_stack && proc->start_stack != start_stack)
		return WALK_OTHER_EXEC;
	if (!proc->exec_id) {
		proc->exec_at = bpf_ktime_get_ns();
		proc->exec_id = st->exec_id;
	}
	if (proc->exec_id != st->exec_id)
		return WALK_OTHER_EXEC;
	/* The kernel may give the entry's memory to another one meanwhile. */
	version = *(const volatile __u32 *)&proc->version;
	st->walk.list_at = proc->list_at;
	st->walk.list_count = proc->list_count;
	st->walk.code_count = proc->code_count;
	st->runtimes = proc->runtimes;
	st->walk.keeps_fp = (proc->runtimes & RUNTIMES_KEEP_FP) != 0;
	asm volatile("" ::: "memory");
	if (version && version == *(const volatile __u32 *)&proc->version)
		walk_begin_trail(version);
	return WALK_CONTINUE;
}

/*
 * WALK_CONTINUE: walk by the list of the process, or by the files that it has mapped. WALK_BOTTOM:
 * no user code has run yet. Else why there is no walk.
 */
__attribute__((noinline)) int sample_begin_lists(__u64 start_stack)
{
	struct cpu_state *st = this_state();
	int reason;

	if (!st)
		return WALK_UNKNOWN_PROCESS;
	st->walk.list_count = st->walk.code_count = 0;
	st->trail = TRAIL_NONE;
	st->version = 0;
	st->runtimes = RUNTIME_NONE;
	reason = take_list(st, start_stack);
	st->no_list = reason;
	/* The kernel has put the registers of the new program there. */
	if (reason != WALK_CONTINUE && st->walk.sp == start_stack)
		return WALK_BOTTOM;
	/* Within execve they may be those of the program before. */
	if (!config.checks_lists || (!st->user_mode && regs_in_execve(&st->regs)))
		return reason;
	return WALK_CONTINUE;
}

/* The end of a walk. Without a list of the process it goes on by frame pointers first. */
__attribute__((noinline)) int sample_end_lists(int reason)
{
	struct cpu_state *st = this_state();

	if (!st || st->no_list == WALK_CONTINUE ||
	    (reason != (int)st->no_list && reason != WALK_NO_MAPPING))
		return reason;
	if (st->walk.nframes)
		st->walk.nframes--;
	return walk_rest_by_fp_only(st->no_list);
}

/*
 * True within execve when the old program has gone: the registers are still those of the system
 * call, but their stack is not mapped any more.
 */
static __always_inline int stack_has_gone(const struct cpu_state *st)
{
	__u64 top;

	return regs_in_execve(&st->regs) &&
	       bpf_probe_read_user(&top, sizeof(top), (const void *)regs_sp(&st->regs));
}

/*
 * Gives the walk the registers of the sample. A thread that has met a probe has a utask; most have
 * none.
 */
__attribute__((noinline)) int sample_load_registers(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct cpu_state *st = this_state();
	struct uprobe_task *utask = NULL;
	struct xol_area *xol = NULL;
	struct mm_struct *mm = NULL;

	if (!st)
		return 0;
	regs_load(st->walk.regs, &st->regs);
	st->exact = st->user_mode || regs_pc_executed(&st->regs);
	st->returns.trampoline = 0;
	if (!bpf_core_field_exists(task->utask) ||
	    bpf_core_read(&utask, sizeof(utask), &task->utask) || !utask)
		return 0;
	bpf_core_read(&mm, sizeof(mm), &task->mm);
	bpf_core_read(&xol, sizeof(xol), &mm->uprobes_state.xol_area);
	if (returns_begin(&st->returns, st->walk.regs, utask, xol))
		st->exact = 0;
	return 0;
}

/*
 * Walks the user stack of the current task, starting from the state's registers if the sample hit
 * user mode. Returns false if there is no user stack; the state has the reason. born: NULL, or a
 * thread that the current task has just created: the walk starts from that thread's registers and
 * reads the current task's memory, which is the same or was copied.
 */
static __always_inline int walk_user(struct cpu_state *st, __u64 start_stack,
				     struct task_struct *born)
{
	struct walk *w = &st->walk;
	int reason;

	if ((!st->user_mode || REGS_ALWAYS_OF_ENTRY) && entry_registers(st, born)) {
		walk_begin(w, 1);
		w->start_stack = start_stack;
		st->runtimes = RUNTIME_NONE;
		st->reason = WALK_NO_REGISTERS;
		return 1;
	}
	sample_load_registers();
	walk_begin(w, st->exact);
	if (!st->user_mode)
		walk_call_enter_signal();
	w->window_top = 0;
	w->start_stack = start_stack;
	if (w->sp < start_stack && start_stack - w->sp < 64ull << 20)
		w->window_top = start_stack & ~7ull; /* the main thread: its stack ends behind it */
	reason = sample_begin_lists(start_stack);
	if (regs_32_bit(&st->regs))
		reason = WALK_32_BIT;
	else if (reason == WALK_CONTINUE)
		reason = walk_all(!st->user_mode && regs_in_sigreturn(&st->regs));
	if (st->trail != TRAIL_NONE)
		walk_finish_trail();
	reason = sample_end_lists(reason);
	if (!st->user_mode && w->nframes <= 1 && !walk_is_complete(reason) && stack_has_gone(st))
		return 0;
	if (!w->nframes) {
		w->frames[0] = walk_frame(w, 0) | FRAME_EXACT;
		w->nframes = 1;
		walk_mix(w, w->frames[0]);
	}
	st->reason = reason;
	return 1;
}

/*
 * Sends the input of the walk that has just ended. The registers are loaded again, since the walk
 * has changed its own; the stack is copied page by page, as far as it can be read.
 */
__attribute__((noinline)) int sample_capture(void)
{
	__u32 zero = 0, i;
	struct profiler_control *ctl = bpf_map_lookup_elem(&control, &zero);
	struct cpu_state *st = this_state();
	const struct stack_record *walked;
	struct capture_record *rec;

	if (!ctl || !st)
		return 0;
	walked = (const struct stack_record *)st->walk.head;
	if (ctl->capture_reason && ctl->capture_reason != walked->reason)
		return 0;
	rec = bpf_ringbuf_reserve(&stacks, sizeof(*rec), 0);
	if (!rec)
		return 0; /* the next one will do */
	ctl->capture = 0;
	sample_load_registers();
	rec->hash = walked->hash;
	rec->tgid = walked->tgid;
	rec->nframes = walked->nframes;
	rec->kernel = STACK_CAPTURED;
	rec->reason = walked->reason;
	rec->start_stack = walked->start_stack;
	rec->exec_id = walked->exec_id;
	rec->time = bpf_ktime_get_ns();
	rec->tid = current_ids();
	rec->cpu = bpf_get_smp_processor_id();
	rec->user_mode = st->user_mode;
	rec->exact = st->exact;
	rec->in_sigreturn = !st->user_mode && regs_in_sigreturn(&st->regs);
	rec->keeps_fp = st->walk.keeps_fp;
	rec->pages = 0;
	st->walk.window_top = 0;
	rec->stack_at = st->walk.regs[ARCH_SP] & ~(__u64)(CAPTURE_PAGE - 1);
	bpf_probe_read_kernel(rec->regs, sizeof(rec->regs), st->walk.regs);
	bpf_probe_read_kernel(rec->frames, sizeof(rec->frames), st->walk.frames);
#pragma unroll
	for (i = 0; i < CAPTURE_PAGES; i++) {
		st->walk.window_next = CAPTURE_PAGE;
		if (walk_call_refill(rec->stack_at + i * CAPTURE_PAGE) ||
		    st->walk.window_size < CAPTURE_PAGE)
			break;
		bpf_probe_read_kernel(rec->stack + i * CAPTURE_PAGE, CAPTURE_PAGE, st->walk.window);
		rec->pages = i + 1;
	}
	bpf_ringbuf_submit(rec, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* Not inline, so that its variables take no stack during the walk. */
static __attribute__((noinline)) void
sample_count(struct profiler_stats *s, const struct count_key *key, __u64 start_stack, __u64 weight)
{
	struct count_value fresh = {}, *value;
	__u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&counts, &zero);
	long err;

	if (!inner) {
		s->counts_busy++;
		return;
	}
	value = bpf_map_lookup_elem(inner, key);
	if (!value) {
		fresh.count = 1;
		fresh.weight = weight;
		fresh.start_stack = start_stack;
		bpf_get_current_comm(fresh.comm, sizeof(fresh.comm));
		err = bpf_map_update_elem(inner, key, &fresh, BPF_NOEXIST);
		if (!err)
			return;
		value = bpf_map_lookup_elem(inner, key); /* another CPU was faster */
		if (!value) {
			if (err == -16) /* EBUSY: the bucket's lock is held below this event */
				s->counts_busy++;
			else
				s->counts_full++;
			return;
		}
	}
	__sync_fetch_and_add(&value->count, 1);
	__sync_fetch_and_add(&value->weight, weight);
}

/* Writes the stacks of a thread that leaves its CPU to its entry, and what they cost. */
static __always_inline void wait_keep(struct cpu_state *st)
{
	struct thread_entry *t = thread_entry(st->waits);
	struct wait_budget *b = wait_budget();
	struct wait_stats *ws = wait_stats();
	__u64 ns = bpf_ktime_get_ns() - st->began;

	if (t) {
		t->user = st->key.user;
		t->kernel = st->key.kernel;
		t->cost = ns;
	}
	if (b)
		b->spent += ns;
	if (ws) {
		ws->walks++;
		ws->run_ns += ns;
	}
}

/* The sample has all its frames: sends its user stack, and counts it. */
static __always_inline void sample_finish(struct cpu_state *st, int unsent)
{
	__u32 zero = 0;
	struct profiler_control *ctl = bpf_map_lookup_elem(&control, &zero);
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);

	if (!ctl || !s)
		return;
	if (unsent)
		s->ring_full++;
	else
		sample_send_user();
	st->key.user = st->walk.head[0];
	if (st->waits) {
		wait_keep(st);
		return;
	}
	if (config.capture && ctl->capture == st->key.tgid)
		sample_capture();
	sample_count(s, &st->key, st->walk.start_stack, st->weight);
}

/* Hashes and sends the kernel stack of so many bytes in the state; returns its hash. */
static __always_inline __u64 keep_kernel_stack(struct cpu_state *st,
					       const struct profiler_control *ctl, __u32 tgid,
					       long bytes)
{
	struct stack_record *rec = (struct stack_record *)st->kernel_head;
	__u32 zero = 0;

	rec->tgid = tgid;
	rec->nframes = bytes >> 3;
	rec->kernel_code = (__u64)modules_changes(&zero) << 32 | ctl->kernel_code;
	rec->exec_id = 0;
	rec->kernel = 1;
	rec->reason = 0;
	sample_finish_kernel_stack();
	return rec->hash;
}

/*
 * Takes the kernel stack of the current task, without the innermost `skip` frames; its hash is in
 * the state's key.
 */
static __always_inline void take_kernel_stack(void *ctx, struct cpu_state *st,
					      struct profiler_stats *s,
					      const struct profiler_control *ctl, __u64 skip)
{
	long bytes = bpf_get_stack(ctx, st->kernel_frames, KERNEL_FRAMES_MAX * 8,
				   skip & BPF_F_SKIP_FIELD_MASK);

	if (bytes <= 0) {
		s->kernel_lost += !st->waits;
		return;
	}
	st->key.kernel = keep_kernel_stack(st, ctl, st->key.tgid, bytes);
}

#endif
