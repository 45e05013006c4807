// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the time of threads went: cells without stacks, one for each cause, are added up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "tui/query/query_priv.h"

struct times {
	const struct profile *p;
	const struct query *q;
	struct time_row *rows;
	size_t count, room;
};

static int by_thread(const void *a, const void *b)
{
	const struct time_row *x = a, *y = b;

	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Cells of a thread follow each other in a slice, so most find their row at once. */
static int add_cell(const struct profile_cell *cell, void *arg)
{
	struct times *t = arg;
	const uint32_t proc = t->q->owners ? t->q->owners[cell->proc] : cell->proc;
	const struct time_row key = {.proc = proc, .tid = t->q->threads ? cell->tid : 0};
	struct time_row *row = t->count ? &t->rows[t->count - 1] : NULL;

	if (!row || by_thread(row, &key) != 0) {
		if (GROW(t->rows, t->count, t->room, SIZE_MAX))
			return -ENOMEM;
		row = &t->rows[t->count++];
		*row = key;
	}
	row->us[stack_at(t->p, cell->kstack)->stack.cause] += cell->count;
	row->all += cell->count;
	return 0;
}

static size_t rows_merge(struct time_row *rows, size_t count)
{
	size_t n = 0;

	if (count)
		qsort(rows, count, sizeof(*rows), by_thread);
	for (size_t i = 0; i < count; i++) {
		if (!n || by_thread(&rows[n - 1], &rows[i]) != 0) {
			rows[n++] = rows[i];
			continue;
		}
		for (int cause = 0; cause < WAIT_CAUSES; cause++)
			rows[n - 1].us[cause] += rows[i].us[cause];
		rows[n - 1].all += rows[i].all;
	}
	return n;
}

/* The same query about times, without its hiding and its filters of functions, which times have
 * not. The filters are kept in the two. */
static struct query times_query(const struct query *q, struct sample_filter *scope,
				struct sample_filter *filter)
{
	struct query times = *q;

	times.measure = MEASURE_TIME;
	times.hide_user = times.hide_kernel = false;
	if (q->scope) {
		*scope = *q->scope;
		scope->funcs = NULL;
		times.scope = scope;
	}
	if (q->filter) {
		*filter = *q->filter;
		filter->funcs = NULL;
		times.filter = filter;
	}
	return times;
}

int query_times(const struct profile *p, const struct query *q, struct time_row **rows,
		size_t *count)
{
	struct sample_filter scope = {0}, filter = {0};
	struct query times = times_query(q, &scope, &filter);
	struct times t = {.p = p, .q = q};
	int err;

	err = query_cells(p, &times, add_cell, &t);
	if (err) {
		free(t.rows);
		t.rows = NULL;
	}
	*rows = t.rows;
	*count = err ? 0 : rows_merge(t.rows, t.count);
	return err;
}

const struct time_row *time_row_find(const struct time_row *rows, size_t count, uint32_t proc,
				     uint32_t tid)
{
	const struct time_row key = {.proc = proc, .tid = tid};

	return count ? bsearch(&key, rows, count, sizeof(*rows), by_thread) : NULL;
}

enum wait_cause time_row_largest(const struct time_row *row)
{
	int largest = WAIT_NONE;

	for (int cause = WAIT_RUNNABLE; cause < WAIT_CAUSES; cause++)
		if (row->us[cause] && (largest == WAIT_NONE || row->us[cause] > row->us[largest]))
			largest = cause;
	return (enum wait_cause)largest;
}

struct slice_times {
	const struct profile *p;
	uint64_t *us;
};

static int add_time(const struct profile_cell *cell, void *arg)
{
	const struct slice_times *t = arg;

	t->us[stack_at(t->p, cell->kstack)->stack.cause] += cell->count;
	return 0;
}

bool query_slice_times(const struct profile *p, const struct query *q, uint64_t slice,
		       uint64_t us[WAIT_CAUSES], size_t *cells)
{
	struct sample_filter scope = {0}, filter = {0};
	struct query times = times_query(q, &scope, &filter);
	struct slice_times t = {p, us};
	size_t age;

	memset(us, 0, WAIT_CAUSES * sizeof(*us));
	if (!slice_age(p, slice, &age))
		return false;
	*cells += q->proc == QUERY_ALL ? slice_at(p, age)->ncells : 1;
	query_slice(p, &times, slice_at(p, age), add_time, &t);
	return true;
}
