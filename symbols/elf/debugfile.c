// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the separate file that has the symbols of a stripped file. All paths are resolved below the
 * root of the process that maps the file, since a path taken from the file means nothing elsewhere.
 * Build-ids mean the same everywhere, so our own debug files serve a container's files, too.
 */
#include "symbols/elf/debugfile.h"

#include <limits.h>
#include <lzma.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "symbols/base/clock.h"
#include "symbols/base/limits.h"
#include "symbols/base/work.h"
#include "symbols/elf/remotedebug.h"
#include "symbols/files/fileasker.h"

#define SUM_CHUNK   65536u
#define FIRST_BLOCK ((size_t)256 << 10) /* of a file inside of another one */

/*
 * Sums and budget belong to the process: its threads look at the same files, and share the time
 * spent on them. A sum is computed without the lock, so two threads may compute the same one.
 */
struct debugsum_kept {
	struct stat file; /* st_ino 0: none */
	uint64_t used;
	uint32_t sum;
};

static struct {
	pthread_mutex_t lock;
	struct debugsum_kept kept[DEBUGSUM_KEPT];
	uint64_t turn;
	uint64_t left; /* bytes left, and until when */
	time_t until;  /* CLOCK_MONOTONIC seconds */
} sums = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic uint64_t sums_put_off;

bool debugfile_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* The lock is held. The slot of the file, or the one that it may take. */
static struct debugsum_kept *sum_find(const struct stat *file)
{
	struct debugsum_kept *oldest = &sums.kept[0];

