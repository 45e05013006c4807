// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Embeds the BPF objects. Skeletons would need bpftool, which not every distribution packages.
 * Hidden, since GCC for arm64 else finds all labels of a section by one slot of the GOT.
 */
#include "bpf/sampler/objects.h"

#include <bpf/libbpf.h>

#define EMBED(name, shown)                                                                         \
	asm(".pushsection .rodata\n"                                                               \
	    ".balign 16\n" #name "_begin:\n"                                                       \
	    ".incbin \"bpf/prog/" #name ".bpf.o\"\n" #name "_end:\n"                               \
	    ".popsection\n");                                                                      \
	extern __attribute__((visibility("hidden"))) const char name##_begin[], name##_end[];      \
	struct bpf_object *objects_##name(void)                                                    \
	{                                                                                          \
		LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = shown);                     \
                                                                                                   \
		return bpf_object__open_mem(name##_begin, name##_end - name##_begin, &opts);       \
	}

EMBED(profiler, "stacktop")
EMBED(ksyms, "stacktop_ksyms")
EMBED(kcode, "stacktop_kcode")
EMBED(pidns, "stacktop")
EMBED(vma, "stacktop")
EMBED(waits, "stacktop")
