// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=sampler_waits,--wrap=waits_threads,--wrap=waits_stats */
/* build: -Wl,--wrap=stackcache_stack,--wrap=procinfo_proc */
/*
 * What threads say at the end of slices, and what was counted of their waits, becomes cells: no
 * time is there twice, none is missing. The threads, their stacks and the counts are made up here.
 * Covers: tui/collect/threadbook.c tui/collect/waitcells.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/sampler/sampler.h"
#include "bpf/sampler/waits.h"
#include "bpf/tracker/tracker.h"
#include "tests/support/feed.h"
#include "tui/collect/procinfo.h"
#include "tui/collect/stackcache.h"
#include "tui/collect/threadbook.h"
#include "tui/profile/profile.h"
#include "tui/query/query.h"

#define MS  1000000ull
#define PID 70
#define TID 71

/* --- the kernel's side ----------------------------------------------------------------------- */

static struct thread_entry live[4];
static size_t nlive;
static struct wait_stats stats;
static struct profile *profile;
static bool loses; /* stacks on their way */

/* Stacks by hash, outermost first. */
static const char *const stacks[] = {
	NULL,
	"main;take;lock_it",
	"k:entry;k:futex_wait;k:schedule;k:__schedule;k:__traceiter_sched_switch;k:bpf_prog_1",
	"main;give",
	"k:entry;k:futex_wake;k:__traceiter_sched_waking;k:bpf_prog_2",
	"k:asm_sysvec_timer;k:hrtimer_wakeup",
};

struct waits *__wrap_sampler_waits(struct sampler *s);
struct waits *__wrap_sampler_waits(struct sampler *s)
{
	return (struct waits *)s;
}

int __wrap_waits_threads(struct waits *w,
			 void (*fn)(uint64_t key, const struct thread_entry *t, void *arg),
			 void *arg);
int __wrap_waits_threads(struct waits *w,
			 void (*fn)(uint64_t key, const struct thread_entry *t, void *arg),
			 void *arg)
{
	(void)w;
	for (size_t i = 0; i < nlive; i++)
		fn(i, &live[i], arg);
	return 0;
}

int __wrap_waits_stats(const struct waits *w, struct wait_stats *sum);
int __wrap_waits_stats(const struct waits *w, struct wait_stats *sum)
{
	(void)w;
	*sum = stats;
	return 0;
}

int64_t __wrap_stackcache_stack(struct stackcache *c, uint64_t hash, bool kernel, bool *lost);
int64_t __wrap_stackcache_stack(struct stackcache *c, uint64_t hash, bool kernel, bool *lost)
{
	(void)c;
	assert_true(hash && hash < sizeof(stacks) / sizeof(stacks[0]));
	assert_int_equal(kernel, strncmp(stacks[hash], "k:", 2) == 0);
	*lost = loses;
	return feed_frames(profile, stacks[hash], 0);
}

int64_t __wrap_procinfo_proc(struct procinfo *pi, const struct tracker_exec *of, const char *comm,
			     uint64_t now);
int64_t __wrap_procinfo_proc(struct procinfo *pi, const struct tracker_exec *of, const char *comm,
			     uint64_t now)
{
	(void)pi;
	(void)now;
	return feed_proc(profile, of->pid, of->exec_id, comm[0] ? comm : "x", false);
}

/* --- slices ---------------------------------------------------------------------------------- */

