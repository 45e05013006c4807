// SPDX-License-Identifier: GPL-2.0-or-later
/* See bytes.h for why nothing is mapped. */
#include "symbols/base/bytes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define STRING_STEP ((size_t)192) /* most names are shorter, so that one read is enough */

ssize_t bytes_read_some(int fd, uint64_t offset, void *to, size_t size)
{
	size_t done = 0;
	ssize_t n = 1;

	while (n && done < size) {
		if (size > INT64_MAX || offset > INT64_MAX - size)
			return -EINVAL;
		n = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)done;
}

int bytes_read(const struct bytes *bytes, uint64_t offset, void *to, size_t size)
{
	ssize_t n;

	if (bytes->fd < 0) {
		if (offset > bytes->size || size > bytes->size - offset)
			return -EINVAL;
		if (size)
			memcpy(to, bytes->image + offset, size);
		return 0;
	}
	n = bytes_read_some(bytes->fd, offset, to, size);
	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EINVAL;
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
