/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks become a tree of frames, which is both the smallest form and what most formats need: a
 * frame shared by thousands of stacks is stored once. Everything is found by its content, since the
 * profile may reuse an id as soon as its lock is released.
 */
#include "tui/export/export_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbols/base/clock.h"
#include "symbols/base/grow.h"
#include "symbols/base/text.h"
#include "tui/query/query.h"
#include "tui/util/share.h"

#define NAME_MAX_BYTES 1100
#define FOLDED_AWAY    "folded away"
#define OTHERS	       "[others]"

/* Known ids of the slice; the tables grow with the ids that occur. */
struct export_model_adder {
	struct export_model *c;
	const struct profile *p;
	uint32_t *stacks; /* by id: node + 1; 0: not looked up yet */
	size_t nstacks;
	uint32_t slice;
	const struct query *q;
};

void export_model_free(struct export_model *c)
{
	textpool_free(&c->pool);
	free(c->funcs);
	free(c->modules);
	free(c->files);
	free(c->nodes);
	free(c->procs);
	free(c->threads);
	free(c->samples);
	free(c->slices);
	idtable_free(&c->func_index);
	idtable_free(&c->module_index);
	idtable_free(&c->node_index);
	idtable_free(&c->proc_index);
	idtable_free(&c->thread_index);
	idtable_free(&c->file_index);
	*c = (struct export_model){0};
}

/* --- strings, modules, functions ------------------------------------------------------------- */

static int64_t add_module(struct export_model *c, const char *name)
{
	uint32_t hash = idtable_text(name), id;

	for (uint32_t at = hash; (id = idtable_next(&c->module_index, hash, &at)) != IDTABLE_NONE;)
		if (!strcmp(export_model_text(c, c->modules[id].name), name))
			return id;
	if (GROW(c->modules, c->nmodules, c->modules_room, UINT32_MAX) ||
	    idtable_reserve(&c->module_index, c->nmodules + 1u) ||
	    textpool_add(&c->pool, name, &c->modules[c->nmodules].name))
		return -ENOMEM;
	/* The end of its name is an empty text. */
	c->modules[c->nmodules].build = c->pool.size - 1;
	idtable_add(&c->module_index, hash, c->nmodules);
	return c->nmodules++;
}

/* By the clean names: equal text means equal. -ENOSPC: there are too many. */
static int64_t add_func(struct export_model *c, enum func_kind kind, const char *dirty,
			const char *dirty_module, size_t max)
{
	char name[NAME_MAX_BYTES], module[NAME_MAX_BYTES];
	struct export_model_func *func;
	uint32_t hash, id;
	int64_t number;

	text_clean(name, sizeof(name), dirty, strlen(dirty));
	text_clean(module, sizeof(module), dirty_module, strlen(dirty_module));
	hash = (uint32_t)idtable_mix(idtable_text(name),
				     idtable_mix((uint64_t)kind, idtable_text(module)));
	for (uint32_t at = hash; (id = idtable_next(&c->func_index, hash, &at)) != IDTABLE_NONE;) {
		func = &c->funcs[id];
		if (func->kind == kind && !strcmp(export_model_text(c, func->name), name) &&
		    !strcmp(export_model_text(c, func->module), module))
			return id;
	}
	if (c->pool.size > max)
		return -ENOSPC;
	number = add_module(c, module);
	if (number < 0 || GROW(c->funcs, c->nfuncs, c->funcs_room, UINT32_MAX) ||
	    idtable_reserve(&c->func_index, c->nfuncs + 1u))
		return -ENOMEM;
	func = &c->funcs[c->nfuncs];
	*func = (struct export_model_func){.module = c->modules[number].name,
					   .kind = kind,
					   .number = (uint32_t)number,
					   .file = EXPORT_MODEL_NONE};
	if (textpool_add(&c->pool, name, &func->name))
		return -ENOMEM;
	idtable_add(&c->func_index, hash, c->nfuncs);
	return c->nfuncs++;
}

static int64_t add_file(struct export_model *c, const char *path)
{
	uint32_t hash = idtable_text(path), id;

	for (uint32_t at = hash; (id = idtable_next(&c->file_index, hash, &at)) != IDTABLE_NONE;)
		if (!strcmp(export_model_text(c, c->files[id]), path))
			return id;
	if (GROW(c->files, c->nfiles, c->files_room, UINT32_MAX) ||
	    idtable_reserve(&c->file_index, c->nfiles + 1u) ||
	    textpool_add(&c->pool, path, &c->files[c->nfiles]))
		return -ENOMEM;
	idtable_add(&c->file_index, hash, c->nfiles);
	return c->nfiles++;
}