struct fixture {
	struct threadbook *b;
	const struct profile_cell *cells;
	size_t ncells;
	struct sampler_count counts[4];
	size_t ncounts;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	profile = profile_new(10, 1000);
	nlive = 0;
	memset(live, 0, sizeof(live));
	stats = (struct wait_stats){0};
	assert_int_equal(threadbook_new(profile, NULL, NULL, &f->b), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	threadbook_free(f->b);
	profile_free(profile);
	free(f);
	return 0;
}

static struct thread_entry *thread(enum thread_time state, uint64_t since)
{
	live[0].tgid = PID;
	live[0].tid = TID;
	live[0].exec_id = 5;
	live[0].scale = 1;
	strcpy(live[0].comm, "worker");
	live[0].state = state;
	live[0].since = since;
	live[0].user = live[0].kernel = live[0].object = live[0].woken = 0;
	nlive = 1;
	return &live[0];
}

static void count(struct fixture *f, enum thread_time state, uint64_t user, uint64_t kernel,
		  uint64_t n, uint64_t ns)
{
	f->counts[f->ncounts++] =
		(struct sampler_count){.key = {.tgid = PID,
					       .tid = TID,
					       .cpu = COUNT_WAIT | state,
					       .exec_id = 5,
					       .user = user,
					       .kernel = kernel},
				       .value = {.count = n, .weight = ns, .comm = "worker"}};
}

static void take(struct fixture *f, uint64_t now, bool last)
{
	/* Of another thread, and no wait: neither of the book. */
	f->counts[f->ncounts++] = (struct sampler_count){
		.key = {.tgid = 9, .tid = 9, .cpu = 3, .exec_id = 1, .user = 1},
		.value = {.count = 100, .weight = 100 * MS}};
	assert_int_equal(threadbook_take(f->b, (struct sampler *)f, f->counts, f->ncounts, now,
					 last, &f->cells, &f->ncells),
			 0);
	f->ncounts = 0;
}

/* Drops the stacks, and commits the cells as the collector does. */
static void commit(struct fixture *f)
{
	assert_int_equal(feed_commit(profile, f->cells, f->ncells), 0);
	threadbook_release(f->b);
}

static void frames_text(uint32_t id, char *to, size_t size)
{
	const struct profile_stack *stack = query_stack(profile, id);
	size_t n = 0;

	to[0] = '\0';
	for (uint32_t i = 0; stack && i < stack->nframes; i++) {
		const struct profile_func *func = query_func(profile, stack->frames[i]);

		n += (size_t)snprintf(to + n, size - n, "%s%s%s%s", i ? ";" : "", func->name,
				      func->kind == FUNC_WAKER && func->module[0] ? "@" : "",
				      func->kind == FUNC_WAKER ? func->module : "");
	}
}

struct want {
	enum stack_use use;
	enum wait_cause cause;
	const char *user, *kernel; /* NULL: of times it is not asked for */
	uint64_t count, us;
};

/* Exactly these cells, in any order. */
static void assert_cells(const struct fixture *f, const struct want *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t found = 0;

		for (size_t k = 0; k < f->ncells; k++) {
			const struct profile_cell *cell = &f->cells[k];
			const struct profile_stack *stack = query_stack(profile, cell->kstack);
			char user[512], kernel[512];

			frames_text(cell->ustack, user, sizeof(user));
			frames_text(cell->kstack, kernel, sizeof(kernel));
			if (stack->use != want[i].use || stack->cause != want[i].cause ||
			    (want[i].user && strcmp(user, want[i].user) != 0) ||
			    (want[i].kernel && strcmp(kernel, want[i].kernel) != 0))
				continue;
			found++;
			assert_int_equal(cell->tid, TID);
			assert_int_equal(query_proc(profile, cell->proc)->pid, PID);
			assert_int_equal(cell->count, want[i].count);
			assert_int_equal(cell->weight, want[i].us);
		}
		if (found != 1)
			fail_msg("cell %zu is there %zu times", i, found);
	}
	assert_int_equal(f->ncells, n);
}

#define ASSERT_CELLS(f, ...)                                                                       \
	assert_cells(f, (const struct want[]){__VA_ARGS__},                                        \
		     sizeof((const struct want[]){__VA_ARGS__}) / sizeof(struct want))
#define TIME(cause, ms)                                                                            \
	{                                                                                          \
		STACK_TIMES, cause, "", NULL, 1, (ms)*1000ull                                      \
	}
#define TAKE  "main;take;lock_it"
#define FUTEX "entry;futex_wait;"

/* --- times ----------------------------------------------------------------------------------- */

static void times_are_differences(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_ON, 900 * MS);

	t->spent[THREAD_ON] = t->sampled = 100 * MS;
	t->spent[THREAD_SLEEP] = 800 * MS;
	take(f, 1000 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_NONE, 200), TIME(WAIT_SLEEP, 800));
	assert_string_equal(query_thread(profile, f->cells[0].proc, TID), "worker");
	commit(f);
	/* Nothing has changed since, but that it is still on a CPU. */
	take(f, 1250 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_NONE, 250));
	commit(f);
	/* It waited to the end, and was woken then: since that it waits for a CPU. */
	t = thread(THREAD_POLL, 1300 * MS);
	t->woken = 1301 * MS;
	t->scale = 0;
	t->limit = 10 * MS;
	t->spent[THREAD_ON] = 500 * MS;
	take(f, 1900 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_NONE, 50), TIME(WAIT_POLL, 1), TIME(WAIT_RUNNABLE, 599));
	commit(f);
	/* What it was woken from before does not count. */
	t = thread(THREAD_POLL, 2000 * MS);
	t->woken = 1990 * MS;
	t->scale = 0;
	t->limit = 1000 * MS;
	t->spent[THREAD_POLL] = MS;
	t->spent[THREAD_RUNNABLE] = 699 * MS;
	take(f, 2100 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_RUNNABLE, 100), TIME(WAIT_POLL, 100));
}

