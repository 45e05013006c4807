/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_IMPORT_IMPORT_H
#define STACKTOP_TUI_IMPORT_IMPORT_H

/*
 * Reads the files of other profilers into a profile (docs/FORMATS.md, Files that are read). What a
 * file is follows from its content, never from its name. The content is untrusted: each length, id
 * and sum is checked, all texts are cleaned, nothing recurses, and memory is bounded.
 */

#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_cell;
struct profile_health;

/* Of a file that is compressed, and of all content, unpacked or printed by perf. */
#define IMPORT_PACKED_MAX ((size_t)256 << 20)
#define IMPORT_PLAIN_MAX  ((size_t)1 << 30)
#define IMPORT_DEPTH_MAX  16384u /* frames of a stack */
/* The event of files that only say how many samples there are. */
#define IMPORT_SAMPLES "samples"

/*
 * Takes a slice that was just committed, with the profile's lock held. What it returns ends the
 * import, unless it is 0.
 */
typedef int (*import_slice_fn)(struct profile *p, const struct profile_cell *cells, size_t ncells,
			       const struct profile_health *health, void *arg);

struct import_to {
	struct profile *profile;
	import_slice_fn slice;
	void *arg;
	/* CLOCK_REALTIME ns of the end, for files that do not say it. import_file sets it. */
	uint64_t clock;
	char *error; /* set on failure: one line, without the name of the file */
	size_t size;
};

/*
 * Reads the content of a descriptor, from its begin if it is a regular file, else all that a pipe
 * has, for which it waits; one without a writer is empty. The descriptor stays open. -EINVAL: the
 * content is of no known format, or wrong; -ENOMSG: it is empty; -EFBIG: it exceeds a limit;
 * -ESPIPE: such a file cannot come from a pipe; -ENOMEM, the errno of reading, or what the callback
 * returned. Slices may have been delivered before an error was found.
 */
int import_file(int fd, struct import_to *to);
/* The same for content in memory, unpacked, other than perf.data. */
int import_memory(const uint8_t *data, size_t size, struct import_to *to);

#endif
