// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names the kernel addresses of a batch in the map, by "%pB", which looks up addr - 1, as is right
 * for return addresses. Parsing /proc/kallsyms costs 100 times as much.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ksym_batch);
} batch SEC(".maps");

static const char format[] = "%pB";

SEC("syscall")
int name_addresses(void *ctx)
{
	__u32 zero = 0, i;
	struct ksym_batch *b = bpf_map_lookup_elem(&batch, &zero);
	__u64 addr;

	if (!b)
		return 1;
	for (i = 0; i < KSYM_BATCH; i++) {
		if (i >= b->count)
			break;
		addr = b->addrs[i];
		bpf_snprintf(b->names[i], KSYM_NAME, format, &addr, sizeof(addr));
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
