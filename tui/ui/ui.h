/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_UI_H
#define STACKTOP_TUI_UI_UI_H

/*
 * The state of the screen: what was chosen, and what is shown; and what views and their helpers use
 * of it. tui/app/dispatch.h makes and frees it and leads from a key to the grid.
 */

#include <stdbool.h>
#include <stdint.h>

#include "symbols/base/message.h"
#include "tui/ui/config.h"
#include "tui/profile/source.h"
#include "tui/screen/grid.h"
#include "tui/ui/header.h"
#include "tui/screen/keys.h"
#include "tui/screen/menu.h"
#include "tui/profile/profile.h"
#include "tui/screen/prompt.h"
#include "tui/query/query.h"
#include "tui/ui/search.h"
#include "tui/ui/scrub.h"
#include "tui/ui/chosen.h"

struct baseline;
struct list;
struct overlay_ops;
struct palette;
struct push;
struct push_options;
struct pushing;
struct recording;
struct selection;
struct typing;
struct view_ops;

/* What must happen next, as key handlers return it. */
enum ui_flags {
	UI_REDRAW = 1,	/* the grid is out of date */
	UI_RESORT = 2,	/* the rows are, but not the data they are made of */
	UI_RELOAD = 4,	/* ask the profile again */
	UI_REPAINT = 8, /* the terminal may show rubbish: write every cell */
	UI_QUIT = 16,
	UI_PICTURE = 32, /* keep the screen in ui->picture */
	UI_WRITE = 64,	 /* write the samples to ui->output */
	UI_THEME = 128,	 /* use the theme ui->config.theme */
	UI_SAVE = 256,	 /* keep ui->config */
	UI_COPY = 512,	 /* give ui->copied to the terminal's clipboard */
};

struct zoom {
	bool on;
	pid_t pid; /* (pid, image) is the process */
	uint64_t image;
	char name[64];
	uint32_t tid; /* only this thread of it; 0: all */
	char thread[40];
	bool in_module; /* only samples with a frame of the module, of any process */
	char module[256];
};

/* What lies over a view until it is closed; see view.h. */
struct overlay {
	const struct overlay_ops *ops; /* NULL: nothing */
	void *state;		       /* its own */
};

/* What was attached last, until Procs has put its cursor there; see attach.h. */
struct attaching {
	char word[PROMPT_TEXT]; /* "": nothing, or a key was pressed since */
	uint64_t serial;	/* differs for each */
	uint64_t until;
};

enum grouping {
	GROUP_NONE,
	GROUP_PROGRAM,
	GROUP_CGROUP,
	GROUP_USER,
	GROUP_TREE, /* processes below their parents, with sums */
	GROUP_CPU,
	GROUPINGS
};

struct ui {
	struct profile *profile;
	struct source *source;		     /* NULL: commands go nowhere */
	const struct view_ops *const *views; /* by enum ui_view */

	/* What is shown. */
	enum ui_view view;
	void *state[VIEW_COUNT]; /* of each view, its own */
	struct overlay overlay;	 /* over the rows of the view: a function's code, its callers */
	struct overlay beneath;	 /* what it was opened from, and goes back to */
	struct overlay page;	 /* over the whole screen: help, setup */
	struct header header;
	bool frozen; /* scrub has what is shown */
	struct scrub scrub;
	struct baseline *baseline; /* that is being read; NULL: none. Owned */
	bool recording;		   /* slices are recorded, by --record or :record; see record.h */
	struct recording *record;  /* of :record; NULL: none. Owned, as is kept */
	struct recording *kept;	   /* of `w NAME.session`; NULL: none */
	struct push *push;	   /* of --push; NULL: none. Not owned */
	struct pushing *pushing;   /* of :push; NULL: none. Owned */
	const struct push_options *push_options; /* of the command line, for :push */
	uint64_t annotations;			 /* serial number of the last */

	/* What was chosen: which samples, of which time, and how they are shown. */
	struct zoom zoom;
	struct selection *selection; /* tags and filter. Owned */
	struct search search;
	struct chosen chosen;	    /* function */
	struct pattern_watch watch; /* of search and filter: all that is matched at once */
	enum span span;
	bool hide_kernel, hide_user, hide_inline, hide_modules;
	enum frames_mode frames; /* of stacks of interpreted languages */
	enum measure measure;	 /* what is counted: samples, waits, or both */
	bool follow;		 /* the row of the cursor, through exec, too */
	enum grouping grouping;	 /* of processes, in Procs */
	bool by_file;		 /* rows of Funcs stand for source files and objects */
	bool threads;		 /* apart from each other */
	bool by_cpu;		 /* samples are to be counted per CPU; see bycpu.h */
	bool of_parent;		 /* shares in the trees */
	uint32_t levels;	 /* down to which D opens the tree */
	double limit;		 /* of all samples: nodes below are summed up in one row */
	double interval;	 /* seconds between refreshes */
	char window_name[24], decay_name[24]; /* "10 s", "decay 5 s"; see profile_set_window */
	struct config config;
	bool ascii;
	bool utf8;     /* the locale is; else ascii stays */
	bool no_mouse; /* the terminal has it */
	bool no_color; /* as far as is known */

