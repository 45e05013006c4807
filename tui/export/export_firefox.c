/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processed profile format of Firefox Profiler, version 48 (its docs-developer/ folder and
 * src/types/profile.js). Each thread has tables of its own there, so functions and stacks are
 * numbered anew for each; a stamp says to which thread a number belongs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/export/export_model.h"
#include "tui/export/export_priv.h"

#define FORMAT_VERSION	 48
#define GECKO_VERSION	 29
#define RESOURCE_LIBRARY "1"

/* Categories must have Firefox's colours; the grey one is for everything else. */
enum category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_JIT, CATEGORY_END };

struct firefox_number {
	uint32_t value;
	uint32_t stamp;
};

struct firefox_writer {
	FILE *to;
	const struct export_model *c;
	struct export_model_places places;
	struct firefox_number *nodes, *frames, *funcs, *modules,
		*files; /* by their number in the model */
	uint32_t *node_list, *frame_list, *func_list, *module_list, *file_list;
	uint32_t nnodes, nframes, nfuncs, nmodules, nfiles;
	uint32_t stamp;
};

static enum category category(enum func_kind kind)
{
	switch (kind) {
	case FUNC_KERNEL:
		return CATEGORY_KERNEL;
	case FUNC_JIT:
		return CATEGORY_JIT;
	case FUNC_END:
		return CATEGORY_END;
	default:
		return CATEGORY_USER;
	}
}

