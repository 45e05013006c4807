/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_CODEMAP_H
#define STACKTOP_SYMBOLS_NAMES_CODEMAP_H

/*
 * Names of code that a process makes while it runs, by run time address. What is told later wins
 * where it overlaps what was told before; what it leaves of an older piece keeps its name. A sample
 * from about then may be of either, so each piece knows when it took the place of other code.
 * Everything comes from the process, which may tell anything: memory is bounded, and what does not
 * fit has no name, nor has what it was told over.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct codemap;

#define CODEMAP_NO_INDEX UINT64_MAX

/* max_bytes: of memory, about. NULL: no memory. */
struct codemap *codemap_new(size_t max_bytes);
void codemap_free(struct codemap *map);
/* Forgets all: what comes in this round and the next may have taken the place of what was there. */
void codemap_clear(struct codemap *map);

/* What is told from now on is told in this round: a number that only grows, or 0 for what was told
 * before anything was sampled. It is 0 at first. */
void codemap_set_round(struct codemap *map, uint64_t round);

/*
 * Code at [start, start + size); nothing happens when that is empty or beyond the address space.
 * The name (length bytes, not terminated) is copied, made clean and cut at CODEMAP_NAME_MAX. index:
 * by which codemap_move finds it again, or CODEMAP_NO_INDEX. -ENOMEM, -ENOSPC.
 */
#define CODEMAP_NAME_MAX 1023u
int codemap_add(struct codemap *map, uint64_t index, uint64_t start, uint64_t size,
		const char *name, size_t length);
/* The code last added as index is now at start, too. -ENOENT: there is none; -ENOMEM, -ENOSPC. */
int codemap_move(struct codemap *map, uint64_t index, uint64_t start, uint64_t size);

/* Name of what covers the address, valid until the map is changed; NULL: nothing does. */
const char *codemap_find(struct codemap *map, uint64_t addr);
/* The last round in which code of another name was told where what covers the address is; 0: none
 * or not known. */
uint64_t codemap_rewritten(struct codemap *map, uint64_t addr);
/* The last round in which that, or codemap_clear, happened to any code. */
uint64_t codemap_last_rewritten(const struct codemap *map);

size_t codemap_bytes(const struct codemap *map);
/* Something was left out for want of room. */
bool codemap_is_full(const struct codemap *map);

#endif
