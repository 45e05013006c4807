// SPDX-License-Identifier: GPL-2.0-or-later
/* See sourcefile.h. Lines are asked for in ascending order, so one pass finds them. */
#include "symbols/files/sourcefile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/base/bytes.h"
#include "symbols/files/rootfile.h"

#define SIZE_MAX_READ (8u << 20)
#define TAB	      8

struct sourcefile {
	time_t written;
	size_t size;
	size_t at;	     /* where line `number` begins */
	unsigned int number; /* from 1 on */
	char line[SOURCEFILE_LINE];
	char bytes[];
};

int sourcefile_read(int root, const char *path, struct sourcefile **out)
{
	struct sourcefile *s = NULL;
	struct stat st;
	ssize_t n;
	int fd, err = 0;

	*out = NULL;
	if (path[0] != '/')
		return -EINVAL;
	fd = rootfile_open(root, path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		err = -errno;
	else if (st.st_size > SIZE_MAX_READ)
		err = -EFBIG;
	else if (!(s = malloc(sizeof(*s) + (size_t)st.st_size)))
		err = -ENOMEM;
	if (s) {
		*s = (struct sourcefile){.number = 1, .written = st.st_mtime};
		n = bytes_read_some(fd, 0, s->bytes, (size_t)st.st_size);
		s->size = n > 0 ? (size_t)n : 0;
		*out = s;
	}
	close(fd);
	return err;
}

void sourcefile_free(struct sourcefile *s)
{
	free(s);
}

time_t sourcefile_written(const struct sourcefile *s)
{
	return s->written;
}

static size_t line_length(const struct sourcefile *s)
{
	const char *end = memchr(s->bytes + s->at, '\n', s->size - s->at);

	return end ? (size_t)(end - (s->bytes + s->at)) : s->size - s->at;
}

const char *sourcefile_line(struct sourcefile *s, unsigned int number, size_t *length)
{
	size_t left, n = 0;
	const char *from;

	if (!number)
		return NULL;
	if (number < s->number) {
		s->number = 1;
		s->at = 0;
	}
	for (; s->number < number && s->at < s->size; s->number++)
		s->at += line_length(s) + 1;
	if (s->number < number || s->at >= s->size)
		return NULL;
	from = s->bytes + s->at;
	for (left = line_length(s); left && n < sizeof(s->line); left--, from++) {
		size_t blanks = *from == '\t' ? TAB - n % TAB : 1;

		if ((unsigned char)*from >= ' ' && *from != 0x7f) {
			s->line[n++] = *from;
			continue;
		}
		while (blanks-- && n < sizeof(s->line))
			s->line[n++] = ' ';
	}
	while (n && s->line[n - 1] == ' ')
		n--;
	*length = n;
	return s->line;
}
