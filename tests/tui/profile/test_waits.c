// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is no sample: names of causes, what stacks say about their cells, what cells stand for, and
 * that no sum of slices loses any of that.
 * Covers: tui/profile/waits.c tui/profile/profile_names.c tui/profile/profile.c tui/profile/sum.c
 * Covers: tui/profile/decay.c tui/profile/frozen_sum.c tui/profile/recorded_sum.c
 * Covers: tui/profile/profile_fold.c tui/profile/celltable.c tui/query/query.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tui/profile/frozen_sum.h"
#include "tui/profile/profile_priv.h"
#include "tui/query/query.h"

/* --- names ----------------------------------------------------------------------------------- */

static const struct {
	enum wait_cause cause;
	const char *name;
	char letter;
} causes[WAIT_CAUSES] = {
	{WAIT_NONE, "on", '#'},	      {WAIT_RUNNABLE, "runnable", 'r'}, {WAIT_LOCK, "lock", 'L'},
	{WAIT_SLEEP, "sleep", 's'},   {WAIT_POLL, "poll", 'p'},		{WAIT_PIPE, "pipe", 'i'},
	{WAIT_SOCKET, "socket", 'n'}, {WAIT_DISK, "disk", 'D'},		{WAIT_FAULT, "fault", 'f'},
	{WAIT_CHILD, "child", 'c'},   {WAIT_STOPPED, "stopped", 'T'},	{WAIT_OTHER, "other", 'o'},
};

static void causes_have_names(void **state)
{
	(void)state;
	for (int i = 0; i < WAIT_CAUSES; i++) {
		const struct wait_text *text = wait_text(causes[i].cause);

		assert_int_equal(causes[i].cause, i);
		assert_string_equal(text->name, causes[i].name);
		assert_int_equal(text->letter, causes[i].letter);
		assert_true(text->means[0]);
		assert_int_equal(wait_by_name(causes[i].name), causes[i].cause);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(text->letter, causes[k].letter);
	}
	assert_int_equal(wait_by_name("nothing"), WAIT_NONE);
	assert_int_equal(wait_by_name(""), WAIT_NONE);
	assert_string_equal(wait_text(WAIT_CAUSES)->name, "other");
	assert_string_equal(measure_name(MEASURE_CPU), "cpu");
	assert_string_equal(measure_name(MEASURE_OFF), "off-cpu");
	assert_string_equal(measure_name(MEASURE_WALL), "wall");
}

/* --- stacks ---------------------------------------------------------------------------------- */

static void assert_use(const struct profile *p, uint32_t id, enum stack_use use,
		       enum wait_cause cause)
{
	const struct profile_stack *stack = query_stack(p, id);

	assert_non_null(stack);
	assert_int_equal(stack->use, use);
	assert_int_equal(stack->cause, cause);
}

static void stacks_say_what_their_cells_are(void **state)
{
	static const struct {
		const char *frames;
		enum stack_use use;
		enum wait_cause cause;
	} cases[] = {
		{"main;work", STACK_SAMPLES, WAIT_NONE},
		{"k:entry;k:schedule", STACK_SAMPLES, WAIT_NONE},
		{"k:entry;k:schedule;wait:lock", STACK_WAITS, WAIT_LOCK},
		{"wait:runnable", STACK_WAITS, WAIT_RUNNABLE},
		{"k:entry;wait:on", STACK_WAITS, WAIT_NONE},
		{"time:disk", STACK_TIMES, WAIT_DISK},
		{"time:on", STACK_TIMES, WAIT_NONE},
		{"k:futex;wait:lock;lock:0x10", STACK_WAKES, WAIT_LOCK},
		{"k:read;wait:pipe;waker:cat@pid 7;k:pipe_write;main", STACK_WAKES, WAIT_PIPE},
		{"waker:interrupt", STACK_WAKES, WAIT_NONE},
		/* What is woken for is not what the first one waits for. */
		{"wait:lock;lock:0x10;waker:a@pid 7;wait:disk", STACK_WAKES, WAIT_LOCK},
	};
	struct profile *p = profile_new(10, 100);
	const uint32_t wait = feed_func(p, FUNC_WAIT, "lock");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_use(p, feed_frames(p, cases[i].frames, 0), cases[i].use, cases[i].cause);
	/* Only those of the kernel say that. */
	assert_use(p, feed_stack(p, false, true, &wait, 1), STACK_SAMPLES, WAIT_NONE);
	profile_free(p);
}

