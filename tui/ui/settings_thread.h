/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_SETTINGS_THREAD_H
#define STACKTOP_TUI_UI_SETTINGS_THREAD_H

/*
 * A thread for the files of the screen, which must not be waited for: it reads themes, looks once a
 * second whether the one in use was saved, and writes the settings.
 */

struct config;
struct settings_thread;
struct profile;
struct theme;

/* name: the theme in use. Results are messages of the profile. NULL: no memory. */
struct settings_thread *settings_thread_new(struct profile *p, const char *name);
/* Finishes what was posted. NULL is fine. */
void settings_thread_free(struct settings_thread *k);
/* From now on this is the theme in use: read it. */
void settings_thread_use_theme(struct settings_thread *k, const char *name);
/* Write the settings, a copy of which is taken. */
void settings_thread_save(struct settings_thread *k, const struct config *config);
/* Readable when there is a theme to be taken. */
int settings_thread_fd(const struct settings_thread *k);
/* The theme that was read last, NULL: none since the last call. The caller frees it. */
struct theme *settings_thread_take_theme(struct settings_thread *k);

#endif
