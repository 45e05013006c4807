/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_BYTES_H
#define STACKTOP_SYMBOLS_BASE_BYTES_H

/*
 * The bytes of a file, or of an image in memory, at any offset. A file may shrink at any time, so
 * it is never mapped: bytes that are gone make a read fail instead of raising a signal.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bytes {
	int fd; /* -1: image */
	const uint8_t *image;
	size_t size; /* of image */
};

/* What a file has of `size` bytes from the offset on: how many; or the error of pread. */
ssize_t bytes_read_some(int fd, uint64_t offset, void *to, size_t size);

/* Reads all `size` bytes. -EINVAL: the file or image ends before; or the error of pread. */
int bytes_read(const struct bytes *bytes, uint64_t offset, void *to, size_t size);

/*
 * The string at offset, which ends with a NUL or just before end, cut to room - 1 bytes and
 * terminated. Returns its length; 0: it is empty or cannot be read.
 */
size_t bytes_string(const struct bytes *bytes, uint64_t offset, uint64_t end, char *to,
		    size_t room);

#endif
