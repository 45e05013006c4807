// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bookkeeping of slices that are kept and of slices that are not: over all that were shown,
 * what was taken is what was filtered, shown or lost. Expected sums are those that were put in.
 * Covers: tui/collect/accounting.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/collect/accounting.h"

/* Samples that the cells of a slice show, and what the sampler counted beside them. */
struct put {
	uint64_t shown, filtered, outside, full, busy, throttled, missed;
	bool kept;
};

static void run_slice(struct accounting *b, const struct put *put, struct profile_health *sum)
{
	struct sampler_count counts[2] = {{.value.count = put->shown / 3},
					  {.value.count = put->shown - put->shown / 3}};
	struct profile_health h = {.samples = put->shown, .kernel_samples = put->shown / 3};
	struct accounting_sums all = b->now; /* since the start */

	all.stats.samples += put->shown + put->filtered + put->outside + put->full + put->busy;
	all.stats.filtered += put->filtered + put->outside;
	all.stats.outside += put->outside;
	all.stats.counts_full += put->full;
	all.stats.counts_busy += put->busy;
	all.ticks.throttled += put->throttled;
	all.ticks.throttles += put->throttled ? 1 : 0;
	all.missed += put->missed;
	all.idle += 10;
	all.ticks.due = all.stats.samples + all.ticks.throttled + all.missed + all.idle;
	b->now = all;
	accounting_fill(b, false, &h);
	accounting_close(b, put->kept, counts, 2);
	if (!put->kept)
		return;
	assert_int_equal(h.user_samples + h.kernel_samples, h.samples);
	sum->taken += h.taken;
	sum->filtered += h.filtered;
	sum->outside += h.outside;
	sum->samples += h.samples;
	sum->idle += h.idle;
	sum->ticks += h.ticks;
	for (int i = 0; i < LOSS_COUNT; i++)
		sum->loss[i] += h.loss[i];
}

static void test_even(void **state)
{
	static const struct put puts[] = {
		{100, 5, 3, 0, 0, 0, 1, true},	 {200, 0, 8, 30, 2, 0, 0, false},
		{40, 7, 0, 0, 1, 9, 0, false},	 {1, 0, 0, 0, 0, 0, 0, true},
		{300, 0, 0, 4, 0, 50, 3, false}, {20, 2, 6, 1, 0, 0, 8, true},
		{10, 0, 0, 0, 0, 0, 0, true},
	};
	struct profile_health sum = {0};
	struct accounting b = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(puts) / sizeof(*puts); i++)
		run_slice(&b, &puts[i], &sum);
	assert_int_equal(sum.loss[LOSS_SLICE], 200 + 40 + 300);
	assert_int_equal(sum.loss[LOSS_COUNTS_FULL], 35);
	assert_int_equal(sum.loss[LOSS_BUSY], 3);
	assert_int_equal(sum.loss[LOSS_THROTTLED], 59);
	assert_int_equal(sum.loss[LOSS_MISSED], 12);
	assert_int_equal(sum.filtered, 14 + 17);
	assert_int_equal(sum.outside, 17);
	assert_int_equal(sum.samples, 131 + 540 + 38);
	assert_int_equal(sum.taken, sum.filtered + sum.samples);
	assert_int_equal(sum.ticks, sum.taken + sum.idle + 59 + 12);
	assert_int_equal(sum.idle, 70);
}

/* What a slice says of its stacks is what was added since the slice before. */
static void test_walks(void **state)
{
	static const struct {
		uint64_t walks, complete, complete_fp;
	} now[] = {{100, 90, 7}, {130, 118, 7}, {180, 160, 27}};
	struct profile_health h[3] = {{0}};
	struct accounting b = {0};

	(void)state;
	for (int i = 0; i < 3; i++) {
		b.now.stats.walks = now[i].walks;
		b.now.stats.complete = now[i].complete;
		b.now.stats.complete_fp = now[i].complete_fp;
		accounting_fill(&b, false, &h[i]);
		accounting_close(&b, true, NULL, 0);
	}
	assert_int_equal(h[1].user_walks, 30);
	assert_int_equal(h[1].complete_walks, 28);
	assert_int_equal(h[1].complete_fp_walks, 0);
	assert_int_equal(h[2].user_walks, 50);
	assert_int_equal(h[2].complete_walks, 42);
	assert_int_equal(h[2].complete_fp_walks, 20);
}

/* The sampler's sums, as they would be. */
static struct accounting_sums sampled;

/* A second of two CPUs at 99 Hz. */
static void clock_second(struct accounting *b, struct profile_health *h)
{
	sampled.stats.samples += 90;
	sampled.ticks.idle += 100;
	sampled.ticks.due += 198;
	accounting_take(b, &sampled.stats, &sampled.ticks);
	accounting_fill(b, false, h);
	accounting_close(b, true, NULL, 0);
}

