// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trees of more paths than can be kept, of which a small part is seen. Bottom up, stacks have
 * little in common: 50,000 of them are a million nodes, but a screen has room for a hundred. So
 * only the cells of the nodes that are asked about are gone through, a frame further each time, and
 * put beside those that go on with the same function.
 */
#include "tui/query/query_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/util/prefetch.h"
#include "tui/query/query_priv.h"

#define NO_FUNC UINT32_MAX
#define AHEAD	12 /* cells */
#define GROUPS	64

struct split_cell {
	const uint32_t *next; /* the frame behind the one that comes, of so many: */
	uint32_t left;
	uint32_t inner; /* the stack that goes on where this one ends, or PROFILE_NO_STACK */
	uint32_t func;	/* that comes; NO_FUNC: none */
	bool baseline;
	uint64_t count;
};

struct split {
	const struct profile *p;
	const struct query *q;
	bool callers;
	bool baseline; /* whose cells are added now */
	struct split_cell *cells, *sorted;
	uint32_t ncells, room;
	uint32_t *group_of; /* by function: its group + 1; 0: none */
	struct split_group *groups;
	uint32_t ngroups, groups_room;
};

static void cell_enter(const struct split *s, struct split_cell *cell, uint32_t id)
{
	const struct profile_stack *stack = &stack_at(s->p, id)->stack;

	cell->left = stack->nframes;
	cell->next = stack->frames + (s->callers && cell->left ? cell->left - 1 : 0);
}

/* Goes on to the next function that is shown. */
static void cell_step(const struct split *s, struct split_cell *cell)
{
	for (;;) {
		while (cell->left) {
			uint32_t func = *cell->next;

			cell->left--;
			if (cell->left)
				cell->next += s->callers ? -1 : 1;
			if (query_shows(s->p, s->q, func)) {
				cell->func = func;
				return;
			}
		}
		if (cell->inner == PROFILE_NO_STACK)
			break;
		cell_enter(s, cell, cell->inner);
		cell->inner = PROFILE_NO_STACK;
	}
	cell->func = NO_FUNC;
}

static int add_cell(const struct profile_cell *from, void *arg)
{
	struct split *s = arg;
	/* The kernel's frames were called by the user's. */
	uint32_t outer = s->callers ? from->kstack : from->ustack;
	struct split_cell *cell = &s->cells[s->ncells];

	*cell = (struct split_cell){
		.inner = s->callers ? from->ustack : from->kstack,
		.baseline = s->baseline,
		.count = from->count,
	};
	if (s->ncells == s->room)
		return -E2BIG;
	s->ncells++;
	if (outer != PROFILE_NO_STACK)
		cell_enter(s, cell, outer);
	return 0;
}

static void expect_frames(const struct split *s, uint32_t at, uint32_t end)
{
	if (at + AHEAD < end)
		prefetch_read(s->cells[at + AHEAD].next);
}

static void count_cell(struct split_group *group, const struct split_cell *cell)
{
	group->count++;
	if (cell->baseline) {
		group->before += cell->count;
		return;
	}
	group->total += cell->count;
	if (cell->func == NO_FUNC)
		group->self += cell->count;
}

static int take_cells(struct split *s, struct split_group *root)
{
	struct query baseline = query_of_baseline(s->q);
	int err = query_cells(s->p, s->q, add_cell, s);

	s->baseline = true;
	if (!err && s->q->baseline)
		err = query_cells(s->p, &baseline, add_cell, s);
	*root = (struct split_group){.func = NO_FUNC};
	for (uint32_t i = 0; i < s->ncells; i++) {
		expect_frames(s, i, s->ncells);
		cell_step(s, &s->cells[i]);
		count_cell(root, &s->cells[i]);
	}
	return err;
}

int split_new(const struct profile *p, const struct query *q, bool callers, struct split **split,
	      struct split_group *root)
{
	struct query baseline = query_of_baseline(q);
	size_t room = query_cell_count(p, q) + (q->baseline ? query_cell_count(p, &baseline) : 0);
	struct split *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	*split = s;
	if (!s || room >= UINT32_MAX)
		goto out;
	*s = (struct split){.p = p, .q = q, .callers = callers, .room = (uint32_t)room};
	s->cells = malloc((room + 1) * sizeof(*s->cells));
	s->sorted = malloc((room + 1) * sizeof(*s->sorted));
	s->group_of = calloc((size_t)p->funcs.count + 1, sizeof(*s->group_of));
	if (s->cells && s->sorted && s->group_of)
		err = take_cells(s, root);
out:
	if (err) {
		split_free(s);
		*split = NULL;
	}
	return err;
}

