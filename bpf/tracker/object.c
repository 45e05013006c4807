// SPDX-License-Identifier: GPL-2.0-or-later
/* See object.h. */
#include "bpf/tracker/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utlist.h>

#include "bpf/sampler/clock.h"
#include "bpf/tracker/publish.h"
#include "bpf/tracker/garbage.h"
#include "bpf/tracker/proctable.h"
#include "bpf/tracker/tracker.h"

#define UNUSED_MAX 512u /* objects that no process maps */

static void unused_add(struct objects *os, struct object *o)
{
	DL_APPEND2(os->unused, o, older, newer);
	os->nunused++;
}

static void unused_remove(struct objects *os, struct object *o)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): of several, the first has a next */
	DL_DELETE2(os->unused, o, older, newer);
	os->nunused--;
}

bool object_charge(struct objects *os, struct object *o, int64_t bytes)
{
	if (bytes > 0 && !quota_take(&os->bytes, o->uid, (uint64_t)bytes))
		return false;
	if (bytes < 0)
		quota_give(&os->bytes, o->uid, (uint64_t)-bytes);
	o->bytes += bytes;
	return true;
}

void object_drop_spans(struct objects *os, struct object *o)
{
	uint32_t i;

	publish_unfile(os->publisher, o);
	for (i = 0; i < o->nspans; i++)
		garbage_add(os->garbage, os->shards, o->spans[i].word);
	object_charge(os, o, -(int64_t)(o->spans_room * sizeof(*o->spans)));
	o->spans_room = 0;
	free(o->spans);
	o->spans = NULL;
	o->nspans = 0;
	o->nwords = 0;
}

bool object_is_closed(const struct object *o)
{
	return o->fd < 0 && !o->image;
}

/* Processes that have ended map it for seconds, so a look once a second misses no use. */
bool object_is_mapped(const struct object *o)
{
	return o->refs > o->pinned;
}

void object_free(struct object *o)
{
	if (o->fd >= 0)
		close(o->fd);
	free(o->loads);
	free(o->spans);
	free(o->runtime);
	free(o->by_offset);
	free(o);
}

void object_set_state(struct objects *os, struct object *o, enum object_state state)
{
	os->nevicted += (state == OBJECT_EVICTED) - (o->state == OBJECT_EVICTED);
	o->state = state;
	o->refused &= state == OBJECT_FAILED;
	if (state == OBJECT_READY)
		o->waits = 0;
	if (state == OBJECT_READY)
		publish_file(os->publisher, o);
	else if (state == OBJECT_EVICTED && !o->waits)
		o->waits = clock_now();
}

void object_untag(struct objects *os, struct object *o)
{
	publish_unfile(os->publisher, o);
	if (o->tag)
		HASH_DELETE(tag_hh, os->by_tag, o);
	o->tag = 0;
}

/* Neither its key nor its file mean this object any more. */
static void object_unkey(struct objects *os, struct object *o)
{
	if (o->by_key)
		HASH_DELETE(key_hh, os->by_key, o);
	if (o->by_file)
		HASH_DELETE(file_hh, os->by_file, o);
	o->by_key = o->by_file = false;
}

/* Removes an object that no process maps and that is not queued. */
static void object_forget(struct objects *os, struct object *o)
{
	if (!o->refs) /* else that of its pin */
		unused_remove(os, o);
	object_drop_spans(os, o);
	HASH_DEL(os->all, o);
	object_unkey(os, o);
	object_untag(os, o);
	if (o->copied && o->fd >= 0)
		os->copied -= o->key.size;
	os->nopen -= o->fd >= 0;
	os->nwanted -= o->wanted;
	os->ndescribing -= o->describes;
	object_charge(os, o, -(int64_t)o->bytes);
	object_set_state(os, o, OBJECT_FAILED);
	object_free(o);
}

bool object_evict_unused(struct objects *os)
{
	struct object *o = os->unused;

	while (o && (o->in_queue || o == os->vdso))
		o = o->newer;
	if (!o)
		return false;
	object_forget(os, o);
	return true;
}

void object_get(struct objects *os, struct object *o)
{
	if (!o->refs++)
		unused_remove(os, o);
}

void object_unref(struct objects *os, struct object *o)
{
	if (--o->refs)
		return;
	unused_add(os, o);
	if (os->nunused > UNUSED_MAX)
		object_evict_unused(os);
}

void object_unref_code(struct objects *os, struct object *o)
{
	if (--o->refs)
		return;
	unused_add(os, o);
	if (!o->in_queue)
		object_forget(os, o);
}

static void queue_add(struct objects *os, struct object *o)
{
	o->in_queue = true;
	o->queued = clock_now();
	DL_APPEND2(os->queue, o, prev_queued, next_queued);
	pthread_cond_broadcast(os->queue_wake);
}

void object_renew(struct objects *os, struct object *o)
{
	if (o->state == OBJECT_READY)
		queue_add(os, o);
	else
		object_enqueue(os, o);
}

