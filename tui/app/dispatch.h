/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_DISPATCH_H
#define STACKTOP_TUI_APP_DISPATCH_H

/*
 * The life of a struct ui, and what its owner does with it: ui_refresh when the profile has
 * changed, ui_key for each key, and ui_draw when one of them asks for it.
 */

#include <stdbool.h>

#include "tui/ui/ui.h"

struct mouse;

/* The command line's part for the screen. */
struct ui_options {
	double delay;	  /* seconds between refreshes */
	bool delay_given; /* the settings do not change it */
	bool by_cpu;
	bool no_kernel, no_user, no_inline;
	enum frames_mode frames;
	bool frames_given;			 /* likewise */
	struct push *push;			 /* NULL: none; outlives the screen */
	const struct push_options *push_options; /* for :push; likewise */
	const char *baseline;			 /* a session to compare with; NULL: none */
	bool baseline_first;			 /* ui_new waits until it is read */
	const char *theme;			 /* NULL: that of the settings */
	enum measure measure;
	bool ascii, no_color, no_mouse;
	bool ends; /* after -n, with the command, with the session: also without an end of input */
};

/* NULL: no memory. profile and source outlive it. */
struct ui *ui_new(struct profile *profile, struct source *source, const struct ui_options *options);
void ui_free(struct ui *ui);

/* Sets the time of now and the clock of the header, which stands still on a frozen screen. */
void ui_set_time(struct ui *ui);
/* Loads what the current view shows from the profile, unless the view is frozen. -ENOMEM. */
int ui_refresh(struct ui *ui);
/* The timeline is not complete: ui_go_on continues with it, when there is no key to do first. */
bool ui_goes_on(const struct ui *ui);
void ui_go_on(struct ui *ui);
/* Does what the key means; returns the enum ui_flags that are left to the caller: UI_REDRAW,
 * UI_REPAINT, UI_QUIT, UI_PICTURE, UI_WRITE, UI_THEME, UI_SAVE, UI_COPY. */
unsigned int ui_key(struct ui *ui, int key);
/* The same for the mouse; g is what ui_draw drew last. */
unsigned int ui_mouse(struct ui *ui, const struct grid *g, const struct mouse *mouse);
void ui_draw(struct ui *ui, struct grid *g);

#endif
