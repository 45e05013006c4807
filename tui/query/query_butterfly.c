// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Callers and callees of one function. A tree cannot answer: it has an occurrence of the function
 * on each path, and in recursion several above each other. Here each sample counts once on either
 * side, so the rows of a side add up to the samples of the function.
 */
#include <errno.h>
#include <stdlib.h>

#include "tui/query/query_priv.h"

struct wing_sum {
	uint64_t samples, before;
};

struct butterfly_adder {
	const struct profile *p;
	const struct query *q;
	const struct match_cache *middle;
	bool baseline; /* its cells are added now */
	uint32_t none; /* index of the row without a function, behind all functions */
	struct wing_sum *callers, *callees;
	struct butterfly *out;
};

/* Where the function is on one stack: the outermost call of it has the caller, the innermost the
 * callee. */
struct occurrence {
	uint32_t times;
	uint32_t last; /* frame that was looked at; none: there was none */
	uint32_t caller, callee;
};

static void look_at(const struct butterfly_adder *a, uint32_t id, struct occurrence *o)
{
	const struct profile_stack *stack;

	if (id == PROFILE_NO_STACK)
		return;
	stack = &stack_at(a->p, id)->stack;
	for (uint32_t i = 0; i < stack->nframes; i++) {
		uint32_t func = stack->frames[i];
		bool was = o->times && o->callee == a->none;

		if (!query_shows(a->p, a->q, stack, i))
			continue;
		if (func < a->middle->count && a->middle->pass[func]) {
			if (!o->times++)
				o->caller = o->last;
			o->callee = a->none;
		} else if (was) {
			o->callee = func;
		}
		o->last = func;
	}
}

static int butterfly_cell(const struct profile_cell *cell, void *arg)
{
	struct butterfly_adder *a = arg;
	struct occurrence o = {.last = a->none, .caller = a->none, .callee = a->none};

	look_at(a, cell->ustack, &o);
	look_at(a, cell->kstack, &o);
	if (!o.times)
		return 0;
	if (a->baseline) {
		a->out->before += cell->count;
		a->callers[o.caller].before += cell->count;
		a->callees[o.callee].before += cell->count;
		return 0;
	}
	a->out->total += cell->count;
	a->out->recursive += o.times > 1 ? cell->count : 0;
	a->callers[o.caller].samples += cell->count;
	a->callees[o.callee].samples += cell->count;
	return 0;
}

static int most_samples(const void *x, const void *y)
{
	const struct butterfly_row *a = x, *b = y;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	if (a->before != b->before)
		return a->before < b->before ? 1 : -1;
	return (a->func > b->func) - (a->func < b->func);
}

static int wing_rows(const struct butterfly_adder *a, const struct wing_sum *sums,
		     struct butterfly_row **rows, size_t *count)
{
	size_t n = 0;

	for (uint32_t i = 0; i <= a->none; i++)
		n += sums[i].samples || sums[i].before;
	*count = 0;
	*rows = malloc((n + 1) * sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (uint32_t i = 0; i <= a->none; i++)
		if (sums[i].samples || sums[i].before)
			(*rows)[(*count)++] = (struct butterfly_row){
				i == a->none ? QUERY_NONE : i, sums[i].samples, sums[i].before};
	qsort(*rows, *count, sizeof(**rows), most_samples);
	return 0;
}

void butterfly_free(struct butterfly *b)
{
	free(b->callers);
	free(b->callees);
	*b = (struct butterfly){0};
}

int query_butterfly(const struct profile *p, const struct query *q,
		    const struct match_cache *middle, struct butterfly *out)
{
	const size_t room = (size_t)p->funcs.count + 1;
	struct butterfly_adder a = {
		.p = p, .q = q, .middle = middle, .none = p->funcs.count, .out = out};
	struct query baseline = query_of_baseline(q);
	int err = -ENOMEM;

	*out = (struct butterfly){0};
	a.callers = calloc(2 * room, sizeof(*a.callers));
	if (a.callers) {
		a.callees = a.callers + room;
		err = query_cells(p, q, butterfly_cell, &a);
	}
	a.baseline = true;
	if (!err && q->baseline)
		err = query_cells(p, &baseline, butterfly_cell, &a);
	if (!err) {
		out->self = a.callees[a.none].samples;
		err = wing_rows(&a, a.callers, &out->callers, &out->ncallers);
	}
	if (!err)
		err = wing_rows(&a, a.callees, &out->callees, &out->ncallees);
	free(a.callers);
	if (err)
		butterfly_free(out);
	return err;
}
