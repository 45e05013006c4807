/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_SETTINGS_THREAD_H
#define STACKTOP_TUI_UI_SETTINGS_THREAD_H

/*
 * A thread for the files of the screen, which must not be waited for: it reads settings and themes,
 * looks once a second whether the theme in use was saved, and writes the settings. A process of its
 * own touches the files (settings_process.h).
 */

#include <stdbool.h>

#include "tui/ui/settings_process.h"

struct settings_thread;
struct profile;
struct theme;

/* Begins to read the settings and the theme, NULL: that of the settings. Results are messages of
 * the profile. NULL: no memory, or no process. */
struct settings_thread *settings_thread_new(struct profile *p, const char *theme);
/* Finishes what was posted, unless that takes too long. NULL is fine. */
void settings_thread_free(struct settings_thread *k);
/*
 * Once: the settings, and the theme, which the caller frees; NULL: reply->err says why. Waits so
 * many milliseconds at most, 0: for as long as it takes. False: they have not come, or were taken
 * before.
 */
bool settings_thread_open(struct settings_thread *k, unsigned int ms, struct settings_reply *reply,
			  struct theme **theme);
/* From now on this is the theme in use: read it. */
void settings_thread_use_theme(struct settings_thread *k, const char *name);
/* Write the settings, a copy of which is taken. Not before they were read: what is in the file and
 * not known here would be lost. */
void settings_thread_save(struct settings_thread *k, const struct config *config);
/* Readable when there is a theme to be taken, or the settings have come. */
int settings_thread_fd(const struct settings_thread *k);
/* The theme that was read last, NULL: none since the last call. The caller frees it. */
struct theme *settings_thread_take_theme(struct settings_thread *k);

#endif
