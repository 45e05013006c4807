/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_RANGELIST_H
#define STACKTOP_SYMBOLS_DWARF_RANGELIST_H

/* Lists of ranges: .debug_rnglists (DWARF 5 section 7.25) and .debug_ranges (DWARF 4, 2.17.3). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
