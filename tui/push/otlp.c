// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Profiles of OpenTelemetry, by the numbers of fields in open-telemetry/opentelemetry-proto,
 * profiles/v1development (1.10 and later; a Sample had other numbers before). Each table of the
 * dictionary is a set of encoded messages, so it has no entry twice; it begins with the entry that
 * stands for "none", and has only what samples lead to. A process is a resource, since that is what
 * its attributes describe.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/export/export_priv.h"
#include "tui/push/request.h"
#include "tui/util/interner.h"
#include "tui/util/proto.h"

enum {
	REQUEST_RESOURCES = 1,
	REQUEST_DICTIONARY = 2,
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPES = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_PROFILES_PROFILES = 2,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,
	ANY_STRING = 1,
	ANY_INT = 3,
	ATTRIBUTE_KEY = 1, /* of KeyValueAndUnit */
	ATTRIBUTE_VALUE = 2,
	TABLE_MAPPINGS = 1,
	TABLE_LOCATIONS = 2,
	TABLE_FUNCTIONS = 3,
	TABLE_LINKS = 4,
	TABLE_STRINGS = 5,
	TABLE_ATTRIBUTES = 6,
	TABLE_STACKS = 7,
	MAPPING_FILE = 4,
	MAPPING_ATTRIBUTES = 5,
	LOCATION_MAPPING = 1,
	LOCATION_LINES = 3,
	LOCATION_ATTRIBUTES = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_NAME = 1,
	FUNCTION_FILE = 3,
	STACK_LOCATIONS = 1,
	LINK_TRACE = 1,
	LINK_SPAN = 2,
	PROFILE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	PROFILE_ID = 7,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_VALUES = 4,
};

struct otlp {
	const struct export_model *c;
	struct export_model_places places;
	/* By place and by node, numbers in the dictionary; EXPORT_MODEL_NONE: not there yet. */
	uint32_t *locations, *stacks;
	struct interner mapping, location, function, link, string, attribute, stack;
	struct outbytes a, b, packed; /* messages on their way into others */
};

/* A message inside of another one, written where it stands. */
static void put_value_type(struct otlp *o, struct outbytes *to, unsigned int field,
			   const char *type, const char *unit)
{
	proto_number(&o->a, VALUE_TYPE_TYPE, interner_text(&o->string, type));
	proto_number(&o->a, VALUE_TYPE_UNIT, interner_text(&o->string, unit));
	proto_part(to, field, &o->a);
}

/* --- the dictionary --------------------------------------------------------------------------- */

/* An attribute of the dictionary; text NULL: the number is its value. */
static uint32_t attribute(struct otlp *o, const char *key, const char *text, uint64_t number)
{
	struct outbytes value = {0}, whole = {0};
	uint32_t id;

	if (text) {
		proto_bytes(&value, ANY_STRING, text, strlen(text));
	} else {
		proto_head(&value, ANY_INT, PROTO_NUMBER);
		bytes_put_number(&value, number);
	}
	proto_number(&whole, ATTRIBUTE_KEY, interner_text(&o->string, key));
	proto_part(&whole, ATTRIBUTE_VALUE, &value);
	id = interner_part(&o->attribute, &whole);
	bytes_free(&value);
	bytes_free(&whole);
	return id;
}

/* Packed; the list is emptied. */
static void put_list(struct outbytes *to, unsigned int field, struct outbytes *list)
{
	if (list->size)
		proto_part(to, field, list);
	to->failed |= list->failed;
}

static uint32_t mapping_of(struct otlp *o, const struct export_model_func *func)
{
	const struct export_model_module *module = &o->c->modules[func->number];
	const char *name = export_model_text(o->c, module->name);
	const char *build = export_model_text(o->c, module->build);

	if (!*name)
		return 0;
	proto_number(&o->a, MAPPING_FILE, interner_text(&o->string, name));
	if (*build)
		bytes_put_number(&o->packed,
				 attribute(o, "process.executable.build_id.gnu", build, 0));
	put_list(&o->a, MAPPING_ATTRIBUTES, &o->packed);
	return interner_part(&o->mapping, &o->a);
}

static uint32_t function_of(struct otlp *o, uint32_t number)
{
	const struct export_model_func *func = &o->c->funcs[number];
	char name[EXPORT_NAME_MAX];

	proto_number(&o->a, FUNCTION_NAME,
		     interner_text(&o->string, export_name(name, o->c, number)));
	if (func->file != EXPORT_MODEL_NONE)
		proto_number(&o->a, FUNCTION_FILE,
			     interner_text(&o->string,
					   export_model_text(o->c, o->c->files[func->file])));
	return interner_part(&o->function, &o->a);
}