void split_free(struct split *split)
{
	if (!split)
		return;
	free(split->cells);
	free(split->sorted);
	free(split->group_of);
	free(split->groups);
	free(split);
}

static int group_new(struct split *s, uint32_t func)
{
	uint32_t room = s->groups_room ? s->groups_room * 2 : GROUPS;
	struct split_group *grown;

	if (s->ngroups == s->groups_room) {
		grown = reallocarray(s->groups, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->groups = grown;
		s->groups_room = room;
	}
	s->groups[s->ngroups++] = (struct split_group){.func = func};
	s->group_of[func] = s->ngroups;
	return 0;
}

/* How many cells go on with which function. */
static int find_groups(struct split *s, uint32_t first, uint32_t end)
{
	s->ngroups = 0;
	for (uint32_t i = first; i < end; i++) {
		uint32_t func = s->cells[i].func;

		if (func == NO_FUNC)
			continue;
		if (!s->group_of[func] && group_new(s, func))
			return -ENOMEM;
		s->groups[s->group_of[func] - 1].count++;
	}
	return 0;
}

/* Those that ended with the function before are not part of any group: they come last. */
static void sort_cells(struct split *s, uint32_t first, uint32_t end)
{
	uint32_t at = first;

	for (uint32_t i = 0; i < s->ngroups; i++) {
		s->groups[i].first = at;
		at += s->groups[i].count;
		s->groups[i].count = 0;
	}
	for (uint32_t i = first; i < end; i++) {
		const struct split_cell *cell = &s->cells[i];
		struct split_group *group;

		expect_frames(s, i, end);
		if (cell->func == NO_FUNC)
			continue;
		group = &s->groups[s->group_of[cell->func] - 1];
		s->sorted[group->first + group->count] = *cell;
		cell_step(s, &s->sorted[group->first + group->count]);
		count_cell(group, &s->sorted[group->first + group->count]);
	}
	memcpy(s->cells + first, s->sorted + first, (at - first) * sizeof(*s->cells));
}

int split_range(struct split *split, uint32_t first, uint32_t count,
		const struct split_group **groups, uint32_t *ngroups)
{
	int err = find_groups(split, first, first + count);

	if (!err)
		sort_cells(split, first, first + count);
	for (uint32_t i = 0; i < split->ngroups; i++)
		split->group_of[split->groups[i].func] = 0;
	*groups = split->groups;
	*ngroups = split->ngroups;
	return err;
}

/* --- what is found --------------------------------------------------------------------------- */

struct paths_met {
	uint64_t *paths;
	uint32_t room;
	struct idtable index;
};

static int meet_path(struct paths_met *met, uint64_t path)
{
	uint32_t hash = (uint32_t)path, id, room = met->room ? met->room * 2 : GROUPS;

	for (uint32_t at = hash; (id = idtable_next(&met->index, hash, &at)) != IDTABLE_NONE;)
		if (met->paths[id] == path)
			return 0;
	if (idtable_reserve(&met->index, (size_t)met->index.used + 1))
		return -ENOMEM;
	if (met->index.used == met->room) {
		uint64_t *grown = reallocarray(met->paths, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		met->paths = grown;
		met->room = room;
	}
	met->paths[met->index.used] = path;
	idtable_add(&met->index, hash, met->index.used);
	return 0;
}

static bool passes(const struct verdicts *funcs, uint32_t func)
{
	return func < funcs->count && funcs->pass[func];
}

int split_found(const struct split *split, const struct split_group *group,
		const struct verdicts *funcs, struct query_found *found)
{
	struct paths_met met = {0};
	bool here = passes(funcs, group->func);
	int err = 0;

	*found = (struct query_found){0};
	for (uint32_t i = group->first; i < group->first + group->count && !err; i++) {
		struct split_cell cell = split->cells[i];
		uint64_t path = 0;
		bool any = here;

		expect_frames(split, i, group->first + group->count);
		for (; cell.func != NO_FUNC && !err; cell_step(split, &cell)) {
			path = idtable_mix(path, func_at(split->p, cell.func)->hash);
			if (!passes(funcs, cell.func))
				continue;
			any = true;
			err = meet_path(&met, path);
		}
		found->samples += any && !cell.baseline ? cell.count : 0;
	}
	found->nodes = met.index.used + here;
	free(met.paths);
	idtable_free(&met.index);
	return err;
}
