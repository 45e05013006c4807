// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs apart: answers of random cells are compared with what is added up here.
 * Covers: tui/query/query_cpus.c
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

#include "tests/support/machine.h"
#include "tests/support/trees.h"
#include "tui/query/query.h"

#define CPUS   5
#define PROCS  4
#define TIDS   3
#define STACKS 4
#define SLICES 12
#define WINDOW 10

struct model {					    /* samples of the window */
	uint64_t of[PROCS][TIDS][CPUS + 1][STACKS]; /* by CPU + 1 */
	uint32_t procs[PROCS], stacks[STACKS], funcs[STACKS];
};

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*seed >> 33) % n;
}

static struct profile *model_feed(struct model *m, uint64_t *seed)
{
	struct profile *p = profile_new(WINDOW, 100000);
	struct profile_health h = {.elapsed = MACHINE_SECOND, .frequency = 99, .ncpus = CPUS};

	*m = (struct model){0};
	profile_lock(p);
	profile_keep(p, 600, 64 << 20);
	for (int i = 0; i < PROCS; i++) {
		struct profile_proc info = {.pid = 10 + i, .image = 1};

		m->procs[i] = (uint32_t)profile_proc(p, &info);
	}
	for (int i = 0; i < STACKS; i++) {
		char name[] = {(char)('a' + i), 0};
		struct profile_stack stack = {.complete = true, .nframes = 1};

		m->funcs[i] = (uint32_t)profile_func(p, FUNC_USER, name, "m");
		stack.frames = &m->funcs[i];
		m->stacks[i] = (uint32_t)profile_stack_new(p, &stack);
	}
	for (int slice = 0; slice < SLICES; slice++) {
		struct profile_cell cells[200];
		uint32_t n = random_below(seed, 200);

		for (uint32_t i = 0; i < n; i++) {
			uint32_t proc = random_below(seed, PROCS), tid = random_below(seed, TIDS);
			uint32_t cpu = random_below(seed, CPUS + 1);
			uint32_t stack = random_below(seed, STACKS);

			cells[i] = (struct profile_cell){.proc = m->procs[proc],
							 .tid = 1 + tid,
							 .ustack = m->stacks[stack],
							 .kstack = PROFILE_NO_STACK,
							 .count = 1 + random_below(seed, 9),
							 .cpu = cpu};
			if (slice >= SLICES - WINDOW)
				m->of[proc][tid][cpu][stack] += cells[i].count;
		}
		h.time += MACHINE_SECOND;
		assert_int_equal(profile_commit(p, cells, n, &h), 0);
	}
	return p;
}

/* -1: any. */
static uint64_t model_sum(const struct model *m, int proc, int tid, int cpu, int stack)
{
	uint64_t sum = 0;

	for (int i = 0; i < PROCS; i++)
		for (int j = 0; j < TIDS; j++)
			for (int k = 0; k <= CPUS; k++)
				for (int l = 0; l < STACKS; l++)
					if ((proc < 0 || proc == i) && (tid < 0 || tid == j) &&
					    (cpu < 0 || cpu == k) && (stack < 0 || stack == l))
						sum += m->of[i][j][k][l];
	return sum;
}

