// SPDX-License-Identifier: GPL-2.0-or-later
/* See maplist.h. */
#include "bpf/tracker/maplist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/garbage.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/proctable.h"
#include "symbols/base/grow.h"
#include "symbols/base/search.h"
#include "unwind/shards.h"

void maplist_unref(struct maplists *lists, struct maplist *list)
{
	if (!list || --list->refs)
		return;
	if (list->count)
		garbage_add(lists->garbage, lists->shards, list->word);
	free(list);
}

uint64_t maplist_file_tag(const struct file_id *id)
{
	return vma_file_tag(vma_dev(major(id->dev), minor(id->dev)), id->inode);
}

uint64_t maplist_frame(const struct mapping *m)
{
	const struct object *o = m->object;

	if (!o || !o->nloads || o->id > FRAME_OBJECT_MAX || m->start < m->bias ||
	    m->end - m->bias > FRAME_VADDR_MAX)
		return 0;
	return FRAME_OF(o->id, m->bias);
}

bool maplist_is_runcode(const struct mapping *m)
{
	return m->object ? m->object->no_code : !m->asked;
}

/* --- entries --------------------------------------------------------------------------------- */

void map_entries_free(struct map_entries *e)
{
	free(e->at);
	free(e->tags);
}

static int add_entry(struct map_entries *e, const struct map_entry *entry, uint32_t tag)
{
	uint32_t room = e->room;

	if (entry->start >= entry->end)
		return 0;
	if (e->count >= MAP_LIST_MAX)
		return -E2BIG;
	if (GROW(e->tags, e->count, room, MAP_LIST_MAX) ||
	    GROW(e->at, e->count, e->room, MAP_LIST_MAX))
		return -ENOMEM;
	e->tags[e->count] = tag;
	e->at[e->count++] = *entry;
	return 0;
}

/* A mapping is cut into spans, which have rows, and the gaps between them, which have none. */
int map_entries_add(struct map_entries *e, const struct mapping *m)
{
	const struct object *o = maplist_is_runcode(m) ? NULL : m->object;
	struct map_entry gap = {
		.start = m->start, .frame = maplist_frame(m), .meta = MAP_META(MAP_NO_CFI, 0)};
	const uint32_t tag = m->file.inode || m->file.dev
				     ? vma_tag(maplist_file_tag(&m->file), m->start - m->offset)
				     : VMA_ANONYMOUS;
	struct map_entry span;
	int err = 0;

	/* Code without a table is walked by frame pointers. */
	if (m->asked || (o && (o->state != OBJECT_READY || o->partial)))
		gap.meta = MAP_META(MAP_PENDING, 0);
	for (uint32_t i = 0; o && o->state == OBJECT_READY && i < o->nspans && !err; i++) {
		const struct placed_span *s = &o->spans[i];

		uint64_t base = s->start + m->bias, end = s->end + m->bias;
		uint64_t start = base > gap.start ? base : gap.start;

		if (end > m->end)
			end = m->end;
		if (start >= end)
			continue;
		span = map_entry_rows(start, end, base, gap.frame, s->word, s->ngranules);
		gap.end = span.start;
		err = add_entry(e, &gap, tag);
		if (!err)
			err = add_entry(e, &span, tag);
		gap.start = span.end;
	}
	gap.end = m->end;
	return err ? err : add_entry(e, &gap, tag);
}

static int add_code(struct map_entries *e, const struct object *o)
{
	const uint32_t before = e->count;
	int err = 0;

	for (uint32_t i = 0; o && o->state == OBJECT_READY && i < o->nspans && !err; i++) {
		const struct placed_span *s = &o->spans[i];
		const struct map_entry span =
			map_entry_rows(s->start, s->end, s->start, 0, s->word, s->ngranules);

		err = add_entry(e, &span, VMA_ANONYMOUS);
	}
	e->ncode = e->count - before;
	return err == -E2BIG ? 0 : err;
}

/* Marks the mappings whose entries fit together, see crowd_order. */
static int choose_mappings(const struct process *p, bool *keep)
{
	struct file_id *files = malloc(p->nmappings * sizeof(*files));
	uint32_t *order = malloc(p->nmappings * sizeof(*order));
	struct map_entries e = {0}; /* only to count them */
	int err = files && order ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < p->nmappings && !err; i++)
		files[i] = p->mappings[i].file;
	if (!err)
		err = crowd_order(files, (uint32_t)p->nmappings, order);
	for (i = 0; i < p->nmappings && !err; i++) {
		err = map_entries_add(&e, &p->mappings[order[i]]);
		keep[order[i]] = !err;
	}
	map_entries_free(&e);
	free(order);
	free(files);
	return err == -E2BIG ? 0 : err;
}

/* keep: of each mapping; NULL: all are kept. */
static int add_kept(struct map_entries *e, const struct process *p, const bool *keep)
{
	size_t i;
	int err = 0;

	e->count = 0;
	for (i = 0; i < p->nmappings && !err; i++)
		if (!keep || keep[i])
			err = map_entries_add(e, &p->mappings[i]);
	return err;
}

int map_entries_of(struct map_entries *e, const struct process *p, bool *left_out)
{
	int err = add_kept(e, p, NULL);
	bool *keep;

	*left_out = err == -E2BIG;
	if (err == -E2BIG) {
		keep = calloc(p->nmappings, sizeof(*keep));
		err = keep ? choose_mappings(p, keep) : -ENOMEM;
		if (!err)
			err = add_kept(e, p, keep);
		free(keep);
	}
	return err ? err : add_code(e, p->code.table);
}

/* The space may still have the marks of its last use. */
int maplist_put(struct maplists *lists, const struct map_entries *e, uint32_t *word)
{
	int err =
		shards_add(lists->shards, (uint32_t *)e->at, e->count * MAPLIST_ENTRY_WORDS, word);
	struct entry_check *checks = sampler_memory(lists->sampler)->checks;
	uint32_t i, at;

	if (err)
		return err;
	at = *word / MAPLIST_ENTRY_WORDS;
	memset(sampler_memory(lists->sampler)->touched + at, 0, e->count);
	for (i = 0; i < e->count; i++)
		checks[at + i] = (struct entry_check){.tag = e->tags[i]};
	return 0;
}
