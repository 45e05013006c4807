/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_THREADBOOK_H
#define STACKTOP_TUI_COLLECT_THREADBOOK_H

/*
 * Where the time of each thread went, while the sampler follows them (bpf/sampler/waits.h): what
 * threads say at the end of a slice, what ended ones said last, counted waits and waits that still
 * go on become cells of the profile. Used by the collector's thread, without the profile's lock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct procinfo;
struct profile;
struct profile_cell;
struct profile_health;
struct sampler;
struct sampler_count;
struct stack_record;
struct stackcache;
struct threadbook;

/* Nothing is owned. -ENOMEM. */
int threadbook_new(struct profile *profile, struct stackcache *stacks, struct procinfo *procs,
		   struct threadbook **out);
void threadbook_free(struct threadbook *b);
/* Keeps a copy of a STACK_THREAD or STACK_WAIT. Without memory its time is lost, and counted so. */
void threadbook_note(struct threadbook *b, const struct stack_record *rec);
/*
 * Cells of the slice that ends now (CLOCK_MONOTONIC ns), besides those of samples; they belong to
 * the book, and hold their stacks until threadbook_release. last: there is no later slice. -ENOMEM.
 */
int threadbook_take(struct threadbook *b, struct sampler *s, const struct sampler_count *counts,
		    size_t ncounts, uint64_t now, bool last, const struct profile_cell **cells,
		    size_t *ncells);
/* After the commit. */
void threadbook_release(struct threadbook *b);
/* What following threads cost in the slice. */
void threadbook_costs(struct threadbook *b, struct sampler *s, struct profile_health *health);
/* Forgets all threads: they are no longer followed. */
void threadbook_forget(struct threadbook *b);

#endif
