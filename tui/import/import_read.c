// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All content is read into memory before it is parsed: it may come from a pipe, pprof has its
 * strings at the end, and a file that changes meanwhile must not matter.
 */
#include "tui/import/import_priv.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "symbols/base/grow.h"
#include "symbols/base/thread.h"

#define PART	((size_t)1 << 16)
#define LOOK_MS 100

int import_fail(const struct import_to *to, int err, const char *format, ...)
{
	va_list args;

	if (*to->error)
		return err;
	va_start(args, format);
	vsnprintf(to->error, to->size, format, args);
	va_end(args);
	return err;
}

/* False: the program has to end. */
static bool import_wait(int fd)
{
	struct pollfd in = {.fd = fd, .events = POLLIN};

	while (!thread_must_end())
		if (poll(&in, 1, LOOK_MS) > 0)
			return true;
	return false;
}

static ssize_t read_some(int fd, bool regular, uint8_t *to, size_t size, size_t offset)
{
	for (;;) {
		ssize_t n = regular ? pread(fd, to, size, (off_t)offset) : read(fd, to, size);

		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (!import_wait(fd))
			return -EINTR;
	}
}

int import_read(int fd, size_t most, struct import_bytes *out)
{
	struct stat st;
	bool regular;
	ssize_t n = 1;

	if (fstat(fd, &st))
		return -errno;
	regular = S_ISREG(st.st_mode);
	while (n > 0) {
		if (GROW_TO(out->at, out->size + PART, out->room, most + 2 * PART))
			return -ENOMEM;
		n = read_some(fd, regular, out->at + out->size, out->room - out->size, out->size);
		if (n > 0)
			out->size += (size_t)n;
		if (out->size > most)
			return -EFBIG;
	}
	return (int)n;
}

bool import_is_packed(const struct import_bytes *bytes)
{
	return bytes->size > 2 && bytes->at[0] == 0x1f && bytes->at[1] == 0x8b;
}

/* One member, or the rest of it that fits. Z_STREAM_END: there may be another one. */
static int inflate_some(z_stream *z, struct import_bytes *plain)
{
	int result;

	if (GROW_TO(plain->at, plain->size + PART, plain->room, IMPORT_PLAIN_MAX + 2 * PART))
		return Z_MEM_ERROR;
	z->next_out = plain->at + plain->size;
	z->avail_out = (unsigned int)(plain->room - plain->size);
	result = inflate(z, Z_NO_FLUSH);
	plain->size = plain->room - z->avail_out;
	return result;
}

/* The members of a file follow each other, as gzip -c a b makes them. */
static int inflate_all(z_stream *z, struct import_bytes *plain, const struct import_to *to)
{
	for (;;) {
		int result = inflate_some(z, plain);

		if (result == Z_MEM_ERROR)
			return -ENOMEM;
		if (plain->size > IMPORT_PLAIN_MAX)
			return import_fail(to, -EFBIG, "is more than %zu MiB when it is unpacked",
					   IMPORT_PLAIN_MAX >> 20);
		if (result == Z_STREAM_END && (z->avail_in < 3 || z->next_in[0] != 0x1f))
			return 0;
		if (result == Z_STREAM_END)
			result = inflateReset(z);
		if (result == Z_BUF_ERROR || (!z->avail_in && z->avail_out))
			return import_fail(to, -EINVAL, "is cut off: its gzip data has no end");
		if (result != Z_OK)
			return import_fail(to, -EINVAL, "is damaged: wrong gzip data near byte %lu",
					   z->total_in);
	}
}

int import_unpack(struct import_bytes *bytes, const struct import_to *to)
{
	z_stream z = {.next_in = bytes->at, .avail_in = (unsigned int)bytes->size};
	struct import_bytes plain = {0};
	int err;

	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return -ENOMEM;
	err = inflate_all(&z, &plain, to);
	inflateEnd(&z);
	free(bytes->at);
	*bytes = plain;
	return err;
}

bool import_line(struct import_lines *lines, struct import_text *line)
{
	const char *end;

	if (lines->at == lines->end)
		return false;
	end = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	line->at = lines->at;
	line->length = (size_t)((end ? end : lines->end) - lines->at);
	lines->at = end ? end + 1 : lines->end;
	lines->number++;
	while (line->length && line->at[line->length - 1] == '\r')
		line->length--;
	return true;
}

struct import_text import_trim(struct import_text text)
{
	while (text.length && (*text.at == ' ' || *text.at == '\t')) {
		text.at++;
		text.length--;
	}
	while (text.length && (text.at[text.length - 1] == ' ' || text.at[text.length - 1] == '\t'))
		text.length--;
	return text;
}

bool import_number(struct import_text text, uint64_t limit, uint64_t *out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < text.length; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		value = 10 * value + (uint64_t)(text.at[i] - '0');
		if (value >= limit) /* far below an overflow */
			return false;
	}
	*out = value;
	return text.length > 0;
}
