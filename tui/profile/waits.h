/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_WAITS_H
#define STACKTOP_TUI_PROFILE_WAITS_H

/* Where threads are when they are not on a CPU, and which of that a query is about. */

#include <stdbool.h>

/* What a thread does. All but the first are waits; the order is that of every bar and legend. */
enum wait_cause {
	WAIT_NONE,     /* it is on a CPU */
	WAIT_RUNNABLE, /* it waits for a CPU */
	WAIT_LOCK,
	WAIT_SLEEP,
	WAIT_POLL,
	WAIT_PIPE,
	WAIT_SOCKET,
	WAIT_DISK,
	WAIT_FAULT,
	WAIT_CHILD,
	WAIT_STOPPED,
	WAIT_OTHER,
	WAIT_CAUSES,
};

struct wait_text {
	const char *name;  /* "lock", also of the function (FUNC_WAIT); "on" for WAIT_NONE */
	char letter;	   /* where there are no colours */
	const char *means; /* in a few words */
};

const struct wait_text *wait_text(enum wait_cause cause);
/* WAIT_NONE: there is no wait of that name. */
enum wait_cause wait_by_name(const char *name);

/* What is counted. */
enum measure {
	MEASURE_CPU,   /* samples; of an event without time what they stand for */
	MEASURE_OFF,   /* us of waits */
	MEASURE_WALL,  /* us of waits and on CPUs */
	MEASURE_TIME,  /* us of threads by cause, exact and without stacks */
	MEASURE_WAKES, /* us of long waits, by who ended them */
};

#define MEASURES_SHOWN 3 /* of these one can be chosen: CPU, off-CPU and wall */

/* "cpu", "off-cpu", "wall". */
const char *measure_name(enum measure measure);

#endif
