// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening reads the file once, from the front, and keeps all definitions and the offsets of the
 * slices. The first thing that makes no sense ends the session there: behind it ids could mean
 * anything. Everything is read by pread and checked before it is unpacked: the file may change
 * meanwhile.
 */
#include "tui/session/session_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "symbols/base/grow.h"
#include "tui/import/import.h"
#include "tui/net/http.h"
#include "tui/session/session.h"
#include "tui/session/session_import.h"
#include "tui/util/bytes.h"

struct session_place { /* of a slice */
	uint64_t offset;
	uint64_t time;
	uint32_t packed, size;
	/* Names behind the last slice's belong to a slice that was cut. */
	uint32_t first, end; /* changes */
	uint32_t lines_end;
};

struct session_buffer {
	uint8_t *at;
	size_t room;
};

struct session {
	int fd;
	ZSTD_DCtx *zstd;
	struct session_buffer packed, plain; /* of a chunk */
	struct session_names *names;
	struct session_info info;
	const char *flaw;
	struct session_place *slices;
	uint32_t nslices, slices_room;
	struct session_cells cells;
};

/* 0, or -ENODATA: the file ends before. */
static int read_at(const struct session *s, void *to, size_t size, uint64_t offset)
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

static int buffer_reserve(struct session_buffer *b, size_t size)
{
	return GROW_TO(b->at, size, b->room, (size_t)SESSION_CHUNK_MAX + 1);
}

/*
 * Reads the chunk at an offset (SESSION_MAGIC_SIZE for the first); the next one is behind
 * head->packed bytes of content. -ENODATA: the file ends before that; -EBADMSG: it is damaged;
 * -errno of the read; -ENOMEM.
 */
static int chunk_read(struct session *s, uint64_t offset, struct session_chunk *head)
{
	int err = read_at(s, head, sizeof(*head), offset);
	uint32_t crc;

	if (err)
		return err;
	if (head->magic != SESSION_CHUNK_MAGIC || head->packed > SESSION_CHUNK_MAX ||
	    head->size > SESSION_CHUNK_MAX)
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

/* The content of the chunk that was read last, valid until the next one's. Errors as above. */
static int chunk_unpack(struct session *s, const struct session_chunk *head, struct cursor *out)
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

/* Pipes are read by the import. The open does not wait for a writer. */
static int open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static int check_kind(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) ? 0
	       : S_ISDIR(st.st_mode)			   ? -EISDIR
							   : -ESPIPE;
}

static int check_magic(const struct session *s)
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

/* What is no session becomes one that has the same samples. */
static int import_it(struct session *s, const char *name, char *error, size_t size)
{
	int made, err = session_import(s->fd, name, &made, error, size);

	if (err)
		return err;
	close(s->fd);
	s->fd = made;
	return check_magic(s);
}

/*
 * -EPROTONOSUPPORT: a session of another version; -EISDIR; -ESPIPE: neither a regular file nor a
 * pipe; else what the import says.
 */
static int open_fd(struct session *s, const char *name, char *error, size_t size)
{
	int err = check_kind(s->fd);

	if (!err)
		err = check_magic(s);
	/* A pipe has no place 0. */
	if (err == -EINVAL || (err == -ESPIPE && !check_kind(s->fd)))
		err = import_it(s, name, error, size);
	if (err)
		return err;
	s->zstd = ZSTD_createDCtx();
	return s->zstd ? 0 : -ENOMEM;
}

/* --- a slice --------------------------------------------------------------------------------- */

#define CELL_BYTES 5 /* in the file, at least */

