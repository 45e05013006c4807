/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_TERMINAL_H
#define STACKTOP_TUI_SCREEN_TERMINAL_H

/*
 * The terminal: the only file that knows curses. It shows grids, reads keys, and gives the
 * terminal back as it was, whichever way the program ends. There can be one at a time.
 */

#include <stdbool.h>
#include <stddef.h>

#include "tui/screen/grid.h"
#include "tui/screen/theme.h"

struct mouse;
struct terminal;

/*
 * Takes over stdin and stdout. The caller has set LC_CTYPE before it made threads. On failure *out
 * is NULL and why has the message, with what can be done. -ENOTTY, -ENOTSUP, -ENOMEM.
 */
int terminal_open(struct terminal **out, bool no_color, char *why, size_t size);
void terminal_close(struct terminal *t);

/* Writes the cells that differ from the last grid. */
void terminal_show(struct terminal *t, const struct grid *g, const struct theme *theme);
/* The next terminal_show writes every cell. */
void terminal_repaint(struct terminal *t);
/* Next key that was typed (tui/screen/keys.h); KEYCODE_NONE: there is none. Never blocks. */
int terminal_key(struct terminal *t);
/* What the mouse did when terminal_key last gave KEYCODE_MOUSE. */
void terminal_mouse(const struct terminal *t, struct mouse *out);
/* Listens to the mouse, if the terminal's description has one, or leaves it to the terminal. */
void terminal_mouse_on(struct terminal *t, bool on);
/* Text for the clipboard of the terminal; false: its description has none (Ms). */
bool terminal_copy(struct terminal *t, const char *text);
void terminal_size(const struct terminal *t, int *rows, int *cols);
/* Takes the size the terminal has now. */
void terminal_resize(struct terminal *t);
/* Gives the terminal back, stops the process, and takes it again when it goes on. */
void terminal_suspend(struct terminal *t);
/* The locale can show more than ASCII. */
bool terminal_utf8(const struct terminal *t);

#endif
