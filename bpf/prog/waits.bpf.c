// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time of threads: on a CPU, waiting for one, or waiting for something else, and for what. The
 * tracepoint of a switch stamps the thread that leaves the CPU and the one that comes; the perf
 * event of the same switch, which follows while the old thread is still current, takes its stacks.
 * So a stack is known as soon as the wait begins, also of a wait that never ends, and it is walked
 * by the same program as that of a sample.
 */
#include "bpf/prog/sample.bpf.h"
#include "bpf/prog/wait_budget.bpf.h"
#include "bpf/prog/wait_cause.bpf.h"

#define PF_KTHREAD 0x00200000u

#define TIMED_RUNS 64u /* one of so many is timed */
#define NEW_NS	   1000000000ull

/* A new entry is made of this: it does not fit on a program's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_entry);
} thread_drafts SEC(".maps");

/* --- entries --------------------------------------------------------------------------------- */

static __always_inline void entry_open(struct thread_entry *t)
{
	t->seq++;
	t->seq_end = t->seq;
	barrier();
}

static __always_inline void entry_close(struct thread_entry *t)
{
	barrier();
	t->seq++;
	t->seq_end = t->seq;
}

static __always_inline __u64 exec_id_of(struct task_struct *task)
{
	__u64 id = task->group_leader->start_time + task->self_exec_id;

	return id ? id : 1;
}

/* Sets whose time it is from now on. false: it has no number in our PID namespace. */
static __always_inline int entry_name(struct thread_entry *t, struct task_struct *task)
{
	struct mm_struct *mm = task->mm;
	__u64 ids, bits = (__u64)task;

	t->tgid = task->tgid;
	t->tid = task->pid;
	if (config.pidns_inode) {
		/* Read from the stack it is a number for the verifier, which refuses pointers
		 * there. */
		bpf_probe_read_kernel(&ids, sizeof(ids), &bits);
		ids = sample_namespace_ids(ids);
		t->tgid = ids >> 32;
		t->tid = (__u32)ids;
	}
	t->exec_id = exec_id_of(task);
	t->start_stack = mm ? mm->start_stack : 0;
	bpf_probe_read_kernel(t->comm, sizeof(t->comm), &task->comm);
	return t->tgid != 0;
}

static __always_inline int task_is_chosen(struct task_struct *task, __u32 tgid)
{
	const struct target *t = bpf_map_lookup_elem(&targets, &tgid);

	return t && t->chosen &&
	       (!t->start ||
		t->start == (task->group_leader->start_boottime + config.boottime_offset) /
				    CLOCK_TICK_NS);
}

/* Begins to look at a thread that is in that state since now. */
static __always_inline struct thread_entry *entry_new(struct task_struct *task, __u32 state,
						      __u64 now, int filtering)
{
	__u32 zero = 0;
	struct thread_entry *t = bpf_map_lookup_elem(&thread_drafts, &zero);
	void *inner = bpf_map_lookup_elem(&threads, &zero);
	struct wait_stats *ws;
	__u64 key = (__u64)task;

	if (!t || !inner)
		return NULL;
	__builtin_memset(t, 0, sizeof(*t));
	if (!entry_name(t, task) || (filtering && !task_is_chosen(task, t->tgid)))
		return NULL;
	t->start = task->start_time;
	t->state = state;
	t->since = now;
	for (int i = 0; i < THREAD_STATES; i++)
		t->mean[i] = MEAN_FIRST;
	if (bpf_map_update_elem(inner, &key, t, BPF_ANY)) {
		ws = wait_stats();
		if (ws)
			ws->full++;
		return NULL;
	}
	return bpf_map_lookup_elem(inner, &key);
}

