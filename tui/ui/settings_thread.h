/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_SETTINGS_THREAD_H
#define STACKTOP_TUI_UI_SETTINGS_THREAD_H

/*
 * A thread for the files of the screen, which must not be waited for: it reads themes, looks once a
 * second whether the one in use was saved, and writes the settings.
 */

struct config;
struct keeper;
struct profile;
struct theme;

/* name: the theme in use. What happens is told as messages of the profile. NULL: no memory. */
struct keeper *keeper_new(struct profile *p, const char *name);
/* Finishes what was asked for. NULL is fine. */
void keeper_free(struct keeper *k);
/* From now on this is the theme in use: read it. */
void keeper_use_theme(struct keeper *k, const char *name);
/* Write the settings, a copy of which is taken. */
void keeper_save(struct keeper *k, const struct config *config);
/* Readable when there is a theme to be taken. */
int keeper_fd(const struct keeper *k);
/* The theme that was read last, NULL: none since the last call. The caller frees it. */
struct theme *keeper_take_theme(struct keeper *k);

#endif
