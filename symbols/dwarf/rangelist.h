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
	RANGELIST_END,	 /* or broken */
	RANGELIST_OTHER, /* an entry whose addresses are elsewhere (.debug_addr) */
};

/* The list at an offset of the section; base: the address that the unit's first entry tells. */
bool rangelist_open(struct rangelist *list, const uint8_t *section, size_t size, uint64_t offset,
		    unsigned int version, uint64_t base);
enum rangelist_next rangelist_next(struct rangelist *list, uint64_t *start, uint64_t *end);

#endif
