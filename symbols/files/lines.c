// SPDX-License-Identifier: GPL-2.0-or-later
/* See lines.h. */
#include "symbols/files/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES 65536u

int lines_whole(const char *text, size_t length, lines_fn *fn, void *arg, size_t *taken)
{
	const char *at = text, *end = text + length, *newline;
	int err = 0;

	while (!err && at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		err = fn(at, newline, arg);
		at = newline + 1;
	}
	*taken = (size_t)(at - text);
	return err;
}

int lines_parse(const char *text, size_t length, lines_fn *fn, void *arg)
{
	size_t taken;
	int err = lines_whole(text, length, fn, arg, &taken);

	return err || taken == length ? err : fn(text + taken, text + length, arg);
}

static int read_all(int fd, char *buffer, lines_fn *fn, void *arg)
{
	size_t held = 0, taken;
	ssize_t n;
	int err;

	for (;;) {
		n = read(fd, buffer + held, CHUNK_BYTES - held);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		held += (size_t)n;
		err = lines_whole(buffer, held, fn, arg, &taken);
		if (err)
			return err;
		held -= taken;
		memmove(buffer, buffer + taken, held);
		/* Such a line makes no sense, and the loop would not end. */
		if (held == CHUNK_BYTES)
			held = 0;
	}
}

int lines_read(int fd, lines_fn *fn, void *arg)
{
	char *buffer = malloc(CHUNK_BYTES);
	int err = buffer ? read_all(fd, buffer, fn, arg) : -ENOMEM;

	free(buffer);
	return err;
}

bool lines_number(const char **at, const char *end, unsigned int base, uint64_t *value)
{
	const char *p = *at;
	unsigned int digit;

	*value = 0;
	for (; p < end; p++) {
		if (*p >= '0' && *p <= '9')
			digit = *p - '0';
		else if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'f')
			digit = (*p | 0x20) - 'a' + 10;
		else
			break;
		if (digit >= base || __builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, digit, value))
			return false;
	}
	if (p == *at)
		return false;
	*at = p;
	return true;
}
