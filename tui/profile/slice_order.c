// SPDX-License-Identifier: GPL-2.0-or-later
/* See slice_order.h. Processes are sorted by comparison, but cells by the digits of their threads:
 * comparing tens of thousands would take longer than the rest of a commit. */
#include "tui/profile/slice_order.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols/base/search.h"
#include "tui/profile/profile_priv.h"

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

struct proc_key {
	pid_t pid;
	uint32_t proc;
	uint64_t image;
};

static struct proc_key key_of(const struct profile *p, uint32_t proc)
{
	const struct profile_proc *of = &proc_at(p, proc)->proc;

	return (struct proc_key){of->pid, proc, of->image};
}

static int by_process(const void *a, const void *b)
{
	const struct proc_key *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->image > y->image) - (x->image < y->image);
}

bool cells_before(const struct profile *p, uint32_t one, uint32_t other)
{
	struct proc_key x = key_of(p, one), y = key_of(p, other);

	return by_process(&x, &y) < 0;
}

struct thread_key { /* a cell, and what it is sorted by */
	uint32_t tid, cell;
};

/* Cells with samples, in the order given; returns how many. *sorted: they are sorted by thread. */
static size_t take_keys(const struct profile_cell *cells, size_t n, struct thread_key *keys,
			bool *sorted)
{
	size_t count = 0;

	*sorted = true;
	for (size_t i = 0; i < n; i++) {
		if (!cells[i].count)
			continue;
		*sorted &= !count || keys[count - 1].tid <= cells[i].tid;
		keys[count++] = (struct thread_key){cells[i].tid, (uint32_t)i};
	}
	return count;
}

/* A stable sort by one digit of the threads. */
static void sort_digit(const struct thread_key *from, size_t n, int shift, struct thread_key *to)
{
	size_t at[DIGITS] = {0}, end = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i].tid >> shift & (DIGITS - 1)]++;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t count = at[digit];

		at[digit] = end;
		end += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i].tid >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts by thread; spare has as much room. Returns the array that has the result. */
static const struct thread_key *sort_keys(struct thread_key *keys, size_t n,
					  struct thread_key *spare)
{
	uint32_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = keys[i].tid > most ? keys[i].tid : most;
	for (int shift = 0; shift < 32 && most >> shift; shift += DIGIT_BITS) {
		struct thread_key *sorted = spare;

		sort_digit(keys, n, shift, sorted);
		spare = keys;
		keys = sorted;
	}
	return keys;
}

/* at: in, the number of cells of each process; out, the index of its first. */
static void place_processes(struct proc_key *procs, size_t nprocs, size_t *at)
{
	size_t end = 0;

	qsort(procs, nprocs, sizeof(*procs), by_process);
	for (size_t i = 0; i < nprocs; i++) {
		size_t cells = at[procs[i].proc];

		at[procs[i].proc] = end;
		end += cells;
	}
}

ssize_t cells_in_order(const struct profile *p, const struct profile_cell *cells, size_t n,
		       struct profile_cell *to)
{
	size_t room = (size_t)p->procs.count + 1, nprocs = 0, count;
	size_t *at = calloc(room, sizeof(*at));
	struct proc_key *procs = malloc(room * sizeof(*procs));
	struct thread_key *keys = n <= UINT32_MAX ? calloc(2 * n + 1, sizeof(*keys)) : NULL;
	const struct thread_key *sorted = keys;
	bool in_order;

	if (!at || !procs || !keys) {
		free(at);
		free(procs);
		free(keys);
		return -ENOMEM;
	}
	count = take_keys(cells, n, keys, &in_order);
	for (size_t i = 0; i < count; i++) {
		uint32_t proc = cells[keys[i].cell].proc;

		if (!at[proc]++)
			procs[nprocs++] = key_of(p, proc);
	}
	place_processes(procs, nprocs, at);
	if (!in_order)
		sorted = sort_keys(keys, count, keys + n);
	for (size_t i = 0; i < count; i++) {
		const struct profile_cell *cell = &cells[sorted[i].cell];

		to[at[cell->proc]++] = *cell;
	}
	free(at);
	free(procs);
	free(keys);
	return (ssize_t)count;
}

struct cells_range cells_of(const struct profile *p, const struct profile_cell *cells, size_t n,
			    uint32_t proc, uint32_t tid)
{
	struct cells_range range;

	range.from = SEARCH(n, i, cells_before(p, cells[i].proc, proc));
	range.to = SEARCH(n, i, !cells_before(p, proc, cells[i].proc));
	if (tid) {
		cells += range.from;
		n = range.to - range.from;
		range.to = range.from + SEARCH(n, i, cells[i].tid <= tid);
		range.from += SEARCH(n, i, cells[i].tid < tid);
	}
	return range;
}
