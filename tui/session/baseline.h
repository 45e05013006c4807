/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_BASELINE_H
#define STACKTOP_TUI_SESSION_BASELINE_H

/*
 * A session as the baseline of comparisons (FROZEN_BASELINE), read by a thread of its own, so that
 * the screen waits for no file.
 */

#include <stdbool.h>

struct baseline;
struct profile;

/*
 * Begins to read; the profile must outlive it. The path is copied. Later errors become messages of
 * the profile. -ENOMEM, or what pthread_create says.
 */
int baseline_start(struct baseline **out, struct profile *p, const char *path);
/* True if it has ended; *loaded: the profile has the baseline. Never blocks. */
bool baseline_done(struct baseline *b, bool *loaded);
/* The file's name, clean. */
const char *baseline_name(const struct baseline *b);
/* Waits for the end of the reading. */
void baseline_wait(struct baseline *b);
/* Stops it. b may be NULL. */
void baseline_free(struct baseline *b);

#endif
