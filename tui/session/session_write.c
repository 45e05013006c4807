// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A slice and the definitions that it is the first to need become chunks, which are written in one
 * piece: whatever happens then, what was written before stays a session.
 */
#include "tui/session/session_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "symbols/base/grow.h"
#include "tui/profile/board.h"
#include "tui/util/bytes.h"
#include "tui/util/safepath.h"
#include "tui/util/share.h"
#include "tui/session/session.h"
#include "tui/session/session_define.h"

#define LEVEL 3

struct session_writer {
	int fd; /* -1: closed after an error */
	off_t end;
	bool started;		 /* the first slice was written */
	uint64_t start;		 /* CLOCK_MONOTONIC ns */
	uint64_t clock;		 /* CLOCK_REALTIME ns, at the same time */
	uint64_t time, messages; /* of the slice noted; the last one that was written */
	ZSTD_CCtx *zstd;
	struct session_definer *definer;
	struct outbytes slice, out;
	struct cpu_use use[CPU_USE_MAX]; /* of the slice noted */
	struct profile_cell *merged;	 /* its cells, if it has too many of them */
	size_t merged_room;
	bool noted, past;	/* past: slices are noted long after they were committed */
	struct utsname machine; /* on which the samples were taken */
};

/* --- a slice --------------------------------------------------------------------------------- */

static void note_health(struct outbytes *to, const struct profile_health *health)
{
	bytes_put_number(to, health->clock);
	bytes_put_text(to, health->event);
	bytes_put_number(to, SESSION_HEALTH_FIELDS);
#define PUT_FIELD(field) bytes_put_number(to, health->field);
	SESSION_HEALTH(PUT_FIELD)
#undef PUT_FIELD
	bytes_put_number(to, LOSS_COUNT);
	for (int i = 0; i < LOSS_COUNT; i++)
		bytes_put_number(to, health->loss[i]);
}

/* Of the past, those that came until the slice ended, since the one before. */
static void note_messages(struct session_writer *w, const struct profile *p,
			  const struct profile_health *health)
{
	struct board_message message;
	uint64_t serial = w->messages, begin = health->time - health->elapsed;

	/* Messages of a replay have the times of this machine. */
	while (!(w->past && profile_replay(p)) && board_next(profile_board(p), &serial, &message)) {
		if (w->past && message.time > health->time)
			break;
		w->messages = serial;
		if (w->past && !w->started && message.time < begin)
			continue;
		bytes_put_number(&w->slice, message.level + 1u);
		bytes_put_text(&w->slice, message.text);
	}
	bytes_put_number(&w->slice, 0);
}

static int note_cell(struct session_writer *w, const struct profile *p,
		     const struct profile_cell *cell)
{
	int64_t proc = session_definer_proc(w->definer, p, cell->proc);
	int64_t ustack = session_definer_stack(w->definer, p, cell->ustack);
	int64_t kstack = session_definer_stack(w->definer, p, cell->kstack);
	const struct profile_proc *info = query_proc(p, cell->proc);

	if (proc < 0 || ustack < 0 || kstack < 0 || !info)
		return -ENOMEM;
	bytes_put_number(&w->slice, (uint64_t)proc);
	bytes_put_signed(&w->slice, (int64_t)cell->tid - info->pid);
	bytes_put_number(&w->slice, (uint64_t)ustack);
	bytes_put_number(&w->slice, (uint64_t)kstack);
	bytes_put_number(&w->slice, cell->count);
	return session_definer_thread(w->definer, p, cell->proc, cell->tid);
}

/* Only if some are known, or something follows: most slices have none. */
static void note_cpus(struct session_writer *w, const struct profile_cell *cells, size_t ncells,
		      bool follows)
{
	bool known = follows;

	for (size_t i = 0; i < ncells && !known; i++)
		known = cells[i].cpu != 0;
	if (!known)
		return;
	bytes_put_number(&w->slice, ncells);
	for (size_t i = 0; i < ncells; i++)
		bytes_put_number(&w->slice, cells[i].cpu);
}

static void note_use(struct session_writer *w, size_t nuse, bool follows)
{
	unsigned int next = 0;

	if (!nuse && !follows)
		return;
	bytes_put_number(&w->slice, nuse);
	for (size_t i = 0; i < nuse; i++) {
		bytes_put_number(&w->slice, w->use[i].cpu - next);
		bytes_put_number(&w->slice, w->use[i].user);
		bytes_put_number(&w->slice, w->use[i].kernel);
		next = w->use[i].cpu + 1u;
	}
}

