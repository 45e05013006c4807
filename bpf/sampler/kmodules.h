/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_KMODULES_H
#define STACKTOP_BPF_SAMPLER_KMODULES_H

/*
 * Modules of the kernel that came and went, by the count of changes that was in force at a sample
 * (the upper half of stack_record.kernel_code). Used by one thread.
 */

#include <stddef.h>
#include <stdint.h>

struct bpf_object;
struct kmodules;
struct module_change;

/*
 * What is known of an address as it was at a count. INIT is code that a module gives up when it has
 * begun: it is there still if the kernel knows a function of the module there. OTHER: a module came
 * there later, and what was there before is not known.
 */
enum kmodules_then {
	KMODULES_NOTHING, /* no change is known: what the kernel says now is true */
	KMODULES_SAME,	  /* a module was there, and still is */
	KMODULES_INIT,
	KMODULES_GONE, /* a module was there that has gone */
	KMODULES_OTHER,
	KMODULES_LOST, /* it is not known which modules have changed since */
};

/* Without programs that tell of changes. -ENOMEM */
int kmodules_new(struct kmodules **out);
/*
 * Attaches the programs of bpf/prog/modules.bpf.h, which the object holds and has to outlive.
 * -errno: nothing is told; a kernel that has no modules is no error.
 */
int kmodules_attach(struct kmodules *k, struct bpf_object *object);
void kmodules_free(struct kmodules *k);
/*
 * Takes in all that has changed until now. Returns a number that is another after each change. An
 * answer of the kernel that was asked for before is judged by kmodules_at after this call.
 */
uint64_t kmodules_read(struct kmodules *k);
/* One change, as kmodules_read has it from the programs. */
void kmodules_note(struct kmodules *k, const struct module_change *change);
/* Some changes up to that count are not known. */
void kmodules_note_lost(struct kmodules *k, uint32_t changes);
struct kmodules_code {
	const char *name; /* the module's, raw, until the next change */
	uint64_t start;	  /* of the module's code, or of that of its init */
};

/*
 * What was at the address; code: of SAME, INIT and GONE. At most 1,024 pieces of code are kept;
 * when there are more, those that have gone for longest are LOST.
 */
enum kmodules_then kmodules_at(const struct kmodules *k, uint32_t changes, uint64_t addr,
			       struct kmodules_code *code);

#endif
