// SPDX-License-Identifier: GPL-2.0-or-later
/* See filelist.h. */
#include "bpf/tracker/filelist.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/mapping.h"
#include "bpf/tracker/maplist.h"
#include "bpf/tracker/object.h"
#include "unwind/shards.h"

static struct file_key key_of_object(const struct object *o)
{
	return (struct file_key){vma_dev(major(o->shown.dev), minor(o->shown.dev)), o->shown.inode};
}

void filelist_drop(struct filelists *files, struct object *o)
{
	const struct file_key key = key_of_object(o);

	if (!o->by_offset)
		return;
	sampler_drop_file(files->maps->sampler, &key);
	maplist_unref(files->maps, o->by_offset);
	o->by_offset = NULL;
	*o->prev_filed = o->next_filed;
	if (o->next_filed)
		o->next_filed->prev_filed = o->prev_filed;
}

void filelists_drop_all(struct filelists *files)
{
	while (files->first)
		filelist_drop(files, files->first);
}

/*
 * The file's code as if it were mapped at FILE_SPACE. Segments that overlap are left out. -E2BIG:
 * more entries than the walk can search.
 */
static int add_segments(struct map_entries *e, struct object *o)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t end = 0;
	int err = 0;

	for (size_t i = 0; i < o->nloads && !err; i++) {
		const struct elf_load *l = &o->loads[i];
		struct mapping m = {.offset = l->offset & ~(page - 1), .object = o};

		if (!l->exec || l->offset + l->filesz < l->offset || m.offset < end ||
		    l->offset + l->filesz > FRAME_VADDR_MAX || l->vaddr > FRAME_VADDR_MAX)
			continue;
		end = (l->offset + l->filesz + page - 1) & ~(page - 1);
		m.start = FILE_SPACE + m.offset;
		m.end = FILE_SPACE + end;
		m.bias = FILE_SPACE + l->offset - l->vaddr;
		err = map_entries_add(e, &m);
	}
	return err;
}

/* On file systems of users, the numbers of a file are whatever these users choose. */
static bool is_useful(const struct maplists *maps, const struct object *o)
{
	return maps->sampler && sampler_checks_lists(maps->sampler) && o->tag && o->change &&
	       !o->copied && !o->image && o->state == OBJECT_READY &&
	       shards_used(maps->shards, NULL) < (uint64_t)SHARD_WORDS / 2;
}

static void link_object(struct filelists *files, struct object *o)
{
	o->next_filed = files->first;
	o->prev_filed = &files->first;
	if (files->first)
		files->first->prev_filed = &o->next_filed;
	files->first = o;
}

void filelist_publish(struct filelists *files, struct object *o)
{
	const struct file_key key = key_of_object(o);
	struct file_entry entry = {.change = o->change};
	struct map_entries e = {0};
	struct maplist *list;

	if (o->by_offset && o->by_offset_change == o->change)
		return;
	filelist_drop(files, o);
	list = is_useful(files->maps, o) ? calloc(1, sizeof(*list)) : NULL;
	if (!list || add_segments(&e, o) || !e.count || maplist_put(files->maps, &e, &list->word)) {
		free(list);
	} else {
		list->refs = 1;
		list->count = e.count;
		entry.list_at = list->word / MAPLIST_ENTRY_WORDS;
		entry.list_count = e.count;
		o->by_offset = list;
		o->by_offset_change = o->change;
		link_object(files, o);
		if (sampler_set_file(files->maps->sampler, &key, &entry))
			filelist_drop(files, o);
	}
	map_entries_free(&e);
}

void filelists_scan(struct filelists *files, uint64_t now)
{
	for (struct object *o = files->first; o; o = o->next_filed) {
		uint8_t *touched = sampler_touched(files->maps->sampler) +
				   o->by_offset->word / MAPLIST_ENTRY_WORDS;

		if (!memchr(touched, 1, o->by_offset->count))
			continue;
		memset(touched, 0, o->by_offset->count);
		o->sampled = now;
	}
}
