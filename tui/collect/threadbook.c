// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See threadbook.h. The kernel counts a wait when it ends, as a whole. A wait that still goes on
 * when a slice ends has its part of that slice counted here, and this much is taken from it when it
 * comes (`given`, then a debt). A wait that ends after its thread was read, and before the counts
 * were, is counted in this slice as far as the thread's time goes, and for the rest in the next one
 * (`late`). The time of a thread by cause is exact: it is the difference of sums that only grow.
 * Waits whose stacks were thinned out are scaled to it.
 */
#include "tui/collect/threadbook.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/sampler.h"
#include "bpf/sampler/waits.h"
#include "bpf/tracker/tracker.h"
#include "symbols/base/grow.h"
#include "symbols/base/hash.h"
#include "symbols/base/text.h"
#include "tui/collect/procinfo.h"
#include "tui/collect/waitcells.h"
#include "tui/profile/profile.h"

#define NOTES_MAX   200000u  /* of a slice */
#define GIVEN_NS    1000000u /* of a wait that goes on, from which on it is shown */
#define DEBT_ROUNDS 3u	     /* after which the count of a wait is not expected any more */
#define BACK_NS	    1000000u /* by which times that were read do not go back */
#define GONE_ROUNDS 10u	     /* ... and a thread that did not say that it ends */
#define NS_PER_US   1000u

_Static_assert((int)WAIT_CAUSES == (int)THREAD_STATES && (int)WAIT_NONE == (int)THREAD_ON &&
		       (int)WAIT_LOCK == (int)THREAD_LOCK && (int)WAIT_DISK == (int)THREAD_DISK &&
		       (int)WAIT_OTHER == (int)THREAD_OTHER,
	       "a state is a cause");

struct thread_ids {
	uint32_t tgid, tid;
	uint64_t exec_id;
};

struct given { /* of the wait that goes on */
	uint64_t since, ns;
	struct count_key key;
	uint64_t object;
};

struct book_thread {
	struct thread_ids ids;
	uint32_t proc; /* profile id, of this slice */
	uint32_t round;
	uint64_t total[WAIT_CAUSES]; /* ns that slices have */
	uint32_t thinned;
	bool ended;
	bool scales; /* some of its waits of this slice were thinned out, or stand for such */
	/* Of this slice, where that counts: ns by the thread, and by its counted waits. */
	uint64_t time[WAIT_CAUSES], counted[WAIT_CAUSES];
	struct given given;
	uint64_t beyond; /* ns that the wait of given has gone on after the thread was read */
	UT_hash_handle hh;
	bool hashed;
};

struct debt { /* what slices have of a wait that will be counted */
	struct count_key key;
	uint64_t ns, lock_ns;
	uint32_t round;
	UT_hash_handle hh;
	bool hashed;
};

struct threadbook {
	struct profile *profile;
	struct procinfo *procs;
	struct book_thread *threads;
	struct debt *debts;
	uint32_t round;
	bool last;
	uint64_t now;
	int err;
	struct thread_record *ended;
	size_t nended, ended_room;
	struct wait_record *waits;
	size_t nwaits, waits_room;
	uint64_t unkept; /* records for which there was no memory */
	struct waitcells *cells;
	struct wait_stats before;
	/* The first nlate are of the slice before, the others of this one. */
	struct sampler_count *late;
	size_t nlate, nlate_new, late_room;
};

int threadbook_new(struct profile *profile, struct stackcache *stacks, struct procinfo *procs,
		   struct threadbook **out)
{
	struct threadbook *b = calloc(1, sizeof(*b));

	*out = b;
	if (!b)
		return -ENOMEM;
	b->profile = profile;
	b->procs = procs;
	if (waitcells_new(profile, stacks, &b->cells)) {
		free(b);
		*out = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void thread_drop(struct threadbook *b, struct book_thread *t)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
	HASH_DEL(b->threads, t);
	free(t);
}

static void debt_drop(struct threadbook *b, struct debt *d)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
	HASH_DEL(b->debts, d);
	free(d);
}

void threadbook_forget(struct threadbook *b)
{
	struct book_thread *t, *next;
	struct debt *d, *after;

	HASH_ITER(hh, b->threads, t, next) {
		thread_drop(b, t);
	}
	HASH_ITER(hh, b->debts, d, after) {
		debt_drop(b, d);
	}
	b->nended = b->nwaits = b->nlate = b->nlate_new = 0;
	b->before = (struct wait_stats){0};
}

