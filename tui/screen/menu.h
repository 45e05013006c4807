/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_MENU_H
#define STACKTOP_TUI_SCREEN_MENU_H

/* A short list in a frame over the view, to choose one of. */

#include <stdbool.h>

#include "tui/screen/grid.h"

#define MENU_MAX 24

struct menu {
	const char *title; /* NULL: closed; static text */
	int purpose;	   /* the opener's */
	struct menu_item {
		const char *text; /* static */
		int value;
		const char *note; /* static; NULL: none */
		const char *why;  /* it cannot be chosen: the reason, static; NULL: it can */
	} items[MENU_MAX];
	int count;
	int cursor;
};

enum menu_result { MENU_GOES_ON, MENU_DONE, MENU_CANCELLED };

void menu_open(struct menu *m, int purpose, const char *title);
/* More than MENU_MAX items are left out. */
void menu_add(struct menu *m, const char *text, int value, bool current);
/* The same with words behind it, dim as a whole where `why` says why it cannot be chosen. */
void menu_add_told(struct menu *m, const char *text, int value, bool current, const char *note,
		   const char *why);
void menu_close(struct menu *m);
/* MENU_DONE: items[cursor].value was chosen. */
enum menu_result menu_key(struct menu *m, int key);
void menu_draw(const struct menu *m, struct grid *g, int top);

#endif
