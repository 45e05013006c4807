// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What each CPU did is recorded with its slice, and is there again in a replay, as long as its
 * slice. Covers: tui/session/session_write.c tui/session/session_read.c tui/session/feeder.c
 * Covers: tui/profile/cpu_use.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/machine.h"
#include "tests/support/scratch.h"
#include "tui/session/feeder.h"
#include "tui/session/session_read.h"
#include "tui/session/session_write.h"

#define SLICES 30

/* Of every third slice nothing is known; a CPU in the middle comes and goes. */
static size_t use_of(uint64_t n, struct cpu_use use[3])
{
	size_t count = 0;

	for (uint16_t cpu = 0; cpu < 3; cpu++)
		if (cpu != 1 || n % 2)
			use[count++] = (struct cpu_use){(uint16_t)(cpu * 100), (uint16_t)(10 * n),
							(uint16_t)(n + cpu)};
	return n % 3 ? count : 0;
}

static void commit(struct machine *f, uint64_t n, struct session_writer *w)
{
	struct profile_cell cell = {f->nginx, 4121, f->stacks[0], PROFILE_NO_STACK, 50 + n, 0, 0};
	struct profile_health health;
	struct cpu_use use[3];
	size_t count = use_of(n, use);

	f->time += MACHINE_SECOND;
	machine_health(f, &health, 50 + n, 0, 50);
	health.clock = (1600000000 + n) * MACHINE_SECOND;
	profile_lock(f->p);
	assert_int_equal(profile_commit(f->p, &cell, 1, &health), 0);
	assert_int_equal(profile_cpu_use(f->p, use, count), 0);
	assert_int_equal(session_note(w, f->p, &cell, 1, &health), 0);
	profile_unlock(f->p);
	assert_int_equal(session_flush(w), 0);
}

static void assert_use(const struct cpu_use *got, size_t ngot, uint64_t n)
{
	struct cpu_use want[3];
	size_t count = use_of(n, want);

	assert_int_equal(ngot, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(got[i].cpu, want[i].cpu);
		assert_int_equal(got[i].user, want[i].user);
		assert_int_equal(got[i].kernel, want[i].kernel);
	}
}

static void record(const char *path)
{
	struct session_writer *w;
	struct machine f;
	char error[256];

	machine_open(&f);
	assert_int_equal(session_writer_new(path, &w, error, sizeof(error)), 0);
	for (uint64_t n = 0; n < SLICES; n++)
		commit(&f, n, w);
	session_writer_free(w);
	machine_close(&f);
}

static void it_comes_back(void **state)
{
	char folder[SCRATCH], path[SCRATCH + 16], error[256];
	struct session *s;
	struct feeder *feeder;
	struct profile *p = profile_new(10, 16384);
	struct cpu_use use[3];

	(void)state;
	scratch_folder(folder, "use");
	snprintf(path, sizeof(path), "%s/session", folder);
	record(path);
	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	assert_int_equal(session_slices(s), SLICES);
	for (uint32_t n = 0; n < SLICES; n++) {
		struct session_slice slice;

		assert_int_equal(session_read(s, n, &slice), 0);
		assert_int_equal(slice.cells[0].count, 50 + n);
		assert_int_equal(slice.cells[0].cpu, 0);
		assert_use(slice.use, slice.nuse, n);
	}
	assert_int_equal(feeder_new(p, s, &feeder), 0);
	for (uint32_t n = 0; n < SLICES; n++) {
		assert_int_equal(feeder_slice(feeder, n, true), 0);
		profile_lock(p);
		assert_use(use, query_cpu_use(p, session_time(s, n), use, 3), n);
		profile_unlock(p);
	}
	profile_lock(p);
	assert_use(use, query_cpu_use(p, session_time(s, SLICES - 5), use, 3), SLICES - 5);
	assert_int_equal(query_cpu_use(p, session_time(s, SLICES - 5), use, 1), 1);
	/* Slices that are forgotten take it with them. */
	profile_zero(p);
	assert_int_equal(query_cpu_use(p, session_time(s, SLICES - 1), use, 3), 0);
	profile_unlock(p);
	feeder_free(feeder);
	session_free(s);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(it_comes_back)};

	return cmocka_run_group_tests(tests, NULL, scratch_remove);
}
