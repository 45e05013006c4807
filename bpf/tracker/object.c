// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mapped files and their unwind tables. A file is known by device, inode, time and size, so all
 * processes that map it share one table. An object that no process maps any more keeps its table
 * until the room is needed: short commands come again. Its file is not kept open as long
 * (idlefile.c).
 */
#include "bpf/tracker/tracker_priv.h"

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

#include "bpf/prog/layout.h"
#include "bpf/tracker/openfile.h"
#include "symbols/base/memory.h"
#include "symbols/files/procmaps.h"

#define UNUSED_MAX    512u		   /* objects that no process maps */
#define COPY_FRESH_NS (10ull * 1000000000) /* so long is it taken for what the file is */
#define DELETED	      " (deleted)"	   /* d_path of a file without a name */

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

bool object_charge(struct tracker *t, struct object *o, int64_t bytes)
{
	if (bytes > 0 && !quota_take(&t->bytes, o->uid, (uint64_t)bytes))
		return false;
	if (bytes < 0)
		quota_give(&t->bytes, o->uid, (uint64_t)-bytes);
	o->bytes += bytes;
	return true;
}

void object_drop_spans(struct tracker *t, struct object *o)
{
	uint32_t i;

	publish_unfile(t, o);
	for (i = 0; i < o->nspans; i++)
		tracker_discard(t, t->shards, o->spans[i].word);
	object_charge(t, o, -(int64_t)(o->spans_room * sizeof(*o->spans)));
	o->spans_room = 0;
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
	free(o->by_offset);
	free(o);
}

void object_set_state(struct tracker *t, struct object *o, enum object_state state)
{
	t->nevicted += (state == OBJECT_EVICTED) - (o->state == OBJECT_EVICTED);
	o->state = state;
	o->refused &= state == OBJECT_FAILED;
	if (state == OBJECT_READY)
		o->waits = 0;
	if (state == OBJECT_READY)
		publish_file(t, o);
	else if (state == OBJECT_EVICTED && !o->waits)
		o->waits = tracker_now();
}

static void untag(struct tracker *t, struct object *o)
{
	publish_unfile(t, o);
	if (o->tag)
		HASH_DELETE(tag_hh, t->tags, o);
	o->tag = 0;
}

/* No process maps it, and it is not in the queue. */
static void forget(struct tracker *t, struct object *o)
{
	if (!o->refs) /* else that of its pin */
		unused_remove(t, o);
	object_drop_spans(t, o);
	HASH_DEL(t->objects, o);
	HASH_DELETE(id_hh, t->objects_by_id, o);
	if (o->by_file)
		HASH_DELETE(file_hh, t->files, o);
	untag(t, o);
	if (o->copied && o->fd >= 0)
		t->copied -= o->key.size;
	t->nopen -= o->fd >= 0;
	t->nwanted -= o->wanted;
	object_charge(t, o, -(int64_t)o->bytes);
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

static struct object *object_new(const struct object_key *key, int fd, const char *name)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->key = *key;
	o->mapped_mtime = key->mtime;
	o->mapped_size = key->size;
	o->file = (struct file_id){(uint32_t)key->dev, key->inode};
	o->fd = fd;
	snprintf(o->name, sizeof(o->name), "%s", name);
	return o;
}