void threadbook_free(struct threadbook *b)
{
	if (!b)
		return;
	threadbook_forget(b);
	free(b->ended);
	free(b->waits);
	free(b->late);
	waitcells_free(b->cells);
	free(b);
}

void threadbook_note(struct threadbook *b, const struct stack_record *rec)
{
	if (rec->kernel == STACK_THREAD) {
		if (GROW(b->ended, b->nended, b->ended_room, NOTES_MAX))
			b->unkept++;
		else
			memcpy(&b->ended[b->nended++], rec, sizeof(*b->ended));
	} else {
		if (GROW(b->waits, b->nwaits, b->waits_room, NOTES_MAX))
			b->unkept++;
		else
			memcpy(&b->waits[b->nwaits++], rec, sizeof(*b->waits));
	}
}

/* --- threads --------------------------------------------------------------------------------- */

static struct book_thread *thread_find(const struct threadbook *b, const struct thread_ids *ids)
{
	struct book_thread *t;

	HASH_FIND(hh, b->threads, ids, sizeof(*ids), t);
	return t;
}

/* NULL: no memory. */
static struct book_thread *thread_get(struct threadbook *b, const struct thread_entry *e)
{
	const struct thread_ids ids = {e->tgid, e->tid, e->exec_id};
	struct book_thread *t = thread_find(b, &ids);

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->ids = ids;
	t->hashed = true;
	HASH_ADD(hh, b->threads, ids, sizeof(t->ids), t);
	if (t->hashed)
		return t; /* NOLINT(clang-analyzer-unix.Malloc): the table is freed, not the item */
	free(t);
	return NULL;
}

static int find_proc(struct threadbook *b, pid_t pid, uint64_t start_stack, uint64_t exec_id,
		     const char *comm, uint32_t *proc)
{
	const struct tracker_exec of = {pid, start_stack, exec_id};
	int64_t id = procinfo_proc(b->procs, &of, comm, b->now);

	*proc = (uint32_t)id;
	return id < 0 ? (int)id : 0;
}

static int name_thread(struct threadbook *b, const struct thread_entry *e, uint32_t proc)
{
	char comm[16];
	int err;

	if (e->tid == e->tgid)
		return 0;
	text_clean(comm, sizeof(comm), e->comm, strnlen(e->comm, sizeof(e->comm)));
	profile_lock(b->profile);
	err = profile_thread(b->profile, proc, e->tid, comm);
	profile_unlock(b->profile);
	return err;
}

/* How long the thread has waited for its cause until now: then it was woken, or not yet. */
static uint64_t blocked_ns(const struct thread_entry *e, uint64_t now)
{
	bool woken = e->state != THREAD_RUNNABLE && e->woken > e->since && e->woken < now;
	uint64_t until = woken ? e->woken : now;

	return until > e->since ? until - e->since : 0;
}

/* The time that it spent since it is followed, by cause, up to now. */
static void sum_times(const struct thread_entry *e, uint64_t now, bool ended,
		      uint64_t total[WAIT_CAUSES])
{
	uint64_t blocked = blocked_ns(e, now);

	for (int i = 0; i < WAIT_CAUSES; i++)
		total[i] = e->spent[i];
	if (ended || e->state >= THREAD_STATES || now <= e->since)
		return;
	if (e->state == THREAD_ON) {
		total[THREAD_ON] += now - e->since;
	} else {
		total[e->state] += blocked;
		total[THREAD_RUNNABLE] += now - e->since - blocked;
	}
}

/* It was not followed in between, as it is when it was not chosen. */
static bool has_begun_again(const struct book_thread *t, const uint64_t total[WAIT_CAUSES])
{
	uint64_t before = 0, now = 0;

	for (int i = 0; i < WAIT_CAUSES; i++) {
		before += t->total[i];
		now += total[i];
	}
	return now + BACK_NS < before;
}

static int add_times(struct threadbook *b, struct book_thread *t, const uint64_t total[WAIT_CAUSES])
{
	int err = 0;

	for (int i = 0; i < WAIT_CAUSES && !err; i++) {
		uint64_t us = total[i] > t->total[i] ? (total[i] - t->total[i]) / NS_PER_US : 0;
		struct profile_cell cell = {
			.proc = t->proc,
			.tid = t->ids.tid,
			.ustack = PROFILE_NO_STACK,
			.kstack = profile_time_stack(b->profile, (enum wait_cause)i),
			.count = 1,
			.weight = us,
		};

		t->time[i] += us * NS_PER_US;
		t->total[i] += us * NS_PER_US;
		if (us)
			err = waitcells_add(b->cells, &cell);
	}
	return err;
}

