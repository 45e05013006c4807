/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_MAPSREADER_H
#define STACKTOP_BPF_TRACKER_MAPSREADER_H

/*
 * Reads the executable mappings of /proc/PID/maps, or of too many those that matter most. In a
 * process with tens of thousands, most of them map a single file or anonymous memory. The program
 * and its libraries, which its stacks need, have a few mappings each, anywhere among the others.
 *
 * A mapping of a file that is not executable is read, too, if anonymous executable memory is next
 * to it without a gap: a program may have put that in the place of the file's code (huge pages).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbols/files/procmaps.h"

#define MAPPINGS_MAX 8192u /* of a process */

struct file_id {
	uint64_t dev, inode; /* 0: no file */
};

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
	struct procmap
		before; /* the last mapping, of a file but not executable; end 0: it was not */
	char *before_name;
	size_t before_room;
	uint64_t anonymous_end; /* of the mapping before, if it is anonymous and executable */
};

/* `reading` has its pid and is zero otherwise; to be freed in any case. -errno. */
int mapsreader_read(struct maps_reading *reading);
void mapsreader_free(struct maps_reading *reading);
/*
 * Writes the indices 0 to n - 1 of the mappings to order[], those to keep first: mappings of files
 * with the fewest mappings come first; mappings of one file stay in order. files[i] is the file of
 * mapping i. -ENOMEM.
 */
int crowd_order(const struct file_id *files, uint32_t n, uint32_t *order);

#endif