static void waits_have_stacks(void **state)
{
	struct profile *p = profile_new(10, 100);
	const uint32_t kernel[] = {feed_func(p, FUNC_KERNEL, "entry"),
				   feed_func(p, FUNC_KERNEL, "schedule")};

	(void)state;
	for (int cause = WAIT_NONE; cause < WAIT_CAUSES; cause++) {
		const enum wait_cause of = (enum wait_cause)cause;
		const uint32_t deep = (uint32_t)profile_wait_stack(p, kernel, 2, of);
		const uint32_t bare = (uint32_t)profile_wait_stack(p, NULL, 0, of);
		const uint32_t time = profile_time_stack(p, of);
		const struct profile_stack *stack = query_stack(p, deep);

		assert_use(p, deep, STACK_WAITS, of);
		assert_use(p, bare, STACK_WAITS, of);
		assert_use(p, time, STACK_TIMES, of);
		assert_int_equal(stack->nframes, 3);
		assert_int_equal(stack->frames[0], kernel[0]);
		assert_int_equal(stack->frames[1], kernel[1]);
		assert_string_equal(query_func(p, stack->frames[2])->name, causes[cause].name);
		assert_int_equal(query_func(p, stack->frames[2])->kind, FUNC_WAIT);
		assert_int_equal(query_stack(p, bare)->nframes, 1);
		assert_int_equal(query_stack(p, bare)->frames[0], stack->frames[2]);
		assert_int_equal(query_func(p, query_stack(p, time)->frames[0])->kind, FUNC_TIME);
		assert_int_equal(profile_wait_stack(p, kernel, 2, of), deep);
		assert_int_equal(profile_wait_stack(p, NULL, 0, of), bare);
	}
	profile_free(p);
}

/* --- weights --------------------------------------------------------------------------------- */

static uint64_t weight_of(const char *event, unsigned int frequency, uint64_t counted,
			  uint64_t taken, uint64_t count, uint64_t given)
{
	struct profile *p = profile_new(10, 100);
	struct profile_health health = {.elapsed = NS,
					.ncpus = 1,
					.frequency = frequency,
					.counted = counted,
					.taken = taken,
					.weight = 77, /* is not asked */
					.samples = count};
	const struct profile_cell *cells;
	struct profile_cell fed[] = {
		{.proc = feed_proc(p, 1, 1, "a", false),
		 .ustack = feed_names(p, false, "main"),
		 .kstack = PROFILE_NO_STACK,
		 .count = count,
		 .weight = given},
		/* Not a part of the sum. */
		{.proc = feed_proc(p, 1, 1, "a", false),
		 .ustack = PROFILE_NO_STACK,
		 .kstack = (uint32_t)profile_wait_stack(p, NULL, 0, WAIT_LOCK),
		 .count = 3,
		 .weight = 5000},
	};
	uint64_t weight = 0;
	size_t n;

	snprintf(health.event, sizeof(health.event), "%s", event);
	assert_int_equal(profile_commit(p, fed, 2, &health), 0);
	assert_true(query_slice_cells(p, 1, &cells, &n, &health));
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++)
		if (cells[i].kstack == PROFILE_NO_STACK)
			weight = cells[i].weight;
		else
			assert_int_equal(cells[i].weight, 5000);
	assert_int_equal(health.weight, weight);
	profile_free(p);
	return weight;
}

