/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.proto of pprof (github.com/google/pprof/proto/profile.proto), gzipped. The few messages
 * are encoded by hand, which takes no more than a varint and a length, and each message goes to
 * zlib when it is complete, so that memory does not grow with the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tui/export/export_model.h"
#include "tui/export/export_priv.h"
#include "tui/util/bytes.h"
#include "tui/util/interner.h"
#include "tui/util/proto.h"

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

/* Texts of the process whose samples are being written. */
struct pprof_proc {
	uint32_t proc, comm, pid, user, command, group;
};

struct pprof_writer {
	FILE *to;
	const struct export_model *c;
	struct export_model_places places;
	z_stream z;
	struct outbytes message, part, packed;
	struct interner texts;
	struct pprof_proc last;
	uint64_t period;
	enum export_unit unit;
	bool push;
};

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

static uint64_t text(struct pprof_writer *w, const char *what)
{
	return interner_text(&w->texts, what);
}

static uint64_t number_text(struct pprof_writer *w, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	return text(w, digits);
}

/* Last, when all are known. The first one is empty. */
static int write_strings(struct pprof_writer *w)
{
	int err = w->texts.failed ? -ENOMEM : 0;

	for (uint32_t i = 0; i < w->texts.count && !err; i++) {
		size_t size;
		const uint8_t *one = interner_get(&w->texts, i, &size);

		bytes_put(&w->message, one, size);
		err = emit(w, PROFILE_STRING);
	}
	return err;
}

/* --- the profile ----------------------------------------------------------------------------- */

/* What is counted. Receivers of many profiles have a word of their own for waits. */
static uint64_t counted_text(struct pprof_writer *w)
{
	return text(w, w->push && w->c->measure == MEASURE_OFF ? "off_cpu" : export_counted(w->c));
}

/* What was counted of that. As type of both, "waits and samples" would be too long. */
static uint64_t events_text(struct pprof_writer *w)
{
	return text(w, w->c->measure == MEASURE_OFF ? "waits" : "samples");
}

static int write_type(struct pprof_writer *w, unsigned int field, uint64_t type, uint64_t unit)
{
	proto_number(&w->message, TYPE_TYPE, type);
	proto_number(&w->message, TYPE_UNIT, unit);
	return emit(w, field);
}

static int write_types(struct pprof_writer *w)
{
	const uint64_t count = text(w, "count"), ns = text(w, "nanoseconds");
	int err = write_type(w, PROFILE_SAMPLE_TYPE, events_text(w), count);

	if (err)
		return err;
	if (w->unit != EXPORT_SAMPLES)
		return write_type(w, PROFILE_SAMPLE_TYPE, counted_text(w),
				  w->unit == EXPORT_TIME ? ns : count);
	if (w->period)
		err = write_type(w, PROFILE_SAMPLE_TYPE, text(w, "cpu"), ns);
	if (!err && w->period)
		err = write_type(w, PROFILE_PERIOD_TYPE, text(w, "cpu"), ns);
	return err;
}

/* Fields of the profile itself. */
static int write_numbers(struct pprof_writer *w)
{
	struct outbytes m = {0};
	const struct export_model *c = w->c;
	int err;

	proto_number(&m, PROFILE_TIME, c->nslices ? c->slices[0].time : 0);
	proto_number(&m, PROFILE_DURATION, c->health.elapsed);
	proto_number(&m, PROFILE_PERIOD, w->period);
	proto_number(&m, PROFILE_DEFAULT_TYPE,
		     w->unit != EXPORT_SAMPLES ? counted_text(w)
		     : w->period	       ? text(w, "cpu")
					       : text(w, "samples"));
	err = m.failed ? -ENOMEM : deflate_all(w, m.data, m.size, Z_NO_FLUSH);
	free(m.data);
	return err;
}

/* Which modules are the kernel's, in an array that the caller frees. */
static bool *kernel_modules(const struct export_model *c)
{
	bool *kernel = calloc((size_t)c->nmodules + 1, sizeof(*kernel));

	for (uint32_t i = 0; kernel && i < c->nfuncs; i++)
		if (c->funcs[i].kind == FUNC_KERNEL)
			kernel[c->funcs[i].number] = true;
	return kernel;
}

static uint64_t module_text(struct pprof_writer *w, uint32_t module, bool kernel)
{
	const char *name = export_model_text(w->c, w->c->modules[module].name);
	char marked[EXPORT_NAME_MAX];

	if (!w->push || !kernel)
		return text(w, name);
	/* By this beginning viewers know frames of the kernel. */
	snprintf(marked, sizeof(marked), "[kernel] %s", name);
	return text(w, marked);
}

static int write_mappings(struct pprof_writer *w)
{
	bool *kernel = kernel_modules(w->c);
	int err = kernel ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < w->c->nmodules && !err; i++) {
		if (!*export_model_text(w->c, w->c->modules[i].name))
			continue;
		proto_number(&w->message, MAPPING_ID, i + 1u);
		proto_number(&w->message, MAPPING_FILE, module_text(w, i, kernel[i]));
		proto_number(&w->message, MAPPING_BUILD,
			     text(w, export_model_text(w->c, w->c->modules[i].build)));
		/* Otherwise pprof would symbolize by addresses, of which there are none. */
		for (unsigned int field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINE;
		     field++)
			proto_number(&w->message, field, 1);
		err = emit(w, PROFILE_MAPPING);
	}
	free(kernel);
	return err;
}

