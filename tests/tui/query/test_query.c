/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every answer against a model that keeps all cells for ever and adds them up by brute force, with
 * names as strings: it shares no table, no id and no bookkeeping with the code under test.
 * Covers: tui/query/query.c tui/query/query_procs.c tui/query/query_funcs.c
 * Covers: tui/query/query_tree.c
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/trees.h"
#include "tui/profile/profile.h"
#include "tui/query/query.h"

#define WINDOW 3
#define PROCS  6
#define FUNCS  14
#define STACKS 40
#define SLICES 30
#define CELLS  60
#define DEPTH  9
#define PATHS  4000

struct mstack {
	bool kernel, complete;
	int n;
	int frames[DEPTH]; /* model functions */
};

struct mcell {
	int proc, u, k; /* -1: none */
	uint64_t count;
};

struct model {
	struct mstack stacks[STACKS];
	struct mcell cells[SLICES][CELLS];
	int ncells[SLICES];
	int nslices;
	int zeroed; /* first slice that counts */
};

static int kind_of(int func)
{
	return func == 0 ? FUNC_END : func < 9 ? FUNC_USER : FUNC_KERNEL;
}

/* "f12" -> 12 */
static int number_of(const char *name)
{
	return atoi(name + 1);
}

/* The visible frames of a cell; -1: not part of the answer. */
static int frames_of(const struct model *m, const struct query *q, const struct mcell *cell,
		     int want_proc, int *frames)
{
	int n = 0;

	if (want_proc >= 0 && cell->proc != want_proc)
		return -1;
	if (q->hide_user && (cell->k < 0 || !m->stacks[cell->k].n))
		return -1;
	for (int i = 0; !q->hide_user && cell->u >= 0 && i < m->stacks[cell->u].n; i++)
		frames[n++] = m->stacks[cell->u].frames[i];
	for (int i = 0; !q->hide_kernel && cell->k >= 0 && i < m->stacks[cell->k].n; i++)
		frames[n++] = m->stacks[cell->k].frames[i];
	return n;
}

static void range_of(const struct model *m, enum span span, int *from, int *to)
{
	*to = m->nslices;
	*from = span == SPAN_TOTAL ? m->zeroed : m->nslices - (span == SPAN_LAST ? 1 : WINDOW);
	if (*from < m->zeroed)
		*from = m->zeroed;
}