void object_enqueue(struct objects *os, struct object *o)
{
	object_set_state(os, o, OBJECT_QUEUED);
	if (!o->in_queue)
		queue_add(os, o);
}

void object_unqueue(struct objects *os, struct object *o)
{
	DL_DELETE2(os->queue, o, prev_queued, next_queued);
	o->in_queue = false;
	object_set_state(os, o, OBJECT_EVICTED);
	proctable_touch(os->procs, o);
}

void object_rebuild(struct objects *os, struct object *o)
{
	if (o->state == OBJECT_QUEUED)
		return;
	object_drop_spans(os, o);
	if (object_is_closed(o)) { /* built when it is mapped and sampled again */
		object_set_state(os, o, OBJECT_EVICTED);
		return;
	}
	object_enqueue(os, o);
	proctable_touch(os->procs, o);
}

struct object *object_new(const struct object_key *key, int fd, const char *name)
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

/* Of two objects of one file the younger is found by it. */
bool object_add(struct objects *os, struct object *o, bool has_no_cfi)
{
	struct object *older;

	o->id = ++os->next_id;
	o->hashed = true;
	HASH_ADD(hh, os->all, id, sizeof(o->id), o);
	if (!o->hashed)
		return false;
	HASH_ADD(key_hh, os->by_key, key, sizeof(o->key), o);
	if (!o->hashed) {
		HASH_DEL(os->all, o);
		return false;
	}
	o->by_key = true;
	HASH_FIND(file_hh, os->by_file, &o->file, sizeof(o->file), older);
	if (older && object_is_mapped(older))
		o->mapped_mtime = 0; /* the file was written while it was mapped, at some time */
	if (older)
		HASH_DELETE(file_hh, os->by_file, older);
	if (older)
		older->by_file = false;
	HASH_ADD(file_hh, os->by_file, file, sizeof(o->file), o);
	o->by_file = o->hashed;
	unused_add(os, o);
	if (has_no_cfi)
		o->state = OBJECT_READY;
	else if (os->chosen_only && !o->code) /* code is asked for where it was sampled */
		o->state = OBJECT_UNASKED;
	else
		object_enqueue(os, o);
	return true;
}

void object_want_table(struct objects *os, struct object *o)
{
	if (o->state != OBJECT_UNASKED)
		return;
	if (object_is_closed(o)) /* as in object_rebuild */
		object_set_state(os, o, OBJECT_EVICTED);
	else
		object_enqueue(os, o);
}

void objects_choose(struct objects *os, bool chosen_only)
{
	struct object *o, *next;

	if (chosen_only == os->chosen_only)
		return;
	os->chosen_only = chosen_only;
	while (chosen_only && os->queue) {
		o = os->queue;
		object_unqueue(os, o);
		object_set_state(os, o, OBJECT_UNASKED);
		o->waits = 0;
	}
	HASH_ITER(hh, os->all, o, next)
		if (!chosen_only && object_is_mapped(o))
			object_want_table(os, o);
}

void object_key(struct object_key *key, const struct stat *st)
{
	memset(key, 0, sizeof(*key));
	key->dev = st->st_dev;
	key->inode = st->st_ino;
	key->mtime = st->st_mtim.tv_sec * 1000000000ull + st->st_mtim.tv_nsec;
	key->size = st->st_size;
}

uint64_t object_ctime(const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * 1000000000ull + (uint64_t)st->st_ctim.tv_nsec;
}

void object_close(struct objects *os, struct object *o)
{
	struct stat st;

	if (o->copied)
		os->copied -= o->key.size;
	else
		o->change = fstat(o->fd, &st) ? 0 : object_ctime(&st);
	close(o->fd);
	o->fd = -1;
	os->nopen--;
}

void object_disown(struct objects *os, struct object *o)
{
	if (!object_is_mapped(o)) {
		object_forget(os, o);
		return;
	}
	object_unkey(os, o);
}

bool object_charge_new(struct objects *os, struct object *o, size_t nloads)
{
	const int64_t bytes = (int64_t)(sizeof(*o) + (nloads + 1) * sizeof(*o->loads));
	struct object *old = os->unused, *next;

	for (; !object_charge(os, o, bytes); old = next) {
		if (!old)
			return false;
		next = old->newer;
		if (!old->in_queue && old != os->vdso &&
		    (old->uid == o->uid || quota_room(&os->bytes, 0) < (uint64_t)bytes))
			object_forget(os, old);
	}
	return true;
}

struct object *object_by_id(struct objects *os, uint64_t id)
{
	struct object *o;

	HASH_FIND(hh, os->all, &id, sizeof(id), o);
	return o;
}

void objects_free(struct objects *os)
{
	struct object *o = os->all, *next;

	HASH_CLEAR(file_hh, os->by_file);
	HASH_CLEAR(tag_hh, os->by_tag);
	HASH_CLEAR(key_hh, os->by_key);
	HASH_CLEAR(hh, os->all);
	for (; o; o = next) {
		next = o->hh.next;
		object_free(o);
	}
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
