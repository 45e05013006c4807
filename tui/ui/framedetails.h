/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_FRAMEDETAILS_H
#define STACKTOP_TUI_UI_FRAMEDETAILS_H

/* The row below a view that says what is under the cursor, where the view has no room for it. */

#include <stdbool.h>

struct grid;
struct profile_func;

struct framedetails {
	const struct profile_func *func;
	double self, total; /* percent; < 0: not said */
	bool source;	    /* with the hottest line: nothing else on the screen has it */
};

/* " render  self 18.3%  total 79.7%  node  hot.js:12": the name gets the room that is left. */
void framedetails_draw(const struct framedetails *d, struct grid *g, int row);

#endif
