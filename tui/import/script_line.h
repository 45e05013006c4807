/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_IMPORT_SCRIPT_LINE_H
#define STACKTOP_TUI_IMPORT_SCRIPT_LINE_H

/*
 * The lines of `perf script` (tools/perf/builtin-script.c, process_event): a head for each sample,
 * then its frames, innermost first, then an empty line. Which fields there are depends on -F.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tui/import/import_build.h"

struct script_head {
	struct import_text comm;
	int64_t pid; /* that of the thread, unless -F has pid, too */
	uint32_t tid;
	uint32_t cpu; /* + 1; 0: not there */
	bool timed, periodic;
	uint64_t time; /* ns */
	uint64_t period;
	struct import_text event; /* without modifiers: "cycles" of "cycles:ppp" */
	struct import_text rest;  /* behind the event: a frame, or the text of a tracepoint */
};

/* comm PID[/TID] [CPU] TIME: PERIOD EVENT: REST; false: the line is none of these. */
bool script_head(struct import_text line, struct script_head *out);
/*
 * "  ADDR NAME+0xOFFSET (FILE)", "(inlined)" instead of the file, or a part of it. False: the line
 * is no frame.
 */
bool script_frame(struct import_text line, struct import_frame *out);
/* The same, for what stands behind a head: an address and a file are needed to tell it from text.
 */
bool script_frame_only(struct import_text text, struct import_frame *out);

#endif
