/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_PUBLISH_H
#define STACKTOP_BPF_TRACKER_PUBLISH_H

/* Keeps the procs map and the lists of mappings up to date. Guarded by the tracker's lock. */

#include <stdbool.h>
#include <stdint.h>

struct process;

struct publisher {
	bool publishing;      /* some dirty processes are left for the next turn */
	uint64_t list_round;  /* over all lists */
	uint32_t version;     /* of the entry of a process that was made last */
	struct object *files; /* that have a list of their own */

	struct sampler *sampler;
	struct turnlock *lock;
	struct proctable *procs;
	struct maplists *maps;
	struct garbage *garbage;
	struct notices *notices;
};

/* Brings the BPF maps up to date with all dirty processes; true: some must be tried again soon. */
bool publish_all(struct publisher *pub);
/* The same, for a few milliseconds at most, or until another thread wants the lock. */
bool publish_some(struct publisher *pub);
/* Points the process's entry to its list. On an error it has neither. */
int publish_entry(struct publisher *pub, struct process *p);
/* Removes the process's entry and its list. */
void publish_drop(struct publisher *pub, struct process *p);
/* Reads exec_id from the entry, if a sample has reported it since the entry was made. */
void publish_read_exec(const struct publisher *pub, struct process *p);
/* Makes cold lists warm whose .sampled is now, as far as there is room. */
void publish_scan(struct publisher *pub, uint64_t now);
/*
 * A list by file and offset: where the sampler checks lists, the walk uses it for processes that
 * are not known yet. publish_file does nothing if that is of no use, if there is no room, or if the
 * list is up to date. publish_unfile before the object's table goes.
 */
void publish_file(struct publisher *pub, struct object *o);
void publish_unfile(struct publisher *pub, struct object *o);
/* Sets object.sampled to now where the walk has used such a list since the last scan. */
void publish_scan_files(struct publisher *pub, uint64_t now);

#endif
