/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_ANNOTATOR_H
#define STACKTOP_TUI_COLLECT_ANNOTATOR_H

/*
 * Answers the profile's wish for an annotation: remembers which stacks were sampled in the last
 * seconds, finds those with the function, and counts the addresses in it. Without a wish it only
 * remembers stacks. Used by the collector's thread, without the profile's lock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct annotator;
struct profile;
struct remotedebug;
struct resolver;
struct stackcache;
struct tracker;

/* Nothing is owned; all must outlive it. limit: bytes of debug information, 0: no lines. -ENOMEM.
 */
int annotator_new(struct profile *profile, struct tracker *tracker, struct resolver *resolver,
		  struct stackcache *stacks, size_t limit, struct remotedebug *remote,
		  struct annotator **out);
void annotator_free(struct annotator *a); /* NULL is none */
/* Adds so many samples of two stacks, 0: of none, in the slice that ends at `now`. */
void annotator_note(struct annotator *a, pid_t pid, uint64_t exec, uint64_t hash, uint64_t kernel,
		    uint64_t count, uint64_t now);
/* After a slice (slice), or between two: true if there is something new to show. */
bool annotator_work(struct annotator *a, uint64_t now, bool slice);

#endif