/* The latest line counts. A function of a language has a file without one. */
static int set_line(struct export_model *c, uint32_t number, const struct profile_func *from)
{
	const char *path = from->file;
	int64_t file;

	if (!path && func_is_language(from->kind) && c->funcs[number].file == EXPORT_MODEL_NONE)
		path = from->module;
	if (!path || !*path || c->pool.size > EXPORT_MODEL_TEXT_MAX)
		return 0;
	file = add_file(c, path);
	if (file < 0)
		return (int)file;
	c->funcs[number].file = (uint32_t)file;
	c->funcs[number].line = from->file ? from->line : 0;
	return 0;
}

/* --- stacks ---------------------------------------------------------------------------------- */

/* -ENOSPC: there are too many. */
static int64_t add_node(struct export_model *c, uint32_t parent, uint32_t func, uint32_t max)
{
	uint32_t hash = (uint32_t)idtable_mix(parent, func), id;

	for (uint32_t at = hash; (id = idtable_next(&c->node_index, hash, &at)) != IDTABLE_NONE;)
		if (c->nodes[id].parent == parent && c->nodes[id].func == func)
			return id;
	if (c->nnodes >= max)
		return -ENOSPC;
	if (GROW(c->nodes, c->nnodes, c->nodes_room, UINT32_MAX) ||
	    idtable_reserve(&c->node_index, c->nnodes + 1u))
		return -ENOMEM;
	c->nodes[c->nnodes] = (struct export_model_node){
		parent, func, parent == EXPORT_MODEL_NONE ? 1 : c->nodes[parent].depth + 1};
	idtable_add(&c->node_index, hash, c->nnodes);
	return c->nnodes++;
}

/* The node of the stack's innermost frame; parent if it has none. */
static int64_t add_frames(struct export_model_adder *a, uint32_t parent, uint32_t id)
{
	const struct profile_stack *stack = query_stack(a->p, id);
	int64_t node = parent;

	for (uint32_t i = 0; stack && i < stack->nframes && node >= 0; i++) {
		const struct profile_func *func = query_func(a->p, stack->frames[i]);
		int64_t number;

		if (!query_shows_frame(a->p, a->q, stack, i))
			continue;
		number =
			add_func(a->c, func->kind, func->name, func->module, EXPORT_MODEL_TEXT_MAX);
		if (number < 0)
			return number;
		if (set_line(a->c, (uint32_t)number, func))
			return -ENOMEM;
		node = add_node(a->c, (uint32_t)node, (uint32_t)number, EXPORT_MODEL_NODES_MAX);
	}
	return node;
}

/* The same, cached for the slice: a stack's frames are looked up by content once. */
static int64_t add_known(struct export_model_adder *a, uint32_t id)
{
	size_t before = a->nstacks;
	int64_t node;

	if (id == PROFILE_NO_STACK)
		return EXPORT_MODEL_NONE;
	if (GROW(a->stacks, id, a->nstacks, SIZE_MAX))
		return -ENOMEM;
	if (a->nstacks > before)
		memset(a->stacks + before, 0, (a->nstacks - before) * sizeof(*a->stacks));
	if (a->stacks[id])
		return a->stacks[id] - 1;
	node = add_frames(a, EXPORT_MODEL_NONE, id);
	if (node >= 0 && node != EXPORT_MODEL_NONE)
		a->stacks[id] = (uint32_t)node + 1;
	return node;
}

/* The stack of samples that there is no room for. */
static int64_t add_folded(struct export_model *c)
{
	int64_t func = add_func(c, FUNC_END, FOLDED_AWAY, "", SIZE_MAX);

	return func < 0 ? func : add_node(c, EXPORT_MODEL_NONE, (uint32_t)func, UINT32_MAX);
}

static int64_t add_stack(struct export_model_adder *a, const struct profile_cell *cell)
{
	int64_t node = add_known(a, cell->ustack);

	if (node == EXPORT_MODEL_NONE)
		node = add_known(a, cell->kstack);
	else if (node >= 0 && cell->kstack != PROFILE_NO_STACK)
		node = add_frames(a, (uint32_t)node, cell->kstack);
	return node == -ENOSPC ? add_folded(a->c) : node;
}

/* --- processes and samples ------------------------------------------------------------------- */

static uint32_t hash_proc(const struct profile_proc *proc)
{
	return (uint32_t)idtable_mix((uint32_t)proc->pid, proc->image);
}