/* The last words of a thread, or of what it was before an exec. */
static __attribute__((noinline)) int thread_send(__u64 key)
{
	struct thread_entry *t = thread_entry(key);
	struct thread_record *rec;
	struct stack_record *head;
	struct wait_stats *ws = wait_stats();

	if (!t || !ws)
		return 0;
	rec = bpf_ringbuf_reserve(&stacks, sizeof(*rec), 0);
	if (!rec) {
		ws->lost++;
		return 0;
	}
	head = (struct stack_record *)rec->head;
	head->hash = 0;
	head->start_stack = t->start_stack;
	head->exec_id = t->exec_id;
	head->tgid = t->tgid;
	head->nframes = 0;
	head->kernel = STACK_THREAD;
	head->reason = 0;
	bpf_probe_read_kernel(&rec->thread, sizeof(rec->thread), t);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* --- the switch ------------------------------------------------------------------------------ */

/* Counts a wait of the thread that has ended; it stands for so many. */
static __attribute__((noinline)) int wait_count(struct thread_entry *t, struct wait_stats *ws,
						__u64 ns, __u32 state, __u32 scale)
{
	struct count_value fresh = {}, *value;
	struct count_key key = {};
	__u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&counts, &zero);
	__u64 weight = ns;

	if (!inner) {
		ws->lost++;
		return 0;
	}
	ws->waits++;
	/* Without the look at it, a short wait would have been shorter: those it stands for were.
	 */
	if (scale > 1)
		weight = ns > t->cost ? (ns - t->cost) * scale : scale;
	key.tgid = t->tgid;
	key.tid = t->tid;
	key.cpu = COUNT_WAIT | state;
	key.exec_id = t->exec_id;
	key.user = t->user;
	key.kernel = t->kernel;
	value = bpf_map_lookup_elem(inner, &key);
	if (!value) {
		fresh.count = scale;
		fresh.weight = weight;
		fresh.start_stack = t->start_stack;
		__builtin_memcpy(fresh.comm, t->comm, sizeof(fresh.comm));
		if (!bpf_map_update_elem(inner, &key, &fresh, BPF_NOEXIST))
			return 0;
		value = bpf_map_lookup_elem(inner, &key);
		if (!value) {
			ws->lost++;
			return 0;
		}
	}
	__sync_fetch_and_add(&value->count, scale);
	__sync_fetch_and_add(&value->weight, weight);
	return 0;
}

/* Whether a wait is counted, and for how many it stands; 0: not at all. */
static __always_inline __u32 wait_stands_for(const struct thread_entry *t, struct wait_stats *ws,
					     const struct profiler_control *ctl, __u64 ns)
{
	if (ns < ctl->least_wait) {
		ws->small++;
		ws->small_ns += ns;
		return 0;
	}
	if (ns < t->limit)
		return t->scale;
	if (!t->scale) {
		ws->untaken++;
		ws->untaken_ns += ns;
	}
	return 1;
}

/* Begins a wait in the state of the thread. Are its stacks to be taken? */
static __always_inline int wait_begin(struct thread_entry *t, struct wait_stats *ws,
				      struct wait_budget *b, __u64 now)
{
	__u64 scale = budget_ask(b, ws, *mean_of(t, t->state), now),
	      draw = scale * bpf_get_prandom_u32() >> 32;

	t->user = t->kernel = t->cost = 0;
	t->nwakers = 0;
	t->limit = b->limit;
	t->scale = draw ? 0 : scale;
	t->thinned += scale > 1;
	ws->thinned += draw != 0;
	return !draw;
}

/* The thread leaves the CPU. */
static __always_inline void thread_out(struct task_struct *task, int preempted, __u64 now,
				       const struct profiler_control *ctl, struct wait_stats *ws,
				       struct wait_budget *b)
{
	struct thread_entry *t = thread_entry((__u64)task);
	__u32 state = task_state(task), scale, zero = 0;
	__u64 key = (__u64)task, object = 0;
	void *inner;

	if (t && t->start != task->start_time)
		t = NULL; /* its end was not seen */
	if (t && ctl->filtering && now - t->since > NEW_NS && !task_is_chosen(task, t->tgid)) {
		inner = bpf_map_lookup_elem(&threads, &zero);
		if (inner)
			bpf_map_delete_elem(inner, &key);
		return;
	}
	if (!t)
		t = entry_new(task, THREAD_ON, now, ctl->filtering);
	if (!t)
		return;
	ws->switches++;
	entry_open(t);
	if (t->state != THREAD_ON) { /* it came at some time: all of it is its wait */
		ws->missed++;
		scale = wait_stands_for(t, ws, ctl, now - t->since);
		if (scale)
			wait_count(t, ws, now - t->since, t->state, scale);
	}
	t->spent[t->state & 15] += now - t->since;
	t->since = now;
	if (state & TASK_DEAD && !preempted) {
		entry_close(t);
		thread_send(key);
		inner = bpf_map_lookup_elem(&threads, &zero);
		if (inner)
			bpf_map_delete_elem(inner, &key);
		return;
	}
	if (t->exec_id != exec_id_of(task)) {
		thread_send(key);
		__builtin_memset(t->spent, 0, sizeof(t->spent));
		t->sampled = 0;
		entry_name(t, task);
	}
	if (preempted || state == TASK_RUNNING || state == TASK_WAKING) {
		t->state = THREAD_RUNNABLE;
		t->object = 0;
	} else {
		t->state = wait_cause(task, state, &object);
		t->object = object;
	}
	if (wait_begin(t, ws, b, now))
		b->wanted = key;
	entry_close(t);
}

