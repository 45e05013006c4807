/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_INSPECT_H
#define STACKTOP_TUI_COLLECT_INSPECT_H

struct capture_record;
struct inspection;
struct resolver;
struct tracker;

/* Names the frames of a captured walk. -ESRCH: its process is gone; -ENOMEM. No lock is held. */
int inspection_make(struct tracker *tracker, struct resolver *resolver,
		    const struct capture_record *captured, struct inspection **out);

#endif
