// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions may follow the locations that call them, so the profile is read three times: its
 * strings, mappings and functions, then its locations, and then, by import_pprof.c, its samples.
 */
#include "tui/import/pprof_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/keyhash.h"

int pprof_wrong(const struct pprof *p, const char *what, const uint8_t *at)
{
	return import_fail(p->to, -EINVAL, "is a damaged pprof file: wrong %s at byte %zu", what,
			   (size_t)(at - p->data));
}

struct import_text pprof_string(const struct pprof *p, uint64_t index)
{
	return index < p->nstrings ? p->strings[index] : (struct import_text){"", 0};
}

bool pprof_string_is(const struct pprof *p, uint64_t index, const char *text)
{
	struct import_text string = pprof_string(p, index);

	return string.length == strlen(text) && !memcmp(string.at, text, string.length);
}

/* --- ids ------------------------------------------------------------------------------------- */

/* Items begin with their id; most files number them from 1 on. */
static uint32_t find(const struct idtable *index, const void *items, size_t size, size_t count,
		     uint64_t id)
{
	const char *at = items;
	uint32_t hash, from, n;
	uint64_t other;

	if (id && id <= count) {
		memcpy(&other, at + (id - 1) * size, sizeof(other));
		if (other == id)
			return (uint32_t)(id - 1);
	}
	from = hash = keyhash(&id, sizeof(id));
	while ((n = idtable_next(index, hash, &from)) != IDTABLE_NONE) {
		memcpy(&other, at + n * size, sizeof(other));
		if (other == id)
			return n;
	}
	return PPROF_NONE;
}

static int add_id(struct idtable *index, uint64_t id, size_t number)
{
	if (idtable_reserve(index, number + 1))
		return -ENOMEM;
	idtable_add(index, keyhash(&id, sizeof(id)), (uint32_t)number);
	return 0;
}

uint32_t pprof_location_find(const struct pprof *p, uint64_t id)
{
	return find(&p->location_index, p->locations, sizeof(*p->locations), p->nlocations, id);
}

/* --- messages -------------------------------------------------------------------------------- */

static int full(const struct pprof *p, const char *what)
{
	return import_fail(p->to, -EFBIG, "has more than %zu %s", PPROF_ITEMS_MAX, what);
}

/* Field 1 and 2 of a ValueType. */
static int take_type(const struct pprof *p, const struct proto_field *field, struct pprof_type *out)
{
	struct cursor c = proto_message(field);
	struct proto_field f;

	*out = (struct pprof_type){0};
	while (proto_next(&c, &f)) {
		if (f.number == 1)
			out->name = f.value;
		if (f.number == 2)
			out->unit = f.value;
	}
	return c.bad ? pprof_wrong(p, "type of values", c.at) : 0;
}

static int take_string(struct pprof *p, const struct proto_field *field)
{
	if (p->nstrings == PPROF_ITEMS_MAX)
		return full(p, "strings");
	if (GROW(p->strings, p->nstrings, p->strings_room, PPROF_ITEMS_MAX))
		return -ENOMEM;
	p->strings[p->nstrings++] = (struct import_text){(const char *)field->data, field->size};
	return 0;
}

static int take_mapping(struct pprof *p, const struct proto_field *field)
{
	struct pprof_mapping mapping = {0};
	struct cursor c = proto_message(field);
	struct proto_field f;

	while (proto_next(&c, &f)) {
		if (f.number == 1)
			mapping.id = f.value;
		else if (f.number == 5)
			mapping.file = f.value;
		else if (f.number == 6)
			mapping.build = f.value;
	}
	if (c.bad)
		return pprof_wrong(p, "mapping", c.at);
	if (find(&p->mapping_index, p->mappings, sizeof(mapping), p->nmappings, mapping.id) !=
	    PPROF_NONE)
		return pprof_wrong(p, "mapping, of an id that another one has,", field->data);
	if (p->nmappings == PPROF_ITEMS_MAX)
		return full(p, "mappings");
	if (GROW(p->mappings, p->nmappings, p->mappings_room, PPROF_ITEMS_MAX) ||
	    add_id(&p->mapping_index, mapping.id, p->nmappings))
		return -ENOMEM;
	p->mappings[p->nmappings++] = mapping;
	return 0;
}

