/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_NOTICES_H
#define STACKTOP_BPF_TRACKER_NOTICES_H

/* Messages of the tracker for the user. Most causes can occur thousands of times: told once. */

#include <stdbool.h>
#include <stdint.h>

#include "bpf/tracker/tracker.h"

enum notice {
	NOTICE_TABLES_FULL,
	NOTICE_PROCESSES,
	NOTICE_TARGETS,
	NOTICE_MAPPINGS,
	NOTICE_MAPPINGS_QUOTA,
	NOTICE_OBJECTS_QUOTA,
	NOTICE_OPEN_FILES,
	NOTICE_CLOSED_FILES,
	NOTICE_COPIES,
	NOTICE_SILENT_FILE,
	NOTICE_UNWATCHED_CPU,
	NOTICE_MUTE_JAVA,
	NOTICE_HOTSPOT,
	NOTICE_MOVED,
};

struct notices {
	tracker_say *say; /* NULL: nothing is told */
	void *arg;
	uint32_t told; /* a bit for each enum notice */
};

void notices_tell(const struct notices *n, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* True only the first time after the start and after notices_renew. */
bool notices_first(struct notices *n, enum notice notice);
void notices_renew(struct notices *n, enum notice notice);

#endif
