/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_MOUSE_H
#define STACKTOP_TUI_SCREEN_MOUSE_H

/* Reports of the mouse. */

#include <stdbool.h>

/* MOUSE_DRAG: it is in another cell, with the button of the last click still down. */
enum mouse_kind { MOUSE_CLICK, MOUSE_DRAG, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };

struct mouse {
	enum mouse_kind kind;
	int row, col; /* from 0 */
	bool twice;   /* the second click of two */
};

/*
 * Reads reports of the form "ESC [ < button ; column ; row M or m" (xterm's ctlseqs, "SGR mouse
 * mode") from behind the "<" on. All zero: nothing was read.
 */
struct mouse_reader {
	bool reading;
	unsigned int number[3], count, length;
};

enum mouse_read {
	MOUSE_GOES_ON,
	MOUSE_DONE,    /* *out is filled; `twice` is not */
	MOUSE_NOTHING, /* the report is over, and was none of these or nonsense */
};

/* Takes the next character, at most 24 of them. */
enum mouse_read mouse_read(struct mouse_reader *r, int ch, struct mouse *out);

#endif
