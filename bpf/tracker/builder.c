// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See builder.h. The users whose files are mapped take turns, by the time that their tables have
 * cost, since it is easy to make a file that costs a lot.
 */
#include "bpf/tracker/builder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <utlist.h>

#include "bpf/sampler/sampler.h"
#include "bpf/sampler/clock.h"
#include "bpf/tracker/codefile.h"
#include "bpf/tracker/evict.h"
#include "bpf/tracker/garbage.h"
#include "bpf/tracker/notices.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/proctable.h"
#include "bpf/tracker/runtimefile.h"
#include "bpf/tracker/turnlock.h"
#include "symbols/base/memory.h"
#include "symbols/base/thread.h"
#include "symbols/base/work.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define TORN_MAX    3u /* builds of a file that is written meanwhile; then it is taken as it is */
#define USE_HALF_NS (1000ull * 1000000) /* half-life of the time that a user has had */
#define USE_STEP_NS (100ull * 1000000)	/* smaller differences do not count */
#define GARBAGE_NS  (250ull * 1000000)	/* garbage is freed so soon */
#define SMALL_FILE  (8ull << 20)

static int place_table(struct builders *bs, struct object *o, const struct unwind_table *table)
{
	int err = evict_for(bs->evictor, o, table->nwords);

	if (!err) {
		err = placement_add(bs->objects, o, table);
		/* Its blocks cannot be cut to fit. As a failure no sample brings it back. */
		if (err == -ENOSPC)
			err = -ERANGE;
	}
	o->placed = clock_now();
	return err;
}

/* Was the file written during the build? Then the table may fit neither content. */
static bool is_torn(const struct object *o)
{
	struct object_key key = {0};
	struct stat st;

	if (o->image || fstat(o->fd, &st))
		return false;
	object_key(&key, &st);
	return memcmp(&key, &o->content, sizeof(key)) != 0;
}

static void record_content(struct object *o)
{
	struct stat st;

	memset(&o->content, 0, sizeof(o->content));
	if (!o->image && !fstat(o->fd, &st))
		object_key(&o->content, &st);
}

/* Reports why the table is not there. */
static void tell_built(struct builders *bs, const struct object *o, int err)
{
	const double mib = 1 << 20, need = (double)o->need * 4 / mib,
		     budget = shards_max(bs->objects->shards) * (double)SHARD_BYTES / mib;
	struct shards_room ever;

	if (err == -EFBIG) {
		notices_tell(bs->notices, 1,
			     "the unwind table of %s needs %.1f of %.1f MiB; raise --memory",
			     o->name, need, budget);
	} else if (err == -ENOSPC && !evict_measure(bs->evictor, EVICT_NOT_PINNED, &ever) &&
		   !placement_fits(&ever, o->need)) {
		notices_tell(bs->notices, 1,
			     "the unwind table of %s needs %.1f MiB beside what is pinned, "
			     "of %.1f MiB; raise --memory",
			     o->name, need, budget);
	} else if (err == -ENOSPC && evict_is_of_target(bs->evictor, o) &&
		   notices_first(bs->notices, NOTICE_TABLES_FULL)) {
		notices_tell(bs->notices, 1,
			     "the tables do not fit --memory: those that are sampled take turns");
	} else if (err && err != -ENOSPC && err != -ECANCELED &&
		   strcmp(bs->told_failed, o->name) != 0) {
		/* A file that is written all the time is a new object each time it is mapped. */
		snprintf(bs->told_failed, sizeof(bs->told_failed), "%s", o->name);
		notices_tell(bs->notices, 1, "no unwind table for %s: %s", o->name,
			     err == -E2BIG    ? "more CFI than any real file has"
			     : err == -EDQUOT ? "its user's files take all the memory they may"
					      : strerror(-err));
	}
}

/*
 * A large library takes a thousand times as long as a program, so small files come first, and
 * sampled ones before others of their size. Each second in the queue lowers the rank, so that a
 * large file gets its turn.
 */
static uint64_t queue_rank(const struct object *o, uint64_t now)
{
	uint64_t seconds = (now - o->queued) / 1000000000;
	bool sampled = o->sampled && o->sampled + EVICT_IDLE_NS >= now;

	return seconds < 16 ? o->key.size >> (2 * seconds + (sampled ? 6 : 0)) : 0;
}

