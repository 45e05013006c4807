// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the walk needs to know of a process: a sorted list of spans and gaps in the map_lists map,
 * found through the procs map. In return the walk leaves a mark at each entry that it came upon,
 * which tells what is sampled: tables that are not may go when the budget is used up, and tables
 * that went must come back.
 *
 * So it is with the lists themselves, for which there is one map: a process that does nothing has a
 * cold list when room is scarce, of one entry without a table that covers all addresses. A walk
 * that comes upon it ends there, and leaves its mark. Processes that share a list are cold
 * together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker_priv.h"

#define ENTRY_WORDS (sizeof(struct map_entry) / sizeof(uint32_t))
#define NO_IMAGE    1 /* no stack starts there */

void publish_put(struct tracker *t, struct published *list)
{
	if (!list || --list->refs)
		return;
	if (list->count)
		tracker_discard(t, t->lists, list->word);
	free(list);
}

/* An entry of before an exec is not there. */
void publish_read_exec(struct tracker *t, struct process *p)
{
	struct proc_entry entry;

	if (p->exec_id || p->kthread || !p->entered || sampler_process(t->sampler, p->pid, &entry))
		return;
	p->exec_id = entry.exec_id;
	p->exec_at = entry.exec_at;
}

int publish_entry(struct tracker *t, struct process *p)
{
	/* 0 fits any image, as it must where /proc does not show it. */
	struct proc_entry entry = {.start_stack = p->image ? p->image : p->unread ? NO_IMAGE : 0};
	int err;

	publish_read_exec(t, p);
	entry.exec_id = p->exec_id;
	entry.exec_at = p->exec_at;
	if (p->list) {
		entry.list_at = p->list->word / ENTRY_WORDS;
		entry.list_count = p->list->count;
	}
	err = sampler_set_process(t->sampler, p->pid, &entry);
	if (!err) {
		p->entered = true;
		return 0;
	}
	publish_put(t, p->list);
	p->list = NULL;
	if (err == -E2BIG && !t->told_procs)
		tracker_tell(t, 1, "more than %u processes: %s (%d) and others cannot be walked",
			     sampler_procs_max(t->sampler), p->comm, (int)p->pid);
	t->told_procs |= err == -E2BIG;
	return err;
}

struct entries {
	struct map_entry *at;
	uint32_t *tags; /* of the entries' mappings, see struct entry_check */
	uint32_t count, room;
};

static int entries_grow(struct entries *e)
{
	uint32_t room = e->room ? e->room * 2 : 32;
	struct map_entry *at = realloc(e->at, room * sizeof(*at));
	uint32_t *tags;

	if (!at)
		return -ENOMEM;
	e->at = at;
	tags = realloc(e->tags, room * sizeof(*tags));
	if (!tags)
		return -ENOMEM;
	e->tags = tags;
	e->room = room;
	return 0;
}

static void entries_free(struct entries *e)
{
	free(e->at);
	free(e->tags);
}

static int entry_add(struct entries *e, const struct map_entry *entry, uint32_t tag)
{

	if (entry->start >= entry->end)
		return 0;
	if (e->count >= MAP_LIST_MAX)
		return -E2BIG;
	if (e->count == e->room && entries_grow(e))
		return -ENOMEM;
	e->tags[e->count] = tag;
	e->at[e->count++] = *entry;
	return 0;
}

uint64_t publish_frame(const struct mapping *m)
{
	const struct object *o = m->object;

	if (!o || !o->nloads || o->id > FRAME_OBJECT_MAX || m->start < m->bias ||
	    m->end - m->bias > FRAME_VADDR_MAX)
		return 0;
	return FRAME_OF(o->id, m->bias);
}

static uint32_t tag_of(const struct mapping *m)
{
	if (!m->file.inode)
		return VMA_ANONYMOUS;
	return vma_tag(object_file_tag(&m->file), m->start - m->offset);
}