/* Sends a long wait that has ended, and by whom. */
static __attribute__((noinline)) int wait_send(__u64 of, __u64 ns)
{
	struct thread_entry *t = thread_entry(of);
	struct wait_stats *ws = wait_stats();
	struct wait_record *rec;

	if (!t || !ws)
		return 0;
	rec = bpf_ringbuf_reserve(&stacks, sizeof(*rec), 0);
	if (!rec) {
		ws->lost++;
		return 0;
	}
	rec->hash = 0;
	rec->start_stack = t->start_stack;
	rec->exec_id = t->exec_id;
	rec->tgid = t->tgid;
	rec->nframes = 0;
	rec->kernel = STACK_WAIT;
	rec->state = t->state;
	rec->tid = t->tid;
	rec->nwakers = t->nwakers;
	rec->user = t->user;
	rec->kernel_stack = t->kernel;
	rec->object = t->object;
	rec->since = t->since;
	rec->ns = ns;
	bpf_probe_read_kernel(rec->wakers, sizeof(rec->wakers), t->wakers);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The thread comes to the CPU. */
static __always_inline void thread_in(struct task_struct *task, __u64 now,
				      const struct profiler_control *ctl, struct wait_stats *ws)
{
	struct thread_entry *t = thread_entry((__u64)task);
	__u64 waited, ready, first;
	__u32 state, scale;
	int blocked;

	if (!t || t->start != task->start_time)
		return;
	if (t->state == THREAD_ON) {
		ws->missed++; /* it left at some time: it counts as on the CPU until now */
		return;
	}
	state = t->state;
	blocked = state != THREAD_RUNNABLE;
	waited = now - t->since;
	ready = blocked ? 0 : waited;
	if (blocked && t->woken > t->since && t->woken < now) {
		ready = now - t->woken;
		waited -= ready;
	} else if (!blocked) {
		waited = 0;
	}
	entry_open(t);
	t->spent[THREAD_RUNNABLE] += ready;
	if (blocked)
		t->spent[state & 15] += waited;
	first = blocked ? waited : ready;
	mean_add(mean_of(t, state), first > t->cost ? first - t->cost : 0);
	scale = waited ? wait_stands_for(t, ws, ctl, waited) : 0;
	if (scale)
		wait_count(t, ws, waited, state, scale);
	scale = ready ? wait_stands_for(t, ws, ctl, ready) : 0;
	if (scale)
		wait_count(t, ws, ready, THREAD_RUNNABLE, scale);
	if (waited >= ctl->least_wake && t->scale && state != THREAD_SLEEP)
		wait_send((__u64)task, waited);
	t->state = THREAD_ON;
	t->since = now;
	entry_close(t);
}

/* Not the kernel's own threads, which wait most of the time. */
static __always_inline int is_followed(struct task_struct *task)
{
	return task->pid && !(task->flags & PF_KTHREAD) && task->tgid != (int)config.unfollowed;
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	__u32 zero = 0;
	const struct profiler_control *ctl = bpf_map_lookup_elem(&control, &zero);
	struct wait_budget *b = wait_budget();
	struct wait_stats *ws = wait_stats();

	if (!ctl || !b || !ws)
		return 0;
	b->wanted = 0;
	if (is_followed(prev))
		thread_out(prev, (int)ctx[0], now, ctl, ws, b);
	if (is_followed(next))
		thread_in(next, now, ctl, ws);
	if (++b->runs % TIMED_RUNS == 0)
		ws->run_ns += (bpf_ktime_get_ns() - now) * TIMED_RUNS;
	return 0;
}

/* The perf event of a switch: the thread that leaves the CPU is current. */
SEC("perf_event")
int on_switch_out(struct bpf_perf_event_data *ctx)
{
	struct wait_budget *b = wait_budget();
	__u64 key, start_stack;
	__u32 zero = 0;
	struct profiler_control *ctl;
	struct profiler_stats *s;
	struct cpu_state *st;
	const struct thread_entry *t;

	if (!b || !b->wanted)
		return 0;
	key = bpf_get_current_task();
	if (b->wanted != key)
		return 0;
	b->wanted = 0;
	ctl = bpf_map_lookup_elem(&control, &zero);
	s = bpf_map_lookup_elem(&stats, &zero);
	st = this_state();
	t = thread_entry(key);
	if (!t || !ctl || !s || !st || st->busy)
		return 0;
	st->began = bpf_ktime_get_ns();
	st->waits = key;
	st->user_mode = 0;
	st->exec_id = t->exec_id;
	st->key = (struct count_key){.tgid = t->tgid, .tid = t->tid, .exec_id = t->exec_id};
	if (!config.no_kernel)
		take_kernel_stack(ctx, st, s, ctl, 0);
	start_stack = current_start_stack();
	if (start_stack && !config.no_user) {
		((struct stack_record *)st->walk.head)->tgid = st->key.tgid;
		if (walk_user(st, start_stack, NULL)) {
			if (config.runtimes && st->runtimes) { /* finish it */
				st->kept = 0;
				bpf_tail_call(ctx, &runtime_programs, RUNTIME_KIND(st->runtimes));
			}
			sample_hash_user(st->reason);
			sample_finish(st, 0);
			return 0;
		}
	}
	wait_keep(st);
	return 0;
}

/* --- who wakes whom -------------------------------------------------------------------------- */

/*
 * Takes the stacks of the current task, which wakes another one; the hashes are in the state. born:
 * see walk_user; then there is no kernel stack.
 */
static __always_inline void take_waker(void *ctx, struct cpu_state *st, struct profiler_stats *s,
				       const struct profiler_control *ctl, __u64 ids,
				       struct task_struct *born)
{
	__u64 start_stack;

	st->began = bpf_ktime_get_ns();
	st->waits = 1;
	st->user_mode = 0;
	st->exec_id = current_exec_id();
	st->key = (struct count_key){.tgid = ids >> 32, .tid = (__u32)ids, .exec_id = st->exec_id};
	if (!config.no_kernel && !born)
		take_kernel_stack(ctx, st, s, ctl, 0);
	start_stack = current_start_stack();
	if (!start_stack || config.no_user)
		return;
	((struct stack_record *)st->walk.head)->tgid = ids >> 32;
	if (walk_user(st, start_stack, born)) {
		sample_hash_user(st->reason);
		sample_send_user();
		st->key.user = st->walk.head[0];
	}
}

SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u64 key = (__u64)task, now, ids;
	__u32 zero = 0;
	struct thread_entry *t = thread_entry(key), *by;
	struct profiler_control *ctl;
	struct profiler_stats *s;
	struct wait_budget *b;
	struct wait_stats *ws;
	struct cpu_state *st;
	struct waker *w;

	if (!t || t->state == THREAD_ON || t->state == THREAD_RUNNABLE)
		return 0;
	now = bpf_ktime_get_ns();
	t->woken = now;
	if (!t->scale || t->state == THREAD_SLEEP) /* a timer ends a sleep */
		return 0;
	ctl = bpf_map_lookup_elem(&control, &zero);
	if (!ctl || now - t->since < ctl->least_wake)
		return 0;
	s = bpf_map_lookup_elem(&stats, &zero);
	b = wait_budget();
	ws = wait_stats();
	st = this_state();
	if (!s || !b || !ws || !st || st->busy)
		return 0;
	st->busy = 1;
	w = &t->wakers[0];
	ids = bpf_get_current_pid_tgid() >> 32 ? current_ids() : 0;
	take_waker(ctx, st, s, ctl, ids, NULL);
	by = thread_entry(bpf_get_current_task());
	if (by && by->nwakers && by->nwakers <= WAKERS_MAX) {
		bpf_probe_read_kernel(&t->wakers[1], (WAKERS_MAX - 1) * sizeof(*w), by->wakers);
		t->nwakers = by->nwakers < WAKERS_MAX ? by->nwakers + 1 : WAKERS_MAX;
	} else {
		t->nwakers = 1;
	}
	w->tgid = ids >> 32;
	w->tid = ids;
	w->exec_id = st->exec_id;
	w->start_stack = current_start_stack();
	w->user = st->key.user;
	w->kernel = st->key.kernel;
	bpf_get_current_comm(w->comm, sizeof(w->comm));
	st->busy = 0;
	ws->wakers++;
	ws->walks++;
	now = bpf_ktime_get_ns() - now;
	ws->run_ns += now;
	b->spent += now;
	return 0;
}

