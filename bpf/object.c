// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mapped files and their unwind tables. A file is known by device, inode, time and size, so all
 * processes that map it share one table. An object that nobody maps any more keeps its table until
 * the room is needed: short commands come again.
 */
#include "bpf/tracker_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/sampler.h"
#include "unwind/wide.h"

#define UNUSED_MAX 512u /* each keeps a descriptor open */

static void unused_remove(struct tracker *t, struct object *o)
{
	if (o->older)
		o->older->newer = o->newer;
	else
		t->unused_oldest = o->newer;
	if (o->newer)
		o->newer->older = o->older;
	else
		t->unused_newest = o->older;
	o->older = o->newer = NULL;
	t->nunused--;
}

static void unused_add(struct tracker *t, struct object *o)
{
	o->older = t->unused_newest;
	o->newer = NULL;
	if (t->unused_newest)
		t->unused_newest->newer = o;
	else
		t->unused_oldest = o;
	t->unused_newest = o;
	t->nunused++;
}

static void drop_spans(struct tracker *t, struct object *o)
{
	uint32_t i;

	for (i = 0; i < o->nspans; i++)
		tracker_discard(t, t->shards, o->spans[i].word);
	free(o->spans);
	o->spans = NULL;
	o->nspans = 0;
}

static void object_free(struct object *o)
{
	if (o->fd >= 0)
		close(o->fd);
	free(o->loads);
	free(o->spans);
	free(o);
}

/* The oldest unused object that no thread works on; false when there is none. */
static bool evict_one(struct tracker *t)
{
	struct object *o = t->unused_oldest;

	while (o && (o->in_queue || o == t->vdso))
		o = o->newer;
	if (!o)
		return false;
	unused_remove(t, o);
	drop_spans(t, o);
	HASH_DEL(t->objects, o);
	object_free(o);
	return true;
}

void object_get(struct tracker *t, struct object *o)
{
	if (!o->refs++)
		unused_remove(t, o);
}

void object_unref(struct tracker *t, struct object *o)
{
	if (--o->refs)
		return;
	unused_add(t, o);
	if (t->nunused > UNUSED_MAX)
		evict_one(t);
}

static void enqueue(struct tracker *t, struct object *o)
{
	o->state = OBJECT_QUEUED;
	if (o->in_queue)
		return;
	o->in_queue = true;
	o->next_queued = NULL;
	*t->queue_end = o;
	t->queue_end = &o->next_queued;
	pthread_cond_signal(&t->builder_wake);
}

void object_rebuild(struct tracker *t, struct object *o)
{
	if (o->state == OBJECT_QUEUED)
		return;
	drop_spans(t, o);
	enqueue(t, o);
	process_touch(t, o);
}

static struct object *object_new(struct tracker *t, const struct object_key *key, int fd,
				 const void *image, size_t size, const char *name)
{
	struct object *o = calloc(1, sizeof(*o));
	const struct elf_load *loads;
	struct elf_file *file = NULL;
	int err;

	if (!o)
		goto fail;
	o->key = *key;
	o->fd = fd;
	o->image = image;
	o->image_size = size;
	o->id = ++t->next_object;
	snprintf(o->name, sizeof(o->name), "%s", name);
	err = image ? elf_file_open_memory(image, size, &file) : elf_file_open_fd(fd, &file);
	if (!err) {
		loads = elf_file_loads(file, &o->nloads);
		o->loads = malloc((o->nloads + 1) * sizeof(*o->loads));
		if (o->loads)
			memcpy(o->loads, loads, o->nloads * sizeof(*o->loads));
		else
			o->nloads = 0;
		elf_file_free(file);
	}
	HASH_ADD(hh, t->objects, key, sizeof(o->key), o);
	unused_add(t, o);
	if (err)
		o->state = OBJECT_READY; /* not ELF: executable text without CFI */
	else
		enqueue(t, o);
	return o;
fail:
	if (fd >= 0)
		close(fd);
	return NULL;
}

static int open_mapping(pid_t pid, uint64_t start, uint64_t end, const char *name, uint64_t inode)
{
	char path[4200];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)start, (unsigned long long)end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		return fd;
	/* The mapping was split, or map_files is not for us: the name, if it leads to that file. */
	if (name[0] != '/' || !inode)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* With a reference; NULL: no object is known by this. */
static struct object *find(struct tracker *t, const struct stat *st, struct object_key *key)
{
	struct object *o;

	memset(key, 0, sizeof(*key));
	key->dev = st->st_dev;
	key->inode = st->st_ino;
	key->mtime = st->st_mtim.tv_sec * 1000000000ull + st->st_mtim.tv_nsec;
	key->size = st->st_size;
	/* hashed as bytes, which the analyser loses track of */
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	HASH_FIND(hh, t->objects, key, sizeof(*key), o);
	if (o)
		object_get(t, o);
	return o;
}