static void check_funcs(struct profile *p, const struct model *m, const struct query *q, int proc)
{
	uint64_t self[FUNCS] = {0}, total[FUNCS] = {0}, before[FUNCS] = {0}, nbefore = 0, sum = 0;
	int from, to, frames[2 * DEPTH], seen = 0, length;
	struct func_row *rows;
	double seconds;
	size_t count;

	range_of(m, q->span, &from, &to);
	length = q->span == SPAN_LAST ? 1 : q->span == SPAN_WINDOW ? WINDOW : 0;
	for (int s = m->zeroed; s < to; s++) {
		for (int c = 0; c < m->ncells[s]; c++) {
			const struct mcell *cell = &m->cells[s][c];
			int n = frames_of(m, q, cell, proc, frames);
			bool hit[FUNCS] = {false};

			if (n < 0)
				continue;
			if (s < from && s >= from - length) {
				nbefore += cell->count;
				if (n)
					before[frames[n - 1]] += cell->count;
			}
			if (s < from)
				continue;
			sum += cell->count;
			for (int i = 0; i < n; i++) {
				if (!hit[frames[i]])
					total[frames[i]] += cell->count;
				hit[frames[i]] = true;
			}
			if (n)
				self[frames[n - 1]] += cell->count;
		}
	}
	if (from - length < m->zeroed) /* a part of the time before is not compared */
		nbefore = 0;
	assert_int_equal(query_samples(p, q, &seconds), sum);
	assert_true(seconds == to - from);

	assert_int_equal(query_funcs(p, q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++) {
		int f = number_of(query_func(p, rows[i].func)->name);

		assert_int_equal(query_func(p, rows[i].func)->kind, kind_of(f));
		assert_int_equal(rows[i].self, self[f]);
		assert_int_equal(rows[i].total, total[f]);
		assert_int_equal(rows[i].before_of, nbefore);
		if (nbefore)
			assert_int_equal(rows[i].before, before[f]);
		total[f] = 0; /* each function once */
		self[f] = 0;
		seen++;
	}
	for (int f = 0; f < FUNCS; f++)
		assert_int_equal(total[f], 0);
	free(rows);
}

struct path {
	char text[8 * 2 * DEPTH];
	uint64_t self, total;
};

static struct path *path_get(struct path *paths, int *npaths, const char *text)
{
	for (int i = 0; i < *npaths; i++) {
		if (!strcmp(paths[i].text, text))
			return &paths[i];
	}
	assert_true(*npaths < PATHS);
	memset(&paths[*npaths], 0, sizeof(*paths));
	strcpy(paths[*npaths].text, text);
	return &paths[(*npaths)++];
}

static int model_paths(const struct model *m, const struct query *q, int proc, struct path *paths)
{
	int from, to, frames[2 * DEPTH], npaths = 0;

	path_get(paths, &npaths, "");
	range_of(m, q->span, &from, &to);
	for (int s = from; s < to; s++) {
		for (int c = 0; c < m->ncells[s]; c++) {
			int n = frames_of(m, q, &m->cells[s][c], proc, frames);
			char text[8 * 2 * DEPTH] = "";

			if (n < 0)
				continue;
			paths[0].total += m->cells[s][c].count;
			for (int i = 0; i < n; i++) {
				sprintf(text + strlen(text), "/f%d", frames[i]);
				path_get(paths, &npaths, text)->total += m->cells[s][c].count;
			}
			path_get(paths, &npaths, text)->self += m->cells[s][c].count;
		}
	}
	return npaths;
}

static void node_text(const struct profile *p, const struct tree *tree, uint32_t id, char *text)
{
	char below[8 * 2 * DEPTH];

	if (!id) {
		text[0] = 0;
		return;
	}
	assert_true(tree->nodes[id].parent < id);
	node_text(p, tree, tree->nodes[id].parent, below);
	sprintf(text, "%s/%s", below, query_func(p, tree->nodes[id].func)->name);
}

static void check_tree(struct profile *p, const struct model *m, const struct query *q, int proc)
{
	static struct path paths[PATHS];
	int npaths = model_paths(m, q, proc, paths), known = npaths;
	struct tree tree;

	assert_int_equal(query_tree(p, q, &tree), 0);
	assert_int_equal(tree.count, npaths);
	for (uint32_t i = 0; i < tree.count; i++) {
		const struct tree_node *node = &tree.nodes[i];
		char text[8 * 2 * DEPTH];
		uint64_t last = UINT64_MAX, sum = node->self;
		uint32_t children = 0;
		struct path *path;

		node_text(p, &tree, i, text);
		path = path_get(paths, &known, text);
		assert_int_equal(known, npaths);
		assert_int_equal(node->self, path->self);
		assert_int_equal(node->total, path->total);
		for (uint32_t c = node->first_child; c; c = tree.nodes[c].next, children++) {
			assert_int_equal(tree.nodes[c].parent, i);
			assert_true(tree.nodes[c].total <= last);
			last = tree.nodes[c].total;
			sum += last;
		}
		assert_int_equal(children, node->nchildren);
		assert_int_equal(sum, node->total);
	}
	free(tree.nodes);
}

static void model_row(const struct model *m, const struct query *q, int proc, struct proc_row *row,
		      uint64_t *self)
{
	int from, to, frames[2 * DEPTH];

	range_of(m, q->span, &from, &to);
	for (int s = m->zeroed; s < to; s++) {
		for (int c = 0; c < m->ncells[s]; c++) {
			const struct mcell *cell = &m->cells[s][c];
			int n = frames_of(m, q, cell, proc, frames);

			if (n < 0)
				continue;
			if (s >= to - PROC_HISTORY && s >= to - 2 * WINDOW)
				row->history[PROC_HISTORY - to + s] += (uint16_t)cell->count;
			if (s < from)
				continue;
			row->samples += cell->count;
			row->kernel_samples += cell->k >= 0 ? cell->count : 0;
			row->walks += cell->u >= 0 ? cell->count : 0;
			if (cell->u >= 0 && m->stacks[cell->u].complete)
				row->complete += cell->count;
			if (n)
				self[frames[n - 1]] += cell->count;
		}
	}
}

static void check_procs(struct profile *p, const struct model *m, const struct query *q)
{
	struct proc_row *rows;
	int from, to, expected = 0;
	size_t count;

	range_of(m, q->span, &from, &to);
	for (int proc = 0; proc < PROCS; proc++) {
		uint64_t self[FUNCS] = {0};
		struct proc_row row = {0};

		model_row(m, q, proc, &row, self);
		expected += row.samples > 0;
	}
	assert_int_equal(query_procs(p, q, &rows, &count), 0);
	assert_int_equal(count, expected);
	for (size_t i = 0; i < count; i++) {
		uint64_t self[FUNCS] = {0}, most = 0;
		struct proc_row row = {0};

		model_row(m, q, query_proc(p, rows[i].proc)->pid - 100, &row, self);
		assert_int_equal(rows[i].samples, row.samples);
		assert_int_equal(rows[i].kernel_samples, row.kernel_samples);
		assert_int_equal(rows[i].walks, row.walks);
		assert_int_equal(rows[i].complete, row.complete);
		assert_memory_equal(rows[i].history, row.history, sizeof(row.history));
		assert_true(rows[i].rate == (double)row.samples / (to - from));
		assert_true(fabs(rows[i].cpu_percent - 100 * rows[i].rate / 99) < 1e-9);
		for (int f = 0; f < FUNCS; f++)
			most = self[f] > most ? self[f] : most;
		if (most)
			assert_int_equal(self[number_of(query_func(p, rows[i].hottest)->name)],
					 most);
		else
			assert_int_equal(rows[i].hottest, UINT32_MAX);
	}
	free(rows);
}

static void check_all(struct profile *p, const struct model *m, const uint32_t *procs)
{
	for (int i = 0; i < 3 * 2 * 2 * (PROCS + 1); i++) {
		int proc = i / 12 - 1;
		struct query q = {.span = i % 3,
				  .proc = proc < 0 ? QUERY_ALL : procs[proc],
				  .hide_kernel = i / 3 % 2,
				  .hide_user = i / 6 % 2};

		check_funcs(p, m, &q, proc);
		check_tree(p, m, &q, proc);
		if (proc < 0)
			check_procs(p, m, &q);
	}
}

static uint32_t stack_feed(struct profile *p, const struct mstack *stack)
{
	uint32_t frames[DEPTH];
	char name[8];

	for (int i = 0; i < stack->n; i++) {
		sprintf(name, "f%d", stack->frames[i]);
		frames[i] = feed_func(p, kind_of(stack->frames[i]), name);
	}
	return feed_stack(p, stack->kernel, stack->complete, frames, (uint32_t)stack->n);
}

static void model_stacks(struct model *m, uint64_t *seed)
{
	for (int i = 0; i < STACKS; i++) {
		struct mstack *stack = &m->stacks[i];

		stack->kernel = i >= STACKS / 2;
		stack->n = (int)feed_random(seed, DEPTH + 1);
		stack->complete = !stack->kernel && feed_random(seed, 2);
		for (int f = 0; f < stack->n; f++) {
			/* Few functions, so that most stacks recurse and share their beginnings. */
			stack->frames[f] = (int)feed_random(seed, 4) + (stack->kernel ? 9 : 1) +
					   (int)feed_random(seed, 2);
			if (!f && !stack->complete && !stack->kernel)
				stack->frames[f] = 0;
		}
		/* Kernel stacks may hold a reason, too: it must not count twice with the user's. */
		if (stack->kernel && stack->n && i % 5 == 0)
			stack->frames[0] = 0;
	}
}

static void slice_feed(struct profile *p, struct model *m, const uint32_t *procs, uint64_t *seed)
{
	struct profile_cell cells[CELLS];
	uint32_t stacks[STACKS];
	int s = m->nslices++, n = (int)feed_random(seed, CELLS);

	for (int i = 0; i < STACKS; i++)
		stacks[i] = stack_feed(p, &m->stacks[i]);
	for (int i = 0; i < n; i++) {
		struct mcell *cell = &m->cells[s][i];

		cell->proc = (int)feed_random(seed, PROCS);
		cell->u = (int)feed_random(seed, STACKS / 2 + 2) - 2;
		cell->k = (int)feed_random(seed, STACKS / 2 + 8) + STACKS / 2;
		cell->u = cell->u < 0 ? -1 : cell->u;
		cell->k = cell->k >= STACKS ? -1 : cell->k;
		cell->count = feed_random(seed, 9) + 1;
		cells[i] = (struct profile_cell){procs[cell->proc],
						 feed_random(seed, 3),
						 cell->u < 0 ? PROFILE_NO_STACK : stacks[cell->u],
						 cell->k < 0 ? PROFILE_NO_STACK : stacks[cell->k],
						 cell->count,
						 0,
						 0};
	}
	m->ncells[s] = n;
	assert_int_equal(feed_commit(p, cells, (size_t)n), 0);
	for (int i = 0; i < STACKS; i++)
		profile_stack_put(p, stacks[i]);
}

static void test_model(void **state)
{
	(void)state;
	for (uint64_t round = 1; round <= 4; round++) {
		static struct model model;
		struct profile *p = profile_new(WINDOW, 100000);
		uint64_t seed = round * 7919;
		uint32_t procs[PROCS];

		memset(&model, 0, sizeof(model));
		model_stacks(&model, &seed);
		for (int i = 0; i < PROCS; i++)
			procs[i] = feed_proc(p, 100 + i, 1, "comm", false);
		for (int i = 0; i < SLICES; i++) {
			slice_feed(p, &model, procs, &seed);
			check_all(p, &model, procs);
			if (i == SLICES / 2) {
				profile_zero(p);
				model.zeroed = model.nslices;
				check_all(p, &model, procs);
			}
		}
		assert_int_equal(query_slices(p), SLICES);
		profile_free(p);
	}
}

static void test_empty(void **state)
{
	struct profile *p = profile_new(10, 100);
	struct profile_health health;
	struct func_row *funcs;
	struct proc_row *procs;
	struct tree tree;
	double seconds;
	size_t n;
	float use;

	(void)state;
	for (int span = 0; span < 3; span++) {
		struct query q = {.span = (enum span)span, .proc = QUERY_ALL};

		assert_int_equal(query_procs(p, &q, &procs, &n), 0);
		assert_int_equal(n, 0);
		free(procs);
		assert_int_equal(query_funcs(p, &q, &funcs, &n), 0);
		assert_int_equal(n, 0);
		free(funcs);
		assert_int_equal(query_tree(p, &q, &tree), 0);
		assert_int_equal(tree.count, 1);
		free(tree.nodes);
		assert_int_equal(query_samples(p, &q, &seconds), 0);
		assert_true(seconds == 0);
		query_health_sum(p, q.span, &health);
		assert_int_equal(health.samples, 0);
	}
	query_health(p, &health);
	assert_int_equal(health.elapsed, 0);
	assert_int_equal(query_timeline(p, &use, 1), 0);
	assert_null(query_func(p, 12345));
	assert_null(query_stack(p, PROFILE_NO_STACK));
	assert_null(query_proc(p, QUERY_ALL));
	profile_free(p);
}

static void test_health(void **state)
{
	struct profile *p = profile_new(2, 100);
	struct profile_health sum;
	float use[3];

	(void)state;
	for (unsigned int i = 1; i <= 5; i++) {
		struct profile_health health = {.elapsed = NS,
						.samples = i * 20,
						.frequency = 100,
						.ncpus = 2,
						.shards_used = i,
						.user_walks = i,
						.complete_walks = 1,
						.complete_fp_walks = i,
						.loss = {[LOSS_BUSY] = i}};

		assert_int_equal(profile_commit(p, NULL, 0, &health), 0);
	}
	query_health_sum(p, SPAN_WINDOW, &sum);
	assert_int_equal(sum.samples, 80 + 100);
	assert_int_equal(sum.elapsed, 2 * NS);
	assert_int_equal(sum.loss[LOSS_BUSY], 9);
	assert_int_equal(sum.shards_used, 5); /* a state, not a counter */
	query_health_sum(p, SPAN_TOTAL, &sum);
	assert_int_equal(sum.samples, 300);
	assert_int_equal(sum.complete_walks, 5);
	assert_int_equal(sum.complete_fp_walks, 1 + 2 + 3 + 4 + 5);
	query_health_sum(p, SPAN_LAST, &sum);
	assert_int_equal(sum.samples, 100);
	assert_int_equal(query_timeline(p, use, 3), 3);
	assert_true(use[0] > 0.299f && use[0] < 0.301f);
	assert_true(use[2] > 0.499f && use[2] < 0.501f);
	profile_free(p);
}

/* A node is the same node after its function was forgotten and came back under another id. */
static void test_path_is_stable(void **state)
{
	struct query q = {.span = SPAN_LAST, .proc = QUERY_ALL};
	uint64_t paths[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct profile *p = profile_new(10, 100);
		struct profile_cell cell = {.kstack = PROFILE_NO_STACK, .count = 1};
		struct tree tree;

		cell.proc = feed_proc(p, 1, 1, "a", false);
		if (i)
			feed_names(p, false, "other;names;first");
		cell.ustack = feed_names(p, false, "main;work");
		assert_int_equal(feed_commit(p, &cell, 1), 0);
		assert_int_equal(query_tree(p, &q, &tree), 0);
		assert_int_equal(tree.count, 3);
		paths[i] = tree.nodes[2].path;
		assert_true(tree.nodes[1].path != tree.nodes[2].path);
		free(tree.nodes);
		profile_free(p);
	}
	assert_int_equal(paths[0], paths[1]);
}

static void test_tree_is_bounded(void **state)
{
	enum { N = 2100, DEEP = 120 };
	struct query q = {.span = SPAN_LAST, .proc = QUERY_ALL};
	struct profile *p = profile_new(10, 100000);
	struct profile_cell *cells = calloc(N, sizeof(*cells));
	uint32_t frames[DEEP], proc = feed_proc(p, 1, 1, "a", false), level;
	struct tree tree;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		char name[16];

		for (int f = 0; f < DEEP; f++) {
			sprintf(name, "f%d", f ? f : 1000 + (int)i);
			frames[f] = feed_func(p, FUNC_USER, name);
		}
		/* The only frequent one comes last: it must not be the one that has no room. */
		cells[i] = (struct profile_cell){proc,
						 0,
						 feed_stack(p, false, true, frames, DEEP),
						 PROFILE_NO_STACK,
						 i == N - 1 ? 1000 : 1,
						 0,
						 0};
	}
	assert_int_equal(feed_commit(p, cells, N), 0);
	assert_int_equal(query_tree(p, &q, &tree), 0);
	assert_int_equal(tree.count, 200000);
	assert_int_equal(tree.nodes[0].total, N - 1 + 1000);
	level = 0;
	for (int f = 0; f < DEEP; f++) {
		level = tree.nodes[level].first_child;
		assert_int_not_equal(level, 0);
	}
	assert_int_equal(tree.nodes[level].self, 1000);
	free(tree.nodes);
	free(cells);
	profile_free(p);
}

