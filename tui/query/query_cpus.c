// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * On which CPUs processes and threads ran. Sums merge CPUs as they merge threads. The query is
 * rare, so it adds up slices, and costs nothing unless it is used.
 */
#include <errno.h>
#include <stdlib.h>

#include "tui/query/query_priv.h"

struct cpu_adder {
	const struct query *q;
	struct celltable sums; /* process, thread, CPU */
};

static int add_cell(const struct profile_cell *cell, void *arg)
{
	struct cpu_adder *a = arg;

	if (celltable_reserve(&a->sums, a->sums.count + 1))
		return -ENOMEM;
	celltable_get(&a->sums, cell->proc, a->q->threads ? cell->tid : 0, cell->cpu, NULL)
		->count += cell->count;
	return 0;
}

static int by_samples(const void *a, const void *b)
{
	const struct cpu_row *x = a, *y = b;

	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

int query_cpus(const struct profile *p, const struct query *q, struct cpu_row **rows, size_t *count)
{
	struct cpu_adder a = {.q = q};
	int err = query_cells(p, q, add_cell, &a);

	*count = 0;
	*rows = err ? NULL : calloc(a.sums.count + 1, sizeof(**rows));
	if (!err && !*rows)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < a.sums.count; i++) {
		const struct cell *sum = &a.sums.cells[i];

		(*rows)[(*count)++] =
			(struct cpu_row){sum->proc, sum->ustack, sum->kstack, sum->count};
	}
	if (*count)
		qsort(*rows, *count, sizeof(**rows), by_samples);
	celltable_free(&a.sums);
	return err;
}

static int find_cpu(const struct profile_cell *cell, void *arg)
{
	(void)arg;
	return cell->cpu ? -EEXIST : 0; /* ends the search */
}

bool query_knows_cpus(const struct profile *p, enum span span)
{
	const struct query q = {.span = span, .proc = QUERY_ALL, .cpus = true};

	return query_raw(p, &q, find_cpu, NULL) == -EEXIST;
}

bool query_keeps_slices(const struct profile *p, enum span span)
{
	size_t newest, n;

	return span_has_slices(p, span, &newest, &n);
}

uint32_t query_ncpus(const struct profile *p)
{
	return p->ncpus;
}