/* Threads are read some time after the end of the slice. */
static void what_wakes_after_the_end_is_not_of_the_slice(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_POLL, 900 * MS);

	t->woken = 1003 * MS;
	t->scale = 0;
	t->limit = 1000 * MS;
	take(f, 1000 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_POLL, 100));
	commit(f);
	take(f, 1010 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_POLL, 3), TIME(WAIT_RUNNABLE, 7));
}

/* Parts of a microsecond are not lost, but come with the next slice. */
static void fractions_come_later(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_ON, 0);
	uint64_t sum = 0;

	for (uint64_t i = 1; i <= 10; i++) {
		t->since = i * MS;
		t->spent[THREAD_ON] = t->sampled = i * 1700;
		take(f, i * MS, false);
		assert_true(f->ncells == 1 && f->cells[0].weight <= 2);
		sum += f->cells[0].weight;
		commit(f);
	}
	assert_int_equal(sum, 17);
}

/* --- waits ----------------------------------------------------------------------------------- */

static void waits_have_stacks(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_ON, 1000 * MS);

	t->spent[THREAD_LOCK] = 30 * MS;
	t->spent[THREAD_DISK] = 20 * MS;
	count(f, THREAD_LOCK, 1, 2, 6, 30 * MS);
	count(f, THREAD_DISK, 3, 0, 2, 20 * MS);
	take(f, 1000 * MS, false);
	/* Without the frames of the switch. */
	ASSERT_CELLS(f, TIME(WAIT_LOCK, 30), TIME(WAIT_DISK, 20),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 6, 30000},
		     {STACK_WAITS, WAIT_DISK, "main;give", "disk", 2, 20000});
	commit(f);
}

/* It is counted as a whole when it ends: slices have it in parts. */
static void waits_that_go_on_are_shown_once(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_LOCK, 200 * MS);

	t->spent[THREAD_ON] = t->sampled = 200 * MS;
	t->user = 1;
	t->kernel = 2;
	take(f, 1000 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_NONE, 200), TIME(WAIT_LOCK, 800),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 800000});
	commit(f);
	take(f, 2000 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_LOCK, 1000),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 1000000});
	commit(f);
	/* It has ended after 2300 ms, and a second one of 100 ms is counted with it. */
	t = thread(THREAD_ON, 2600 * MS);
	t->spent[THREAD_LOCK] = 2400 * MS;
	count(f, THREAD_LOCK, 1, 2, 2, 2400 * MS);
	take(f, 3000 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_NONE, 400), TIME(WAIT_LOCK, 600),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 2, 600000});
	commit(f);
	/* The debt is paid. */
	t->spent[THREAD_LOCK] = 2500 * MS;
	t->spent[THREAD_ON] += 500 * MS;
	t->sampled = t->spent[THREAD_ON];
	t->since = 3200 * MS;
	count(f, THREAD_LOCK, 1, 2, 1, 100 * MS);
	take(f, 3200 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_NONE, 100), TIME(WAIT_LOCK, 100),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 100000});
	commit(f);
}

/* Threads are read, then waits are counted: what ends in between is of both slices. */
static void waits_that_end_between_are_of_both_slices(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_LOCK, 900 * MS);

	t->spent[THREAD_LOCK] = 50 * MS; /* earlier ones */
	t->user = 1;
	t->kernel = 2;
	count(f, THREAD_LOCK, 3, 2, 5, 50 * MS);  /* those */
	count(f, THREAD_LOCK, 1, 2, 1, 130 * MS); /* and this one */
	count(f, THREAD_DISK, 3, 0, 1, 7 * MS);	  /* it has begun after that, too */
	take(f, 1000 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_LOCK, 150),
		     {STACK_WAITS, WAIT_LOCK, "main;give", FUTEX "lock", 5, 50000},
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 100000});
	commit(f);
	t = thread(THREAD_ON, 1040 * MS);
	t->spent[THREAD_LOCK] = 180 * MS;
	t->spent[THREAD_DISK] = 7 * MS;
	t->spent[THREAD_ON] = 3 * MS;
	t->sampled = 1060 * MS;
	take(f, 1100 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_LOCK, 30), TIME(WAIT_DISK, 7), TIME(WAIT_NONE, 63),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 30000},
		     {STACK_WAITS, WAIT_DISK, "main;give", "disk", 1, 7000});
	commit(f);
	take(f, 1200 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_NONE, 100));
	commit(f);
}