/* The wait that slices have a part of has ended: so much will be counted twice. */
static void give_debt(struct threadbook *b, struct given *given)
{
	struct debt *d;

	if (!given->ns)
		return;
	HASH_FIND(hh, b->debts, &given->key, sizeof(given->key), d);
	if (!d) {
		d = calloc(1, sizeof(*d));
		if (!d)
			return;
		d->key = given->key;
		d->hashed = true;
		HASH_ADD(hh, b->debts, key, sizeof(d->key), d);
		if (!d->hashed) {
			free(d);
			return;
		}
	}
	d->ns += given->ns;
	d->lock_ns += given->object ? given->ns : 0;
	d->round = b->round;
	given->ns = 0;
}

/* Takes up to ns of what slices have already; the rest of ns is returned. */
static uint64_t take_debt(uint64_t *debt, uint64_t ns)
{
	uint64_t taken = *debt < ns ? *debt : ns;

	*debt -= taken;
	return ns - taken;
}

static void debts_age(struct threadbook *b)
{
	struct debt *d, *next;

	HASH_ITER(hh, b->debts, d, next) {
		if ((!d->ns && !d->lock_ns) || b->round - d->round > DEBT_ROUNDS)
			debt_drop(b, d);
	}
}

/* Shows the part in this slice of a wait that goes on. */
static int show_waiting(struct threadbook *b, struct book_thread *t, const struct thread_entry *e)
{
	uint64_t ns = e->state == THREAD_ON ? 0 : blocked_ns(e, b->now), part;
	const struct waiting of = {t->proc, t->ids.tid, (enum wait_cause)e->state,
				   e->user, e->kernel,	e->object};
	struct given *given = &t->given;
	int err;

	if (given->ns && given->since != e->since)
		give_debt(b, given);
	if (ns < GIVEN_NS || ns <= given->ns || (e->scale != 1 && ns < e->limit))
		return 0;
	part = ns - given->ns;
	*given = (struct given){
		.since = e->since,
		.ns = ns,
		.key = {.tgid = e->tgid,
			.tid = e->tid,
			.cpu = COUNT_WAIT | e->state,
			.exec_id = e->exec_id,
			.user = e->user,
			.kernel = e->kernel},
		.object = e->object,
	};
	t->time[e->state] -= part < t->time[e->state] ? part : t->time[e->state];
	err = waitcells_wait(b->cells, &of, 1, part);
	if (!err && e->object)
		err = waitcells_wake(b->cells, &of, NULL, 0, part);
	return err;
}

/* What a thread, or its last words, add to the slice. */
static int take_thread(struct threadbook *b, const struct thread_entry *e, bool ended)
{
	struct book_thread *t = thread_get(b, e);
	uint64_t total[WAIT_CAUSES];
	struct waiting on;
	int err;

	if (!t)
		return -ENOMEM;
	err = find_proc(b, (pid_t)e->tgid, e->start_stack, e->exec_id, e->comm, &t->proc);
	if (!err)
		err = name_thread(b, e, t->proc);
	if (err)
		return err;
	if (t->round != b->round) {
		memset(t->time, 0, sizeof(t->time));
		memset(t->counted, 0, sizeof(t->counted));
		t->scales = false;
		t->beyond = 0;
	}
	t->round = b->round;
	sum_times(e, b->now, ended, total);
	if (has_begun_again(t, total))
		memset(t->total, 0, sizeof(t->total));
	t->ended = ended;
	err = add_times(b, t, total);
	t->scales = t->scales || e->thinned != t->thinned;
	t->thinned = e->thinned;
	if (!err && ended)
		give_debt(b, &t->given);
	else if (!err)
		err = show_waiting(b, t, e);
	/* No later sample will stand for the rest. */
	on = (struct waiting){.proc = t->proc, .tid = t->ids.tid, .cause = WAIT_NONE};
	if (!err && (ended || b->last) && total[THREAD_ON] > e->sampled)
		err = waitcells_wait(b->cells, &on, 1, total[THREAD_ON] - e->sampled);
	return err;
}

static void take_live(uint64_t key, const struct thread_entry *e, void *arg)
{
	struct threadbook *b = arg;

	(void)key;
	if (!b->err)
		b->err = take_thread(b, e, false);
}

/* One that could not be read is there again in the next slice, with all of its time. */
static void threads_age(struct threadbook *b)
{
	struct book_thread *t, *next;

	HASH_ITER(hh, b->threads, t, next) {
		if (t->ended || b->round - t->round > GONE_ROUNDS)
			thread_drop(b, t);
	}
}