	/* Questions, and answers that the owner uses. */
	struct prompt prompt;
	struct palette *palette; /* the list over a command that is being typed. Owned */
	struct typing *typing;	 /* a search or filter that is being typed. Owned */
	struct prompt_history recall;
	struct attaching attaching;
	struct menu menu;
	char output[PROMPT_TEXT];  /* the last file name for samples */
	char picture[PROMPT_TEXT]; /* the last file name for a picture */
	char copied[4096];	   /* what UI_COPY copies */

	char awaited[256]; /* before the first slice; see board_awaited */

	/* Feedback, below the view. */
	char notice[1400]; /* answer to the last key, "" none */
	bool notice_name;  /* it is a long name: it takes as many rows as that needs */
	uint64_t notice_until;
	bool notice_waits;	/* for the source's answer, which replaces the notice */
	uint64_t notice_serial; /* of the board's last message before the command */
	char message[256];	/* of the profile, copied by ui_refresh */
	enum message_level message_level;

	/* Set by the owner, so that tests can set them, too. */
	uint64_t now; /* CLOCK_MONOTONIC ns */
	char clock[16];
	char host[65];
	uint64_t draw_ns; /* of the last frame; 0: not measured */
};

/* Shows a line for some seconds. */
void ui_notice(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of a command that the caller posts after this. The next message of the board that is no
 * mere warning answers it and takes its place. */
void ui_notice_command(struct ui *ui, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Removes a notice that was answered since. */
void ui_notice_answered(struct ui *ui);
/* source_post, if there is a source; arg is copied. */
void ui_post(struct ui *ui, enum source_command command, const char *arg);
/* The profile that is shown. */
struct profile *ui_profile(const struct ui *ui);
/* The query of what is chosen, good until the next one; false: the process that was zoomed into is
 * gone, or there is no memory to choose with. */
bool ui_query(const struct ui *ui, const struct profile *p, struct query *q);
unsigned int ui_go(struct ui *ui, enum ui_view view);
/* Close what is open there, if anything is. */
void ui_close_overlay(struct ui *ui);
/* Closes it, and goes back to what it was opened from, if that is another one. */
unsigned int ui_overlay_back(struct ui *ui);
void ui_close_page(struct ui *ui);
/* The view, or the overlay over its rows, has asked for something that has not come yet. */
bool ui_waits(const struct ui *ui);
/* From now on views that can be zoomed are about this process. */
void ui_zoom(struct ui *ui, const struct profile_proc *proc);
/* Narrows it to this module. */
unsigned int ui_zoom_module(struct ui *ui, const char *module);
/* One level out; from the last one to Procs. */
unsigned int ui_zoom_out(struct ui *ui);
/* With follow: the process that is zoomed into is still the one after an exec. */
void ui_zoom_follow(struct ui *ui, const struct profile *p);
/* Makes the query one that keeps threads apart. */
void ui_query_threads(const struct ui *ui, struct query *q);
/* False, with a notice: what is shown has no threads. */
bool ui_knows_threads(struct ui *ui);
/* What views that can be zoomed are about: "all processes", "4121 nginx", "2 tagged: 17, 18". */
void ui_zoom_name(const struct ui *ui, char *to, size_t size);
/* Whether that is something else than what a view remembers in about, which is brought up to date.
 */
bool ui_zoom_changed(const struct ui *ui, char *about, size_t size);
/* The breadcrumbs of a view that can be zoomed, and the hottest line of the function (NULL: of
 * none), in front of that column. */
void ui_draw_zoom(const struct ui *ui, struct grid *g, int row, int end,
		  const struct profile_func *func);
/* "412 samples", "12.3k faults", "1.23 s". */
void ui_amount(const struct ui *ui, uint64_t samples, char *to, size_t size);
/* The same of what shares are of: "only 7 samples". */
void ui_samples(const struct ui *ui, uint64_t samples, char *to, size_t size);
/* The same in a column: "412", "12.3k", "1.23 s"; and its title, "SAMPLES", "EVENTS" or "TIME". */
void ui_count(const struct ui *ui, uint64_t samples, char *to, size_t size);
const char *ui_count_title(const struct ui *ui);
/* That, and which rows of the list are shown (NULL: of none), at the right end of a row. Returns
 * the column before which the rest of the row has to end. */
int ui_draw_samples(const struct ui *ui, struct grid *g, int row, uint64_t samples,
		    const struct list *list);
/* Which samples count now: of a frozen view, those of its moment. */
enum span ui_span(const struct ui *ui);
/* "10 s" or "all": the span that is shown. */
const char *ui_weighed(const struct ui *ui);
/* What the keys mean now: those of a view, or of what lies over it. */
enum ui_view ui_keys(const struct ui *ui);
/* Colour for a share of 0..1. */
enum role ui_heat(double share);
/* That role for a share of so many samples; few say little, and are grey. */
enum role ui_share_role(uint64_t samples, enum role role);

#endif