static void check_rows_of_cpus(const struct profile *p, const struct model *m)
{
	struct query q = {.proc = QUERY_ALL, .cpus = true, .by_cpu = true};
	uint64_t want = 0, found = 0;
	struct proc_row *rows;
	size_t count;

	assert_int_equal(query_procs(p, &q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++) {
		int cpu = (int)rows[i].cpu;
		uint64_t hottest = 0, last = 0;

		assert_int_equal(rows[i].proc, QUERY_ALL);
		assert_int_equal(rows[i].samples, model_sum(m, -1, -1, cpu, -1));
		assert_int_equal(rows[i].walks, rows[i].samples);
		for (int l = 0; l < STACKS; l++) {
			uint64_t n = model_sum(m, -1, -1, cpu, l);

			hottest = n > hottest ? n : hottest;
			last = rows[i].hottest == m->funcs[l] ? n : last;
		}
		assert_int_equal(last, hottest);
		assert_true(fabs(rows[i].cpu_percent -
				 100.0 * (double)rows[i].samples / WINDOW / 99) < 1e-9);
		found += rows[i].samples;
	}
	for (int cpu = 0; cpu <= CPUS; cpu++)
		want += model_sum(m, -1, -1, cpu, -1) != 0;
	assert_int_equal(count, want);
	assert_int_equal(found, model_sum(m, -1, -1, -1, -1));
	free(rows);
}

static void check_where(const struct profile *p, const struct model *m, bool threads)
{
	struct query q = {.proc = QUERY_ALL, .cpus = true, .threads = threads};
	uint64_t all = 0;
	struct cpu_row *rows;
	size_t count;

	assert_int_equal(query_cpus(p, &q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++) {
		int proc = 0;

		while (m->procs[proc] != rows[i].proc)
			proc++;
		assert_int_equal(rows[i].samples,
				 model_sum(m, proc, threads ? (int)rows[i].tid - 1 : -1,
					   (int)rows[i].cpu, -1));
		if (i && rows[i - 1].proc == rows[i].proc && rows[i - 1].tid == rows[i].tid)
			assert_true(rows[i - 1].samples >= rows[i].samples);
		all += rows[i].samples;
	}
	assert_int_equal(all, model_sum(m, -1, -1, -1, -1));
	free(rows);
}

/* Whether or not CPUs are apart, what is put together is the same. */
static void check_together(const struct profile *p, const struct model *m)
{
	for (int apart = 0; apart < 2; apart++) {
		struct query q = {.proc = QUERY_ALL, .cpus = apart};
		struct proc_row *rows;
		size_t count;

		assert_int_equal(query_procs(p, &q, &rows, &count), 0);
		for (size_t i = 0; i < count; i++) {
			int proc = 0;

			while (m->procs[proc] != rows[i].proc)
				proc++;
			assert_int_equal(rows[i].samples, model_sum(m, proc, -1, -1, -1));
			assert_int_equal(rows[i].cpu, 0);
		}
		free(rows);
	}
}

static void check_sieve(const struct profile *p, const struct model *m, uint64_t *seed)
{
	bool cpus[CPUS + 1];
	struct sample_filter kept = {.cpus = cpus, .ncpus = 1 + random_below(seed, CPUS + 1)};
	struct query q = {.proc = QUERY_ALL, .cpus = true, .filter = &kept};
	uint64_t want[STACKS] = {0}, all = 0;
	struct func_row *funcs;
	struct tree tree;
	size_t count;

	for (int i = 0; i <= CPUS; i++)
		cpus[i] = random_below(seed, 2);
	for (int l = 0; l < STACKS; l++)
		for (uint32_t cpu = 0; cpu < kept.ncpus; cpu++)
			want[l] += cpus[cpu] ? model_sum(m, -1, -1, (int)cpu, l) : 0;
	assert_int_equal(query_funcs(p, &q, &funcs, &count), 0);
	for (size_t i = 0; i < count; i++) {
		int l = 0;

		while (m->funcs[l] != funcs[i].func)
			l++;
		assert_int_equal(funcs[i].self, want[l]);
	}
	free(funcs);
	for (int callers = 0; callers < 2; callers++) {
		assert_int_equal(callers ? query_callers(p, &q, &tree) : query_tree(p, &q, &tree),
				 0);
		all = 0;
		for (int l = 0; l < STACKS; l++)
			all += want[l];
		assert_int_equal(tree.nodes[0].total, all);
		free(tree.nodes);
	}
}

static void cpus_are_apart_and_together(void **state)
{
	(void)state;
	for (uint64_t round = 1; round <= 100; round++) {
		uint64_t seed = round;
		struct model m;
		struct profile *p = model_feed(&m, &seed);

		check_rows_of_cpus(p, &m);
		check_where(p, &m, false);
		check_where(p, &m, true);
		check_together(p, &m);
		check_sieve(p, &m, &seed);
		assert_true(query_ncpus(p) <= CPUS + 1);
		for (int i = 0; i < STACKS; i++)
			profile_stack_put(p, m.stacks[i]);
		profile_unlock(p);
		profile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_are_apart_and_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
