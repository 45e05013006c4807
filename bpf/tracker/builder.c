// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which table is built next, by two threads: one takes any file, the other small ones only, so that
 * no file holds up all others. The users whose files are mapped take turns, by the time that their
 * tables have cost, for it is easy to make a file that costs a lot.
 */
#include "bpf/tracker/tracker_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "bpf/sampler/sampler.h"
#include "symbols/base/work.h"
#include "unwind/wide.h"

#define TORN_MAX    3u /* a file that is written so often while it is read is taken as it is */
#define USE_HALF_NS (1000ull * 1000000) /* in which half of a user's share is forgotten */
#define USE_STEP_NS (100ull * 1000000)	/* a lead that does not count */

static void sync_wide(struct tracker *t)
{
	unsigned int count;
	const struct wide_rule *rules = wide_rules_all(t->wide, &count);

	if (count)
		memcpy(sampler_wide_rules(t->sampler), rules, count * sizeof(*rules));
}

static int place(struct tracker *t, struct object *o, const struct unwind_table *table)
{
	int err = evict_for(t, o, table->nwords);

	if (!err) {
		err = room_place(t, o, table);
		/* Its blocks cannot be cut to fit: fail, so that no sample brings it back. */
		if (err == -ENOSPC)
			err = -ERANGE;
	}
	o->placed = tracker_now();
	return err;
}

/* A table of a file that was written meanwhile may be of neither content. */
static bool is_torn(const struct object *o)
{
	struct object_key key = {0};
	struct stat st;

	if (o->image || fstat(o->fd, &st))
		return false;
	object_key(&key, &st);
	return memcmp(&key, &o->content, sizeof(key)) != 0;
}

static void note_content(struct object *o)
{
	struct stat st;

	memset(&o->content, 0, sizeof(o->content));
	if (!o->image && !fstat(o->fd, &st))
		object_key(&o->content, &st);
}

/* Why its table is not there; not again and again. */
static void tell_built(struct tracker *t, const struct object *o, int err)
{
	const double mib = 1 << 20, need = (double)o->need * 4 / mib,
		     budget = shards_max(t->shards) * (double)SHARD_BYTES / mib;
	struct shards_room ever;

	if (err == -EFBIG) {
		tracker_tell(t, 1, "the unwind table of %s needs %.1f of %.1f MiB; raise --memory",
			     o->name, need, budget);
	} else if (err == -ENOSPC && !room_measure(t, ROOM_EVER, &ever) &&
		   !room_fits(&ever, o->need)) {
		tracker_tell(t, 1,
			     "the unwind table of %s needs %.1f MiB beside what is pinned, "
			     "of %.1f MiB; raise --memory",
			     o->name, need, budget);
	} else if (err == -ENOSPC && !t->told_full && evict_is_chosen(t, o)) {
		t->told_full = true;
		tracker_tell(t, 1,
			     "the tables do not fit --memory: those that are sampled take turns");
	} else if (err && err != -ENOSPC && err != -ECANCELED &&
		   strcmp(t->told_failed, o->name) != 0) {
		/* One that is written all the time is a new file each time it is mapped. */
		snprintf(t->told_failed, sizeof(t->told_failed), "%s", o->name);
		tracker_tell(t, 1, "no unwind table for %s: %s", o->name,
			     err == -E2BIG    ? "more CFI than any real file has"
			     : err == -EDQUOT ? "its user's files take all the memory they may"
					      : strerror(-err));
	}
}

/*
 * A large library takes a thousand times as long as a program, so the small ones come first, and a
 * file that walks have come upon before others of its size. Each second in the queue lowers the
 * rank, so that a large file gets its turn.
 */
static uint64_t queue_rank(const struct object *o, uint64_t now)
{
	uint64_t seconds = (now - o->queued) / 1000000000;
	bool sampled = o->sampled && o->sampled + IDLE_NS >= now;

	return seconds < 16 ? o->key.size >> (2 * seconds + (sampled ? 6 : 0)) : 0;
}

/* Users share slots where there are many. */
static struct build_use *build_use(struct tracker *t, uid_t uid, uint64_t now)
{
	struct build_use *use = &t->build_uses[uid % BUILD_USES];
	uint64_t halvings = (now - use->since) / USE_HALF_NS;

	if (halvings) {
		use->ns = halvings < 64 ? use->ns >> halvings : 0;
		use->since = now;
	}
	return use;
}

/* First the users who have had the least of the builders lately; of their files, by rank. */
static bool goes_before(struct tracker *t, const struct object *a, const struct object *b,
			uint64_t now)
{
	uint64_t x = build_use(t, a->uid, now)->ns / USE_STEP_NS,
		 y = build_use(t, b->uid, now)->ns / USE_STEP_NS;

	return x != y ? x < y : queue_rank(a, now) < queue_rank(b, now);
}

/* Off the queue. NULL: nothing in it is for this builder. */
static struct object *queue_take(const struct builder *b)
{
	struct tracker *t = b->tracker;
	struct object **link, **best = NULL, *o;
	const uint64_t now = tracker_now();

	for (link = &t->queue; *link; link = &(*link)->next_queued)
		if ((*link)->key.size <= b->size_max &&
		    (!best || goes_before(t, *link, *best, now)))
			best = link;
	if (!best)
		return NULL;
	o = *best;
	*best = o->next_queued;
	if (!*best)
		t->queue_end = best;
	return o;
}

bool object_is_queued(const struct builder *b)
{
	const struct object *o;

	for (o = b->tracker->queue; o; o = o->next_queued)
		if (o->key.size <= b->size_max)
			return true;
	return false;
}

bool object_build_next(struct builder *b)
{
	struct tracker *t = b->tracker;
	struct object *o = queue_take(b);
	uint64_t begun = tracker_cpu_time();
	struct unwind_table *table = NULL;
	struct elf_file *file = NULL;
	int err;

	if (!o)
		return false;
	t->building++;
	o->building = true;
	turnlock_give(&t->lock);
	/* in_queue keeps the object from being evicted meanwhile */
	note_content(o);
	err = o->image ? elf_file_open_memory(o->image, o->image_size, &file)
		       : elf_file_open_fd(o->fd, &file);
	if (!err) {
		elf_file_work(file)->cancel = &t->stopping;
		err = unwind_table_build(file, b->wide, &table);
	}
	elf_file_free(file);
	if (err == -EFBIG) /* before its size is known */
		err = -E2BIG;
	turnlock_take(&t->lock);
	if (!err)
		sync_wide(t);
	o->tried = tracker_now();
	build_use(t, o->uid, o->tried)->ns += tracker_cpu_time() - begun;
	t->building--;
	o->building = false;
	if (is_torn(o) && o->torn++ < TORN_MAX) {
		unwind_table_free(table);
		o->in_queue = false;
		object_enqueue(t, o);
		return true;
	}
	if (!err) {
		o->need = table->nwords;
		o->nrows = table->nrows;
		o->cfi_bytes = table->cfi_bytes;
		err = place(t, o, table);
	}
	unwind_table_free(table);
	o->refused = err == -E2BIG;
	/* Not before place(): it would evict the object itself when no process maps it any more. */
	o->in_queue = false;
	object_set_state(t, o,
			 !err		  ? OBJECT_READY
			 : err == -ENOSPC ? OBJECT_EVICTED
					  : OBJECT_FAILED);
	tell_built(t, o, err);
	process_touch(t, o);
	tracker_wake(t);
	return true;
}
