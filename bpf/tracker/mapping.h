/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_MAPPING_H
#define STACKTOP_BPF_TRACKER_MAPPING_H

/* The executable mappings of processes. Guarded by the tracker's lock. */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/tracker/mapsreader.h"
#include "symbols/base/quota.h"

struct open_answer;
struct opening;
struct process;
struct procmap;

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t bias; /* run time address - ELF virtual address; objects only */
	/* NULL: anonymous memory, or a file that is not there. Anonymous memory that a program has
	 * put in the place of a file's code has the object of that file. */
	struct object *object;
	bool data; /* not executable; only beside code, see mapsreader.h */
	bool writable;
	uint64_t asked;	     /* question for its file, see opener.h; 0: none */
	uint64_t offset;     /* in the file */
	struct file_id file; /* as the mapping has it; inode 0: none */
};

struct mappings {
	struct quota quota; /* number of mappings of all processes */
	pthread_t reader;   /* gives up the lock while it reads mappings; valid with has_reader */
	bool has_reader;
	bool reading;		 /* the reader is at it, without the lock */
	pthread_cond_t has_read; /* `reading` has become false */

	struct turnlock *lock;
	struct proctable *procs;
	struct objects *objects;
	struct idlefiles *idlefiles;
	struct opener *opener; /* NULL: files are opened at once, by the calling thread */
	struct notices *notices;
};

void mappings_clear(struct mappings *ms, struct process *p);
/* `to` has none so far. */
int mappings_copy(struct mappings *ms, struct process *to, const struct process *from);
/* Enters an executable mapping from a record; true: it was not known. */
bool mapping_record(struct mappings *ms, struct process *p, const struct procmap *map);
/*
 * Replaces all by the content of /proc/PID/maps. 1: something has changed, 0, or -errno. -EAGAIN:
 * the process has called exec since its start_stack was read; the old mappings are still there.
 */
int mappings_read(struct mappings *ms, struct process *p);
/* An opener_on_answer; takes the descriptor. */
void mappings_on_answer(struct mappings *ms, const struct opening *o, const struct open_answer *a,
			int fd);
/* The mapping at an address; NULL: none. */
const struct mapping *mapping_at(const struct process *p, uint64_t address);

#endif
