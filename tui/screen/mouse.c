// SPDX-License-Identifier: GPL-2.0-or-later
/* See mouse.h. */
#include "tui/screen/mouse.h"

#include <string.h>

#define REPORT_MAX   24	  /* bytes */
#define POSITION_MAX 4095 /* no terminal is as large */

enum mouse_read mouse_read(struct mouse_reader *r, int ch, struct mouse *out)
{
	unsigned int button = r->number[0];

	if (++r->length > REPORT_MAX) {
		memset(r, 0, sizeof(*r));
		return MOUSE_NOTHING;
	}
	if (ch >= '0' && ch <= '9' && r->number[r->count] <= POSITION_MAX) {
		r->number[r->count] = r->number[r->count] * 10 + (unsigned int)(ch - '0');
		return MOUSE_GOES_ON;
	}
	if (ch == ';' && r->count < 2) {
		r->count++;
		return MOUSE_GOES_ON;
	}
	*out = (struct mouse){.row = (int)r->number[2] - 1, .col = (int)r->number[1] - 1};
	button &= ~28U; /* shift, meta, control */
	out->kind = button == 64   ? MOUSE_WHEEL_UP
		    : button == 65 ? MOUSE_WHEEL_DOWN
		    : button == 32 ? MOUSE_DRAG
				   : MOUSE_CLICK;
	if (r->count != 2 || ch != 'M' ||
	    (button != 0 && button != 32 && button != 64 && button != 65) || out->row < 0 ||
	    out->col < 0 || out->row > POSITION_MAX || out->col > POSITION_MAX)
		button = ~0U;
	memset(r, 0, sizeof(*r));
	return button == ~0U ? MOUSE_NOTHING : MOUSE_DONE;
}