static int take_func(struct pprof *p, const struct proto_field *field)
{
	struct pprof_func func = {0};
	struct cursor c = proto_message(field);
	uint64_t system_name = 0;
	struct proto_field f;

	while (proto_next(&c, &f)) {
		if (f.number == 1)
			func.id = f.value;
		else if (f.number == 2)
			func.name = f.value;
		else if (f.number == 3)
			system_name = f.value;
		else if (f.number == 4)
			func.file = f.value;
	}
	if (c.bad)
		return pprof_wrong(p, "function", c.at);
	if (!func.name)
		func.name = system_name;
	if (find(&p->func_index, p->funcs, sizeof(func), p->nfuncs, func.id) != PPROF_NONE)
		return pprof_wrong(p, "function, of an id that another one has,", field->data);
	if (p->nfuncs == PPROF_ITEMS_MAX)
		return full(p, "functions");
	if (GROW(p->funcs, p->nfuncs, p->funcs_room, PPROF_ITEMS_MAX) ||
	    add_id(&p->func_index, func.id, p->nfuncs))
		return -ENOMEM;
	p->funcs[p->nfuncs++] = func;
	return 0;
}

static int take_line(struct pprof *p, const struct proto_field *field)
{
	struct pprof_line line = {.func = PPROF_NONE};
	struct cursor c = proto_message(field);
	struct proto_field f;

	while (proto_next(&c, &f)) {
		if (f.number == 1)
			line.func = find(&p->func_index, p->funcs, sizeof(*p->funcs), p->nfuncs,
					 f.value);
		else if (f.number == 2)
			line.line = f.value > INT32_MAX ? 0 : (uint32_t)f.value;
	}
	if (c.bad)
		return pprof_wrong(p, "line", c.at);
	if (p->nlines == PPROF_ITEMS_MAX)
		return full(p, "lines");
	if (GROW(p->lines, p->nlines, p->lines_room, PPROF_ITEMS_MAX))
		return -ENOMEM;
	p->lines[p->nlines++] = line;
	return 0;
}

static int take_location(struct pprof *p, const struct proto_field *field)
{
	static const struct proto_field nothing = {.wire = PROTO_NUMBER};
	struct pprof_location at = {.mapping = PPROF_NONE, .first = (uint32_t)p->nlines};
	struct cursor c = proto_message(field);
	struct proto_field f;
	int err = 0;

	while (!err && proto_next(&c, &f)) {
		if (f.number == 1)
			at.id = f.value;
		else if (f.number == 2)
			at.mapping = find(&p->mapping_index, p->mappings, sizeof(*p->mappings),
					  p->nmappings, f.value);
		else if (f.number == 3)
			at.address = f.value;
		else if (f.number == 4)
			err = take_line(p, &f);
	}
	if (!err && c.bad)
		return pprof_wrong(p, "location", c.at);
	/* A location without a line is a frame without a name. */
	if (!err && p->nlines == at.first)
		err = take_line(p, &nothing);
	if (err)
		return err;
	at.nlines = (uint32_t)p->nlines - at.first;
	if (pprof_location_find(p, at.id) != PPROF_NONE)
		return pprof_wrong(p, "location, of an id that another one has,", field->data);
	if (p->nlocations == PPROF_ITEMS_MAX)
		return full(p, "locations");
	if (GROW(p->locations, p->nlocations, p->locations_room, PPROF_ITEMS_MAX) ||
	    add_id(&p->location_index, at.id, p->nlocations))
		return -ENOMEM;
	p->locations[p->nlocations++] = at;
	return 0;
}

