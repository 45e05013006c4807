// SPDX-License-Identifier: GPL-2.0-or-later
/* Embeds the BPF objects. Skeletons would need bpftool, which not every distribution packages. */
#include "bpf/sampler/objects.h"

#define EMBED(name)                                                                                \
	asm(".pushsection .rodata\n"                                                               \
	    ".balign 16\n" #name "_begin:\n"                                                       \
	    ".incbin \"bpf/prog/" #name ".bpf.o\"\n" #name "_end:\n"                               \
	    ".popsection\n");                                                                      \
	extern const char name##_begin[], name##_end[];                                            \
	struct bpf_bytes objects_##name(void)                                                      \
	{                                                                                          \
		return (struct bpf_bytes){name##_begin, name##_end - name##_begin};                \
	}

EMBED(profiler)
EMBED(ksyms)
EMBED(pidns)
EMBED(vma)