static double milliseconds(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* --- what a thread uses ---------------------------------------------------------------------- */

/* The number of an item in this thread. */
static uint32_t number_of(struct firefox_writer *w, struct firefox_number *number, uint32_t id,
			  uint32_t *list, uint32_t *count)
{
	if (number->stamp != w->stamp) {
		*number = (struct firefox_number){*count, w->stamp};
		list[(*count)++] = id;
	}
	return number->value;
}

/* Parents come before their children, so a node that was added has its parents. */
static void use_node(struct firefox_writer *w, uint32_t node)
{
	const struct export_model *c = w->c;
	uint32_t first = w->nnodes, last;

	for (; node != EXPORT_MODEL_NONE && w->nodes[node].stamp != w->stamp;
	     node = c->nodes[node].parent)
		number_of(w, &w->nodes[node], node, w->node_list, &w->nnodes);
	for (last = w->nnodes; first + 1 < last; first++) {
		uint32_t swap = w->node_list[first];

		w->node_list[first] = w->node_list[--last];
		w->node_list[last] = swap;
	}
}

static void use_samples(struct firefox_writer *w, const struct export_model_sample *samples,
			size_t count)
{
	const struct export_model *c = w->c;

	w->stamp++;
	w->nnodes = w->nframes = w->nfuncs = w->nmodules = w->nfiles = 0;
	for (size_t i = 0; i < count; i++)
		use_node(w, samples[i].node);
	for (uint32_t i = 0; i < w->nnodes; i++) {
		uint32_t func = c->nodes[w->node_list[i]].func, module = c->funcs[func].number;
		uint32_t place = w->places.of_node[w->node_list[i]];

		w->nodes[w->node_list[i]].value = i;
		number_of(w, &w->frames[place], place, w->frame_list, &w->nframes);
		number_of(w, &w->funcs[func], func, w->func_list, &w->nfuncs);
		if (*export_model_text(c, c->modules[module].name))
			number_of(w, &w->modules[module], module, w->module_list, &w->nmodules);
		if (c->funcs[func].file != EXPORT_MODEL_NONE)
			number_of(w, &w->files[c->funcs[func].file], c->funcs[func].file,
				  w->file_list, &w->nfiles);
	}
}

/* --- tables ---------------------------------------------------------------------------------- */

/* A column of one value. */
static void write_same(struct firefox_writer *w, const char *name, const char *value, size_t count)
{
	fprintf(w->to, "\"%s\":[", name);
	for (size_t i = 0; i < count; i++)
		fprintf(w->to, "%s%s", i ? "," : "", value);
	fputs("],", w->to);
}

/* A column of 0, 1, 2 and so on. */
static void write_count(struct firefox_writer *w, const char *name, uint32_t from, uint32_t count)
{
	fprintf(w->to, "\"%s\":[", name);
	for (uint32_t i = 0; i < count; i++)
		fprintf(w->to, "%s%u", i ? "," : "", from + i);
	fputs("],", w->to);
}

/* In a column where 0 means unknown. */
static void write_number(struct firefox_writer *w, uint32_t i, uint32_t number)
{
	if (number)
		fprintf(w->to, "%s%u", i ? "," : "", number);
	else
		fputs(i ? ",null" : "null", w->to);
}

static void write_category(struct firefox_writer *w, uint32_t i, uint32_t func)
{
	fprintf(w->to, "%s%d", i ? "," : "", (int)category(w->c->funcs[func].kind));
}

static void write_samples(struct firefox_writer *w, const struct export_model_sample *samples,
			  size_t count)
{
	const struct export_model *c = w->c;
	size_t end, i;

	fputs("\"samples\":{\"stack\":[", w->to);
	for (i = 0; i < count; i++) {
		fputs(i ? "," : "", w->to);
		if (samples[i].node == EXPORT_MODEL_NONE)
			fputs("null", w->to);
		else
			fprintf(w->to, "%u", w->nodes[samples[i].node].value);
	}
	fputs("],\"time\":[", w->to);
	/* The times are unknown, so samples are spread over the slice. */
	for (i = 0; i < count; i = end) {
		const struct export_model_slice *slice = &c->slices[samples[i].slice];
		uint64_t begin = slice->time - c->slices[0].time;

		for (end = i; end < count && samples[end].slice == samples[i].slice;)
			end++;
		for (size_t k = i; k < end; k++)
			fprintf(w->to, "%s%.3f", k ? "," : "",
				milliseconds(begin) + milliseconds(slice->elapsed) *
							      (double)(k - i) / (double)(end - i));
	}
	fputs("],\"weight\":[", w->to);
	for (i = 0; i < count; i++)
		fprintf(w->to, "%s%" PRIu64, i ? "," : "", (uint64_t)samples[i].count);
	fprintf(w->to, "],\"weightType\":\"samples\",\"length\":%zu},\n", count);
}

static void write_frames(struct firefox_writer *w)
{
	const struct export_model_place *list = w->places.list;

	fputs("\"frameTable\":{\"inlineDepth\":[", w->to);
	for (uint32_t i = 0; i < w->nframes; i++)
		fprintf(w->to, "%s%u", i ? "," : "", list[w->frame_list[i]].depth);
	fputs("],\"func\":[", w->to);
	for (uint32_t i = 0; i < w->nframes; i++)
		fprintf(w->to, "%s%u", i ? "," : "", w->funcs[list[w->frame_list[i]].func].value);
	fputs("],\"category\":[", w->to);
	for (uint32_t i = 0; i < w->nframes; i++)
		write_category(w, i, list[w->frame_list[i]].func);
	fputs("],", w->to);
	write_same(w, "subcategory", "0", w->nframes);
	write_same(w, "address", "-1", w->nframes);
	write_same(w, "nativeSymbol", "null", w->nframes);
	write_same(w, "innerWindowID", "null", w->nframes);
	write_same(w, "implementation", "null", w->nframes);
	fputs("\"line\":[", w->to);
	for (uint32_t i = 0; i < w->nframes; i++)
		write_number(w, i, w->c->funcs[list[w->frame_list[i]].func].line);
	fputs("],", w->to);
	write_same(w, "column", "null", w->nframes);
	fprintf(w->to, "\"length\":%u},\n", w->nframes);
}

static void write_stacks(struct firefox_writer *w)
{
	const struct export_model *c = w->c;

	fputs("\"stackTable\":{\"frame\":[", w->to);
	for (uint32_t i = 0; i < w->nnodes; i++)
		fprintf(w->to, "%s%u", i ? "," : "",
			w->frames[w->places.of_node[w->node_list[i]]].value);
	fputs("],\"prefix\":[", w->to);
	for (uint32_t i = 0; i < w->nnodes; i++) {
		uint32_t parent = c->nodes[w->node_list[i]].parent;

		fputs(i ? "," : "", w->to);
		if (parent == EXPORT_MODEL_NONE)
			fputs("null", w->to);
		else
			fprintf(w->to, "%u", w->nodes[parent].value);
	}
	fputs("],", w->to);
	fputs("\"category\":[", w->to);
	for (uint32_t i = 0; i < w->nnodes; i++)
		write_category(w, i, c->nodes[w->node_list[i]].func);
	fputs("],", w->to);
	write_same(w, "subcategory", "0", w->nnodes);
	fprintf(w->to, "\"length\":%u},\n", w->nnodes);

	write_frames(w);
}

/* Strings of the thread: its functions, its modules, its source files. */
static void write_funcs(struct firefox_writer *w)
{
	const struct export_model *c = w->c;
	char name[EXPORT_NAME_MAX];

	fputs("\"funcTable\":{", w->to);
	write_count(w, "name", 0, w->nfuncs);
	write_same(w, "isJS", "false", w->nfuncs);
	write_same(w, "relevantForJS", "false", w->nfuncs);
	fputs("\"resource\":[", w->to);
	for (uint32_t i = 0; i < w->nfuncs; i++) {
		const struct firefox_number *module = &w->modules[c->funcs[w->func_list[i]].number];

		fprintf(w->to, "%s%d", i ? "," : "",
			module->stamp == w->stamp ? (int)module->value : -1);
	}
	fputs("],", w->to);
	fputs("\"fileName\":[", w->to);
	for (uint32_t i = 0; i < w->nfuncs; i++) {
		uint32_t file = c->funcs[w->func_list[i]].file;

		write_number(w, i,
			     file == EXPORT_MODEL_NONE
				     ? 0
				     : w->nfuncs + w->nmodules + w->files[file].value);
	}
	fputs("],", w->to);
	write_same(w, "lineNumber", "null", w->nfuncs);
	write_same(w, "columnNumber", "null", w->nfuncs);
	fprintf(w->to, "\"length\":%u},\n\"resourceTable\":{\"lib\":[", w->nfuncs);
	for (uint32_t i = 0; i < w->nmodules; i++)
		fprintf(w->to, "%s%u", i ? "," : "", w->module_list[i]);
	fputs("],", w->to);
	write_count(w, "name", w->nfuncs, w->nmodules);
	write_same(w, "host", "null", w->nmodules);
	write_same(w, "type", RESOURCE_LIBRARY, w->nmodules);
	fprintf(w->to, "\"length\":%u},\n\"stringArray\":[", w->nmodules);
	for (uint32_t i = 0; i < w->nfuncs; i++) {
		fputs(i ? "," : "", w->to);
		json_string(w->to, export_name(name, c, w->func_list[i]));
	}
	for (uint32_t i = 0; i < w->nmodules; i++) {
		fputs(i || w->nfuncs ? "," : "", w->to);
		json_string(w->to, export_model_text(c, c->modules[w->module_list[i]].name));
	}
	for (uint32_t i = 0; i < w->nfiles; i++) {
		fputc(',', w->to);
		json_string(w->to, export_model_text(c, c->files[w->file_list[i]]));
	}
	fputs("]", w->to);
}

static void write_thread(struct firefox_writer *w, const struct export_model_sample *samples,
			 size_t count)
{
	const struct export_model_proc *proc = &w->c->procs[samples->proc];
	uint32_t tid = samples->tid ? samples->tid : (uint32_t)proc->pid;
	use_samples(w, samples, count);
	fputs("{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"name\":",
	      w->to);
	json_string(w->to, export_model_thread(w->c, samples->proc, samples->tid));
	fputs(",\"processName\":", w->to);
	json_string(w->to, export_model_text(w->c, proc->comm));
	fprintf(w->to, ",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":%u,\n",
		tid == (uint32_t)proc->pid ? "true" : "false", (int)proc->pid, tid);
	write_samples(w, samples, count);
	fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
	      "\"category\":[],\"length\":0},\n",
	      w->to);
	write_stacks(w);
	write_funcs(w);
	fputs(",\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0}}",
	      w->to);
}

