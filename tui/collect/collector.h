/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_COLLECTOR_H
#define STACKTOP_TUI_COLLECT_COLLECTOR_H

/* The source that samples this machine and resolves names, from threads of its own. */

#include <stddef.h>

struct child;
struct collector;
struct options;
struct profile;
struct source;

/*
 * Loads the programs and prepares to sample; command is what `-- COMMAND` started (NULL: none).
 * Nothing is owned, all must outlive the collector. On failure *out is NULL and error says what is
 * missing and what to do. source_free() of its source ends it.
 */
int collector_new(struct profile *p, const struct options *options, struct child *command,
		  struct collector **out, char *error, size_t size);
/*
 * Begins to sample, and lets the command go: its -errno when that cannot be run. Signals are
 * blocked in the threads that it makes. error as above.
 */
int collector_start(struct collector *collector, char *error, size_t size);
/* The collector as screens and reports know it. */
struct source *collector_source(struct collector *collector);

#endif
