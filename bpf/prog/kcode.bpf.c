// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies kernel text to user space, for kernels without /proc/kcore. The kernel decides who may: it
 * refuses the helper to programs when it is locked down for confidentiality.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kcode_piece);
} piece SEC(".maps");

/* 0: all bytes of the piece are there. */
SEC("syscall")
int read_code(void *ctx)
{
	__u32 zero = 0;
	struct kcode_piece *p = bpf_map_lookup_elem(&piece, &zero);

	if (!p || bpf_probe_read_kernel(p->bytes, sizeof(p->bytes), (const void *)p->addr))
		return 1;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
