/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_TYPIST_H
#define STACKTOP_TESTS_SUPPORT_TYPIST_H

/*
 * Types keys at the screen of a made-up machine and looks at it as text. Whole screens are compared
 * with files of expected/VIEW/; STACKTOP_EXPECTED=write makes them anew, to be read before they are
 * kept. The last command that the screen posted to its source is in posted and posted_arg.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/machine.h"
#include "tui/profile/source.h"

struct typist {
	struct machine feed;
	struct ui *ui;
	struct grid *g;
	char *text;
	struct source source; /* notes what is posted */
};

extern enum source_command posted;
extern char posted_arg[64];
extern int nposted;

struct typist *typist_new(void);

/* Whose screen shows what these seconds brought. */
struct typist *typist_after(int seconds);

void typist_free(struct typist *t);

int typist_teardown(void **state);

/* Keys are characters; `\n` is Enter, `\b` Backspace, `!` Del. */
void type(struct typist *t, const char *keys);

const char *screen(struct typist *t);

/* The first line that shows the text, or "". */
const char *screen_line(struct typist *t, const char *text);

/* The first line that shows the one text shows the other. */
void assert_beside(struct typist *t, const char *of, const char *want);

void assert_shows(struct typist *t, const char *want);

void assert_hides(struct typist *t, const char *unwanted);

/* Rows and columns of the screens that tests compare. */
#define SIZES 4
extern const int screen_sizes[SIZES][2];

/* Resizes the screen to screen_sizes[i]. Returns false past the last one. */
bool typist_resize(struct typist *t, size_t i);

/* The text of the last line that has the cursor's mark in its first cell. */
void assert_mark_on(struct typist *t, const char *want);

void compare(struct typist *t, const char *name);

/* Every cell is a printable one at a thousand sizes, of all heights below 40 and widths below 170.
 */
void assert_no_size_breaks(struct typist *t);

/* The process that the cursor is on first, 4121, exits. */
void typist_exits(struct typist *t);

#endif
