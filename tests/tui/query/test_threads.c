/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row for each thread, against a model that adds up what was fed sample by sample.
 * Covers: tui/query/query_threads.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tui/profile/frozen_sum.h"
#include "tui/query/query.h"

#define SLICES	40
#define CELLS	60 /* of a slice */
#define STACKS	20
#define FUNCS	12
#define PROCS	5
#define THREADS 40 /* of a process; few of most */
#define DEPTH	4
#define WINDOW	5

struct known {
	uint32_t id;
	bool complete;
	int nframes, frames[DEPTH];
};

struct machine {
	struct profile *p;
	uint64_t random;
	uint32_t funcs[FUNCS], procs[PROCS];
	struct known user[STACKS], kernel[STACKS];
	struct fed {
		int proc, user, kernel; /* -1: none */
		uint32_t tid;
		uint64_t count;
	} fed[SLICES + 1][CELLS];
	int nslices;
};

struct counted {
	bool met;
	uint64_t samples, kernel, walks, complete, self[FUNCS];
	uint64_t history[PROC_HISTORY];
};

static bool is_inline(int func)
{
	return func % 3 == 1;
}

static void make_stack(struct machine *m, struct known *s, bool kernel)
{
	uint32_t frames[DEPTH];

	s->complete = feed_random(&m->random, 2);
	/* A stack of the kernel may be empty. */
	s->nframes = (int)feed_random(&m->random, DEPTH + 1);
	for (int i = 0; i < s->nframes; i++) {
		s->frames[i] = (int)feed_random(&m->random, FUNCS);
		frames[i] = m->funcs[s->frames[i]];
	}
	s->id = feed_stack(m->p, kernel, s->complete, frames, (uint32_t)s->nframes);
}

static struct machine *machine_new(uint64_t seed)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->random = seed;
	m->p = profile_new(WINDOW, 100000);
	profile_keep(m->p, 600, 1 << 20);
	for (int i = 0; i < FUNCS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		m->funcs[i] = feed_func(m->p, is_inline(i) ? FUNC_INLINE : FUNC_USER, name);
	}
	for (int i = 0; i < PROCS; i++)
		m->procs[i] = feed_proc(m->p, i + 1, 1, "a", false);
	for (int i = 0; i < STACKS; i++) {
		make_stack(m, &m->user[i], false);
		make_stack(m, &m->kernel[i], true);
	}
	return m;
}

static void second(struct machine *m)
{
	struct profile_cell cells[CELLS];
	struct fed *fed = m->fed[++m->nslices];

	for (int i = 0; i < CELLS; i++) {
		struct fed *f = &fed[i];

		f->proc = (int)feed_random(&m->random, PROCS);
		f->tid = 100 + feed_random(&m->random, f->proc ? 3 : THREADS);
		f->user = feed_random(&m->random, 5) ? (int)feed_random(&m->random, STACKS) : -1;
		f->kernel = feed_random(&m->random, 3) ? -1 : (int)feed_random(&m->random, STACKS);
		f->count = feed_random(&m->random, 10) ? 1 + feed_random(&m->random, 5) : 40000;
		cells[i] = (struct profile_cell){
			m->procs[f->proc],
			f->tid,
			f->user < 0 ? PROFILE_NO_STACK : m->user[f->user].id,
			f->kernel < 0 ? PROFILE_NO_STACK : m->kernel[f->kernel].id,
			f->count,
			0,
			0};
	}
	assert_int_equal(feed_commit(m->p, cells, CELLS), 0);
}

static int last_shown(const struct query *q, const struct known *s)
{
	int n = s->nframes;

	while (n > 0 && q->hide_inline && is_inline(s->frames[n - 1]))
		n--;
	return n ? s->frames[n - 1] : -1;
}

