// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mapped files and their unwind tables. A file is known by device, inode, time and size, so all
 * processes that map it share one table. An object that no process maps any more keeps its table
 * until the room is needed: short commands come again. Its file is not kept open as long (rest.c).
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

#include "symbols/rootfile.h"

#define UNUSED_MAX 512u		/* objects that no process maps */
#define DELETED	   " (deleted)" /* d_path of a file without a name */

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

void object_drop_spans(struct tracker *t, struct object *o)
{
	uint32_t i;

	for (i = 0; i < o->nspans; i++)
		tracker_discard(t, t->shards, o->spans[i].word);
	free(o->spans);
	o->spans = NULL;
	o->nspans = 0;
	o->nwords = 0;
}

static void object_free(struct object *o)
{
	if (o->fd >= 0)
		close(o->fd);
	free(o->loads);
	free(o->spans);
	free(o);
}

void object_set_state(struct tracker *t, struct object *o, enum object_state state)
{
	t->nevicted += (state == OBJECT_EVICTED) - (o->state == OBJECT_EVICTED);
	o->state = state;
	o->refused &= state == OBJECT_FAILED;
	if (state == OBJECT_READY)
		o->waits = 0;
	else if (state == OBJECT_EVICTED && !o->waits)
		o->waits = tracker_now();
}

/* No process maps it, and it is not in the queue. */
static void forget(struct tracker *t, struct object *o)
{
	if (!o->refs) /* else that of its pin */
		unused_remove(t, o);
	object_drop_spans(t, o);
	HASH_DEL(t->objects, o);
	HASH_DELETE(id_hh, t->objects_by_id, o);
	object_set_state(t, o, OBJECT_FAILED);
	object_free(o);
}

bool object_evict_unused(struct tracker *t)
{
	struct object *o = t->unused_oldest;

	while (o && (o->in_queue || o == t->vdso))
		o = o->newer;
	if (!o)
		return false;
	forget(t, o);
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
		object_evict_unused(t);
}

void object_enqueue(struct tracker *t, struct object *o)
{
	object_set_state(t, o, OBJECT_QUEUED);
	if (o->in_queue)
		return;
	o->in_queue = true;
	o->queued = tracker_now();
	o->next_queued = NULL;
	*t->queue_end = o;
	t->queue_end = &o->next_queued;
	pthread_cond_broadcast(&t->builder_wake);
}

void object_rebuild(struct tracker *t, struct object *o)
{
	if (o->state == OBJECT_QUEUED)
		return;
	object_drop_spans(t, o);
	if (rest_is(o)) { /* built when it is mapped and sampled again */
		object_set_state(t, o, OBJECT_EVICTED);
		return;
	}
	object_enqueue(t, o);
	process_touch(t, o);
}

static struct object *object_new(struct tracker *t, const struct object_key *key, int fd,
				 const void *image, size_t size, const char *name, uid_t uid)
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
	o->uid = uid;
	snprintf(o->name, sizeof(o->name), "%s", name);
	err = image ? elf_file_open_memory(image, size, &file) : elf_file_open_fd(fd, &file);
	if (!err) {
		loads = elf_file_loads(file, &o->nloads);
		o->loads = malloc((o->nloads + 1) * sizeof(*o->loads));
		if (o->loads)
			memcpy(o->loads, loads, o->nloads * sizeof(*o->loads));
		else
			o->nloads = 0;
		o->build_id_size = elf_file_build_id(file, o->build_id);
		elf_file_free(file);
	}
	HASH_ADD(hh, t->objects, key, sizeof(o->key), o);
	HASH_ADD(id_hh, t->objects_by_id, id, sizeof(o->id), o);
	unused_add(t, o);
	/* What only failed now, the builder tries again, and tells if it cannot either. */
	if (err == -EINVAL || err == -ENOTSUP)
		o->state = OBJECT_READY; /* not ELF: executable text without CFI */
	else
		object_enqueue(t, o);
	return o;
fail:
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* Only a regular file is ever opened: whatever else it has mapped, the process chose it. */
static int open_mapping(pid_t pid, uint64_t start, uint64_t end, const char *name, uint64_t inode)
{
	char path[64];
	struct stat st;
	int fd, root;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)start, (unsigned long long)end);
	fd = rootfile_open(-1, path);
	if (fd >= 0 || fd == -EMFILE || fd == -ENFILE)
		return fd;
	/* The mapping was split, or map_files is not for us: the name, if it leads to that file. */
	if (name[0] != '/' || !inode)
		return -ENOENT;
	root = rootfile_root(pid);
	if (root < 0)
		return root;
	fd = rootfile_open(root, name);
	close(root);
	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != inode)) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

void object_key(struct object_key *key, const struct stat *st)
{
	memset(key, 0, sizeof(*key));
	key->dev = st->st_dev;
	key->inode = st->st_ino;
	key->mtime = st->st_mtim.tv_sec * 1000000000ull + st->st_mtim.tv_nsec;
	key->size = st->st_size;
}

