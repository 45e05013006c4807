// SPDX-License-Identifier: GPL-2.0-or-later
/* See bytes.h for why nothing is mapped. */
#include "symbols/base/bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define STRING_STEP ((size_t)192) /* most names are shorter, so that one read is enough */

int bytes_read(const struct bytes *bytes, uint64_t offset, void *to, size_t size)
{
	char *at = to;
	ssize_t n;

	if (bytes->fd < 0) {
		if (offset > bytes->size || size > bytes->size - offset)
			return -EINVAL;
		if (size)
			memcpy(to, bytes->image + offset, size);
		return 0;
	}
	while (size) {
		if (offset > INT64_MAX)
			return -EINVAL;
		n = pread(bytes->fd, at, size, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EINVAL;
		at += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

size_t bytes_string(const struct bytes *bytes, uint64_t offset, uint64_t end, char *to, size_t room)
{
	size_t length = 0, step = STRING_STEP, found;

	while (length + 1 < room && offset + length < end) {
		if (step > room - 1 - length)
			step = room - 1 - length;
		if (step > end - offset - length)
			step = end - offset - length;
		if (bytes_read(bytes, offset + length, to + length, step))
			return 0;
		found = strnlen(to + length, step);
		length += found;
		if (found < step)
			break;
		step *= 4;
	}
	to[length] = '\0';
	return length;
}