static struct export_model_proc *find_proc(const struct export_model *c,
					   const struct profile_proc *from)
{
	uint32_t hash = hash_proc(from), id;

	for (uint32_t at = hash; (id = idtable_next(&c->proc_index, hash, &at)) != IDTABLE_NONE;)
		if (c->procs[id].pid == from->pid && c->procs[id].image == from->image)
			return &c->procs[id];
	return NULL;
}

static int update_proc(struct export_model *c, struct export_model_proc *proc,
		       const struct profile_proc *from)
{
	char comm[sizeof(from->comm)];

	proc->exited = from->exited;
	proc->nthreads = from->nthreads;
	/* A process may rename itself; the last name counts. */
	text_clean(comm, sizeof(comm), from->comm, strlen(from->comm));
	if (!strcmp(export_model_text(c, proc->comm), comm))
		return 0;
	return textpool_add(&c->pool, comm, &proc->comm) ? -ENOMEM : 0;
}

static int64_t add_proc(struct export_model *c, const struct profile_proc *from)
{
	static const struct profile_proc others = {.comm = OTHERS, .cmdline = OTHERS};
	struct export_model_proc *proc = find_proc(c, from);

	if (!proc && c->nprocs >= EXPORT_MODEL_PROCS_MAX) {
		from = &others;
		proc = find_proc(c, from);
	}
	if (proc)
		return update_proc(c, proc, from) ? -ENOMEM : proc - c->procs;
	if (GROW(c->procs, c->nprocs, c->procs_room, UINT32_MAX) ||
	    idtable_reserve(&c->proc_index, c->nprocs + 1u))
		return -ENOMEM;
	proc = &c->procs[c->nprocs];
	*proc = (struct export_model_proc){.pid = from->pid,
					   .image = from->image,
					   .nthreads = from->nthreads,
					   .exited = from->exited};
	if (textpool_add(&c->pool, from->comm, &proc->comm) ||
	    textpool_add(&c->pool, from->user, &proc->user) ||
	    textpool_add(&c->pool, from->cmdline, &proc->command) ||
	    textpool_add(&c->pool, from->group, &proc->group))
		return -ENOMEM;
	idtable_add(&c->proc_index, hash_proc(from), c->nprocs);
	return c->nprocs++;
}

/* --- threads: most have the name of their process, and only the others are kept --------------- */

static uint32_t thread_hash(uint32_t proc, uint32_t tid)
{
	return (uint32_t)idtable_mix(proc, tid);
}

struct export_model_thread *export_model_thread_find(const struct export_model *c, uint32_t proc,
						     uint32_t tid)
{
	uint32_t hash = thread_hash(proc, tid), id;

	for (uint32_t at = hash; (id = idtable_next(&c->thread_index, hash, &at)) != IDTABLE_NONE;)
		if (c->threads[id].proc == proc && c->threads[id].tid == tid)
			return &c->threads[id];
	return NULL;
}

int export_model_thread_add(struct export_model *c, uint32_t proc, uint32_t tid, const char *dirty)
{
	struct export_model_thread *thread = export_model_thread_find(c, proc, tid);
	char comm[16];

	text_clean(comm, sizeof(comm), dirty, strlen(dirty));
	if (!strcmp(thread ? export_model_text(c, thread->comm)
			   : export_model_text(c, c->procs[proc].comm),
		    comm))
		return 0;
	/* The last name counts. */
	if (thread)
		return textpool_add(&c->pool, comm, &thread->comm);
	if (c->nthreads >= EXPORT_MODEL_THREADS_MAX)
		return 0;
	if (GROW(c->threads, c->nthreads, c->threads_room, EXPORT_MODEL_THREADS_MAX) ||
	    idtable_reserve(&c->thread_index, c->nthreads + 1u))
		return -ENOMEM;
	thread = &c->threads[c->nthreads];
	*thread = (struct export_model_thread){.proc = proc, .tid = tid};
	if (textpool_add(&c->pool, comm, &thread->comm))
		return -ENOMEM;
	idtable_add(&c->thread_index, thread_hash(proc, tid), c->nthreads++);
	return 0;
}

const char *export_model_thread(const struct export_model *c, uint32_t proc, uint32_t tid)
{
	const struct export_model_thread *thread = export_model_thread_find(c, proc, tid);

	return export_model_text(c, thread ? thread->comm : c->procs[proc].comm);
}

/* --- samples ---------------------------------------------------------------------------------- */

