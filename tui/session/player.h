/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_PLAYER_H
#define STACKTOP_TUI_SESSION_PLAYER_H

/*
 * Feeds a profile from a session instead of from the kernel, at a pace that can be chosen, from a
 * thread of its own. Where in the session it is stands in the profile (profile_replay).
 */

#include <stddef.h>

struct source;
struct options;
struct profile;

/*
 * Opens options->replay and starts to play from options->from to options->to. Nothing is owned.
 * With options->batch each slice waits for a SOURCE_NEXT. source_free ends it. error says what is
 * wrong.
 */
int player_new(struct profile *p, const struct options *options, struct source **out, char *error,
	       size_t size);

#endif
