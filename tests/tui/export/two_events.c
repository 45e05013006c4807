/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a session over changes of the sampling event, for tests/tui/export/test_events.py:
 *
 *     two_events FILE SLICE...
 *
 * From each of these slices on samples are of page-faults, from the next one of cpu-clock again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tui/session/session_write.h"

#define SLICES 12

int main(int argc, char **argv)
{
	struct profile *p = profile_new(10, 1000);
	struct profile_health health = {.elapsed = NS, .ncpus = 2, .frequency = 99};
	bool faults = false;
	struct session_writer *w;
	char error[256];
	int at = 2;

	if (argc < 2 || session_writer_new(argv[1], &w, error, sizeof(error)))
		return 1;
	for (int n = 0; n < SLICES; n++) {
		char stack[64];
		struct profile_cell cell = {.tid = 7, .kstack = PROFILE_NO_STACK};

		if (at < argc && atoi(argv[at]) == n) {
			at++;
			faults = !faults;
			profile_rewind(p);
		}
		strcpy(health.event, faults ? "page-faults" : "cpu-clock");
		/* The bits of a sum tell which slices are in it. */
		snprintf(stack, sizeof(stack), "main;%s", faults ? "faults" : "spins");
		cell.proc = feed_proc(p, 7, 1, "work", false);
		cell.ustack = feed_names(p, false, stack);
		cell.count = (uint32_t)1 << n;
		health.samples = cell.count;
		health.time += NS;
		health.clock = 1700000000 * NS + health.time;
		if (profile_commit(p, &cell, 1, &health) || session_note(w, p, &cell, 1, &health) ||
		    session_flush(w))
			return 1;
		profile_stack_put(p, cell.ustack);
	}
	session_writer_free(w);
	profile_free(p);
	return 0;
}