static int add_cell(const struct profile_cell *cell, void *arg)
{
	struct export_model_adder *a = arg;
	struct export_model *c = a->c;
	int64_t node = add_stack(a, cell), proc;

	if (node < 0)
		return (int)node;
	proc = add_proc(c, query_proc(a->p, cell->proc));
	if (proc < 0 || GROW(c->samples, c->nsamples, c->samples_room, SIZE_MAX) ||
	    (cell->tid && export_model_thread_add(c, (uint32_t)proc, cell->tid,
						  query_thread(a->p, cell->proc, cell->tid))))
		return -ENOMEM;
	c->samples[c->nsamples++] = (struct export_model_sample){
		a->slice,	(uint32_t)proc, c->merged_threads ? 0 : cell->tid,
		(uint32_t)node, cell->count,	c->merged_threads ? 0 : cell->cpu,
		cell->weight};
	c->count += cell->count;
	c->weight += cell->weight;
	return 0;
}

/* --- a model that grows too large ------------------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
	const struct export_model_sample *x = a, *y = b;

	return ORDER(x->slice, y->slice)
		       ?: ORDER(x->proc, y->proc)
		       ?: ORDER(x->tid, y->tid)
		       ?: ORDER(x->cpu, y->cpu) ?: ORDER(x->node, y->node);
}

/* Returns how many are left. */
static size_t samples_merge(struct export_model_sample *samples, size_t count)
{
	size_t n = 0;

	if (count)
		qsort(samples, count, sizeof(*samples), by_key);
	for (size_t i = 0; i < count; i++) {
		if (n && !by_key(&samples[n - 1], &samples[i])) {
			samples[n - 1].count += samples[i].count;
			samples[n - 1].weight += samples[i].weight;
		} else {
			samples[n++] = samples[i];
		}
	}
	return n;
}

static int by_value(const void *a, const void *b, void *model)
{
	const struct export_model_sample *x = a, *y = b;

	return ORDER(export_model_value(model, y), export_model_value(model, x));
}

/* What is left is a sample for each process, at worst. */
static int fold_rarest(struct export_model *c)
{
	int64_t node = add_folded(c);

	if (node < 0)
		return (int)node;
	qsort_r(c->samples, c->nsamples, sizeof(*c->samples), by_value, c);
	for (size_t i = EXPORT_MODEL_SAMPLES_MAX / 4; i < c->nsamples; i++)
		c->samples[i].node = (uint32_t)node;
	c->nsamples = samples_merge(c->samples, c->nsamples);
	return 0;
}

/* Joins pairs of slices, until half of the room is free or one slice is left. */
static int model_coarsen(struct export_model *c)
{
	while (c->nsamples > EXPORT_MODEL_SAMPLES_MAX / 2 && c->nslices > 1) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < c->nslices; i += 2, n++) {
			c->slices[n] = c->slices[i];
			if (i + 1 < c->nslices)
				c->slices[n].elapsed += c->slices[i + 1].elapsed;
		}
		c->in_slice += c->nslices % 2 ? 0 : c->per_slice;
		c->nslices = n;
		c->per_slice *= 2;
		for (size_t i = 0; i < c->nsamples; i++)
			c->samples[i].slice /= 2;
		c->nsamples = samples_merge(c->samples, c->nsamples);
	}
	if (c->nsamples > EXPORT_MODEL_SAMPLES_MAX / 2 && !c->merged_threads) {
		for (size_t i = 0; i < c->nsamples; i++)
			c->samples[i].tid = c->samples[i].cpu = 0;
		c->merged_threads = true;
		c->nsamples = samples_merge(c->samples, c->nsamples);
	}
	return c->nsamples > EXPORT_MODEL_SAMPLES_MAX / 2 ? fold_rarest(c) : 0;
}

/* --- slices ---------------------------------------------------------------------------------- */

/* The profile's clock begins at boot or with a recording, that of files in 1970: the difference. */
static uint64_t clocks_apart(const struct profile_health *health)
{
	return health->clock ? health->clock - health->time
			     : clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

/* Slices never overlap, even if the clock is set. */
static int add_slice(struct export_model *c, const struct profile_health *health)
{
	struct export_model_slice *last = c->nslices ? &c->slices[c->nslices - 1] : NULL;
	uint64_t begin = health->time - health->elapsed;

	if (last && c->in_slice < c->per_slice) {
		c->in_slice++;
		last->elapsed += health->elapsed;
		return 0;
	}
	if (!last) {
		c->clocks_apart = clocks_apart(health);
		c->per_slice = 1;
	}
	begin += c->clocks_apart;
	if (last && begin < last->time + last->elapsed)
		begin = last->time + last->elapsed;
	if (GROW(c->slices, c->nslices, c->slices_room, UINT32_MAX))
		return -ENOMEM;
	c->in_slice = 1;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): where there is room is an array */
	c->slices[c->nslices++] = (struct export_model_slice){begin, health->elapsed};
	return 0;
}