/* Many users share slots. */
static struct builder_use *build_use(struct builders *bs, uid_t uid, uint64_t now)
{
	struct builder_use *use = &bs->uses[uid % BUILDER_USERS];
	uint64_t halvings = (now - use->since) / USE_HALF_NS;

	if (halvings) {
		use->ns = halvings < 64 ? use->ns >> halvings : 0;
		use->since = now;
	}
	return use;
}

/* Files of users who have had the least time lately come first; of one user, by rank. */
static bool goes_before(struct builders *bs, const struct object *a, const struct object *b,
			uint64_t now)
{
	uint64_t x = build_use(bs, a->uid, now)->ns / USE_STEP_NS,
		 y = build_use(bs, b->uid, now)->ns / USE_STEP_NS;

	return x != y ? x < y : queue_rank(a, now) < queue_rank(b, now);
}

/* Takes an object off the queue. NULL: none is for this thread. */
static struct object *queue_take(const struct table_builder *b)
{
	struct builders *bs = b->all;
	struct object *best = NULL, *o;
	const uint64_t now = clock_now();

	for (o = bs->objects->queue; o; o = o->next_queued)
		if (o->key.size <= b->size_max && (!best || goes_before(bs, o, best, now)))
			best = o;
	if (!best)
		return NULL;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): of several, the first has a next */
	DL_DELETE2(bs->objects->queue, best, prev_queued, next_queued);
	return best;
}

bool builder_has_work(const struct table_builder *b)
{
	const struct object *o;

	for (o = b->all->objects->queue; o; o = o->next_queued)
		if (o->key.size <= b->size_max)
			return true;
	return false;
}

/* A table that is being built. */
struct build {
	struct table_builder *b;
	struct object *o;
	struct code_symbols symbols;
	struct runtime_object *runtime; /* NULL: none, or it is the object's */
};

static void note_symbols(struct objects *os, struct object *o, const struct code_symbols *symbols)
{
	os->ndescribing -= o->describes;
	o->symbols = *symbols;
	o->describes = symbols->descriptor || symbols->vm_structs;
	os->ndescribing += o->describes;
}

/* Replaces the object's table: a partial one, or one of an older description of run-time code. */
static int take_table(struct build *d, const struct unwind_table *table)
{
	struct builders *bs = d->b->all;
	struct object *o = d->o;

	if (o->nspans) {
		object_drop_spans(bs->objects, o);
		proctable_touch(bs->procs, o); /* before place_table may free them */
	}
	o->need = table->nwords;
	o->nrows = table->nrows;
	o->nderived = table->nderived;
	o->cfi_bytes = table->cfi_bytes;
	if (!o->partial) {
		note_symbols(bs->objects, o, &d->symbols);
		free(o->runtime);
		o->runtime = d->runtime;
		d->runtime = NULL;
	}
	return place_table(bs, o, table);
}

static void share_rules(const struct builders *bs)
{
	unsigned int count;
	const struct wide_rule *rules = wide_rules_all(bs->wide, &count);

	if (count)
		memcpy(sampler_memory(bs->sampler)->wide_rules, rules, count * sizeof(*rules));
}

/* An unwind_soon's: the rows of the CFI are used while the machine code is read. */
static void take_soon(void *arg, const struct unwind_table *table)
{
	struct build *d = arg;
	struct builders *bs = d->b->all;

	turnlock_take(bs->lock);
	share_rules(bs);
	if (!is_torn(d->o) && !take_table(d, table)) {
		d->o->partial = true;
		object_set_state(bs->objects, d->o, OBJECT_READY);
		proctable_touch(bs->procs, d->o);
		eventfd_write(bs->wake_fd, 1);
	}
	turnlock_give(bs->lock);
}

/* Without the lock. */
static int build_table(struct build *d, struct unwind_table **table)
{
	const struct unwind_soon soon = {take_soon, d};
	const struct object *o = d->o;
	const atomic_bool *cancel = &d->b->all->cancel;
	struct elf_file *file = NULL;
	int err;

	if (o->code)
		return codefile_table(o->fd, d->b->wide, cancel, table);
	err = o->image ? elf_file_open_memory(o->image, o->image_size, &file)
		       : elf_file_open_fd(o->fd, &file);
	if (!err) {
		elf_file_work(file)->cancel = cancel;
		codereader_symbols(file, &d->symbols);
		d->runtime = runtimefile_read(file, o->name);
		err = unwind_table_build_soon(file, d->b->wide, &soon, table);
	}
	elf_file_free(file);
	return err;
}

