/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_RUNCODE_H
#define STACKTOP_BPF_TRACKER_RUNCODE_H

/*
 * Code that processes make at run time and describe in their own memory (codereader.h). What a
 * process describes becomes a table by run-time address, an object without a file that belongs to
 * the process, and its spans stand in the process's list in place of memory without CFI. Guarded
 * by the tracker's lock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "symbols/base/quota.h"

struct open_answer;
struct notices;
struct opening;
struct process;

struct runcode {
	uint64_t looked;   /* time of the last look for processes to ask about */
	uint64_t bare;	   /* time when a process whose code is not described was last met first; 0:
			      never */
	uint64_t count;	   /* of objects made */
	bool calm;	   /* see tracker_calm */
	struct quota asks; /* about new places only, since that time */
	uint64_t asks_since;
	uint32_t nbare; /* processes with places */

	struct sampler *sampler;
	struct proctable *procs;
	struct objects *objects;
	struct opener *opener; /* NULL: nothing is asked */
	const struct targets *targets;
	struct notices *notices;
};

/* Asks about the processes that were sampled in such code, each after a pause. */
void runcode_turn(struct runcode *rc, uint64_t now);
/* Milliseconds until the next turn at most. */
int runcode_wait(const struct runcode *rc);
/* An opener_on_answer; takes the descriptor. */
void runcode_on_answer(struct runcode *rc, const struct opening *o, const struct open_answer *a,
		       int fd);
/* The child has its parent's code; either has a table of its own with the next description. */
void runcode_fork(struct runcode *rc, struct process *child, const struct process *parent);
/* The process has ended: no walk comes by its code. */
void runcode_drop_places(struct runcode *rc, struct process *p);
/* The process is gone, or has called exec. */
void runcode_drop(struct runcode *rc, struct process *p);

#endif
