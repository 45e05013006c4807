/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.proto of pprof (github.com/google/pprof/proto/profile.proto), gzipped. The few messages
 * are encoded by hand, which takes no more than a varint and a length, and each message goes to
 * zlib when it is complete, so that memory does not grow with the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tui/export/export_model.h"
#include "tui/export/export_priv.h"
#include "tui/util/bytes.h"

/* Field numbers. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_BUILD = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	MAPPING_HAS_INLINE = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
};

/* The string table begins with these; then come modules, their build-ids, functions, processes,
 * threads, source files, numbers of CPUs, and of what is no sample of a clock the two types. */
#define STRINGS(X)                                                                                 \
	X(EMPTY, "")                                                                               \
	X(SAMPLES, "samples")                                                                      \
	X(COUNT, "count")                                                                          \
	X(CPU, "cpu")                                                                              \
	X(NANOSECONDS, "nanoseconds")                                                              \
	X(PID, "pid")                                                                              \
	X(THREAD, "thread")                                                                        \
	X(COMM, "comm")                                                                            \
	X(THREAD_COMM, "thread_comm")

enum {
#define STRING_ENUM(id, text) STRING_##id,
	STRINGS(STRING_ENUM)
#undef STRING_ENUM
		STRING_FIRST
};

struct pprof_writer {
	uint32_t ncpus; /* the first numbers in the string table */
	FILE *to;
	const struct export_model *c;
	struct export_model_places places;
	z_stream z;
	struct outbytes message, part, packed;
	uint64_t period;
	enum export_unit unit;
};

/* --- protocol buffers ------------------------------------------------------------------------ */

/* Wire type 0; a zero is left out. */
static void put_number(struct outbytes *m, unsigned int field, uint64_t value)
{
	if (!value)
		return;
	bytes_put_number(m, field << 3);
	bytes_put_number(m, value);
}

/* Wire type 2: the part becomes a field of the message, and is emptied. */
static void put_part(struct outbytes *m, unsigned int field, struct outbytes *part)
{
	m->failed |= part->failed;
	bytes_put_number(m, field << 3 | 2);
	bytes_put_number(m, part->size);
	bytes_put(m, part->data ? part->data : (unsigned char *)"", part->size);
	part->size = 0;
}

/* --- gzip ------------------------------------------------------------------------------------ */

static int deflate_all(struct pprof_writer *w, const void *data, size_t size, int flush)
{
	unsigned char out[16384];
	int result;

	w->z.next_in = (unsigned char *)(uintptr_t)data;
	w->z.avail_in = (unsigned int)size;
	do {
		w->z.next_out = out;
		w->z.avail_out = sizeof(out);
		result = deflate(&w->z, flush);
		if (result == Z_STREAM_ERROR)
			return -EINVAL;
		fwrite(out, 1, sizeof(out) - w->z.avail_out, w->to);
	} while (!w->z.avail_out);
	return 0;
}

/* The message becomes a field of the profile, and is emptied. */
static int emit(struct pprof_writer *w, unsigned int field)
{
	struct outbytes head = {0};
	int err;

	w->message.failed |= w->part.failed | w->packed.failed;
	bytes_put_number(&head, field << 3 | 2);
	bytes_put_number(&head, w->message.size);
	err = head.failed || w->message.failed ? -ENOMEM : 0;
	if (!err)
		err = deflate_all(w, head.data, head.size, Z_NO_FLUSH);
	if (!err && w->message.size)
		err = deflate_all(w, w->message.data, w->message.size, Z_NO_FLUSH);
	free(head.data);
	w->message.size = 0;
	return err;
}

static int emit_string(struct pprof_writer *w, const char *text)
{
	bytes_put(&w->message, text, strlen(text));
	return emit(w, PROFILE_STRING);
}

/* --- the profile ----------------------------------------------------------------------------- */

static uint64_t string_module(uint32_t module)
{
	return STRING_FIRST + (uint64_t)module;
}

static uint64_t string_func(const struct pprof_writer *w, uint32_t func)
{
	return string_module(2 * w->c->nmodules) + func;
}

static uint64_t string_comm(const struct pprof_writer *w, uint32_t proc)
{
	return string_func(w, w->c->nfuncs) + proc;
}

/* The name of the process, unless the thread has one of its own. */
static uint64_t string_thread(const struct pprof_writer *w, uint32_t proc, uint32_t tid)
{
	const struct export_model_thread *thread = export_model_thread_find(w->c, proc, tid);

	return thread ? string_comm(w, w->c->nprocs) + (uint64_t)(thread - w->c->threads)
		      : string_comm(w, proc);
}

static uint64_t string_file(const struct pprof_writer *w, uint32_t file)
{
	return string_comm(w, w->c->nprocs) + w->c->nthreads + file;
}

