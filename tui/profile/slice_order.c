// SPDX-License-Identifier: GPL-2.0-or-later
/* See slice_order.h. Processes are compared. Cells are sorted by the digits of their threads, since
 * a slice may have tens of thousands: comparing them would take longer than the rest of a commit.
 */
#include "tui/profile/slice_order.h"

#include <errno.h>
#include <stdlib.h>

#include "tui/profile/profile_priv.h"

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

struct met {
	pid_t pid;
	uint32_t proc;
	uint64_t image;
};

static struct met met_of(const struct profile *p, uint32_t proc)
{
	const struct profile_proc *of = &proc_at(p, proc)->proc;

	return (struct met){of->pid, proc, of->image};
}

static int by_process(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->image > y->image) - (x->image < y->image);
}

bool cells_before(const struct profile *p, uint32_t one, uint32_t other)
{
	struct met x = met_of(p, one), y = met_of(p, other);

	return by_process(&x, &y) < 0;
}

struct turn { /* a cell, and what it is sorted by */
	uint32_t tid, cell;
};

/* Cells that have samples, in the order in which they came; returns how many. *sorted: that is by
 * thread. */
static size_t take_turns(const struct profile_cell *cells, size_t n, struct turn *turns,
			 bool *sorted)
{
	size_t count = 0;

	*sorted = true;
	for (size_t i = 0; i < n; i++) {
		if (!cells[i].count)
			continue;
		*sorted &= !count || turns[count - 1].tid <= cells[i].tid;
		turns[count++] = (struct turn){cells[i].tid, (uint32_t)i};
	}
	return count;
}

/* By one digit of their threads; those that have the same stay in their order. */
static void sort_digit(const struct turn *from, size_t n, int shift, struct turn *to)
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

/* By thread; spare has as much room. Returns which of the two has them. */
static const struct turn *sort_turns(struct turn *turns, size_t n, struct turn *spare)
{
	uint32_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = turns[i].tid > most ? turns[i].tid : most;
	for (int shift = 0; shift < 32 && most >> shift; shift += DIGIT_BITS) {
		struct turn *sorted = spare;

		sort_digit(turns, n, shift, sorted);
		spare = turns;
		turns = sorted;
	}
	return turns;
}

/* at: how many cells each process has; then where the next one goes. */
static void place_processes(struct met *met, size_t nmet, size_t *at)
{
	size_t end = 0;

	qsort(met, nmet, sizeof(*met), by_process);
	for (size_t i = 0; i < nmet; i++) {
		size_t cells = at[met[i].proc];

		at[met[i].proc] = end;
		end += cells;
	}
}

ssize_t cells_in_order(const struct profile *p, const struct profile_cell *cells, size_t n,
		       struct profile_cell *to)
{
	size_t room = (size_t)p->procs.count + 1, nmet = 0, count;
	size_t *at = calloc(room, sizeof(*at));
	struct met *met = malloc(room * sizeof(*met));
	struct turn *turns = n <= UINT32_MAX ? calloc(2 * n + 1, sizeof(*turns)) : NULL;
	const struct turn *sorted = turns;
	bool in_order;

	if (!at || !met || !turns) {
		free(at);
		free(met);
		free(turns);
		return -ENOMEM;
	}
	count = take_turns(cells, n, turns, &in_order);
	for (size_t i = 0; i < count; i++) {
		uint32_t proc = cells[turns[i].cell].proc;

		if (!at[proc]++)
			met[nmet++] = met_of(p, proc);
	}
	place_processes(met, nmet, at);
	if (!in_order)
		sorted = sort_turns(turns, count, turns + n);
	for (size_t i = 0; i < count; i++) {
		const struct profile_cell *cell = &cells[sorted[i].cell];

		to[at[cell->proc]++] = *cell;
	}
	free(at);
	free(met);
	free(turns);
	return (ssize_t)count;
}

/* Where cells of that process begin, or where they end. */
static size_t find_process(const struct profile *p, const struct profile_cell *cells, size_t to,
			   uint32_t proc, bool end)
{
	const struct met sought = met_of(p, proc);
	size_t from = 0;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct met met = met_of(p, cells[middle].proc);
		int order = by_process(&met, &sought);

		if (order < 0 || (end && !order))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static size_t find_thread(const struct profile_cell *cells, size_t from, size_t to, uint64_t tid)
{
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (cells[middle].tid < tid)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

struct cells_range cells_of(const struct profile *p, const struct profile_cell *cells, size_t n,
			    uint32_t proc, uint32_t tid)
{
	struct cells_range range = {find_process(p, cells, n, proc, false),
				    find_process(p, cells, n, proc, true)};

	if (tid) {
		size_t from = find_thread(cells, range.from, range.to, tid);

		range.to = find_thread(cells, from, range.to, (uint64_t)tid + 1);
		range.from = from;
	}
	return range;
}
