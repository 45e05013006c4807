/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a big process has hundreds of megabytes and grows meanwhile, so each update reads
 * only what was added. Whether the file is still the same shows in the last bytes that were read:
 * the JVM rewrites its file, longer, whenever it is asked to. A file that was written without
 * having grown is not the same either.
 */
#include "symbols/names/perfmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/names/codemap.h"
#include "symbols/base/bytes.h"
#include "symbols/files/fileasker.h"
#include "symbols/files/lines.h"
#include "symbols/files/procfile.h"

#define CHUNK_BYTES 65536u /* a line longer than that is skipped */
#define TAIL_BYTES  64u
#define READ_COST   4096u		/* bytes that a read takes of the budget at least */
#define FILE_MAX    ((uint64_t)1 << 30) /* bytes behind are not read */

struct perfmap {
	int fd; /* -1: none */
	struct file_facts file;
	uint64_t offset; /* bytes read so far */
	uint64_t early;	 /* bytes written before the first sample */
	bool skipping;	 /* the rest of a line that is too long */
	bool behind;
	bool unsure; /* the process may have another file, or this copy lack what was written */
	uint64_t tail_end;
	size_t ntail;
	char tail[TAIL_BYTES]; /* in front of tail_end */
};

struct perfmap *perfmap_new(void)
{
	struct perfmap *pm = calloc(1, sizeof(*pm));

	if (pm)
		pm->fd = -1;
	return pm;
}

void perfmap_free(struct perfmap *pm)
{
	if (pm)
		perfmap_close(pm);
	free(pm);
}

void perfmap_close(struct perfmap *pm)
{
	if (pm->fd >= 0)
		close(pm->fd);
	*pm = (struct perfmap){.fd = -1};
}

/* --- text ------------------------------------------------------------------------------------ */

/* With or without 0x. */
static bool take_hex(const char **at, const char *end, uint64_t *value)
{
	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
		*at += 2;
	return lines_number(at, end, 16, value);
}

static bool take_blanks(const char **at, const char *end)
{
	const char *p = *at;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == *at)
		return false;
	*at = p;
	return true;
}

static int parse_line(const char *p, const char *end, void *map)
{
	uint64_t start, size;
	int err;

	if (end > p && end[-1] == '\r')
		end--;
	if (!take_hex(&p, end, &start) || !take_blanks(&p, end) || !take_hex(&p, end, &size) ||
	    !take_blanks(&p, end) || p == end)
		return 0;
	err = codemap_add(map, CODEMAP_NO_INDEX, start, size, p, (size_t)(end - p));
	return err == -ENOSPC ? 0 : err;
}

int perfmap_parse(struct codemap *map, const char *text, size_t length, size_t *taken)
{
	return lines_whole(text, length, parse_line, map, taken);
}

/* --- the file -------------------------------------------------------------------------------- */

/*
 * Whether the open file is surely the one at its path, although that could not be looked up in
 * time: then it is read on. One that was replaced has lost its link, and a copy may be old.
 */
static bool is_still_there(const struct perfmap *pm)
{
	struct stat st;

	return pm->fd >= 0 && !pm->file.copied && !fstat(pm->fd, &st) && st.st_nlink;
}

/*
 * 1: another file than the one that was open before, or with other contents; 0: the same, the first
 * one, or none that may be read.
 */
static int look(struct perfmap *pm, const struct procfile_owner *owner, struct fileasker *asker)
{
	struct file_facts file;
	char path[64];
	bool anew;
	int fd;

	snprintf(path, sizeof(path), "tmp/perf-%d.map", (int)owner->nspid);
	fd = procfile_ask(owner, path, asker, pm->fd >= 0 ? &pm->file : NULL, &file);
	pm->unsure = fd < 0 && fd != -ENOENT && fd != -ESRCH && fd != -EALREADY;
	if (fd == -EAGAIN || fd == -ETIMEDOUT)
		pm->unsure = !is_still_there(pm);
	if (fd < 0)
		return 0;
	anew = pm->fd >= 0 && (file.dev != pm->file.dev || file.inode != pm->file.inode ||
			       (file.mtime != pm->file.mtime && file.size <= pm->file.size));
	/* A copy lacks what was written since. */
	if (pm->fd >= 0)
		close(pm->fd);
	pm->fd = fd;
	pm->file = file;
	return anew;
}