/* Only if a reader would not find them out from the figures, and can add them up. */
static bool wants_weights(const struct profile_cell *cells, size_t ncells,
			  const struct profile_health *health)
{
	uint64_t sum = 0;
	bool differ = false;

	for (size_t i = 0; i < ncells; i++) {
		struct profile_cell plain = cells[i];
		uint64_t weight = profile_weight(health, &cells[i]);

		plain.weight = 0;
		differ |= weight != profile_weight(health, &plain);
		if (weight > SESSION_WEIGHT_MAX - sum)
			return false;
		sum += weight;
	}
	return differ;
}

static void note_weights(struct session_writer *w, const struct profile_cell *cells, size_t ncells,
			 const struct profile_health *health)
{
	bytes_put_number(&w->slice, ncells);
	for (size_t i = 0; i < ncells; i++)
		bytes_put_number(&w->slice, profile_weight(health, &cells[i]));
}

static int by_stacks(const void *a, const void *b)
{
	const struct profile_cell *x = a, *y = b;

	return ORDER(x->proc, y->proc)
		       ?: ORDER(x->ustack, y->ustack) ?: ORDER(x->kstack, y->kstack);
}

/*
 * Many threads that are followed have more cells than a reader accepts of a short slice. Then it
 * does not tell threads apart, nor CPUs. -EFBIG: they are still too many.
 */
static int merge_threads(struct session_writer *w, const struct profile_health *health,
			 const struct profile_cell **cells, size_t *ncells)
{
	size_t n = 0;

	if (GROW_TO(w->merged, *ncells, w->merged_room, SIZE_MAX))
		return -ENOMEM;
	memcpy(w->merged, *cells, *ncells * sizeof(**cells));
	qsort(w->merged, *ncells, sizeof(*w->merged), by_stacks);
	for (size_t i = 0; i < *ncells; i++) {
		struct profile_cell cell = w->merged[i];

		cell.weight = profile_weight(health, &cell);
		cell.tid = 0;
		cell.cpu = 0;
		if (n && !by_stacks(&w->merged[n - 1], &cell)) {
			w->merged[n - 1].count += cell.count;
			w->merged[n - 1].weight += cell.weight;
		} else {
			w->merged[n++] = cell;
		}
	}
	*cells = w->merged;
	*ncells = n;
	return session_may_have(n, health->elapsed) ? 0 : -EFBIG;
}

bool session_wants_inventory(const struct session_writer *w, uint64_t now)
{
	return session_definer_wants_inventory(w->definer, now);
}

/* The first slice is the start. What a replay has summed up has no clock of its own. */
static void note_start(struct session_writer *w, const struct profile *p,
		       const struct profile_health *health)
{
	const struct profile_replay *replay = profile_replay(p);
	struct profile_health last = *health;

	if (replay) /* more than this is not known of its machine */
		memcpy(w->machine.nodename, replay->host, sizeof(replay->host));
	else
		uname(&w->machine);
	w->start = health->elapsed < health->time ? health->time - health->elapsed : 0;
	if (!health->clock)
		query_health(p, &last);
	w->clock = last.clock - (last.time - w->start);
	session_definer_start(w->definer, w->start);
}

int session_note(struct session_writer *w, const struct profile *p,
		 const struct profile_cell *cells, size_t ncells,
		 const struct profile_health *health)
{
	size_t nuse = query_cpu_use(p, health->time, w->use, CPU_USE_MAX);
	bool weights;
	int err = 0;

	if (w->fd < 0)
		return 0;
	if (!session_may_have(ncells, health->elapsed))
		err = merge_threads(w, health, &cells, &ncells);
	if (err)
		return err;
	weights = wants_weights(cells, ncells, health);
	if (!w->started)
		note_start(w, p, health);
	w->time = health->time > w->start ? health->time - w->start : 0;
	w->noted = true;
	note_health(&w->slice, health);
	note_messages(w, p, health);
	bytes_put_number(&w->slice, ncells);
	for (size_t i = 0; i < ncells && !err; i++)
		err = note_cell(w, p, &cells[i]);
	note_cpus(w, cells, ncells, nuse || weights);
	note_use(w, nuse, weights);
	if (weights)
		note_weights(w, cells, ncells, health);
	if (!err)
		err = session_definer_update(w->definer, p);
	if (!err && w->slice.failed)
		err = -ENOMEM;
	return err ? err : session_definer_error(w->definer);
}

/*
 * Slices from *slice to last are joined until they are one that a reader accepts. The caller frees
 * *joined. -ENOMEM, -ENOENT, or -EFBIG: there is none.
 */
static int join_past(const struct profile *p, uint64_t *slice, uint64_t last,
		     struct profile_cell **joined, size_t *count, struct profile_health *health)
{
	size_t room = 0;
	int err;

