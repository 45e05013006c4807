// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A slice: what the sampler has counted since the last one becomes cells of the profile. The
 * profile's lock is taken for as long as interning takes, never while a file is read or the kernel
 * waited for.
 */
#include "tui/collect/collector_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker.h"
#include "symbols/base/text.h"
#include "tui/collect/annotator.h"
#include "bpf/sampler/event.h"
#include "tui/options.h"
#include "tui/collect/procinfo.h"
#include "tui/symbolize/resolver.h"
#include "tui/session/session_write.h"
#include "tui/collect/stackcache.h"

#define INLINES_WAIT_NS 5000000000ull /* a report is not corrected later */
#define LINES_STACKS	512u	      /* of a slice */

static uint64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static uint64_t self_ns(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000ull +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000ull;
}

static void keep_stack(const struct stack_record *rec, void *arg)
{
	struct engine *e = arg;

	if (rec->kernel == STACK_CAPTURED) {
		free(e->captured);
		e->captured = malloc(sizeof(*e->captured));
		if (e->captured)
			memcpy(e->captured, rec, sizeof(*e->captured));
		return;
	}
	/* Without memory it is forgotten and comes again. */
	stackcache_add(e->stacks, rec);
	if (rec->kernel)
		return;
	resolver_seen(e->resolver, rec);
	tracker_doubt(e->tracker, (pid_t)rec->tgid, rec->reason);
}

void engine_read_stacks(struct engine *e)
{
	sampler_read_stacks(e->sampler, keep_stack, e);
}

void engine_begin_slice(struct engine *e)
{
	e->ncpus = sampler_ncpus(e->sampler);
	e->slice_start = engine_now();
	e->self_before = self_ns();
}

