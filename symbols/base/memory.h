/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_MEMORY_H
#define STACKTOP_SYMBOLS_BASE_MEMORY_H

/*
 * How much memory each part of stacktop may take, in one table. Other users can fill each part, and
 * all of them at once, so where the machine or the memory control group has less than the sum, all
 * parts shrink, down to what real programs need.
 */

#include <stddef.h>
#include <stdint.h>

enum memory_part {
	MEMORY_TABLES,	 /* unwind tables; --memory */
	MEMORY_BUILD,	 /* tables that are being built */
	MEMORY_STACKS,	 /* stacks and names of the profile */
	MEMORY_HISTORY,	 /* slices kept for the screen */
	MEMORY_RAW,	 /* raw stacks from the kernel, and their sites */
	MEMORY_SYMBOLS,	 /* symbol tables */
	MEMORY_READ,	 /* a symbol table that is being read */
	MEMORY_JIT,	 /* names of code made at run time */
	MEMORY_DEBUG,	 /* debug information of one file; --debug-memory */
	MEMORY_KEPT,	 /* debug information of files without open questions */
	MEMORY_ANSWERS,	 /* answers from debug information */
	MEMORY_COPIES,	 /* copies of files */
	MEMORY_MAPPINGS, /* mappings of all processes */
	MEMORY_OBJECTS,	 /* mapped files, and files that were asked for */
	MEMORY_PARTS,
};

struct memory_plan {
	uint64_t available; /* bytes that the plan was made for */
	uint64_t itself;    /* what stacktop takes besides the parts, without BPF maps */
	uint64_t part[MEMORY_PARTS];
	uint64_t sum; /* of itself and all parts */
};

struct memory_given { /* what the user set, in bytes; 0: nothing */
	uint64_t tables, debug;
};

/*
 * Shares out the available bytes, `maps` of which are taken by the BPF maps. The sum exceeds what
 * is available if even the least of each part does.
 */
void memory_plan(struct memory_plan *plan, uint64_t available, uint64_t maps,
		 const struct memory_given *given);
/* Takes two thirds from the parts that only save time or keep the past, for a run without a screen.
 * What limits how large a file may be stays as it is. */
void memory_plan_shrink(struct memory_plan *plan);
/*
 * The smallest limit of the process's memory control group and of the groups above it, for both
 * versions of control groups. UINT64_MAX: none. root: where they are mounted; self:
 * /proc/self/cgroup.
 */
uint64_t memory_of_cgroup(const char *root, const char *self);
/* Half of the machine's memory, or the limit of the control group, whichever is less. */
uint64_t memory_available(void);
const char *memory_name(enum memory_part part); /* "memory.stacks" */
const char *memory_meaning(enum memory_part part);

/* Puts a plan in force. Before the first memory_use each part has its maximum. */
void memory_use(const struct memory_plan *plan);
const struct memory_plan *memory_used(void); /* NULL: none yet */
size_t memory_limit(enum memory_part part);

#endif
