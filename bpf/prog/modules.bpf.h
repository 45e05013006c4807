/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_MODULES_BPF_H
#define STACKTOP_BPF_PROG_MODULES_BPF_H

/*
 * Counts and reports modules of the kernel that come and go. The tracepoint module_load comes
 * before the module's init runs, module_free after its last code has run and before its addresses
 * and names are freed. So the count at a sample tells which modules were loaded.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/prog/layout.h"

struct module_layout { /* until Linux 6.3 */
	void *base;
	unsigned int size;
} __attribute__((preserve_access_index));

struct module_memory { /* since Linux 6.4 */
	void *base;
	unsigned int size;
} __attribute__((preserve_access_index));

#define MODULE_TEXT	 0 /* enum mod_mem_type */
#define MODULE_INIT_TEXT 4

struct module {
	char name[MODULE_NAME];
	struct module_layout core_layout, init_layout;
	struct module_memory mem[MODULE_INIT_TEXT + 1];
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct module_counts);
} module_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, MODULE_RING_BYTES);
} module_changes SEC(".maps");

/* The count of changes. zero: a 0 that the caller has on its stack already. */
static __always_inline __u32 modules_changes(const __u32 *zero)
{
	const struct module_counts *counts = bpf_map_lookup_elem(&module_counts, zero);

	return counts ? *(const volatile __u32 *)&counts->changes : 0;
}

static __always_inline void module_read(struct module_change *c, const struct module *m)
{
	const void *at = NULL;

	if (bpf_core_field_exists(m->mem)) {
		bpf_core_read(&at, sizeof(at), &m->mem[MODULE_TEXT].base);
		bpf_core_read(&c->size, sizeof(c->size), &m->mem[MODULE_TEXT].size);
		c->start = (__u64)at;
		bpf_core_read(&at, sizeof(at), &m->mem[MODULE_INIT_TEXT].base);
		bpf_core_read(&c->init_size, sizeof(c->init_size), &m->mem[MODULE_INIT_TEXT].size);
		c->init_start = (__u64)at;
	} else if (bpf_core_field_exists(m->core_layout)) {
		bpf_core_read(&at, sizeof(at), &m->core_layout.base);
		bpf_core_read(&c->size, sizeof(c->size), &m->core_layout.size);
		c->start = (__u64)at;
		bpf_core_read(&at, sizeof(at), &m->init_layout.base);
		bpf_core_read(&c->init_size, sizeof(c->init_size), &m->init_layout.size);
		c->init_start = (__u64)at;
	}
	if (bpf_core_field_exists(m->name))
		bpf_core_read_str(c->name, sizeof(c->name), &m->name);
}

/*
 * Linux 5.10 cannot return the old value of an atomic addition. A module that goes gets the count
 * before it, one that comes the count after it, so that two changes at once do not overlap.
 */
static __always_inline int module_changed(const struct module *m, int gone)
{
	__u32 zero = 0, before;
	struct module_counts *counts = bpf_map_lookup_elem(&module_counts, &zero);
	struct module_change *c;

	if (!counts)
		return 0;
	before = *(volatile __u32 *)&counts->changes;
	__sync_fetch_and_add(&counts->changes, 1);
	c = bpf_ringbuf_reserve(&module_changes, sizeof(*c), 0);
	if (!c) {
		__sync_fetch_and_add(&counts->lost, 1);
		return 0;
	}
	__builtin_memset(c, 0, sizeof(*c));
	c->gone = gone;
	c->changes = gone ? before : *(volatile __u32 *)&counts->changes;
	module_read(c, m);
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("raw_tp/module_load")
int on_module_load(struct bpf_raw_tracepoint_args *ctx)
{
	return module_changed((const struct module *)ctx->args[0], 0);
}

SEC("raw_tp/module_free")
int on_module_free(struct bpf_raw_tracepoint_args *ctx)
{
	return module_changed((const struct module *)ctx->args[0], 1);
}

#endif