static void cells_stand_for_time_or_events(void **state)
{
	(void)state;
	assert_int_equal(weight_of("cpu-clock", 100, 0, 0, 7, 0), 70000);
	assert_int_equal(weight_of("cpu-clock", 1000, 0, 0, 1, 0), 1000);
	assert_int_equal(weight_of("cpu-clock", 100, 0, 0, 7, 12345), 12345);
	/* A count of a clock's ticks is no number of events. */
	assert_int_equal(weight_of("cpu-clock", 100, 9999, 10, 7, 0), 70000);
	assert_int_equal(weight_of("page-faults", 100, 3000, 12, 3, 0), 750);
	assert_int_equal(weight_of("page-faults", 100, 10, 3, 2, 0), 7); /* 6.67 */
	assert_int_equal(weight_of("page-faults", 100, 3000, 12, 3, 5), 5);
	/* Not known, as of recordings by older versions. */
	assert_int_equal(weight_of("page-faults", 100, 0, 12, 3, 0), 3);
	assert_int_equal(weight_of("page-faults", 100, 3000, 0, 3, 0), 3);
	assert_int_equal(weight_of("cpu-clock", 0, 0, 0, 3, 0), 3);
}

/* --- sums ------------------------------------------------------------------------------------ */

struct two { /* of samples, and of waits */
	uint64_t samples, sampled;
	uint64_t waits, waited;
};

static int add_cell(const struct profile_cell *cell, void *arg)
{
	struct two *two = arg;

	if (cell->kstack == PROFILE_NO_STACK) {
		two->samples += cell->count;
		two->sampled += cell->weight;
	} else {
		two->waits += cell->count;
		two->waited += cell->weight;
	}
	return 0;
}

static struct two sum_of(const struct profile *p, enum span span)
{
	const struct query q = {
		.span = span, .proc = QUERY_ALL, .measure = MEASURE_WALL, .both = true};
	struct two two = {0};

	assert_int_equal(query_cells(p, &q, add_cell, &two), 0);
	return two;
}

static void assert_two(struct two two, uint64_t samples, uint64_t sampled, uint64_t waits,
		       uint64_t waited)
{
	assert_int_equal(two.samples, samples);
	assert_int_equal(two.sampled, sampled);
	assert_int_equal(two.waits, waits);
	assert_int_equal(two.waited, waited);
}

/* A second of 100 Hz with so many samples, and waits of the same two stacks. */
static void commit(struct profile *p, uint64_t samples, uint64_t waits, uint64_t waited)
{
	const struct profile_health health = {.elapsed = NS,
					      .ncpus = 1,
					      .frequency = 100,
					      .event = "cpu-clock",
					      .samples = samples};
	const uint32_t proc = feed_proc(p, 1, 1, "a", false);
	const uint32_t ustack = feed_names(p, false, "main;work");
	const uint32_t kstack = feed_frames(p, "k:schedule;wait:disk", 0);
	const struct profile_cell cells[] = {
		{.proc = proc,
		 .tid = 1,
		 .ustack = ustack,
		 .kstack = PROFILE_NO_STACK,
		 .count = samples},
		{.proc = proc,
		 .tid = 1,
		 .ustack = ustack,
		 .kstack = kstack,
		 .count = waits,
		 .weight = waited},
	};

	assert_int_equal(profile_commit(p, cells, 2, &health), 0);
	profile_stack_put(p, ustack);
	profile_stack_put(p, kstack);
}

static void sums_keep_weights(void **state)
{
	struct profile *p = profile_new(2, 1000);

	(void)state;
	commit(p, 10, 4, 8000);
	commit(p, 20, 1, 500000);
	commit(p, 40, 2, 2000);
	assert_two(sum_of(p, SPAN_LAST), 40, 400000, 2, 2000);
	assert_two(sum_of(p, SPAN_WINDOW), 60, 600000, 3, 502000);
	assert_two(sum_of(p, SPAN_TOTAL), 70, 700000, 7, 510000);
	/* A second is half a window: weights of 1, 1/2 and 1/4. */
	/* 52.5 samples: the half that is cut off is added to 3.5 waits. */
	assert_two(sum_of(p, SPAN_DECAY), 52, 525000, 4, 254000);
	assert_int_equal(frozen_sum_span(p, FROZEN_MOMENT, SPAN_WINDOW), 0);
	assert_int_equal(frozen_sum_slices(p, FROZEN_BEFORE, 1, 1), 0);
	commit(p, 80, 8, 1000);
	commit(p, 80, 8, 1000);
	assert_two(sum_of(p, SPAN_MOMENT), 60, 600000, 3, 502000);
	assert_two(sum_of(p, SPAN_BEFORE), 10, 100000, 4, 8000);
	assert_two(sum_of(p, SPAN_WINDOW), 160, 1600000, 16, 2000);
	/* The one before the window has what has left it. */
	assert_two(sum_of(p, SPAN_TOTAL), 230, 2300000, 23, 512000);
	profile_zero(p);
	assert_two(sum_of(p, SPAN_TOTAL), 0, 0, 0, 0);
	assert_two(sum_of(p, SPAN_MOMENT), 60, 600000, 3, 502000);
	frozen_sum_drop(p, FROZEN_MOMENT);
	frozen_sum_drop(p, FROZEN_BEFORE);
	profile_free(p);
}

