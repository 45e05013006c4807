/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_REPLAY_TIME_H
#define STACKTOP_TUI_SESSION_REPLAY_TIME_H

/* A time in a recording as users write it: seconds from its start, or a time of day. */

#include <stdbool.h>
#include <stdint.h>

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

#endif
