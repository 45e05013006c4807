/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/maps as records. The process chooses the names in it. */
#include "symbols/files/procmaps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbols/files/lines.h"

/* A line is at most 80 bytes and PATH_MAX, each byte of which the kernel may write as four. */
#define LINE_MAX_BYTES (80u + 4u * 4096u)

struct procmaps_reader {
	bool exec_only;
	int (*fn)(const struct procmap *map, void *arg);
	void *arg;
	uint64_t last_end; /* of the mapping before */
	char name[LINE_MAX_BYTES + 1];
};

static bool take_char(const char **at, const char *end, char c)
{
	if (*at == end || **at != c)
		return false;
	(*at)++;
	return true;
}

static bool take_flags(const char **at, const char *end, bool *exec, bool *write)
{
	const char *p = *at;

	if (end - p < 4 || (p[2] != 'x' && p[2] != '-'))
		return false;
	*exec = p[2] == 'x';
	*write = p[1] == 'w';
	*at = p + 4;
	return true;
}

/*
 * The rest of the line as a string. The kernel escapes only newlines in this file (show_map_vma in
 * fs/proc/task_mmu.c), not the backslash itself: any other `\ooo` belongs to the name.
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
	if (!lines_number(&p, end, 16, &map->start) || !take_char(&p, end, '-') ||
	    !lines_number(&p, end, 16, &map->end) || !take_char(&p, end, ' ') ||
	    !take_flags(&p, end, &map->exec, &map->write) || !take_char(&p, end, ' ') ||
	    !lines_number(&p, end, 16, &map->offset) || !take_char(&p, end, ' ') ||
	    !lines_number(&p, end, 16, &major) || !take_char(&p, end, ':') ||
	    !lines_number(&p, end, 16, &minor) || !take_char(&p, end, ' ') ||
	    !lines_number(&p, end, 10, &map->inode))
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

static int read_line(const char *line, const char *end, void *arg)
{
	struct procmaps_reader *reader = arg;
	struct procmap map;

	if (!parse_line(line, end, &map, reader->name) || map.start < reader->last_end)
		return 0;
	reader->last_end = map.end;
	if (reader->exec_only && !map.exec)
		return 0;
	return reader->fn(&map, reader->arg);
}

int procmaps_parse(const char *text, size_t length, bool exec_only,
		   int (*fn)(const struct procmap *map, void *arg), void *arg)
{
	struct procmaps_reader reader = {exec_only, fn, arg, .last_end = 0};

	return lines_parse(text, length, read_line, &reader);
}

int procmaps_read(pid_t pid, bool exec_only, int (*fn)(const struct procmap *map, void *arg),
		  void *arg)
{
	struct procmaps_reader reader = {exec_only, fn, arg, .last_end = 0};
	char path[32];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = lines_read(fd, read_line, &reader);
	close(fd);
	return err;
}
