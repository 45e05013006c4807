// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampler. On each tick of a perf event it takes the kernel stack and walks the user stack by
 * the unwind tables in the shards, hashes both, and counts the pair in the stack-count map. A
 * stack that was never seen goes to user space once, through the ring buffer.
 *
 * The walk keeps its state in a per-CPU map and each step is a global function, so that the
 * verifier checks it once instead of once for each turn of the loop.
 */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/layout.h"

struct walk;

#define STEP_BARRIER(x)		      asm volatile("" : "+r"(x))
#define WALK_REFILL(w, addr)	      refill(addr)
#define WALK_SEARCH_MAP(w, addr)      search_map(addr)
#define WALK_FRAME_POINTER(w, reason) frame_pointer(reason)
#define WALK_WIDE(w, index)	      wide(index)

static __always_inline long step_read_user(struct walk *w, void *to, __u64 size, __u64 from)
{
	return bpf_probe_read_user(to, size, (const void *)from);
}

static const __u32 *step_shard(__u32 shard);
static const struct map_entry *step_map_entries(void);
static const struct wide_rule *step_wide_rule(__u32 index);
int refill(__u64 addr);
int search_map(__u64 addr);
int frame_pointer(int reason);
int wide(__u32 index);

#include "unwind/step.h"

/* The few kernel fields that are used; libbpf finds them through the kernel's BTF. */
struct mm_struct {
	unsigned long start_stack;
} __attribute__((preserve_access_index));

struct task_struct {
	struct mm_struct *mm;
	void *stack;
} __attribute__((preserve_access_index));

const volatile struct profiler_config config = {};

struct cpu_state {
	struct walk walk;
	struct pt_regs regs;
	/* A record as it goes through the ring: the header stands right before its frames. */
	__u64 kernel_head[2];
	__u64 kernel_frames[KERNEL_FRAMES_MAX + 1];
};

_Static_assert(sizeof(struct stack_record) == 16, "the room before the frames");

_Static_assert(offsetof(struct walk, frames) - offsetof(struct walk, head) ==
		       sizeof(struct stack_record),
	       "the user stack's record is walk.head and walk.frames");

_Static_assert(sizeof(struct cpu_state) <= 32768, "a per-CPU map value is at most 32 KiB");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct profiler_stats);
} stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct profiler_control);
} control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TARGETS_MAX);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCS_MAX);
	__type(key, __u32);
	__type(value, struct proc_entry);
} procs SEC(".maps");

struct map_list {
	struct map_entry entries[MAP_ENTRIES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct map_list);
} map_lists SEC(".maps");

struct wide_list {
	struct wide_rule rules[WIDE_RULES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wide_list);
} wide_rules SEC(".maps");

struct shard {
	__u32 words[SHARD_WORDS];
};

struct shard_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct shard));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 16); /* set before load, from the budget */
	__type(key, __u32);
	__array(values, struct shard_map);
} shards SEC(".maps");

struct counts_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COUNTS_MAX);
	__uint(key_size, sizeof(struct count_key));
	__uint(value_size, sizeof(struct count_value));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct counts_map);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, KNOWN_SETS);
	__type(key, __u32);
	__type(value, struct known_set);
} known SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, STACK_RING_BYTES);
} stacks SEC(".maps");

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

static __always_inline int walk_all(void)
{
	int i, reason;

	for (i = 0; i < (int)(WALK_FRAMES_MAX / 32 + 1); i++) {
		reason = some_steps();
		if (reason != WALK_GOES_ON)
			return reason;
	}
	return WALK_DEPTH;
}

/* True when the stack has to be sent; whoever says so must call known_add after it was. */
static __always_inline int is_known(__u64 hash)
{
	__u32 set = hash & (KNOWN_SETS - 1);
	struct known_set *k = bpf_map_lookup_elem(&known, &set);
	int i;

	if (!k)
		return 0;
#pragma unroll
	for (i = 0; i < (int)KNOWN_WAYS; i++)
		if (k->hash[i] == hash)
			return 1;
	return 0;
}

