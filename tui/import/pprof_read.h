/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_IMPORT_PPROF_READ_H
#define STACKTOP_TUI_IMPORT_PPROF_READ_H

/*
 * The tables of a pprof profile (github.com/google/pprof/proto/profile.proto): all but its samples,
 * which refer to them. Ids are any 64-bit numbers that the file chooses, so they are looked up by a
 * keyed hash. Everything points into the content.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/import/import_build.h"
#include "tui/util/idtable.h"
#include "tui/util/protoread.h"

#define PPROF_ITEMS_MAX ((size_t)4 << 20) /* of each kind */
#define PPROF_TYPES_MAX 64u
#define PPROF_NONE	UINT32_MAX

struct pprof_type {
	uint64_t name, unit; /* strings */
};

struct pprof_mapping {
	uint64_t id, file, build; /* strings */
};

struct pprof_func {
	uint64_t id, name, file;
	uint64_t hits; /* of its hottest line */
	uint32_t line;
};

struct pprof_line {
	uint32_t func; /* index; PPROF_NONE: there is none */
	uint32_t line;
	uint64_t hits;
	struct import_slot slot;
};

struct pprof_location {
	uint64_t id, address;
	uint32_t mapping;	/* index; PPROF_NONE */
	uint32_t first, nlines; /* innermost first; at least one */
};

struct pprof {
	const struct import_to *to;
	const uint8_t *data;
	size_t size;
	struct import_text *strings;
	struct pprof_type types[PPROF_TYPES_MAX];
	struct pprof_mapping *mappings;
	struct pprof_func *funcs;
	struct pprof_location *locations;
	struct pprof_line *lines;
	size_t nstrings, ntypes, nmappings, nfuncs, nlocations, nlines, nsamples;
	size_t strings_room, mappings_room, funcs_room, locations_room, lines_room;
	struct idtable mapping_index, func_index, location_index;
	uint64_t time, duration; /* ns */
	struct pprof_type period_type;
	uint64_t period, default_type;
};

/* Fields of the profile. */
enum {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_TIME = 9,
	PPROF_DURATION = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12,
	PPROF_DEFAULT_TYPE = 14,
	PPROF_LAST = 15, /* doc_url; newer ones are skipped */
};

/* -EINVAL: the error says at which byte; -EFBIG; -ENOMEM. Call pprof_free after every result. */
int pprof_read(struct pprof *p, const uint8_t *data, size_t size, const struct import_to *to);
void pprof_free(struct pprof *p);

/* Empty for an index that is not there. */
struct import_text pprof_string(const struct pprof *p, uint64_t index);
bool pprof_string_is(const struct pprof *p, uint64_t index, const char *text);
/* The index of a location; PPROF_NONE: there is none of that id. */
uint32_t pprof_location_find(const struct pprof *p, uint64_t id);
/* Sets the error "wrong ... at byte N", and returns -EINVAL. */
int pprof_wrong(const struct pprof *p, const char *what, const uint8_t *at);

#endif
