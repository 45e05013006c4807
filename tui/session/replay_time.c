// SPDX-License-Identifier: GPL-2.0-or-later
/* Not strtod: it takes "inf", "0x1p3", and in some locales a comma instead of the point. */
#include "tui/session/replay_time.h"

#include <ctype.h>
#include <time.h>

#define SECONDS_MAX 100000000.0 /* three years */
#define HOUR	    3600
#define DAY	    (24 * HOUR)

static bool digits(const char **text, double *value)
{
	const char *s = *text;

	for (*value = 0; isdigit((unsigned char)*s) && *value <= SECONDS_MAX; s++)
		*value = *value * 10 + (*s - '0');
	if (s == *text || isdigit((unsigned char)*s))
		return false;
	*text = s;
	return true;
}

bool replay_time_parse(const char *text, struct replay_time *out)
{
	double part, unit = 1;
	int colons = 0;

	*out = (struct replay_time){0};
	for (;; text++) {
		if (!digits(&text, &part))
			return false;
		out->seconds = out->seconds * 60 + part;
		if (*text != ':')
			break;
		/* Minutes and seconds; the first number of all may be anything. */
		if (++colons > 2)
			return false;
	}
	if (*text == '.' && colons != 1) {
		if (!isdigit((unsigned char)*++text))
			return false;
		for (; isdigit((unsigned char)*text); text++)
			out->seconds += (unit /= 10) * (*text - '0');
	}
	if (colons == 1)
		out->seconds *= 60;
	out->of_day = colons > 0;
	out->given = !*text && out->seconds <= (colons ? DAY : SECONDS_MAX);
	return out->given;
}

uint64_t replay_time_offset(const struct replay_time *moment, uint64_t start)
{
	time_t began = (time_t)(start / 1000000000u);
	double seconds = moment->seconds, since;
	struct tm tm;

	if (!moment->of_day || !localtime_r(&began, &tm))
		return (uint64_t)(seconds * 1e9);
	since = tm.tm_hour * HOUR + tm.tm_min * 60 + tm.tm_sec +
		(double)(start % 1000000000u) / 1e9;
	seconds -= since;
	if (seconds < -DAY / 2.0)
		seconds += DAY;
	return seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
}