/* Unknown build-ids may be known now; known ones may be of several files by now. */
static int add_builds(struct export_model *c, const struct profile *p)
{
	int err = 0;

	for (uint32_t i = 0; i < c->nmodules && !err; i++) {
		struct export_model_module *module = &c->modules[i];
		const char *build = query_build(p, export_model_text(c, module->name));

		if (!strcmp(export_model_text(c, module->build), build))
			continue;
		/* The end of its name is an empty text. */
		if (*build)
			err = textpool_add(&c->pool, build, &module->build);
		else
			module->build = module->name + strlen(export_model_text(c, module->name));
	}
	return err;
}

/* number 0: what the query's span has. */
static int add_cells(struct export_model *c, const struct profile *p, const struct query *q,
		     const struct profile_health *health, uint64_t number)
{
	struct query both = *q;
	struct export_model_adder adder = {.c = c, .p = p, .q = &both};
	int err;

	/* Counts of two events have no sum. */
	if (c->nslices && strcmp(c->health.event, health->event) != 0)
		export_model_free(c);
	err = add_slice(c, health);
	if (err)
		return err;
	profile_health_add(&c->health, health);
	c->measure = q->measure;
	both.both = true;
	adder.slice = c->nslices - 1;
	err = number ? query_slice_each(p, &both, number, add_cell, &adder)
		     : query_cells(p, &both, add_cell, &adder);
	free(adder.stacks);
	if (!err)
		err = add_builds(c, p);
	if (!err && c->nsamples > EXPORT_MODEL_SAMPLES_MAX)
		err = model_coarsen(c);
	return err;
}

int export_model_add(struct export_model *c, const struct profile *p, const struct query *q)
{
	struct profile_health health;

	query_health_sum(p, q->span, &health);
	return add_cells(c, p, q, &health, 0);
}

int export_model_add_slice(struct export_model *c, const struct profile *p, const struct query *q,
			   uint64_t slice)
{
	struct profile_health health;

	if (!query_slice_health(p, slice, &health))
		return -ENOENT;
	return add_cells(c, p, q, &health, slice);
}

struct export_model_sample *export_model_merged(const struct export_model *c, size_t *count)
{
	struct export_model_sample *merged = calloc(c->nsamples + 1, sizeof(*merged));

	*count = 0;
	if (!merged)
		return NULL;
	if (c->nsamples)
		memcpy(merged, c->samples, c->nsamples * sizeof(*merged));
	for (size_t i = 0; i < c->nsamples; i++)
		merged[i].slice = 0;
	*count = samples_merge(merged, c->nsamples);
	return merged;
}

uint32_t *export_model_frames_new(const struct export_model *c)
{
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < c->nnodes; i++)
		if (c->nodes[i].depth > deepest)
			deepest = c->nodes[i].depth;
	return calloc((size_t)deepest + 1, sizeof(uint32_t));
}

uint32_t export_model_frames(const struct export_model *c, uint32_t node, uint32_t *frames)
{
	uint32_t depth = node == EXPORT_MODEL_NONE ? 0 : c->nodes[node].depth;

	for (uint32_t i = depth; i-- > 0; node = c->nodes[node].parent)
		frames[i] = c->nodes[node].func;
	return depth;
}

struct export_model_sum *export_model_sums(const struct export_model *c)
{
	struct export_model_sum *sums = calloc((size_t)c->nfuncs + 1, sizeof(*sums));
	size_t *seen = calloc((size_t)c->nfuncs + 1, sizeof(*seen));

	for (size_t i = 0; sums && seen && i < c->nsamples; i++) {
		const struct export_model_sample *sample = &c->samples[i];

		if (sample->node != EXPORT_MODEL_NONE) {
			sums[c->nodes[sample->node].func].self += sample->count;
			sums[c->nodes[sample->node].func].self_weight += sample->weight;
		}
		for (uint32_t n = sample->node; n != EXPORT_MODEL_NONE; n = c->nodes[n].parent) {
			uint32_t func = c->nodes[n].func;

			if (seen[func] == i + 1)
				continue;
			seen[func] = i + 1;
			sums[func].total += sample->count;
			sums[func].total_weight += sample->weight;
		}
	}
	if (!seen) {
		free(sums);
		sums = NULL;
	}
	free(seen);
	return sums;
}
