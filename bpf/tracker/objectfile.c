// SPDX-License-Identifier: GPL-2.0-or-later
/* See objectfile.h. */
#include "bpf/tracker/objectfile.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/clock.h"
#include "bpf/tracker/publish.h"
#include "bpf/tracker/mapping.h"
#include "bpf/tracker/maplist.h"
#include "bpf/tracker/notices.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/openfile.h"
#include "symbols/base/memory.h"

#define COPY_FRESH_NS (10ull * 1000000000) /* a copy counts as the file for so long */
#define DELETED	      " (deleted)"	   /* what d_path adds to a file without a name */

/* --- by what is known ------------------------------------------------------------------------ */

/* The file was found to be the same, with that ctime. */
static void note_change(struct objects *os, struct object *o, uint64_t change)
{
	o->change = change;
	publish_file(os->publisher, o);
}

static bool is_fresh(struct objects *os, struct object *o)
{
	struct object_key key;
	struct stat st;

	if (object_is_closed(o))
		return false;
	if (o->copied)
		return o->seen + COPY_FRESH_NS > clock_now();
	/* It is on a disk or in memory: fstat does not block. */
	if (fstat(o->fd, &st))
		return false;
	object_key(&key, &st);
	if (memcmp(&key, &o->key, sizeof(key)) != 0)
		return false;
	note_change(os, o, object_ctime(&st));
	return true;
}

/* A reference to it; NULL: the file has to be opened again. */
static struct object *use_fresh(struct objects *os, struct object *o)
{
	if (!is_fresh(os, o))
		return NULL;
	object_get(os, o);
	return o;
}

struct object *objectfile_known(struct objects *os, const struct file_id *id, uid_t uid)
{
	struct object *o;

	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(file_hh, os->by_file, id, sizeof(*id), o);
	return o && (!o->copied || o->uid == uid) ? use_fresh(os, o) : NULL;
}

/* A closed file cannot be looked at, but the mapping keeps the inode from being used again. */
struct object *objectfile_still(struct objects *os, const struct mapping *m)
{
	if (m->object && object_is_closed(m->object)) {
		object_get(os, m->object);
		return m->object;
	}
	return m->object && !m->object->image ? use_fresh(os, m->object) : NULL;
}

/* --- by an opened file ----------------------------------------------------------------------- */

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

/*
 * A build-id tells whether it is the file that the object was made from. Without one the ctime
 * does, which no system call sets to a chosen value. Not all file systems have a ctime, so the
 * segments are compared, too.
 */
static bool is_same_elf(const struct object *o, const struct open_answer *a)
{
	size_t i;

	if (a->nloads != o->nloads || a->build_id_size != o->build_id_size)
		return false;
	for (i = 0; i < a->nloads; i++) {
		const struct elf_load *l = &a->loads[i], *k = &o->loads[i];

		if (l->offset != k->offset || l->filesz != k->filesz || l->vaddr != k->vaddr ||
		    l->memsz != k->memsz || l->exec != k->exec)
			return false;
	}
	return a->build_id_size ? !memcmp(a->build_id, o->build_id, a->build_id_size)
				: a->ctime == o->change;
}

/*
 * Takes the descriptor, and returns a reference. NULL: the object was made from another file that
 * looked the same, and is gone; the caller still has the descriptor.
 */
static struct object *use_again(struct objects *os, struct object *o, const struct open_answer *a,
				int fd)
{
	if (!object_is_closed(o)) {
		close(fd);
	} else if (a->file.copied != o->copied || !is_same_elf(o, a)) {
		object_disown(os, o);
		return NULL;
	} else { /* the one that was closed */
		o->fd = fd;
		o->idle = o->wanted_at = 0;
		os->nopen++;
		os->copied += o->copied ? o->key.size : 0;
	}
	o->seen = clock_now();
	object_get(os, o);
	return o;
}

/* From now on these numbers mean this object, and no longer an older one. */
static void set_tag(struct objects *os, struct object *o, const struct file_id *id,
		    uint32_t generation)
{
	uint64_t tag = vma_frame_tag(maplist_file_tag(id), generation) & FRAME_TAG_MASK;
	struct object *older;

	if (o->tag == tag && !memcmp(&o->shown, id, sizeof(*id)))
		return;
	object_untag(os, o);
	o->shown = *id;
	HASH_FIND(tag_hh, os->by_tag, &tag, sizeof(tag), older);
	if (older)
		object_untag(os, older);
	o->tag = tag;
	o->hashed = tag != 0;
	if (tag)
		HASH_ADD(tag_hh, os->by_tag, tag, sizeof(o->tag), o);
	if (!o->hashed)
		o->tag = 0;
}

struct object *objectfile_by_tag(struct objects *os, uint64_t frame, uint64_t *vaddr)
{
	const uint64_t tag = frame & FRAME_TAG_MASK, offset = FRAME_OFFSET(frame);
	struct object *o;

