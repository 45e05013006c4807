/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work of other profilers at a sample, each reduced to its core: count, let the kernel follow
 * frame pointers, search a sorted array. stacktop's run time is compared with theirs.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/layout.h"

#define PROFILE_FRAMES 127

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1024);
	__uint(key_size, sizeof(__u32));
	__uint(value_size,
	       127 * sizeof(__u64)); /* set before load, from kernel.perf_event_max_stack */
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} counts SEC(".maps");

static void count(__u64 key)
{
	__u64 one = 1, *value = bpf_map_lookup_elem(&counts, &key);

	if (value)
		__sync_fetch_and_add(value, 1);
	else
		bpf_map_update_elem(&counts, &key, &one, BPF_ANY);
}

SEC("perf_event")
int count_only(void *ctx)
{
	count(bpf_get_current_pid_tgid());
	return 0;
}

SEC("perf_event")
int frame_pointers(void *ctx)
{
	long id = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);

	count((bpf_get_current_pid_tgid() << 32) ^ (__u64)id);
	return 0;
}

/* --- the shape of bcc's profile: both stacks by id, counted by process, name and ids ---------- */

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, PROFILE_FRAMES * sizeof(__u64));
} profile_stacks SEC(".maps");

struct profile_key {
	__u32 pid;
	__s32 user;
	__s32 kernel;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 40960);
	__type(key, struct profile_key);
	__type(value, __u64);
} profile_counts SEC(".maps");

SEC("perf_event")
int profile_shape(void *ctx)
{
	struct profile_key key = {.pid = bpf_get_current_pid_tgid() >> 32};
	__u64 one = 1, *value;

	if (!key.pid)
		return 0;
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	key.user = bpf_get_stackid(ctx, &profile_stacks, BPF_F_USER_STACK);
	key.kernel = bpf_get_stackid(ctx, &profile_stacks, 0);
	value = bpf_map_lookup_elem(&profile_counts, &key);
	if (value)
		__sync_fetch_and_add(value, 1);
	else
		bpf_map_update_elem(&profile_counts, &key, &one, BPF_NOEXIST);
	return 0;
}

/* --- number of frames that the kernel's walk finds: its run time does not count --------------- */

#define DEPTH_FRAMES 1024

struct depth_buffer {
	__u64 frames[DEPTH_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct depth_buffer);
} depth_buffers SEC(".maps");

/* As in stacktop's program, so that the same code reads both. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct profiler_stats);
} stats SEC(".maps");

SEC("perf_event")
int user_depth(void *ctx)
{
	__u32 zero = 0;
	struct depth_buffer *b = bpf_map_lookup_elem(&depth_buffers, &zero);
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);
	long bytes;

	if (!b || !s || !(bpf_get_current_pid_tgid() >> 32))
		return 0;
	bytes = bpf_get_stack(ctx, b->frames, sizeof(b->frames), BPF_F_USER_STACK);
	s->walks++;
	if (bytes > 0)
		s->frames += (__u64)bytes / 8;
	return 0;
}

/* --- a sorted array of rows, as in other unwinders -------------------------------------------- */

#define SEARCH_STEPS 17
#define SEARCH_ROWS  (1u << SEARCH_STEPS)
#define SEARCH_MANY  101

struct search_table {
	struct {
		__u32 address;
		__u32 rule;
	} rows[SEARCH_ROWS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct search_table);
} search_rows SEC(".maps");

__u64 search_sum = 0;

__attribute__((noinline)) int search(__u32 address)
{
	__u32 zero = 0, at = 0, take, step = SEARCH_ROWS / 2;
	struct search_table *t = bpf_map_lookup_elem(&search_rows, &zero);
	__s64 before;
	int i;

	if (!t)
		return 0;
	for (i = 0; i < SEARCH_STEPS; i++) {
		take = at + step;
		asm volatile("" : "+r"(take));
		before = (__s64)((__u64)address - t->rows[take & (SEARCH_ROWS - 1)].address);
		asm volatile("" : "+r"(before)); /* no branch: one path for the verifier */
		take = ~(__u32)(before >> 63);	 /* ones: the row begins at or below the address */
		at += step & take;
		step >>= 1;
	}
	asm volatile("" : "+r"(at));
	return t->rows[at & (SEARCH_ROWS - 1)].rule;
}

/* The same addresses at each sample, spread over the table like those of a stack. */
SEC("perf_event")
int search_many(void *ctx)
{
	__u32 address = 12345, i;

	for (i = 0; i < SEARCH_MANY; i++) {
		address = address * 1664525 + 1013904223;
		search_sum += (__u32)search(address >> 11);
	}
	count(1);
	return 0;
}

SEC("perf_event")
int search_one(void *ctx)
{
	search_sum += (__u32)search(54321);
	count(1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