static int write_funcs(struct pprof_writer *w)
{
	const struct export_model *c = w->c;
	char name[EXPORT_NAME_MAX];
	int err = 0;

	for (uint32_t i = 0; i < c->nfuncs && !err; i++) {
		const uint64_t id = text(w, export_name(name, c, i));

		proto_number(&w->message, FUNCTION_ID, i + 1u);
		proto_number(&w->message, FUNCTION_NAME, id);
		proto_number(&w->message, FUNCTION_SYSTEM_NAME, id);
		if (c->funcs[i].file != EXPORT_MODEL_NONE)
			proto_number(&w->message, FUNCTION_FILE,
				     text(w, export_model_text(c, c->files[c->funcs[i].file])));
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

		proto_number(&w->message, LOCATION_ID, i + 1u);
		if (*export_model_text(c, c->funcs[func].module))
			proto_number(&w->message, LOCATION_MAPPING, c->funcs[func].number + 1u);
		for (uint32_t n = i; n != EXPORT_MODEL_NONE; n = w->places.list[n].outer) {
			func = w->places.list[n].func;
			proto_number(&w->part, LINE_FUNCTION, func + 1u);
			proto_number(&w->part, LINE_LINE, c->funcs[func].line);
			proto_part(&w->message, LOCATION_LINE, &w->part);
		}
		err = emit(w, PROFILE_LOCATION);
	}
	return err;
}

static void put_label(struct pprof_writer *w, const char *key, uint64_t string, uint64_t number)
{
	proto_number(&w->part, LABEL_KEY, text(w, key));
	proto_number(&w->part, LABEL_STRING, string);
	proto_number(&w->part, LABEL_NUMBER, number);
	proto_part(&w->message, SAMPLE_LABEL, &w->part);
}

static const struct pprof_proc *proc_texts(struct pprof_writer *w, uint32_t number)
{
	const struct export_model_proc *proc = &w->c->procs[number];

	if (w->last.comm && w->last.proc == number)
		return &w->last;
	w->last = (struct pprof_proc){
		.proc = number,
		.comm = (uint32_t)text(w, export_model_text(w->c, proc->comm)),
		.pid = (uint32_t)number_text(w, (uint64_t)proc->pid),
		.user = (uint32_t)text(w, export_model_text(w->c, proc->user)),
		.command = (uint32_t)text(w, export_model_text(w->c, proc->command)),
		.group = (uint32_t)text(w, export_model_text(w->c, proc->group)),
	};
	return &w->last;
}

/* Receivers make labels of texts only. */
static void put_push_labels(struct pprof_writer *w, const struct export_model_sample *sample)
{
	const struct pprof_proc *proc = proc_texts(w, sample->proc);

	put_label(w, "pid", proc->pid, 0);
	if (proc->user)
		put_label(w, "user", proc->user, 0);
	if (proc->command)
		put_label(w, "command", proc->command, 0);
	if (proc->group)
		put_label(w, "cgroup", proc->group, 0);
	if (sample->tid)
		put_label(w, "thread", number_text(w, sample->tid), 0);
}

static void put_labels(struct pprof_writer *w, const struct export_model_sample *sample)
{
	put_label(w, "comm", proc_texts(w, sample->proc)->comm, 0);
	if (w->push)
		put_push_labels(w, sample);
	else
		put_label(w, "pid", 0, (uint64_t)w->c->procs[sample->proc].pid);
	if (sample->tid && !w->push)
		put_label(w, "thread", 0, sample->tid);
	if (sample->tid)
		put_label(w, "thread_comm",
			  text(w, export_model_thread(w->c, sample->proc, sample->tid)), 0);
	/* A text: pprof takes the number 0 for a missing one. */
	if (sample->cpu)
		put_label(w, "cpu", number_text(w, sample->cpu - 1u), 0);
}

static int write_sample(struct pprof_writer *w, const struct export_model_sample *sample)
{
	for (uint32_t n = sample->node; n != EXPORT_MODEL_NONE; n = export_model_caller(w->c, n))
		bytes_put_number(&w->packed, w->places.of_node[n] + 1u);
	proto_part(&w->message, SAMPLE_LOCATION, &w->packed);
	bytes_put_number(&w->packed, sample->count);
	if (w->period)
		bytes_put_number(&w->packed, sample->count * w->period);
	else if (w->unit != EXPORT_SAMPLES)
		bytes_put_number(&w->packed,
				 w->unit == EXPORT_TIME ? 1000 * sample->weight : sample->weight);
	proto_part(&w->message, SAMPLE_VALUE, &w->packed);
	put_labels(w, sample);
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

static int write_all_parts(FILE *to, const struct export_model *c, bool push)
{
	static int (*const parts[])(struct pprof_writer * w) = {
		write_types,   write_mappings, write_funcs,  write_locations,
		write_samples, write_numbers,  write_strings};
	struct pprof_writer w = {.to = to, .c = c, .unit = export_model_unit(c), .push = push};
	int err = export_model_places_find(&w.places, c);

	w.period = w.unit == EXPORT_SAMPLES ? export_period(c) : 0;
	interner_text(&w.texts, "");
	if (!err && deflateInit2(&w.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
				 Z_DEFAULT_STRATEGY) != Z_OK)
		err = -ENOMEM;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !err; i++)
		err = parts[i](&w);
	if (!err)
		err = deflate_all(&w, NULL, 0, Z_FINISH);
	deflateEnd(&w.z);
	export_model_places_free(&w.places);
	interner_free(&w.texts);
	free(w.message.data);
	free(w.part.data);
	free(w.packed.data);
	return err;
}

int export_pprof(FILE *to, const struct export_model *c)
{
	return write_all_parts(to, c, false);
}

int export_pprof_push(FILE *to, const struct export_model *c)
{
	return write_all_parts(to, c, true);
}
