/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_RUNTIMES_H
#define STACKTOP_BPF_TRACKER_RUNTIMES_H

/*
 * Processes that run an interpreted language. The file of the runtime says where its state is and
 * how it is laid out; before the first use that is checked in the memory of a process that was
 * sampled. What one process of root or of the same user has proven holds for the next ones with the
 * same file at once. Guarded by the tracker's lock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct notices;
struct object;
struct open_answer;
struct opener;
struct opening;
struct process;
struct proctable;
struct publisher;
struct runtime_object;
struct sampler;
struct targets;
struct tracker_runtime;

struct runtimes {
	uint64_t looked; /* time of the last look for processes to ask about */
	uint64_t until;	 /* and of the next one, at the latest */
	struct sampler *sampler;
	struct proctable *procs;
	struct publisher *publisher;
	struct notices *notices;
	struct opener *opener; /* NULL: nothing is asked */
	const struct targets *targets;
};

/* Asks about processes that are new or were sampled and whose runtime is not proven yet. */
void runtimes_turn(struct runtimes *rs, uint64_t now);
/* Milliseconds until the next turn is due, `most` at most. */
int runtimes_wait(const struct runtimes *rs, int most);
/* See tracker_runtime and tracker_runtime_mute. */
bool runtimes_know(const struct runtimes *rs, const struct process *p, unsigned int n,
		   struct tracker_runtime *out);
void runtimes_mute(struct runtimes *rs, const struct process *p, unsigned int n, uint64_t samples);
/* An opener_on_answer; takes the descriptor, of which there is none. */
void runtimes_on_answer(struct runtimes *rs, const struct opening *o, const struct open_answer *a);

#endif
