/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/maps as records. The file of a big process has tens of thousands of lines, so it is
 * read piece by piece and never held as a whole; names in it are chosen by the process.
 */
#include "symbols/files/procmaps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line is at most 80 bytes and PATH_MAX, each byte of which the kernel may write as four. */
#define LINE_MAX_BYTES (80u + 4u * 4096u)
#define CHUNK_BYTES    (2u * LINE_MAX_BYTES)

struct procmaps_reader {
	bool exec_only;
	int (*fn)(const struct procmap *map, void *arg);
	void *arg;
	uint64_t last_end; /* of the mapping before */
	char name[LINE_MAX_BYTES + 1];
};

/* Digits of the base; at least one, and no more than 64 bits of them. */
static bool take_number(const char **at, const char *end, unsigned int base, uint64_t *value)
{
	const char *p = *at;
	unsigned int digit;

	*value = 0;
	for (; p < end; p++) {
		if (*p >= '0' && *p <= '9')
			digit = *p - '0';
		else if (*p >= 'a' && *p <= 'f')
			digit = *p - 'a' + 10;
		else
			break;
		if (digit >= base || *value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	if (p == *at)
		return false;
	*at = p;
	return true;
}

static bool take_char(const char **at, const char *end, char c)
{
	if (*at == end || **at != c)
		return false;
	(*at)++;
	return true;
}

static bool take_flags(const char **at, const char *end, bool *exec)
{
	const char *p = *at;

	if (end - p < 4 || (p[2] != 'x' && p[2] != '-'))
		return false;
	*exec = p[2] == 'x';
	*at = p + 4;
	return true;
}

/*
 * The rest of the line as a string. Only a newline is ever escaped in this file (show_map_vma in
 * fs/proc/task_mmu.c), the backslash itself is not: any other `\ooo` is the name's own.
 */
static void copy_name(char *to, const char *from, const char *end)
{
	while (from < end) {
		if (end - from >= 4 && !memcmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

static bool parse_line(const char *p, const char *end, struct procmap *map, char *name)
{
	uint64_t major, minor;

	if ((size_t)(end - p) > LINE_MAX_BYTES || memchr(p, '\0', end - p))
		return false;
	if (!take_number(&p, end, 16, &map->start) || !take_char(&p, end, '-') ||
	    !take_number(&p, end, 16, &map->end) || !take_char(&p, end, ' ') ||
	    !take_flags(&p, end, &map->exec) || !take_char(&p, end, ' ') ||
	    !take_number(&p, end, 16, &map->offset) || !take_char(&p, end, ' ') ||
	    !take_number(&p, end, 16, &major) || !take_char(&p, end, ':') ||
	    !take_number(&p, end, 16, &minor) || !take_char(&p, end, ' ') ||
	    !take_number(&p, end, 10, &map->inode))
		return false;
	if (map->start >= map->end || major > UINT32_MAX || minor > UINT32_MAX ||
	    (p < end && *p != ' '))
		return false;
	map->dev_major = major;
	map->dev_minor = minor;
	while (p < end && *p == ' ')
		p++;
	copy_name(name, p, end);
	map->name = name;
	return true;
}

static int read_line(struct procmaps_reader *reader, const char *line, const char *end)
{
	struct procmap map;

	if (!parse_line(line, end, &map, reader->name) || map.start < reader->last_end)
		return 0;
	reader->last_end = map.end;
	if (reader->exec_only && !map.exec)
		return 0;
	return reader->fn(&map, reader->arg);
}

/* Reads all whole lines and tells how many bytes they took. */
static int read_lines(struct procmaps_reader *reader, const char *text, size_t length,
		      size_t *taken)
{
	const char *p = text, *end = text + length, *newline;
	int err;

	while (p < end && (newline = memchr(p, '\n', end - p))) {
		err = read_line(reader, p, newline);
		if (err)
			return err;
		p = newline + 1;
	}
	*taken = p - text;
	return 0;
}

static struct procmaps_reader *
reader_new(bool exec_only, int (*fn)(const struct procmap *map, void *arg), void *arg)
{
	struct procmaps_reader *reader = malloc(sizeof(*reader));

	if (!reader)
		return NULL;
	reader->exec_only = exec_only;
	reader->fn = fn;
	reader->arg = arg;
	reader->last_end = 0;
	return reader;
}

int procmaps_parse(const char *text, size_t length, bool exec_only,
		   int (*fn)(const struct procmap *map, void *arg), void *arg)
{
	struct procmaps_reader *reader = reader_new(exec_only, fn, arg);
	size_t taken;
	int err;

	if (!reader)
		return -ENOMEM;
	err = read_lines(reader, text, length, &taken);
	if (!err && taken < length)
		err = read_line(reader, text + taken, text + length);
	free(reader);
	return err;
}

/* Hands lines over as they come. A line that does not fit in the buffer makes no sense. */
static int read_file(struct procmaps_reader *reader, int fd, char *buffer)
{
	size_t held = 0, taken;
	ssize_t n;
	int err;

	for (;;) {
		n = read(fd, buffer + held, CHUNK_BYTES - held);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return held ? read_line(reader, buffer, buffer + held) : 0;
		held += n;
		err = read_lines(reader, buffer, held, &taken);
		if (err)
			return err;
		held -= taken;
		memmove(buffer, buffer + taken, held);
		/* What is left of an endless line starts with its last bytes, which is no address.
		 */
		if (held == CHUNK_BYTES)
			held = 0;
	}
}

int procmaps_read(pid_t pid, bool exec_only, int (*fn)(const struct procmap *map, void *arg),
		  void *arg)
{
	struct procmaps_reader *reader;
	char path[32], *buffer;
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	reader = reader_new(exec_only, fn, arg);
	buffer = malloc(CHUNK_BYTES);
	if (reader && buffer)
		err = read_file(reader, fd, buffer);
	else
		err = -ENOMEM;
	free(buffer);
	free(reader);
	close(fd);
	return err;
}