/* --- the whole ------------------------------------------------------------------------------- */

static void write_meta(struct firefox_writer *w)
{
	const struct profile_health *h = &w->c->health;

	fprintf(w->to,
		"{\"meta\":{\"interval\":%.3f,\"startTime\":%.3f,\"processType\":0,"
		"\"product\":\"stacktop\",\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
		"\"version\":%d,\"preprocessedProfileVersion\":%d,\"logicalCPUs\":%u,"
		"\"importedFrom\":\"stacktop " STACKTOP_VERSION "\",\"markerSchema\":[],"
		"\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,"
		"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
		"\"extensions\":{\"baseURL\":[],\"id\":[],\"name\":[],\"length\":0},"
		"\"categories\":[",
		h->frequency ? 1000.0 / h->frequency : 1,
		w->c->nslices ? milliseconds(w->c->slices[0].time) : 0, GECKO_VERSION,
		FORMAT_VERSION, h->ncpus);
	fputs("{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"JIT\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Walk ended\",\"color\":\"red\",\"subcategories\":[\"Other\"]}]},\n",
	      w->to);
}

static void write_libs(struct firefox_writer *w)
{
	const struct export_model *c = w->c;

	fputs("\"libs\":[", w->to);
	for (uint32_t i = 0; i < c->nmodules; i++) {
		static const char *const fields[] = {"name", "path", "debugName", "debugPath"};

		fputs(i ? ",\n{" : "\n{", w->to);
		for (int f = 0; f < 4; f++) {
			fprintf(w->to, "\"%s\":", fields[f]);
			json_string(w->to, export_model_text(c, c->modules[i].name));
			fputc(',', w->to);
		}
		fputs("\"breakpadId\":\"\",\"arch\":\"\",\"codeId\":", w->to);
		if (*export_model_text(c, c->modules[i].build))
			json_string(w->to, export_model_text(c, c->modules[i].build));
		else
			fputs("null", w->to);
		fputc('}', w->to);
	}
	fputs("],\n", w->to);
}

