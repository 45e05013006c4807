/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_CODEROWS_H
#define STACKTOP_TUI_VIEWS_CODEROWS_H

/*
 * A listing as rows of a screen: instructions, before them the source line that they begin, and in
 * lanes beside them the jumps within the function.
 */

#include <stdint.h>

#include "symbols/code/listing.h"

#define CODEROWS_LANES 8 /* more jumps side by side are not drawn */

struct coderow {
	uint32_t insn; /* of the listing; a line's: the one that follows */
	uint32_t line; /* of the listing; LISTING_NONE: the row is an instruction */
	/* A bit for each lane, of which 0 is nearest to the code. */
	uint8_t pass;	      /* goes through */
	uint8_t down, up;     /* ends here, and goes on down, up */
	uint8_t source, head; /* of them those that begin here, and those that end here */
};

struct coderows {
	struct coderow *row; /* to be freed */
	uint32_t count;
	uint32_t *of_insn; /* to be freed: row of each instruction */
};

/* Makes the rows again. -ENOMEM: there are none. */
int coderows_make(struct coderows *rows, const struct listing *listing);
void coderows_free(struct coderows *rows);

#endif
