// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out which format a content has, and has it read. */
#include "tui/import/import.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tui/import/import_priv.h"

#define NS_PER_SEC 1000000000ull

/* The first bytes of perf.data: util/header.c of perf, of either byte order. */
static bool is_perf_data(const uint8_t *data, size_t size)
{
	return size >= 8 && (!memcmp(data, "PERFILE2", 8) || !memcmp(data, "2ELIFREP", 8));
}

/* The caller reads those of regular files itself (docs/SESSION.md). */
static bool is_session(const uint8_t *data, size_t size)
{
	static const char begin[] = "stacktop session ";

	return size >= strlen(begin) && !memcmp(data, begin, strlen(begin));
}

int import_memory(const uint8_t *data, size_t size, struct import_to *to)
{
	struct import_text text = {(const char *)data, size};

	if (!size)
		return import_fail(to, -ENOMSG, "is empty");
	if (is_session(data, size))
		return import_fail(to, -ESPIPE,
				   "a session is read from a file, not from a pipe, and as it is");
	if (import_is_pprof(data, size))
		return import_pprof(data, size, to);
	return import_is_script(text) ? import_script(text, to) : import_folded(text, to);
}

/* When the file was written, which is about when its samples end. */
static uint64_t clock_of(int fd)
{
	struct stat st;
	struct timespec now;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mtim.tv_sec > 0)
		return (uint64_t)st.st_mtim.tv_sec * NS_PER_SEC + (uint64_t)st.st_mtim.tv_nsec;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

static int read_content(int fd, struct import_bytes *bytes, const struct import_to *to)
{
	uint8_t magic[8];
	int err;

	/* perf reads its own files, however large they are. */
	if (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    is_perf_data(magic, sizeof(magic)))
		return import_perf_script(fd, bytes, to);
	err = import_read(fd, IMPORT_PLAIN_MAX, bytes);
	if (!err && import_is_packed(bytes) && bytes->size > IMPORT_PACKED_MAX)
		return import_fail(to, -EFBIG, "has more than %zu MiB", IMPORT_PACKED_MAX >> 20);
	if (!err && import_is_packed(bytes))
		err = import_unpack(bytes, to);
	if (!err && is_perf_data(bytes->at, bytes->size))
		return import_fail(to, -ESPIPE,
				   "perf.data is read from a file of its own, neither from a pipe "
				   "nor compressed");
	if (err == -EFBIG)
		import_fail(to, err, "has more than %zu MiB", IMPORT_PLAIN_MAX >> 20);
	return err;
}

int import_file(int fd, struct import_to *to)
{
	struct import_bytes bytes = {0};
	int err;

	*to->error = '\0';
	to->clock = clock_of(fd);
	err = read_content(fd, &bytes, to);
	if (!err)
		err = import_memory(bytes.at, bytes.size, to);
	free(bytes.at);
	if (err)
		import_fail(to, err, "%s", strerror(-err));
	return err;
}