/* weighed: not only for the history, where slot is >= 0. */
static void count_fed(const struct machine *m, const struct query *q, const struct fed *f,
		      struct counted table[PROCS][THREADS], bool weighed, int slot)
{
	struct counted *c = &table[f->proc][f->tid - 100];
	int leaf = -1;

	if (q->proc != QUERY_ALL && q->proc != m->procs[f->proc])
		return;
	if (q->hide_user && (f->kernel < 0 || !m->kernel[f->kernel].nframes))
		return;
	if (slot >= 0)
		c->history[slot] += f->count;
	if (!weighed)
		return;
	if (f->kernel >= 0 && !q->hide_kernel)
		leaf = last_shown(q, &m->kernel[f->kernel]);
	if (leaf < 0 && f->user >= 0 && !q->hide_user)
		leaf = last_shown(q, &m->user[f->user]);
	c->met = true;
	c->samples += f->count;
	c->kernel += f->kernel >= 0 ? f->count : 0;
	c->walks += f->user >= 0 ? f->count : 0;
	c->complete += f->user >= 0 && m->user[f->user].complete ? f->count : 0;
	if (leaf >= 0)
		c->self[leaf] += f->count;
}

static void check_row(const struct machine *m, const struct proc_row *row, const struct counted *c)
{
	uint64_t most = 0, of_hottest = 0;

	assert_int_equal(row->samples, c->samples);
	assert_int_equal(row->kernel_samples, c->kernel);
	assert_int_equal(row->walks, c->walks);
	assert_int_equal(row->complete, c->complete);
	for (int i = 0; i < PROC_HISTORY; i++)
		assert_int_equal(row->history[i],
				 c->history[i] > UINT16_MAX ? UINT16_MAX : c->history[i]);
	for (int i = 0; i < FUNCS; i++) {
		most = c->self[i] > most ? c->self[i] : most;
		if (row->hottest == m->funcs[i])
			of_hottest = c->self[i];
	}
	assert_int_equal(row->hottest == UINT32_MAX, most == 0);
	assert_int_equal(of_hottest, most);
	for (int i = 0; i < FUNCS; i++)
		assert_false(c->self[i] == most && most && m->funcs[i] < row->hottest);
}

/* first to last are the slices that are weighed. */
static int check(const struct machine *m, const struct query *q, int first, int last)
{
	struct counted table[PROCS][THREADS] = {0};
	struct proc_row *rows;
	size_t count, expected = 0;

	for (int n = 1; n <= last; n++)
		for (int i = 0; i < CELLS; i++)
			count_fed(m, q, &m->fed[n][i], table, n >= first,
				  n > last - PROC_HISTORY ? n - last + PROC_HISTORY - 1 : -1);
	for (int i = 0; i < PROCS * THREADS; i++)
		expected += table[i / THREADS][i % THREADS].met;
	assert_int_equal(query_procs(m->p, q, &rows, &count), 0);
	assert_int_equal(count, expected);
	for (size_t i = 0; i < count; i++) {
		struct counted *c = NULL;

		for (int k = 0; k < PROCS; k++)
			if (m->procs[k] == rows[i].proc)
				c = &table[k][rows[i].tid - 100];
		assert_non_null(c);
		assert_true(c->met);
		check_row(m, &rows[i], c);
		c->met = false; /* once */
	}
	free(rows);
	return (int)count;
}

