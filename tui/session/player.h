/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_PLAYER_H
#define STACKTOP_TUI_SESSION_PLAYER_H

/*
 * Feeds a profile from a session instead of from the kernel, at a chosen pace, in a thread of its
 * own. The profile has the position in the session (profile_replay).
 */

#include <stdbool.h>
#include <stddef.h>

#include "tui/session/replay_time.h"

struct source;
struct profile;

struct player_options {
	const char *path;
	struct replay_time from, to;
	unsigned int iterations; /* slices until the end; 0: all */
	double speed;
	bool batch;	 /* each slice waits for a SOURCE_NEXT */
	bool screenshot; /* plays to the end at once and goes on after it */
};

/*
 * Opens the session and starts to play. Nothing is owned: the options must outlive the source.
 * source_free ends it. error says what is wrong.
 */
int player_new(struct profile *p, const struct player_options *options, struct source **out,
	       char *error, size_t size);

#endif
