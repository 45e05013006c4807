/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_PLAYER_H
#define STACKTOP_TUI_SESSION_PLAYER_H

/*
 * Feeds a profile from a session instead of from the kernel, at a chosen pace, in a thread of its
 * own. The profile has the position in the session (profile_replay).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source;
struct profile;

/* A time in a recording as users write it: seconds from its start, or a time of day. */
struct replay_time {
	bool given;
	bool of_day;
	double seconds; /* since the start of the recording, or since midnight, local time */
};

/* "90", "1.5", "14:03", "14:03:20.5"; false: none of these. */
bool replay_time_parse(const char *text, struct replay_time *out);
/*
 * ns from the start of a recording that began at start (CLOCK_REALTIME ns). A time of day is on the
 * day of the start or, if that is more than twelve hours before the start, on the day after;
 * otherwise a time before the start is the start.
 */
uint64_t replay_time_offset(const struct replay_time *moment, uint64_t start);

struct player_options {
	const char *path;
	struct replay_time from, to;
	unsigned int iterations; /* slices until the end; 0: all */
	double speed;
	bool batch;	 /* each slice waits for a SOURCE_NEXT */
	bool aside;	 /* a screen must not wait for the file */
	bool screenshot; /* plays to the end at once and goes on after it */
};

/*
 * Opens the session and starts to play. Nothing is owned: the options must outlive the source.
 * source_free ends it. error says what is wrong.
 */
int player_new(struct profile *p, const struct player_options *options, struct source **out,
	       char *error, size_t size);

#endif
