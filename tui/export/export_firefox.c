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
#include "tui/util/share.h"

#define FORMAT_VERSION	 48
#define GECKO_VERSION	 29
#define RESOURCE_LIBRARY "1"

/* Categories must have Firefox's colours; the grey one is for everything else. */
#define CATEGORIES(X)                                                                              \
	X(OTHER, "Other", "grey")                                                                  \
	X(USER, "User", "yellow")                                                                  \
	X(KERNEL, "Kernel", "orange")                                                              \
	X(JIT, "JIT", "blue")                                                                      \
	X(END, "Walk ended", "red")                                                                \
	X(PYTHON, "Python", "green")                                                               \
	X(PHP, "PHP", "purple")                                                                    \
	X(PERL, "Perl", "lightblue")                                                               \
	X(RUBY, "Ruby", "lightred")                                                                \
	X(JS, "JavaScript", "magenta")                                                             \
	X(JAVA, "Java", "brown")                                                                   \
	X(WAITS, "Waits", "lightgreen") /* the last one: only where there are waits */

enum category {
#define CATEGORY_ENUM(id, name, color) CATEGORY_##id,
	CATEGORIES(CATEGORY_ENUM)
#undef CATEGORY_ENUM
};

struct firefox_number {
	uint32_t value;
	uint32_t stamp;
};

struct firefox_table {
	struct firefox_number *numbers; /* by their number in the model */
	uint32_t *list;			/* those of the thread */
	uint32_t count;
};

struct firefox_writer {
	FILE *to;
	const struct export_model *c;
	struct export_model_places places;
	struct firefox_table nodes, frames, funcs, modules, files;
	uint32_t stamp;
};

static const enum category categories[] = {
	[FUNC_USER] = CATEGORY_USER,	 [FUNC_INLINE] = CATEGORY_USER,
	[FUNC_KERNEL] = CATEGORY_KERNEL, [FUNC_JIT] = CATEGORY_JIT,
	[FUNC_END] = CATEGORY_END,	 [FUNC_EVAL] = CATEGORY_USER,
	[FUNC_PYTHON] = CATEGORY_PYTHON, [FUNC_PHP] = CATEGORY_PHP,
	[FUNC_PERL] = CATEGORY_PERL,	 [FUNC_RUBY] = CATEGORY_RUBY,
	[FUNC_JS] = CATEGORY_JS,	 [FUNC_JAVA] = CATEGORY_JAVA,
	[FUNC_WAIT] = CATEGORY_WAITS,	 [FUNC_TIME] = CATEGORY_WAITS,
	[FUNC_LOCK] = CATEGORY_WAITS,	 [FUNC_WAKER] = CATEGORY_WAITS};

