// SPDX-License-Identifier: GPL-2.0-or-later
/* See profile_copy.h. Uses only the public interface of a profile. */
#include "tui/query/profile_copy.h"

#include <errno.h>
#include <stdlib.h>

#define WINDOW_SECONDS 10
#define NONE	       UINT32_MAX

/* New ids by old ids. */
struct idmap {
	uint32_t *to;
	size_t count;
};

struct profile_copier {
	const struct profile *from;
	struct profile *to;
	struct idmap funcs, stacks, procs;
	struct profile_cell *cells;
	size_t ncells, room;
};

static uint32_t *idmap_at(struct idmap *map, uint32_t id)
{
	if (id >= map->count) {
		size_t count = (size_t)id * 2 + 64;
		uint32_t *to = realloc(map->to, count * sizeof(*to));

		if (!to)
			return NULL;
		for (size_t i = map->count; i < count; i++)
			to[i] = NONE;
		map->to = to;
		map->count = count;
	}
	return &map->to[id];
}

static int64_t copy_func(struct profile_copier *s, uint32_t id)
{
	uint32_t *to = idmap_at(&s->funcs, id);
	const struct profile_func *func;
	int64_t copy;

	if (!to)
		return -ENOMEM;
	if (*to != NONE)
		return *to;
	func = query_func(s->from, id);
	if (!func)
		return profile_func(s->to, FUNC_USER, "?", "");
	if (profile_module(s->to, func->module, query_build(s->from, func->module)))
		return -ENOMEM;
	copy = profile_func(s->to, func->kind, func->name, func->module);
	if (copy < 0)
		return copy;
	*to = (uint32_t)copy;
	if (func->file &&
	    profile_line_recorded(s->to, (uint32_t)copy, func->file, func->line) == -ENOMEM)
		return -ENOMEM;
	return copy;
}

static int64_t copy_stack(struct profile_copier *s, uint32_t id)
{
	const struct profile_stack *stack = query_stack(s->from, id);
	struct profile_stack copied;
	uint32_t *to, *frames;
	int64_t copy = -ENOMEM;

	if (id == PROFILE_NO_STACK || !stack)
		return PROFILE_NO_STACK;
	to = idmap_at(&s->stacks, id);
	if (!to)
		return -ENOMEM;
	if (*to != NONE)
		return *to;
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
		*to = (uint32_t)copy;
out:
	free(frames);
	return copy;
}

static int64_t copy_proc(struct profile_copier *s, uint32_t id)
{
	uint32_t *to = idmap_at(&s->procs, id);
	const struct profile_proc *proc = query_proc(s->from, id);
	int64_t copy;

	if (!to)
		return -ENOMEM;
	if (*to != NONE)
		return *to;
	if (!proc)
		return -ENOENT;
	copy = profile_proc(s->to, proc);
	if (copy >= 0)
		*to = (uint32_t)copy;
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
	if (s->ncells == s->room) {
		size_t room = s->room ? 2 * s->room : 1024;
		struct profile_cell *cells = realloc(s->cells, room * sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		s->cells = cells;
		s->room = room;
	}
	s->cells[s->ncells++] = (struct profile_cell){
		.proc = (uint32_t)proc,
		.tid = cell->tid,
		.ustack = (uint32_t)ustack,
		.kstack = (uint32_t)kstack,
		.count = cell->count,
		.cpu = cell->cpu,
	};
	return 0;
}

int profile_copy_new(struct profile **out, const struct profile *p, const struct query *query)
{
	struct query q = *query;
	struct profile_copier s = {.from = p};
	struct profile_health health;
	int err = -ENOMEM;

	s.to = profile_new(WINDOW_SECONDS, SIZE_MAX / 2);
	if (!s.to)
		return -ENOMEM;
	q.threads = q.cpus = true;
	profile_lock(s.to);
	err = query_cells(p, &q, copy_cell, &s);
	query_health_sum(p, q.span, &health);
	if (!err)
		err = profile_commit(s.to, s.cells, s.ncells, &health);
	/* The cells hold the stacks from now on. */
	for (size_t i = 0; i < s.stacks.count; i++)
		if (s.stacks.to[i] != NONE)
			profile_stack_put(s.to, s.stacks.to[i]);
	profile_unlock(s.to);
	free(s.cells);
	free(s.funcs.to);
	free(s.stacks.to);
	free(s.procs.to);
	if (err)
		profile_free(s.to);
	else
		*out = s.to;
	return err;
}