static __always_inline void known_add(__u64 hash)
{
	__u32 set = hash & (KNOWN_SETS - 1);
	struct known_set *k = bpf_map_lookup_elem(&known, &set);
	__u32 way = bpf_ktime_get_ns() >> 10;

	if (!k)
		return;
	STEP_BARRIER(way);
	k->hash[way & (KNOWN_WAYS - 1)] = hash;
}

static __always_inline void send_stack(struct profiler_stats *s, struct stack_record *rec,
				       __u64 frames_max)
{
	__u64 n = rec->nframes;

	if (is_known(rec->hash))
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
			       bpf_ringbuf_query(&stacks, BPF_RB_AVAIL_DATA) > STACK_RING_BYTES / 4
				       ? BPF_RB_FORCE_WAKEUP
				       : BPF_RB_NO_WAKEUP)) {
		s->ring_full++;
		return;
	}
	s->stacks++;
	known_add(rec->hash);
}

#define HASH_TURN 8u

/* Goes on with the hash of the kernel stack, from frame first on; 0: that was the end. */
__attribute__((noinline)) int hash_some(__u32 first)
{
	struct cpu_state *st = this_state();
	struct stack_record *rec;
	__u32 i, n, at = first;
	__u64 hash;

	if (!st)
		return 0;
	rec = (struct stack_record *)st->kernel_head;
	hash = rec->hash;
	n = rec->nframes;
	for (i = 0; i < HASH_TURN; i++) {
		if (at >= n)
			break;
		STEP_BARRIER(at);
		hash = walk_mix(hash, st->kernel_frames[at & KERNEL_FRAMES_MAX]);
		at++;
	}
	rec->hash = hash;
	return at < n;
}

/* Hashes the kernel stack of nframes that stands in the state, and sends it when it is new. */
__attribute__((noinline)) int finish_kernel_stack(void)
{
	__u32 zero = 0, i;
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);
	struct cpu_state *st = this_state();
	struct stack_record *rec;

	if (!s || !st)
		return 0;
	rec = (struct stack_record *)st->kernel_head;
	rec->hash = 0x452821e638d01377ull;
	for (i = 0; i <= KERNEL_FRAMES_MAX / HASH_TURN; i++)
		if (!hash_some(i * HASH_TURN))
			break;
	send_stack(s, rec, KERNEL_FRAMES_MAX);
	return 0;
}

__attribute__((noinline)) int finish_user_stack(int reason)
{
	__u32 zero = 0;
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);
	struct cpu_state *st = this_state();
	struct stack_record *rec;

	if (!s || !st)
		return 0;
	s->walks++;
	s->frames += st->walk.nframes;
	if (reason == WALK_BOTTOM)
		s->complete++;
	rec = (struct stack_record *)st->walk.head;
	rec->hash = walk_mix(st->walk.hash, reason);
	rec->nframes = st->walk.nframes;
	rec->kernel = 0;
	rec->reason = reason;
	send_stack(s, rec, WALK_FRAMES_MAX);
	return 0;
}

/* The user's registers at the time of the sample, or of the entry into the kernel. */
static __always_inline int user_registers(struct cpu_state *st, struct bpf_perf_event_data *ctx,
					  int user_mode)
{
	const void *from;

	if (user_mode) {
		st->regs = ctx->regs;
		return 0;
	}
	if (config.has_task_regs) {
		struct task_struct *task = bpf_get_current_task_btf();

		from = (const void *)bpf_task_pt_regs(task);
	} else {
		struct task_struct *task = (void *)bpf_get_current_task();
		void *stack = NULL;

		bpf_core_read(&stack, sizeof(stack), &task->stack);
		from = stack + config.thread_size - sizeof(st->regs);
	}
	return bpf_probe_read_kernel(&st->regs, sizeof(st->regs), from);
}

/* mm->start_stack of the current task: 0 for a kernel thread. */
static __always_inline __u64 current_image(void)
{
	unsigned long image = 0;
	struct mm_struct *mm = NULL;

	if (config.has_task_regs) {
		struct task_struct *task = bpf_get_current_task_btf();

		mm = task->mm;
		return mm ? mm->start_stack : 0;
	}
	struct task_struct *task = (void *)bpf_get_current_task();

	bpf_core_read(&mm, sizeof(mm), &task->mm);
	if (mm)
		bpf_core_read(&image, sizeof(image), &mm->start_stack);
	return image;
}