/* The values of profile.frame.type in OpenTelemetry's semantic conventions; NULL: there is none. */
static const char *frame_type(enum func_kind kind)
{
	switch (kind) {
	case FUNC_KERNEL:
		return "kernel";
	case FUNC_USER:
	case FUNC_INLINE:
	case FUNC_JIT:
	case FUNC_EVAL:
		return "native";
	case FUNC_PYTHON:
		return "cpython";
	case FUNC_PHP:
		return "php";
	case FUNC_PERL:
		return "perl";
	case FUNC_RUBY:
		return "ruby";
	case FUNC_JS:
		return "v8js";
	case FUNC_JAVA:
		return "jvm";
	case FUNC_END:
		return "abort-marker";
	default: /* why a thread waits */
		return NULL;
	}
}

/* Lines of inlined calls come before those of what they are in. */
static uint32_t location_of(struct otlp *o, uint32_t place)
{
	const struct export_model *c = o->c;
	uint32_t outer = place, number;
	struct outbytes line = {0};
	const char *type;

	if (o->locations[place] != EXPORT_MODEL_NONE)
		return o->locations[place];
	while (o->places.list[outer].outer != EXPORT_MODEL_NONE)
		outer = o->places.list[outer].outer;
	number = mapping_of(o, &c->funcs[o->places.list[outer].func]);
	proto_number(&o->b, LOCATION_MAPPING, number);
	for (uint32_t n = place; n != EXPORT_MODEL_NONE; n = o->places.list[n].outer) {
		const uint32_t func = o->places.list[n].func;

		proto_number(&line, LINE_FUNCTION, function_of(o, func));
		proto_number(&line, LINE_LINE, c->funcs[func].line);
		proto_part(&o->b, LOCATION_LINES, &line);
	}
	type = frame_type(c->funcs[o->places.list[outer].func].kind);
	if (type)
		bytes_put_number(&o->packed, attribute(o, "profile.frame.type", type, 0));
	put_list(&o->b, LOCATION_ATTRIBUTES, &o->packed);
	bytes_free(&line);
	o->locations[place] = interner_part(&o->location, &o->b);
	return o->locations[place];
}

/* Its innermost frame comes first. */
static uint32_t stack_of(struct otlp *o, uint32_t node)
{
	struct outbytes list = {0};

	if (node == EXPORT_MODEL_NONE)
		return 0;
	if (o->stacks[node] != EXPORT_MODEL_NONE)
		return o->stacks[node];
	for (uint32_t n = node; n != EXPORT_MODEL_NONE; n = export_model_caller(o->c, n))
		bytes_put_number(&list, location_of(o, o->places.of_node[n]));
	put_list(&o->b, STACK_LOCATIONS, &list);
	bytes_free(&list);
	o->stacks[node] = interner_part(&o->stack, &o->b);
	return o->stacks[node];
}

/* What stands for "none" in each table. */
static void begin_tables(struct otlp *o)
{
	static const uint8_t zeros[16];

	interner_text(&o->string, "");
	interner_part(&o->mapping, &o->a);
	interner_part(&o->location, &o->a);
	interner_part(&o->function, &o->a);
	interner_part(&o->attribute, &o->a);
	interner_part(&o->stack, &o->a);
	proto_bytes(&o->a, LINK_TRACE, zeros, 16);
	proto_bytes(&o->a, LINK_SPAN, zeros, 8);
	interner_part(&o->link, &o->a);
}

static void put_dictionary(struct otlp *o, struct outbytes *out)
{
	const struct {
		unsigned int field;
		const struct interner *table;
	} tables[] = {{TABLE_MAPPINGS, &o->mapping},   {TABLE_LOCATIONS, &o->location},
		      {TABLE_FUNCTIONS, &o->function}, {TABLE_LINKS, &o->link},
		      {TABLE_STRINGS, &o->string},     {TABLE_ATTRIBUTES, &o->attribute},
		      {TABLE_STACKS, &o->stack}};

	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++) {
		out->failed |= tables[t].table->failed;
		for (uint32_t i = 0; i < tables[t].table->count && !out->failed; i++) {
			size_t size;
			const uint8_t *entry = interner_get(tables[t].table, i, &size);

			proto_bytes(&o->b, tables[t].field, entry, size);
		}
	}
	proto_part(out, REQUEST_DICTIONARY, &o->b);
}

/* --- resources ------------------------------------------------------------------------------- */