bool builder_run(struct table_builder *b)
{
	struct builders *bs = b->all;
	struct object *o = queue_take(b);
	struct build d = {.b = b, .o = o};
	uint64_t begun = clock_cpu_time();
	struct unwind_table *table = NULL;
	int err;

	if (!o)
		return false;
	bs->building++;
	o->building = true;
	turnlock_give(bs->lock);
	/* Objects with in_queue set are not evicted meanwhile. */
	record_content(o);
	err = build_table(&d, &table);
	if (err == -EFBIG) /* here: before the size of the table is known */
		err = -E2BIG;
	turnlock_take(bs->lock);
	if (!err)
		share_rules(bs);
	o->tried = clock_now();
	build_use(bs, o->uid, o->tried)->ns += clock_cpu_time() - begun;
	bs->building--;
	o->building = false;
	if (is_torn(o) && o->torn++ < TORN_MAX) {
		unwind_table_free(table);
		free(d.runtime);
		o->in_queue = o->partial = false;
		object_enqueue(bs->objects, o);
		proctable_touch(bs->procs, o);
		return true;
	}
	if (!err)
		err = take_table(&d, table);
	else if (o->nspans)
		object_drop_spans(bs->objects, o);
	unwind_table_free(table);
	free(d.runtime);
	o->refused = err == -E2BIG;
	/* After place_table, which may evict unused objects that are not queued. */
	o->in_queue = o->partial = false;
	object_set_state(bs->objects, o,
			 !err		  ? OBJECT_READY
			 : err == -ENOSPC ? OBJECT_EVICTED
					  : OBJECT_FAILED);
	tell_built(bs, o, err);
	proctable_touch(bs->procs, o);
	eventfd_write(bs->wake_fd, 1);
	return true;
}

/* --- threads --------------------------------------------------------------------------------- */

static void *builder_main(void *arg)
{
	struct table_builder *b = arg;
	struct builders *bs = b->all;
	struct timespec until;

	turnlock_take(bs->lock);
	while (!bs->stop) {
		if (builder_run(b))
			continue;
		if (bs->garbage->n)
			garbage_collect(bs->garbage, bs->lock);
		until = clock_in(CLOCK_MONOTONIC, GARBAGE_NS);
		while (!bs->stop && !builder_has_work(b)) {
			if (bs->garbage->n) {
				if (pthread_cond_timedwait(&bs->wake, &bs->lock->lock, &until))
					break;
			} else {
				pthread_cond_wait(&bs->wake, &bs->lock->lock);
			}
		}
	}
	turnlock_give(bs->lock);
	return NULL;
}

int builders_init(struct builders *bs)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&bs->wake, &attr);
	pthread_condattr_destroy(&attr);
	bs->wide = wide_rules_new();
	return bs->wide ? 0 : -ENOMEM;
}

/* A small file does not wait, however long a large one takes, maybe one made to take long. */
int builders_start(struct builders *bs)
{
	/*
	 * The CFI of a file takes twice its size at most (cfi_limit), and the whole build five
	 * times that.
	 */
	const uint64_t share = memory_limit(MEMORY_BUILD) / 32;
	const uint64_t sizes[BUILDERS] = {UINT64_MAX, share < SMALL_FILE ? share : SMALL_FILE};
	int err = 0;

	for (size_t i = 0; i < BUILDERS && !err; i++) {
		struct table_builder *b = &bs->threads[i];

		b->all = bs;
		b->size_max = sizes[i];
		b->wide = wide_rules_join(bs->wide);
		err = b->wide ? thread_start(&b->thread, builder_main, b) : -ENOMEM;
		b->runs = !err;
	}
	return err;
}

void builders_stop(struct builders *bs)
{
	atomic_store(&bs->cancel, true);
	turnlock_take(bs->lock);
	bs->stop = true;
	pthread_cond_broadcast(&bs->wake);
	turnlock_give(bs->lock);
	for (size_t i = 0; i < BUILDERS; i++)
		if (bs->threads[i].runs)
			pthread_join(bs->threads[i].thread, NULL);
}

void builders_free(struct builders *bs)
{
	for (size_t i = 0; i < BUILDERS; i++)
		wide_rules_free(bs->threads[i].wide);
	wide_rules_free(bs->wide);
	pthread_cond_destroy(&bs->wake);
}
