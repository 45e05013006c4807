/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_IMPORT_IMPORT_PRIV_H
#define STACKTOP_TUI_IMPORT_IMPORT_PRIV_H

/* What the files of this room share: content in memory, its lines, and one reader per format. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/import/import.h"

struct import_bytes { /* zeroed: none; to be freed by free(at) */
	uint8_t *at;
	size_t size, room;
};

struct import_text { /* in the content: neither clean nor terminated */
	const char *at;
	size_t length;
};

/* Sets the error unless there is one, and returns err. */
int import_fail(const struct import_to *to, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Appends all that a descriptor has, `most` bytes at most, of a regular file from its begin. Waits
 * for the other end of a pipe. -EFBIG: there is more.
 */
int import_read(int fd, size_t most, struct import_bytes *out);
/* True for a gzip file (RFC 1952). */
bool import_is_packed(const struct import_bytes *bytes);
/* Replaces a gzip file by what is in all its members. -EINVAL: it is damaged or cut off; -EFBIG. */
int import_unpack(struct import_bytes *bytes, const struct import_to *to);

struct import_lines { /* begins as {.at = content, .end = its end} */
	const char *at, *end;
	size_t number; /* of the line that was taken last, from 1 */
};

/* The next line without its end ("\n", "\r\n"); false: there is none. */
bool import_line(struct import_lines *lines, struct import_text *line);
/* Cuts blanks from both ends. */
struct import_text import_trim(struct import_text text);
/* Digits only, below `limit`. */
bool import_number(struct import_text text, uint64_t limit, uint64_t *out);

/* What follows may be such a file; one of these is then read, and may still fail. */
bool import_is_pprof(const uint8_t *data, size_t size);
bool import_is_script(struct import_text text);

/* All as import_memory. */
int import_pprof(const uint8_t *data, size_t size, struct import_to *to);
int import_folded(struct import_text text, struct import_to *to);
int import_script(struct import_text text, struct import_to *to);
/* Fills `out` with the text that `perf script` makes of the file. -ENOENT: there is no perf. */
int import_perf_script(int fd, struct import_bytes *out, const struct import_to *to);

#endif
