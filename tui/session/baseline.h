/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_BASELINE_H
#define STACKTOP_TUI_SESSION_BASELINE_H

/*
 * A session as what is compared with (FROZEN_BASELINE), read by a thread of its own: the screen
 * waits for no file.
 */

#include <stdbool.h>

struct baseline;
struct profile;

/* Begins to read; the profile outlives it. The path is copied. What goes wrong later is a message
 * of the profile. -ENOMEM, or what pthread_create says. */
int baseline_start(struct baseline **out, struct profile *p, const char *path);
/* Whether it has ended; *loaded: and the profile has it. Never blocks. */
bool baseline_done(struct baseline *b, bool *loaded);
/* The file's name, clean. */
const char *baseline_name(const struct baseline *b);
/* Waits for the end of the reading. */
void baseline_wait(struct baseline *b);
/* Stops it. NULL is fine. */
void baseline_free(struct baseline *b);

#endif
