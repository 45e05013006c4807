// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Callers and callees against a count over stacks written as lists of names: recursion, frames that
 * are hidden, a filter, a baseline. The rows of either side add up to the total, which is that of
 * the flat profile.
 * Covers: tui/query/query_butterfly.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tui/profile/frozen_sum.h"
#include "tui/query/query.h"

#define FUNCS  9 /* 'a' on; h is of the kernel, i inlined */
#define DEPTH  12
#define CELLS  40
#define ROUNDS 300

struct sample { /* what the test knows */
	char user[DEPTH + 1], kernel[DEPTH + 1];
	uint64_t count;
};

struct state {
	struct profile *p;
	uint64_t random;
	uint32_t proc;
	struct sample now[CELLS], base[CELLS];
	int nbase;
};

static uint32_t func_of(struct state *s, char name)
{
	const char text[2] = {name};

	return feed_func(s->p,
			 name == 'h'   ? FUNC_KERNEL
			 : name == 'i' ? FUNC_INLINE
				       : FUNC_USER,
			 text);
}

static uint32_t stack_of(struct state *s, bool kernel, const char *names)
{
	uint32_t frames[DEPTH];

	for (size_t i = 0; names[i]; i++)
		frames[i] = func_of(s, names[i]);
	return feed_stack(s->p, kernel, true, frames, (uint32_t)strlen(names));
}

static void random_names(struct state *s, char *to, bool kernel)
{
	uint32_t n = feed_random(&s->random, DEPTH + 1);

	for (uint32_t i = 0; i < n; i++)
		to[i] = kernel ? 'h' : (char)('a' + feed_random(&s->random, FUNCS));
	to[n] = '\0';
}

static void commit(struct state *s, struct sample *samples)
{
	struct profile_cell cells[CELLS];

	profile_zero(s->p);
	for (int i = 0; i < CELLS; i++) {
		struct sample *m = &samples[i];

		random_names(s, m->user, false);
		random_names(s, m->kernel, feed_random(&s->random, 2));
		m->count = 1 + feed_random(&s->random, 50);
		cells[i] = (struct profile_cell){s->proc,
						 1,
						 stack_of(s, false, m->user),
						 stack_of(s, true, m->kernel),
						 m->count,
						 0,
						 0};
	}
	assert_int_equal(feed_commit(s->p, cells, CELLS), 0);
	for (int i = 0; i < CELLS; i++) {
		profile_stack_put(s->p, cells[i].ustack);
		profile_stack_put(s->p, cells[i].kstack);
	}
}

/* The frames that are shown, outermost first. */
static void shown(const struct sample *m, const struct query *q, char *to)
{
	char all[2 * DEPTH + 1];

	snprintf(all, sizeof(all), "%s%s", q->hide_user ? "" : m->user,
		 q->hide_kernel ? "" : m->kernel);
	for (const char *c = all; *c; c++)
		if (!q->hide_inline || *c != 'i')
			*to++ = *c;
	*to = '\0';
}

struct counts {
	uint64_t total, self, recursive;
	uint64_t callers[256], callees[256]; /* by name; 0: none */
};

static void count(const struct sample *samples, const struct query *q, char filter, char name,
		  struct counts *out)
{
	*out = (struct counts){0};
	for (int i = 0; i < CELLS; i++) {
		char path[2 * DEPTH + 1];
		const char *first, *last;

		shown(&samples[i], q, path);
		first = strchr(path, name);
		last = strrchr(path, name);
		if (!first || (filter && !strchr(path, filter)))
			continue;
		out->total += samples[i].count;
		out->self += last[1] ? 0 : samples[i].count;
		out->recursive += last != first ? samples[i].count : 0;
		out->callers[first == path ? 0 : (unsigned char)first[-1]] += samples[i].count;
		out->callees[(unsigned char)last[1]] += samples[i].count;
	}
}

static void check_side(struct state *s, const struct butterfly_row *rows, size_t n,
		       const uint64_t *now, const uint64_t *before)
{
	uint64_t left = 0;

	for (int i = 0; i < 256; i++)
		left += (now[i] != 0) + (before[i] && !now[i]);
	assert_int_equal(n, left);
	for (size_t i = 0; i < n; i++) {
		unsigned char name = 0;

		if (rows[i].func != QUERY_NONE)
			name = (unsigned char)query_func(s->p, rows[i].func)->name[0];
		assert_int_equal(rows[i].samples, now[name]);
		assert_int_equal(rows[i].before, before[name]);
		assert_true(!i || rows[i - 1].samples >= rows[i].samples);
	}
}

static bool is_it(const struct profile_func *func, void *arg)
{
	return func->name[0] == *(char *)arg;
}

static void check(struct state *s, const struct query *q, char filter, char name)
{
	struct match_cache middle = {0};
	struct counts now, before = {0};
	struct func_row *rows;
	struct butterfly b;
	uint64_t total = 0;
	size_t n;

	count(s->now, q, filter, name, &now);
	if (q->baseline)
		count(s->base, q, filter, name, &before);
	assert_int_equal(query_judge_funcs(s->p, &middle, is_it, &name), 0);
	assert_int_equal(query_butterfly(s->p, q, &middle, &b), 0);
	assert_int_equal(b.total, now.total);
	assert_int_equal(b.self, now.self);
	assert_int_equal(b.recursive, now.recursive);
	assert_int_equal(b.before, before.total);
	check_side(s, b.callers, b.ncallers, now.callers, before.callers);
	check_side(s, b.callees, b.ncallees, now.callees, before.callees);
	assert_int_equal(query_funcs(s->p, q, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (query_func(s->p, rows[i].func)->name[0] == name)
			total += rows[i].total;
	assert_int_equal(total, b.total);
	free(rows);
	butterfly_free(&b);
	match_cache_free(&middle);
}

static bool is_filter(const struct profile_func *func, void *arg)
{
	return is_it(func, arg);
}

static void rows_are_those_of_a_plain_count(void **state)
{
	struct state s = {.random = 7};

	(void)state;
	s.p = profile_new(10, 16384);
	profile_lock(s.p);
	s.proc = feed_proc(s.p, 1, 1, "it", false);
	for (int round = 0; round < ROUNDS; round++) {
		struct match_cache wanted = {0};
		struct sample_filter filter = {0};
		struct query q = {.span = SPAN_TOTAL, .proc = QUERY_ALL};
		char by = round % 5 == 0 ? (char)('a' + round % FUNCS) : '\0';

		if (round % 20 == 0) {
			commit(&s, s.base);
			assert_int_equal(frozen_sum_span(s.p, FROZEN_BASELINE, SPAN_TOTAL), 0);
		}
		commit(&s, s.now);
		q.hide_kernel = round % 4 == 1;
		q.hide_user = round % 4 == 2;
		q.hide_inline = round % 3 == 1;
		q.baseline = round % 2;
		if (by) {
			assert_int_equal(query_judge_funcs(s.p, &wanted, is_filter, &by), 0);
			filter = (struct sample_filter){.funcs = wanted.pass,
							.nfuncs = wanted.count};
			q.filter = &filter;
		}
		for (int i = 0; i < FUNCS; i++)
			check(&s, &q, by, (char)('a' + i));
		match_cache_free(&wanted);
	}
	profile_unlock(s.p);
	profile_free(s.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_a_plain_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
