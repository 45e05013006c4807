/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_MEMORY_H
#define STACKTOP_SYMBOLS_BASE_MEMORY_H

/*
 * How much memory each part of stacktop may take, in one table. What others do can fill each part,
 * and all of them at once; so where the machine or the memory control group has less than the sum,
 * all parts shrink, down to what real programs need.
 */

#include <stddef.h>
#include <stdint.h>

enum memory_part {
	MEMORY_TABLES,	 /* unwind tables; --memory */
	MEMORY_BUILD,	 /* those that are being built */
	MEMORY_STACKS,	 /* stacks and names of the profile */
	MEMORY_HISTORY,	 /* slices that are kept for a screen */
	MEMORY_PATHS,	 /* trees of a screen */
	MEMORY_RAW,	 /* stacks as they came from the kernel, and their sites */
	MEMORY_SYMBOLS,	 /* symbol tables */
	MEMORY_READ,	 /* one that is being read */
	MEMORY_JIT,	 /* names of code made at run time */
	MEMORY_DEBUG,	 /* debug information of one file; --debug-memory */
	MEMORY_KEPT,	 /* and of files that are not asked about */
	MEMORY_ANSWERS,	 /* what it told */
	MEMORY_COPIES,	 /* copies of files */
	MEMORY_MAPPINGS, /* of all processes */
	MEMORY_OBJECTS,	 /* mapped files, and those asked for */
	MEMORY_PARTS,
};

struct memory_plan {
	uint64_t available; /* bytes; by what it was made */
	uint64_t itself;    /* what stacktop takes beside the parts, the BPF maps apart */
	uint64_t part[MEMORY_PARTS];
	uint64_t sum; /* of itself and all parts */
};

struct memory_given { /* what a person has set, in bytes; 0: nothing */
	uint64_t tables, debug;
};

/*
 * Shares out the available bytes, of which the BPF maps take so many. The sum is larger than what
 * is available where even the least of each part is.
 */
void memory_plan(struct memory_plan *plan, uint64_t available, uint64_t maps,
		 const struct memory_given *given);
/*
 * The smallest limit of a memory control group that the process is in, or of one above it; of both
 * versions. UINT64_MAX: none. root: where they are mounted; self: /proc/self/cgroup.
 */
uint64_t memory_of_cgroup(const char *root, const char *self);
/* Half of the machine's memory, or the limit of the control group, whichever is less. */
uint64_t memory_available(void);
const char *memory_name(enum memory_part part); /* "memory.stacks" */
const char *memory_meaning(enum memory_part part);

/* The plan that is in force; before the first memory_use all parts have the most that they may. */
void memory_use(const struct memory_plan *plan);
const struct memory_plan *memory_used(void); /* NULL: none yet */
size_t memory_limit(enum memory_part part);

#endif