	*joined = NULL;
	*count = 0;
	memset(health, 0, sizeof(*health));
	do {
		const struct profile_cell *cells;
		struct profile_health one;
		size_t n;

		if (!query_slice_cells(p, *slice, &cells, &n, &one))
			return -ENOENT;
		err = GROW_TO(*joined, *count + n + 1, room, SIZE_MAX);
		if (err)
			return err;
		if (n)
			memcpy(*joined + *count, cells, n * sizeof(*cells));
		*count += n;
		profile_health_add(health, &one);
	} while (!session_may_have(*count, health->elapsed) && (*slice)++ < last);
	return session_may_have(*count, health->elapsed) ? 0 : -EFBIG;
}

int session_note_past(struct session_writer *w, const struct profile *p, uint64_t *slice,
		      uint64_t last, bool newest)
{
	struct profile_cell *cells;
	struct profile_health health;
	size_t ncells;
	int err = join_past(p, slice, last, &cells, &ncells, &health);

	if (!err) {
		w->past = true;
		session_definer_past(w->definer, health.time, newest && *slice == last);
		err = session_note(w, p, cells, ncells, &health);
	}
	free(cells);
	return err;
}

uint64_t session_writer_size(const struct session_writer *w)
{
	return (uint64_t)w->end;
}

/* --- the file that is made ------------------------------------------------------------------- */

/*
 * A mistyped name after --record must not destroy a file that is not a session, and root does not
 * write through links that other users made.
 */
static bool is_session(int fd, const struct stat *st)
{
	char begin[SESSION_MAGIC_SIZE];

	return S_ISREG(st->st_mode) &&
	       (!st->st_size || (pread(fd, begin, sizeof(begin), 0) == sizeof(begin) &&
				 memcmp(begin, SESSION_MAGIC, SESSION_MAGIC_SIZE) == 0));
}

/* -EBUSY: another recorder has the lock. A file system without locks has none to respect. */
static int lock(int fd, const char *path, char *error, size_t size)
{
	if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return 0;
	snprintf(error, size, "%s: is being recorded by another stacktop", path);
	return -EBUSY;
}

/* Locks what is ours to overwrite, and empties it. The owner of a file can always read it. */
static int take_over(int fd, const char *path, char *error, size_t size)
{
	struct stat st;
	int err;

	if (fstat(fd, &st) || !is_session(fd, &st)) {
		snprintf(error, size, "%s: exists and is not a session; it was not changed", path);
		return -EEXIST;
	}
	if (st.st_uid != geteuid() || st.st_nlink != 1) {
		snprintf(error, size, "%s: %s; it was not changed", path,
			 st.st_nlink != 1 ? "has another hard link" : "belongs to another user");
		return -EPERM;
	}
	err = lock(fd, path, error, size);
	if (err)
		return err;
	if (fchmod(fd, 0600) || ftruncate(fd, 0)) {
		err = -errno;
		snprintf(error, size, "%s: %s", path, strerror(-err));
		return err;
	}
	return 0;
}