static void short_waits_that_go_on_are_not_shown(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_LOCK, 999 * MS);

	t->since += 1; /* a ns less than 1 ms */
	t->user = 1;
	t->kernel = 2;
	take(f, 1000 * MS, false);
	ASSERT_CELLS(f, {STACK_TIMES, WAIT_LOCK, "", NULL, 1, 999});
	commit(f);
}

/* --- stacks that were not taken -------------------------------------------------------------- */

static void counted_waits_stand_for_the_others(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_ON, 1000 * MS);

	t->spent[THREAD_LOCK] = 900 * MS;
	t->spent[THREAD_DISK] = 50 * MS;
	t->thinned = 12;
	count(f, THREAD_LOCK, 1, 2, 1, 100 * MS);
	count(f, THREAD_LOCK, 3, 2, 4, 200 * MS);
	take(f, 1000 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_LOCK, 900), TIME(WAIT_DISK, 50),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 300000},
		     {STACK_WAITS, WAIT_LOCK, "main;give", FUTEX "lock", 4, 600000},
		     /* None of these was taken. */
		     {STACK_WAITS, WAIT_DISK, "stack not taken", "disk", 1, 50000});
	commit(f);
	/* In this slice none was left out. */
	t->spent[THREAD_LOCK] = 1000 * MS;
	t->since = 1100 * MS;
	count(f, THREAD_LOCK, 1, 2, 1, 70 * MS);
	take(f, 1100 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_LOCK, 100),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 70000});
	commit(f);
}

/* --- the end of threads ---------------------------------------------------------------------- */

static void threads_have_last_words(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_LOCK, 200 * MS);
	struct thread_record record = {0};
	struct stack_record *head = (struct stack_record *)&record;

	t->user = 1;
	t->kernel = 2;
	take(f, 1000 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_LOCK, 800),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 800000});
	commit(f);
	/* The wait ended at 1.1 s, then it ran for 300 ms, of which samples have 180. */
	head->kernel = STACK_THREAD;
	record.thread = live[0];
	record.thread.spent[THREAD_LOCK] = 900 * MS;
	record.thread.spent[THREAD_ON] = 300 * MS;
	record.thread.sampled = 180 * MS;
	record.thread.since = 1400 * MS;
	threadbook_note(f->b, head);
	nlive = 0;
	count(f, THREAD_LOCK, 1, 2, 1, 900 * MS);
	take(f, 2000 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_LOCK, 100), TIME(WAIT_NONE, 300),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 100000},
		     {STACK_WAITS, WAIT_NONE, "", "on", 1, 120000});
	commit(f);
	take(f, 3000 * MS, false);
	assert_int_equal(f->ncells, 0);
}

/* No later sample will stand for what it still ran. */
static void the_last_slice_has_the_rest(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_ON, 900 * MS);

	t->spent[THREAD_ON] = 400 * MS;
	t->sampled = 350 * MS;
	take(f, 1000 * MS, true);
	ASSERT_CELLS(f, TIME(WAIT_NONE, 500), {STACK_WAITS, WAIT_NONE, "", "on", 1, 150000});
	commit(f);
}

/* --- who woke it ----------------------------------------------------------------------------- */

static void note_wait(struct fixture *f, uint64_t ns, uint64_t object, uint32_t nwakers)
{
	struct wait_record w = {.kernel = STACK_WAIT,
				.exec_id = 5,
				.tgid = PID,
				.tid = TID,
				.state = THREAD_LOCK,
				.nwakers = nwakers,
				.user = 1,
				.kernel_stack = 2,
				.object = object,
				.ns = ns};

	w.wakers[0] = (struct waker){.tgid = 8, .tid = 8, .user = 3, .kernel = 4};
	strcpy(w.wakers[0].comm, "holder");
	w.wakers[1] = (struct waker){.kernel = 5};
	threadbook_note(f->b, (const struct stack_record *)&w);
}

#define AT_LOCK FUTEX "lock;0xabc"
#define HOLDER	";holder@pid 8;futex_wake;entry;give;main"
#define TIMER	";interrupt;hrtimer_wakeup;asm_sysvec_timer"

static void wakers_stand_behind_the_wait(void **state)
{
	struct fixture *f = *state;

	note_wait(f, 5 * MS, 0xabc, 1);
	note_wait(f, 7 * MS, 0xabc, 2);
	note_wait(f, 3 * MS, 0, 1);
	take(f, 1000 * MS, false);
	ASSERT_CELLS(f, {STACK_WAKES, WAIT_LOCK, TAKE, AT_LOCK HOLDER, 1, 5000},
		     {STACK_WAKES, WAIT_LOCK, TAKE, AT_LOCK HOLDER TIMER, 1, 7000},
		     {STACK_WAKES, WAIT_LOCK, TAKE, FUTEX "lock" HOLDER, 1, 3000});
	commit(f);
	/* They are of one slice. */
	take(f, 2000 * MS, false);
	assert_int_equal(f->ncells, 0);
}

