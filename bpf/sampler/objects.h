/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_OBJECTS_H
#define STACKTOP_BPF_SAMPLER_OBJECTS_H

/* The compiled BPF objects, which are part of the binary. */

#include <stddef.h>

struct bpf_bytes {
	const void *data;
	size_t size;
};

struct bpf_bytes objects_profiler(void);
struct bpf_bytes objects_ksyms(void);
struct bpf_bytes objects_pidns(void);
struct bpf_bytes objects_vma(void);

#endif
