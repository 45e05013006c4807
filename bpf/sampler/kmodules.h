/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_KMODULES_H
#define STACKTOP_BPF_SAMPLER_KMODULES_H

/*
 * Kernel modules that came and went, by the count of changes at the time of a sample (the upper
 * half of stack_record.kernel_code). Used by one thread.
 */

#include <stdint.h>

struct bpf_object;
struct kmodules;
struct module_change;

/* What was at an address at a count. */
enum kmodules_then {
	KMODULES_NOTHING, /* no change is known: the kernel's present answer is valid */
	KMODULES_SAME,	  /* a module that is still there */
	/*
	 * Init code, which a module frees after its start: it is still there if the kernel names a
	 * function of the module there.
	 */
	KMODULES_INIT,
	KMODULES_GONE,	/* a module that has gone */
	KMODULES_OTHER, /* unknown; a module came there later */
	KMODULES_LOST,	/* unknown, like all modules that have changed since */
};

/* Without programs attached. -ENOMEM */
int kmodules_new(struct kmodules **out);
/*
 * Attaches the programs of bpf/prog/modules.bpf.h from the object, which must outlive k. -errno: no
 * changes will be reported; a kernel without modules is no error.
 */
int kmodules_attach(struct kmodules *k, struct bpf_object *object);
void kmodules_free(struct kmodules *k);
/*
 * Reads all changes up to now. Returns a number that differs after each change. To use an answer of
 * the kernel, call this after it, and then kmodules_at.
 */
uint64_t kmodules_read(struct kmodules *k);
/* One change, as kmodules_read gets it from the programs. */
void kmodules_note(struct kmodules *k, const struct module_change *change);
/* Some changes up to that count are not known. */
void kmodules_note_lost(struct kmodules *k, uint32_t changes);
struct kmodules_code {
	const char *name; /* of the module, raw, valid until the next change */
	uint64_t start;	  /* of the module's code, or of its init code */
};

/*
 * What was at the address; *code is set with SAME, INIT and GONE. At most 1,024 pieces of code are
 * kept; of more, those that ended first are LOST.
 */
enum kmodules_then kmodules_at(const struct kmodules *k, uint32_t changes, uint64_t addr,
			       struct kmodules_code *code);

#endif
