/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PUSH_GATHER_H
#define STACKTOP_TUI_PUSH_GATHER_H

/* From the slices of a profile to packed intervals in a queue. Used by one thread. */

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct push_gather;
struct push_options;
struct push_queue;

struct push_gathered {
	uint64_t intervals, samples; /* that came into the queue */
	uint64_t missing;	     /* slices that were gone before they could be read */
	uint64_t lost;		     /* intervals, for want of memory */
};

/*
 * Begins with the next slice of the profile. All must outlive it. lag: slices are read when they
 * are so many ns old, since calls inlined in them may become known until then. NULL: no memory.
 */
struct push_gather *push_gather_new(struct profile *p, struct push_queue *queue,
				    const struct push_options *options, uint64_t lag);
/* What it has not packed is gone. NULL is fine. */
void push_gather_free(struct push_gather *g);
/*
 * Reads the slices that are there, and packs each interval that is complete. all: whatever its age
 * is, and the last interval as it is. Takes the profile's lock. -ENOMEM: an interval is lost.
 */
int push_gather_take(struct push_gather *g, const struct push_options *options, bool all);
void push_gather_state(const struct push_gather *g, struct push_gathered *out);

#endif
