/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_IDLEFILE_H
#define STACKTOP_BPF_TRACKER_IDLEFILE_H

/*
 * Closes files of objects and opens them again. An open file keeps its file system from being
 * unmounted, and the blocks of a deleted file. So the file of an object that no process maps is
 * closed after a while; its table stays for the next run. When it is mapped again, it may be
 * another file, of another file system with the same number, that looks the same from outside.
 *
 * Where processes map more files than may be open, mapped files are closed. They are opened again
 * when something is to be read from them, which is when they are sampled. Guarded by the tracker's
 * lock.
 */

#include <stdbool.h>
#include <stdint.h>

struct object;

struct idlefiles {
	unsigned int open_max; /* 0: no limit; see idlefile_limit */
	uint64_t looked;       /* time of the last idlefile_look that did something */

	struct objects *objects;
	struct proctable *procs;
	struct opener *opener; /* NULL: files are not opened again */
	int wake_fd;	       /* eventfd of the thread that calls idlefile_ask */
	struct notices *notices;
};

/* Closes the files of objects that no process has mapped for a while. */
void idlefile_look(struct idlefiles *idle, uint64_t now);
/*
 * Keeps no more than open_max files open: closes those of the user who has most of them, the ones
 * not sampled for the longest time first, mapped or not.
 */
void idlefile_limit(struct idlefiles *idle);
/* Something is to be read from the object's file, which is closed: it is asked for if it is mapped.
 */
void idlefile_want(struct idlefiles *idle, struct object *o);
/* Asks the opener for the files that are wanted. */
void idlefile_ask(struct idlefiles *idle);

#endif
