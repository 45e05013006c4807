/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_RANGEMAP_H
#define STACKTOP_SYMBOLS_DWARF_RANGEMAP_H

/*
 * Nested ranges of addresses, each with a number, to find the innermost one at an address. Ranges
 * are added, then flattened once to disjoint pieces, and then searched.
 */

#include <stddef.h>
#include <stdint.h>

#define RANGEMAP_NONE UINT32_MAX

struct rangemap_range {
	uint64_t start;
	uint64_t end; /* the first address behind */
	uint32_t value;
	uint32_t serial; /* order of adding */
};

struct rangemap_piece {
	uint64_t start; /* up to the next piece */
	uint32_t value;
};

struct rangemap { /* a zeroed struct is an empty map */
	struct rangemap_range *ranges;
	size_t nranges, room;
	struct rangemap_piece *pieces;
	size_t npieces;
};

/* Before rangemap_build. An empty range is left out. -ENOMEM. */
int rangemap_add(struct rangemap *map, uint64_t start, uint64_t end, uint32_t value);
/*
 * Makes disjoint pieces. Of two ranges the one that begins later wins; of those that begin together
 * the shorter one, then the one added later. -ENOMEM.
 */
int rangemap_build(struct rangemap *map);
void rangemap_free(struct rangemap *map);
/* Number of the innermost range; RANGEMAP_NONE: there is none. */
uint32_t rangemap_find(const struct rangemap *map, uint64_t address);
/* Bytes of memory that the map holds besides the struct. */
size_t rangemap_bytes(const struct rangemap *map);

#endif
