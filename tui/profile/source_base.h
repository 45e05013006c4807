/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_SOURCE_BASE_H
#define STACKTOP_TUI_PROFILE_SOURCE_BASE_H

/*
 * What feeds a profile is the collector (collector.c) or a session (replay.c); screens and reports
 * need not know which. Both structs begin with this one, through which source.h's calls go.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "tui/profile/source.h"

struct engine_ops {
	void (*finish)(struct engine *engine);
	/* NULL: free may take its time */
	int (*stop)(struct engine *engine, unsigned int ms, char *error, size_t size);
	void (*free)(struct engine *engine);
	uint64_t (*slices)(const struct engine *engine);
	void (*post)(struct engine *engine, enum engine_command command, const char *arg);
	int (*event_fd)(const struct engine *engine);
	bool (*finished)(const struct engine *engine);
};

struct engine_base {
	const struct engine_ops *ops;
};

/* What both need. */

/* CLOCK_MONOTONIC, ns. */
uint64_t engine_now(void);
/* Makes an eventfd readable. */
void engine_signal(int fd);
/*
 * Signals are for the main thread, those of a crash for the thread that crashes. A timer's signal
 * while a program is loaded would also make the verifier start over.
 */
void engine_block_signals(sigset_t *before);

#endif
