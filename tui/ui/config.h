/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_CONFIG_H
#define STACKTOP_TUI_UI_CONFIG_H

/*
 * Settings that are kept from run to run: $XDG_CONFIG_HOME/stacktop/config, ~/.config without it.
 *
 *     # a comment
 *     refresh = 2                        # seconds, 0.1 to 3600
 *     window = sliding                   # or total: how samples are weighed at the start
 *     seconds = 30                       # of the sliding window, 1 to 300
 *     theme = nord
 *     ascii = no
 *     mouse = yes
 *     units = cpu                        # CPU% of one CPU; machine: of all of them
 *     syntax = intel                     # or att: how machine code is written
 *     frames = merged                    # or all, language: of interpreted languages
 *     hide.procs = USER, UNWOUND         # columns by their titles; also of the other views
 *     order.procs = PID, CPU%            # these first; the rest as they are; also of Funcs
 *     key F5 = flip                      # actions by name; "none" takes the key away
 *
 * A '#' starts a comment at the start of a line or behind a blank. A line that is wrong is told
 * with its number, costs that line only, and is kept when the file is written. So is what is there
 * twice: of keys the first line counts, of other settings the last one.
 */

#include <stdbool.h>
#include <stddef.h>

#include "tui/query/query.h"
#include "tui/screen/keymap.h"
#include "tui/screen/viewlist.h"

#define CONFIG_FILE_MAX	 (64 * 1024)
#define CONFIG_HIDE_MAX	 200
#define CONFIG_THEME_MAX 33

enum config_units { UNITS_CPU, UNITS_MACHINE };

struct config {
	double refresh;		      /* seconds; 0: not set */
	char theme[CONFIG_THEME_MAX]; /* "" not set */
	bool total;		      /* window: all since zero */
	unsigned int seconds;	      /* of the sliding window; 0: not set */
	bool ascii;
	bool no_mouse;
	enum config_units units;
	bool att; /* syntax of machine code: AT&T's, not Intel's */
	enum frames_mode frames;
	char hide[VIEW_COUNT][CONFIG_HIDE_MAX]; /* titles of columns, ", " between; "" none */
	char order_procs[CONFIG_HIDE_MAX];	/* likewise, as they stand */
	char order_funcs[CONFIG_HIDE_MAX];
	struct keymap keys;
};

/* Called for each wrong line ("line 3: ..."), at most nine times; printable ASCII. */
typedef void (*config_warn_fn)(void *arg, const char *text);

/* The path of the file into to; false: neither $XDG_CONFIG_HOME nor $HOME is an absolute path. */
bool config_path(char *to, size_t size);
/* Fills *out from text, and with defaults what is not in it. */
void config_parse(struct config *out, const char *text, size_t length, config_warn_fn warn,
		  void *arg);
/*
 * Reads the file; none at all is as an empty one. Never waits: -EINVAL: it is no regular file,
 * -EFBIG, -EPERM: this is root and the file belongs to another user, -ENOMEM, or what open(2)
 * says. *out has defaults then.
 */
int config_read(struct config *out, const char *path, config_warn_fn warn, void *arg);
/*
 * The text of the file as it should be: lines of `text` that say something else than c does are
 * changed, what they lack is added where it is no default, all else stays. malloc'd, NUL-terminated
 * *out, or -ENOMEM.
 */
int config_edit(const struct config *c, const char *text, size_t length, char **out);
/*
 * Writes the file, as a whole or not at all; makes its directory. Lines that c does not know stay.
 * Errors as those of config_read, and those of mkdir(2), rename(2) and the like.
 */
int config_write(const struct config *c, const char *path);

/* True when the title is among the hidden ones of a view. */
bool config_hides(const struct config *c, enum ui_view view, const char *title);
/* The next title of a list with commas; *at moves behind it. 0: the end. */
size_t config_next_title(const char **at, const char **title);
/* Hides or shows a column. */
void config_hide(struct config *c, enum ui_view view, const char *title, bool hide);
/* "PATH: why", printable, for an error of config_read or config_write; -EPERM names the owner. */
void config_explain(const char *path, int err, char *to, size_t size);

struct column;
/* The bits of columns that are hidden in a view, as columns_fit wants them. NULL: none. */
unsigned int config_hidden(const struct config *c, enum ui_view view, const struct column *columns,
			   int count);
/* Columns of this view may be put in another order: the list of their titles; else NULL. */
const char *config_order(const struct config *c, enum ui_view view);
/* Gives the columns their places as the user put them. A column without a title stays first. */
void config_place(const struct config *c, enum ui_view view, struct column *columns, int count);
/* Moves the column to the left (-1) or right (+1). */
void config_move(struct config *c, enum ui_view view, const struct column *columns, int count,
		 int column, int step);

/*
 * One setting by its name as in the file, without '='. 0, -ENOENT: unknown, -EINVAL: the value is
 * not one of its; why says so then.
 */
int config_set(struct config *c, const char *name, const char *value, char *why, size_t size);
/* Names of settings, ended by NULL. */
const char *const *config_names(void);
/* The value of a setting as config_set takes it. */
void config_get(const struct config *c, const char *name, char *to, size_t size);

#endif