/* Not of the dictionary; text NULL: the number. An empty text is left out. */
static void put_attribute(struct otlp *o, struct outbytes *to, const char *key, size_t length,
			  const char *text, uint64_t number)
{
	struct outbytes value = {0};

	if (text && !*text)
		return;
	if (text) {
		proto_text(&value, ANY_STRING, text);
	} else {
		proto_head(&value, ANY_INT, PROTO_NUMBER);
		bytes_put_number(&value, number);
	}
	proto_bytes(&o->a, KEY_VALUE_KEY, key, length);
	proto_part(&o->a, KEY_VALUE_VALUE, &value);
	proto_part(to, RESOURCE_ATTRIBUTES, &o->a);
	bytes_free(&value);
}

#define PUT_TEXT(key, text) put_attribute(o, to, key, strlen(key), text, 0)

/* A group is "docker 0123456789ab", or a unit. */
static const char *container_of_group(const char *group)
{
	const char *id = strrchr(group, ' ');

	return id && strlen(id + 1) >= 12 && strspn(id + 1, "0123456789abcdef") == strlen(id + 1)
		       ? id + 1
		       : "";
}

/* Whether the user has a label of that name, from that one on. */
static bool labelled(const struct push_options *options, size_t from, const char *key,
		     size_t length)
{
	for (size_t i = from; i < options->nlabels; i++)
		if (length == options->labels[i].key_length &&
		    !strncmp(options->labels[i].key, key, length))
			return true;
	return false;
}

/* The user's labels replace attributes of the same name, and the last one those before, as a
 * resource has none twice. */
static void put_resource(struct otlp *o, struct outbytes *to, const struct push_options *options,
			 const struct push_piece *piece, const struct export_model_proc *proc)
{
	const struct export_model *c = o->c;
	const char *group = export_model_text(c, proc->group);
	const struct {
		const char *key, *text;
	} texts[] = {{"service.name", export_model_text(c, proc->service)},
		     {"host.name", piece->host},
		     {"process.executable.name", export_model_text(c, proc->comm)},
		     {"process.command_line", export_model_text(c, proc->command)},
		     {"process.owner", export_model_text(c, proc->user)},
		     {"process.linux.cgroup", group},
		     {"container.id", container_of_group(group)}};

	if (proc->pid && !labelled(options, 0, "process.pid", strlen("process.pid")))
		put_attribute(o, to, "process.pid", strlen("process.pid"), NULL,
			      (uint64_t)proc->pid);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!labelled(options, 0, texts[i].key, strlen(texts[i].key)))
			PUT_TEXT(texts[i].key, texts[i].text);
	for (size_t i = 0; i < options->nlabels; i++) {
		const struct push_label *label = &options->labels[i];

		if (!labelled(options, i + 1, label->key, label->key_length))
			put_attribute(o, to, label->key, label->key_length, label->value, 0);
	}
}

/* --- profiles -------------------------------------------------------------------------------- */

/* What a sample is known by: a stack and attributes. */
static void put_identity(struct otlp *o, struct outbytes *to,
			 const struct export_model_sample *sample)
{
	struct outbytes list = {0};

	if (sample->tid) {
		bytes_put_number(&list, attribute(o, "thread.id", NULL, sample->tid));
		bytes_put_number(
			&list, attribute(o, "thread.name",
					 export_model_thread(o->c, sample->proc, sample->tid), 0));
	}
	if (sample->cpu)
		bytes_put_number(&list, attribute(o, "cpu.logical_number", NULL, sample->cpu - 1u));
	proto_number(to, SAMPLE_STACK, stack_of(o, sample->node));
	put_list(to, SAMPLE_ATTRIBUTES, &list);
	bytes_free(&list);
}

static uint64_t value_of(const struct export_model *c, const struct export_model_sample *sample)
{
	const uint64_t value = export_model_value(c, sample);

	return export_model_unit(c) == EXPORT_TIME ? 1000 * value : value;
}

/* Stacks that differ here only by what OpenTelemetry has no words for are one. */
static int put_samples(struct otlp *o, struct outbytes *to, size_t first, size_t end)
{
	uint64_t *values = calloc(end - first, sizeof(*values));
	struct interner identities = {0};
	struct outbytes whole = {0};

	if (!values)
		return -ENOMEM;
	for (size_t i = first; i < end; i++) {
		uint32_t id;

		put_identity(o, &whole, &o->c->samples[i]);
		id = interner_part(&identities, &whole);
		values[id] += value_of(o->c, &o->c->samples[i]);
	}
	to->failed |= identities.failed;
	for (uint32_t i = 0; i < identities.count && !to->failed; i++) {
		size_t size;
		const uint8_t *identity = interner_get(&identities, i, &size);

		bytes_put(&whole, identity, size);
		bytes_put_number(&o->packed, values[i]);
		proto_part(&whole, SAMPLE_VALUES, &o->packed);
		proto_part(to, PROFILE_SAMPLES, &whole);
	}
	bytes_free(&whole);
	interner_free(&identities);
	free(values);
	return 0;
}