/* An existing file must be a session, or empty. Returns its descriptor or -errno. */
static int open_old(const struct safepath *at, const char *path, char *error, size_t size)
{
	int fd = openat(at->folder, at->name,
			O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err = fd < 0 ? -errno : 0;

	if (err) {
		snprintf(error, size, "%s: %s", path,
			 err == -ELOOP ? "is a link, which is not followed" : strerror(-err));
		return err;
	}
	err = take_over(fd, path, error, size);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int open_at(const struct safepath *at, const char *path, bool fresh, char *error,
		   size_t size)
{
	int fd = openat(at->folder, at->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	int err;

	if (fd < 0 && errno == EEXIST && !fresh)
		return open_old(at, path, error, size);
	if (fd < 0) {
		err = -errno;
		snprintf(error, size, "%s: %s", path, strerror(-err));
		return err;
	}
	/* Another recorder may have found the new, empty file before it was locked. */
	err = lock(fd, path, error, size);
	if (err)
		close(fd);
	return err ? err : fd;
}

static int file_new(const char *path, bool fresh, char *error, size_t size)
{
	struct safepath at;
	int fd = safepath_open(&at, path, SAFEPATH_NOFOLLOW);

	if (fd) {
		snprintf(error, size, "%s: %s", path, at.why[0] ? at.why : strerror(-fd));
		return fd;
	}
	fd = open_at(&at, path, fresh, error, size);
	safepath_close(&at);
	return fd;
}

int session_file_new(const char *path, char *error, size_t size)
{
	return file_new(path, false, error, size);
}

int session_file_fresh(const char *path, char *error, size_t size)
{
	return file_new(path, true, error, size);
}

/* --- chunks ---------------------------------------------------------------------------------- */

/* Appends a chunk to w->out. */
static int pack(struct session_writer *w, enum session_chunk_type type, uint64_t time,
		const void *data, size_t size)
{
	struct session_chunk head = {.magic = SESSION_CHUNK_MAGIC,
				     .type = (uint8_t)type,
				     .size = (uint32_t)size,
				     .time = time};
	size_t room = ZSTD_compressBound(size), begin = w->out.size;
	uint8_t *to;
	size_t n;

	if (size > SESSION_CHUNK_MAX || room > SESSION_CHUNK_MAX + SESSION_CHUNK_MAX / 8)
		return -EFBIG;
	to = bytes_grow(&w->out, sizeof(head) + room);
	if (!to)
		return -ENOMEM;
	n = ZSTD_compressCCtx(w->zstd, to + sizeof(head), room, size ? data : "", size, LEVEL);
	if (ZSTD_isError(n))
		return -ENOMEM;
	if (n > SESSION_CHUNK_MAX)
		return -EFBIG;
	head.packed = (uint32_t)n;
	head.crc = (uint32_t)crc32(0, (const void *)&head, offsetof(struct session_chunk, crc));
	head.crc = (uint32_t)crc32(head.crc, to + sizeof(head), (uInt)n);
	memcpy(w->out.data + begin, &head, sizeof(head));
	w->out.size += sizeof(head) + n;
	return 0;
}

static int write_out(struct session_writer *w)
{
	size_t done = 0;

	while (done < w->out.size) {
		ssize_t n = write(w->fd, w->out.data + done, w->out.size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	w->end += (off_t)w->out.size;
	w->out.size = 0;
	return 0;
}

/* Half a slice is of no use: a reader would stop there as well. */
static void give_up(struct session_writer *w)
{
	if (ftruncate(w->fd, w->end))
		(void)w; /* read-only by now, say */
	close(w->fd);
	w->fd = -1;
}

/* The start of the first slice is that of the session. */
static int pack_start(struct session_writer *w)
{
	struct outbytes start = {0};
	int err;

	bytes_put_number(&start, w->clock);
	bytes_put_text(&start, w->machine.nodename);
	bytes_put_text(&start, w->machine.release);
	bytes_put_text(&start, w->machine.machine);
	err = start.failed ? -ENOMEM : pack(w, SESSION_START, 0, start.data, start.size);
	bytes_free(&start);
	return err;
}

static int pack_noted(struct session_writer *w)
{
	size_t at = 0, size;
	const uint8_t *part;
	int err = w->started ? 0 : pack_start(w);

	while (!err && (part = session_definer_part(w->definer, &at, &size)))
		err = pack(w, SESSION_DEFINITIONS, 0, part, size);
	return err ? err : pack(w, SESSION_SLICE, w->time, w->slice.data, w->slice.size);
}

int session_pack(struct session_writer *w)
{
	int err;

	if (w->fd < 0 || !w->noted)
		return 0;
	err = w->slice.failed || session_definer_error(w->definer) ? -ENOMEM : pack_noted(w);
	w->started = true;
	w->noted = false;
	w->slice.size = 0;
	session_definer_clear(w->definer);
	return err;
}

int session_flush(struct session_writer *w)
{
	int err = session_pack(w);

	if (w->fd < 0)
		return 0;
	if (!err && w->out.size)
		err = write_out(w);
	if (err)
		give_up(w);
	return err;
}

int session_writer_new(const char *path, struct session_writer **out, char *error, size_t size)
{
	int fd = session_file_new(path, error, size);

	*out = NULL;
	return fd < 0 ? fd : session_writer_on(fd, path, out, error, size);
}

int session_writer_on(int fd, const char *path, struct session_writer **out, char *error,
		      size_t size)
{
	struct session_writer *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	*out = NULL;
	if (w) {
		w->fd = fd;
		w->zstd = ZSTD_createCCtx();
		w->definer = session_definer_new();
		bytes_put(&w->out, SESSION_MAGIC, SESSION_MAGIC_SIZE);
		err = w->zstd && w->definer && !w->out.failed ? write_out(w) : -ENOMEM;
	}
	if (err) {
		snprintf(error, size, "%s: %s", path, strerror(-err));
		if (w)
			give_up(w);
		else
			close(fd);
		session_writer_free(w);
		return err;
	}
	*out = w;
	return 0;
}

int session_writer_end(struct session_writer *w)
{
	int err;

	if (w->fd < 0)
		return 0;
	w->out.size = 0;
	err = pack(w, SESSION_END, 0, NULL, 0);
	if (!err)
		err = write_out(w);
	if (err) {
		give_up(w);
		return err;
	}
	err = close(w->fd) ? -errno : 0; /* a network file system may report errors here */
	w->fd = -1;
	return err;
}

void session_writer_free(struct session_writer *w)
{
	if (!w)
		return;
	session_writer_end(w);
	ZSTD_freeCCtx(w->zstd);
	session_definer_free(w->definer);
	bytes_free(&w->slice);
	bytes_free(&w->out);
	free(w->merged);
	free(w);
}
