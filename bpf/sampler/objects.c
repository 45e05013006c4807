// SPDX-License-Identifier: GPL-2.0-or-later
/* Embeds the BPF objects. Skeletons would need bpftool, which not every distribution packages. */
#include "bpf/sampler/objects.h"

#define EMBED(name)                                                                                \
	asm(".pushsection .rodata\n"                                                               \
	    ".balign 16\n" #name "_begin:\n"                                                       \
	    ".incbin \"bpf/prog/" #name ".bpf.o\"\n" #name "_end:\n"                               \
	    ".popsection\n");                                                                      \
	extern const char name##_begin[], name##_end[]

EMBED(profiler);
EMBED(ksyms);
EMBED(pidns);
EMBED(vma);

struct bpf_bytes objects_profiler(void)
{
	return (struct bpf_bytes){profiler_begin, profiler_end - profiler_begin};
}

struct bpf_bytes objects_ksyms(void)
{
	return (struct bpf_bytes){ksyms_begin, ksyms_end - ksyms_begin};
}

struct bpf_bytes objects_pidns(void)
{
	return (struct bpf_bytes){pidns_begin, pidns_end - pidns_begin};
}

struct bpf_bytes objects_vma(void)
{
	return (struct bpf_bytes){vma_begin, vma_end - vma_begin};
}