/* One long wait, which is less than one when it weighs less. */
static void long_waits_decay_slowly(void **state)
{
	struct profile *p = profile_new(2, 1000);
	const struct query q = {.span = SPAN_DECAY, .proc = QUERY_ALL, .measure = MEASURE_OFF};

	(void)state;
	commit(p, 10, 1, 4000000);
	assert_int_equal(feed_commit(p, NULL, 0), 0);
	assert_int_equal(query_samples(p, &q, NULL), 2000000);
	assert_int_equal(feed_commit(p, NULL, 0), 0);
	assert_int_equal(query_samples(p, &q, NULL), 1000000);
	profile_free(p);
}

/* Of a session: weights that it gives stay, the others are those of its health. */
static void recorded_sums_keep_weights(void **state)
{
	struct profile *p = profile_new(2, 1000);
	const struct profile_health health = {
		.elapsed = NS, .ncpus = 1, .frequency = 100, .event = "cpu-clock"};
	const uint32_t proc = feed_proc(p, 1, 1 | PROFILE_RECORDED, "a", true);
	const struct profile_cell cells[] = {
		{.proc = proc,
		 .ustack = feed_names(p, false, "main"),
		 .kstack = PROFILE_NO_STACK,
		 .count = 9},
		{.proc = proc,
		 .ustack = PROFILE_NO_STACK,
		 .kstack = feed_frames(p, "k:a;wait:lock", 0),
		 .count = 2,
		 .weight = 300},
	};

	(void)state;
	assert_int_equal(frozen_sum_recorded(p, cells, 2, &health), 0);
	assert_two(sum_of(p, SPAN_BASELINE), 9, 90000, 2, 300);
	feed_proc(p, 2, 1, "a", false);
	assert_int_equal(frozen_sum_match(p), 0);
	assert_two(sum_of(p, SPAN_BASELINE), 9, 90000, 2, 300);
	profile_free(p);
}

/* --- folding --------------------------------------------------------------------------------- */

#define KINDS 300 /* different stacks of each slice */
#define MAX   200 /* cells that totals keep */

struct by_use {
	uint64_t us[STACK_WAKES + 1][WAIT_CAUSES];
	uint64_t samples;
};

static int add_use(const struct profile_cell *cell, void *arg)
{
	struct by_use *to = ((void **)arg)[1];
	const struct profile *p = ((void **)arg)[0];
	const struct profile_stack *stack =
		cell->kstack == PROFILE_NO_STACK ? NULL : query_stack(p, cell->kstack);

	if (stack)
		to->us[stack->use][stack->cause] += cell->weight;
	else
		to->samples += cell->count;
	return 0;
}