/* The kernel stack of a task that does not run; 0: none. */
static __always_inline __u64 sleeping_stack(struct task_struct *task, __u32 tgid,
					    const struct profiler_control *ctl)
{
	struct cpu_state *st = this_state();
	__u64 hash = 0;
	long bytes;

	if (!st || st->busy || config.no_kernel)
		return 0;
	st->busy = 1;
	bytes = bpf_get_task_stack(task, st->kernel_frames, KERNEL_FRAMES_MAX * 8, 0);
	if (bytes > 0)
		hash = keep_kernel_stack(st, ctl, tgid, bytes);
	st->busy = 0;
	return hash;
}

/*
 * The stacks of a thread that has never run yet: its maker's, or its own first frame. The maker is
 * the current task, and by its mappings the frames have their names.
 */
static __always_inline void take_first(void *ctx, struct task_struct *task, struct thread_entry *t,
				       struct wait_stats *ws, struct wait_budget *b, __u64 now)
{
	struct cpu_state *st = this_state();
	__u32 zero = 0;
	struct profiler_control *ctl = bpf_map_lookup_elem(&control, &zero);
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);

	if (!st || !ctl || !s || st->busy)
		return;
	t->kernel = sleeping_stack(task, t->tgid, ctl);
	st->busy = 1;
	take_waker(ctx, st, s, ctl, current_ids(), task);
	st->busy = 0;
	t->user = st->key.user;
	now = bpf_ktime_get_ns() - now;
	t->cost = now;
	ws->walks++;
	ws->run_ns += now;
	b->spent += now;
}