static uint64_t delta(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* The first thread is called what its process is. */
static int note_thread(struct engine *e, const struct sampler_count *count, uint32_t proc)
{
	char comm[16];
	int err;

	if (count->key.tid == count->key.tgid)
		return 0;
	text_clean(comm, sizeof(comm), count->value.comm,
		   strnlen(count->value.comm, sizeof(count->value.comm)));
	profile_lock(e->profile);
	err = profile_thread(e->profile, proc, count->key.tid, comm);
	profile_unlock(e->profile);
	return err;
}

static int make_cell(struct engine *e, const struct sampler_count *count, uint64_t now,
		     struct profile_cell *cell, struct profile_health *health)
{
	const struct count_key *key = &count->key;
	const struct tracker_exec of = {(pid_t)key->tgid, count->value.image, key->exec};
	bool ulost = false, klost = false;
	int64_t id;
	int err;

	*cell = (struct profile_cell){.tid = key->tid,
				      .ustack = PROFILE_NO_STACK,
				      .kstack = PROFILE_NO_STACK,
				      .count = count->value.count,
				      .cpu = key->cpu};
	id = procinfo_proc(e->procs, &of, count->value.comm, now);
	if (id < 0)
		return (int)id;
	cell->proc = (uint32_t)id;
	err = note_thread(e, count, cell->proc);
	if (err)
		return err;
	if (key->user) {
		id = stackcache_user(e->stacks, key->user, &ulost);
		if (id < 0)
			return (int)id;
		cell->ustack = (uint32_t)id;
		if (e->annotator)
			annotator_note(e->annotator, of.pid, of.exec, key->user, key->kernel != 0,
				       count->value.count, now);
	}
	if (key->kernel) {
		id = stackcache_kernel(e->stacks, key->kernel, &klost);
		if (id < 0)
			return (int)id;
		cell->kstack = (uint32_t)id;
	}
	health->samples += cell->count;
	if (key->kernel)
		health->kernel_samples += cell->count;
	if (ulost || klost)
		health->loss[LOSS_STACK_RING] += cell->count;
	return 0;
}

static void read_state(struct engine *e, struct profile_health *h)
{
	struct tracker_state state;
	uint64_t self = self_ns();

	tracker_state(e->tracker, &state);
	h->loss[LOSS_SIDEBAND] = delta(state.lost_records, e->sideband_before);
	e->sideband_before = state.lost_records;
	h->filtering = state.filtering;
	h->nattached = state.nattached;
	h->nprocs = state.nprocs;
	h->reading_procs = !state.started;
	h->shards_used = state.shards_used;
	h->shards_created = state.shards_created;
	h->shards_max = state.shards_max;
	h->words_used = state.words_used;
	h->words_max = state.words_max;
	h->locked = e->locked;
	h->by_cpu = e->apart;
	h->evicted = state.evicted;
	h->evictions = delta(state.evictions, e->evictions_before);
	e->evictions_before = state.evictions;
	h->self_ns = delta(self, e->self_before);
	e->self_before = self;
	h->ncpus = e->ncpus;
	e->ncpus = sampler_ncpus(e->sampler);
	h->frequency = e->options->frequency;
	snprintf(h->event, sizeof(h->event), "%s", e->sampled->name);
}

static int cells_reserve(struct engine *e, size_t count)
{
	struct profile_cell *cells;

	if (count <= e->cells_room)
		return 0;
	cells = realloc(e->cells, count * sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	e->cells = cells;
	e->cells_room = count;
	return 0;
}

static int make_cells(struct engine *e, const struct sampler_count *counts, size_t n,
		      struct profile_health *health, size_t *made)
{
	int err = cells_reserve(e, n);

	for (size_t i = 0; i < n; i++)
		procinfo_seen(e->procs, (pid_t)counts[i].key.tgid, counts[i].key.exec);
	for (size_t i = 0; !err && i < n; i++)
		err = make_cell(e, &counts[i], health->time, &e->cells[(*made)++], health);
	return err;
}

/*
 * Which lines the slice's samples were at. Of many stacks some do: what is hot is among them.
 * Without memory the rest does not count.
 */
static void count_lines(struct engine *e, const struct sampler_count *counts, size_t n)
{
	size_t step = n / LINES_STACKS + 1;
	int err = 0;

	profile_lock(e->profile);
	for (size_t i = 0; i < n && !err; i += step) {
		const struct count_key *key = &counts[i].key;

		if (key->user)
			err = stackcache_count_lines(e->stacks, key->user, counts[i].value.count);
	}
	profile_unlock(e->profile);
}

/* The slice that was just committed. What fails ends the recording, not the collection. */
static void record(struct engine *e, size_t ncells, const struct profile_health *health)
{
	char text[320];
	int err;

	if (!e->record)
		return;
	profile_lock(e->profile);
	err = session_note(e->record, e->profile, e->cells, ncells, health);
	profile_unlock(e->profile);
	if (!err)
		err = session_flush(e->record);
	if (!err)
		return;
	session_writer_free(e->record);
	e->record = NULL;
	e->record_error = err;
	snprintf(text, sizeof(text), "%s: %s; it holds what was recorded until now",
		 e->options->record, strerror(-err));
	engine_say(e, MESSAGE_ERROR, text);
}

/* last: nothing is sampled any more, so that the books come out even. */
static int collect(struct engine *e, bool last)
{
	char text[320];
	struct profile_health health = {.time = engine_now(),
					.clock = wall_ns(),
					.counts_max = sampler_counts_max(e->sampler)};
	const struct sampler_count *counts;
	size_t ncounts = 0, ncells = 0;
	int err;

	if (last)
		sampler_stop(e->sampler);
	err = sampler_drain(e->sampler, keep_stack, e, &counts, &ncounts);
	/* At once: to name new stacks may take seconds. */
	books_read(&e->books, e->sampler);
	resolver_look(e->resolver);
	if (!err)
		err = make_cells(e, counts, ncounts, &health, &ncells);
	if (!err)
		err = procinfo_update(e->procs, health.time);
	health.counts_used = (unsigned int)ncounts;
	health.elapsed = health.time - e->slice_start;
	e->slice_start = health.time;
	books_fill(&e->books, e->options->no_kernel, &health);
	read_state(e, &health);
	health.drain_ns = engine_now() - health.time;
	if (!err) {
		profile_lock(e->profile);
		err = profile_commit(e->profile, e->cells, ncells, &health);
		profile_unlock(e->profile);
	}
	if (e->annotator)
		annotator_work(e->annotator, health.time, true);
	resolver_settle(e->resolver, e->options->batch ? INLINES_WAIT_NS : 0);
	profile_prepare(e->profile);
	count_lines(e, counts, err ? 0 : ncounts);
	while (books_warning(&e->books, &health, text, sizeof(text)))
		engine_say(e, MESSAGE_WARNING, text);
	if (!err)
		record(e, ncells, &health);
	books_close(&e->books, !err, counts, ncounts);
	procinfo_age(e->procs);
	stackcache_age(e->stacks, health.time);
	resolver_trim(e->resolver);
	return err;
}

void engine_end_slice(struct engine *e, bool last)
{
	int err = collect(e, last);
	char text[128];

	if (err && err != e->failed) {
		snprintf(text, sizeof(text), "a slice was lost: %s", strerror(-err));
		engine_say(e, MESSAGE_ERROR, text);
	}
	e->failed = err;
	engine_tell_of_fetching(e);
	engine_tell_of_ksyms(e);
	atomic_fetch_add(&e->slices, 1);
	if (last)
		atomic_store(&e->finished, true);
	engine_signal(e->event);
}