static double milliseconds(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* --- what a thread uses ---------------------------------------------------------------------- */

/* Gives an item a number in this thread. */
static void use(struct firefox_writer *w, struct firefox_table *t, uint32_t id)
{
	if (t->numbers[id].stamp == w->stamp)
		return;
	t->numbers[id] = (struct firefox_number){t->count, w->stamp};
	t->list[t->count++] = id;
}

/* Parents come before their children, so a node that was added has its parents. */
static void use_node(struct firefox_writer *w, uint32_t node)
{
	const struct export_model *c = w->c;
	uint32_t first = w->nodes.count, last;

	for (; node != EXPORT_MODEL_NONE && w->nodes.numbers[node].stamp != w->stamp;
	     node = c->nodes[node].parent)
		use(w, &w->nodes, node);
	for (last = w->nodes.count; first + 1 < last; first++) {
		uint32_t swap = w->nodes.list[first];

		w->nodes.list[first] = w->nodes.list[--last];
		w->nodes.list[last] = swap;
	}
}

static void use_samples(struct firefox_writer *w, const struct export_model_sample *samples,
			size_t count)
{
	const struct export_model *c = w->c;

	w->stamp++;
	w->nodes.count = w->frames.count = w->funcs.count = w->modules.count = w->files.count = 0;
	for (size_t i = 0; i < count; i++)
		use_node(w, samples[i].node);
	for (uint32_t i = 0; i < w->nodes.count; i++) {
		uint32_t func = c->nodes[w->nodes.list[i]].func, module = c->funcs[func].number;
		uint32_t place = w->places.of_node[w->nodes.list[i]];

		w->nodes.numbers[w->nodes.list[i]].value = i;
		use(w, &w->frames, place);
		use(w, &w->funcs, func);
		if (*export_model_text(c, c->modules[module].name))
			use(w, &w->modules, module);
		if (c->funcs[func].file != EXPORT_MODEL_NONE)
			use(w, &w->files, c->funcs[func].file);
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
	fprintf(w->to, "%s%d", i ? "," : "", (int)categories[w->c->funcs[func].kind]);
}

/* Of a wait, milliseconds. Then Firefox has no column for how many there were, and takes no notice
 * of another one. */
static void write_weights(struct firefox_writer *w, const struct export_model_sample *samples,
			  size_t count)
{
	const enum export_unit unit = export_model_unit(w->c);

	fputs("],\"weight\":[", w->to);
	for (size_t i = 0; i < count; i++) {
		uint64_t value = export_model_value(w->c, &samples[i]);

		if (unit == EXPORT_TIME)
			fprintf(w->to, "%s%" PRIu64 ".%03u", i ? "," : "", value / 1000,
				(unsigned int)(value % 1000));
		else
			fprintf(w->to, "%s%" PRIu64, i ? "," : "", value);
	}
	if (unit != EXPORT_SAMPLES)
		fputs("],\"count\":[", w->to);
	for (size_t i = 0; i < count && unit != EXPORT_SAMPLES; i++)
		fprintf(w->to, "%s%" PRIu64, i ? "," : "", (uint64_t)samples[i].count);
	fprintf(w->to, "],\"weightType\":\"%s\",\"length\":%zu},\n",
		unit == EXPORT_TIME ? "tracing-ms" : "samples", count);
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
			fprintf(w->to, "%u", w->nodes.numbers[samples[i].node].value);
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
	write_weights(w, samples, count);
}

static void write_frames(struct firefox_writer *w)
{
	const struct export_model_place *list = w->places.list;

	fputs("\"frameTable\":{\"inlineDepth\":[", w->to);
	for (uint32_t i = 0; i < w->frames.count; i++)
		fprintf(w->to, "%s%u", i ? "," : "", list[w->frames.list[i]].depth);
	fputs("],\"func\":[", w->to);
	for (uint32_t i = 0; i < w->frames.count; i++)
		fprintf(w->to, "%s%u", i ? "," : "",
			w->funcs.numbers[list[w->frames.list[i]].func].value);
	fputs("],\"category\":[", w->to);
	for (uint32_t i = 0; i < w->frames.count; i++)
		write_category(w, i, list[w->frames.list[i]].func);
	fputs("],", w->to);
	write_same(w, "subcategory", "0", w->frames.count);
	write_same(w, "address", "-1", w->frames.count);
	write_same(w, "nativeSymbol", "null", w->frames.count);
	write_same(w, "innerWindowID", "null", w->frames.count);
	write_same(w, "implementation", "null", w->frames.count);
	fputs("\"line\":[", w->to);
	for (uint32_t i = 0; i < w->frames.count; i++)
		write_number(w, i, w->c->funcs[list[w->frames.list[i]].func].line);
	fputs("],", w->to);
	write_same(w, "column", "null", w->frames.count);
	fprintf(w->to, "\"length\":%u},\n", w->frames.count);
}

static void write_stacks(struct firefox_writer *w)
{
	const struct export_model *c = w->c;

	fputs("\"stackTable\":{\"frame\":[", w->to);
	for (uint32_t i = 0; i < w->nodes.count; i++)
		fprintf(w->to, "%s%u", i ? "," : "",
			w->frames.numbers[w->places.of_node[w->nodes.list[i]]].value);
	fputs("],\"prefix\":[", w->to);
	for (uint32_t i = 0; i < w->nodes.count; i++) {
		uint32_t parent = c->nodes[w->nodes.list[i]].parent;

		fputs(i ? "," : "", w->to);
		if (parent == EXPORT_MODEL_NONE)
			fputs("null", w->to);
		else
			fprintf(w->to, "%u", w->nodes.numbers[parent].value);
	}
	fputs("],\"category\":[", w->to);
	for (uint32_t i = 0; i < w->nodes.count; i++)
		write_category(w, i, c->nodes[w->nodes.list[i]].func);
	fputs("],", w->to);
	write_same(w, "subcategory", "0", w->nodes.count);
	fprintf(w->to, "\"length\":%u},\n", w->nodes.count);

	write_frames(w);
}

/* Strings of the thread: its functions, its modules, its source files. */
static void write_funcs(struct firefox_writer *w)
{
	const struct export_model *c = w->c;
	char name[EXPORT_NAME_MAX];

	fputs("\"funcTable\":{", w->to);
	write_count(w, "name", 0, w->funcs.count);
	write_same(w, "isJS", "false", w->funcs.count);
	write_same(w, "relevantForJS", "false", w->funcs.count);
	fputs("\"resource\":[", w->to);
	for (uint32_t i = 0; i < w->funcs.count; i++) {
		const struct firefox_number *module =
			&w->modules.numbers[c->funcs[w->funcs.list[i]].number];

		fprintf(w->to, "%s%d", i ? "," : "",
			module->stamp == w->stamp ? (int)module->value : -1);
	}
	fputs("],\"fileName\":[", w->to);
	for (uint32_t i = 0; i < w->funcs.count; i++) {
		uint32_t file = c->funcs[w->funcs.list[i]].file;

		write_number(w, i,
			     file == EXPORT_MODEL_NONE ? 0
						       : w->funcs.count + w->modules.count +
								 w->files.numbers[file].value);
	}
	fputs("],", w->to);
	write_same(w, "lineNumber", "null", w->funcs.count);
	write_same(w, "columnNumber", "null", w->funcs.count);
	fprintf(w->to, "\"length\":%u},\n\"resourceTable\":{\"lib\":[", w->funcs.count);
	for (uint32_t i = 0; i < w->modules.count; i++)
		fprintf(w->to, "%s%u", i ? "," : "", w->modules.list[i]);
	fputs("],", w->to);
	write_count(w, "name", w->funcs.count, w->modules.count);
	write_same(w, "host", "null", w->modules.count);
	write_same(w, "type", RESOURCE_LIBRARY, w->modules.count);
	fprintf(w->to, "\"length\":%u},\n\"stringArray\":[", w->modules.count);
	for (uint32_t i = 0; i < w->funcs.count; i++)
		json_string(w->to, i ? "," : "", export_name(name, c, w->funcs.list[i]));
	for (uint32_t i = 0; i < w->modules.count; i++)
		json_string(w->to, i || w->funcs.count ? "," : "",
			    export_model_text(c, c->modules[w->modules.list[i]].name));
	for (uint32_t i = 0; i < w->files.count; i++)
		json_string(w->to, ",", export_model_text(c, c->files[w->files.list[i]]));
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
	json_string(w->to, "", export_model_thread(w->c, samples->proc, samples->tid));
	json_string(w->to, ",\"processName\":", export_model_text(w->c, proc->comm));
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
	static const struct {
		const char *name, *color;
	} list[] = {
#define CATEGORY_ROW(id, name, color) {name, color},
		CATEGORIES(CATEGORY_ROW)
#undef CATEGORY_ROW
	};
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
	for (size_t i = 0; i < sizeof(list) / sizeof(*list) &&
			   (i != CATEGORY_WAITS || w->c->measure != MEASURE_CPU);
	     i++)
		fprintf(w->to, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			i ? "," : "", list[i].name, list[i].color);
	fputs("]},\n", w->to);
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
			json_string(w->to, "", export_model_text(c, c->modules[i].name));
			fputc(',', w->to);
		}
		fputs("\"breakpadId\":\"\",\"arch\":\"\",\"codeId\":", w->to);
		if (*export_model_text(c, c->modules[i].build))
			json_string(w->to, "", export_model_text(c, c->modules[i].build));
		else
			fputs("null", w->to);
		fputc('}', w->to);
	}
	fputs("],\n", w->to);
}

