/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_CODEMAP_H
#define STACKTOP_SYMBOLS_NAMES_CODEMAP_H

/*
 * Names of code that a process makes while it runs, by run-time address. Later code wins where it
 * overlaps earlier code; the rest of an older piece keeps its name. A sample from about that time
 * may be of either, so each piece knows when it replaced other code. Everything comes from the
 * process, which may say anything: memory is bounded, and code that does not fit has no name, nor
 * has the code that it replaces.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct codemap;

#define CODEMAP_NO_INDEX UINT64_MAX

/* max_bytes: of memory, about. NULL: no memory. */
struct codemap *codemap_new(size_t max_bytes);
void codemap_free(struct codemap *map);
/* Forgets all: code added in this round and the next may have replaced what was there. */
void codemap_clear(struct codemap *map);

/*
 * Sets the round of what is added from now on: a number that only grows, or 0 (as at first) for
 * what was there before the first sample.
 */
void codemap_set_round(struct codemap *map, uint64_t round);

/*
 * Adds code at [start, start + size); nothing happens if that is empty or beyond the address space.
 * The name (length bytes, not terminated) is copied, made clean and cut at CODEMAP_NAME_MAX. index:
 * codemap_move finds the code by it, or CODEMAP_NO_INDEX. -ENOMEM, -ENOSPC.
 */
#define CODEMAP_NAME_MAX 1023u
int codemap_add(struct codemap *map, uint64_t index, uint64_t start, uint64_t size,
		const char *name, size_t length);
/*
 * The code last added with this index is now also at start. -ENOENT: there is none; -ENOMEM,
 * -ENOSPC.
 */
int codemap_move(struct codemap *map, uint64_t index, uint64_t start, uint64_t size);

/* The name of the code at the address, valid until the map is changed; NULL: there is none. */
const char *codemap_find(struct codemap *map, uint64_t addr);
/* The same, and the part of it around the address that no other code has replaced. */
const char *codemap_extent(struct codemap *map, uint64_t addr, uint64_t *start, uint64_t *end);
/*
 * The last round in which the code at the address replaced code of another name; 0: none or not
 * known.
 */
uint64_t codemap_rewritten(struct codemap *map, uint64_t addr);
/* The last round in which that, or codemap_clear, happened to any code. */
uint64_t codemap_last_rewritten(const struct codemap *map);
/* codemap_clear has been called. */
bool codemap_was_cleared(const struct codemap *map);

size_t codemap_bytes(const struct codemap *map);

#endif