static void take_health(struct cursor *c, struct profile_health *health)
{
	uint64_t n, value;

	health->clock = cursor_number(c);
	cursor_clean(c, health->event, sizeof(health->event));
	n = cursor_number(c);
#define TAKE_FIELD(field)                                                                          \
	if (n) {                                                                                   \
		value = cursor_number(c);                                                          \
		health->field = (__typeof__(health->field))value;                                  \
		c->bad |= (uint64_t)health->field != value;                                        \
		n--;                                                                               \
	}
	SESSION_HEALTH(TAKE_FIELD)
#undef TAKE_FIELD
	for (; n && !c->bad; n--)
		cursor_number(c);
	n = cursor_number(c);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		value = cursor_number(c);
		if (i < LOSS_COUNT)
			health->loss[i] = value;
	}
	/* Sums of a hostile file's figures must not exceed 64 bits. */
	c->bad |= health->elapsed > (uint64_t)1 << 50;
}

static void take_messages(struct cursor *c, struct session_slice *out)
{
	uint32_t level;

	while ((level = cursor_number32(c, MESSAGE_ERROR + 1))) {
		struct session_message message = {.level = (enum message_level)(level - 1)};

		cursor_clean(c, message.text, sizeof(message.text));
		if (out->nmessages < SESSION_MESSAGES_MAX)
			out->messages[out->nmessages++] = message;
	}
}

/* An id in the file is one more than the stack's, or 0. */
static uint32_t cell_stack(struct cursor *c, uint32_t nstacks)
{
	uint32_t id = cursor_number32(c, UINT32_MAX - 1);

	if (!id)
		return PROFILE_NO_STACK;
	c->bad |= id > nstacks;
	return id - 1;
}

static int take_cell(struct session_names *names, const struct session_counts *counts,
		     struct cursor *c, uint32_t n, struct profile_cell *cell)
{
	uint32_t proc = cursor_number32(c, UINT32_MAX - 1);
	int64_t pid;

	if (c->bad || proc >= counts->procs)
		return -EBADMSG;
	pid = session_names_pid(names, proc, n);
	if (pid < 0)
		return -EBADMSG;
	cell->proc = proc;
	cell->tid = (uint32_t)((uint64_t)cursor_signed(c) + (uint64_t)pid);
	cell->ustack = cell_stack(c, counts->stacks);
	cell->kstack = cell_stack(c, counts->stacks);
	cell->count = cursor_number32(c, UINT32_MAX);
	cell->cpu = 0;
	cell->weight = 0;
	return c->bad ? -EBADMSG : 0;
}

/* Behind the cells, if samples were counted per CPU: a number for each. */
static void take_cpus(struct cursor *c, struct profile_cell *cells, size_t count)
{
	if (c->bad || c->at == c->end)
		return;
	c->bad |= cursor_number(c) != count;
	for (size_t i = 0; i < count && !c->bad; i++)
		cells[i].cpu = cursor_number32(c, SESSION_CPU_MAX);
}

/* Behind the CPUs of the cells: how busy each CPU was. */
static void take_use(struct cursor *c, struct session_cells *cells, size_t *count)
{
	uint64_t n;
	uint32_t cpu = 0;

	*count = 0;
	if (c->bad || c->at == c->end)
		return;
	n = cursor_number(c);
	c->bad |= n > SESSION_CPU_MAX;
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		struct cpu_use use;

		cpu += cursor_number32(c, SESSION_CPU_MAX);
		use.cpu = (uint16_t)cpu++;
		use.user = (uint16_t)cursor_number32(c, SESSION_USE_WHOLE);
		use.kernel = (uint16_t)cursor_number32(c, SESSION_USE_WHOLE);
		c->bad |= cpu > SESSION_CPU_MAX || use.user + use.kernel > SESSION_USE_WHOLE;
		if (*count < CPU_USE_MAX)
			cells->use[(*count)++] = use;
	}
}

/* Behind that: what the cells stand for, if the figures do not say it. */
static void take_weights(struct cursor *c, struct profile_cell *cells, size_t count)
{
	uint64_t sum = 0;

	if (c->bad || c->at == c->end)
		return;
	c->bad |= cursor_number(c) != count;
	for (size_t i = 0; i < count && !c->bad; i++) {
		cells[i].weight = cursor_number(c);
		c->bad |= cells[i].weight > SESSION_WEIGHT_MAX - sum;
		sum += cells[i].weight;
	}
}

