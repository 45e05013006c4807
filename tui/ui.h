/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_H
#define STACKTOP_TUI_UI_H

/*
 * What the person at the screen has chosen, and the screen as a grid: everything but the
 * terminal. Its owner calls ui_refresh when the profile changed, ui_key for each key, and ui_draw
 * when one of them asks for it.
 */

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "tui/grid.h"
#include "tui/header.h"
#include "tui/keys.h"
#include "tui/menu.h"
#include "tui/profile.h"
#include "tui/prompt.h"
#include "tui/query.h"

struct engine;
struct options;

/* What must happen next, as key handlers return it. */
enum ui_flags {
	UI_REDRAW = 1,	/* the grid is out of date */
	UI_RESORT = 2,	/* the rows are, but not the data they are made of */
	UI_RELOAD = 4,	/* ask the profile again */
	UI_REPAINT = 8, /* the terminal may show rubbish: write every cell */
	UI_QUIT = 16,
};

struct zoom {
	bool on;
	pid_t pid; /* (pid, image) is the process */
	uint64_t image;
	char name[64];
};

struct search {
	bool set;
	char pattern[PROMPT_TEXT];
	regex_t regex; /* valid when set */
};

struct ui {
	struct profile *profile;
	struct profile *frozen; /* copy that is shown instead; NULL: live. Owned */
	struct engine *engine;	/* NULL: commands go nowhere */
	enum ui_view view;
	void *state[VIEW_COUNT]; /* of each view, its own */

	enum weigh weigh;
	bool hide_kernel, hide_user, hide_modules;
	bool ascii;
	bool utf8;	 /* the locale is; else ascii stays */
	double interval; /* seconds between refreshes */

	struct zoom zoom;
	struct search search;
	struct prompt prompt;
	struct menu menu;
	bool help;
	int help_top;

	struct header header;
	char notice[256]; /* answer to the last key, "" none */
	uint64_t notice_until;
	char message[256]; /* of the profile, copied by ui_refresh */
	enum message_level message_level;

	/* Set by the owner, so that tests can set them, too. */
	uint64_t now; /* CLOCK_MONOTONIC ns */
	char clock[16];
	char host[65];
	uint64_t draw_ns; /* of the last frame; 0: not measured */
};

/* NULL: no memory. profile, engine and options outlive it. */
struct ui *ui_new(struct profile *profile, struct engine *engine, const struct options *options);
void ui_free(struct ui *ui);

/* The profile has news: asks it, under its lock, for what the current view shows, unless that is
 * frozen. -ENOMEM. */
int ui_refresh(struct ui *ui);
/* Does what the key means; returns enum ui_flags that were not yet seen to: UI_REDRAW,
 * UI_REPAINT, UI_QUIT. */
unsigned int ui_key(struct ui *ui, int key);
void ui_draw(struct ui *ui, struct grid *g);

/* --- for views ----------------------------------------------------------------------------- */

/* A line for the person, shown for some seconds. */
void ui_notice(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The profile that is shown: the live one or the frozen copy. */
struct profile *ui_profile(const struct ui *ui);
/* The query of what is chosen; false: the process that was zoomed into is gone. */
bool ui_query(const struct ui *ui, const struct profile *p, struct query *q);
/* Id of process (pid, image), QUERY_ALL when it is not there. */
uint32_t ui_find_proc(const struct profile *p, pid_t pid, uint64_t image);
/* True when a search is on and the text matches. */
bool ui_matches(const struct ui *ui, const char *text);
unsigned int ui_go(struct ui *ui, enum ui_view view);
/* The breadcrumbs of a view that can be zoomed. */
void ui_draw_zoom(const struct ui *ui, struct grid *g, int row);
/* How samples are weighed in ui_profile: a frozen copy holds nothing else than what was weighed. */
enum weigh ui_weigh(const struct ui *ui);
/* "10 s" or "all": what is weighed. */
const char *ui_weighed(const struct ui *ui);
/* Colour for a share of 0..1. */
enum role ui_heat(double share);

#endif
