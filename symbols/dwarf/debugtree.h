/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_DEBUGTREE_H
#define STACKTOP_SYMBOLS_DWARF_DEBUGTREE_H

/*
 * The tree of a unit's entries, gone through for the code of functions, or for that of the calls
 * inlined into one; for debugunit.c and debuginfo.c only.
 */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/dwarf/rangemap.h"

struct debugunit;
struct debugunit_bounds;

struct debugtree_call { /* an inlined one */
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
 * Adds the functions of the unit's body, whose entries can be read, to the unit; or, of a function
 * of it, the calls inlined into it to that. Ranges are added, and yet to be built.
 * -ENOMEM; -ECANCELED. What was added until then stays.
 */
int debugtree_read(struct debugunit *unit, struct debugunit_function *function,
		   const struct debugunit_bounds *bounds);
/* The ranges of an entry that lie within bounds. *left is what may still be looked at. -ENOMEM. */
int debugtree_ranges(Dwarf_Die *die, const struct debugunit_bounds *bounds, uint32_t value,
		     struct rangemap *map, size_t *left);

#endif
