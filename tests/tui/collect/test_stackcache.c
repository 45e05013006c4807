// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=sampler_forget */
/*
 * A hash that is counted without a stack, since the ring was full: its samples say so, and the
 * kernel is told to send the stack again, which then has its frames.
 * Covers: tui/collect/stackcache.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bpf/sampler/sampler.h"
#include "tui/collect/stackcache.h"
#include "tui/profile/profile.h"
#include "tui/symbolize/resolver.h"

#define SECOND 1000000000ull

static uint64_t forgotten; /* the last hash; 0: none */
static unsigned int times;

void __wrap_sampler_forget(struct sampler *s, uint64_t hash);
void __wrap_sampler_forget(struct sampler *s, uint64_t hash)
{
	(void)s;
	forgotten = hash;
	times++;
}

struct world {
	struct profile *profile;
	struct resolver *resolver;
	struct stackcache *cache;
	uint64_t now;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	forgotten = times = 0;
	w->profile = profile_new(10, 1000);
	w->now = SECOND;
	return resolver_new(w->profile, NULL, NULL, 1 << 20, &w->resolver) ||
	       stackcache_new(w->profile, NULL, w->resolver, &w->cache);
}

static int teardown(void **state)
{
	struct world *w = *state;

	stackcache_free(w->cache);
	resolver_free(w->resolver);
	profile_free(w->profile);
	free(w);
	return 0;
}

static void end_slice(struct world *w)
{
	w->now += SECOND;
	stackcache_age(w->cache, w->now);
}

static void arrive(struct world *w, uint64_t hash)
{
	const struct stack_record rec = {.hash = hash, .reason = WALK_NO_TABLE};

	assert_int_equal(stackcache_add(w->cache, &rec), 0);
}

/* The profile id of its stack; told: whether the kernel is told to send it again. */
static int64_t count(struct world *w, uint64_t hash, bool is_lost, bool told)
{
	const unsigned int before = times;
	int64_t id;
	bool lost;

	id = stackcache_stack(w->cache, hash, false, &lost);
	assert_true(id >= 0);
	assert_int_equal(lost, is_lost);
	assert_int_equal(times - before, told);
	if (told)
		assert_int_equal(forgotten, hash);
	return id;
}

static void lost_stacks_are_sent_again(void **state)
{
	struct world *w = *state;
	int64_t lost, named;

	lost = count(w, 7, true, true);
	/* each time, since the ring may be full again */
	end_slice(w);
	assert_int_equal(count(w, 7, true, true), lost);
	assert_int_equal(count(w, 8, true, true), lost);
	end_slice(w);
	arrive(w, 7);
	named = count(w, 7, false, false);
	assert_int_not_equal(named, lost);
	assert_int_equal(count(w, 8, true, true), lost);
	end_slice(w);
	assert_int_equal(count(w, 7, false, false), named);
}

/* What is not counted for a minute is sent again when it is, and until then it is lost. */
static void forgotten_stacks_are_sent_again(void **state)
{
	struct world *w = *state;

	arrive(w, 7);
	count(w, 7, false, false);
	w->now += 61 * SECOND;
	end_slice(w);
	assert_int_equal(times, 1);
	assert_int_equal(forgotten, 7);
	/* counts of before may still come, and the copy is there for them */
	count(w, 7, false, false);
	w->now += 61 * SECOND;
	for (int i = 0; i < 4; i++)
		end_slice(w);
	count(w, 7, true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lost_stacks_are_sent_again, setup, teardown),
		cmocka_unit_test_setup_teardown(forgotten_stacks_are_sent_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
