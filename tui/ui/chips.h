/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_CHIPS_H
#define STACKTOP_TUI_UI_CHIPS_H

/*
 * Chips: whatever changes what the numbers mean, in one place and in every view, for as long as it
 * holds. "[-kernel]" counts in the view that is shown; "(zoom 4121 nginx)" is chosen, but changes
 * nothing there. A click or a key takes a chip back.
 */

#include <stdbool.h>
#include <stddef.h>

struct grid;
struct ui;

/* In the order of the screen. */
enum chip_kind {
	CHIP_MEASURE,
	CHIP_KERNEL,
	CHIP_USER,
	CHIP_INLINE,
	CHIP_FRAMES,
	CHIP_ATTACHED,
	CHIP_ZOOM,
	CHIP_THREAD,
	CHIP_MODULE,
	CHIP_FILTER,
	CHIP_TAGGED,
	CHIP_THREADS,
	CHIP_FILES,
	CHIP_SPAN,
	CHIP_DIFF,
	CHIP_CUT, /* of a replay */
	CHIP_RECORDING,
	CHIP_PUSH,
	CHIP_FROZEN,
	CHIP_COUNT
};

struct chip {
	enum chip_kind kind;
	bool idle;	/* changes nothing in the view that is shown */
	char text[320]; /* without its brackets */
};

/* The chips that hold; returns how many. */
size_t chips_list(const struct ui *ui, struct chip chips[CHIP_COUNT]);
/* Cells that they take in a row, a blank before each, with texts cut to `most` cells. */
int chips_width(const struct grid *g, const struct chip *chips, size_t n, int most);
/*
 * Draws them from column col on, in at most `room` cells, and notes their zones. Long texts are
 * shortened; if that is not enough, the first ones become "[+3]". Returns the column behind.
 */
int chips_draw(struct grid *g, int row, int col, int room, const struct chip *chips, size_t n);
/* "[-kernel] (tagged 2)", for a line of words; "": none. */
void chips_words(const struct ui *ui, char *to, size_t size);

/* Ends what the chip is for, and says how to have it again. Returns enum ui_flags. */
unsigned int chips_take_back(struct ui *ui, enum chip_kind kind);
/* The last one that can be taken back: pressed again and again, the key ends them all. */
unsigned int chips_take_last(struct ui *ui);

#endif