/* Samples of a thread alone, of the window or the last slice. */
static void check_alone(const struct machine *m, enum span span, int first, int last, int proc,
			uint32_t tid)
{
	struct sample_filter scope = {.tid = tid};
	struct query q = {.span = span, .proc = m->procs[proc], .threads = true, .scope = &scope};
	uint64_t self[FUNCS] = {0}, samples = 0;
	struct func_row *rows;
	size_t count;

	for (int n = first; n <= last; n++)
		for (int i = 0; i < CELLS; i++) {
			const struct fed *f = &m->fed[n][i];
			int leaf = -1;

			if (f->proc != proc || f->tid != tid)
				continue;
			samples += f->count;
			if (f->kernel >= 0)
				leaf = last_shown(&q, &m->kernel[f->kernel]);
			if (leaf < 0 && f->user >= 0)
				leaf = last_shown(&q, &m->user[f->user]);
			if (leaf >= 0)
				self[leaf] += f->count;
		}
	assert_int_equal(query_samples(m->p, &q, NULL), samples);
	assert_int_equal(query_funcs(m->p, &q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++)
		for (int k = 0; k < FUNCS; k++)
			if (m->funcs[k] == rows[i].func) {
				assert_int_equal(rows[i].self, self[k]);
				self[k] = 0;
			}
	for (int k = 0; k < FUNCS; k++)
		assert_int_equal(self[k], 0);
	free(rows);
}

static void check_all(const struct machine *m, enum span span, int first, int last)
{
	int rows = 0;

	for (unsigned int hide = 0; hide < 8; hide++) {
		struct query q = {.span = span,
				  .proc = QUERY_ALL,
				  .threads = true,
				  .hide_user = hide & 1,
				  .hide_kernel = hide & 2,
				  .hide_inline = hide & 4};

		rows += check(m, &q, first, last);
		q.proc = m->procs[hide % PROCS];
		rows += check(m, &q, first, last);
	}
	assert_true(rows > 8 * 10);
}

static void rows_are_those_of_the_model(void **state)
{
	struct machine *m = machine_new(0x13572468);

	(void)state;
	for (int n = 1; n <= SLICES; n++) {
		int first = n > WINDOW ? n - WINDOW + 1 : 1, from, to;

		second(m);
		check_all(m, SPAN_WINDOW, first, n);
		check_all(m, SPAN_LAST, n, n);
		for (uint32_t tid = 99; tid <= 100 + THREADS; tid += 3) {
			check_alone(m, SPAN_WINDOW, first, n, 0, tid);
			check_alone(m, SPAN_LAST, n, n, 0, tid);
			check_alone(m, SPAN_WINDOW, first, n, n % PROCS, 100 + tid % 3);
		}
		to = n - (int)feed_random(&m->random, (uint32_t)n);
		from = to - (int)feed_random(&m->random, (uint32_t)to);
		assert_int_equal(
			frozen_sum_slices(m->p, FROZEN_MOMENT, (uint64_t)from, (uint64_t)to), 0);
		check_all(m, SPAN_MOMENT, from, to);
	}
	assert_int_equal(frozen_sum_slices(m->p, FROZEN_MOMENT, 2, SLICES), 0);
	check_all(m, SPAN_MOMENT, 2, SLICES);
	profile_free(m->p);
	free(m);
}

/* A sum without slices knows of no thread: that is a row of thread 0 for each process. */
static void sums_have_no_threads(void **state)
{
	struct machine *m = machine_new(0x24681357);
	struct query q = {.span = SPAN_TOTAL, .proc = QUERY_ALL};
	struct proc_row *rows, *whole;
	size_t count, procs;

	(void)state;
	for (int n = 0; n < 3; n++)
		second(m);
	assert_int_equal(query_procs(m->p, &q, &whole, &procs), 0);
	q.threads = true;
	assert_int_equal(query_procs(m->p, &q, &rows, &count), 0);
	assert_int_equal(count, procs);
	assert_int_equal(count, PROCS);
	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		while (k < procs && whole[k].proc != rows[i].proc)
			k++;
		assert_true(k < procs);
		assert_int_equal(rows[i].tid, 0);
		assert_int_equal(rows[i].samples, whole[k].samples);
		assert_int_equal(rows[i].hottest, whole[k].hottest);
		assert_true(rows[i].rate == whole[k].rate);
		assert_true(rows[i].cpu_percent == whole[k].cpu_percent);
	}
	free(rows);
	free(whole);
	profile_free(m->p);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_the_model),
		cmocka_unit_test(sums_have_no_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
