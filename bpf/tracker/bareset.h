/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_BARESET_H
#define STACKTOP_BPF_TRACKER_BARESET_H

/*
 * The places of one process at which walks met code without CFI (struct bare_place), and what they
 * have in common: many compilers at run time run all of their code in one frame, which a function
 * in C has made. Then the return address to that is at the same distance from SP everywhere.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/tracker/codereader.h"

struct bare_place;

struct bareset {
	uint32_t readings; /* of the code, whose rows are in use or are about to be */
	struct bare_seen {
		uint64_t place;	 /* as bare_place.pc, without BARE_STALE; 0: free */
		uint64_t words;	 /* as bare_place has them, with the nearest word ... */
		uint64_t ra;	 /* as bare_place has it */
		uint32_t times;	 /* ... that it had so often, ... */
		uint32_t others; /* and another one so often */
		uint16_t fresh;	 /* bareset_add was true, and it was not written since */
		uint16_t stale;	 /* readings of the code that gave a wrong row, ... */
		uint32_t read;	 /* ... the last of which was this one */
	} seen[CODE_BARE_MAX];	 /* by a hash; of one hash the oldest goes */
};

/* True: the place is new, or surely has what it had before, so that the code is to be read. */
bool bareset_add(struct bareset *set, const struct bare_place *place);
/*
 * Writes all places, at most CODE_BARE_MAX, with BARE_STALE where rows have been wrong again and
 * again, though the code was read anew, and not long ago; their number.
 */
uint32_t bareset_places(struct bareset *set, uint64_t *to);
/* Those of them for which bareset_add was true since the last time that either was called. */
uint32_t bareset_fresh(struct bareset *set, uint64_t *to);
/* Finds code in one frame; at most CODE_CONSTANTS_MAX pieces, ascending. Their number. */
uint32_t bareset_constants(struct bareset *set, struct code_constant *to);

#endif
