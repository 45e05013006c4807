// SPDX-License-Identifier: GPL-2.0-or-later
/* See queue.h. */
#include "tui/push/queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "symbols/base/clock.h"
#include "symbols/base/grow.h"
#include "tui/push/pack.h"
#include "tui/util/safepath.h"

#define MAGIC	    "STKpush1"
#define SUFFIX	    ".push"
#define OPEN_NAME   "open" /* when the interval began that is not written yet */
#define LOCK_NAME   "lock"
#define ENTRIES_MAX 100000u
#define NUMBER_MAX  ((uint64_t)1 << 60)

struct queue_head {
	char magic[8];
	uint8_t id[PUSH_ID];
	uint64_t samples;
	uint64_t size; /* of what follows */
	uint32_t crc;  /* CRC-32 (RFC 1952) of all before */
	uint32_t unused;
	struct push_progress progress; /* changes */
};

_Static_assert(sizeof(struct queue_head) == 64, "the head has no padding");

struct queue_entry {
	uint64_t number, samples;
	uint8_t id[PUSH_ID];
	struct push_progress progress;
	uint8_t *data; /* NULL: in a file */
	size_t size;
};

struct push_queue {
	pthread_mutex_t lock;
	int folder; /* -1: in memory */
	int locked;
	uint64_t most, next, left_open;
	uint64_t unwritten;	     /* bytes, of state.unwritten */
	struct queue_entry *entries; /* by number; those before `first` are gone */
	size_t first, count, room;
	struct push_queue_state state;
	uint64_t *gone; /* numbers of entries whose files are still to be removed */
	size_t ngone, gone_room;
};

static void name_of(uint64_t number, char to[40])
{
	snprintf(to, 40, "%016" PRIx64 SUFFIX, number);
}

static uint64_t bytes_of(const struct queue_entry *entry)
{
	return sizeof(struct queue_head) + entry->size;
}

static uint32_t crc_of(const struct queue_head *head)
{
	return (uint32_t)crc32(0, (const Bytef *)head, offsetof(struct queue_head, crc));
}

/* --- files ----------------------------------------------------------------------------------- */