/* Stacks of all kinds, none of which comes twice. */
static void commit_kinds(struct profile *p, unsigned int round, struct by_use *all)
{
	static struct profile_cell cells[KINDS];
	const uint32_t proc = feed_proc(p, 1, 1, "a", false);

	for (unsigned int i = 0; i < KINDS; i++) {
		const enum wait_cause cause = (enum wait_cause)(1 + i % (WAIT_CAUSES - 1));
		const unsigned int us = 1 + i + 1000 * round;
		char name[96];

		cells[i] = (struct profile_cell){.proc = proc,
						 .tid = 1,
						 .ustack = PROFILE_NO_STACK,
						 .kstack = PROFILE_NO_STACK,
						 .count = 1 + i % 3,
						 .weight = us};
		snprintf(name, sizeof(name), "main;f%u_%u", round, i);
		cells[i].ustack = feed_names(p, false, name);
		if (i % 4 == 0) {
			all->samples += cells[i].count;
			continue;
		}
		snprintf(name, sizeof(name), "k:f%u_%u;wait:%s%s", round, i, wait_text(cause)->name,
			 i % 4 == 1 ? "" : ";lock:0x10");
		cells[i].kstack =
			i % 4 == 3 ? profile_time_stack(p, cause) : feed_frames(p, name, 0);
		/* Which cause wakes have is lost: their time is told by those of waits. */
		if (i % 4 != 2)
			all->us[i % 4 == 1 ? STACK_WAITS : STACK_TIMES][cause] += us;
		else
			all->us[STACK_WAKES][WAIT_NONE] += us;
	}
	assert_int_equal(feed_commit(p, cells, KINDS), 0);
	for (unsigned int i = 0; i < KINDS; i++) {
		profile_stack_put(p, cells[i].ustack);
		if (i % 4 == 1 || i % 4 == 2)
			profile_stack_put(p, cells[i].kstack);
	}
}

static struct by_use uses_of(struct profile *p, enum span span)
{
	static const enum measure measures[] = {MEASURE_WALL, MEASURE_TIME, MEASURE_WAKES};
	struct by_use found = {0};
	void *arg[] = {p, &found};

	for (size_t i = 0; i < 3; i++) {
		const struct query q = {
			.span = span, .proc = QUERY_ALL, .measure = measures[i], .both = true};

		assert_int_equal(query_cells(p, &q, add_use, arg), 0);
	}
	for (int cause = 1; cause < WAIT_CAUSES; cause++) {
		found.us[STACK_WAKES][WAIT_NONE] += found.us[STACK_WAKES][cause];
		found.us[STACK_WAKES][cause] = 0;
	}
	return found;
}

static void folding_keeps_times_and_causes(void **state)
{
	struct profile *p = profile_new(2, MAX);
	struct by_use all = {0}, found;

	(void)state;
	for (unsigned int round = 0; round < 6; round++)
		commit_kinds(p, round, &all);
	assert_in_range(p->totals.cells.count, 1, MAX);
	found = uses_of(p, SPAN_TOTAL);
	assert_int_equal(found.samples, all.samples);
	for (int use = STACK_WAITS; use <= STACK_WAKES; use++)
		for (int cause = 0; cause < WAIT_CAUSES; cause++)
			if (found.us[use][cause] != all.us[use][cause])
				fail_msg("use %d, %s: %llu us instead of %llu", use,
					 causes[cause].name,
					 (unsigned long long)found.us[use][cause],
					 (unsigned long long)all.us[use][cause]);
	profile_free(p);
}

/* Without memory for stacks: a new one of a wait is its cause alone. */
static void waits_without_memory_keep_their_cause(void **state)
{
	struct profile *p = profile_new(2, 1000);
	const uint32_t wait = (uint32_t)profile_wait_stack(p, NULL, 0, WAIT_DISK);
	uint32_t kernel;

	(void)state;
	kernel = feed_func(p, FUNC_KERNEL, "entry");
	profile_bound(p, 1);
	assert_int_equal(profile_wait_stack(p, &kernel, 1, WAIT_DISK), wait);
	assert_int_equal(feed_frames(p, "k:entry;wait:disk", 0), wait);
	assert_use(p, feed_frames(p, "k:entry;wait:disk;lock:0x10", 0), STACK_WAKES, WAIT_NONE);
	assert_use(p, feed_frames(p, "k:entry", 0), STACK_SAMPLES, WAIT_NONE);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(causes_have_names),
		cmocka_unit_test(stacks_say_what_their_cells_are),
		cmocka_unit_test(waits_have_stacks),
		cmocka_unit_test(cells_stand_for_time_or_events),
		cmocka_unit_test(sums_keep_weights),
		cmocka_unit_test(long_waits_decay_slowly),
		cmocka_unit_test(recorded_sums_keep_weights),
		cmocka_unit_test(folding_keeps_times_and_causes),
		cmocka_unit_test(waits_without_memory_keep_their_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