static bool is_continued(const struct perfmap *pm)
{
	char tail[TAIL_BYTES];

	return bytes_read_some(pm->fd, pm->tail_end - pm->ntail, tail, pm->ntail) ==
		       (ssize_t)pm->ntail &&
	       !memcmp(tail, pm->tail, pm->ntail);
}

bool perfmap_open(struct perfmap *pm, const struct procfile_owner *owner, struct fileasker *asker)
{
	size_t size;

	look(pm, owner, asker);
	if (pm->fd < 0)
		return false;
	size = pm->file.size < TAIL_BYTES ? pm->file.size : TAIL_BYTES;
	if (bytes_read_some(pm->fd, pm->file.size - size, pm->tail, size) != (ssize_t)size)
		return true;
	pm->early = pm->tail_end = pm->file.size;
	pm->ntail = size;
	return true;
}

bool perfmap_is_behind(const struct perfmap *pm)
{
	return pm->behind;
}

bool perfmap_is_unsure(const struct perfmap *pm)
{
	return pm->unsure && pm->fd >= 0;
}

static void advance(struct perfmap *pm, const char *text, size_t taken)
{
	size_t n = taken < TAIL_BYTES ? taken : TAIL_BYTES;

	if (!taken)
		return;
	pm->offset += taken;
	if (pm->offset < pm->tail_end)
		return;
	memcpy(pm->tail, text + taken - n, n);
	pm->ntail = n;
	pm->tail_end = pm->offset;
}

/* Reads one chunk; *more: there may be another. 1: something was added. */
static int read_chunk(struct perfmap *pm, struct codemap *map, char *text, size_t room, bool *more)
{
	ssize_t n = bytes_read_some(pm->fd, pm->offset, text, room);
	const char *at = text, *newline;
	size_t taken = 0;
	int err = 0;

	*more = n == (ssize_t)room;
	if (n <= 0)
		return (int)n;
	if (pm->skipping) {
		newline = memchr(text, '\n', (size_t)n);
		at = newline ? newline + 1 : text + n;
		pm->skipping = !newline;
	}
	if (!pm->skipping)
		err = perfmap_parse(map, at, (size_t)(text + n - at), &taken);
	taken += (size_t)(at - text);
	if (!taken && n == CHUNK_BYTES) {
		pm->skipping = true;
		taken = (size_t)n;
	}
	advance(pm, text, taken);
	*more = *more && taken;
	return err ? err : taken != 0;
}

/* As read_chunk, but only what was written early, or only what came later. */
static int read_part(struct perfmap *pm, struct codemap *map, char *text, uint64_t round,
		     bool *more)
{
	uint64_t early = pm->early > pm->offset ? pm->early - pm->offset : 0;
	size_t room = early && early < CHUNK_BYTES ? early : CHUNK_BYTES;
	int err;

	codemap_set_round(map, early ? 0 : round);
	err = read_chunk(pm, map, text, room, more);
	if (err < 0 || !early)
		return err;
	if (!err)
		pm->early = 0; /* a line that was not finished then, or a shorter file */
	*more = true;
	return err;
}

int perfmap_update(struct perfmap *pm, const struct procfile_owner *owner, struct fileasker *asker,
		   struct codemap *map, uint64_t round, size_t *budget)
{
	bool changed = owner && look(pm, owner, asker), more = true;
	uint64_t before, cost;
	char *text;
	int err = 0;

	if (pm->fd < 0)
		return -ENOENT;
	if (!changed && !is_continued(pm))
		changed = true;
	codemap_set_round(map, round);
	if (changed) {
		codemap_clear(map);
		pm->offset = pm->early = pm->tail_end = pm->ntail = 0;
		pm->skipping = false;
	}
	pm->behind = true;
	text = malloc(CHUNK_BYTES);
	if (!text)
		return -ENOMEM;
	while (err >= 0 && more && *budget >= CHUNK_BYTES && pm->offset < FILE_MAX) {
		before = pm->offset;
		err = read_part(pm, map, text, round, &more);
		changed = changed || err > 0;
		cost = pm->offset - before + READ_COST;
		*budget -= cost < CHUNK_BYTES ? cost : CHUNK_BYTES;
	}
	free(text);
	pm->behind = err < 0 || (more && pm->offset < pm->file.size);
	return err < 0 ? err : changed;
}
