// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples of a pprof file. They are read twice: the first time to check them and to find out what
 * their values are, and which line of each function is the hottest.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/text.h"
#include "tui/import/import_names.h"
#include "tui/import/pprof_read.h"
#include "tui/import/pprof_value.h"
#include "tui/profile/profile.h"

#define NS_PER_SEC    1000000000ull
#define BUILDS_MAX    4096u
#define ROUNDED_COUNT ((uint64_t)1 << 40)
/* Of all samples: a few bytes name a location with thousands of inlined calls. */
#define FRAMES_ALL_MAX ((uint64_t)1 << 29)

struct pprof_labels {
	struct import_proc proc;
	struct import_text thread;
	uint32_t tid, cpu;
};

struct pprof_input {
	uint64_t rest; /* ns that are less than a microsecond, and go to the next sample */
	struct pprof p;
	struct pprof_value value;
	struct import_builder *b;
	uint64_t count; /* of all samples */
	/* the sample */
	uint32_t *locations; /* innermost first */
	size_t nlocations;
	uint64_t nframes, frames_all;
	uint64_t values[PPROF_TYPES_MAX];
	size_t nvalues;
	struct pprof_labels labels;
};

/* --- a sample -------------------------------------------------------------------------------- */

static int take_locations(struct pprof_input *in, const struct proto_field *f)
{
	struct proto_values state = {0};
	uint64_t id;

	while (proto_value(f, &state, &id)) {
		uint32_t location = pprof_location_find(&in->p, id);

		if (location == PPROF_NONE)
			return pprof_wrong(&in->p, "sample, of a location that is not there,",
					   state.rest.at);
		in->nframes += in->p.locations[location].nlines;
		if (in->nframes > IMPORT_DEPTH_MAX)
			return import_fail(in->p.to, -EFBIG, "has a stack of more than %u frames",
					   IMPORT_DEPTH_MAX);
		in->locations[in->nlocations++] = location;
	}
	return state.rest.bad ? pprof_wrong(&in->p, "sample", state.rest.at) : 0;
}

static int take_values(struct pprof_input *in, const struct proto_field *f)
{
	struct proto_values state = {0};
	uint64_t value;

	while (proto_value(f, &state, &value)) {
		if (in->nvalues == in->p.ntypes)
			return pprof_wrong(&in->p, "sample, with more values than types,",
					   state.rest.at);
		if (value > INT64_MAX)
			return import_fail(in->p.to, -EINVAL,
					   "has values below 0: it is the difference of two "
					   "profiles; --diff compares these");
		in->values[in->nvalues++] = value;
	}
	return state.rest.bad ? pprof_wrong(&in->p, "sample", state.rest.at) : 0;
}

/* As a number, or as a text with one. */
static bool label_number(struct import_text text, uint64_t number, uint64_t limit, uint64_t *out)
{
	if (text.length)
		return import_number(text, limit, out);
	*out = number;
	return number < limit;
}

