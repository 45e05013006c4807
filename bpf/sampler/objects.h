/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_OBJECTS_H
#define STACKTOP_BPF_SAMPLER_OBJECTS_H

/* The compiled BPF objects, which are part of the binary, opened by libbpf. NULL: errno. */

struct bpf_object *objects_profiler(void);
struct bpf_object *objects_ksyms(void);
struct bpf_object *objects_kcode(void);
struct bpf_object *objects_pidns(void);
struct bpf_object *objects_vma(void);
struct bpf_object *objects_waits(void);

#endif
