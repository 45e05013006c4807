// SPDX-License-Identifier: GPL-2.0-or-later
/* See cellorder.h. Processes are counted, since they are many and each has few cells. */
#include "tui/cellorder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>

#define FEW 16 /* are sorted without a call for each comparison */

static int compare(const struct profile_cell *a, const struct profile_cell *b)
{
	if (a->ustack != b->ustack)
		return a->ustack < b->ustack ? -1 : 1;
	if (a->kstack != b->kstack)
		return a->kstack < b->kstack ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static int by_stack(const void *a, const void *b)
{
	return compare(a, b);
}

/* Of one process. */
static void sort(struct profile_cell *cells, size_t n)
{
	if (n > FEW) {
		qsort(cells, n, sizeof(*cells), by_stack);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct profile_cell one = cells[i];
		size_t at = i;

		for (; at && compare(&cells[at - 1], &one) > 0; at--)
			cells[at] = cells[at - 1];
		cells[at] = one;
	}
}

ssize_t cells_in_order(struct profile_cell *to, const struct profile_cell *cells, size_t n,
		       uint32_t nprocs)
{
	/* Where the cells of a process begin, and, once they stand there, end. */
	size_t *at = calloc((size_t)nprocs + 1, sizeof(*at)), begin = 0;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		at[cells[i].proc + 1] += cells[i].count != 0;
	for (uint32_t i = 0; i < nprocs; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < n; i++)
		if (cells[i].count)
			to[at[cells[i].proc]++] = cells[i];
	for (uint32_t i = 0; i < nprocs; begin = at[i++])
		sort(to + begin, at[i] - begin);
	free(at);
	return (ssize_t)begin;
}

size_t cells_of_process(const struct profile_cell *cells, size_t n, uint32_t proc)
{
	size_t first = 0;

	while (n) {
		size_t half = n / 2;

		if (cells[first + half].proc < proc) {
			first += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return first;
}
