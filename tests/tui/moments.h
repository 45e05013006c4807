/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_TUI_MOMENTS_H
#define STACKTOP_TESTS_TUI_MOMENTS_H

/*
 * Seconds of the made-up machine in a session, in some of which something is there beside the
 * samples, and a replay that goes back and forth to see when it is.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/tui/feed.h"
#include "tui/feeder.h"
#include "tui/session_read.h"
#include "tui/session_write.h"

/* What is there after the slices before next, 0: nothing. */
struct moment_place {
	uint32_t next;
	uint64_t there;
};

/* give is called before the commit of each second, the lock held. */
static inline void record_moments(const char *path, int seconds,
				  void (*give)(struct feed *f, struct session_writer *w, int n))
{
	struct session_writer *w;
	struct feed f;
	char error[256];

	feed_open(&f);
	if (session_writer_new(path, &w, error, sizeof(error)))
		fail_msg("%s", error);
	for (int n = 0; n < seconds; n++) {
		const struct profile_cell cell = {.proc = f.nginx,
						  .tid = 4121,
						  .ustack = f.stacks[0],
						  .kstack = PROFILE_NO_STACK,
						  .count = 1};
		struct profile_health health;

		f.time += FEED_SECOND;
		profile_lock(f.p);
		give(&f, w, n);
		feed_health(&f, &health, 1, 0, 1);
		assert_int_equal(profile_commit(f.p, &cell, 1, &health), 0);
		assert_int_equal(session_note(w, f.p, &cell, 1, &health), 0);
		profile_unlock(f.p);
		assert_int_equal(session_flush(w), 0);
	}
	session_writer_free(w);
	feed_close(&f);
}

/* Goes from each place to the next one; has: what is there now. */
static inline void assert_moments(const char *path, const struct moment_place *places, size_t count,
				  uint64_t (*has)(struct profile *p))
{
	struct profile *p = profile_new(10, 1000);
	struct feeder *feeder;
	struct session *s;
	char error[256];
	uint32_t at = 0;

	if (session_open(path, &s, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(feeder_new(p, s, &feeder), 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(feeder_go(feeder, 0, at, places[i].next), 0);
		at = places[i].next;
		assert_int_equal(has(p), places[i].there);
	}
	feeder_free(feeder);
	session_free(s);
	profile_free(p);
}

#endif