struct object *object_of_mapping(struct tracker *t, pid_t pid, uint64_t start, uint64_t end,
				 const char *name, dev_t dev, uint64_t inode)
{
	struct object_key key;
	struct object *o;
	const char *base;
	struct stat st;
	int fd;

	/* Most mappings are of files known before, under names that mean the same here. */
	if (name[0] == '/' && !stat(name, &st) && st.st_ino == inode && st.st_dev == dev) {
		o = find(t, &st, &key);
		if (o)
			return o;
	}
	fd = open_mapping(pid, start, end, name, inode);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return NULL;
	}
	o = find(t, &st, &key);
	if (o) {
		close(fd);
		return o;
	}
	base = strrchr(name, '/');
	o = object_new(t, &key, fd, NULL, 0, base ? base + 1 : name);
	if (o)
		object_get(t, o);
	return o;
}

struct object *object_vdso(struct tracker *t)
{
	struct object_key key = {.inode = UINT64_MAX};
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = image;
	uint64_t size;

	if (!t->vdso && image) {
		/* The section headers come last in the image. */
		size = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
		t->vdso = object_new(t, &key, -1, image, size, "[vdso]");
	}
	if (t->vdso)
		object_get(t, t->vdso);
	return t->vdso;
}

bool object_bias(const struct object *o, uint64_t start, uint64_t offset, uint64_t *bias)
{
	uint64_t page = sysconf(_SC_PAGESIZE) - 1, first;
	size_t i;

	for (i = 0; i < o->nloads; i++) {
		const struct elf_load *l = &o->loads[i];

		/* The kernel maps whole pages, so a segment begins at its page in the file. */
		first = l->offset & ~page;
		if (l->exec && offset >= first &&
		    offset - l->offset + page < l->filesz + 2 * page &&
		    (offset < l->offset + l->filesz)) {
			*bias = start - (l->vaddr - l->offset + offset);
			return true;
		}
	}
	return false;
}

static void sync_wide(struct tracker *t)
{
	unsigned int count;
	const struct wide_rule *rules = wide_rules_all(t->wide, &count);

	if (count)
		memcpy(sampler_wide_rules(t->sampler), rules, count * sizeof(*rules));
}

static int place_span(struct tracker *t, const struct unwind_table *table,
		      const struct unwind_span *span, uint32_t *word)
{
	int err;

	for (;;) {
		err = shards_add(t->shards, table->words + span->first, span->nwords, word);
		if (err != -ENOSPC)
			return err;
		if (t->ngarbage)
			tracker_flush(t);
		else if (!evict_one(t))
			return err;
	}
}

/* Copies the table's blocks to the shards. */
static int place(struct tracker *t, struct object *o, const struct unwind_table *table)
{
	uint32_t i;
	int err;

	o->spans = calloc(table->nspans + 1, sizeof(*o->spans));
	if (!o->spans)
		return -ENOMEM;
	for (i = 0; i < table->nspans; i++) {
		struct placed_span *to = &o->spans[i];

		to->start = table->spans[i].start;
		to->end = table->spans[i].end;
		to->ngranules = table->spans[i].ngranules;
		err = place_span(t, table, &table->spans[i], &to->word);
		if (err) {
			drop_spans(t, o);
			return err;
		}
		o->nspans = i + 1;
	}
	return 0;
}

bool object_build_next(struct tracker *t)
{
	struct object *o = t->queue;
	struct unwind_table *table = NULL;
	struct elf_file *file = NULL;
	int err;

	if (!o)
		return false;
	t->queue = o->next_queued;
	if (!t->queue)
		t->queue_end = &t->queue;
	t->building = true;
	pthread_mutex_unlock(&t->lock);
	/* in_queue keeps the object from being evicted meanwhile */
	err = o->image ? elf_file_open_memory(o->image, o->image_size, &file)
		       : elf_file_open_fd(o->fd, &file);
	if (!err)
		err = unwind_table_build(file, t->wide, &table);
	elf_file_free(file);
	if (!err)
		sync_wide(t);
	pthread_mutex_lock(&t->lock);
	t->building = false;
	o->in_queue = false;
	if (!err)
		err = place(t, o, table);
	unwind_table_free(table);
	o->state = err ? OBJECT_FAILED : OBJECT_READY;
	if (err == -ENOSPC && !t->told_full) {
		t->told_full = true;
		tracker_tell(t, 1, "no room for the unwind table of %s; raise --memory", o->name);
	} else if (err && err != -ENOSPC) {
		tracker_tell(t, 1, "no unwind table for %s: %s", o->name, strerror(-err));
	}
	process_touch(t, o);
	tracker_wake(t);
	return true;
}

void objects_free(struct tracker *t)
{
	struct object *o = t->objects, *next;

	HASH_CLEAR(hh, t->objects);
	for (; o; o = next) {
		next = o->hh.next;
		object_free(o);
	}
}

void object_put(struct tracker *t, struct object *object)
{
	pthread_mutex_lock(&t->lock);
	object_unref(t, object);
	pthread_mutex_unlock(&t->lock);
}

uint64_t object_id(const struct object *object)
{
	return object->id;
}

const char *object_name(const struct object *object)
{
	return object->name;
}

int object_fd(const struct object *object)
{
	return object->fd;
}

const void *object_image(const struct object *object, size_t *size)
{
	*size = object->image_size;
	return object->image;
}
