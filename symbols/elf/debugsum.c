// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sums and budget belong to the process: its threads look at the same files, and share the time
 * spent on them. A sum is computed without the lock, so two threads may compute the same one.
 */
#include "symbols/elf/debugsum.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include <zlib.h>

#include "symbols/base/clock.h"
#include "symbols/elf/elffile.h"
#include "symbols/base/work.h"

#define CHUNK 65536u

struct debugsum_kept {
	struct stat file; /* st_ino 0: none */
	uint64_t used;
	uint32_t sum;
};

static struct {
	pthread_mutex_t lock;
	struct debugsum_kept kept[DEBUGSUM_KEPT];
	uint64_t turn;
	uint64_t put_off;
	uint64_t left; /* bytes left, and until when */
	time_t until;  /* CLOCK_MONOTONIC seconds */
} sums = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* The lock is held. The slot of the file, or the one that it may take. */
static struct debugsum_kept *find(const struct stat *file)
{
	struct debugsum_kept *oldest = &sums.kept[0];

	for (unsigned int i = 0; i < DEBUGSUM_KEPT; i++) {
		if (is_same(&sums.kept[i].file, file))
			return &sums.kept[i];
		if (sums.kept[i].used < oldest->used)
			oldest = &sums.kept[i];
	}
	return oldest;
}

/* The lock is held. */
static bool spend(uint64_t bytes)
{
	time_t now = clock_seconds();

	if (now >= sums.until) {
		sums.until = now + DEBUGSUM_SECONDS;
		sums.left = DEBUGSUM_BYTES;
	}
	if (bytes > sums.left)
		return false;
	sums.left -= bytes;
	return true;
}

/* 1: the sum is known, or there is an error; 0: it has to be computed. */
static int look_up(const struct stat *file, uint32_t *sum)
{
	struct debugsum_kept *kept;
	int err = 0;

	pthread_mutex_lock(&sums.lock);
	kept = find(file);
	if (is_same(&kept->file, file)) {
		kept->used = ++sums.turn;
		*sum = kept->sum;
		err = 1;
	} else if (!spend((uint64_t)file->st_size)) {
		sums.put_off++;
		err = -EAGAIN;
	}
	pthread_mutex_unlock(&sums.lock);
	return err;
}

static void keep(const struct stat *file, uint32_t sum)
{
	struct debugsum_kept *kept;

	pthread_mutex_lock(&sums.lock);
	kept = find(file);
	*kept = (struct debugsum_kept){*file, ++sums.turn, sum};
	pthread_mutex_unlock(&sums.lock);
}

static int sum_up(const struct elf_file *file, uint64_t size, uint32_t *sum)
{
	uint8_t chunk[CHUNK];
	uLong crc = crc32(0, NULL, 0);
	uint64_t part;
	int err = 0;

	for (uint64_t at = 0; at < size && !err; at += part) {
		part = size - at < CHUNK ? size - at : CHUNK;
		err = work_add(elf_file_work(file), part / 64);
		if (!err)
			err = elf_file_read(file, at, chunk, part);
		if (!err)
			crc = crc32(crc, chunk, (uInt)part);
	}
	*sum = (uint32_t)crc;
	return err;
}

int debugsum_of(const struct elf_file *file, uint32_t *sum)
{
	struct stat before, after;
	int err;

	if (fstat(elf_file_fd(file), &before) < 0)
		return -errno;
	if (before.st_size < 0 || (uint64_t)before.st_size > DEBUGSUM_BYTES)
		return -EFBIG;
	err = look_up(&before, sum);
	if (err)
		return err < 0 ? err : 0;
	err = sum_up(file, (uint64_t)before.st_size, sum);
	/* A file that was written meanwhile has the sum of neither content. */
	if (!err && !fstat(elf_file_fd(file), &after) && is_same(&before, &after))
		keep(&before, *sum);
	return err;
}

uint64_t debugsum_put_off(void)
{
	uint64_t count;

	pthread_mutex_lock(&sums.lock);
	count = sums.put_off;
	pthread_mutex_unlock(&sums.lock);
	return count;
}
