/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_SETTINGS_PROCESS_H
#define STACKTOP_TUI_UI_SETTINGS_PROCESS_H

/*
 * The process that reads and writes the settings and themes of the settings thread. A thread that
 * waits for a file system which never answers may be impossible to kill, and then stacktop would
 * not end.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "tui/profile/board.h"
#include "tui/ui/config.h"
#include "tui/ui/themes.h"

enum settings_order {
	SETTINGS_OPEN,	/* the settings and their theme, or the one that is named */
	SETTINGS_THEME, /* the named theme */
	SETTINGS_STAMP, /* has its file changed? */
	SETTINGS_SAVE,
};

struct settings_request {
	enum settings_order order;
	char theme[CONFIG_THEME_MAX]; /* "": of an OPEN, that of the settings */
	struct config config;	      /* of a SAVE */
};

#define SETTINGS_SAID_MAX 12

struct settings_reply {
	struct config config;
	char theme[CONFIG_THEME_MAX]; /* that was read */
	struct themes_stamp stamp;
	int err;     /* of the theme, or of a SAVE */
	int unknown; /* the settings could not be read: -errno */
	int nsaid;
	struct board_message said[SETTINGS_SAID_MAX];
	size_t theme_size; /* bytes of the theme, which follow */
};

struct settings_process {
	pid_t pid;
	int socket;
	bool busy; /* it has not replied yet */
};

/* Forks it. -errno. */
int settings_process_new(struct settings_process *p);
/* Ends it; what it does in that moment is not waited for. */
void settings_process_free(struct settings_process *p);
int settings_process_send(struct settings_process *p, const struct settings_request *request);
/* When the socket is readable. *theme: the caller's own; NULL: there is none. -errno. */
int settings_process_receive(struct settings_process *p, struct settings_reply *reply,
			     struct theme **theme);

#endif
