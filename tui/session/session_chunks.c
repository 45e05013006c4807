// SPDX-License-Identifier: GPL-2.0-or-later
/* Everything is read by pread and checked before it is unpacked: the file may change meanwhile. */
#include "tui/session/session_chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "symbols/base/grow.h"

struct session_buffer {
	uint8_t *at;
	size_t room;
};

struct session_chunks {
	int fd;
	ZSTD_DCtx *zstd;
	struct session_buffer packed, plain;
};

/* 0, or -ENODATA: the file ends before. */
static int read_at(const struct session_chunks *s, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(s->fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		done += (size_t)n;
	}
	return 0;
}

static bool head_sane(const struct session_chunk *head)
{
	return head->magic == SESSION_CHUNK_MAGIC && head->packed <= SESSION_CHUNK_MAX &&
	       head->size <= SESSION_CHUNK_MAX;
}

static int buffer_reserve(struct session_buffer *b, size_t size)
{
	return GROW_TO(b->at, size, b->room, (size_t)SESSION_CHUNK_MAX + 1);
}

int session_chunks_read(struct session_chunks *s, uint64_t offset, struct session_chunk *head)
{
	int err = read_at(s, head, sizeof(*head), offset);
	uint32_t crc;

	if (err)
		return err;
	if (!head_sane(head))
		return -EBADMSG;
	err = buffer_reserve(&s->packed, head->packed);
	if (!err)
		err = read_at(s, s->packed.at, head->packed, offset + sizeof(*head));
	if (err)
		return err;
	crc = (uint32_t)crc32(0, (const void *)head, offsetof(struct session_chunk, crc));
	crc = (uint32_t)crc32(crc, s->packed.at, head->packed);
	return crc == head->crc ? 0 : -EBADMSG;
}

int session_chunks_unpack(struct session_chunks *s, const struct session_chunk *head,
			  struct cursor *out)
{
	size_t n;

	if (buffer_reserve(&s->plain, (size_t)head->size + 1))
		return -ENOMEM;
	n = ZSTD_decompressDCtx(s->zstd, s->plain.at, head->size, s->packed.at, head->packed);
	if (ZSTD_isError(n) || n != head->size)
		return -EBADMSG;
	*out = (struct cursor){.at = s->plain.at, .end = s->plain.at + head->size};
	return 0;
}

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? -EISDIR : -ESPIPE;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int check_magic(const struct session_chunks *s)
{
	char magic[SESSION_MAGIC_SIZE];
	int err = read_at(s, magic, sizeof(magic), 0);

	if (err)
		return err == -ENODATA ? -EINVAL : err;
	if (!memcmp(magic, SESSION_MAGIC, sizeof(magic)))
		return 0;
	/* All of it but the version. */
	return memcmp(magic, SESSION_MAGIC, sizeof(magic) - 2) ? -EINVAL : -EPROTONOSUPPORT;
}

int session_chunks_open(const char *path, struct session_chunks **out)
{
	struct session_chunks *s = calloc(1, sizeof(*s));
	int err = 0;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->fd = open_regular(path);
	if (s->fd < 0)
		err = s->fd;
	if (!err)
		err = check_magic(s);
	if (!err) {
		s->zstd = ZSTD_createDCtx();
		err = s->zstd ? 0 : -ENOMEM;
	}
	if (err) {
		session_chunks_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void session_chunks_free(struct session_chunks *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	ZSTD_freeDCtx(s->zstd);
	free(s->packed.at);
	free(s->plain.at);
	free(s);
}