/* A mapping is cut in spans, which have rows, and the gaps between them, which have not. */
static int entries_of_mapping(struct entries *e, const struct mapping *m)
{
	const struct object *o = m->object;
	struct map_entry gap = {
		.start = m->start, .frame = publish_frame(m), .meta = MAP_META(MAP_NO_CFI, 0)};
	const uint32_t tag = tag_of(m);
	struct map_entry span;
	uint32_t i;
	int err = 0;

	if (m->asked || (o && o->state != OBJECT_READY))
		gap.meta = MAP_META(MAP_PENDING, 0);
	for (i = 0; o && o->state == OBJECT_READY && i < o->nspans && !err; i++) {
		const struct placed_span *s = &o->spans[i];

		uint64_t base = s->start + m->bias, end = s->end + m->bias;
		uint64_t start = base > gap.start ? base : gap.start;

		if (end > m->end)
			end = m->end;
		if (start >= end)
			continue;
		span = map_entry_rows(start, end, base, gap.frame, s->word, s->ngranules);
		gap.end = span.start;
		err = entry_add(e, &gap, tag);
		if (!err)
			err = entry_add(e, &span, tag);
		gap.start = span.end;
	}
	gap.end = m->end;
	return err ? err : entry_add(e, &gap, tag);
}

/* Marks the mappings whose entries fit together, see crowd.h. */
static int choose_mappings(const struct process *p, bool *keep)
{
	struct file_id *files = malloc(p->nmappings * sizeof(*files));
	uint32_t *order = malloc(p->nmappings * sizeof(*order));
	struct entries e = {0}; /* only to count them */
	int err = files && order ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < p->nmappings && !err; i++)
		files[i] = p->mappings[i].file;
	if (!err)
		err = crowd_order(files, (uint32_t)p->nmappings, order);
	for (i = 0; i < p->nmappings && !err; i++) {
		err = entries_of_mapping(&e, &p->mappings[order[i]]);
		keep[order[i]] = !err;
	}
	free(e.at);
	free(order);
	free(files);
	return err == -E2BIG ? 0 : err;
}

static int kept_entries(struct entries *e, const struct process *p, const bool *keep)
{
	size_t i;
	int err = 0;

	e->count = 0;
	for (i = 0; i < p->nmappings && !err; i++)
		if (!keep || keep[i])
			err = entries_of_mapping(e, &p->mappings[i]);
	return err;
}

/* Of more mappings than the walk can search, some are as if they were not. */
static int list_entries(struct tracker *t, struct entries *e, const struct process *p)
{
	int err = kept_entries(e, p, NULL);
	bool *keep;

	if (err != -E2BIG)
		return err;
	keep = calloc(p->nmappings, sizeof(*keep));
	err = keep ? choose_mappings(p, keep) : -ENOMEM;
	if (!err)
		err = kept_entries(e, p, keep);
	free(keep);
	if (!t->told_mappings)
		tracker_tell(t, 1, "%s (%d): too many mappings, not all can be walked", p->comm,
			     (int)p->pid);
	t->told_mappings = true;
	return err;
}

/* Copies the entries to the map, unmarked. What stood there before may still be marked. */
static int list_put(struct tracker *t, const struct entries *e, uint32_t *word)
{
	int err = shards_add(t->lists, (uint32_t *)e->at, e->count * ENTRY_WORDS, word);
	struct entry_check *checks = sampler_checks(t->sampler);
	uint32_t i, at;

	if (err)
		return err;
	at = *word / ENTRY_WORDS;
	memset(sampler_touched(t->sampler) + at, 0, e->count);
	for (i = 0; i < e->count; i++)
		checks[at + i] = (struct entry_check){.tag = e->tags[i]};
	return 0;
}

/* --- cold lists ------------------------------------------------------------------------------ */

static const struct map_entry everything = {
	.end = 1ull << 56, /* of user addresses, with five levels of page tables */
	.meta = MAP_META(MAP_PENDING, 0),
};
static const uint32_t any = VMA_ANY;
static const struct entries cold = {(struct map_entry *)&everything, (uint32_t *)&any, 1, 1};

enum urgency {
	PATIENT, /* in use for a short time only: stays */
	URGENT,
};

static uint64_t last_use(const struct published *list)
{
	return list->sampled > list->since ? list->sampled : list->since;
}

/* Longest without a sample first; those that are sampled after all of them, by when they came. */
static uint64_t coldness(const struct published *list, uint64_t now)
{
	return last_use(list) + IDLE_NS < now ? last_use(list) : UINT64_MAX / 2 + list->since;
}

static int by_order(const void *x, const void *y)
{
	const struct published *const *a = x, *const *b = y;

	return ((*a)->order > (*b)->order) - ((*a)->order < (*b)->order);
}