/* text: executable text without CFI. The younger of two objects of one file is found by it. */
static void object_add(struct tracker *t, struct object *o, bool text)
{
	struct object *older;

	o->id = ++t->next_object;
	HASH_ADD(hh, t->objects, key, sizeof(o->key), o);
	HASH_ADD(id_hh, t->objects_by_id, id, sizeof(o->id), o);
	HASH_FIND(file_hh, t->files, &o->file, sizeof(o->file), older);
	if (older &&
	    older->refs > older->pinned) /* written while it is mapped, so when is unknown */
		o->mapped_mtime = 0;
	if (older)
		HASH_DELETE(file_hh, t->files, older);
	if (older)
		older->by_file = false;
	HASH_ADD(file_hh, t->files, file, sizeof(o->file), o);
	o->by_file = true;
	unused_add(t, o);
	if (text)
		o->state = OBJECT_READY;
	else
		object_enqueue(t, o);
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
static struct object *find(const struct tracker *t, const struct object_key *key)
{
	struct object *o;

	/* hashed as bytes, which the analyser loses track of */
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	HASH_FIND(hh, t->objects, key, sizeof(*key), o);
	return o;
}

/* The file has been seen to be the same, with that ctime. */
static void note_change(struct tracker *t, struct object *o, uint64_t change)
{
	o->change = change;
	publish_file(t, o);
}

static bool is_fresh(struct tracker *t, struct object *o)
{
	struct object_key key;
	struct stat st;

	if (rest_is(o))
		return false;
	if (o->copied)
		return o->seen + COPY_FRESH_NS > tracker_now();
	/* Of a disk or of memory: it answers. */
	if (fstat(o->fd, &st))
		return false;
	object_key(&key, &st);
	if (memcmp(&key, &o->key, sizeof(key)) != 0)
		return false;
	note_change(t, o, rest_change_of(&st));
	return true;
}

/* A reference to it; NULL: not to be used. */
static struct object *use_fresh(struct tracker *t, struct object *o)
{
	if (!is_fresh(t, o))
		return NULL;
	object_get(t, o);
	return o;
}

struct object *object_known(struct tracker *t, const struct file_id *id, uid_t uid)
{
	struct object *o;

	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(file_hh, t->files, id, sizeof(*id), o);
	return o && (!o->copied || o->uid == uid) ? use_fresh(t, o) : NULL;
}

/* One that is closed while it is mapped cannot be asked, but its mapping keeps the inode's number.
 */
struct object *object_still(struct tracker *t, const struct mapping *m)
{
	if (m->object && rest_is(m->object)) {
		object_get(t, m->object);
		return m->object;
	}
	return m->object && !m->object->image ? use_fresh(t, m->object) : NULL;
}

/* The base name, raw. */
static void short_name(char *to, size_t size, const char *name, bool deleted)
{
	const char *base = strrchr(name, '/');
	size_t length;

	base = base ? base + 1 : name;
	length = strlen(base);
	if (deleted && length > strlen(DELETED) &&
	    !strcmp(base + length - strlen(DELETED), DELETED))
		length -= strlen(DELETED);
	snprintf(to, size, "%.*s", (int)length, base);
}

/* Another file has its key by now. It goes when no process maps it any more. */
static void object_disown(struct tracker *t, struct object *o)
{
	if (o->refs <= o->pinned) {
		forget(t, o);
		return;
	}
	HASH_DEL(t->objects, o);
	o->key = (struct object_key){.dev = UINT64_MAX, .inode = o->id};
	HASH_ADD(hh, t->objects, key, sizeof(o->key), o);
	if (o->by_file)
		HASH_DELETE(file_hh, t->files, o);
	o->by_file = false;
}

/*
 * Takes the descriptor over, and gives a reference. NULL: the object had been made of another file
 * that looked the same, and is gone; the descriptor is not.
 */
static struct object *object_use(struct tracker *t, struct object *o, const struct open_answer *a,
				 int fd)
{
	if (!rest_is(o)) {
		close(fd);
	} else if (!rest_end(t, o, a, fd)) {
		object_disown(t, o);
		return NULL;
	} else if (o->copied) {
		t->copied += o->key.size;
	}
	o->seen = tracker_now();
	object_get(t, o);
	rest_keep(t);
	return o;
}

uint64_t object_file_tag(const struct file_id *id)
{
	return vma_file_tag(vma_dev(major(id->dev), minor(id->dev)), id->inode);
}

/* From now on the file of those numbers is this object, and not the one of before. */
static void set_tag(struct tracker *t, struct object *o, const struct file_id *id)
{
	uint64_t tag = object_file_tag(id) & FRAME_TAG_MASK;
	struct object *older;

	if (o->tag == tag && !memcmp(&o->shown, id, sizeof(*id)))
		return;
	untag(t, o);
	o->shown = *id;
	HASH_FIND(tag_hh, t->tags, &tag, sizeof(tag), older);
	if (older)
		untag(t, older);
	o->tag = tag;
	if (tag)
		HASH_ADD(tag_hh, t->tags, tag, sizeof(o->tag), o);
}

struct object *object_by_tag(struct tracker *t, uint64_t frame, uint64_t *vaddr)
{
	const uint64_t tag = frame & FRAME_TAG_MASK, offset = FRAME_OFFSET(frame);
	struct object *o;

	HASH_FIND(tag_hh, t->tags, &tag, sizeof(tag), o);
	*vaddr = offset; /* not ELF, or of another machine, as in mapping.c */
	if (o && !o->nloads)
		return o;
	for (size_t i = 0; o && i < o->nloads; i++) {
		const struct elf_load *l = &o->loads[i];

		if (!l->exec || offset < l->offset || offset - l->offset >= l->filesz)
			continue;
		*vaddr = l->vaddr + (offset - l->offset);
		return o;
	}
	return NULL;
}

/* What no process maps gives way: the user's own, or anyone's where all is used up. */
static bool charge_new(struct tracker *t, struct object *o, size_t nloads)
{
	const int64_t bytes = (int64_t)(sizeof(*o) + (nloads + 1) * sizeof(*o->loads));
	struct object *old = t->unused_oldest, *next;

	for (; !object_charge(t, o, bytes); old = next) {
		if (!old)
			return false;
		next = old->newer;
		if (!old->in_queue && old != t->vdso &&
		    (old->uid == o->uid || quota_room(&t->bytes, 0) < (uint64_t)bytes))
			forget(t, old);
	}
	return true;
}

static void tell_no_room(struct tracker *t, const char *name)
{
	if (!t->told_objects)
		tracker_tell(t, 1,
			     "a user's processes map too many files for the memory that there is: "
			     "%s and others cannot be walked",
			     name);
	t->told_objects = true;
}

static struct object *object_of_file(struct tracker *t, const struct object_key *key,
				     const struct open_answer *a, int fd, const char *name,
				     uid_t uid)
{
	struct object *o = object_new(key, fd, name);

	if (!o) {
		close(fd);
		return NULL;
	}
	o->uid = uid;
	if (!charge_new(t, o, a->nloads)) {
		tell_no_room(t, o->name);
		object_free(o);
		return NULL;
	}
	t->nopen++;
	o->copied = a->file.copied;
	o->change = a->ctime;
	o->seen = tracker_now();
	o->loads = malloc((a->nloads + 1) * sizeof(*o->loads));
	if (o->loads) {
		o->nloads = a->nloads;
		memcpy(o->loads, a->loads, a->nloads * sizeof(*o->loads));
	}
	o->build_id_size = a->build_id_size;
	memcpy(o->build_id, a->build_id, sizeof(o->build_id));
	if (o->copied)
		t->copied += key->size;
	/* What only failed now, the builder tries again, and tells if it cannot either. */
	object_add(t, o, a->elf_err == -EINVAL || a->elf_err == -ENOTSUP);
	object_get(t, o);
	rest_keep(t);
	return o;
}

struct object *object_of_answer(struct tracker *t, const struct open_request *r,
				const struct open_answer *a, uid_t uid, int fd)
{
	/* A user's file system says of its files what the user likes. */
	const struct object_key key = {a->file.copied ? a->file.dev | ((uint64_t)uid + 1) << 32
						      : a->file.dev,
				       a->file.inode, a->file.mtime, a->file.size};
	const struct file_id id = {r->dev, r->inode};
	char name[sizeof(((struct object *)NULL)->name)];
	struct object *o = find(t, &key);

	if (o)
		o = object_use(t, o, a, fd);
	if (!o) {
		short_name(name, sizeof(name), r->name, a->deleted);
		o = object_of_file(t, &key, a, fd, name, uid);
	}
	if (!o)
		return NULL;
	set_tag(t, o, &id);
	note_change(t, o, a->ctime);
	return o;
}

void object_request(const struct tracker *t, struct open_request *r, pid_t pid,
		    const struct procmap *map)
{
	const uint64_t copies = memory_limit(MEMORY_COPIES);

	memset(r, 0, offsetof(struct open_request, name));
	r->kind = OPEN_MAPPED;
	r->start = map->start;
	r->end = map->end;
	r->dev = makedev(map->dev_major, map->dev_minor);
	r->inode = map->inode;
	r->copy_max = t->copied < copies ? copies - t->copied : 0;
	if (r->copy_max > copies / 2)
		r->copy_max = copies / 2;
	r->pid = pid;
	snprintf(r->name, sizeof(r->name), "%s", map->name);
}

static struct object *vdso_new(struct tracker *t, const void *image, uint64_t size)
{
	const struct object_key key = {.inode = UINT64_MAX};
	struct object *o = object_new(&key, -1, "[vdso]");
	struct elf_file *file = NULL;
	const struct elf_load *loads;
	int err;

	if (!o)
		return NULL;
	o->image = image;
	o->image_size = size;
	err = elf_file_open_memory(image, size, &file);
	if (!err) {
		loads = elf_file_loads(file, &o->nloads);
		o->loads = malloc((o->nloads + 1) * sizeof(*o->loads));
		if (o->loads)
			memcpy(o->loads, loads, o->nloads * sizeof(*o->loads));
		else
			o->nloads = 0;
		o->build_id_size = (uint8_t)elf_file_build_id(file, o->build_id);
		elf_file_free(file);
	}
	object_add(t, o, err == -EINVAL || err == -ENOTSUP);
	return o;
}

struct object *object_vdso(struct tracker *t)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = image;
	uint64_t size;

	if (!t->vdso && image) {
		/* The section headers come last in the image. */
		size = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
		t->vdso = vdso_new(t, image, size);
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

	HASH_CLEAR(file_hh, t->files);
	HASH_CLEAR(tag_hh, t->tags);
	HASH_CLEAR(hh, t->objects);
	HASH_CLEAR(id_hh, t->objects_by_id);
	for (; o; o = next) {
		next = o->hh.next;
		object_free(o);
	}
}

void object_put(struct tracker *t, struct object *object)
{
	turnlock_take(&t->lock);
	object->held--;
	object_unref(t, object);
	turnlock_give(&t->lock);
}

bool object_is_awaited(struct tracker *t, const struct object *object)
{
	bool awaited;

	if (!rest_is(object)) /* which does not change while it is held */
		return false;
	turnlock_take(&t->lock);
	awaited = object->refs > object->pinned + object->held &&
		  rest_want(t, object_by_id(t, object->id));
	turnlock_give(&t->lock);
	return awaited;
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
