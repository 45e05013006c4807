// SPDX-License-Identifier: GPL-2.0-or-later
/* A copy of what is on the screen as a profile of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "tui/query/query_priv.h"

#define NONE UINT32_MAX

struct profile_copier {
	const struct profile *from;
	struct profile *to;
	uint32_t *funcs, *stacks, *procs; /* new ids by old ids; NONE: not copied yet */
	struct profile_cell *cells;
	size_t ncells, room;
};

/* NULL: no memory. */
static uint32_t *new_ids(const struct pool *old)
{
	size_t bytes = ((size_t)old->count + 1) * sizeof(uint32_t);
	uint32_t *ids = malloc(bytes);

	if (ids)
		memset(ids, 0xff, bytes);
	return ids;
}

static int64_t copy_func(struct profile_copier *s, uint32_t id)
{
	const struct profile_func *func = query_func(s->from, id);
	int64_t copy;

	if (!func)
		return profile_func(s->to, FUNC_USER, "?", "");
	if (s->funcs[id] != NONE)
		return s->funcs[id];
	if (profile_module(s->to, func->module, query_build(s->from, func->module)))
		return -ENOMEM;
	copy = profile_func(s->to, func->kind, func->name, func->module);
	if (copy < 0)
		return copy;
	s->funcs[id] = (uint32_t)copy;
	if (func->file &&
	    profile_line_recorded(s->to, (uint32_t)copy, func->file, func->line) == -ENOMEM)
		return -ENOMEM;
	return copy;
}

static int64_t copy_stack(struct profile_copier *s, uint32_t id)
{
	const struct profile_stack *stack = query_stack(s->from, id);
	struct profile_stack copied;
	int64_t copy = -ENOMEM;
	uint32_t *frames;

	if (id == PROFILE_NO_STACK || !stack)
		return PROFILE_NO_STACK;
	if (s->stacks[id] != NONE)
		return s->stacks[id];
	frames = malloc((stack->nframes + 1) * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	for (uint32_t i = 0; i < stack->nframes; i++) {
		int64_t func = copy_func(s, stack->frames[i]);

		if (func < 0)
			goto out;
		frames[i] = (uint32_t)func;
	}
	copied = *stack;
	copied.frames = frames;
	copied.sites = NULL; /* a copy does not change */
	copy = profile_stack_new(s->to, &copied);
	if (copy >= 0)
		s->stacks[id] = (uint32_t)copy;
out:
	free(frames);
	return copy;
}

static int64_t copy_proc(struct profile_copier *s, uint32_t id)
{
	const struct profile_proc *proc = query_proc(s->from, id);
	int64_t copy;

	if (!proc)
		return -ENOENT;
	if (s->procs[id] != NONE)
		return s->procs[id];
	copy = profile_proc(s->to, proc);
	if (copy >= 0)
		s->procs[id] = (uint32_t)copy;
	return copy;
}

static int copy_cell(const struct profile_cell *cell, void *arg)
{
	struct profile_copier *s = arg;
	int64_t proc = copy_proc(s, cell->proc);
	int64_t ustack = copy_stack(s, cell->ustack);
	int64_t kstack = copy_stack(s, cell->kstack);

	if (proc == -ENOENT)
		return 0;
	if (proc < 0 || ustack < 0 || kstack < 0 ||
	    (cell->tid && profile_thread(s->to, (uint32_t)proc, cell->tid,
					 query_thread(s->from, cell->proc, cell->tid))))
		return -ENOMEM;
	if (GROW(s->cells, s->ncells, s->room, SIZE_MAX))
		return -ENOMEM;
	s->cells[s->ncells++] = (struct profile_cell){
		.proc = (uint32_t)proc,
		.tid = cell->tid,
		.ustack = (uint32_t)ustack,
		.kstack = (uint32_t)kstack,
		.count = cell->count,
		.cpu = cell->cpu,
		.weight = cell->weight,
	};
	return 0;
}

int profile_copy_new(struct profile **out, const struct profile *p, const struct query *query)
{
	struct profile_copier s = {.from = p,
				   .to = profile_new(PROFILE_WINDOW, SIZE_MAX / 2),
				   .funcs = new_ids(&p->funcs),
				   .stacks = new_ids(&p->stacks),
				   .procs = new_ids(&p->procs)};
	struct query q = *query;
	struct profile_health health;
	int err = -ENOMEM;

	if (s.to && s.funcs && s.stacks && s.procs) {
		q.threads = q.cpus = q.both = true;
		profile_lock(s.to);
		err = query_cells(p, &q, copy_cell, &s);
		query_health_sum(p, q.span, &health);
		if (!err)
			err = profile_commit(s.to, s.cells, s.ncells, &health);
		/* The cells hold the stacks from now on. */
		for (uint32_t i = 0; i < p->stacks.count; i++)
			if (s.stacks[i] != NONE)
				profile_stack_put(s.to, s.stacks[i]);
		profile_unlock(s.to);
	}
	free(s.cells);
	free(s.funcs);
	free(s.stacks);
	free(s.procs);
	if (err)
		profile_free(s.to);
	else
		*out = s.to;
	return err;
}