/* What is counted, and what was counted of that. */
static uint64_t string_counted(const struct pprof_writer *w)
{
	return string_file(w, w->c->nfiles) + w->ncpus;
}

static uint64_t string_events(const struct pprof_writer *w)
{
	return string_counted(w) + 1;
}

static int write_strings(struct pprof_writer *w)
{
	static const char *const fixed[] = {
#define STRING_TEXT(id, text) text,
		STRINGS(STRING_TEXT)
#undef STRING_TEXT
	};
	const struct export_model *c = w->c;
	char name[EXPORT_NAME_MAX];
	int err = 0;

	for (int i = 0; i < STRING_FIRST && !err; i++)
		err = emit_string(w, fixed[i]);
	for (uint32_t i = 0; i < c->nmodules && !err; i++)
		err = emit_string(w, export_model_text(c, c->modules[i].name));
	for (uint32_t i = 0; i < c->nmodules && !err; i++)
		err = emit_string(w, export_model_text(c, c->modules[i].build));
	for (uint32_t i = 0; i < c->nfuncs && !err; i++)
		err = emit_string(w, export_name(name, c, i));
	for (uint32_t i = 0; i < c->nprocs && !err; i++)
		err = emit_string(w, export_model_text(c, c->procs[i].comm));
	for (uint32_t i = 0; i < c->nthreads && !err; i++)
		err = emit_string(w, export_model_text(c, c->threads[i].comm));
	for (uint32_t i = 0; i < c->nfiles && !err; i++)
		err = emit_string(w, export_model_text(c, c->files[i]));
	for (uint32_t i = 0; i < w->ncpus && !err; i++) {
		snprintf(name, sizeof(name), "%u", i);
		err = emit_string(w, name);
	}
	if (!err && w->unit != EXPORT_SAMPLES)
		err = emit_string(w, export_counted(c));
	/* As type of both, "waits and samples" would be too long. */
	if (!err && w->unit != EXPORT_SAMPLES)
		err = emit_string(w, c->measure == MEASURE_OFF ? "waits" : "samples");
	return err;
}

static int write_type(struct pprof_writer *w, unsigned int field, uint64_t type, uint64_t unit)
{
	put_number(&w->message, TYPE_TYPE, type);
	put_number(&w->message, TYPE_UNIT, unit);
	return emit(w, field);
}

static int write_types(struct pprof_writer *w)
{
	int err;

	if (w->unit != EXPORT_SAMPLES) {
		err = write_type(w, PROFILE_SAMPLE_TYPE, string_events(w), STRING_COUNT);
		return err ? err
			   : write_type(w, PROFILE_SAMPLE_TYPE, string_counted(w),
					w->unit == EXPORT_TIME ? STRING_NANOSECONDS : STRING_COUNT);
	}
	err = write_type(w, PROFILE_SAMPLE_TYPE, STRING_SAMPLES, STRING_COUNT);
	if (!err && w->period)
		err = write_type(w, PROFILE_SAMPLE_TYPE, STRING_CPU, STRING_NANOSECONDS);
	if (!err && w->period)
		err = write_type(w, PROFILE_PERIOD_TYPE, STRING_CPU, STRING_NANOSECONDS);
	return err;
}

/* Fields of the profile itself. */
static int write_numbers(struct pprof_writer *w)
{
	struct outbytes m = {0};
	const struct export_model *c = w->c;
	int err;

	put_number(&m, PROFILE_TIME, c->nslices ? c->slices[0].time : 0);
	put_number(&m, PROFILE_DURATION, c->health.elapsed);
	put_number(&m, PROFILE_PERIOD, w->period);
	put_number(&m, PROFILE_DEFAULT_TYPE,
		   w->unit != EXPORT_SAMPLES ? string_counted(w)
		   : w->period		     ? STRING_CPU
					     : STRING_SAMPLES);
	err = m.failed ? -ENOMEM : deflate_all(w, m.data, m.size, Z_NO_FLUSH);
	free(m.data);
	return err;
}

static int write_mappings(struct pprof_writer *w)
{
	int err = 0;

	for (uint32_t i = 0; i < w->c->nmodules && !err; i++) {
		if (!*export_model_text(w->c, w->c->modules[i].name))
			continue;
		put_number(&w->message, MAPPING_ID, i + 1u);
		put_number(&w->message, MAPPING_FILE, string_module(i));
		put_number(&w->message, MAPPING_BUILD, string_module(w->c->nmodules + i));
		/* Otherwise pprof would symbolize by addresses, of which there are none. */
		for (unsigned int field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINE;
		     field++)
			put_number(&w->message, field, 1);
		err = emit(w, PROFILE_MAPPING);
	}
	return err;
}