static int cells_reserve(struct session_cells *cells, size_t count)
{
	if (count <= cells->room)
		return 0;
	free(cells->at);
	cells->room = 0;
	cells->at = calloc(count, sizeof(*cells->at));
	if (!cells->at)
		return -ENOMEM;
	cells->room = count;
	return 0;
}

int session_slice_take(struct session_names *names, struct cursor *c, uint32_t n,
		       struct session_cells *cells, struct session_slice *out)
{
	const struct session_counts counts = session_names_counts(names);
	uint64_t count;
	int err;

	*out = (struct session_slice){0};
	take_health(c, &out->health);
	take_messages(c, out);
	count = cursor_number(c);
	if (c->bad || !session_may_have(count, out->health.elapsed) ||
	    count > (uint64_t)(c->end - c->at) / CELL_BYTES)
		return -EBADMSG;
	err = cells_reserve(cells, (size_t)count);
	for (size_t i = 0; i < count && !err; i++)
		err = take_cell(names, &counts, c, n, &cells->at[i]);
	if (!err)
		take_cpus(c, cells->at, (size_t)count);
	if (!err)
		take_use(c, cells, &out->nuse);
	if (!err)
		take_weights(c, cells->at, (size_t)count);
	if (err || c->bad)
		return err ? err : -EBADMSG;
	out->cells = cells->at;
	out->use = cells->use;
	out->ncells = (size_t)count;
	return 0;
}

/* --- all of the file -------------------------------------------------------------------------- */

static int take_start(struct session *s, struct cursor *c)
{
	char release[64], machine[32];

	s->info.clock = cursor_number(c);
	cursor_clean(c, s->info.host, sizeof(s->info.host));
	cursor_clean(c, release, sizeof(release));
	cursor_clean(c, machine, sizeof(machine));
	if (c->bad)
		return -EBADMSG;
	snprintf(s->info.system, sizeof(s->info.system), "%s %s", release, machine);
	return 0;
}

static int take_place(struct session *s, const struct session_chunk *head, uint64_t offset,
		      uint32_t first)
{
	if (head->time > INT64_MAX || (s->nslices && head->time < s->slices[s->nslices - 1].time))
		return -EBADMSG;
	if (GROW(s->slices, s->nslices, s->slices_room, SESSION_SLICES_MAX))
		return -ENOMEM;
	s->slices[s->nslices++] =
		(struct session_place){.offset = offset,
				       .time = head->time,
				       .packed = head->packed,
				       .size = head->size,
				       .first = first,
				       .end = session_names_counts(s->names).changes,
				       .lines_end = session_names_counts(s->names).lines};
	return 0;
}

static int take_chunk(struct session *s, const struct session_chunk *head)
{
	struct cursor c;
	int err;

	if (head->type != SESSION_START && head->type != SESSION_DEFINITIONS)
		return 0;
	err = chunk_unpack(s, head, &c);
	if (err)
		return err;
	return head->type == SESSION_START ? take_start(s, &c)
					   : session_names_take(s->names, &c, s->nslices);
}

/* What a half-read chunk added stays among the names, but no slice refers to it. */
static int scan(struct session *s)
{
	uint64_t offset = SESSION_MAGIC_SIZE;
	struct session_chunk head;
	uint32_t first = 0; /* change of the next slice */
	bool started = false;
	int err;

	for (;; offset += sizeof(head) + head.packed) {
		err = chunk_read(s, offset, &head);
		if (err || head.type == SESSION_END)
			return err;
		if (!started && head.type != SESSION_START)
			return -EBADMSG;
		err = take_chunk(s, &head);
		if (!err && head.type == SESSION_SLICE) {
			err = take_place(s, &head, offset, first);
			first = session_names_counts(s->names).changes;
		}
		if (err)
			return err;
		started = true;
	}
}

static const char *why(int err)
{
	return err == -EPROTONOSUPPORT ? "is a session of another stacktop version"
	       : err == -ESPIPE	       ? "is not a regular file or a pipe"
	       : err == -ENODATA       ? "has no complete slice"
	       : err == -EBADMSG       ? "is damaged before its first slice"
				       : strerror(-err);
}

