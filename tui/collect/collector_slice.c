// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A slice: what the sampler has counted since the last one becomes cells of the profile. The
 * profile's lock is held for interning only, never while a file is read or the kernel is waited
 * for. Between slices: what is reported when it has changed, CPUs that come and go, shards that a
 * view shows, a captured walk.
 */
#include "tui/collect/collector_priv.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/report/trace.h"
#include "bpf/sampler/event.h"
#include "bpf/sampler/ksyms.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/inventory.h"
#include "bpf/tracker/tracker.h"
#include "symbols/base/clock.h"
#include "symbols/base/grow.h"
#include "symbols/base/text.h"
#include "tui/collect/annotator.h"
#include "tui/collect/mutes.h"
#include "tui/collect/procinfo.h"
#include "tui/collect/stackcache.h"
#include "tui/collect/threadbook.h"
#include "tui/profile/board.h"
#include "tui/profile/inspection.h"
#include "tui/session/session_write.h"
#include "tui/symbolize/resolver.h"

#define INLINES_WAIT_NS 5000000000ull  /* the last report is not corrected later */
#define SYMBOLS_WAIT_NS 10000000000ull /* likewise, for the tables that it is the first to need */
#define LINES_STACKS	512u	       /* of a slice */

static void keep_stack(const struct stack_record *rec, void *arg)
{
	struct collector *c = arg;

	if (rec->kernel == STACK_PROOFS) {
		free(c->proofs);
		c->proofs = malloc(sizeof(*rec) + rec->nframes * sizeof(rec->frames[0]));
		if (c->proofs)
			memcpy(c->proofs, rec,
			       sizeof(*rec) + rec->nframes * sizeof(rec->frames[0]));
		return;
	}
	if (rec->kernel == STACK_CAPTURED) {
		free(c->captured);
		c->captured = malloc(sizeof(*c->captured));
		if (c->captured)
			memcpy(c->captured, rec, sizeof(*c->captured));
		return;
	}
	if (rec->kernel == STACK_THREAD || rec->kernel == STACK_WAIT) {
		threadbook_note(c->threads, rec);
		return;
	}
	if (rec->kernel == STACK_METHOD || rec->kernel == STACK_LANGUAGE) {
		stackcache_language(c->stacks, rec);
		return;
	}
	/* Without memory it is forgotten and sent again. */
	stackcache_add(c->stacks, rec);
	if (rec->kernel)
		return;
	resolver_seen(c->resolver, rec);
	tracker_doubt(c->tracker, (pid_t)rec->tgid, rec->reason);
}

void collector_read_stacks(struct collector *c)
{
	sampler_read_stacks(c->sampler, keep_stack, c);
}

