// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When a difference of two shares is more than chance. One witness is the simulation of a machine
 * on which nothing changes: of 10,000 differences one in 20 may be taken for a change. The other is
 * arithmetic by hand, on both sides of the bound.
 * Covers: tui/screen/delta.c
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tui/screen/delta.h"
#include "tui/screen/grid.h"

#define DRAWS 10000

/* How many of n samples hit what has that share. */
static uint64_t binomial(uint64_t *random, uint64_t n, double share)
{
	uint64_t hits = 0;

	while (n--)
		hits += feed_random(random, 1u << 30) < share * (1u << 30);
	return hits;
}

/* Samples that come by chance, so many on average. */
static uint64_t poisson(uint64_t *random, double mean)
{
	double product = 1;
	uint64_t n = 0;

	while ((product *= (feed_random(random, 1u << 30) + 1.0) / (1u << 30)) > exp(-mean))
		n++;
	return n;
}

static void chance_has_no_colour(void **state)
{
	static const struct {
		uint64_t now_of, before_of;
		double share;
	} cases[] = {
		{3, 3, 0.5},	 {20, 20, 0.3},	  {100, 100, 0.01}, {100, 100, 0.05},
		{50, 50, 0.5},	 {200, 200, 0.5}, {20, 200, 0.5},   {200, 20, 0.04},
		{500, 50, 0.05}, {300, 300, 0.1}, {400, 20, 0.9},
	};
	uint64_t random = 0x5eed5eed5eed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int coloured = 0;

		for (int k = 0; k < DRAWS; k++) {
			struct delta d = delta_of_shares(
				binomial(&random, cases[i].now_of, cases[i].share), cases[i].now_of,
				binomial(&random, cases[i].before_of, cases[i].share),
				cases[i].before_of);

			coloured += d.sure;
			assert_true(d.sure || delta_role(&d) == ROLE_DIM);
		}
		assert_true(coloured <= DRAWS / 20);
	}
}

static void chance_of_rates_has_no_colour(void **state)
{
	static const struct {
		double mean, times; /* samples of the time before; the time of now, in such times */
	} cases[] = {{0.5, 1}, {3, 1}, {10, 1}, {40, 1}, {40, 0.1}, {5, 10}, {4, 50}};
	uint64_t random = 0x5eed5eed5eed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int coloured = 0;

		for (int k = 0; k < DRAWS; k++)
			coloured += delta_of_rates(poisson(&random, cases[i].mean * cases[i].times),
						   990 * cases[i].times,
						   poisson(&random, cases[i].mean), 990)
					    .sure;
		assert_true(coloured <= DRAWS / 20);
	}
}

/* The bound is not so high that nothing is ever found. */
static void changes_are_found(void **state)
{
	uint64_t random = 0x5eed;
	int shares = 0, rates = 0;

	(void)state;
	for (int k = 0; k < 1000; k++) {
		struct delta d = delta_of_shares(binomial(&random, 400, 0.2), 400,
						 binomial(&random, 400, 0.1), 400);

		shares += d.sure && delta_role(&d) == ROLE_UP;
		d = delta_of_rates(poisson(&random, 50), 990, poisson(&random, 100), 990);
		rates += d.sure && delta_role(&d) == ROLE_DOWN;
	}
	assert_true(shares > 950);
	assert_true(rates > 950);
}

struct example {
	uint64_t now, now_of, before, before_of;
	const char *text;
	enum role role;
	bool sure;
};

static void assert_example(const struct delta *d, const struct example *e, const struct grid *g)
{
	char text[32];

	delta_text(d, g, text, sizeof(text));
	assert_string_equal(text, e->text);
	assert_int_equal(delta_role(d), e->role);
	assert_int_equal(d->sure, e->sure);
}

static void shares_have_words_and_colours(void **state)
{
	static const struct example examples[] = {
		{5, 100, 0, 0, "-", ROLE_DIM, false},
		{0, 100, 0, 100, "-", ROLE_DIM, false},
		/* 1.89 and 2.13 standard errors; 6 samples are too few to say "new". */
		{5, 1000, 0, 1000, " +0.5", ROLE_DIM, false},
		{6, 1000, 0, 1000, " +0.6", ROLE_UP, true},
		{19, 400, 0, 400, " +4.8", ROLE_UP, true},
		{20, 400, 0, 400, "new", ROLE_UP, true},
		/* Nothing of 100 samples does not say that there was nothing. */
		{20, 100000, 0, 100, "= 0.0", ROLE_DIM, false},
		{50, 1000, 0, 3, " +5.0", ROLE_DIM, false},
		/* 1.98 and 2.13 */
		{59, 100, 45, 100, " +14.0", ROLE_DIM, false},
		{60, 100, 45, 100, " +15.0", ROLE_UP, true},
		/* 1.90 and 2.29 */
		{5, 100, 13, 100, " -8.0", ROLE_DIM, false},
		{5, 100, 15, 100, " -10.0", ROLE_DOWN, true},
		{0, 100, 50, 100, " -50.0", ROLE_DOWN, true},
		/* Sure, and too small to matter. */
		{504000, 1000000, 500000, 1000000, " +0.4", ROLE_DIM, true},
		{500100, 1000000, 500000, 1000000, "= 0.0", ROLE_DIM, false},
	};
	struct grid *g = grid_new(1, 20);

	(void)state;
	g->ascii = true;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *e = &examples[i];
		struct delta d = delta_of_shares(e->now, e->now_of, e->before, e->before_of);

		assert_example(&d, e, g);
	}
	grid_free(g);
}

static void rates_have_words_and_colours(void **state)
{
	static const struct example examples[] = {
		{5, 990, 0, 0, "-", ROLE_DIM, false},
		{0, 0, 0, 990, "-", ROLE_DIM, false},
		/* 1.89 and 2.12 standard errors */
		{5, 990, 0, 990, " +0.5", ROLE_DIM, false},
		{6, 990, 0, 990, " +0.6", ROLE_UP, true},
		{20, 990, 0, 990, "new", ROLE_UP, true},
		{20, 990, 0, 99, " +2.0", ROLE_DIM, false},
		{100, 990, 74, 990, " +2.6", ROLE_DIM, false},
		{100, 990, 73, 990, " +2.7", ROLE_UP, true},
		/* As much, of a time that is ten times as long. */
		{100, 990, 10, 99, "= 0.0", ROLE_DIM, false},
		{0, 990, 50, 990, " -5.1", ROLE_DOWN, true},
	};
	struct grid *g = grid_new(1, 20);

	(void)state;
	g->ascii = true;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *e = &examples[i];
		struct delta d =
			delta_of_rates(e->now, (double)e->now_of, e->before, (double)e->before_of);

		assert_example(&d, e, g);
	}
	grid_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chance_has_no_colour),
		cmocka_unit_test(chance_of_rates_has_no_colour),
		cmocka_unit_test(changes_are_found),
		cmocka_unit_test(shares_have_words_and_colours),
		cmocka_unit_test(rates_have_words_and_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
