/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How walks ended: the reason, and the function where an unwind table is missing or wrong. */
#include <errno.h>
#include <stdlib.h>

#include "symbols/base/grow.h"
#include "tui/query/query_priv.h"

struct sight { /* the place of a row, by the index of its cell */
	uint64_t place;
	uint64_t samples; /* of the stack that the place is from */
};

struct endlist {
	const struct profile *p;
	const struct query *q;
	struct celltable ends; /* process, reason, function */
	struct sight *sights;
	size_t room;
};

static int end_cell(const struct profile_cell *cell, void *arg)
{
	struct endlist *list = arg;
	const struct profile_stack *stack;
	uint32_t end = QUERY_NONE, last = QUERY_NONE, first;
	struct sight *sight;
	struct cell *sum;
	bool made;

	if (cell->ustack == PROFILE_NO_STACK ||
	    !query_passes(list->p, list->q, list->q->filter, cell))
		return 0;
	stack = &stack_at(list->p, cell->ustack)->stack;
	first = !stack->complete;
	if (!stack->complete && stack->nframes)
		end = stack->frames[0];
	/* A folded stack is complete or not, but has no reason. */
	if (stack->nframes > first && func_at(list->p, stack->frames[first])->func.kind != FUNC_END)
		last = stack->frames[first];
	if (celltable_reserve(&list->ends, list->ends.count + 1) ||
	    GROW(list->sights, list->ends.count, list->room, SIZE_MAX))
		return -ENOMEM;
	sum = celltable_get(&list->ends, cell->proc, end, last, &made);
	sum->count += cell->count;
	sight = &list->sights[sum - list->ends.cells];
	if (made || cell->count > sight->samples)
		*sight = (struct sight){stack->place, cell->count};
	return 0;
}

int query_ends(const struct profile *p, const struct query *q, struct end_row **rows, size_t *count)
{
	struct endlist list = {.p = p, .q = q};
	struct query unscoped = *q;
	int err;

	unscoped.scope = NULL;
	err = query_raw(p, &unscoped, end_cell, &list);
	*count = 0;
	*rows = err ? NULL : malloc((list.ends.count + 1) * sizeof(**rows));
	if (!err && !*rows)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < list.ends.count; i++) {
		const struct cell *cell = &list.ends.cells[i];

		(*rows)[(*count)++] = (struct end_row){cell->proc, cell->ustack, cell->kstack,
						       list.sights[i].place, cell->count};
	}
	celltable_free(&list.ends);
	free(list.sights);
	return err;
}