static bool may_cool(const struct published *list, enum urgency urgency, uint64_t now)
{
	if (list->cold || list->count <= 1)
		return false;
	return urgency == URGENT || last_use(list) + IDLE_NS < now || list->since + STAY_NS < now;
}

/* --- lists of files -------------------------------------------------------------------------- */

static struct file_key key_of(const struct object *o)
{
	return (struct file_key){vma_dev(major(o->shown.dev), minor(o->shown.dev)), o->shown.inode};
}

void publish_unfile(struct tracker *t, struct object *o)
{
	const struct file_key key = key_of(o);

	if (!o->by_offset)
		return;
	sampler_drop_file(t->sampler, &key);
	publish_put(t, o->by_offset);
	o->by_offset = NULL;
}

static void unfile_all(struct tracker *t)
{
	struct object *o, *next;

	HASH_ITER(hh, t->objects, o, next)
		publish_unfile(t, o);
}

/* The code of the file as if it were mapped at FILE_SPACE. Segments that overlap are left out. */
static int entries_of_file(struct entries *e, struct object *o)
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
		err = entries_of_mapping(e, &m);
	}
	return err;
}

/* Of files of users' file systems the numbers are as these like. */
static bool is_of_use(const struct tracker *t, const struct object *o)
{
	return t->sampler && sampler_checks_lists(t->sampler) && o->tag && o->change &&
	       !o->copied && !o->image && o->state == OBJECT_READY &&
	       shards_used(t->lists, NULL) < (uint64_t)SHARD_WORDS / 2;
}

void publish_file(struct tracker *t, struct object *o)
{
	const struct file_key key = key_of(o);
	struct published *list;
	struct entries e = {0};
	struct file_entry entry = {.change = o->change};

	if (o->by_offset && o->by_offset_change == o->change)
		return;
	publish_unfile(t, o);
	list = is_of_use(t, o) ? calloc(1, sizeof(*list)) : NULL;
	if (!list || entries_of_file(&e, o) || !e.count || list_put(t, &e, &list->word)) {
		free(list);
	} else {
		list->refs = 1;
		list->count = e.count;
		entry.list_at = list->word / ENTRY_WORDS;
		entry.list_count = e.count;
		o->by_offset = list;
		o->by_offset_change = o->change;
		if (sampler_set_file(t->sampler, &key, &entry))
			publish_unfile(t, o);
	}
	entries_free(&e);
}

void publish_scan_files(struct tracker *t, uint64_t now)
{
	struct object *o, *next;

	HASH_ITER(hh, t->objects, o, next) {
		uint8_t *touched;

		if (!o->by_offset)
			continue;
		touched = sampler_touched(t->sampler) + o->by_offset->word / ENTRY_WORDS;
		if (!memchr(touched, 1, o->by_offset->count))
			continue;
		memset(touched, 0, o->by_offset->count);
		o->sampled = now;
	}
}

/* --- cold lists ------------------------------------------------------------------------------ */

/* Lists that may become cold, each once, in that order. NULL: none, or no memory. */
static struct published **candidates(struct tracker *t, enum urgency urgency, size_t *n)
{
	const uint64_t now = tracker_now(), round = ++t->list_round;
	struct published **list = calloc(HASH_COUNT(t->processes) + 1, sizeof(struct published *));
	struct process *p, *next;

	*n = 0;
	if (!list)
		return NULL;
	HASH_ITER(hh, t->processes, p, next) {
		if (!p->list || p->list->round == round || !may_cool(p->list, urgency, now))
			continue;
		p->list->round = round;
		p->list->order = coldness(p->list, now);
		list[(*n)++] = p->list;
	}
	qsort(list, *n, sizeof(struct published *), by_order);
	return list;
}

/* Two passes, since processes share lists. */
static void publish_changed(struct tracker *t)
{
	struct process *p, *next;

	HASH_ITER(hh, t->processes, p, next)
		if (p->list && p->list->changed)
			publish_entry(t, p);
	HASH_ITER(hh, t->processes, p, next)
		if (p->list)
			p->list->changed = false;
}

/*
 * Makes lists cold until so many entries are free, an eighth of the map at least: it costs a wait
 * for all running programs. -ENOSPC: none may become so.
 */