static int by_thread(const void *a, const void *b)
{
	const struct export_model_sample *x = a, *y = b;

	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int write_threads(struct firefox_writer *w)
{
	const struct export_model *c = w->c;
	struct export_model_sample *samples = calloc(c->nsamples + 1, sizeof(*samples));
	size_t end;

	if (!samples)
		return -ENOMEM;
	if (c->nsamples) {
		memcpy(samples, c->samples, c->nsamples * sizeof(*samples));
		qsort(samples, c->nsamples, sizeof(*samples), by_thread);
	}
	fputs("\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\n\"threads\":[", w->to);
	for (size_t i = 0; i < c->nsamples; i = end) {
		for (end = i; end < c->nsamples && samples[end].proc == samples[i].proc &&
			      samples[end].tid == samples[i].tid;)
			end++;
		fputs(i ? ",\n" : "\n", w->to);
		write_thread(w, samples + i, end - i);
	}
	fputs("]}\n", w->to);
	free(samples);
	return 0;
}

int export_firefox(FILE *to, const struct export_model *c)
{
	struct firefox_writer w = {.to = to, .c = c};
	int err = export_model_places_find(&w.places, c);

	w.nodes = calloc((size_t)c->nnodes + 1, sizeof(*w.nodes));
	w.frames = calloc((size_t)w.places.count + 1, sizeof(*w.frames));
	w.funcs = calloc((size_t)c->nfuncs + 1, sizeof(*w.funcs));
	w.modules = calloc((size_t)c->nmodules + 1, sizeof(*w.modules));
	w.node_list = calloc((size_t)c->nnodes + 1, sizeof(*w.node_list));
	w.frame_list = calloc((size_t)w.places.count + 1, sizeof(*w.frame_list));
	w.func_list = calloc((size_t)c->nfuncs + 1, sizeof(*w.func_list));
	w.module_list = calloc((size_t)c->nmodules + 1, sizeof(*w.module_list));
	w.files = calloc((size_t)c->nfiles + 1, sizeof(*w.files));
	w.file_list = calloc((size_t)c->nfiles + 1, sizeof(*w.file_list));
	if (!w.nodes || !w.frames || !w.funcs || !w.modules || !w.node_list || !w.frame_list ||
	    !w.func_list || !w.module_list || !w.files || !w.file_list)
		err = -ENOMEM;
	if (!err) {
		write_meta(&w);
		write_libs(&w);
		err = write_threads(&w);
	}
	free(w.nodes);
	free(w.frames);
	free(w.funcs);
	free(w.modules);
	free(w.node_list);
	free(w.frame_list);
	free(w.func_list);
	free(w.module_list);
	free(w.files);
	free(w.file_list);
	export_model_places_free(&w.places);
	return err;
}