static __always_inline void load_registers(struct cpu_state *st)
{
	__u64 *to = st->walk.regs;

	to[DWARF_RAX] = st->regs.rax;
	to[DWARF_RDX] = st->regs.rdx;
	to[DWARF_RCX] = st->regs.rcx;
	to[DWARF_RBX] = st->regs.rbx;
	to[DWARF_RSI] = st->regs.rsi;
	to[DWARF_RDI] = st->regs.rdi;
	to[DWARF_RBP] = st->regs.rbp;
	to[DWARF_RSP] = st->regs.rsp;
	to[DWARF_R8] = st->regs.r8;
	to[DWARF_R9] = st->regs.r9;
	to[DWARF_R10] = st->regs.r10;
	to[DWARF_R11] = st->regs.r11;
	to[DWARF_R12] = st->regs.r12;
	to[DWARF_R13] = st->regs.r13;
	to[DWARF_R14] = st->regs.r14;
	to[DWARF_R15] = st->regs.r15;
	to[DWARF_RIP] = st->regs.rip;
}

#define USER32_CS 0x23 /* __USER32_CS of x86-64 Linux */

/* Walks the user stack; its hash is then that of the record in walk.head. */
static __always_inline void walk_user(struct cpu_state *st, struct bpf_perf_event_data *ctx,
				      __u32 tgid, __u64 image, int user_mode)
{
	struct proc_entry *proc;
	struct walk *w = &st->walk;
	int reason;

	if (user_registers(st, ctx, user_mode)) {
		w->nframes = 0;
		w->hash = 0;
		finish_user_stack(WALK_NO_REGISTERS);
		return;
	}
	load_registers(st);
	/* A system call returns behind its instruction; an interrupt or a fault to the very pc. */
	walk_begin(w, user_mode || (__s64)st->regs.orig_rax < 0);
	w->window_top = 0;
	if (w->sp < image && image - w->sp < 64ull << 20)
		w->window_top = image & ~7ull; /* the main thread: its stack ends behind it */
	w->list_count = 0;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	if ((st->regs.cs & 0xffff) == USER32_CS) {
		reason = WALK_32_BIT;
	} else if (!proc) {
		reason = WALK_UNKNOWN_PROCESS;
	} else if (proc->image && proc->image != image) {
		reason = WALK_OTHER_IMAGE;
	} else {
		w->list_at = proc->list_at;
		w->list_count = proc->list_count;
		reason = walk_all();
	}
	if (!w->nframes) {
		w->frames[0] = w->pc | FRAME_EXACT;
		w->nframes = 1;
		w->hash = walk_mix(w->hash, w->frames[0]);
	}
	finish_user_stack(reason);
}

static __always_inline void count(struct profiler_stats *s, const struct count_key *key,
				  __u64 image)
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
		fresh.image = image;
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
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	__u64 id = bpf_get_current_pid_tgid(), image;
	__u32 zero = 0, tgid = id >> 32;
	struct profiler_control *ctl = bpf_map_lookup_elem(&control, &zero);
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);
	struct cpu_state *st = this_state();
	struct count_key key = {.tgid = tgid, .tid = id};
	int user_mode = (ctx->regs.cs & 3) != 0;
	struct stack_record *rec;
	long bytes;

	if (!tgid || !ctl || !s || !st)
		return 0; /* idle */
	s->samples++;
	if (ctl->filtering && !bpf_map_lookup_elem(&targets, &tgid)) {
		s->filtered++;
		return 0;
	}
	if (user_mode)
		s->user++;
	if (!user_mode && !config.no_kernel) {
		bytes = bpf_get_stack(ctx, st->kernel_frames, KERNEL_FRAMES_MAX * 8, 0);
		if (bytes > 0) {
			rec = (struct stack_record *)st->kernel_head;
			rec->tgid = tgid;
			rec->nframes = bytes >> 3;
			rec->kernel = 1;
			rec->reason = 0;
			finish_kernel_stack();
			key.kernel = st->kernel_head[0];
		}
	}
	image = current_image();
	if (image && !config.no_user) {
		((struct stack_record *)st->walk.head)->tgid = tgid;
		walk_user(st, ctx, tgid, image, user_mode);
		key.user = st->walk.head[0];
	}
	count(s, &key, image);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
