/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_RECORDED_H
#define STACKTOP_TESTS_SUPPORT_RECORDED_H

/*
 * A recording in a folder of its own, and the profile that was recorded, with its reports slice by
 * slice: the witness of what a session has to give back.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/scratch.h"
#include "tui/export/batch.h"
#include "tui/session/session_write.h"

#define WINDOW 10
#define CELLS  50000
#define SLICES 60

/* Of slice %d; longer than a line of most terminals. */
#define RECORDED_MESSAGE                                                                           \
	"slice %d has a message that goes on for so long that no line of a terminal that people "  \
	"have had on their desks for forty years has room for it, and is kept nevertheless"

extern char folder[SCRATCH], path[96], other[96];

int make_folder(void **state);

int remove_folder(void **state);

#define OTHERS 20 /* slices of another event */

struct recorded {
	struct profile *p;
	char *reports[SLICES]; /* folded, of each slice */
	uint64_t random, time;
	struct named { /* threads of each slice's cells */
		uint32_t pid, tid;
		char comm[16];
	} threads[SLICES][32];
	size_t nthreads[SLICES];
	int border; /* the first slice of another event, which counts for OTHERS; 0: none */
	unsigned int lines[SLICES][4]; /* the hottest ones of f0 to f3; 0: none yet */
};

/* What CPUs had. The lock is held. */
void report_cpus(FILE *to, const struct profile *p, enum span span);

char *report(struct profile *p);

/* Processes come and go, stacks are forgotten and met again, so ids are used again. */
size_t make_cells(struct recorded *r, int n, struct profile_cell *cells);

/* Lines of functions change every few slices. */
unsigned int line_of(struct profile *p, int i);

void commit(struct recorded *r, struct session_writer *w, int n);

/* cells_max is small, so that totals are folded and stacks forgotten. */
void record_events(struct recorded *r, int slices, size_t cells_max, int border);

void record(struct recorded *r, int slices, size_t cells_max);

void recorded_free(struct recorded *r);

#endif