static void test_another_event(void **state)
{
	struct accounting b = {0};
	struct profile_health h = {.samples = 90};

	(void)state;
	memset(&sampled, 0, sizeof(sampled));
	clock_second(&b, &h);
	assert_int_equal(h.idle, 100);
	assert_int_equal(h.loss[LOSS_MISSED], 8);
	/* Nothing is due while page faults are sampled, and idle time goes on. */
	accounting_restart(&b);
	for (int i = 0; i < 60; i++) {
		h = (struct profile_health){.samples = 5000};
		sampled.stats.samples += 5000;
		sampled.ticks.idle += 100;
		accounting_take(&b, &sampled.stats, &sampled.ticks);
		accounting_fill(&b, false, &h);
		accounting_close(&b, true, NULL, 0);
		assert_int_equal(h.taken, 5000);
		assert_int_equal(h.ticks + h.idle + h.loss[LOSS_MISSED], 0);
	}
	accounting_restart(&b);
	for (int i = 0; i < 3; i++) {
		h = (struct profile_health){.samples = 90};
		clock_second(&b, &h);
		assert_int_equal(h.taken, 90);
		assert_int_equal(h.ticks, 198);
		assert_int_equal(h.idle, 100);
		assert_int_equal(h.loss[LOSS_MISSED], 8);
	}
}

/* A slice, by what the sampler says of it; returns the ticks that it tells of. */
static uint64_t read_slice(struct accounting *b, uint64_t due, uint64_t samples, uint64_t idle,
			   uint64_t throttled)
{
	struct profile_health h = {.samples = samples};

	sampled.ticks.due += due;
	sampled.stats.samples += samples;
	sampled.ticks.idle += idle;
	sampled.ticks.throttled += throttled;
	accounting_take(b, &sampled.stats, &sampled.ticks);
	accounting_fill(b, false, &h);
	accounting_close(b, true, NULL, 0);
	assert_int_equal(h.taken, samples);
	assert_int_equal(h.loss[LOSS_THROTTLED], throttled);
	assert_int_equal(h.ticks, h.taken + h.idle + h.loss[LOSS_THROTTLED] + h.loss[LOSS_MISSED]);
	return h.ticks;
}

/* What is read late belongs to the slice before, and each slice adds up all the same. */
static void test_each_slice_adds_up(void **state)
{
	struct accounting b = {0};
	uint64_t told = 0, random = 1;

	(void)state;
	memset(&sampled, 0, sizeof(sampled));
	/* 6 idle ticks of the first are read in the second. */
	assert_int_equal(read_slice(&b, 200, 184, 10, 0), 200);
	assert_int_equal(read_slice(&b, 196, 187, 15, 0), 196);
	/* A sample before its tick, which the next slice has. */
	assert_int_equal(read_slice(&b, 0, 1, 0, 0) + read_slice(&b, 198, 180, 17, 0), 198);
	memset(&sampled, 0, sizeof(sampled));
	b = (struct accounting){0};
	for (uint64_t i = 1; i <= 1000; i++) {
		uint64_t sums[3] = {100 * i, 94 * i, 4 * i};

		/* 198 ticks, of which some are read early. */
		for (int j = 0; j < 3; j++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			sums[j] += (random >> 33) % 4;
		}
		told += read_slice(&b, 198, sums[0] - sampled.stats.samples,
				   sums[1] - sampled.ticks.idle, sums[2] - sampled.ticks.throttled);
		/* No more is carried than can have been read early. */
		assert_in_range(told, 198 * i, 198 * i + 9);
	}
}

static void test_warnings(void **state)
{
	struct profile_health h = {
		.elapsed = 1000000000, .ticks = 1000, .idle = 800, .loss[LOSS_MISSED] = 20};
	struct accounting b = {0};
	char text[320];

	(void)state;
	assert_false(accounting_warning(&b, &h, text, sizeof(text)));
	h.elapsed = 100000000;
	h.loss[LOSS_MISSED] = 50; /* of 200 */
	b.now.ticks.throttles = 3;
	assert_true(accounting_warning(&b, &h, text, sizeof(text)));
	assert_non_null(strstr(text, "throttles the sampling, 3 times"));
	assert_non_null(strstr(text, "lower -F, or raise kernel.perf_event_max_sample_rate"));
	assert_false(accounting_warning(&b, &h, text, sizeof(text))); /* too short to tell */
	h.elapsed = 1000000000;
	assert_true(accounting_warning(&b, &h, text, sizeof(text)));
	assert_memory_equal(text, "25 %", 4);
	assert_false(accounting_warning(&b, &h, text, sizeof(text)));
}

/* Ticks that were taken in BPF programs of others, and missed there before. */
static void test_others(void **state)
{
	struct accounting b = {.now.stats.skipped = 30};
	struct profile_health h = {.ticks = 400, .idle = 200, .elapsed = 1000000000};
	char text[320];

	(void)state;
	h.loss[LOSS_MISSED] = 20;
	assert_false(accounting_misses(&h)); /* of 200: no more than a tenth */
	assert_true(accounting_warning(&b, &h, text, sizeof(text)));
	assert_memory_equal(text, "25 % of the busy CPUs' ticks hit BPF programs of other tools",
			    60);
	h.loss[LOSS_MISSED] = 25;
	assert_true(accounting_misses(&h));
	assert_false(accounting_warning(&b, &h, text, sizeof(text)));
	h.loss[LOSS_MISSED] = 31; /* most have another cause */
	assert_true(accounting_warning(&b, &h, text, sizeof(text)));
	assert_non_null(strstr(text, "15 % of the busy CPUs' ticks came late"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_even),	      cmocka_unit_test(test_walks),
		cmocka_unit_test(test_another_event), cmocka_unit_test(test_each_slice_adds_up),
		cmocka_unit_test(test_warnings),      cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
