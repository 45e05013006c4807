// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=tracker_keep_dead */
/*
 * The tracker keeps what it knows of an ended process for as long as samples of it may come: in the
 * slice in which it ended, and in the next, which may be late.
 * Covers: tui/collect/collector_post.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/collect/collector_priv.h"

static uint64_t kept; /* ns */

void __wrap_tracker_keep_dead(struct tracker *t, uint64_t ns);
void __wrap_tracker_keep_dead(struct tracker *t, uint64_t ns)
{
	(void)t;
	kept = ns;
}

static void ended_processes_outlast_two_slices(void **state)
{
	static const double periods[] = {COLLECTOR_DELAY_MIN, 1, 10, COLLECTOR_DELAY_MAX};
	static struct collector c;

	(void)state;
	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		collector_set_period(&c, periods[i]);
		assert_true(atomic_load(&c.period) == (uint64_t)(periods[i] * 1e9));
		assert_true((double)kept > 2 * periods[i] * 1e9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ended_processes_outlast_two_slices)};

	return cmocka_run_group_tests_name("period", tests, NULL, NULL);
}