/* NULL: no object is known by this. */
static struct object *find(const struct tracker *t, const struct stat *st, struct object_key *key)
{
	struct object *o;

	object_key(key, st);
	/* hashed as bytes, which the analyser loses track of */
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	HASH_FIND(hh, t->objects, key, sizeof(*key), o);
	return o;
}

/*
 * Takes the descriptor over, and gives a reference. NULL: the object had been made of another file
 * that looked the same, and is gone; the descriptor is not.
 */
static struct object *object_use(struct tracker *t, struct object *o, int fd)
{
	if (!rest_is(o)) {
		close(fd);
	} else if (!rest_end(o, fd)) {
		forget(t, o);
		return NULL;
	}
	object_get(t, o);
	return o;
}

/*
 * Most mappings are of files known before, under names that mean the same here; then nothing has to
 * be opened, unless it was closed. NULL: no such file is known, or it is not to be had by its name.
 */
static struct object *find_by_name(struct tracker *t, const char *name, dev_t dev, uint64_t inode)
{
	struct object_key key;
	struct object *o;
	struct stat st;
	int fd;

	if (name[0] != '/' || stat(name, &st) || st.st_ino != inode || st.st_dev != dev)
		return NULL;
	o = find(t, &st, &key);
	if (!o)
		return NULL;
	if (!rest_is(o)) {
		object_get(t, o);
		return o;
	}
	fd = rootfile_open(-1, name);
	if (fd < 0)
		return NULL;
	o = object_use(t, o, fd);
	if (!o)
		close(fd);
	return o;
}

struct object *object_of_mapping(struct tracker *t, pid_t pid, uint64_t start, uint64_t end,
				 const char *name, dev_t dev, uint64_t inode)
{
	char short_name[sizeof(((struct object *)NULL)->name)];
	struct object_key key;
	struct object *o;
	const char *base;
	size_t length;
	struct stat st;
	uid_t uid = 0;
	int fd;

	o = find_by_name(t, name, dev, inode);
	if (o)
		return o;
	fd = open_mapping(pid, start, end, name, inode);
	if ((fd == -EMFILE || fd == -ENFILE) && !t->told_files) {
		tracker_tell(t, 1, "too many open files: %s and others cannot be walked", name);
		t->told_files = true;
	}
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st)) {
		close(fd);
		return NULL;
	}
	o = find(t, &st, &key);
	if (o)
		o = object_use(t, o, fd);
	if (o)
		return o;
	base = strrchr(name, '/');
	base = base ? base + 1 : name;
	length = strlen(base);
	if (!st.st_nlink && length > strlen(DELETED) &&
	    !strcmp(base + length - strlen(DELETED), DELETED))
		length -= strlen(DELETED);
	snprintf(short_name, sizeof(short_name), "%.*s", (int)length, base);
	choice_uid(pid, &uid);
	o = object_new(t, &key, fd, NULL, 0, short_name, uid);
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
		t->vdso = object_new(t, &key, -1, image, size, "[vdso]", 0);
	}
	if (t->vdso)
		object_get(t, t->vdso);
	return t->vdso;
}

struct object *object_by_id(struct tracker *t, uint64_t id)
{
	struct object *o;

	HASH_FIND(id_hh, t->objects_by_id, &id, sizeof(id), o);
	return o;
}

enum fit { FIT_NOT, FIT_PART, FIT_EXEC_PART, FIT_EXEC };

/* How well a segment explains the file's bytes [offset, offset + length) as code. */
static enum fit segment_fit(const struct elf_load *l, uint64_t offset, uint64_t length)
{
	/* The kernel maps whole pages, so a segment begins at its page in the file. */
	uint64_t first = l->offset & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	uint64_t end = l->offset + l->filesz;

	if (end < l->offset || offset >= end || (offset < first && first - offset >= length))
		return FIT_NOT;
	if (!l->exec)
		return FIT_PART;
	return offset >= first ? FIT_EXEC : FIT_EXEC_PART;
}

bool object_bias(const struct object *o, const struct mapping *m, uint64_t offset, uint64_t *bias)
{
	enum fit fit, best = FIT_NOT;
	size_t i;

	for (i = 0; i < o->nloads; i++) {
		const struct elf_load *l = &o->loads[i];

		fit = segment_fit(l, offset, m->end - m->start);
		if (fit <= best)
			continue;
		best = fit;
		*bias = m->start - (l->vaddr - l->offset + offset);
	}
	return best != FIT_NOT;
}

void objects_free(struct tracker *t)
{
	struct object *o = t->objects, *next;

	HASH_CLEAR(hh, t->objects);
	HASH_CLEAR(id_hh, t->objects_by_id);
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
