/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_MAPSREADER_H
#define STACKTOP_BPF_TRACKER_MAPSREADER_H

/* Reads the executable mappings of /proc/PID/maps, or of too many those that matter most. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "symbols/files/procmaps.h"

#define MAPPINGS_MAX 8192u /* of a process */

/* A mapping as it was read. */
struct read_mapping {
	struct procmap map; /* without its name */
	size_t name;	    /* offset in maps_reading.names */
};

struct maps_reading {
	pid_t pid;
	struct file_id *files; /* of all mappings, up to COUNTED_MAX */
	size_t nfiles, files_room;
	bool *keep; /* for each of these; NULL: the first MAPPINGS_MAX are kept */
	size_t at;  /* in keep */
	struct read_mapping *seen;
	size_t nseen, seen_room;
	char *names; /* each with its null byte; equal ones in a row are stored once */
	size_t names_used, names_room;
};

/* `reading` has its pid and is zero otherwise; to be freed in any case. -errno. */
int mapsreader_read(struct maps_reading *reading);
void mapsreader_free(struct maps_reading *reading);

#endif