static int write_funcs(struct pprof_writer *w)
{
	int err = 0;

	for (uint32_t i = 0; i < w->c->nfuncs && !err; i++) {
		put_number(&w->message, FUNCTION_ID, i + 1u);
		put_number(&w->message, FUNCTION_NAME, string_func(w, i));
		put_number(&w->message, FUNCTION_SYSTEM_NAME, string_func(w, i));
		if (w->c->funcs[i].file != EXPORT_MODEL_NONE)
			put_number(&w->message, FUNCTION_FILE, string_file(w, w->c->funcs[i].file));
		err = emit(w, PROFILE_FUNCTION);
	}
	return err;
}

/* The innermost call is the first line of a location. */
static int write_locations(struct pprof_writer *w)
{
	const struct export_model *c = w->c;
	int err = 0;

	for (uint32_t i = 0; i < w->places.count && !err; i++) {
		uint32_t func = w->places.list[i].func;

		put_number(&w->message, LOCATION_ID, i + 1u);
		if (*export_model_text(c, c->funcs[func].module))
			put_number(&w->message, LOCATION_MAPPING, c->funcs[func].number + 1u);
		for (uint32_t n = i; n != EXPORT_MODEL_NONE; n = w->places.list[n].outer) {
			func = w->places.list[n].func;
			put_number(&w->part, LINE_FUNCTION, func + 1u);
			put_number(&w->part, LINE_LINE, c->funcs[func].line);
			put_part(&w->message, LOCATION_LINE, &w->part);
		}
		err = emit(w, PROFILE_LOCATION);
	}
	return err;
}

static void put_label(struct pprof_writer *w, uint64_t key, uint64_t string, uint64_t number)
{
	put_number(&w->part, LABEL_KEY, key);
	put_number(&w->part, LABEL_STRING, string);
	put_number(&w->part, LABEL_NUMBER, number);
	put_part(&w->message, SAMPLE_LABEL, &w->part);
}

static int write_sample(struct pprof_writer *w, const struct export_model_sample *sample)
{
	const struct export_model *c = w->c;

	for (uint32_t n = sample->node; n != EXPORT_MODEL_NONE; n = export_model_caller(c, n))
		bytes_put_number(&w->packed, w->places.of_node[n] + 1u);
	put_part(&w->message, SAMPLE_LOCATION, &w->packed);
	bytes_put_number(&w->packed, sample->count);
	if (w->period)
		bytes_put_number(&w->packed, sample->count * w->period);
	else if (w->unit != EXPORT_SAMPLES)
		bytes_put_number(&w->packed,
				 w->unit == EXPORT_TIME ? 1000 * sample->weight : sample->weight);
	put_part(&w->message, SAMPLE_VALUE, &w->packed);
	put_label(w, STRING_COMM, string_comm(w, sample->proc), 0);
	put_label(w, STRING_PID, 0, (uint64_t)c->procs[sample->proc].pid);
	if (sample->tid)
		put_label(w, STRING_THREAD, 0, sample->tid);
	if (sample->tid)
		put_label(w, STRING_THREAD_COMM, string_thread(w, sample->proc, sample->tid), 0);
	/* A text: pprof takes the number 0 for a missing one. */
	if (sample->cpu)
		put_label(w, STRING_CPU, string_file(w, w->c->nfiles) + sample->cpu - 1u, 0);
	return emit(w, PROFILE_SAMPLE);
}

static int write_samples(struct pprof_writer *w)
{
	size_t count;
	struct export_model_sample *samples = export_model_merged(w->c, &count);
	int err = samples ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++)
		err = write_sample(w, &samples[i]);
	free(samples);
	return err;
}

int export_pprof(FILE *to, const struct export_model *c)
{
	static int (*const parts[])(struct pprof_writer * w) = {
		write_strings,	 write_types,	write_mappings, write_funcs,
		write_locations, write_samples, write_numbers};
	struct pprof_writer w = {.to = to, .c = c, .unit = export_model_unit(c)};
	int err = export_model_places_find(&w.places, c);

	w.period = w.unit == EXPORT_SAMPLES ? export_period(c) : 0;
	for (size_t i = 0; i < c->nsamples; i++)
		if (c->samples[i].cpu > w.ncpus)
			w.ncpus = c->samples[i].cpu;
	if (!err && deflateInit2(&w.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
				 Z_DEFAULT_STRATEGY) != Z_OK)
		err = -ENOMEM;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !err; i++)
		err = parts[i](&w);
	if (!err)
		err = deflate_all(&w, NULL, 0, Z_FINISH);
	deflateEnd(&w.z);
	export_model_places_free(&w.places);
	free(w.message.data);
	free(w.part.data);
	free(w.packed.data);
	return err;
}
