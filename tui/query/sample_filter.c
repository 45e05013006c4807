// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which samples a query counts. Names are matched once, not at every refresh: a result is kept with
 * the id of a function for as long as the id stands for the same function.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/query/query_priv.h"

static bool has_func(const struct profile *p, const struct query *q, const struct sample_filter *s,
		     uint32_t id)
{
	const struct profile_stack *stack;

	if (id == PROFILE_NO_STACK)
		return false;
	stack = &stack_at(p, id)->stack;
	for (uint32_t i = 0; i < stack->nframes; i++) {
		uint32_t func = stack->frames[i];

		if (func < s->nfuncs && s->funcs[func] && query_shows(p, q, stack, i))
			return true;
	}
	return false;
}

bool query_passes(const struct profile *p, const struct query *q, const struct sample_filter *s,
		  const struct profile_cell *cell)
{
	if (!s)
		return true;
	if (s->procs && (cell->proc >= s->nprocs || !s->procs[cell->proc]))
		return false;
	if (s->tid && s->tid != cell->tid)
		return false;
	if (s->cpus && (cell->cpu >= s->ncpus || !s->cpus[cell->cpu]))
		return false;
	if (!s->funcs)
		return true;
	return (has_func(p, q, s, cell->ustack) || has_func(p, q, s, cell->kstack)) != s->without;
}

/* --- owners ---------------------------------------------------------------------------------- */

struct owned {
	const char *text;
	uint32_t id;
};

static int by_text(const void *a, const void *b)
{
	const struct owned *x = a, *y = b;
	int result = strcmp(x->text, y->text);

	return result ? result : (x->id > y->id) - (x->id < y->id);
}

int query_owners(const struct profile *p, const char *(*text)(const struct profile_proc *proc),
		 uint32_t **owners)
{
	size_t room = (size_t)p->procs.count + 1, n = 0;
	struct owned *owned = calloc(room, sizeof(*owned));

	*owners = calloc(room, sizeof(**owners));
	if (!owned || !*owners) {
		free(owned);
		free(*owners);
		*owners = NULL;
		return -ENOMEM;
	}
	for (uint32_t id = 0; id < p->procs.count; id++)
		if (proc_at(p, id)->entry.live) {
			const char *of = text(&proc_at(p, id)->proc);

			(*owners)[id] = id;
			if (of)
				owned[n++] = (struct owned){of, id};
		}
	qsort(owned, n, sizeof(*owned), by_text);
	for (size_t i = 0, first = 0; i < n; i++) {
		if (strcmp(owned[i].text, owned[first].text) != 0)
			first = i;
		(*owners)[owned[i].id] = owned[first].id;
	}
	free(owned);
	return 0;
}

/* --- matches --------------------------------------------------------------------------------- */

static int match_cache_reserve(struct match_cache *v, uint32_t count)
{
	uint32_t room = count + count / 2 + 64;
	uint64_t *hash;
	bool *pass;

	if (count <= v->room)
		return 0;
	hash = reallocarray(v->hash, room, sizeof(*hash));
	if (!hash)
		return -ENOMEM;
	v->hash = hash;
	pass = reallocarray(v->pass, room, sizeof(*pass));
	if (!pass)
		return -ENOMEM;
	v->pass = pass;
	memset(v->hash + v->room, 0, (room - v->room) * sizeof(*hash));
	memset(v->pass + v->room, 0, (room - v->room) * sizeof(*pass));
	v->room = room;
	return 0;
}

void match_cache_free(struct match_cache *v)
{
	free(v->hash);
	free(v->pass);
	*v = (struct match_cache){0};
}

int query_judge_funcs(const struct profile *p, struct match_cache *v,
		      bool (*passes)(const struct profile_func *func, void *arg), void *arg)
{
	int err = match_cache_reserve(v, p->funcs.count);

	for (uint32_t id = 0; !err && id < p->funcs.count; id++) {
		const struct func_entry *entry = func_at(p, id);

		if (!entry->entry.live || (v->hash[id] == entry->hash && entry->hash))
			continue;
		v->hash[id] = entry->hash;
		v->pass[id] = passes(&entry->func, arg);
	}
	v->count = err ? 0 : p->funcs.count;
	return err;
}

int query_judge_procs(const struct profile *p, struct match_cache *v,
		      bool (*passes)(const struct profile_proc *proc, void *arg), void *arg)
{
	int err = match_cache_reserve(v, p->procs.count);

	for (uint32_t id = 0; !err && id < p->procs.count; id++) {
		const struct process_entry *entry = proc_at(p, id);

		v->pass[id] = passes && entry->entry.live && passes(&entry->proc, arg);
	}
	v->count = err ? 0 : p->procs.count;
	return err;
}
