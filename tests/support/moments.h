/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_MOMENTS_H
#define STACKTOP_TESTS_SUPPORT_MOMENTS_H

/*
 * Seconds of the made-up machine in a session, in some of which something is there beside the
 * samples, and a replay that goes back and forth to see when it is.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/machine.h"
#include "tui/session/session_write.h"

/* What is there after the slices before next, 0: nothing. */
struct moment_place {
	uint32_t next;
	uint64_t there;
};

/* give is called before the commit of each second, the lock held. */
void record_moments(const char *path, int seconds,
		    void (*give)(struct machine *f, struct session_writer *w, int n));

/* Goes from each place to the next one; has: what is there now. */
void assert_moments(const char *path, const struct moment_place *places, size_t count,
		    uint64_t (*has)(struct profile *p));

#endif