void collector_begin_slice(struct collector *c)
{
	c->ncpus = sampler_ncpus(c->sampler);
	c->slice_start = source_now();
	cputimes_begin(&c->cputimes, c->sampler);
	c->self_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static uint64_t delta(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* The first thread has the name of its process. */
static int note_thread(struct collector *c, const struct sampler_count *count, uint32_t proc)
{
	char comm[16];
	int err;

	if (count->key.tid == count->key.tgid)
		return 0;
	text_clean(comm, sizeof(comm), count->value.comm,
		   strnlen(count->value.comm, sizeof(count->value.comm)));
	profile_lock(c->profile);
	err = profile_thread(c->profile, proc, count->key.tid, comm);
	profile_unlock(c->profile);
	return err;
}

/* In us, of a clock or of time on a CPU; other events with time, as cycles, have no weight of their
 * own. */
static uint64_t weight_of(const struct collector *c, const struct sampler_count *count,
			  const struct profile_health *health)
{
	if (!profile_is_time(health))
		return count->value.weight;
	if (c->sampled->type != PERF_TYPE_SOFTWARE && !sampler_waits(c->sampler))
		return 0;
	return count->value.weight / 1000;
}

static int make_cell(struct collector *c, const struct sampler_count *count, uint64_t now,
		     struct profile_cell *cell, struct profile_health *health)
{
	const struct count_key *key = &count->key;
	const struct tracker_exec of = {(pid_t)key->tgid, count->value.start_stack, key->exec_id};
	bool ulost = false, klost = false;
	int64_t id;
	int err;

	*cell = (struct profile_cell){.tid = key->tid,
				      .ustack = PROFILE_NO_STACK,
				      .kstack = PROFILE_NO_STACK,
				      .count = count->value.count,
				      .cpu = key->cpu & ~COUNT_UNDECIDED,
				      .weight = weight_of(c, count, health)};
	id = procinfo_proc(c->procs, &of, count->value.comm, now);
	if (id < 0)
		return (int)id;
	cell->proc = (uint32_t)id;
	err = note_thread(c, count, cell->proc);
	if (err)
		return err;
	if (key->user) {
		id = stackcache_stack(c->stacks, key->user, false, &ulost);
		if (id < 0)
			return (int)id;
		cell->ustack = (uint32_t)id;
		mutes_note(c->mutes, &of, key->user, count->value.count);
	}
	if (key->kernel) {
		id = stackcache_stack(c->stacks, key->kernel, true, &klost);
		if (id < 0)
			return (int)id;
		cell->kstack = (uint32_t)id;
	}
	if (c->annotator)
		annotator_note(c->annotator, of.pid, of.exec_id, key->user, key->kernel,
			       count->value.count, now);
	health->samples += cell->count;
	if (key->kernel)
		health->kernel_samples += cell->count;
	if (ulost || klost)
		health->loss[LOSS_STACK_RING] += cell->count;
	return 0;
}

static void read_state(struct collector *c, struct profile_health *h)
{
	struct tracker_state state;
	uint64_t self = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	tracker_state(c->tracker, &state);
	h->loss[LOSS_SIDEBAND] = delta(state.lost_records, c->sideband_before);
	c->sideband_before = state.lost_records;
	h->filtering = state.filtering;
	h->nattached = state.nattached;
	h->nprocs = state.nprocs;
	h->reading_procs = !state.started;
	h->shards_used = state.shards_used;
	h->shards_created = state.shards_created;
	h->shards_max = state.shards_max;
	h->words_used = state.words_used;
	h->words_max = state.words_max;
	h->locked = c->locked;
	h->by_cpu = c->apart;
	h->evicted = state.evicted;
	h->evictions = delta(state.evictions, c->evictions_before);
	c->evictions_before = state.evictions;
	h->self_ns = delta(self, c->self_before);
	c->self_before = self;
	h->ncpus = c->ncpus;
	c->ncpus = sampler_ncpus(c->sampler);
	h->frequency = c->options->frequency;
}

/* Processes change before the tracker hears of it: by now it has. */
static bool is_left_out(struct collector *c, const struct sampler_count *count,
			struct profile_health *health)
{
	const struct tracker_exec of = {(pid_t)count->key.tgid, count->value.start_stack,
					count->key.exec_id};

	if (!(count->key.cpu & COUNT_UNDECIDED) ||
	    tracker_is_chosen(c->tracker, &of, count->value.comm))
		return false;
	health->filtered += count->value.count;
	return true;
}

static int make_cells(struct collector *c, const struct sampler_count *counts, size_t n,
		      struct profile_health *health, size_t *made)
{
	int err = GROW_TO(c->cells, n, c->cells_room, SIZE_MAX);

	for (size_t i = 0; i < n; i++)
		procinfo_seen(c->procs, (pid_t)counts[i].key.tgid, counts[i].key.exec_id);
	for (size_t i = 0; !err && i < n; i++)
		if (!(counts[i].key.cpu & COUNT_WAIT) && !is_left_out(c, &counts[i], health))
			err = make_cell(c, &counts[i], health->time, &c->cells[(*made)++], health);
	return err;
}

/* Adds the time of threads, if they are followed. */
static int add_waits(struct collector *c, const struct sampler_count *counts, size_t n, bool last,
		     struct profile_health *health, size_t *made)
{
	const struct profile_cell *cells;
	size_t ncells;
	int err;

	if (!sampler_waits(c->sampler))
		return 0;
	err = threadbook_take(c->threads, c->sampler, counts, n, health->time, last, &cells,
			      &ncells);
	threadbook_costs(c->threads, c->sampler, health);
	if (!err)
		err = GROW_TO(c->cells, *made + ncells, c->cells_room, SIZE_MAX);
	if (!err && ncells)
		memcpy(c->cells + *made, cells, ncells * sizeof(*cells));
	*made += err ? 0 : ncells;
	return err;
}

/*
 * Counts the lines of the slice's samples, of some stacks if there are many: hot lines are among
 * them. Without memory the rest does not count.
 */
static void count_lines(struct collector *c, const struct sampler_count *counts, size_t n)
{
	size_t step = n / LINES_STACKS + 1;
	int err = 0;

	profile_lock(c->profile);
	for (size_t i = 0; i < n && !err; i += step) {
		const struct count_key *key = &counts[i].key;

		if (key->user && !(key->cpu & COUNT_WAIT))
			err = stackcache_count_lines(c->stacks, key->user, counts[i].value.count);
	}
	profile_unlock(c->profile);
}

/* Records the slice that was just committed. A failure ends the recording, not the collection. */
static void record(struct collector *c, size_t ncells, const struct profile_health *health)
{
	int err;

	if (!c->record)
		return;
	profile_lock(c->profile);
	err = session_note(c->record, c->profile, c->cells, ncells, health);
	profile_unlock(c->profile);
	if (!err)
		err = session_flush(c->record);
	if (!err)
		return;
	session_writer_free(c->record);
	c->record = NULL;
	atomic_store(&c->source.records, false);
	c->record_error = err;
	collector_say(c, MESSAGE_ERROR, "%s: %s; it holds what was recorded until now",
		      c->options->record, strerror(-err));
}

/*
 * Until when the names of a slice may take, so that the next one is not longer for them; 0: as long
 * as it takes.
 */
static uint64_t names_until(const struct collector *c, uint64_t now, bool last)
{
	if (!collector_is_prompt(c))
		return 0;
	return now + (last ? SYMBOLS_WAIT_NS : atomic_load(&c->period) / 2);
}

static void settle(struct collector *c, uint64_t until, bool last)
{
	uint64_t now = source_now(), wait = c->options->batch ? INLINES_WAIT_NS : 0;

	if (until && !last)
		wait = until > now ? until - now : 0;
	resolver_settle(c->resolver, wait);
}

/* CLOCK_REALTIME at that time of CLOCK_MONOTONIC, although the thread may lose the CPU in between.
 */
static uint64_t clock_at(uint64_t time)
{
	uint64_t before, clock, after;
	int tries = 10;

	do {
		before = source_now();
		clock = clock_ns(CLOCK_REALTIME);
		after = source_now();
	} while (after - before > 100000 && --tries);
	return clock - (before - time);
}

static void warn(struct collector *c, const struct profile_health *health, bool last)
{
	int untaken = accounting_misses(health) ? sampler_take_skipped(c->sampler) : -EALREADY;
	const bool began = c->books.began_taking;
	char text[320];

	c->books.untaken = untaken == -EALREADY ? 0 : untaken;
	c->books.began_taking = !untaken;
	/* The slice behind the next one tells whether that was why: they are taken in part of that.
	 */
	if ((!untaken || began) && !last)
		return;
	while (accounting_warning(&c->books, health, text, sizeof(text)))
		collector_say(c, MESSAGE_WARNING, "%s", text);
}

/* last: sampling has stopped, so that the figures must add up. */
static int collect(struct collector *c, bool last)
{
	struct profile_health health = {.counts_max = sampler_counts_max(c->sampler)};
	const struct sampler_count *counts;
	size_t ncounts = 0, ncells = 0, nuse;
	uint64_t until;
	int err;

	if (last)
		sampler_stop(c->sampler);
	health.time = source_now();
	/* At once: naming new stacks may take seconds. */
	err = sampler_drain(c->sampler, keep_stack, c, &counts, &ncounts);
	accounting_read(&c->books, c->sampler);
	nuse = cputimes_use(&c->cputimes, c->sampler, c->use);
	snprintf(health.event, sizeof(health.event), "%s", c->sampled->name);
	health.clock = clock_at(health.time);
	until = names_until(c, health.time, last);
	if (until)
		resolver_wait_until(c->resolver, until);
	resolver_look(c->resolver);
	if (!err)
		err = make_cells(c, counts, ncounts, &health, &ncells);
	if (!err)
		err = mutes_judge(c->mutes);
	if (!err)
		err = add_waits(c, counts, ncounts, last, &health, &ncells);
	if (!err)
		err = procinfo_update(c->procs, health.time);
	health.counts_used = (unsigned int)ncounts;
	health.elapsed = health.time - c->slice_start;
	c->slice_start = health.time;
	accounting_fill(&c->books, c->options->no_kernel, &health);
	read_state(c, &health);
	health.drain_ns = source_now() - health.time;
	if (!err) {
		profile_lock(c->profile);
		err = profile_commit(c->profile, c->cells, ncells, &health);
		if (!err) /* without memory there is no meter */
			(void)profile_cpu_use(c->profile, c->use, nuse);
		profile_unlock(c->profile);
	}
	threadbook_release(c->threads);
	/* For the tree of processes; without it a row only has no parent. */
	if (c->annotator)
		(void)procinfo_parents(c->procs, health.time);
	if (c->annotator)
		annotator_work(c->annotator, health.time, true);
	settle(c, until, last);
	count_lines(c, counts, err ? 0 : ncounts);
	warn(c, &health, last);
	if (!err)
		record(c, ncells, &health);
	accounting_close(&c->books, !err, counts, ncounts);
	procinfo_age(c->procs);
	stackcache_age(c->stacks, health.time);
	resolver_trim(c->resolver);
	return err;
}

/* Debug files: while they are fetched, and once when they have arrived. */
static void tell_of_fetching(struct collector *c)
{
	struct remotedebug_state now;
	char size[64] = "";

	if (!c->remote)
		return;
	remotedebug_state(c->remote, &now);
	if (now.waiting == c->fetched.waiting && now.done == c->fetched.done &&
	    now.found == c->fetched.found && now.missing == c->fetched.missing)
		return;
	if (now.done)
		snprintf(size, sizeof(size), now.total ? ", %.1f of %.1f MB" : ", %.1f MB",
			 (double)now.done / 1e6, (double)now.total / 1e6);
	if (now.waiting)
		collector_say(c, MESSAGE_INFO, "debuginfod: %u to fetch, now %.12s%s", now.waiting,
			      now.id[0] ? now.id : "-", size);
	else
		collector_say(c, MESSAGE_INFO,
			      "debuginfod: %u debug file%s fetched, %u not found%s%s", now.found,
			      now.found == 1 ? "" : "s", now.missing, now.error ? ": " : "",
			      now.error ? strerror(-now.error) : "");
	c->fetched = now;
}

/* Each problem with the kernel's names once. */
static void tell_of_ksyms(struct collector *c)
{
	const char *trouble = ksyms_trouble(c->ksyms);

	if (trouble && trouble != c->ksyms_trouble)
		collector_say(c, MESSAGE_WARNING, "%s", trouble);
	c->ksyms_trouble = trouble;
}

void collector_end_slice(struct collector *c, bool last)
{
	int err = collect(c, last);

	if (err && err != c->failed)
		collector_say(c, MESSAGE_ERROR, "a slice was lost: %s", strerror(-err));
	c->failed = err;
	tell_of_fetching(c);
	tell_of_ksyms(c);
	atomic_fetch_add(&c->source.slices, 1);
	if (last)
		atomic_store(&c->source.finished, true);
	source_signal(c->source.event);
}

/* --- between slices -------------------------------------------------------------------------- */

void collector_watch_cpus(struct collector *c)
{
	unsigned int before = sampler_ncpus(c->sampler), now;
	int err = sampler_watch(c->sampler);

	now = sampler_ncpus(c->sampler);
	if (err && !c->unwatched) {
		c->unwatched = true;
		collector_say(c, MESSAGE_WARNING, "cannot sample a CPU that came online: %s",
			      strerror(-err));
	}
	if (now != before) {
		c->unwatched = false;
		collector_say(c, MESSAGE_INFO, "a CPU %s, sampled CPUs now: %u",
			      now < before ? "went offline" : "came online", now);
	}
	if (now > c->ncpus)
		c->ncpus = now;
}

void collector_take_inventory(struct collector *c)
{
	struct inventory *inventory;
	bool wanted;

	wanted = board_inventory_wanted(profile_board(c->profile));
	wanted |= c->record && session_wants_inventory(c->record, source_now());
	if (!wanted || tracker_inventory(c->tracker, &inventory))
		return;
	board_set_inventory(profile_board(c->profile), inventory);
	source_signal(c->source.event);
}

/* Names the frames of a captured walk. -ESRCH: its process is gone; -ENOMEM. No lock is held. */
static int inspection_make(struct collector *c, struct inspection **out)
{
	const struct tracker_exec of = {(pid_t)c->captured->tgid, c->captured->start_stack,
					c->captured->exec_id};
	struct tracker_proc proc;
	struct inspection *i;
	struct trace *trace;
	int err = trace_new(c->tracker, c->captured, &trace);

	*out = NULL;
	if (err)
		return err;
	i = inspection_new(trace);
	err = i ? resolver_inspection(c->resolver, i,
				      stackcache_language_of(c->stacks, c->captured->hash),
				      c->proofs)
		: -ENOMEM;
	if (err) {
		inspection_put(i);
		return err;
	}
	if (tracker_proc(c->tracker, &of, &proc))
		text_clean(i->comm, sizeof(i->comm), proc.comm,
			   strnlen(proc.comm, sizeof(proc.comm)));
	*out = i;
	return 0;
}

void collector_inspect(struct collector *c)
{
	struct inspection *inspection = NULL;
	int err;

	if (procwatch_turn(&c->watch, profile_board(c->profile), source_now()))
		source_signal(c->source.event);
	if (!c->captured)
		return;
	procwatch_end(&c->watch, (pid_t)c->captured->tgid);
	err = inspection_make(c, &inspection);
	free(c->captured);
	c->captured = NULL;
	if (err) {
		collector_say(c, MESSAGE_WARNING, "cannot inspect the captured walk: %s",
			      err == -ESRCH ? "its process is gone, or not tracked yet"
					    : "out of memory");
		return;
	}
	board_set_inspection(profile_board(c->profile), inspection);
	source_signal(c->source.event);
}