static const char *flaw_of(int err)
{
	return !err		 ? NULL
	       : err == -ENODATA ? "was cut off"
	       : err == -EBADMSG ? "is damaged"
	       : err == -ENOMEM	 ? "does not fit in memory"
				 : strerror(-err);
}

static int open_all(struct session *s, const char *name, char *error, size_t size)
{
	int err;

	s->names = session_names_new();
	err = s->names ? open_fd(s, name, error, size) : -ENOMEM;
	if (err)
		return err;
	err = scan(s);
	s->flaw = flaw_of(err);
	return s->nslices ? 0 : err ? err : -ENODATA;
}

int session_open_fd(int fd, const char *name, struct session **out, char *error, size_t size)
{
	struct session *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	*out = NULL;
	*error = '\0';
	if (!s) {
		close(fd);
	} else {
		s->fd = fd;
		err = open_all(s, name, error, size);
	}
	if (err) {
		if (!*error)
			snprintf(error, size, "%s: %s", name, why(err));
		session_free(s);
		return err;
	}
	*out = s;
	return 0;
}

/* To a file without a name. A descriptor, or -errno with its reason in error. */
static int fetch(const char *url, char *error, size_t size)
{
	int fd = memfd_create("stacktop-fetch", MFD_CLOEXEC);
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *to = copy < 0 ? NULL : fdopen(copy, "w");
	char why[256] = "";
	int err = to ? http_fetch(url, to, IMPORT_PACKED_MAX, why, sizeof(why)) : -errno;

	if (to && fclose(to) && !err)
		err = -errno;
	else if (!to && copy >= 0)
		close(copy);
	if (!err && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	snprintf(error, size, "%s: %s", url, *why ? why : strerror(-err));
	if (fd >= 0)
		close(fd);
	return err ? err : -EIO;
}

int session_open(const char *path, struct session **out, char *error, size_t size)
{
	int fd;

	*out = NULL;
	if (http_is_url(path)) {
		fd = fetch(path, error, size);
		return fd < 0 ? fd : session_open_fd(fd, path, out, error, size);
	}
	fd = open_path(path);
	if (fd >= 0)
		return session_open_fd(fd, path, out, error, size);
	snprintf(error, size, "%s: %s", path, strerror(-fd));
	return fd;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	ZSTD_freeDCtx(s->zstd);
	free(s->packed.at);
	free(s->plain.at);
	session_names_free(s->names);
	free(s->slices);
	free(s->cells.at);
	free(s);
}

int session_read(struct session *s, uint32_t n, struct session_slice *out)
{
	const struct session_place *place = &s->slices[n];
	struct session_chunk head;
	struct cursor c;
	int err = chunk_read(s, place->offset, &head);

	*out = (struct session_slice){0};
	if (err)
		return err;
	/* The file may have changed. */
	if (head.type != SESSION_SLICE || head.size != place->size || head.packed != place->packed)
		return -EBADMSG;
	err = chunk_unpack(s, &head, &c);
	if (!err)
		err = session_slice_take(s->names, &c, n, &s->cells, out);
	out->health.time = place->time;
	return err;
}

const struct session_info *session_info(const struct session *s)
{
	return &s->info;
}

const char *session_flaw(const struct session *s)
{
	return s->flaw;
}

uint32_t session_slices(const struct session *s)
{
	return s->nslices;
}

uint64_t session_time(const struct session *s, uint32_t n)
{
	return s->slices[n].time;
}

struct session_names *session_all_names(struct session *s)
{
	return s->names;
}

void session_changes(const struct session *s, uint32_t n, uint32_t *first, uint32_t *end)
{
	*first = s->slices[n].first;
	*end = s->slices[n].end;
}

void session_lines(const struct session *s, uint32_t n, uint32_t *first, uint32_t *end)
{
	*first = n ? s->slices[n - 1].lines_end : 0;
	*end = s->slices[n].lines_end;
}