static int lists_cool(struct tracker *t, uint32_t nentries, enum urgency urgency)
{
	struct published **list;
	uint32_t gained = 0;
	size_t n, i, cooled;

	unfile_all(t);
	if (nentries < MAP_ENTRIES_MAX / 8)
		nentries = MAP_ENTRIES_MAX / 8;
	list = candidates(t, urgency, &n);
	for (i = 0; i < n && gained < nentries; i++) {
		gained += list[i]->count - 1;
		tracker_discard(t, t->lists, list[i]->word);
		list[i]->refs++;
		list[i]->count = 0;
		list[i]->cold = list[i]->changed = true;
	}
	cooled = i;
	if (cooled) {
		publish_changed(t);
		tracker_flush(t, t->lists);
		for (i = 0; i < cooled; i++) {
			list[i]->count = list_put(t, &cold, &list[i]->word) ? 0 : 1;
			list[i]->changed = true;
		}
		publish_changed(t);
		for (i = 0; i < cooled; i++)
			publish_put(t, list[i]);
	}
	free(list);
	return cooled ? 0 : -ENOSPC;
}

/* Room for the entries, made by and by: what is free may lie in pieces. */
static int list_place(struct tracker *t, const struct entries *e, enum urgency urgency,
		      uint32_t *word)
{
	int err = list_put(t, e, word);

	if (err == -ENOSPC && t->ngarbage) {
		publish_changed(t);
		tracker_flush(t, t->lists);
		err = list_put(t, e, word);
	}
	while (err == -ENOSPC && !lists_cool(t, e->count, urgency))
		err = list_put(t, e, word);
	return err;
}

/* The process was sampled, and has a cold list. */
static void list_warm(struct tracker *t, struct published *list, const struct process *p)
{
	struct entries e = {0};
	uint32_t word = 0;
	int err = list_entries(t, &e, p);

	if (!err && e.count)
		err = list_place(t, &e, PATIENT, &word);
	entries_free(&e);
	if (err)
		return;
	if (list->count)
		tracker_discard(t, t->lists, list->word);
	list->word = word;
	list->count = e.count;
	list->cold = false;
	list->since = tracker_now();
	list->changed = true;
}

void publish_scan(struct tracker *t, uint64_t now)
{
	const uint64_t round = ++t->list_round;
	struct published **list;
	struct process *p, *next;
	size_t n = 0, i;

	list = calloc(HASH_COUNT(t->processes) + 1, sizeof(struct published *));
	if (!list)
		return;
	HASH_ITER(hh, t->processes, p, next) {
		/* One that is dirty has mappings that others of its list have not. */
		if (!p->list || !p->list->cold || p->list->sampled != now || p->dirty ||
		    p->list->round == round)
			continue;
		p->list->round = round;
		p->list->order = p->list->since;
		p->list->owner = p;
		p->list->refs++;
		list[n++] = p->list;
	}
	qsort(list, n, sizeof(struct published *), by_order);
	for (i = 0; i < n; i++)
		list_warm(t, list[i], list[i]->owner);
	if (n)
		publish_changed(t);
	for (i = 0; i < n; i++)
		publish_put(t, list[i]);
	free(list);
}

/* One that was there before, of which no sample is known, waits for one when room is scarce. */
static bool begins_cold(const struct tracker *t, const struct process *p)
{
	return !p->list && !p->recorded &&
	       shards_used(t->lists, NULL) > (uint64_t)SHARD_WORDS / 4 * 3;
}

int publish_list(struct tracker *t, struct process *p)
{
	struct entries e = {0};
	struct published *list = calloc(1, sizeof(*list));
	int err = list ? list_entries(t, &e, p) : -ENOMEM;

	/* The entry first: with the map of processes full, a list needs no room. */
	if (!err && !p->list)
		err = publish_entry(t, p);
	if (!err && e.count > 1 && begins_cold(t, p)) {
		list->cold = true;
		err = list_place(t, &cold, URGENT, &list->word);
		e.count = 1;
	} else if (!err && e.count) {
		err = list_place(t, &e, URGENT, &list->word);
	}
	entries_free(&e);
	if (err) {
		free(list);
		return err;
	}
	list->refs = 1;
	list->count = e.count;
	list->since = tracker_now();
	publish_put(t, p->list);
	p->list = list;
	return publish_entry(t, p);
}
