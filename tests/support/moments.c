// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/moments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/session/feeder.h"
#include "tui/session/session_read.h"

void record_moments(const char *path, int seconds,
		    void (*give)(struct machine *f, struct session_writer *w, int n))
{
	struct session_writer *w;
	struct machine f;
	char error[256];

	machine_open(&f);
	if (session_writer_new(path, &w, error, sizeof(error)))
		fail_msg("%s", error);
	for (int n = 0; n < seconds; n++) {
		const struct profile_cell cell = {.proc = f.nginx,
						  .tid = 4121,
						  .ustack = f.stacks[0],
						  .kstack = PROFILE_NO_STACK,
						  .count = 1};
		struct profile_health health;

		f.time += MACHINE_SECOND;
		profile_lock(f.p);
		give(&f, w, n);
		machine_health(&f, &health, 1, 0, 1);
		assert_int_equal(profile_commit(f.p, &cell, 1, &health), 0);
		assert_int_equal(session_note(w, f.p, &cell, 1, &health), 0);
		profile_unlock(f.p);
		assert_int_equal(session_flush(w), 0);
	}
	session_writer_free(w);
	machine_close(&f);
}

void assert_moments(const char *path, const struct moment_place *places, size_t count,
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
