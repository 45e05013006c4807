// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How much of what is counted: short numbers, and times of threads from microseconds to years.
 * Covers: tui/profile/units.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/profile/profile.h"
#include "tui/profile/units.h"

#define SECOND 1000000ull
#define HOUR   (3600 * SECOND)

static void times_are_short(void **state)
{
	static const struct {
		uint64_t us;
		const char *text;
	} cases[] = {
		{0, "0"},
		{1, "0.00 ms"}, /* not nothing */
		{10, "0.01 ms"},
		{412, "0.41 ms"},
		{9994, "9.99 ms"},
		{10000, "10 ms"},
		{999499, "999 ms"},
		{999500, "1.00 s"},
		{1234567, "1.23 s"},
		{9994999, "9.99 s"},
		{9995000, "10.0 s"},
		{12345678, "12.3 s"},
		{99949999, "99.9 s"},
		{99950000, "100 s"},
		{123456 * SECOND, "123456 s"},
		{9999999 * SECOND, "9999999 s"},
		{10000800 * SECOND, "2778 h"},
		{87600 * HOUR, "87600 h"}, /* ten years of one thread */
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		units_time(cases[i].us, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
	/* From one size to the next. */
	for (uint64_t us = 1; us < 1000000 * HOUR; us = us * 101 / 100 + 1) {
		units_time(us, text, sizeof(text));
		assert_true(strlen(text) <= 9);
	}
}

static void amounts_are_of_the_measure(void **state)
{
	static const struct profile_health clock = {.event = "cpu-clock"};
	static const struct profile_health faults = {.event = "page-faults", .counted = 9};
	static const struct {
		const struct profile_health *health;
		enum measure measure;
		uint64_t n;
		const char *text;
	} cases[] = {
		{&clock, MEASURE_CPU, 0, "0 samples"},
		{&clock, MEASURE_CPU, 1, "1 sample"},
		{&clock, MEASURE_CPU, 412, "412 samples"},
		{&faults, MEASURE_CPU, 12345, "12.3k faults"},
		{&clock, MEASURE_OFF, 412, "0.41 ms"},
		{&clock, MEASURE_WALL, 0, "0"},
		{&clock, MEASURE_WALL, 2 * SECOND, "2.00 s"},
	};
	char text[40];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		units_amount(cases[i].health, cases[i].measure, cases[i].n, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

/* The unit of an event only where it is known how often that happened. */
static void units_are_of_the_event(void **state)
{
	struct profile_health health = {.event = "context-switches", .counted = 5};

	(void)state;
	assert_string_equal(units_of(&health)->name, "switches");
	health.counted = 0;
	assert_string_equal(units_of(&health)->name, "samples");
	health = (struct profile_health){.event = "cpu-clock", .counted = 5};
	assert_string_equal(units_of(&health)->name, "samples");
	health = (struct profile_health){.event = "of-a-later-version", .counted = 5};
	assert_string_equal(units_of(&health)->name, "samples");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_short),
		cmocka_unit_test(amounts_are_of_the_measure),
		cmocka_unit_test(units_are_of_the_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
