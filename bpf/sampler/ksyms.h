/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_KSYMS_H
#define STACKTOP_BPF_SAMPLER_KSYMS_H

/*
 * Names of kernel addresses, from a BPF program (bpf_snprintf, "%pB") or, before Linux 5.13, from
 * /proc/kallsyms, read when first needed. Results are cached by address. Used by one thread.
 */

#include <stddef.h>
#include <stdint.h>

struct kernelcode;
struct kmodules;
struct ksyms;

struct ksym {
	uint64_t addr;	    /* in: as in a kernel stack; exact with leaf, else a return address */
	int leaf;	    /* in: 1 when addr itself was executing */
	const char *name;   /* out: "[kernel]" when unknown; valid until the next call */
	const char *module; /* out: "vmlinux", "bpf", "nf_tables", ... */
};

int ksyms_new(struct ksyms **out);
void ksyms_free(struct ksyms *k);
/* Changes of kernel code; code must outlive the last ksyms_resolve. */
void ksyms_set_code(struct ksyms *k, struct kernelcode *code);
/* Changes of modules; used by the thread of ksyms_resolve only. NULL: they are not reported. */
void ksyms_set_modules(struct ksyms *k, struct kmodules *modules);
/*
 * Resolves a batch in place; generation: of the kernel's code and modules
 * (stack_record.kernel_code). Never fails: an unknown name is "[kernel]". In modules whose names
 * are gone it is "[unloaded MODULE]" or "[init of MODULE]", or "[unloaded module]" if it is not
 * known which.
 */
void ksyms_resolve(struct ksyms *k, struct ksym *syms, size_t count, uint64_t generation);
/*
 * Where the function at an address that was executing begins, and where it ends (0: not known), if
 * it is the one of the name that ksyms_resolve gives for the generation. -ENOENT: it is not.
 */
int ksyms_extent(struct ksyms *k, uint64_t addr, uint64_t generation, const char *name,
		 uint64_t *start, uint64_t *end);
/* Why names are missing, with the remedy; NULL: they are not, or none was looked up yet. */
const char *ksyms_trouble(const struct ksyms *k);

#endif