static int by_thread(const void *a, const void *b)
{
	const struct export_model_sample *x = a, *y = b;

	return ORDER(x->proc, y->proc)
		       ?: ORDER(x->tid, y->tid)
		       ?: ORDER(x->slice, y->slice) ?: ORDER(x->node, y->node);
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

static int table_new(struct firefox_table *t, uint32_t items)
{
	t->numbers = calloc((size_t)items + 1, sizeof(*t->numbers));
	t->list = calloc((size_t)items + 1, sizeof(*t->list));
	return t->numbers && t->list ? 0 : -ENOMEM;
}

static void table_free(struct firefox_table *t)
{
	free(t->numbers);
	free(t->list);
}

int export_firefox(FILE *to, const struct export_model *c)
{
	struct firefox_writer w = {.to = to, .c = c};
	int err = export_model_places_find(&w.places, c);

	if (!err)
		err = table_new(&w.nodes, c->nnodes) || table_new(&w.frames, w.places.count) ||
				      table_new(&w.funcs, c->nfuncs) ||
				      table_new(&w.modules, c->nmodules) ||
				      table_new(&w.files, c->nfiles)
			      ? -ENOMEM
			      : 0;
	if (!err) {
		write_meta(&w);
		write_libs(&w);
		err = write_threads(&w);
	}
	table_free(&w.nodes);
	table_free(&w.frames);
	table_free(&w.funcs);
	table_free(&w.modules);
	table_free(&w.files);
	export_model_places_free(&w.places);
	return err;
}