/*
 * The type of the period of waits is that of the semantic conventions. It has no number, though it
 * would be one switch: Pyroscope knows waits as off_cpu:nanoseconds::, and takes those with a
 * period for something else.
 */
static void put_types(struct otlp *o, struct outbytes *to)
{
	const struct export_model *c = o->c;
	const uint64_t period = export_model_unit(c) == EXPORT_SAMPLES ? export_period(c) : 0;

	if (c->measure == MEASURE_OFF) {
		put_value_type(o, to, PROFILE_TYPE, "off_cpu", "nanoseconds");
		put_value_type(o, to, PROFILE_PERIOD_TYPE, "context_switch", "count");
	} else if (period) {
		put_value_type(o, to, PROFILE_TYPE, "samples", "count");
		put_value_type(o, to, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		proto_number(to, PROFILE_PERIOD, period);
	} else {
		put_value_type(o, to, PROFILE_TYPE, export_counted(c), "count");
	}
}

static int put_profile(struct otlp *o, struct outbytes *to, const struct push_piece *piece,
		       size_t first, size_t end)
{
	const struct export_model *c = o->c;
	uint8_t id[PUSH_ID];
	int err;

	push_part_id(piece, first, id);
	put_types(o, to);
	err = put_samples(o, to, first, end);
	proto_fixed64(to, PROFILE_TIME, c->slices[0].time);
	proto_number(to, PROFILE_DURATION, c->health.elapsed);
	proto_bytes(to, PROFILE_ID, id, sizeof(id));
	return err;
}

/* The samples of a process. */
static int put_process(struct otlp *o, struct outbytes *out, const struct push_options *options,
		       const struct push_piece *piece, size_t first, size_t end)
{
	struct outbytes resource = {0}, profile = {0}, scope = {0};
	int err;

	put_resource(o, &profile, options, piece, &o->c->procs[o->c->samples[first].proc]);
	proto_part(&resource, RESOURCE_PROFILES_RESOURCE, &profile);
	proto_text(&profile, SCOPE_NAME, "stacktop");
	proto_text(&profile, SCOPE_VERSION, STACKTOP_VERSION);
	proto_part(&scope, SCOPE_PROFILES_SCOPE, &profile);
	err = put_profile(o, &profile, piece, first, end);
	proto_part(&scope, SCOPE_PROFILES_PROFILES, &profile);
	proto_part(&resource, RESOURCE_PROFILES_SCOPES, &scope);
	proto_part(out, REQUEST_RESOURCES, &resource);
	bytes_free(&resource);
	bytes_free(&profile);
	bytes_free(&scope);
	return err;
}

static void otlp_free(struct otlp *o)
{
	interner_free(&o->mapping);
	interner_free(&o->location);
	interner_free(&o->function);
	interner_free(&o->link);
	interner_free(&o->string);
	interner_free(&o->attribute);
	interner_free(&o->stack);
	export_model_places_free(&o->places);
	free(o->locations);
	free(o->stacks);
	bytes_free(&o->a);
	bytes_free(&o->b);
	bytes_free(&o->packed);
}

int push_otlp(struct outbytes *out, const struct push_options *options,
	      const struct push_piece *piece, size_t *profiles)
{
	const struct export_model *c = piece->c;
	struct otlp o = {.c = c};
	int err = export_model_places_find(&o.places, c);

	o.locations = export_model_numbers(o.places.count);
	o.stacks = export_model_numbers(c->nnodes);
	if (!err && (!o.locations || !o.stacks))
		err = -ENOMEM;
	*profiles = 0;
	begin_tables(&o);
	for (size_t first = piece->first, end; first < piece->end && !err; first = end) {
		for (end = first + 1;
		     end < piece->end && c->samples[end].proc == c->samples[first].proc; end++)
			;
		err = put_process(&o, out, options, piece, first, end);
		++*profiles;
	}
	put_dictionary(&o, out);
	otlp_free(&o);
	return err ? err : out->failed ? -ENOMEM : 0;
}