static void take_label(const struct pprof *p, struct pprof_labels *to, uint64_t key,
		       struct import_text text, uint64_t number)
{
	const struct {
		const char *key;
		struct import_text *text;
	} texts[] = {
		{"comm", &to->proc.comm},     {"process_name", &to->proc.comm},
		{"user", &to->proc.user},     {"command", &to->proc.command},
		{"cgroup", &to->proc.group},  {"container", &to->proc.group},
		{"thread_comm", &to->thread}, {"thread_name", &to->thread},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (text.length && pprof_string_is(p, key, texts[i].key))
			*texts[i].text = text;
	if ((pprof_string_is(p, key, "pid") || pprof_string_is(p, key, "process_id")) &&
	    label_number(text, number, INT32_MAX, &number))
		to->proc.pid = (int64_t)number;
	else if ((pprof_string_is(p, key, "thread") || pprof_string_is(p, key, "tid") ||
		  pprof_string_is(p, key, "thread_id")) &&
		 label_number(text, number, INT32_MAX, &number))
		to->tid = (uint32_t)number;
	else if (pprof_string_is(p, key, "thread") && text.length)
		to->thread = text;
	else if (pprof_string_is(p, key, "cpu") && text.length &&
		 import_number(text, 8192, &number))
		to->cpu = (uint32_t)number + 1;
}

static int take_label_field(struct pprof_input *in, const struct proto_field *field)
{
	struct cursor c = proto_message(field);
	uint64_t key = 0, text = 0, number = 0;
	struct proto_field f;

	while (proto_next(&c, &f)) {
		if (f.number == 1)
			key = f.value;
		else if (f.number == 2)
			text = f.value;
		else if (f.number == 3)
			number = f.value;
	}
	if (c.bad)
		return pprof_wrong(&in->p, "label", c.at);
	take_label(&in->p, &in->labels, key, pprof_string(&in->p, text), number);
	return 0;
}

static int take_sample(struct pprof_input *in, const struct proto_field *field)
{
	struct cursor c = proto_message(field);
	struct proto_field f;
	int err = 0;

	in->nlocations = in->nvalues = in->nframes = 0;
	in->labels = (struct pprof_labels){.proc.pid = -1};
	while (!err && proto_next(&c, &f)) {
		if (f.number == 1)
			err = take_locations(in, &f);
		else if (f.number == 2)
			err = take_values(in, &f);
		else if (f.number == 3)
			err = take_label_field(in, &f);
	}
	if (!err && (c.bad || in->nvalues != in->p.ntypes))
		err = pprof_wrong(&in->p, c.bad ? "sample" : "sample, with too few values,", c.at);
	return err;
}

/* Calls fn for each sample, which is in *in then. */
static int each_sample(struct pprof_input *in, int (*fn)(struct pprof_input *in))
{
	struct cursor c = {.at = in->p.data, .end = in->p.data + in->p.size};
	struct proto_field f;
	int err = 0;

	while (!err && proto_next(&c, &f)) {
		if (f.number != PPROF_SAMPLE)
			continue;
		err = take_sample(in, &f);
		if (!err)
			err = fn(in);
	}
	return err;
}

/* --- the first time -------------------------------------------------------------------------- */

static int see_sample(struct pprof_input *in)
{
	uint64_t hits = in->values[in->value.shown];

	in->frames_all += in->nframes;
	if (in->frames_all > FRAMES_ALL_MAX)
		return import_fail(in->p.to, -EFBIG, "has more than %u million frames",
				   (unsigned int)(FRAMES_ALL_MAX >> 20));
	pprof_value_see(&in->value, in->values);
	/* Only compared: what is rounded off does not matter, and no sum overflows. */
	if (hits > ROUNDED_COUNT)
		hits = ROUNDED_COUNT;
	for (size_t i = 0; i < in->nlocations; i++) {
		const struct pprof_location *at = &in->p.locations[in->locations[i]];

		for (uint32_t n = 0; n < at->nlines; n++)
			in->p.lines[at->first + n].hits += hits;
	}
	return 0;
}

static int count_sample(struct pprof_input *in)
{
	uint64_t count, weight, rest = 0;

	pprof_value_of(&in->value, in->values, &rest, &count, &weight);
	if (count > INT64_MAX - in->count)
		return import_fail(in->p.to, -EFBIG, "has larger numbers than can be added up");
	in->count += count;
	return 0;
}

static void find_hottest(struct pprof *p)
{
	for (size_t i = 0; i < p->nlines; i++) {
		const struct pprof_line *line = &p->lines[i];
		struct pprof_func *func = line->func == PPROF_NONE ? NULL : &p->funcs[line->func];

		if (!func || !line->line || (func->line && line->hits <= func->hits))
			continue;
		func->line = line->line;
		func->hits = line->hits;
	}
}

/* --- the second time ------------------------------------------------------------------------- */

/* A source file takes the place of a mapping in interpreted languages, as in stacktop's own files.
 */
static struct import_text module_of(const struct pprof *p, const struct pprof_location *at,
				    const struct pprof_func *func)
{
	struct import_text source =
		func ? pprof_string(p, func->file) : (struct import_text){"", 0};

	if (import_is_source(source))
		return source;
	return at->mapping == PPROF_NONE ? (struct import_text){"", 0}
					 : pprof_string(p, p->mappings[at->mapping].file);
}

static int name_line(struct pprof_input *in, int64_t id, const struct pprof_func *func)
{
	struct import_text source = pprof_string(&in->p, func->file);
	char file[1024];

	if (!func->line || !text_clean(file, sizeof(file), source.at, source.length))
		return 0;
	return profile_line_recorded(in->p.to->profile, (uint32_t)id, file, func->line);
}

static int feed_line(struct pprof_input *in, const struct pprof_location *at, uint32_t n)
{
	struct pprof_line *line = &in->p.lines[at->first + n];
	const struct pprof_func *func = line->func == PPROF_NONE ? NULL : &in->p.funcs[line->func];
	struct import_frame frame = {.inlined = n + 1 < at->nlines,
				     .module = module_of(&in->p, at, func)};
	char address[24];
	int64_t id;
	int err;

	if (func)
		frame.name = pprof_string(&in->p, func->name);
	else if (at->address)
		frame.name =
			(struct import_text){address, (size_t)snprintf(address, sizeof(address),
								       "0x%" PRIx64, at->address)};
	err = import_frame(in->b, &frame, &line->slot, &id);
	return err || id < 0 || !func ? err : name_line(in, id, func);
}

static int feed_proc(struct pprof_input *in, struct import_sample *sample)
{
	struct import_proc *proc = &in->labels.proc;
	struct import_text file = in->p.nmappings ? pprof_string(&in->p, in->p.mappings[0].file)
						  : (struct import_text){"", 0};
	char kernel[IMPORT_MODULE_MAX];
	int64_t id;

	if (!proc->comm.length && file.length &&
	    !import_kernel_module(file, kernel, sizeof(kernel))) {
		proc->comm = import_base(file);
		if (!proc->command.length)
			proc->command = file;
	} else if (!proc->comm.length) {
		proc->comm = (struct import_text){"[profile]", strlen("[profile]")};
	}
	id = import_proc(in->b, proc);
	if (id < 0)
		return (int)id;
	sample->proc = (uint32_t)id;
	sample->tid = in->labels.tid;
	sample->cpu = in->labels.cpu;
	return sample->tid ? import_thread(in->b, sample->proc, sample->tid, in->labels.thread) : 0;
}

static int feed_sample(struct pprof_input *in)
{
	struct import_sample sample = {0};
	int err;

	pprof_value_of(&in->value, in->values, &in->rest, &sample.count, &sample.weight);
	if (!sample.count)
		return 0;
	err = feed_proc(in, &sample);
	for (size_t i = in->nlocations; i-- > 0 && !err;) {
		const struct pprof_location *at = &in->p.locations[in->locations[i]];

		for (uint32_t n = at->nlines; n-- > 0 && !err;)
			err = feed_line(in, at, n);
	}
	return err ? err : import_sample(in->b, &sample);
}

/* In hexadecimal; Go has ids of another form, which only Go knows. */
static bool is_build(struct import_text text)
{
	for (size_t i = 0; i < text.length; i++)
		if (!text.at[i] || !strchr("0123456789abcdef", text.at[i]))
			return false;
	return text.length > 0 && text.length < PROFILE_BUILD_MAX;
}

static int feed_builds(struct pprof_input *in)
{
	char module[IMPORT_MODULE_MAX], build[PROFILE_BUILD_MAX];
	int err = 0;

	for (size_t i = 0; i < in->p.nmappings && i < BUILDS_MAX && !err; i++) {
		struct import_text id = pprof_string(&in->p, in->p.mappings[i].build);
		struct import_text file = import_base(pprof_string(&in->p, in->p.mappings[i].file));

		if (!is_build(id) || !text_clean(module, sizeof(module), file.at, file.length))
			continue;
		text_clean(build, sizeof(build), id.at, id.length);
		err = profile_module(in->p.to->profile, module, build);
	}
	return err;
}

static int feed(struct pprof_input *in)
{
	/* A heap has no duration; a second is as good as any. */
	const uint64_t ns = in->p.duration ? in->p.duration : NS_PER_SEC;
	const uint64_t end = in->p.to->clock;
	int err;

	import_pace(in->b, ns, in->count);
	import_clock(in->b, in->p.time ? in->p.time : end > ns ? end - ns : 0);
	err = feed_builds(in);
	if (!err)
		err = each_sample(in, feed_sample);
	return err ? err : import_end(in->b, in->count ? 0 : ns);
}

int import_pprof(const uint8_t *data, size_t size, struct import_to *to)
{
	struct pprof_input *in = calloc(1, sizeof(*in));
	int err = in ? 0 : -ENOMEM;

	if (!in)
		return err;
	in->locations = calloc(IMPORT_DEPTH_MAX, sizeof(*in->locations));
	err = in->locations ? pprof_read(&in->p, data, size, to) : -ENOMEM;
	if (!err) {
		pprof_value_choose(&in->value, &in->p);
		err = each_sample(in, see_sample);
	}
	if (!err) {
		pprof_value_event(&in->value, &in->p);
		find_hottest(&in->p);
		err = each_sample(in, count_sample);
	}
	if (!err)
		err = import_builder_new(to, &in->value.event, &in->b);
	if (!err)
		err = feed(in);
	import_builder_free(in->b);
	pprof_free(&in->p);
	free(in->locations);
	free(in);
	return err;
}