/* An attached process is listed while it sleeps; others and exited ones are not. */
static void test_attached(void **state)
{
	struct profile *p = profile_new(10, 100);
	struct profile_proc info = {.pid = 7, .image = 1, .attached = true};
	struct profile_health health = {.elapsed = NS, .filtering = true, .frequency = 99};
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct proc_row *rows;
	size_t n;

	(void)state;
	feed_proc(p, 6, 1, "other", false);
	assert_true(profile_proc(p, &info) >= 0);
	assert_int_equal(profile_commit(p, NULL, 0, &health), 0);
	assert_int_equal(query_procs(p, &q, &rows, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(query_proc(p, rows[0].proc)->pid, 7);
	assert_int_equal(rows[0].samples, 0);
	assert_int_equal(rows[0].hottest, UINT32_MAX);
	free(rows);
	profile_free(p);
}

/* Samples of an event that does not come with time say nothing of a CPU's. */
static void test_shares_of_samples(void **state)
{
	struct profile *p = profile_new(10, 100);
	uint32_t stack = feed_names(p, false, "f");
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct profile_cell cells[2] = {
		{feed_proc(p, 1, 1, "a", false), 0, stack, PROFILE_NO_STACK, 30, 0, 0},
		{feed_proc(p, 2, 1, "b", false), 0, stack, PROFILE_NO_STACK, 10, 0, 0}};
	struct profile_health health = {.elapsed = NS,
					.ncpus = 2,
					.frequency = 99,
					.samples = 40,
					.event = "context-switches"};
	struct proc_row *rows;
	size_t count;

	(void)state;
	for (int slice = 0; slice < 3; slice++)
		assert_int_equal(profile_commit(p, cells, 2, &health), 0);
	assert_int_equal(query_procs(p, &q, &rows, &count), 0);
	assert_int_equal(count, 2);
	for (size_t i = 0; i < count; i++)
		assert_true(rows[i].cpu_percent == (rows[i].samples == 90 ? 75 : 25));
	free(rows);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_health),
		cmocka_unit_test(test_path_is_stable),
		cmocka_unit_test(test_tree_is_bounded),
		cmocka_unit_test(test_attached),
		cmocka_unit_test(test_shares_of_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