	HASH_FIND(tag_hh, os->by_tag, &tag, sizeof(tag), o);
	*vaddr = offset; /* not ELF, or of another architecture, as in mapping.c */
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

static struct object *new_of_file(struct objects *os, const struct object_key *key,
				  const struct open_answer *a, int fd, const char *name, uid_t uid)
{
	struct object *o = object_new(key, fd, name);

	if (!o) {
		close(fd);
		return NULL;
	}
	o->uid = uid;
	if (!object_charge_new(os, o, a->nloads)) {
		if (notices_first(os->notices, NOTICE_OBJECTS_QUOTA))
			notices_tell(os->notices, 1,
				     "a user's processes map too many files for the memory that "
				     "there is: %s and others cannot be walked",
				     o->name);
		object_free(o);
		return NULL;
	}
	/* After other errors the builder tries again, and reports if it fails, too. */
	if (!object_add(os, o, a->elf_err == -EINVAL || a->elf_err == -ENOTSUP)) {
		object_charge(os, o, -(int64_t)o->bytes);
		object_free(o);
		return NULL;
	}
	os->nopen++;
	o->copied = a->file.copied;
	o->no_code = a->no_code;
	o->change = a->ctime;
	o->seen = clock_now();
	o->loads = malloc((a->nloads + 1) * sizeof(*o->loads));
	if (o->loads) {
		o->nloads = a->nloads;
		memcpy(o->loads, a->loads, a->nloads * sizeof(*o->loads));
	}
	o->build_id_size = a->build_id_size;
	memcpy(o->build_id, a->build_id, sizeof(o->build_id));
	if (o->copied)
		os->copied += key->size;
	object_get(os, o);
	return o;
}

struct object *objectfile_take(struct objects *os, const struct open_request *r,
			       const struct open_answer *a, uid_t uid, int fd)
{
	/* A user's file system reports whatever that user chooses. */
	const struct object_key key = {a->file.copied ? a->file.dev | ((uint64_t)uid + 1) << 32
						      : a->file.dev,
				       a->file.inode, a->file.mtime, a->file.size};
	const struct file_id id = {r->dev, r->inode};
	char name[sizeof(((struct object *)NULL)->name)];
	struct object *o;

	/* hashed as bytes, which the analyser loses track of */
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	HASH_FIND(key_hh, os->by_key, &key, sizeof(key), o);
	if (o)
		o = use_again(os, o, a, fd);
	if (!o) {
		short_name(name, sizeof(name), r->name, a->deleted);
		o = new_of_file(os, &key, a, fd, name, uid);
	}
	if (!o)
		return NULL;
	set_tag(os, o, &id, a->generation);
	note_change(os, o, a->ctime);
	return o;
}

void objectfile_request(const struct objects *os, struct open_request *r, pid_t pid,
			const struct mapping *m, const char *name)
{
	const uint64_t copies = memory_limit(MEMORY_COPIES);

	memset(r, 0, offsetof(struct open_request, name));
	r->kind = OPEN_MAPPED;
	r->start = m->start;
	r->end = m->end;
	r->dev = m->file.dev;
	r->inode = m->file.inode;
	r->copy_max = os->copied < copies ? copies - os->copied : 0;
	if (r->copy_max > copies / 2)
		r->copy_max = copies / 2;
	r->pid = pid;
	snprintf(r->name, sizeof(r->name), "%s", name);
}

/* --- the vDSO -------------------------------------------------------------------------------- */

static struct object *vdso_new(struct objects *os, const void *image, uint64_t size)
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
	if (!object_add(os, o, err == -EINVAL || err == -ENOTSUP)) {
		object_free(o);
		return NULL;
	}
	return o;
}

struct object *objectfile_vdso(struct objects *os)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = image;
	uint64_t size;

	if (!os->vdso && image) {
		/* The section headers come last in the image. */
		size = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
		os->vdso = vdso_new(os, image, size);
	}
	if (os->vdso)
		object_get(os, os->vdso);
	return os->vdso;
}

/* --- segments -------------------------------------------------------------------------------- */

enum segment_fit { FIT_NOT, FIT_PART, FIT_KIND, FIT_WHOLE };

/* How well a segment fits the file's bytes [offset, offset + length), as code or as data. */
static enum segment_fit fit_of_segment(const struct elf_load *l, uint64_t offset, uint64_t length,
				       bool data)
{
	/* The kernel maps whole pages, so a segment begins at its page in the file. */
	uint64_t first = l->offset & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	uint64_t end = l->offset + l->filesz;

	if (end < l->offset || offset >= end || (offset < first && first - offset >= length))
		return FIT_NOT;
	if (l->exec == data)
		return FIT_PART;
	return offset >= first ? FIT_WHOLE : FIT_KIND;
}

bool objectfile_bias(const struct object *o, const struct mapping *m, uint64_t offset,
		     uint64_t *bias)
{
	enum segment_fit fit, best = FIT_NOT;
	size_t i;

	for (i = 0; i < o->nloads; i++) {
		const struct elf_load *l = &o->loads[i];

		fit = fit_of_segment(l, offset, m->end - m->start, m->data);
		if (fit <= best)
			continue;
		best = fit;
		*bias = m->start - (l->vaddr - l->offset + offset);
	}
	return best != FIT_NOT;
}

/* Of an executable segment, its pages, if these contain the range, or if they meet it. */
static bool code_pages(const struct object *o, uint64_t start, uint64_t end, bool all)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < o->nloads; i++) {
		const struct elf_load *l = &o->loads[i];
		const uint64_t first = l->vaddr & ~(page - 1);
		const uint64_t size = (l->vaddr - first + l->filesz + page - 1) & ~(page - 1);

		if (!l->exec || !l->filesz || l->filesz >= FRAME_VADDR_MAX || start >= end)
			continue;
		if (all ? start >= first && end - first <= size
			: end > first && (start < first || start - first < size))
			return true;
	}
	return false;
}

bool objectfile_has_code(const struct object *o, uint64_t start, uint64_t end)
{
	return code_pages(o, start, end, true);
}

bool objectfile_meets_code(const struct object *o, uint64_t start, uint64_t end)
{
	return code_pages(o, start, end, false);
}