/* --- waits ----------------------------------------------------------------------------------- */

static bool is_wait(const struct sampler_count *count)
{
	return count->key.cpu & COUNT_WAIT && (count->key.cpu & 15) < WAIT_CAUSES;
}

static struct book_thread *thread_of(const struct threadbook *b, const struct count_key *key)
{
	const struct thread_ids ids = {key->tgid, key->tid, key->exec_id};

	return thread_find(b, &ids);
}

static uint64_t debt_pay(struct threadbook *b, const struct sampler_count *count)
{
	struct debt *d;

	HASH_FIND(hh, b->debts, &count->key, sizeof(count->key), d);
	return d ? take_debt(&d->ns, count->value.weight) : count->value.weight;
}

/* What debt_pay will return. */
static uint64_t debt_rest(const struct threadbook *b, const struct sampler_count *count)
{
	struct debt *d;
	uint64_t debt;

	HASH_FIND(hh, b->debts, &count->key, sizeof(count->key), d);
	debt = d ? d->ns : 0;
	return debt < count->value.weight ? count->value.weight - debt : 0;
}

/*
 * A wait that went on when its thread was taken may have ended before the counts were: then that is
 * by as much more than the thread's time as the slices have of this wait, and what is still too
 * much is of the next slice.
 */
static void settle_given(struct threadbook *b, struct book_thread *t)
{
	const unsigned int cause = t->given.key.cpu & 15;
	uint64_t *counted = &t->counted[cause];

	if (t->round != b->round || !t->given.ns || t->scales ||
	    *counted <= t->time[cause] + t->given.ns / 2)
		return;
	*counted -= t->given.ns < *counted ? t->given.ns : *counted;
	give_debt(b, &t->given);
	if (*counted > t->time[cause]) {
		t->beyond = *counted - t->time[cause];
		*counted = t->time[cause];
	}
}

/* First, how much is counted of each thread. */
static void waits_sum(struct threadbook *b, const struct sampler_count *counts, size_t n)
{
	struct book_thread *t, *next;

	for (size_t i = 0; i < b->nlate; i++) {
		t = thread_of(b, &b->late[i].key);
		if (t)
			t->counted[b->late[i].key.cpu & 15] += b->late[i].value.weight;
	}
	for (size_t i = 0; i < n; i++) {
		t = is_wait(&counts[i]) ? thread_of(b, &counts[i].key) : NULL;
		if (t)
			t->counted[counts[i].key.cpu & 15] += debt_rest(b, &counts[i]);
	}
	HASH_ITER(hh, b->threads, t, next) {
		settle_given(b, t);
	}
}

/* Of ns that are counted, those that fit into the thread's time of this slice. */
static uint64_t fit(const struct threadbook *b, struct book_thread *t, const struct count_key *key,
		    uint64_t ns)
{
	const enum wait_cause cause = key->cpu & 15;
	uint64_t beyond = 0;

	if (t->round != b->round)
		return ns;
	if (t->beyond && !memcmp(key, &t->given.key, sizeof(*key))) {
		beyond = t->beyond < ns ? t->beyond : ns;
		t->beyond = 0;
	}
	ns -= beyond;
	if (t->counted[cause] && (t->scales || t->counted[cause] > t->time[cause]))
		ns = (uint64_t)((double)ns * (double)t->time[cause] / (double)t->counted[cause]);
	return ns;
}

/* Without memory it is lost. */
static void keep_late(struct threadbook *b, const struct sampler_count *count, uint64_t ns)
{
	const size_t n = b->nlate + b->nlate_new;

	if (ns < NS_PER_US || GROW(b->late, n, b->late_room, NOTES_MAX))
		return;
	b->late[n] = *count;
	b->late[n].value.weight = ns;
	b->late[n].value.count = 0;
	b->nlate_new++;
}

/* all: ns that slices do not have of it; late: it is of the slice before. */
static int take_count(struct threadbook *b, const struct sampler_count *count, uint64_t all,
		      bool late)
{
	const struct count_key *key = &count->key;
	struct book_thread *t = thread_of(b, key);
	const uint64_t ns = t ? fit(b, t, key, all) : all;
	struct waiting of = {
		.tid = key->tid, .cause = key->cpu & 15, .user = key->user, .kernel = key->kernel};
	int err = find_proc(b, (pid_t)key->tgid, count->value.start_stack, key->exec_id,
			    count->value.comm, &of.proc);

	if (!err)
		err = waitcells_wait(b->cells, &of, count->value.count, ns);
	if (!err && t && !t->scales && !late && ns < all)
		keep_late(b, count, all - ns);
	return err;
}

