/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Most of a jitdump file is copies of machine code, which names do not need: of each record only
 * the header and the name are parsed.
 */
#include "symbols/names/jitdump.h"

#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/base/bytes.h"
#include "symbols/names/codemap.h"

#define MAGIC	     0x4a695444u /* "JiTD" */
#define HEADER_BYTES 40u
#define PREFIX_BYTES 16u
#define LOAD_BYTES   56u /* prefix and fields; the name follows */
#define MOVE_BYTES   64u
#define CHUNK_BYTES  65536u
#define READ_COST    64u /* bytes that a read takes of the budget at least */

enum record_id { RECORD_LOAD, RECORD_MOVE, RECORD_CLOSE = 3 };

struct jitdump {
	int fd;		 /* -1: none */
	uint64_t offset; /* of the next record */
	bool begun;	 /* the header has been read */
	bool swapped;	 /* the file has the other byte order */
	bool closed;
	bool behind;
	uint64_t early; /* bytes written before the first sample */
	int error;	/* error that ended the file */
};

bool jitdump_is_name(const char *name)
{
	size_t digits;

	if (strncmp(name, "jit-", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits && !strcmp(name + 4 + digits, ".dump");
}

struct jitdump *jitdump_new_empty(void)
{
	struct jitdump *jd = calloc(1, sizeof(*jd));

	if (jd)
		jd->fd = -1;
	return jd;
}

int jitdump_new(int fd, struct jitdump **out)
{
	struct stat st;
	int err = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -EINVAL : 0;

	*out = err ? NULL : jitdump_new_empty();
	if (*out)
		(*out)->fd = fd;
	else
		close(fd);
	return *out || err ? err : -ENOMEM;
}

void jitdump_free(struct jitdump *jd)
{
	if (!jd)
		return;
	if (jd->fd >= 0)
		close(jd->fd);
	free(jd);
}

void jitdump_set_early(struct jitdump *jd)
{
	struct stat st;

	if (!fstat(jd->fd, &st) && st.st_size > 0)
		jd->early = (uint64_t)st.st_size;
}

bool jitdump_is_behind(const struct jitdump *jd)
{
	return jd->behind;
}

/* --- records --------------------------------------------------------------------------------- */

static uint32_t get32(const struct jitdump *jd, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return jd->swapped ? bswap_32(value) : value;
}

static uint64_t get64(const struct jitdump *jd, const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return jd->swapped ? bswap_64(value) : value;
}

/* Bytes of the header; 0: not all of it is there; -EINVAL. */
static int64_t read_header(struct jitdump *jd, const uint8_t *data, size_t length)
{
	uint32_t size;

	if (length < HEADER_BYTES)
		return 0;
	jd->swapped = get32(jd, data) == bswap_32(MAGIC);
	size = get32(jd, data + 8);
	if (get32(jd, data) != MAGIC || size < HEADER_BYTES)
		return -EINVAL;
	jd->begun = true;
	return size;
}

/* length: of the part of the record that is there. */
static int read_record(struct jitdump *jd, struct codemap *map, const uint8_t *data, size_t length)
{
	const char *name = (const char *)data + LOAD_BYTES;
	int err = 0;

	switch (get32(jd, data)) {
	case RECORD_LOAD:
		/* A name longer than what was read of the record is cut. */
		if (length > LOAD_BYTES)
			err = codemap_add(map, get64(jd, data + 48), get64(jd, data + 32),
					  get64(jd, data + 40), name,
					  strnlen(name, length - LOAD_BYTES));
		break;
	case RECORD_MOVE:
		if (length >= MOVE_BYTES)
			err = codemap_move(map, get64(jd, data + 56), get64(jd, data + 40),
					   get64(jd, data + 48));
		break;
	case RECORD_CLOSE:
		jd->closed = true;
		break;
	default: /* lines, unwinding information, and future records */
		break;
	}
	return err == -ENOSPC || err == -ENOENT ? 0 : err;
}

/*
 * The part of a record that must be there: its header, and the longest possible name. The rest is
 * skipped, whether it has been written already or not.
 */
static uint64_t needed(const struct jitdump *jd, const uint8_t *data)
{
	uint64_t size = get32(jd, data + 4), most = PREFIX_BYTES;

	if (get32(jd, data) == RECORD_LOAD)
		most = LOAD_BYTES + CODEMAP_NAME_MAX + 1;
	else if (get32(jd, data) == RECORD_MOVE)
		most = MOVE_BYTES;
	return size < most ? size : most;
}

int jitdump_parse(struct jitdump *jd, struct codemap *map, const uint8_t *data, size_t length,
		  uint64_t *taken)
{
	uint64_t at = 0;
	int64_t header;
	int err = 0;

	*taken = 0;
	if (!jd->begun) {
		header = read_header(jd, data, length);
		if (header <= 0)
			return (int)header;
		at = (uint64_t)header;
	}
	while (!err && !jd->closed && at < length && length - at >= PREFIX_BYTES) {
		uint64_t size = get32(jd, data + at + 4), left = length - at;

		/*
		 * No record: there may be one later, in a file that is written through a mapping.
		 */
		if (!size || left < needed(jd, data + at))
			break;
		if (size < PREFIX_BYTES)
			return -EINVAL;
		err = read_record(jd, map, data + at, size < left ? size : left);
		at += size;
	}
	*taken = at;
	return err ? err : at != 0;
}

/* --- the file -------------------------------------------------------------------------------- */

static int read_on(struct jitdump *jd, struct codemap *map, uint8_t *data, uint64_t round,
		   size_t *budget)
{
	bool changed = false;
	uint64_t taken, early;
	struct stat st;
	ssize_t n;
	int err;

	jd->behind = true;
	while (!jd->closed && *budget >= CHUNK_BYTES) {
		early = jd->early > jd->offset ? jd->early - jd->offset : 0;
		n = bytes_read_some(jd->fd, jd->offset, data,
				    early && early < CHUNK_BYTES ? early : CHUNK_BYTES);
		if (n < 0)
			return (int)n;
		codemap_set_round(map, early ? 0 : round);
		*budget -= n > READ_COST ? (size_t)n : READ_COST;
		err = jitdump_parse(jd, map, data, (size_t)n, &taken);
		jd->offset += taken;
		changed = changed || err > 0;
		if (err < 0)
			return err;
		if (taken)
			continue;
		if (!early) {
			jd->behind = false;
			break;
		}
		jd->early = 0; /* a record that was not finished then */
	}
	jd->behind = jd->behind && !jd->closed &&
		     (fstat(jd->fd, &st) || (uint64_t)st.st_size > jd->offset);
	return changed;
}

int jitdump_update(struct jitdump *jd, struct codemap *map, uint64_t round, size_t *budget)
{
	uint8_t *data;
	int err;

	if (jd->error || jd->closed || jd->fd < 0)
		return jd->error;
	data = malloc(CHUNK_BYTES);
	if (!data)
		return -ENOMEM;
	err = read_on(jd, map, data, round, budget);
	free(data);
	if (err == -EINVAL)
		jd->error = err;
	return err;
}
