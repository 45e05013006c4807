/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PUSH_QUEUE_H
#define STACKTOP_TUI_PUSH_QUEUE_H

/*
 * What waits to be sent, the oldest first: in a folder (the spool), or in memory. Bounded: the
 * oldest goes when there is no room, and is counted. A spool outlives the process that fills it; of
 * what was sent in part, the file says how far. One thread adds and another one takes; each call
 * takes the queue's lock, but not while it waits for a disk.
 *
 * A file is a head of PUSH_ENTRY_HEAD bytes and the packed samples (pack.h).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/push/request.h"

struct push_queue;

/* What waits in memory: without a spool, or because its files cannot be written. */
#define PUSH_MEMORY ((uint64_t)8 << 20)

/* How far an entry was sent. */
struct push_progress {
	uint64_t cursor; /* samples before it were taken */
	uint64_t piece;	 /* so many go into a request; 0: all */
};

struct push_entry {
	uint64_t number; /* in the order in which they were added */
	uint8_t id[PUSH_ID];
	struct push_progress progress;
	uint8_t *data; /* packed; push_entry_free frees it */
	size_t size;
};

struct push_queue_state {
	size_t entries;
	uint64_t bytes;
	uint64_t dropped, dropped_samples; /* since the start: there was no room */
	uint64_t damaged;		   /* files that made no sense: their samples are lost */
	int unreadable;	  /* -errno: the oldest file cannot be read now; 0: it can */
	uint64_t found;	  /* entries of an earlier run */
	size_t unwritten; /* of entries: they wait in memory, although there is a folder */
	int error;	  /* -errno of the last file that could not be written; 0: all could */
};

/*
 * folder NULL: in memory. The folder is made if it is missing (0700), and must belong to this user
 * alone; only one process may use it. -errno with its reason in error.
 */
int push_queue_open(const char *folder, uint64_t most, struct push_queue **out, char *error,
		    size_t size);
void push_queue_free(struct push_queue *q);

/*
 * Adds packed samples, `samples` of them, and takes the memory. Where a file can not be written the
 * entry waits in memory, of which there is no more than PUSH_MEMORY. -ENOSPC: it is larger than all
 * of the room, and counted as dropped; -ENOMEM likewise.
 */
int push_queue_add(struct push_queue *q, uint8_t *data, size_t size, uint64_t samples);
/* A copy of the oldest one. False: there is none, or it cannot be read now. */
bool push_queue_first(struct push_queue *q, struct push_entry *out);
void push_entry_free(struct push_entry *entry);
/* Notes how far it was sent. False: it was dropped meanwhile. */
bool push_queue_note(struct push_queue *q, uint64_t number, const struct push_progress *progress);
/* All of it was sent, or it can not be. */
void push_queue_remove(struct push_queue *q, uint64_t number);
/* It makes no sense: removes it, and counts it as damaged. */
void push_queue_damaged(struct push_queue *q, uint64_t number);
void push_queue_state(struct push_queue *q, struct push_queue_state *out);

/*
 * Of a spool: samples from this time on (CLOCK_REALTIME ns) are not in it yet; 0: none are missing.
 * Returns what an earlier process left there, which has ended without taking it back; 0: nothing.
 */
uint64_t push_queue_left_open(const struct push_queue *q);
void push_queue_mark_open(struct push_queue *q, uint64_t since);

#endif
