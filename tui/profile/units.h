/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_UNITS_H
#define STACKTOP_TUI_PROFILE_UNITS_H

/*
 * What is counted: a sample of an event that is no clock stands for as many as it happened since
 * the last one, so the number of samples says nothing about how often it happens.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/profile/waits.h"

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
/* "412 samples", "12.3k faults", "1.23 s": so much of what the measure counts of those slices. */
void units_amount(const struct profile_health *health, enum measure measure, uint64_t n, char *to,
		  size_t size);
/* Do figures of the measure count samples, so that few of them say little? */
bool units_are_samples(const struct profile_health *health, enum measure measure);
/* "0.41 ms", "12.3 s": a time of threads in us, in at most nine cells. */
void units_time(uint64_t us, char *to, size_t size);
/* "298", "12.3k", "1.2M". */
void units_number(double n, char *to, size_t size);

#endif
