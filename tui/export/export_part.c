// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A part of a model, with the numbers that its own tables have. Nothing has to be looked up by its
 * content, since everything in a model is there once: what is copied keeps its order, and a table
 * says which number it has now.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "tui/export/export_model.h"

struct export_part {
	const struct export_model *c;
	struct export_model *out;
	/* By the number in c, the number in the part; EXPORT_MODEL_NONE: not in it. */
	uint32_t *modules, *files, *funcs, *nodes, *procs;
};

uint32_t *export_model_numbers(uint32_t count)
{
	uint32_t *numbers = malloc(((size_t)count + 1) * sizeof(*numbers));

	if (numbers)
		memset(numbers, 0xff, ((size_t)count + 1) * sizeof(*numbers));
	return numbers;
}

static int copy_text(struct export_part *part, size_t from, size_t *to)
{
	return textpool_add(&part->out->pool, export_model_text(part->c, from), to);
}

/* Each function adds what its item refers to first. -ENOMEM. */

static int take_module(struct export_part *part, uint32_t from)
{
	struct export_model *out = part->out;
	const struct export_model_module *module = &part->c->modules[from];

	if (part->modules[from] != EXPORT_MODEL_NONE)
		return 0;
	if (GROW(out->modules, out->nmodules, out->modules_room, UINT32_MAX) ||
	    copy_text(part, module->name, &out->modules[out->nmodules].name) ||
	    copy_text(part, module->build, &out->modules[out->nmodules].build))
		return -ENOMEM;
	part->modules[from] = out->nmodules++;
	return 0;
}

static int take_file(struct export_part *part, uint32_t from)
{
	struct export_model *out = part->out;

	if (from == EXPORT_MODEL_NONE || part->files[from] != EXPORT_MODEL_NONE)
		return 0;
	if (GROW(out->files, out->nfiles, out->files_room, UINT32_MAX) ||
	    copy_text(part, part->c->files[from], &out->files[out->nfiles]))
		return -ENOMEM;
	part->files[from] = out->nfiles++;
	return 0;
}

static int take_func(struct export_part *part, uint32_t from)
{
	struct export_model *out = part->out;
	struct export_model_func func = part->c->funcs[from];

	if (part->funcs[from] != EXPORT_MODEL_NONE)
		return 0;
	if (take_module(part, func.number) || take_file(part, func.file) ||
	    copy_text(part, func.name, &func.name) ||
	    GROW(out->funcs, out->nfuncs, out->funcs_room, UINT32_MAX))
		return -ENOMEM;
	func.number = part->modules[func.number];
	func.module = out->modules[func.number].name;
	if (func.file != EXPORT_MODEL_NONE)
		func.file = part->files[func.file];
	out->funcs[out->nfuncs] = func;
	part->funcs[from] = out->nfuncs++;
	return 0;
}

static int take_node(struct export_part *part, uint32_t from)
{
	struct export_model *out = part->out;
	struct export_model_node node = part->c->nodes[from];

	if (take_func(part, node.func) ||
	    GROW(out->nodes, out->nnodes, out->nodes_room, UINT32_MAX))
		return -ENOMEM;
	node.func = part->funcs[node.func];
	if (node.parent != EXPORT_MODEL_NONE)
		node.parent = part->nodes[node.parent];
	out->nodes[out->nnodes] = node;
	part->nodes[from] = out->nnodes++;
	return 0;
}

/* The nodes of all stacks: parents come before their children. */
static int take_nodes(struct export_part *part, const struct export_model_sample *samples,
		      size_t count)
{
	const struct export_model *c = part->c;
	int err = 0;

	/* Marked by any number. */
	for (size_t i = 0; i < count; i++)
		for (uint32_t n = samples[i].node;
		     n != EXPORT_MODEL_NONE && part->nodes[n] == EXPORT_MODEL_NONE;
		     n = c->nodes[n].parent)
			part->nodes[n] = 0;
	for (uint32_t i = 0; i < c->nnodes && !err; i++)
		if (part->nodes[i] != EXPORT_MODEL_NONE)
			err = take_node(part, i);
	return err;
}

static int take_proc(struct export_part *part, uint32_t from)
{
	struct export_model *out = part->out;
	struct export_model_proc proc = part->c->procs[from];

	if (part->procs[from] != EXPORT_MODEL_NONE)
		return 0;
	if (copy_text(part, proc.comm, &proc.comm) || copy_text(part, proc.user, &proc.user) ||
	    copy_text(part, proc.command, &proc.command) ||
	    copy_text(part, proc.group, &proc.group) ||
	    copy_text(part, proc.service, &proc.service) ||
	    GROW(out->procs, out->nprocs, out->procs_room, UINT32_MAX))
		return -ENOMEM;
	out->procs[out->nprocs] = proc;
	part->procs[from] = out->nprocs++;
	return 0;
}

static int take_samples(struct export_part *part, const struct export_model_sample *samples,
			size_t count)
{
	struct export_model *out = part->out;

	if (GROW_TO(out->samples, count, out->samples_room, SIZE_MAX))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct export_model_sample sample = samples[i];
		const struct export_model_thread *thread =
			export_model_thread_find(part->c, sample.proc, sample.tid);

		if (take_proc(part, sample.proc))
			return -ENOMEM;
		sample.proc = part->procs[sample.proc];
		sample.slice = 0;
		if (sample.node != EXPORT_MODEL_NONE)
			sample.node = part->nodes[sample.node];
		if (thread && export_model_thread_add(out, sample.proc, sample.tid,
						      export_model_text(part->c, thread->comm)))
			return -ENOMEM;
		out->samples[out->nsamples++] = sample;
		out->count += sample.count;
		out->weight += sample.weight;
	}
	return 0;
}

static int take_slices(struct export_part *part)
{
	const struct export_model *c = part->c;
	struct export_model *out = part->out;

	out->health = c->health;
	out->measure = c->measure;
	out->clocks_apart = c->clocks_apart;
	out->merged_threads = c->merged_threads;
	out->per_slice = out->in_slice = 1;
	if (GROW(out->slices, 0, out->slices_room, UINT32_MAX))
		return -ENOMEM;
	out->slices[out->nslices++] =
		(struct export_model_slice){c->nslices ? c->slices[0].time : 0, c->health.elapsed};
	return 0;
}

int export_model_part(const struct export_model *c, const struct export_model_sample *samples,
		      size_t count, struct export_model *out)
{
	struct export_part part = {.c = c,
				   .out = out,
				   .modules = export_model_numbers(c->nmodules),
				   .files = export_model_numbers(c->nfiles),
				   .funcs = export_model_numbers(c->nfuncs),
				   .nodes = export_model_numbers(c->nnodes),
				   .procs = export_model_numbers(c->nprocs)};
	int err = -ENOMEM;

	*out = (struct export_model){0};
	if (part.modules && part.files && part.funcs && part.nodes && part.procs)
		err = take_slices(&part);
	if (!err)
		err = take_nodes(&part, samples, count);
	if (!err)
		err = take_samples(&part, samples, count);
	free(part.modules);
	free(part.files);
	free(part.funcs);
	free(part.nodes);
	free(part.procs);
	if (err)
		export_model_free(out);
	return err;
}