	for (unsigned int i = 0; i < DEBUGSUM_KEPT; i++) {
		if (debugfile_is_same(&sums.kept[i].file, file))
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

static int sum_up(const struct elf_file *file, uint64_t size, uint32_t *sum)
{
	uint8_t chunk[SUM_CHUNK];
	uLong crc = crc32(0, NULL, 0);
	uint64_t part;
	int err = 0;

	for (uint64_t at = 0; at < size && !err; at += part) {
		part = size - at < SUM_CHUNK ? size - at : SUM_CHUNK;
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
	struct debugsum_kept *kept;
	bool known;
	int err = 0;

	if (fstat(elf_file_fd(file), &before) < 0)
		return -errno;
	if (before.st_size < 0 || (uint64_t)before.st_size > DEBUGSUM_BYTES)
		return -EFBIG;
	pthread_mutex_lock(&sums.lock);
	kept = sum_find(&before);
	known = debugfile_is_same(&kept->file, &before);
	if (known) {
		kept->used = ++sums.turn;
		*sum = kept->sum;
	} else if (!spend((uint64_t)before.st_size)) {
		atomic_fetch_add(&sums_put_off, 1);
		err = -EAGAIN;
	}
	pthread_mutex_unlock(&sums.lock);
	if (known || err)
		return err;
	err = sum_up(file, (uint64_t)before.st_size, sum);
	/* A file that was written meanwhile has the sum of neither content. */
	if (!err && !fstat(elf_file_fd(file), &after) && debugfile_is_same(&before, &after)) {
		pthread_mutex_lock(&sums.lock);
		*sum_find(&before) = (struct debugsum_kept){before, ++sums.turn, *sum};
		pthread_mutex_unlock(&sums.lock);
	}
	return err;
}

uint64_t debugsum_put_off(void)
{
	return atomic_load(&sums_put_off);
}

/* .gnu_debuglink: a name, zeros up to a multiple of four, and the CRC. */
static void read_name_and_crc(const struct elf_file *file, struct debug_link *out)
{
	struct elf_section section;
	size_t length, at;

	if (elf_file_section(file, ".gnu_debuglink", &section))
		return;
	length = strnlen((const char *)section.data, section.size);
	at = (length + 4) & ~(size_t)3;
	if (!length || length >= sizeof(out->name) || section.size < at + 4 ||
	    memchr(section.data, '/', length) || !strcmp((const char *)section.data, "..") ||
	    !strcmp((const char *)section.data, "."))
		return;
	memcpy(out->name, section.data, length + 1);
	memcpy(&out->crc, section.data + at, sizeof(out->crc));
	out->has_crc = true;
}

/* The folder of an open file, "" when it has no path. */
static void folder_of(int fd, char *dir, size_t size)
{
	char self[32], *slash;
	ssize_t n;

	*dir = '\0';
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = fd < 0 ? -1 : readlink(self, dir, size - 1);
	dir[n > 0 ? n : 0] = '\0';
	slash = strrchr(dir, '/');
	if (!slash || dir[0] != '/')
		*dir = '\0';
	else
		slash[slash == dir] = '\0';
}

/* Address of the first executable segment; 0: there is none. */
static uint64_t code_start(const struct elf_file *file)
{
	size_t count;
	const struct elf_load *loads = elf_file_loads(file, &count);

	for (size_t i = 0; i < count; i++)
		if (loads[i].exec)
			return loads[i].vaddr;
	return 0;
}

void debug_link_read(const struct elf_file *file, struct debug_link *out)
{
	*out = (struct debug_link){.machine = elf_file_machine(file), .code = code_start(file)};
	out->id_length = (uint8_t)elf_file_build_id(file, out->id);
	read_name_and_crc(file, out);
	folder_of(elf_file_fd(file), out->dir, sizeof(out->dir));
}

static bool id_path(char *path, size_t size, const char *folder, const uint8_t *id, size_t length)
{
	size_t at;
	int n;

	if (length < 2)
		return false;
	n = snprintf(path, size, "%s/.build-id/%02x/", folder, id[0]);
	if (n < 0 || (size_t)n + 2 * length + sizeof(".debug") > size)
		return false;
	at = (size_t)n;
	for (size_t i = 1; i < length; i++, at += 2)
		snprintf(path + at, size - at, "%02x", id[i]);
	memcpy(path + at, ".debug", sizeof(".debug"));
	return true;
}

/* The n-th path to try; false: there are no more. An empty path is to be skipped. */
static bool path_at(const struct debug_link *link, const char *folder, unsigned int n, char *path,
		    size_t size)
{
	int length = 0;

	*path = '\0';
	switch (n) {
	case 0:
		if (!id_path(path, size, folder, link->id, link->id_length))
			*path = '\0';
		return true;
	case 1:
		length = snprintf(path, size, "%s/%s", link->dir, link->name);
		break;
	case 2:
		length = snprintf(path, size, "%s/.debug/%s", link->dir, link->name);
		break;
	case 3:
		length = snprintf(path, size, "%s%s/%s", folder, link->dir, link->name);
		break;
	default:
		return false;
	}
	if (!link->has_crc || !*link->dir || length < 0 || (size_t)length >= size)
		*path = '\0';
	return true;
}

static bool id_is(const struct elf_file *file, const uint8_t *id, size_t length)
{
	uint8_t other[BUILD_ID_MAX];

	return length && elf_file_build_id(file, other) == length && !memcmp(id, other, length);
}

static bool belongs(const struct debug_link *link, const struct elf_file *debug)
{
	uint8_t other[BUILD_ID_MAX];
	uint32_t sum = 0;

	if (elf_file_machine(debug) != link->machine)
		return false;
	/* Prelink moves a library, and not its debug file: all names would be others'. */
	if (link->code && code_start(debug) && code_start(debug) != link->code)
		return false;
	if (link->id_length && elf_file_build_id(debug, other))
		return id_is(debug, link->id, link->id_length);
	return link->has_crc && !debugsum_of(debug, &sum) && sum == link->crc;
}

static int fd_in(const struct debug_place *place, int root, const char *path)
{
	return fileasker_open(place->asker, root, place->pid, path);
}

/* Closes fd, which may be an error. */
static int open_fd(int fd, struct elf_file **out)
{
	int err = fd < 0 ? fd : elf_file_open_fd(fd, out);

	if (fd >= 0)
		close(fd);
	return err;
}

static int open_if_right(const struct debug_link *link, int fd, const atomic_bool *cancel,
			 struct elf_file **out)
{
	int err = open_fd(fd, out);

	if (!err)
		elf_file_work(*out)->cancel = cancel;
	if (!err && !belongs(link, *out)) {
		elf_file_free(*out);
		err = -ENOENT;
	}
	return err;
}

int debug_link_open(const struct debug_link *link, const struct debug_place *place,
		    const atomic_bool *cancel, struct elf_file **out)
{
	char path[PATH_MAX];
	unsigned int n;
	int err;

	for (n = 0; path_at(link, place->folder, n, path, sizeof(path)); n++) {
		err = *path ? open_if_right(link, fd_in(place, place->root, path), cancel, out)
			    : -ENOENT;
		if (!err || err == -ENOMEM)
			return err;
	}
	if (place->root >= 0 && path_at(link, place->folder, 0, path, sizeof(path)) && *path) {
		err = open_if_right(link, fd_in(place, -1, path), cancel, out);
		if (!err || err == -ENOMEM)
			return err;
	}
	if (!place->remote)
		return -ENOENT;
	/* Servers may send anything for a build-id. */
	err = open_if_right(link, remotedebug_open(place->remote, link->id, link->id_length), NULL,
			    out);
	return !err || err == -ENOMEM ? err : -ENOENT;
}

bool debug_link_present(const struct debug_link *link, const struct debug_place *place)
{
	char path[PATH_MAX];
	unsigned int n;
	int fd = -1;

	for (n = 0; fd < 0 && path_at(link, place->folder, n, path, sizeof(path)); n++) {
		if (!*path)
			continue;
		fd = fd_in(place, place->root, path);
		if (fd < 0 && !n && place->root >= 0)
			fd = fd_in(place, -1, path);
	}
	if (fd < 0 && place->remote)
		fd = remotedebug_open(place->remote, link->id, link->id_length);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int debugfile_open(const struct elf_file *file, const struct debug_place *place,
		   struct elf_file **out)
{
	struct debug_link *link = malloc(sizeof(*link));
	int err;

	*out = NULL;
	if (!link)
		return -ENOMEM;
	debug_link_read(file, link);
	err = debug_link_open(link, place, elf_file_work(file)->cancel, out);
	free(link);
	return err;
}

int debugfile_open_alt(const struct elf_file *debug, const struct debug_place *place,
		       struct elf_file **out)
{
	struct elf_section section;
	char path[PATH_MAX], dir[PATH_MAX];
	const char *name;
	const uint8_t *id;
	size_t length;
	int n, err;

	*out = NULL;
	if (elf_file_section(debug, ".gnu_debugaltlink", &section))
		return -ENOENT;
	name = (const char *)section.data;
	length = strnlen(name, section.size);
	if (!length || length == section.size || section.size - length - 1 > BUILD_ID_MAX)
		return -ENOENT;
	id = section.data + length + 1;
	length = section.size - length - 1;
	folder_of(elf_file_fd(debug), dir, sizeof(dir));
	n = *name == '/' ? snprintf(path, sizeof(path), "%s", name)
			 : snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (int i = 0; i < 3; i++) {
		if (i && !id_path(path, sizeof(path), place->folder, id, length))
			break;
		if (!i && (n < 0 || (size_t)n >= sizeof(path)))
			continue;
		err = open_fd(fd_in(place, i == 2 ? -1 : place->root, path), out);
		if (err == -ENOMEM)
			return err;
		if (!err && id_is(*out, id, length))
			return 0;
		if (!err)
			elf_file_free(*out);
	}
	*out = NULL;
	return -ENOENT;
}

/*
 * A few kilobytes of xz can expand to gigabytes of zeros, and a stream may ask for a dictionary of
 * gigabytes. Both are bounded; the block grows with the bytes that really come out.
 */
struct minidebug_image {
	uint8_t *data;
	size_t size;   /* allocated */
	size_t packed; /* bytes of the section */
	struct work *work;
};

/* Doubles the room; false: no memory, or more than is allowed, in all or for so few bytes. */
static bool image_grow(struct minidebug_image *image, lzma_stream *stream, int *err)
{
	size_t size = image->size ? image->size * 2 : FIRST_BLOCK;
	uint8_t *data;

	*err = work_add(image->work, image->size / 64);
	if (*err)
		return false;
	*err = -EINVAL;
	if (size > LIMIT_XZ ||
	    (image->size >= LIMIT_RATIO_FROM && image->size / LIMIT_RATIO > image->packed))
		return false;
	*err = -ENOMEM;
	data = realloc(image->data, size);
	if (!data)
		return false;
	stream->next_out = data + stream->total_out;
	stream->avail_out = size - image->size;
	image->data = data;
	image->size = size;
	return true;
}

static int decode(lzma_stream *stream, struct minidebug_image *image)
{
	lzma_ret ret = LZMA_OK;
	int err = 0;

	while (ret == LZMA_OK) {
		if (!stream->avail_out && !image_grow(image, stream, &err))
			return err;
		ret = lzma_code(stream, LZMA_FINISH);
	}
	if (ret == LZMA_MEM_ERROR)
		return -ENOMEM;
	return ret == LZMA_STREAM_END ? 0 : -EINVAL;
}

int minidebug_open(const struct elf_file *file, struct elf_file **out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	struct minidebug_image image = {0};
	uint64_t left = LIMIT_XZ_PACKED;
	struct elf_section section;
	int err;

	*out = NULL;
	err = elf_file_section_within(file, ".gnu_debugdata", &left, &section);
	if (err)
		return err == -E2BIG ? -EINVAL : err;
	if (lzma_stream_decoder(&stream, memory_limit(MEMORY_READ) / 2, 0) != LZMA_OK)
		return -ENOMEM;
	image.packed = section.size;
	image.work = elf_file_work(file);
	stream.next_in = section.data;
	stream.avail_in = section.size;
	err = decode(&stream, &image);
	if (!err)
		err = elf_file_open_block(image.data, stream.total_out, out);
	else
		free(image.data);
	lzma_end(&stream);
	return err;
}