/* A thread that has never run yet. */
SEC("tp_btf/sched_wakeup_new")
int on_wakeup_new(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 zero = 0;
	const struct profiler_control *ctl = bpf_map_lookup_elem(&control, &zero);
	struct wait_budget *b = wait_budget();
	struct wait_stats *ws = wait_stats();
	__u64 now = bpf_ktime_get_ns();
	struct thread_entry *t;
	int filtering;

	if (!ctl || !b || !ws || !is_followed(task))
		return 0;
	/* User space hears of a new process later: until then it is what its parent is. */
	filtering = ctl->filtering && !thread_entry(bpf_get_current_task());
	t = entry_new(task, THREAD_RUNNABLE, now, filtering);
	if (t && wait_begin(t, ws, b, now))
		take_first(ctx, task, t, ws, b, now);
	return 0;
}

/* --- waits from before ----------------------------------------------------------------------- */

struct bpf_iter__task {
	void *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

/* Run once for each task: threads that wait already, perhaps forever, are known from now on. */
SEC("iter/task")
int on_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 zero = 0, state;
	const struct profiler_control *ctl = bpf_map_lookup_elem(&control, &zero);
	struct thread_entry *t;
	__u64 object = 0, kernel;

	if (!task || !ctl || !is_followed(task) || thread_entry((__u64)task))
		return 0;
	state = task_state(task);
	if (state == TASK_RUNNING || state == TASK_WAKING || state & TASK_DEAD)
		return 0;
	state = wait_cause(task, state, &object);
	t = entry_new(task, state, bpf_ktime_get_ns(), ctl->filtering);
	if (!t)
		return 0;
	kernel = sleeping_stack(task, t->tgid, ctl);
	entry_open(t);
	t->object = object;
	t->scale = 1;
	t->user = STACK_EARLY;
	t->kernel = kernel;
	entry_close(t);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