/* A lock is shown while it is waited for; what slices have of that is not counted again. */
static void wakes_that_go_on_are_shown_once(void **state)
{
	struct fixture *f = *state;
	struct thread_entry *t = thread(THREAD_LOCK, 200 * MS);

	t->user = 1;
	t->kernel = 2;
	t->object = 0xabc;
	take(f, 1000 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_LOCK, 800),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 800000},
		     {STACK_WAKES, WAIT_LOCK, TAKE, AT_LOCK, 1, 800000});
	commit(f);
	t = thread(THREAD_ON, 1500 * MS);
	t->spent[THREAD_LOCK] = 1300 * MS;
	t->spent[THREAD_ON] = t->sampled = 0;
	count(f, THREAD_LOCK, 1, 2, 1, 1300 * MS);
	note_wait(f, 1300 * MS, 0xabc, 1);
	take(f, 1500 * MS, false);
	ASSERT_CELLS(f, TIME(WAIT_LOCK, 500),
		     {STACK_WAITS, WAIT_LOCK, TAKE, FUTEX "lock", 1, 500000},
		     {STACK_WAKES, WAIT_LOCK, TAKE, AT_LOCK HOLDER, 1, 500000});
	commit(f);
}

/* --- costs ----------------------------------------------------------------------------------- */

static void costs_are_those_of_the_slice(void **state)
{
	struct fixture *f = *state;
	struct profile_health h = {0};

	stats = (struct wait_stats){.run_ns = 100,
				    .walks = 20,
				    .thinned = 5,
				    .untaken = 2,
				    .lost = 1,
				    .full = 3,
				    .missed = 7};
	threadbook_costs(f->b, (struct sampler *)f, &h);
	assert_true(h.waits);
	assert_int_equal(h.wait_ns, 100);
	assert_int_equal(h.wait_lost, 4);
	stats = (struct wait_stats){.run_ns = 150,
				    .walks = 21,
				    .thinned = 9,
				    .untaken = 2,
				    .lost = 2,
				    .full = 5,
				    .missed = 13};
	threadbook_costs(f->b, (struct sampler *)f, &h);
	assert_int_equal(h.wait_ns, 50);
	assert_int_equal(h.wait_walks, 1);
	assert_int_equal(h.wait_thinned, 4);
	assert_int_equal(h.wait_untaken, 0);
	assert_int_equal(h.wait_lost, 3);
	assert_int_equal(h.wait_missed, 6);
	threadbook_costs(f->b, NULL, &h);
	assert_false(h.waits);
}

/* A stack that was lost on its way is told: the waits that it is of have their time only. */
static void lost_stacks_are_told(void **state)
{
	struct fixture *f = *state;
	struct profile_health h = {0};

	stats = (struct wait_stats){.lost = 2};
	loses = true;
	thread(THREAD_ON, 1000 * MS)->spent[THREAD_LOCK] = 30 * MS;
	count(f, THREAD_LOCK, 1, 2, 3, 30 * MS);
	take(f, 1000 * MS, false);
	loses = false;
	threadbook_costs(f->b, (struct sampler *)f, &h);
	assert_int_equal(h.wait_lost, 2 + 3);
	threadbook_costs(f->b, (struct sampler *)f, &h);
	assert_int_equal(h.wait_lost, 0);
	commit(f);
}

#define BOOK_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOOK_TEST(times_are_differences),
		BOOK_TEST(what_wakes_after_the_end_is_not_of_the_slice),
		BOOK_TEST(fractions_come_later),
		BOOK_TEST(waits_have_stacks),
		BOOK_TEST(waits_that_go_on_are_shown_once),
		BOOK_TEST(waits_that_end_between_are_of_both_slices),
		BOOK_TEST(short_waits_that_go_on_are_not_shown),
		BOOK_TEST(counted_waits_stand_for_the_others),
		BOOK_TEST(threads_have_last_words),
		BOOK_TEST(the_last_slice_has_the_rest),
		BOOK_TEST(wakers_stand_behind_the_wait),
		BOOK_TEST(wakes_that_go_on_are_shown_once),
		BOOK_TEST(costs_are_those_of_the_slice),
		BOOK_TEST(lost_stacks_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
