/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_REPORTS_H
#define STACKTOP_TUI_REPORTS_H

/* A run without a screen: a report after each refresh, or at the end. Returns are exit statuses. */

#include <stdbool.h>
#include <stdint.h>

struct child;
struct options;
struct outfile;
struct profile;
struct push;
struct source;

/* A signalfd of what ends a run; from then on the signals come there only. */
int reports_signals(void);
/* Opens the file of the options, so that one that cannot be written is an error before anything is
 * loaded; NULL: standard output. */
int reports_open(const struct options *options, struct outfile **file);
/* Reports until the end; push (NULL: none) gets each slice, too. Takes the file. *serial: the
 * number of the last message of the board that was written. */
int reports_run(struct profile *profile, struct source *source, struct child *command,
		struct push *push, const struct options *options, struct outfile *file, int signals,
		uint64_t *serial);
/*
 * Ends the push within the longer of ms and leave_ms(), then prints the outcome and the messages
 * that the board has after number *serial. False: samples were lost.
 */
#define PUSH_END_MS 10000
bool reports_end_push(struct push *push, struct profile *profile, uint64_t *serial,
		      unsigned int ms);
/* Says that the output of the options failed. */
int reports_complain(const struct options *options, int err);

#endif
