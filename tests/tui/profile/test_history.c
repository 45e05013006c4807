/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments of the past, weights that decay and the baseline, against sums that are made here from
 * what was fed; and that all of it is bounded and leaves nothing behind.
 * Covers: tui/profile/profile_history.c tui/profile/frozen_sum.c tui/profile/decay.c
 */
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/trees.h"
#include "tui/profile/frozen_sum.h"
#include "tui/profile/profile.h"
#include "tui/profile/profile_priv.h"
#include "tui/query/query.h"

#define WINDOW 4
#define SLICES 60
#define PROCS  5
#define STACKS 12
#define FUNCS  26 /* "a" to "z" */
#define MIB    (1024.0 * 1024.0)

/* The profile's own: for folding, and for each cause of a wait one of waits and one of times. */
#define OWN_FUNCS  (2 + 2 * WAIT_CAUSES)
#define OWN_STACKS (4 + 2 * WAIT_CAUSES)

/* One letter is a function; the last one executed. */
static const char *const paths[STACKS] = {"a;b;c",   "a;b;d", "a;b",	 "a;e;c",
					  "a;e;f;b", "g;h",   "g;h;i",	 "g;j;c",
					  "a;b;c;k", "l",     "l;m;n;o", "a;b;c;b"};

struct history_feed {
	struct profile *p;
	uint64_t count[SLICES + 1][PROCS][STACKS]; /* by number of slice, from 1 on */
	uint64_t seed;
	uint64_t fed;
	bool gone; /* the last process rests */
};

static void stacks_make(struct profile *p, uint32_t *stacks)
{
	for (int i = 0; i < STACKS; i++)
		stacks[i] = feed_names(p, false, paths[i]);
}

static void stacks_put(struct profile *p, const uint32_t *stacks)
{
	for (int i = 0; i < STACKS; i++)
		profile_stack_put(p, stacks[i]);
}

static void slice_feed(struct history_feed *f)
{
	struct profile_cell cells[PROCS * STACKS];
	uint32_t stacks[STACKS];
	uint64_t number = ++f->fed;
	size_t n = 0;

	stacks_make(f->p, stacks);
	for (int proc = 0; proc < PROCS - f->gone; proc++) {
		uint32_t id = feed_proc(f->p, 100 + proc, 1, "x", false);

		for (int i = 0; i < STACKS; i++) {
			uint64_t count = feed_random(&f->seed, 3) * feed_random(&f->seed, 50);

			f->count[number][proc][i] = count;
			cells[n++] = (struct profile_cell){id,	  7, stacks[i], PROFILE_NO_STACK,
							   count, 0, 0};
		}
	}
	assert_int_equal(feed_commit(f->p, cells, n), 0);
	stacks_put(f->p, stacks);
}

static void feed_open(struct history_feed *f, unsigned int seconds, uint64_t bytes)
{
	*f = (struct history_feed){.p = profile_new(WINDOW, 10000), .seed = 4711};
	profile_keep(f->p, seconds, bytes);
}

static uint64_t sum_of(const struct history_feed *f, uint64_t first, uint64_t last, int proc,
		       int stack)
{
	uint64_t sum = 0;

	for (uint64_t s = first; s <= last; s++)
		for (int p = 0; p < PROCS; p++)
			for (int i = 0; i < STACKS; i++)
				if ((proc < 0 || p == proc) && (stack < 0 || i == stack))
					sum += f->count[s][p][i];
	return sum;
}

/* Samples of the slices that ended in the function. */
static uint64_t self_of(const struct history_feed *f, uint64_t first, uint64_t last, char func)
{
	uint64_t sum = 0;

	for (int i = 0; i < STACKS; i++)
		if (paths[i][strlen(paths[i]) - 1] == func)
			sum += sum_of(f, first, last, -1, i);
	return sum;
}

static uint64_t total_of(const struct history_feed *f, uint64_t first, uint64_t last, char func)
{
	uint64_t sum = 0;

	for (int i = 0; i < STACKS; i++)
		if (strchr(paths[i], func))
			sum += sum_of(f, first, last, -1, i);
	return sum;
}