static int take_sample_type(struct pprof *p, const struct proto_field *field)
{
	if (p->ntypes == PPROF_TYPES_MAX)
		return import_fail(p->to, -EFBIG, "has more than %u types of values",
				   PPROF_TYPES_MAX);
	return take_type(p, field, &p->types[p->ntypes++]);
}

static int take_field(struct pprof *p, const struct proto_field *f)
{
	switch (f->number) {
	case PPROF_SAMPLE_TYPE:
		return take_sample_type(p, f);
	case PPROF_SAMPLE:
		p->nsamples++;
		return 0;
	case PPROF_MAPPING:
		return take_mapping(p, f);
	case PPROF_FUNCTION:
		return take_func(p, f);
	case PPROF_STRING:
		return take_string(p, f);
	case PPROF_TIME:
		p->time = f->value > INT64_MAX ? 0 : f->value;
		return 0;
	case PPROF_DURATION:
		p->duration = f->value > (uint64_t)1 << 58 ? 0 : f->value;
		return 0;
	case PPROF_PERIOD_TYPE:
		return take_type(p, f, &p->period_type);
	case PPROF_PERIOD:
		p->period = f->value > (uint64_t)1 << 50 ? 0 : f->value;
		return 0;
	case PPROF_DEFAULT_TYPE:
		p->default_type = f->value;
		return 0;
	default:
		return 0;
	}
}

/* The parts that are messages or strings, as a bit for each field. */
#define LONG_FIELDS                                                                                \
	(1u << PPROF_SAMPLE_TYPE | 1u << PPROF_SAMPLE | 1u << PPROF_MAPPING |                      \
	 1u << PPROF_LOCATION | 1u << PPROF_FUNCTION | 1u << PPROF_STRING |                        \
	 1u << PPROF_PERIOD_TYPE)

static bool has_wire(const struct proto_field *f)
{
	/* Numbers that are repeated may be packed. */
	return f->number > PPROF_LAST ||
	       ((LONG_FIELDS >> f->number & 1)
			? f->wire == PROTO_BYTES
			: f->wire == PROTO_NUMBER || (f->number == 13 && /* comment */
						      f->wire == PROTO_BYTES));
}

int pprof_read(struct pprof *p, const uint8_t *data, size_t size, const struct import_to *to)
{
	struct proto_field f;
	struct cursor c;
	int err = 0;

	*p = (struct pprof){.to = to, .data = data, .size = size};
	for (int pass = 0; pass < 2 && !err; pass++) {
		c = (struct cursor){.at = data, .end = data + size};
		while (!err && proto_next(&c, &f)) {
			if (!has_wire(&f))
				err = pprof_wrong(p, "field", c.at);
			else if (!pass)
				err = take_field(p, &f);
			else if (f.number == PPROF_LOCATION)
				err = take_location(p, &f);
		}
		if (!err && c.bad)
			err = pprof_wrong(p, "or missing data", c.at);
	}
	if (!err && !p->ntypes)
		err = import_fail(to, -EINVAL, "is a damaged pprof file: it has no type of values");
	return err;
}

void pprof_free(struct pprof *p)
{
	free(p->strings);
	free(p->mappings);
	free(p->funcs);
	free(p->locations);
	free(p->lines);
	idtable_free(&p->mapping_index);
	idtable_free(&p->func_index);
	idtable_free(&p->location_index);
}

/* Text has none of the bytes that the messages of types consist of. */
static bool has_control(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size && i < 4096; i++)
		if (data[i] < ' ' && data[i] != '\t' && data[i] != '\n' && data[i] != '\r')
			return true;
	return false;
}

bool import_is_pprof(const uint8_t *data, size_t size)
{
	struct cursor c = {.at = data, .end = data + size};
	struct proto_field f;

	if (!has_control(data, size))
		return false;
	/* One of which the first field is cut is no text either. */
	if (!proto_next(&c, &f))
		return size && *data == (PPROF_SAMPLE_TYPE << 3 | PROTO_BYTES);
	return f.number <= PPROF_LAST && has_wire(&f);
}
