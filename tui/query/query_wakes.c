// SPDX-License-Identifier: GPL-2.0-or-later
/* Who waited for what, and who ended it: cells of long waits, sorted so that equal ones are next to
 * each other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "tui/query/query_priv.h"

struct wake { /* a cell, or a pair and the group that it is in */
	uint32_t proc, what, ustack, kstack, tid;
	uint64_t us, waits;
};

struct wakes {
	const struct profile *p;
	struct wake *at;
	size_t count, room;
};

/* The lock, or else the cause. */
static uint32_t what_of(const struct profile *p, const struct profile_stack *stack)
{
	uint32_t what = QUERY_NONE;

	for (uint32_t i = 0; i < stack->nframes; i++) {
		const enum func_kind kind = func_at(p, stack->frames[i])->func.kind;

		if (kind == FUNC_LOCK)
			return stack->frames[i];
		if (kind == FUNC_WAIT)
			what = stack->frames[i];
		if (kind == FUNC_WAKER)
			break;
	}
	return what;
}

static int add_cell(const struct profile_cell *cell, void *arg)
{
	struct wakes *w = arg;

	if (GROW(w->at, w->count, w->room, SIZE_MAX))
		return -ENOMEM;
	w->at[w->count++] =
		(struct wake){cell->proc,   what_of(w->p, &stack_at(w->p, cell->kstack)->stack),
			      cell->ustack, cell->kstack,
			      cell->tid,    cell->weight,
			      cell->count};
	return 0;
}

#define BY(member)                                                                                 \
	if (x->member != y->member)                                                                \
	return x->member < y->member ? -1 : 1

static int by_thread(const void *a, const void *b)
{
	const struct wake *x = a, *y = b;

	BY(proc);
	BY(what);
	BY(tid);
	return 0;
}

static int by_stacks(const void *a, const void *b)
{
	const struct wake *x = a, *y = b;

	BY(proc);
	BY(what);
	BY(ustack);
	BY(kstack);
	return 0;
}

static bool same_group(const struct wake *x, const struct wake *y)
{
	return x->proc == y->proc && x->what == y->what;
}

static int longest_group(const void *a, const void *b)
{
	const struct wake_group *x = a, *y = b;

	return (x->us < y->us) - (x->us > y->us);
}

static int longest_pair(const void *a, const void *b)
{
	const struct wake_pair *x = a, *y = b;

	return (x->us < y->us) - (x->us > y->us);
}

/* Groups of cells sorted by thread, and how many threads each has. */
static size_t make_groups(const struct wakes *w, struct wake_group *groups)
{
	size_t n = 0;

	for (size_t i = 0; i < w->count; i++) {
		const struct wake *at = &w->at[i];
		const bool first = !i || !same_group(at, at - 1);

		if (first)
			groups[n++] = (struct wake_group){.proc = at->proc, .what = at->what};
		groups[n - 1].us += at->us;
		groups[n - 1].waits += at->waits;
		groups[n - 1].threads += at->tid && (first || at->tid != at[-1].tid);
	}
	return n;
}

/* The pairs of the groups, which are in the order of the cells, sorted by stacks now. */
static void make_pairs(const struct wakes *w, struct wake_group *groups, struct wake_pair *pairs)
{
	size_t n = 0, group = 0;

	for (size_t i = 0; i < w->count; i++) {
		const struct wake *at = &w->at[i];

		group += i && !same_group(at, at - 1);
		if (!i || by_stacks(at, at - 1) != 0) {
			if (!groups[group].npairs++)
				groups[group].first = (uint32_t)n;
			pairs[n++] = (struct wake_pair){at->ustack, at->kstack, 0, 0};
		}
		pairs[n - 1].us += at->us;
		pairs[n - 1].waits += at->waits;
	}
}

int query_wakes(const struct profile *p, const struct query *q, struct wake_group **groups,
		size_t *ngroups, struct wake_pair **pairs)
{
	struct query wakes = *q;
	struct wakes w = {.p = p};
	int err;

	*groups = NULL;
	*pairs = NULL;
	*ngroups = 0;
	wakes.measure = MEASURE_WAKES;
	wakes.both = wakes.threads = true;
	err = query_cells(p, &wakes, add_cell, &w);
	if (!err) {
		*groups = calloc(w.count + 1, sizeof(**groups));
		*pairs = calloc(w.count + 1, sizeof(**pairs));
		err = *groups && *pairs ? 0 : -ENOMEM;
	}
	if (!err && w.count) {
		qsort(w.at, w.count, sizeof(*w.at), by_thread);
		*ngroups = make_groups(&w, *groups);
		qsort(w.at, w.count, sizeof(*w.at), by_stacks);
		make_pairs(&w, *groups, *pairs);
		for (size_t i = 0; i < *ngroups; i++)
			qsort(*pairs + (*groups)[i].first, (*groups)[i].npairs, sizeof(**pairs),
			      longest_pair);
		qsort(*groups, *ngroups, sizeof(**groups), longest_group);
	}
	free(w.at);
	if (err) {
		free(*groups);
		free(*pairs);
		*groups = NULL;
		*pairs = NULL;
	}
	return err;
}