/* Samples below a path such as "a;b". */
static uint64_t below(const struct history_feed *f, uint64_t first, uint64_t last, const char *path)
{
	size_t length = strlen(path);
	uint64_t sum = 0;

	for (int i = 0; i < STACKS; i++)
		if (!strncmp(paths[i], path, length) && strchr(";", paths[i][length]))
			sum += sum_of(f, first, last, -1, i);
	return sum;
}

/* What is weighed by the query is slices first to last, compared with bfirst to blast. */
static void check_funcs(const struct history_feed *f, const struct query *q, uint64_t first,
			uint64_t last, uint64_t bfirst, uint64_t blast)
{
	uint64_t before = sum_of(f, bfirst, blast, -1, -1);
	struct func_row *rows;
	uint64_t self = 0;
	size_t count;

	assert_int_equal(query_samples(f->p, q, NULL), sum_of(f, first, last, -1, -1));
	assert_int_equal(query_funcs(f->p, q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++) {
		char func = query_func(f->p, rows[i].func)->name[0];

		assert_int_equal(rows[i].self, self_of(f, first, last, func));
		assert_int_equal(rows[i].total, total_of(f, first, last, func));
		assert_int_equal(rows[i].before_of, before);
		if (before)
			assert_int_equal(rows[i].before, self_of(f, bfirst, blast, func));
		self += rows[i].self;
		for (size_t k = 0; k < i; k++)
			assert_true(rows[k].func != rows[i].func);
	}
	assert_int_equal(self, sum_of(f, first, last, -1, -1));
	free(rows);
}

static void node_path(const struct profile *p, const struct tree *tree, uint32_t node, char *path)
{
	char up[64] = "";

	if (tree->nodes[node].parent)
		node_path(p, tree, tree->nodes[node].parent, up);
	sprintf(path, "%s%s%s", up, *up ? ";" : "", query_func(p, tree->nodes[node].func)->name);
}

static void check_tree(const struct history_feed *f, const struct query *q, uint64_t first,
		       uint64_t last, uint64_t bfirst, uint64_t blast)
{
	struct tree tree;

	assert_int_equal(query_tree(f->p, q, &tree), 0);
	assert_int_equal(tree.nodes[0].total, sum_of(f, first, last, -1, -1));
	assert_int_equal(tree.nodes[0].before, sum_of(f, bfirst, blast, -1, -1));
	for (uint32_t i = 1; i < tree.count; i++) {
		char path[64];

		node_path(f->p, &tree, i, path);
		assert_int_equal(tree.nodes[i].total, below(f, first, last, path));
		assert_int_equal(tree.nodes[i].before, below(f, bfirst, blast, path));
	}
	free(tree.nodes);
}

static void check_procs(const struct history_feed *f, const struct query *q, uint64_t first,
			uint64_t last, uint64_t bfirst, uint64_t blast)
{
	struct proc_row *rows;
	uint64_t seen = 0, before = 0;
	size_t count;

	assert_int_equal(query_procs(f->p, q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++) {
		int proc = query_proc(f->p, rows[i].proc)->pid - 100;
		double cpu = 100.0 * (double)sum_of(f, bfirst, blast, proc, -1) /
			     (99.0 * (double)(blast + 1 - bfirst));

		assert_int_equal(rows[i].samples, sum_of(f, first, last, proc, -1));
		seen += rows[i].samples;
		for (int k = 0; k < PROC_HISTORY; k++) {
			int64_t s = (int64_t)last - PROC_HISTORY + 1 + k;

			if (rows[i].samples)
				assert_int_equal(
					rows[i].history[k],
					s < 1 ? 0 : sum_of(f, (uint64_t)s, (uint64_t)s, proc, -1));
		}
		if (q->baseline)
			assert_true(fabs(rows[i].before_cpu - cpu) < 1e-9);
		else
			assert_true(rows[i].before_cpu < 0);
		before += sum_of(f, bfirst, blast, proc, -1);
	}
	assert_int_equal(seen, sum_of(f, first, last, -1, -1));
	if (q->baseline)
		assert_int_equal(before, sum_of(f, bfirst, blast, -1, -1));
	free(rows);
}

static void moments_are_what_was_fed(void **state)
{
	static struct history_feed f;
	struct query q = {.span = SPAN_MOMENT, .proc = QUERY_ALL};
	struct profile_health health;

	(void)state;
	feed_open(&f, 600, 1 << 30);
	for (int i = 0; i < SLICES; i++)
		slice_feed(&f);
	for (uint64_t last = 1; last <= SLICES; last++) {
		uint64_t first = query_window_first(f.p, last), before;

		assert_int_equal(first, last < WINDOW ? 1 : last - WINDOW + 1);
		assert_int_equal(frozen_sum_slices(f.p, FROZEN_MOMENT, first, last), 0);
		query_health_sum(f.p, SPAN_MOMENT, &health);
		assert_int_equal(health.elapsed, (last + 1 - first) * NS);
		frozen_sum_drop(f.p, FROZEN_BEFORE);
		if (first > 1) {
			before = query_window_first(f.p, first - 1);
			assert_int_equal(frozen_sum_slices(f.p, FROZEN_BEFORE, before, first - 1),
					 0);
			check_funcs(&f, &q, first, last, before, first - 1);
		} else {
			check_funcs(&f, &q, first, last, 1, 0);
		}
		check_tree(&f, &q, first, last, 1, 0);
		check_procs(&f, &q, first, last, 1, 0);
	}
	/* A range, and what is beyond the ends. */
	assert_int_equal(frozen_sum_slices(f.p, FROZEN_MOMENT, 13, 41), 0);
	check_tree(&f, &q, 13, 41, 1, 0);
	assert_int_equal(frozen_sum_slices(f.p, FROZEN_MOMENT, 13, SLICES + 1), -ENOENT);
	assert_int_equal(frozen_sum_slices(f.p, FROZEN_MOMENT, 7, 6), -ENOENT);
	check_tree(&f, &q, 13, 41, 1, 0);
	profile_free(f.p);
}

static void what_is_frozen_outlives_its_slices(void **state)
{
	static struct history_feed f;
	struct query q = {.span = SPAN_MOMENT, .proc = QUERY_ALL};
	struct profile_health health = {.elapsed = NS, .ncpus = 1, .frequency = 99};

	(void)state;
	feed_open(&f, 10, 1 << 30);
	for (int i = 0; i < SLICES; i++)
		slice_feed(&f);
	assert_int_equal(frozen_sum_slices(f.p, FROZEN_MOMENT, 1, 2), -ENOENT); /* long gone */
	assert_int_equal(frozen_sum_slices(f.p, FROZEN_MOMENT, 55, 58), 0);
	profile_zero(f.p);
	for (int i = 0; i < 30; i++)
		assert_int_equal(profile_commit(f.p, NULL, 0, &health), 0);
	check_tree(&f, &q, 55, 58, 1, 0);
	assert_int_equal(frozen_sum_span(f.p, FROZEN_BASELINE, SPAN_MOMENT), 0);
	frozen_sum_drop(f.p, FROZEN_MOMENT);
	q.span = SPAN_BASELINE;
	check_tree(&f, &q, 55, 58, 1, 0);
	frozen_sum_drop(f.p, FROZEN_BASELINE);
	for (int i = 0; i < 30; i++)
		assert_int_equal(profile_commit(f.p, NULL, 0, &health), 0);
	assert_int_equal(f.p->stacks.live, OWN_STACKS);
	assert_int_equal(f.p->funcs.live, OWN_FUNCS);
	profile_free(f.p);
}

static void the_baseline_is_compared(void **state)
{
	static struct history_feed f;
	struct query q = {.span = SPAN_MOMENT, .proc = QUERY_ALL, .baseline = true};

	(void)state;
	feed_open(&f, 600, 1 << 30);
	for (int i = 0; i < SLICES; i++) {
		f.gone = i >= SLICES / 2;
		slice_feed(&f);
	}
	assert_int_equal(frozen_sum_slices(f.p, FROZEN_BASELINE, 5, 11), 0);
	assert_int_equal(frozen_sum_slices(f.p, FROZEN_MOMENT, 50, 52), 0);
	check_funcs(&f, &q, 50, 52, 5, 11);
	check_tree(&f, &q, 50, 52, 5, 11);
	check_procs(&f, &q, 50, 52, 5, 11);
	q.span = SPAN_WINDOW;
	check_funcs(&f, &q, SLICES - WINDOW + 1, SLICES, 5, 11);
	check_tree(&f, &q, SLICES - WINDOW + 1, SLICES, 5, 11);
	check_procs(&f, &q, SLICES - WINDOW + 1, SLICES, 5, 11);
	q.span = SPAN_TOTAL;
	check_funcs(&f, &q, 1, SLICES, 5, 11);
	/* Of an empty moment all that is left is the baseline. */
	frozen_sum_drop(f.p, FROZEN_MOMENT);
	q.span = SPAN_MOMENT;
	check_funcs(&f, &q, 1, 0, 5, 11);
	check_tree(&f, &q, 1, 0, 5, 11);
	check_funcs(&f, &q, 1, 0, 5, 11);
	profile_free(f.p);
}

static void weights_decay(void **state)
{
	static struct history_feed f;
	struct query q = {.span = SPAN_DECAY, .proc = QUERY_ALL};

	(void)state;
	feed_open(&f, 600, 1 << 30);
	for (int i = 0; i < SLICES; i++) {
		double sum = 0, seconds = 0, got;
		struct profile_health health;
		struct proc_row *rows;
		size_t count;

		slice_feed(&f);
		for (uint64_t s = 1; s <= f.fed; s++) {
			double weight = pow(0.5, (double)(f.fed - s) / (WINDOW / 2.0));

			if (weight < 0.001)
				continue;
			sum += weight * (double)sum_of(&f, s, s, -1, -1);
			seconds += weight;
		}
		got = (double)query_samples(f.p, &q, NULL);
		/* Weights have sixteen bits behind the point. */
		assert_true(fabs(got - sum) <= 1 + sum / 10000);
		query_health_sum(f.p, SPAN_DECAY, &health);
		assert_true(fabs((double)health.elapsed / 1e9 - seconds) < 1e-6);
		assert_true(fabs((double)health.samples - sum) <= SLICES);

		assert_int_equal(query_procs(f.p, &q, &rows, &count), 0);
		for (size_t k = 0; k < count; k++) {
			int proc = query_proc(f.p, rows[k].proc)->pid - 100;
			double want = 0;

			for (uint64_t s = 1; s <= f.fed; s++)
				want += pow(0.5, (double)(f.fed - s) / (WINDOW / 2.0)) *
					(double)sum_of(&f, s, s, proc, -1);
			assert_true(fabs((double)rows[k].samples - want) <= 2 + want / 500);
		}
		free(rows);
	}
	profile_zero(f.p);
	assert_int_equal(query_samples(f.p, &q, NULL), 0);
	profile_free(f.p);
}

/* Figures of slices decay like their samples, each by itself. */
static void each_figure_decays(void **state)
{
	static const struct {
		const char *name;
		size_t at;
	} figures[] = {
#define FIGURE(field) {#field, offsetof(struct profile_health, field)}
		FIGURE(elapsed),
		FIGURE(taken),
		FIGURE(idle),
		FIGURE(ticks),
		FIGURE(samples),
		FIGURE(user_samples),
		FIGURE(filtered),
		FIGURE(kernel_samples),
		FIGURE(user_walks),
		FIGURE(frames),
		FIGURE(complete_walks),
		FIGURE(run_ns),
		FIGURE(runs),
		FIGURE(loss[LOSS_BUSY]),
		FIGURE(loss[LOSS_MISSED]),
		FIGURE(drain_ns),
		FIGURE(self_ns),
		FIGURE(evictions),
		FIGURE(outside),
		FIGURE(complete_fp_walks),
#undef FIGURE
	};
	enum { N = sizeof(figures) / sizeof(figures[0]), FED = 2 * WINDOW };
	struct profile *p = profile_new(WINDOW, 1000);
	struct profile_health sum;
	double want[N] = {0};

	(void)state;
	profile_keep(p, 600, 1 << 30);
	for (int n = 1; n <= FED; n++) {
		struct profile_health health = {.elapsed = NS};

		for (size_t i = 1; i < N; i++) {
			uint64_t value = (uint64_t)n * 1000 * (i + 1);

			memcpy((char *)&health + figures[i].at, &value, sizeof(value));
			want[i] += (double)value * pow(0.5, (FED - n) / (WINDOW / 2.0));
		}
		want[0] += NS * pow(0.5, (FED - n) / (WINDOW / 2.0));
		assert_int_equal(profile_commit(p, NULL, 0, &health), 0);
	}
	query_health_sum(p, SPAN_DECAY, &sum);
	for (size_t i = 0; i < N; i++) {
		uint64_t got;

		memcpy(&got, (const char *)&sum + figures[i].at, sizeof(got));
		if (fabs((double)got - want[i]) > FED)
			fail_msg("%s: %.1f, not %.1f", figures[i].name, (double)got, want[i]);
	}
	profile_free(p);
}

static void steps_go_by_seconds(void **state)
{
	static const struct {
		uint64_t elapsed; /* ns, of a slice */
		double seconds;
		uint64_t from, to;
	} steps[] = {
		{NS, -1, 50, 49},
		{NS, 1, 50, 51},
		{NS, -10, 50, 40},
		{NS, 10, 50, 60},
		{NS, 100, 50, 100},
		{NS, -100, 50, 1},
		{NS / 10, -1, 50, 40},
		{NS / 10, 10, 1, 100},
		{5 * NS, -1, 50, 49},
		{5 * NS, -10, 50, 48},
		{999 * NS / 1000, -10, 50, 40},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct profile *p = profile_new(WINDOW, 100);
		struct profile_health health = {.elapsed = steps[i].elapsed};
		struct history history;

		profile_keep(p, 600, 1 << 30);
		for (int n = 0; n < 100; n++)
			assert_int_equal(profile_commit(p, NULL, 0, &health), 0);
		query_history(p, &history);
		assert_int_equal(history.first, 1);
		assert_int_equal(history.last, 100);
		assert_int_equal(query_slice_step(p, steps[i].from, steps[i].seconds), steps[i].to);
		profile_free(p);
	}
}

/* A step takes the time of the slices that lie between two moments. */
static void steps_pass_slices_of_any_length(void **state)
{
	struct profile *p = profile_new(WINDOW, 100);

	(void)state;
	profile_keep(p, 6000, 1 << 30);
	for (int n = 1; n <= 20; n++) {
		struct profile_health health = {.elapsed = n % 2 ? 100 * NS : NS};

		assert_int_equal(profile_commit(p, NULL, 0, &health), 0);
	}
	assert_int_equal(query_slice_step(p, 10, 100), 11);
	assert_int_equal(query_slice_step(p, 11, 1), 12);
	assert_int_equal(query_slice_step(p, 11, -100), 10);
	assert_int_equal(query_slice_step(p, 10, -1), 9);
	profile_free(p);
}

static void ten_minutes_are_kept(void **state)
{
	struct profile *p = profile_new(10, 100);
	struct profile_health health = {.elapsed = NS}, found;
	struct history history;

	(void)state;
	profile_keep(p, 600, 1 << 30);
	query_history(p, &history);
	assert_true(history.first > history.last);
	for (uint64_t n = 1; n <= 1000; n++) {
		health.time = n * NS;
		assert_int_equal(profile_commit(p, NULL, 0, &health), 0);
	}
	query_history(p, &history);
	assert_int_equal(history.first, 401);
	assert_int_equal(history.last, 1000);
	assert_true(history.seconds == 600);
	assert_false(query_slice_health(p, 400, &found));
	assert_true(query_slice_health(p, 401, &found));
	assert_int_equal(found.time, 401 * NS);
	assert_false(query_slice_health(p, 1001, &found));
	profile_free(p);
}

/* Stacks that never come again, of functions with long names that never do, either. */
static void flood(struct profile *p, int round)
{
	enum { N = 100, DEEP = 20 };
	struct profile_cell cells[N];

	for (int i = 0; i < N; i++) {
		uint32_t frames[DEEP];
		char name[600];

		for (int d = 0; d < DEEP; d++) {
			memset(name, 'f', sizeof(name));
			sprintf(name + (d % 10 ? 20 : 500), "%d_%d_%d", round, i, d);
			frames[d] = feed_func(p, FUNC_USER, name);
		}
		cells[i] = (struct profile_cell){feed_proc(p, 1 + round * N + i, 1, "x", true),
						 1,
						 feed_stack(p, false, true, frames, DEEP),
						 PROFILE_NO_STACK,
						 1,
						 0,
						 0};
	}
	assert_int_equal(feed_commit(p, cells, N), 0);
	for (int i = 0; i < N; i++)
		profile_stack_put(p, cells[i].ustack);
}

static size_t heap_used(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void memory_is_bounded(void **state)
{
	const uint64_t bound = 8 << 20;
	struct profile *p = profile_new(2, 500);
	struct query q = {.span = SPAN_MOMENT, .proc = QUERY_ALL};
	size_t heap = heap_used(), most = 0;
	struct history history;
	uint64_t first = 1;

	(void)state;
	profile_keep(p, 600, bound);
	for (int round = 1; round <= 300; round++) {
		flood(p, round);
		query_history(p, &history);
		assert_true(history.bytes <= bound);
		assert_int_equal(history.last, round);
		assert_true(history.first >= first); /* the oldest go first */
		first = history.first;
		if (heap_used() - heap > most)
			most = heap_used() - heap;
	}
	assert_true(history.seconds > 10 && history.seconds < 300);
	/* The heap's own word: the bound, and what totals, tables and growing arrays take. */
	print_message("%.0f s in %.1f of %.1f MiB; all of the heap %.1f MiB\n", history.seconds,
		      (double)history.bytes / MIB, (double)bound / MIB, (double)most / MIB);
	assert_true(most < 2 * bound);
	assert_true(history.bytes > bound / 2); /* and it is made use of */
	assert_int_equal(frozen_sum_slices(p, FROZEN_MOMENT, first, first + 9), 0);
	assert_int_equal(query_samples(p, &q, NULL), 1000);
	frozen_sum_drop(p, FROZEN_MOMENT);
	profile_zero(p);
	query_history(p, &history);
	assert_int_equal(history.bytes, 0);
	for (uint32_t i = 0; i < p->stacks.count; i++)
		assert_int_equal(stack_at(p, i)->entry.held, 0);
	for (uint32_t i = 0; i < p->funcs.count; i++)
		assert_int_equal(func_at(p, i)->entry.held, 0);
	assert_int_equal(feed_commit(p, NULL, 0), 0);
	assert_int_equal(p->stacks.live, OWN_STACKS);
	profile_free(p);
}

static int inlined_here(uint32_t site, const char *name, const char *module, uint32_t *outer,
			uint32_t inlined[PROFILE_INLINED_MAX], void *arg)
{
	(void)name;
	(void)module;
	(void)outer;
	assert_int_equal(site, 5);
	inlined[0] = *(uint32_t *)arg;
	return 1;
}

/* Frames that come later are counted, and go again. */
static void settled_stacks_are_counted(void **state)
{
	struct profile *p = profile_new(2, 100);
	uint32_t frame = feed_func(p, FUNC_USER, "outer"), site = 5, inlined;
	struct profile_stack stack = {
		.complete = true, .nframes = 1, .frames = &frame, .sites = &site};
	struct profile_cell cell = {
		feed_proc(p, 1, 1, "x", false), 1, 0, PROFILE_NO_STACK, 3, 0, 0};
	struct history history;

	(void)state;
	profile_keep(p, 600, 1 << 30);
	cell.ustack = (uint32_t)profile_stack_new(p, &stack);
	assert_int_equal(feed_commit(p, &cell, 1), 0);
	inlined = feed_func(p, FUNC_INLINE, "a_name_that_takes_some_room");
	assert_int_equal(profile_settle(p, inlined_here, &inlined), 0);
	assert_int_equal(func_at(p, inlined)->entry.held, 1);
	assert_int_equal(feed_commit(p, &cell, 1), 0);
	profile_stack_put(p, cell.ustack);
	profile_zero(p);
	query_history(p, &history);
	assert_int_equal(history.bytes, 0);
	assert_int_equal(func_at(p, inlined)->entry.held, 0);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_are_what_was_fed),
		cmocka_unit_test(what_is_frozen_outlives_its_slices),
		cmocka_unit_test(the_baseline_is_compared),
		cmocka_unit_test(weights_decay),
		cmocka_unit_test(each_figure_decays),
		cmocka_unit_test(steps_go_by_seconds),
		cmocka_unit_test(steps_pass_slices_of_any_length),
		cmocka_unit_test(ten_minutes_are_kept),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(settled_stacks_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
