/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What others do at a sample, each as little as possible: count, or let the kernel follow frame
 * pointers. Their run time is what ours is compared with.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define FRAMES 127

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, FRAMES * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} counts SEC(".maps");

__u64 last_stack = 0;

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

	if (id >= 0) {
		last_stack = (__u64)id;
		count((bpf_get_current_pid_tgid() << 32) ^ (__u64)id);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
