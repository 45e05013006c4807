// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An open file holds the file system that it is on, which then cannot be unmounted, and the blocks
 * of a file that was deleted. So the file of an object that no process maps any more is closed
 * after a while, and only the file: its table is good for the next run. When it is mapped again, it
 * may be another one, of another file system under the same number, that looks the same from
 * outside.
 *
 * Where processes map more files than may be open, files are closed that are mapped. They are
 * opened again when something is to be read from them, which is when they are sampled.
 */
#include "bpf/tracker/tracker_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/tracker/openfile.h"
#include "bpf/tracker/opener.h"
#include "symbols/files/procmaps.h"

#define REST_NS	 (30ull * 1000000000) /* commands that come again sooner find it open */
#define LOOK_NS	 (1ull * 1000000000)
#define WANT_NS	 (5ull * 1000000000)  /* so long a file that is wanted is waited for */
#define AGAIN_NS (60ull * 1000000000) /* and then asked for again */

uint64_t rest_change_of(const struct stat *st)
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
		o->change = fstat(o->fd, &st) ? 0 : rest_change_of(&st);
	close(o->fd);
	o->fd = -1;
	t->nopen--;
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

/* --- too many of them ------------------------------------------------------------------------ */

static int by_user(const void *x, const void *y)
{
	const struct object *const *a = x, *const *b = y;

	return ((*a)->uid > (*b)->uid) - ((*a)->uid < (*b)->uid);
}

static int by_use(const void *x, const void *y)
{
	const struct object *const *a = x, *const *b = y;

	if ((*a)->sampled != (*b)->sampled)
		return (*a)->sampled < (*b)->sampled ? -1 : 1;
	return ((*a)->seen > (*b)->seen) - ((*a)->seen < (*b)->seen);
}

/* Of a list by user: the part of the user who has most. */
static struct object **largest(struct object **list, size_t n, size_t *size)
{
	struct object **best = list;
	size_t i, first = 0;

	*size = 0;
	for (i = 1; i <= n; i++) {
		if (i < n && list[i]->uid == list[first]->uid)
			continue;
		if (i - first > *size) {
			*size = i - first;
			best = list + first;
		}
		first = i;
	}
	return best;
}

/* Its table is not built before it is sampled. */
static void unqueue(struct tracker *t, struct object *o)
{
	struct object **link = &t->queue;

	while (*link != o)
		link = &(*link)->next_queued;
	*link = o->next_queued;
	if (!*link)
		t->queue_end = link;
	o->in_queue = false;
	object_set_state(t, o, OBJECT_EVICTED);
	process_touch(t, o);
}

static void tell_closed(struct tracker *t, const struct object *o)
{
	if (!t->told_rest)
		tracker_tell(t, 0,
			     "more than %u files are mapped: those of user %u that are not sampled "
			     "are closed",
			     t->open_max, (unsigned int)o->uid);
	t->told_rest = true;
}

/* A sixteenth at once, as looking for them takes its time. */
void rest_keep(struct tracker *t)
{
	struct object **list, **those, *o, *next;
	size_t n = 0, i, count;

	if (!t->open_max || t->nopen <= t->open_max)
		return;
	list = malloc(t->nopen * sizeof(struct object *));
	if (!list)
		return;
	HASH_ITER(hh, t->objects, o, next)
		if (o->fd >= 0 && !o->held && !o->building && n < t->nopen)
			list[n++] = o;
	qsort(list, n, sizeof(struct object *), by_user);
	those = largest(list, n, &count);
	if (count < t->open_max / 16) { /* many users have some */
		those = list;
		count = n;
	}
	qsort(those, count, sizeof(struct object *), by_use);
	for (i = 0; i < count && i <= t->open_max / 16; i++) {
		if (those[i]->in_queue)
			unqueue(t, those[i]);
		tell_closed(t, those[i]);
		begin(t, those[i]);
	}
	free(list);
}

bool rest_want(struct tracker *t, struct object *o)
{
	const uint64_t now = tracker_now(), since = now - o->wanted_at;

	if (o->wanted_at && since < AGAIN_NS)
		return since < WANT_NS;
	o->wanted_at = now;
	if (!o->wanted) {
		o->wanted = true;
		t->nwanted++;
	}
	tracker_wake(t);
	return true;
}

static void ask(struct tracker *t, const struct process *p, const struct mapping *m)
{
	const struct procmap map = {
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.dev_major = major(m->file.dev),
		.dev_minor = minor(m->file.dev),
		.inode = m->file.inode,
		.exec = true,
		.name = m->object->name,
	};
	struct open_request request;

	object_request(t, &request, process_thread(p), &map);
	opener_ask(t->opener, &request, p->pid, p->uid, false);
}

void rest_ask(struct tracker *t)
{
	struct process *p, *next;
	struct object *o, *after;
	size_t i;

	if (!t->nwanted || !t->opener)
		return;
	HASH_ITER(hh, t->processes, p, next) {
		for (i = 0; i < p->nmappings && t->nwanted; i++) {
			o = p->mappings[i].object;
			if (!o || !o->wanted)
				continue;
			o->wanted = false;
			t->nwanted--;
			if (rest_is(o))
				ask(t, p, &p->mappings[i]);
		}
	}
	/* Those that no process maps any more. */
	if (t->nwanted)
		HASH_ITER(hh, t->objects, o, after)
			o->wanted = false;
	t->nwanted = 0;
}

/* ---------------------------------------------------------------------------------------------- */

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
	turnlock_take(&t->lock);
	HASH_ITER(hh, t->objects, o, next) {
		found = is_mapped(o) ? bsearch(&o->id, ids, n, sizeof(*ids), by_id) : NULL;
		if (found)
			mapped[found - ids] = true;
	}
	turnlock_give(&t->lock);
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

bool rest_end(struct tracker *t, struct object *o, const struct open_answer *a, int fd)
{
	if (a->file.copied != o->copied || !is_same_elf(o, a))
		return false;
	o->fd = fd;
	o->idle = o->wanted_at = 0;
	t->nopen++;
	return true;
}
