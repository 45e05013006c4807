/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_DEBUGTREE_H
#define STACKTOP_SYMBOLS_DWARF_DEBUGTREE_H

/*
 * Walks the tree of a unit's entries for the code of its functions, or a function's for the calls
 * inlined into it; for debugunit.c and debuginfo.c only.
 */

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "symbols/dwarf/rangemap.h"

struct debugunit;
struct debugunit_bounds;

struct debugtree_call { /* an inlined call */
	Dwarf_Off die;
	uint32_t parent; /* RANGEMAP_NONE: the function itself */
};

struct debugunit_function {
	Dwarf_Off die;
	bool loaded;
	struct rangemap ranges;
	struct debugtree_call *calls;
	uint32_t ncalls, room;
};

/*
 * Adds the functions with readable entries of the unit's body to the unit; or the calls inlined
 * into a function of it to that function. Ranges are added, but not built yet. -ENOMEM, -ECANCELED:
 * what was added until then stays.
 */
int debugtree_read(struct debugunit *unit, struct debugunit_function *function);
/*
 * Adds the ranges of an entry that lie within bounds. *left: how many may still be read. -ENOMEM.
 */
int debugtree_ranges(Dwarf_Die *die, const struct debugunit_bounds *bounds, uint32_t value,
		     struct rangemap *map, size_t *left);

/* Lists of ranges: .debug_rnglists (DWARF 5 section 7.25) and .debug_ranges (DWARF 4, 2.17.3). */
struct rangelist {
	const uint8_t *at, *end;
	uint64_t base;
	unsigned int version; /* of the unit */
};

enum rangelist_next {
	RANGELIST_RANGE,
	RANGELIST_END,	 /* or it is broken */
	RANGELIST_OTHER, /* an entry with addresses elsewhere (.debug_addr) */
};

/* Opens the list at an offset of the section. base: the address of the unit's first entry. */
bool rangelist_open(struct rangelist *list, const uint8_t *section, size_t size, uint64_t offset,
		    unsigned int version, uint64_t base);
enum rangelist_next rangelist_next(struct rangelist *list, uint64_t *start, uint64_t *end);

#endif
