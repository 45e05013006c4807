// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the walk needs to know of a process: a sorted list of spans and gaps in the map_lists map,
 * found through the procs map. In return the walk marks each entry that it uses, which shows what
 * is sampled: tables that are not may go when the budget is used up, and tables that went must come
 * back.
 *
 * There is only one map for the lists, so the same holds for them: when room is scarce, an idle
 * process has a cold list, of one entry without a table that covers all addresses. A walk that
 * finds it ends there and marks it. Processes that share a list are cold together.
 */
#include "bpf/tracker/publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <utlist.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/sampler.h"
#include "bpf/sampler/clock.h"
#include "bpf/tracker/garbage.h"
#include "bpf/tracker/maplist.h"
#include "bpf/tracker/notices.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/proctable.h"
#include "bpf/tracker/runtimefile.h"
#include "bpf/tracker/turnlock.h"
#include "unwind/shards.h"

#define IDLE_NS	       (2ull * 1000000000)  /* a list without a sample for so long may go cold */
#define STAY_NS	       (10ull * 1000000000) /* and one in use that has been warm for so long */
#define PUBLISH_TRIES  50u		    /* a millisecond each, while there is no room */
#define PORTION	       64u
#define PORTIONS_NS    (4ull * 1000000)
#define NO_STACK_START 1 /* no stack starts there */

/* --- the entry ------------------------------------------------------------------------------- */

/* The entry has none if it was made after the last sample. */
void publish_read_exec(const struct publisher *pub, struct process *p)
{
	struct proc_entry entry;

	if (p->exec_id || p->kthread || !p->entered ||
	    sampler_process(pub->sampler, p->pid, &entry))
		return;
	p->exec_id = entry.exec_id;
	p->exec_at = entry.exec_at;
}

static void drop_list(struct publisher *pub, struct process *p)
{
	maplist_unref(pub->maps, p->list);
	p->list = NULL;
}

void publish_drop(struct publisher *pub, struct process *p)
{
	if (p->entered)
		sampler_drop_process(pub->sampler, p->pid);
	runtimefile_leave(pub->sampler, p);
	p->entered = false;
	drop_list(pub, p);
}

int publish_entry(struct publisher *pub, struct process *p)
{
	/* 0 fits any process, as it must where /proc does not show start_stack. */
	struct proc_entry entry = {.start_stack = p->start_stack	? p->start_stack
						  : p->stack_start_open ? NO_STACK_START
									: 0};
	int err;

	publish_read_exec(pub, p);
	entry.exec_id = p->exec_id;
	entry.exec_at = p->exec_at;
	if (p->list) {
		entry.list_at = p->list->word / MAPLIST_ENTRY_WORDS;
		entry.list_count = p->list->count - p->list->ncode;
		entry.code_count = p->list->ncode;
	}
	if (!++pub->version)
		pub->version = 1;
	entry.version = pub->version;
	entry.runtimes = runtimefile_enter(pub->sampler, p);
	pub->procs->runtime_came |= p->unproven;
	err = sampler_set_process(pub->sampler, p->pid, &entry);
	if (!err) {
		p->entered = true;
		return 0;
	}
	drop_list(pub, p);
	if (err == -E2BIG && notices_first(pub->notices, NOTICE_PROCESSES))
		notices_tell(pub->notices, 1,
			     "more than %u processes: %s (%d) and others cannot be walked",
			     sampler_procs_max(pub->sampler), p->comm, (int)p->pid);
	return err;
}

static int entries_of_process(struct publisher *pub, struct map_entries *e, const struct process *p)
{
	bool left_out;
	int err = map_entries_of(e, p, &left_out);

	if (left_out && notices_first(pub->notices, NOTICE_MAPPINGS))
		notices_tell(pub->notices, 1, "%s (%d): too many mappings, not all can be walked",
			     p->comm, (int)p->pid);
	return err;
}

/* --- lists of files -------------------------------------------------------------------------- */

static struct file_key key_of_object(const struct object *o)
{
	return (struct file_key){vma_dev(major(o->shown.dev), minor(o->shown.dev)), o->shown.inode};
}

