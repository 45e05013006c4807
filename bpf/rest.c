// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An open file holds the file system that it is on, which then cannot be unmounted, and the blocks
 * of a file that was deleted. So the file of an object that no process maps any more is closed
 * after a while, and only the file: its table is good for the next run. When it is mapped again, it
 * may be another one, of another file system under the same number, that looks the same from
 * outside.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/openfile.h"
#include "bpf/tracker_priv.h"

#define REST_NS (30ull * 1000000000) /* commands that come again sooner find it open */
#define LOOK_NS (1ull * 1000000000)

static uint64_t change_of(const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * 1000000000ull + (uint64_t)st->st_ctim.tv_nsec;
}

/* Processes that have ended hold theirs for seconds, so that no use is overlooked by a look a
 * second. */
static bool is_mapped(const struct object *o)
{
	return o->refs > o->pinned;
}

static void begin(struct tracker *t, struct object *o)
{
	struct stat st;

	if (o->copied)
		t->copied -= o->key.size;
	else
		o->change = fstat(o->fd, &st) ? 0 : change_of(&st);
	close(o->fd);
	o->fd = -1;
}

void rest_look(struct tracker *t, uint64_t now)
{
	struct object *o, *next;

	if (now - t->rested < LOOK_NS)
		return;
	t->rested = now;
	HASH_ITER(hh, t->objects, o, next) {
		if (is_mapped(o) || o->in_queue || o->fd < 0) {
			o->idle = 0;
			continue;
		}
		if (!o->idle)
			o->idle = now;
		if (o->idle + REST_NS <= now)
			begin(t, o);
	}
}

static int by_id(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void tracker_mapped(struct tracker *t, const uint64_t *ids, size_t n, bool *mapped)
{
	const struct object *o, *next;
	const uint64_t *found;

	memset(mapped, 0, n * sizeof(*mapped));
	pthread_mutex_lock(&t->lock);
	HASH_ITER(hh, t->objects, o, next) {
		found = is_mapped(o) ? bsearch(&o->id, ids, n, sizeof(*ids), by_id) : NULL;
		if (found)
			mapped[found - ids] = true;
	}
	pthread_mutex_unlock(&t->lock);
}

bool rest_is(const struct object *o)
{
	return o->fd < 0 && !o->image;
}

static bool is_same_load(const struct elf_load *a, const struct elf_load *b)
{
	return a->offset == b->offset && a->filesz == b->filesz && a->vaddr == b->vaddr &&
	       a->memsz == b->memsz && a->exec == b->exec;
}

/*
 * A build-id tells whether it is the file that the object was made of. Where there is none, the
 * ctime does, which no system call sets at will; but not all file systems have one, hence the
 * segments.
 */
static bool is_same_elf(const struct object *o, const struct open_answer *a)
{
	size_t i;

	if (a->nloads != o->nloads || a->build_id_size != o->build_id_size)
		return false;
	for (i = 0; i < a->nloads; i++)
		if (!is_same_load(&a->loads[i], &o->loads[i]))
			return false;
	return a->build_id_size ? !memcmp(a->build_id, o->build_id, a->build_id_size)
				: a->ctime == o->change;
}

bool rest_end(struct object *o, const struct open_answer *a, int fd)
{
	if (a->file.copied != o->copied || !is_same_elf(o, a))
		return false;
	o->fd = fd;
	o->idle = 0;
	return true;
}
