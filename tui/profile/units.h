/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_UNITS_H
#define STACKTOP_TUI_PROFILE_UNITS_H

/*
 * What is counted: a sample of an event that is no clock stands for as many as it happened since
 * the last one, so the number of samples says nothing about how often it happens.
 */

#include <stdbool.h>
#include <stddef.h>

struct profile_health;

struct unit {
	const char *event; /* by its name in perf-list(1) */
	const char *name;  /* "faults" */
	const char *rate;  /* the title of a column: "FLT/s" */
	const char *good;  /* what it is good for, in a few words */
};

/* Of the event of that name; NULL: there is none. Static. */
const struct unit *units_find(const char *event);
/* What the figures of the slices are in; samples, if how often the event happened is not known, or
 * if it comes with time. Static. */
const struct unit *units_of(const struct profile_health *health);
/* How much of that a sample stands for, on average. */
double units_scale(const struct profile_health *health);
/* "298", "12.3k", "1.2M". */
void units_number(double n, char *to, size_t size);

#endif