void publish_unfile(struct publisher *pub, struct object *o)
{
	const struct file_key key = key_of_object(o);

	if (!o->by_offset)
		return;
	sampler_drop_file(pub->sampler, &key);
	maplist_unref(pub->maps, o->by_offset);
	o->by_offset = NULL;
	DL_DELETE2(pub->files, o, prev_filed, next_filed);
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

void publish_file(struct publisher *pub, struct object *o)
{
	const struct file_key key = key_of_object(o);
	struct file_entry entry = {.change = o->change};
	struct map_entries e = {0};
	struct maplist *list;

	if (o->by_offset && o->by_offset_change == o->change)
		return;
	publish_unfile(pub, o);
	list = is_useful(pub->maps, o) ? calloc(1, sizeof(*list)) : NULL;
	if (!list || add_segments(&e, o) || !e.count || maplist_put(pub->maps, &e, &list->word)) {
		free(list);
	} else {
		list->refs = 1;
		list->count = entry.list_count = e.count;
		entry.list_at = list->word / MAPLIST_ENTRY_WORDS;
		if (sampler_set_file(pub->sampler, &key, &entry)) {
			maplist_unref(pub->maps, list);
		} else {
			o->by_offset = list;
			o->by_offset_change = o->change;
			DL_APPEND2(pub->files, o, prev_filed, next_filed);
		}
	}
	map_entries_free(&e);
}

void publish_scan_files(struct publisher *pub, uint64_t now)
{
	for (struct object *o = pub->files; o; o = o->next_filed) {
		uint8_t *touched = sampler_memory(pub->sampler)->touched +
				   o->by_offset->word / MAPLIST_ENTRY_WORDS;

		if (!memchr(touched, 1, o->by_offset->count))
			continue;
		memset(touched, 0, o->by_offset->count);
		o->sampled = now;
	}
}

/* --- cold lists ------------------------------------------------------------------------------ */

static const struct map_entry everything = {
	.end = 1ull << 56, /* of user addresses, with five levels of page tables */
	.meta = MAP_META(MAP_PENDING, 0),
};
static const uint32_t any = VMA_ANY;
static const struct map_entries cold = {(struct map_entry *)&everything, (uint32_t *)&any, 1, 1, 0};

enum urgency {
	PATIENT, /* lists that have been in use for a short time stay */
	URGENT,
};

static uint64_t last_use(const struct maplist *list)
{
	return list->sampled > list->since ? list->sampled : list->since;
}

/* Idle lists first, by their last use; then those in use, by when they became warm. */
static uint64_t cooling_order(const struct maplist *list, uint64_t now)
{
	return last_use(list) + IDLE_NS < now ? last_use(list) : UINT64_MAX / 2 + list->since;
}

static int by_order(const void *x, const void *y)
{
	const struct maplist *const *a = x, *const *b = y;

	return ((*a)->order > (*b)->order) - ((*a)->order < (*b)->order);
}

static bool may_cool(const struct maplist *list, enum urgency urgency, uint64_t now)
{
	if (list->cold || list->count <= 1)
		return false;
	return urgency == URGENT || last_use(list) + IDLE_NS < now || list->since + STAY_NS < now;
}

/* Lists that may become cold, each once, in that order. NULL: no memory. */
static struct maplist **cooling_candidates(struct publisher *pub, enum urgency urgency, size_t *n)
{
	const uint64_t now = clock_now(), round = ++pub->list_round;
	struct maplist **list = calloc(HASH_COUNT(pub->procs->live) + 1, sizeof(struct maplist *));
	struct process *p, *next;

	*n = 0;
	if (!list)
		return NULL;
	HASH_ITER(hh, pub->procs->live, p, next) {
		if (!p->list || p->list->round == round || !may_cool(p->list, urgency, now))
			continue;
		p->list->round = round;
		p->list->order = cooling_order(p->list, now);
		list[(*n)++] = p->list;
	}
	qsort(list, *n, sizeof(struct maplist *), by_order);
	return list;
}

/* Two passes, since processes share lists. */
static void publish_changed(struct publisher *pub)
{
	struct process *p, *next;

	HASH_ITER(hh, pub->procs->live, p, next)
		if (p->list && p->list->changed)
			publish_entry(pub, p);
	HASH_ITER(hh, pub->procs->live, p, next)
		if (p->list)
			p->list->changed = false;
}

/*
 * Makes lists cold until so many entries are free, at least an eighth of the map, since it has to
 * wait for all running programs. -ENOSPC: none may go cold.
 */
static int cool_lists(struct publisher *pub, uint32_t nentries, enum urgency urgency)
{
	struct maplist **list;
	uint32_t gained = 0;
	size_t n, i, cooled;

	while (pub->files)
		publish_unfile(pub, pub->files);
	if (nentries < MAP_ENTRIES_MAX / 8)
		nentries = MAP_ENTRIES_MAX / 8;
	list = cooling_candidates(pub, urgency, &n);
	for (i = 0; i < n && gained < nentries; i++) {
		gained += list[i]->count - 1;
		garbage_add(pub->garbage, pub->maps->shards, list[i]->word);
		list[i]->refs++;
		list[i]->count = list[i]->ncode = 0;
		list[i]->cold = list[i]->changed = true;
	}
	cooled = i;
	if (cooled) {
		publish_changed(pub);
		garbage_flush(pub->garbage, pub->maps->shards);
		for (i = 0; i < cooled; i++) {
			list[i]->count = maplist_put(pub->maps, &cold, &list[i]->word) ? 0 : 1;
			list[i]->changed = true;
		}
		publish_changed(pub);
		for (i = 0; i < cooled; i++)
			maplist_unref(pub->maps, list[i]);
	}
	free(list);
	return cooled ? 0 : -ENOSPC;
}

/* Makes room for the entries step by step, since the free space may be in pieces. */
static int place_list(struct publisher *pub, const struct map_entries *e, enum urgency urgency,
		      uint32_t *word)
{
	int err = maplist_put(pub->maps, e, word);

	if (err == -ENOSPC && pub->garbage->n) {
		publish_changed(pub);
		garbage_flush(pub->garbage, pub->maps->shards);
		err = maplist_put(pub->maps, e, word);
	}
	while (err == -ENOSPC && !cool_lists(pub, e->count, urgency))
		err = maplist_put(pub->maps, e, word);
	return err;
}

/* A process with the cold list was sampled. */
static void warm_list(struct publisher *pub, struct maplist *list, const struct process *p)
{
	struct map_entries e = {0};
	uint32_t word = 0;
	int err = entries_of_process(pub, &e, p);

	if (!err && e.count)
		err = place_list(pub, &e, PATIENT, &word);
	map_entries_free(&e);
	if (err)
		return;
	if (list->count)
		garbage_add(pub->garbage, pub->maps->shards, list->word);
	list->word = word;
	list->count = e.count;
	list->ncode = e.ncode;
	list->cold = false;
	list->since = clock_now();
	list->changed = true;
}

void publish_scan(struct publisher *pub, uint64_t now)
{
	const uint64_t round = ++pub->list_round;
	struct maplist **list;
	struct process *p, *next;
	size_t n = 0, i;

	list = calloc(HASH_COUNT(pub->procs->live) + 1, sizeof(struct maplist *));
	if (!list)
		return;
	HASH_ITER(hh, pub->procs->live, p, next) {
		/* A dirty process has mappings that others with the same list lack. */
		if (!p->list || !p->list->cold || p->list->sampled != now || p->dirty ||
		    p->list->round == round)
			continue;
		p->list->round = round;
		p->list->order = p->list->since;
		p->list->owner = p;
		p->list->refs++;
		list[n++] = p->list;
	}
	qsort(list, n, sizeof(struct maplist *), by_order);
	for (i = 0; i < n; i++)
		warm_list(pub, list[i], list[i]->owner);
	if (n)
		publish_changed(pub);
	for (i = 0; i < n; i++)
		maplist_unref(pub->maps, list[i]);
	free(list);
}

/* --- dirty processes ------------------------------------------------------------------------- */

/* When room is scarce, a process from before the start waits for a sample. */
static bool begins_cold(const struct publisher *pub, const struct process *p)
{
	return !p->list && !p->recorded &&
	       shards_used(pub->maps->shards, NULL) > (uint64_t)SHARD_WORDS / 4 * 3;
}

/*
 * -ENOSPC: the map of lists is full; -E2BIG: that of processes is, and it has no list now;
 * -ENOMEM.
 */
static int make_list(struct publisher *pub, struct process *p)
{
	struct map_entries e = {0};
	struct maplist *list = calloc(1, sizeof(*list));
	int err = list ? entries_of_process(pub, &e, p) : -ENOMEM;

	/* The entry first: with the map of processes full, a list needs no room. */
	if (!err && !p->list)
		err = publish_entry(pub, p);
	if (!err && e.count > 1 && begins_cold(pub, p)) {
		list->cold = true;
		err = place_list(pub, &cold, URGENT, &list->word);
		e.count = 1;
		e.ncode = 0;
	} else if (!err && e.count) {
		err = place_list(pub, &e, URGENT, &list->word);
	}
	map_entries_free(&e);
	if (err) {
		free(list);
		return err;
	}
	list->refs = 1;
	list->count = e.count;
	list->ncode = e.ncode;
	list->since = clock_now();
	drop_list(pub, p);
	p->list = list;
	return publish_entry(pub, p);
}

/* False: to be tried again. */
static bool publish_process(struct publisher *pub, struct process *p)
{
	int err;

	if (process_is_unread(p))
		return false;
	p->exec_state = EXEC_SETTLED;
	proctable_clean(pub->procs, p);
	p->code.described = process_is_described(p);
	if (p->kthread)
		return true;
	err = make_list(pub, p);
	if (err) /* the old list may refer to tables that are about to go */
		publish_drop(pub, p);
	if (err == -ENOSPC && p->tries++ < PUBLISH_TRIES) {
		proctable_dirty(pub->procs, p); /* the builder may be freeing old lists now */
		return false;
	}
	if (err == -ENOSPC)
		notices_tell(pub->notices, 1, "no room for the mappings of process %d",
			     (int)p->pid);
	return true;
}

/* until: of this thread's CPU time; UINT64_MAX: all, even if another thread waits. */
static bool publish_until(struct publisher *pub, uint64_t until)
{
	struct process *p, *next;
	bool again = false;
	unsigned int n = 0;

	pub->publishing = false;
	for (p = pub->procs->dirty; p; p = next) {
		if (n++ == PORTION && until != UINT64_MAX) {
			pub->publishing =
				turnlock_is_wanted(pub->lock) || clock_cpu_time() >= until;
			if (pub->publishing)
				return true;
			n = 0;
		}
		next = p->next_dirty;
		again |= !publish_process(pub, p);
	}
	pub->garbage->unpublished = false;
	return again;
}

bool publish_all(struct publisher *pub)
{
	return publish_until(pub, UINT64_MAX);
}

bool publish_some(struct publisher *pub)
{
	return publish_until(pub, clock_cpu_time() + PORTIONS_NS);
}
