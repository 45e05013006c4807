// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/randommodel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tui/query/query.h"

#define PROCS	 6
#define STACKS	 24
#define CELLS	 60
#define KERNELS	 4
#define NO_STACK 8u /* so many in a hundred */

struct made {
	struct profile *p;
	uint64_t random;
	uint32_t procs[PROCS], nprocs;
	uint32_t stacks[STACKS + 1], nstacks;
	uint32_t kernels[KERNELS + 1], nkernels;
};

static uint32_t below(struct made *m, uint32_t n)
{
	return feed_random(&m->random, n);
}

static const char *const modules[] = {"",      "liba.so", "libb.so",   "/usr/bin/prog",
				      "[jit]", "app.py",  "dir/a b.so"};
static const char *const names[] = {"main", "work",	"f", "operator()", "<lambda>",
				    "a b",  "\xc3\xa4", "",  "x;y"};
static const char *const ends[] = {"stack is broken", "no CFI"};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(*(array))))

static uint32_t a_func(struct made *m, enum func_kind kind)
{
	const char *name =
		kind == FUNC_END ? ends[below(m, COUNT(ends))] : names[below(m, COUNT(names))];
	const char *module = kind == FUNC_END	   ? ""
			     : kind == FUNC_KERNEL ? "vmlinux"
						   : modules[below(m, COUNT(modules))];
	int64_t id = profile_func(m->p, kind, name, module);
	char file[32];

	assert_true(id >= 0);
	if (kind != FUNC_END && !below(m, 2)) {
		snprintf(file, sizeof(file), "/src/%u.c", below(m, 4));
		assert_int_equal(
			profile_line(m->p, (uint32_t)id, file, below(m, 3) * 17, 1 + below(m, 9)),
			0);
	}
	return (uint32_t)id;
}

static uint32_t a_stack(struct made *m)
{
	static const enum func_kind kinds[] = {FUNC_USER,   FUNC_USER, FUNC_USER, FUNC_USER,
					       FUNC_INLINE, FUNC_JIT,  FUNC_EVAL, FUNC_PYTHON,
					       FUNC_JS,	    FUNC_JAVA};
	uint32_t frames[16], n = 0, depth = 1 + below(m, 12);
	bool complete = below(m, 4) != 0;

	if (!complete)
		frames[n++] = a_func(m, FUNC_END);
	while (n < depth) {
		enum func_kind kind = kinds[below(m, COUNT(kinds))];

		frames[n] = a_func(m, n || kind != FUNC_INLINE ? kind : FUNC_USER);
		n++;
	}
	return feed_stack(m->p, false, complete, frames, n);
}

static uint32_t a_kernel_stack(struct made *m, bool waits)
{
	uint32_t frames[4], n = 0, depth = 1 + below(m, 4);

	while (n < depth)
		frames[n++] = a_func(m, FUNC_KERNEL);
	if (!waits)
		return feed_stack(m->p, true, false, frames, n);
	return (uint32_t)profile_wait_stack(m->p, frames, n,
					    (enum wait_cause)(1 + below(m, WAIT_CAUSES - 1)));
}

static void make_procs(struct made *m)
{
	static const char *const groups[] = {"", "docker 0123456789ab", "unit.service"};

	m->nprocs = 1 + below(m, PROCS);
	for (uint32_t i = 0; i < m->nprocs; i++) {
		struct profile_proc proc = {
			.pid = (pid_t)(100 + i), .image = 1 + i, .nthreads = 1 + below(m, 3)};
		int64_t id;

		snprintf(proc.comm, sizeof(proc.comm), "prog%u", below(m, 3));
		snprintf(proc.user, sizeof(proc.user), "%s", below(m, 2) ? "root" : "");
		snprintf(proc.group, sizeof(proc.group), "%s", groups[below(m, COUNT(groups))]);
		if (below(m, 2))
			snprintf(proc.cmdline, sizeof(proc.cmdline), "/bin/%s -x", proc.comm);
		id = profile_proc(m->p, &proc);
		assert_true(id >= 0);
		m->procs[i] = (uint32_t)id;
	}
}

static void make_stacks(struct made *m, bool waits)
{
	m->nstacks = 1 + below(m, STACKS);
	for (uint32_t i = 0; i < m->nstacks; i++)
		m->stacks[i] = a_stack(m);
	m->nkernels = 1 + below(m, KERNELS);
	for (uint32_t i = 0; i < m->nkernels; i++)
		m->kernels[i] = a_kernel_stack(m, waits);
}

static void make_slice(struct made *m, const struct profile_health *health, bool waits)
{
	struct profile_cell cells[CELLS];
	const bool by_cpu = below(m, 2), threads = below(m, 2);
	uint32_t ncells = 1 + below(m, CELLS);

	for (uint32_t i = 0; i < ncells; i++) {
		cells[i] = (struct profile_cell){
			.proc = m->procs[below(m, m->nprocs)],
			.tid = threads ? 100 + below(m, 4) : 0,
			.ustack = below(m, 100) < NO_STACK ? PROFILE_NO_STACK
							   : m->stacks[below(m, m->nstacks)],
			.kstack = !waits && below(m, 3) ? PROFILE_NO_STACK
							: m->kernels[below(m, m->nkernels)],
			.count = 1 + below(m, 100),
			.cpu = by_cpu ? 1 + below(m, 4) : 0,
			.weight = waits || health->counted ? 1 + below(m, 100000) : 0};
		if (cells[i].tid && below(m, 2))
			assert_int_equal(
				profile_thread(m->p, cells[i].proc, cells[i].tid, "helper"), 0);
	}
	assert_int_equal(profile_commit(m->p, cells, ncells, health), 0);
}

void random_model(struct export_model *c, uint64_t seed)
{
	struct made m = {.p = profile_new(10, 10000), .random = 0x9e3779b97f4a7c15 * (seed + 1)};
	const uint32_t kind = below(&m, 3), nslices = 1 + below(&m, 3);
	const bool waits = kind == 2;
	const struct query q = {
		.span = SPAN_LAST, .proc = QUERY_ALL, .measure = waits ? MEASURE_OFF : MEASURE_CPU};
	struct profile_health health = {
		.elapsed = RANDOM_MODEL_ELAPSED, .ncpus = 4, .frequency = 99, .waits = waits};

	snprintf(health.event, sizeof(health.event), "%s", kind == 1 ? "page-faults" : "cpu-clock");
	health.counted = kind == 1 ? 1000000 : 0;
	assert_non_null(m.p);
	profile_lock(m.p);
	make_procs(&m);
	make_stacks(&m, waits);
	for (uint32_t i = 0; i < COUNT(modules); i++)
		if (*modules[i] && below(&m, 2))
			profile_module(m.p, modules[i], "0123456789abcdef");
	*c = (struct export_model){0};
	for (uint32_t i = 0; i < nslices; i++) {
		health.time += RANDOM_MODEL_ELAPSED;
		health.clock = RANDOM_MODEL_TIME + health.time;
		make_slice(&m, &health, waits);
		assert_int_equal(export_model_add(c, m.p, &q), 0);
	}
	profile_unlock(m.p);
	profile_free(m.p);
}
