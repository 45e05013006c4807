// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which refreshes --from and --to mean: those whose ends are next to the times, since each refresh
 * comes a little late.
 * Covers: tui/session/player.c
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/recorded.h"
#include "tui/profile/source.h"
#include "tui/session/player.h"

#define PATIENCE 60000 /* ms */
#define LATE	 3000000ull

/* Ten refreshes of a second, each 3 ms late; slice n has n samples, from 1 on. */
static int make_session(void **state)
{
	struct profile_health health = {.ncpus = 1, .frequency = 99, .event = "cpu-clock"};
	struct profile *p = profile_new(WINDOW, CELLS);
	struct session_writer *w;
	char error[256];

	if (make_folder(state) || session_writer_new(path, &w, error, sizeof(error)))
		return -1;
	for (uint64_t n = 1; n <= 10; n++) {
		health.elapsed = NS + LATE;
		health.time += health.elapsed;
		health.clock = 1700000000 * NS + health.time;
		health.samples = n;
		profile_lock(p);
		if (profile_commit(p, NULL, 0, &health) || session_note(w, p, NULL, 0, &health))
			return -1;
		profile_unlock(p);
		if (session_flush(w))
			return -1;
	}
	session_writer_free(w);
	profile_free(p);
	return 0;
}

/* The refreshes of these times are first..last; a time below 0 is not given. */
static void assert_plays(double from, double to, uint64_t first, uint64_t last)
{
	const struct player_options options = {.batch = true,
					       .speed = 1,
					       .path = path,
					       .from = {.given = from >= 0, .seconds = from},
					       .to = {.given = to >= 0, .seconds = to}};
	struct profile *p = profile_new(WINDOW, CELLS);
	struct source *source;
	char error[256] = "";

	if (player_new(p, &options, &source, error, sizeof(error)))
		fail_msg("%s", error);
	for (uint64_t n = first; n <= last; n++) {
		struct pollfd fd = {.fd = source->event, .events = POLLIN};
		struct profile_health health;
		uint64_t count;

		while (source->slices < n - first + 1) {
			assert_int_equal(poll(&fd, 1, PATIENCE), 1);
			if (read(fd.fd, &count, sizeof(count)) < 0)
				assert_int_equal(errno, EAGAIN);
		}
		profile_lock(p);
		query_health(p, &health);
		profile_unlock(p);
		assert_int_equal(health.samples, n);
		if (n < last)
			assert_false(source->finished);
		source_post(source, SOURCE_NEXT, NULL);
	}
	for (int waited = 0; !source->finished; waited++) {
		assert_true(waited < PATIENCE);
		usleep(1000);
	}
	assert_int_equal(source->slices, last - first + 1);
	source_free(source);
	profile_free(p);
}

static void times_are_those_of_refreshes(void **state)
{
	(void)state;
	assert_plays(-1, -1, 1, 10);
	assert_plays(0, -1, 1, 10);
	assert_plays(1, -1, 2, 10);
	assert_plays(3, 7, 4, 7);
	assert_plays(-1, 1, 1, 1);
	assert_plays(0, 1, 1, 1);
	assert_plays(9, 10, 10, 10);
	assert_plays(3.006, -1, 4, 10);
	assert_plays(3.1, 7.9, 4, 8);
	assert_plays(2.9, 1000, 4, 10);
}

static void no_refresh_is_an_error(void **state)
{
	static const double times[][2] = {{3, 3}, {5, 4}, {11, 12}, {0, 0.2}};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		const struct player_options options = {
			.batch = true,
			.speed = 1,
			.path = path,
			.from = {.given = true, .seconds = times[i][0]},
			.to = {.given = true, .seconds = times[i][1]}};
		struct profile *p = profile_new(WINDOW, CELLS);
		struct source *source;
		char error[256] = "";

		assert_int_equal(player_new(p, &options, &source, error, sizeof(error)), -ERANGE);
		profile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_those_of_refreshes),
		cmocka_unit_test(no_refresh_is_an_error),
	};

	return cmocka_run_group_tests_name("player_times", tests, make_session, remove_folder);
}