static int take_counts(struct threadbook *b, const struct sampler_count *counts, size_t n)
{
	struct sampler_count count;
	int err = 0;

	waits_sum(b, counts, n);
	for (size_t i = 0; i < b->nlate && !err; i++) {
		count = b->late[i];
		err = take_count(b, &count, count.value.weight, true);
	}
	for (size_t i = 0; i < n && !err; i++)
		if (is_wait(&counts[i]))
			err = take_count(b, &counts[i], debt_pay(b, &counts[i]), false);
	if (b->nlate)
		memmove(b->late, b->late + b->nlate, b->nlate_new * sizeof(*b->late));
	b->nlate = b->nlate_new;
	b->nlate_new = 0;
	return err;
}

/* Time of threads whose waits were all thinned out. */
static int add_untaken(struct threadbook *b)
{
	struct book_thread *t, *next;
	int err = 0;

	HASH_ITER(hh, b->threads, t, next) {
		struct waiting of = {.proc = t->proc, .tid = t->ids.tid};

		for (int i = WAIT_RUNNABLE; t->scales && i < WAIT_CAUSES && !err; i++) {
			of.cause = (enum wait_cause)i;
			if (!t->counted[i] && t->time[i])
				err = waitcells_wait(b->cells, &of, 1, t->time[i]);
		}
	}
	return err;
}

static int take_wake(struct threadbook *b, const struct wait_record *w)
{
	struct count_key key = {.tgid = w->tgid,
				.tid = w->tid,
				.cpu = COUNT_WAIT | w->state,
				.exec_id = w->exec_id,
				.user = w->user,
				.kernel = w->kernel_stack};
	const char comm[16] = "";
	struct book_thread *t = thread_of(b, &key);
	uint64_t ns = w->ns;
	struct debt *d;
	struct waiting of = {.tid = w->tid,
			     .cause = (enum wait_cause)w->state,
			     .user = w->user,
			     .kernel = w->kernel_stack,
			     .object = w->object};
	int err;

	HASH_FIND(hh, b->debts, &key, sizeof(key), d);
	if (w->object && t && t->given.ns && t->given.since == w->since) {
		ns = ns > t->given.ns ? ns - t->given.ns : 0;
		t->given.object = 0;
	} else if (d && w->object) {
		ns = take_debt(&d->lock_ns, ns);
	}
	err = find_proc(b, (pid_t)w->tgid, w->start_stack, w->exec_id, comm, &of.proc);
	return err ? err : waitcells_wake(b->cells, &of, w->wakers, w->nwakers, ns);
}

int threadbook_take(struct threadbook *b, struct sampler *s, const struct sampler_count *counts,
		    size_t ncounts, uint64_t now, bool last, const struct profile_cell **cells,
		    size_t *ncells)
{
	struct waits *waits = sampler_waits(s);

	waitcells_begin(b->cells);
	b->now = now;
	b->last = last;
	b->round++;
	b->err = 0;
	if (waits)
		waits_threads(waits, take_live, b);
	for (size_t i = 0; i < b->nended && !b->err; i++)
		b->err = take_thread(b, &b->ended[i].thread, true);
	if (!b->err)
		b->err = take_counts(b, counts, ncounts);
	for (size_t i = 0; i < b->nwaits && !b->err; i++)
		b->err = take_wake(b, &b->waits[i]);
	if (!b->err)
		b->err = add_untaken(b);
	b->nended = b->nwaits = 0;
	threads_age(b);
	debts_age(b);
	*ncells = waitcells_all(b->cells, cells);
	return b->err;
}

void threadbook_release(struct threadbook *b)
{
	waitcells_release(b->cells);
}

void threadbook_costs(struct threadbook *b, struct sampler *s, struct profile_health *health)
{
	struct waits *waits = sampler_waits(s);
	const struct wait_stats before = b->before;
	struct wait_stats now;

	health->waits = waits != NULL;
	if (!waits || waits_stats(waits, &now))
		return;
	health->wait_ns = now.run_ns - before.run_ns;
	health->wait_walks = now.walks - before.walks;
	health->wait_thinned = now.thinned - before.thinned;
	health->wait_untaken = now.untaken - before.untaken;
	health->wait_lost = now.lost + now.full - before.lost - before.full + b->unkept +
			    waitcells_lost(b->cells);
	health->wait_missed = now.missed - before.missed;
	b->unkept = 0;
	b->before = now;
}