static int write_all_at(int fd, const void *data, size_t size)
{
	const uint8_t *from = data;

	while (size) {
		ssize_t n = write(fd, from, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			from += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

/* Appears under its name when it is complete, and stays if the machine fails. */
static int write_file(const struct push_queue *q, const struct queue_entry *entry,
		      const uint8_t *data)
{
	struct queue_head head = {
		.samples = entry->samples, .size = entry->size, .progress = entry->progress};
	char name[40], fresh[48];
	int fd, err;

	memcpy(head.magic, MAGIC, sizeof(head.magic));
	memcpy(head.id, entry->id, sizeof(head.id));
	head.crc = crc_of(&head);
	name_of(entry->number, name);
	snprintf(fresh, sizeof(fresh), ".%s", name);
	fd = openat(q->folder, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = write_all_at(fd, &head, sizeof(head));
	if (!err)
		err = write_all_at(fd, data, entry->size);
	if (!err && fdatasync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && (renameat(q->folder, fresh, q->folder, name) || fsync(q->folder)))
		err = -errno;
	if (err)
		unlinkat(q->folder, fresh, 0);
	return err;
}

static int open_entry(const struct push_queue *q, uint64_t number, int flags)
{
	char name[40];

	name_of(number, name);
	return openat(q->folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* False: it is damaged, or no such file. */
static bool read_head(int fd, struct queue_head *head)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       pread(fd, head, sizeof(*head), 0) == sizeof(*head) &&
	       !memcmp(head->magic, MAGIC, sizeof(head->magic)) && head->crc == crc_of(head) &&
	       head->size <= PUSH_PACK_MAX && (uint64_t)st.st_size == sizeof(*head) + head->size;
}

/* Only this says that a file is no entry; other errors may pass. */
static bool is_damage(int err)
{
	return err == -ENOENT || err == -ELOOP || err == -ENXIO || err == -EBADMSG;
}

/* -EBADMSG: the file is shorter than it was; -ENOMEM, or an error of open(2) or pread(2). */
static int read_data(const struct push_queue *q, const struct queue_entry *entry, uint8_t **out)
{
	int fd = open_entry(q, entry->number, O_RDONLY), err = fd < 0 ? -errno : 0;
	uint8_t *data = err ? NULL : malloc(entry->size + 1);
	size_t at = 0;

	if (!err && !data)
		err = -ENOMEM;
	while (!err && at < entry->size) {
		ssize_t n = pread(fd, data + at, entry->size - at,
				  (off_t)(sizeof(struct queue_head) + at));

		err = n < 0 ? -errno : n ? 0 : -EBADMSG;
		at += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	if (err)
		free(data);
	*out = err ? NULL : data;
	return err;
}

/* --- entries; the lock is held --------------------------------------------------------------- */

static struct queue_entry *find(struct push_queue *q, uint64_t number)
{
	for (size_t i = q->first; i < q->count; i++)
		if (q->entries[i].number == number)
			return &q->entries[i];
	return NULL;
}

static void unlink_entry(const struct push_queue *q, uint64_t number)
{
	char name[40];

	name_of(number, name);
	if (q->folder >= 0)
		unlinkat(q->folder, name, 0);
}

/* Those before it stay. */
static void forget(struct push_queue *q, struct queue_entry *entry)
{
	size_t at = (size_t)(entry - q->entries);

	q->state.bytes -= bytes_of(entry);
	q->state.entries--;
	if (entry->data && q->folder >= 0) {
		q->unwritten -= bytes_of(entry);
		q->state.unwritten--;
	}
	free(entry->data);
	memmove(&q->entries[q->first + 1], &q->entries[q->first],
		(at - q->first) * sizeof(*q->entries));
	q->first++;
	if (q->first == q->count)
		q->first = q->count = 0;
}

static void drop(struct push_queue *q, struct queue_entry *entry)
{
	q->state.dropped++;
	q->state.dropped_samples += entry->samples;
	/* Without memory the file stays, and is sent by the next run. */
	if (q->folder >= 0 && !GROW(q->gone, q->ngone, q->gone_room, SIZE_MAX))
		q->gone[q->ngone++] = entry->number;
	forget(q, entry);
}

/* The lock is not held: a disk may be slow. */
static void remove_gone(struct push_queue *q)
{
	uint64_t *gone;
	size_t n;

	pthread_mutex_lock(&q->lock);
	gone = q->gone;
	n = q->ngone;
	q->gone = NULL;
	q->ngone = q->gone_room = 0;
	pthread_mutex_unlock(&q->lock);
	for (size_t i = 0; i < n; i++)
		unlink_entry(q, gone[i]);
	free(gone);
}

/* A disk that is full is no reason to use as much memory as there was room on it. */
static void drop_unwritten(struct push_queue *q, uint64_t bytes)
{
	for (size_t i = q->first; q->state.unwritten && q->unwritten + bytes > PUSH_MEMORY; i++)
		if (q->entries[i].data)
			drop(q, &q->entries[i]);
}

static int append(struct push_queue *q, const struct queue_entry *entry)
{
	if (q->first && q->count == q->room) {
		memmove(q->entries, q->entries + q->first,
			(q->count - q->first) * sizeof(*q->entries));
		q->count -= q->first;
		q->first = 0;
	}
	if (GROW(q->entries, q->count, q->room, ENTRIES_MAX))
		return -ENOMEM;
	q->entries[q->count++] = *entry;
	q->state.entries++;
	q->state.bytes += bytes_of(entry);
	if (entry->data && q->folder >= 0) {
		q->unwritten += bytes_of(entry);
		q->state.unwritten++;
	}
	return 0;
}

static void make_room(struct push_queue *q, uint64_t bytes)
{
	while (q->state.entries &&
	       (q->state.bytes + bytes > q->most || q->state.entries >= ENTRIES_MAX))
		drop(q, &q->entries[q->first]);
}

int push_queue_add(struct push_queue *q, uint8_t *data, size_t size, uint64_t samples)
{
	struct queue_entry entry = {.samples = samples, .data = data, .size = size};
	int err, unwritten = 0;

	if (getrandom(entry.id, sizeof(entry.id), 0) != sizeof(entry.id))
		/* A kernel without it has no BPF either. */
		memcpy(entry.id, &(uint64_t){clock_ns(CLOCK_REALTIME)}, sizeof(uint64_t));
	pthread_mutex_lock(&q->lock);
	entry.number = q->next++;
	err = bytes_of(&entry) > q->most ? -ENOSPC : 0;
	if (!err)
		make_room(q, bytes_of(&entry));
	pthread_mutex_unlock(&q->lock);
	remove_gone(q);
	if (!err && q->folder >= 0) {
		unwritten = write_file(q, &entry, data);
		if (!unwritten) {
			free(data);
			data = entry.data = NULL;
		}
	}
	pthread_mutex_lock(&q->lock);
	q->state.error = unwritten;
	if (unwritten && bytes_of(&entry) > PUSH_MEMORY)
		err = -ENOSPC;
	if (unwritten && !err)
		drop_unwritten(q, bytes_of(&entry));
	if (!err)
		err = append(q, &entry);
	if (err) {
		q->state.dropped++;
		q->state.dropped_samples += samples;
		free(data);
	}
	pthread_mutex_unlock(&q->lock);
	if (err)
		unlink_entry(q, entry.number);
	remove_gone(q);
	return err;
}

/* True: its data has to be read from its file. */
static bool take_copy(const struct queue_entry *from, struct push_entry *out)
{
	*out = (struct push_entry){
		.number = from->number, .progress = from->progress, .size = from->size};
	memcpy(out->id, from->id, sizeof(out->id));
	if (from->data) {
		out->data = malloc(from->size + 1);
		if (out->data)
			memcpy(out->data, from->data, from->size);
	}
	return from->data == NULL;
}

bool push_queue_first(struct push_queue *q, struct push_entry *out)
{
	struct queue_entry entry;
	bool any, in_file = false;
	int err = 0;

	do {
		pthread_mutex_lock(&q->lock);
		any = q->first < q->count;
		if (any) {
			entry = q->entries[q->first];
			in_file = take_copy(&entry, out);
		}
		pthread_mutex_unlock(&q->lock);
		if (any && in_file)
			err = read_data(q, &entry, &out->data);
		if (any && in_file && is_damage(err))
			push_queue_damaged(q, entry.number);
	} while (any && in_file && is_damage(err));
	pthread_mutex_lock(&q->lock);
	q->state.unreadable = any && !out->data ? (in_file ? err : -ENOMEM) : 0;
	pthread_mutex_unlock(&q->lock);
	return any && out->data;
}

void push_entry_free(struct push_entry *entry)
{
	free(entry->data);
	entry->data = NULL;
}

bool push_queue_note(struct push_queue *q, uint64_t number, const struct push_progress *progress)
{
	struct queue_entry *entry;
	bool in_file;
	int fd;

	pthread_mutex_lock(&q->lock);
	entry = find(q, number);
	if (entry)
		entry->progress = *progress;
	in_file = entry && !entry->data;
	pthread_mutex_unlock(&q->lock);
	fd = in_file ? open_entry(q, number, O_WRONLY) : -1;
	if (fd >= 0) {
		if (pwrite(fd, progress, sizeof(*progress),
			   offsetof(struct queue_head, progress)) == sizeof(*progress))
			fdatasync(fd);
		close(fd);
	}
	return entry != NULL;
}

void push_queue_remove(struct push_queue *q, uint64_t number)
{
	struct queue_entry *entry;

	pthread_mutex_lock(&q->lock);
	entry = find(q, number);
	if (entry)
		forget(q, entry);
	pthread_mutex_unlock(&q->lock);
	unlink_entry(q, number);
}

void push_queue_damaged(struct push_queue *q, uint64_t number)
{
	pthread_mutex_lock(&q->lock);
	q->state.damaged += find(q, number) != NULL;
	pthread_mutex_unlock(&q->lock);
	push_queue_remove(q, number);
}

void push_queue_state(struct push_queue *q, struct push_queue_state *out)
{
	pthread_mutex_lock(&q->lock);
	*out = q->state;
	pthread_mutex_unlock(&q->lock);
}

/* --- the folder ------------------------------------------------------------------------------ */

/* A link that another user has made leads nowhere (tui/util/safepath.h). */
static int find_folder(struct push_queue *q, const char *path, char *error, size_t size)
{
	char inside[PATH_MAX];
	struct safepath at;
	int err;

	if (snprintf(inside, sizeof(inside), "%s/" LOCK_NAME, path) >= (int)sizeof(inside))
		err = -ENAMETOOLONG;
	else
		err = safepath_open(&at, inside, SAFEPATH_MAKE | SAFEPATH_NOFOLLOW);
	if (!err) {
		q->folder = openat(at.folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = q->folder < 0 ? -errno : 0;
		safepath_close(&at);
	}
	if (err)
		snprintf(error, size, "%s: %s", path,
			 err == -EPERM && *at.why ? at.why : strerror(-err));
	return err;
}

static int open_folder(struct push_queue *q, const char *path, char *error, size_t size)
{
	struct stat st;
	int err = find_folder(q, path, error, size);

	if (err)
		return err;
	if (fstat(q->folder, &st) || st.st_uid != geteuid() || st.st_mode & 022) {
		snprintf(error, size, "%s: %s", path,
			 st.st_uid != geteuid() ? "belongs to another user"
						: "others may write to it");
		return -EPERM;
	}
	q->locked = openat(q->folder, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (q->locked < 0 || flock(q->locked, LOCK_EX | LOCK_NB)) {
		err = -errno;
		snprintf(error, size, "%s: %s", path,
			 err == -EWOULDBLOCK ? "is used by another stacktop" : strerror(-err));
		return err;
	}
	return 0;
}

static bool number_of(const char *name, uint64_t *number)
{
	char again[40], *end;

	*number = strtoull(name, &end, 16);
	name_of(*number, again);
	return *number < NUMBER_MAX && !strcmp(again, name);
}

static int by_number(const void *a, const void *b)
{
	const struct queue_entry *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int find_entry(struct push_queue *q, const char *name)
{
	struct queue_entry entry = {0};
	struct queue_head head;
	int fd, err = 0;

	if (name[0] == '.' && number_of(name + 1, &entry.number))
		unlinkat(q->folder, name, 0); /* was never complete */
	if (!number_of(name, &entry.number))
		return 0;
	fd = open_entry(q, entry.number, O_RDONLY);
	if (fd < 0 && !is_damage(-errno))
		return -errno;
	if (read_head(fd, &head)) {
		entry.samples = head.samples;
		entry.size = (size_t)head.size;
		entry.progress = head.progress;
		memcpy(entry.id, head.id, sizeof(entry.id));
		err = append(q, &entry);
	} else {
		q->state.damaged++;
		unlinkat(q->folder, name, 0);
	}
	if (fd >= 0)
		close(fd);
	return err;
}

static int find_entries(struct push_queue *q)
{
	int fd = openat(q->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(dir)))
		err = find_entry(q, entry->d_name);
	closedir(dir);
	if (q->count)
		qsort(q->entries, q->count, sizeof(*q->entries), by_number);
	q->state.found = q->count;
	q->next = q->count ? q->entries[q->count - 1].number + 1 : 0;
	make_room(q, 0);
	remove_gone(q);
	return err;
}

/* What says "open" is replaced as a whole, as entries are. */
static void read_open(struct push_queue *q)
{
	char text[32] = "";
	int fd = openat(q->folder, OPEN_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0)
		q->left_open = strtoull(text, NULL, 10);
	close(fd);
}

uint64_t push_queue_left_open(const struct push_queue *q)
{
	return q->left_open;
}

void push_queue_mark_open(struct push_queue *q, uint64_t since)
{
	char text[32];
	int fd, n;

	if (q->folder < 0)
		return;
	if (!since) {
		unlinkat(q->folder, OPEN_NAME, 0);
		return;
	}
	n = snprintf(text, sizeof(text), "%" PRIu64 "\n", since);
	fd = openat(q->folder, "." OPEN_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return;
	if (!write_all_at(fd, text, (size_t)n) && !fdatasync(fd))
		renameat(q->folder, "." OPEN_NAME, q->folder, OPEN_NAME);
	close(fd);
}

/* --- life ------------------------------------------------------------------------------------ */

int push_queue_open(const char *folder, uint64_t most, struct push_queue **out, char *error,
		    size_t size)
{
	struct push_queue *q = calloc(1, sizeof(*q));
	int err = 0;

	*out = NULL;
	if (!q) {
		snprintf(error, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	pthread_mutex_init(&q->lock, NULL);
	q->folder = q->locked = -1;
	q->most = most;
	if (folder)
		err = open_folder(q, folder, error, size);
	if (folder && !err) {
		err = find_entries(q);
		if (err)
			snprintf(error, size, "%s: %s", folder, strerror(-err));
		read_open(q);
	}
	if (err) {
		push_queue_free(q);
		return err;
	}
	*out = q;
	return 0;
}

void push_queue_free(struct push_queue *q)
{
	if (!q)
		return;
	for (size_t i = q->first; i < q->count; i++)
		free(q->entries[i].data);
	free(q->entries);
	free(q->gone);
	if (q->locked >= 0)
		close(q->locked);
	if (q->folder >= 0)
		close(q->folder);
	pthread_mutex_destroy(&q->lock);
	free(q);
}
