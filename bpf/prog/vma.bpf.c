// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run by a process to test whether bpf/prog/vma.bpf.h finds in this kernel what /proc/self/maps
 * shows.
 */
#include "bpf/prog/vma.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct vma_search);
} search SEC(".maps");

static struct vma_search *vma_search(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&search, &zero);
}

/* ctx: an address and a tag. 1: the mapping of the caller at the address has the tag. */
SEC("raw_tp/sched_process_exit")
int is_mapped(struct bpf_raw_tracepoint_args *ctx)
{
	struct vma_search *s = vma_search();

	return s && vma_find(ctx->args[0]) && vma_is(s, ctx->args[1]);
}

char LICENSE[] SEC("license") = "GPL";
