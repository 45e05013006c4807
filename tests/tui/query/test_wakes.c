// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Long waits by what they were for: groups, threads, and pairs of the stacks at which they began
 * and ended.
 * Covers: tui/query/query_wakes.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/machine.h"
#include "tui/query/query.h"

#define MS 1000ull

struct found {
	struct wake_group *groups;
	struct wake_pair *pairs;
	size_t ngroups;
};

static struct found wakes(const struct profile *p, const struct query *q)
{
	struct found found;

	assert_int_equal(query_wakes(p, q, &found.groups, &found.ngroups, &found.pairs), 0);
	return found;
}

static void drop(struct found *found)
{
	free(found->groups);
	free(found->pairs);
}

static void assert_group(const struct profile *p, const struct wake_group *group, uint32_t proc,
			 const char *what, uint64_t us, uint64_t waits, uint32_t threads,
			 uint32_t npairs)
{
	assert_int_equal(group->proc, proc);
	assert_string_equal(query_func(p, group->what)->name, what);
	assert_int_equal(group->us, us);
	assert_int_equal(group->waits, waits);
	assert_int_equal(group->threads, threads);
	assert_int_equal(group->npairs, npairs);
}

/* frames: all of the kernel's stack, joined by ';'. */
static void assert_pair(const struct profile *p, const struct wake_pair *pair, const char *user,
			const char *kernel, uint64_t us, uint64_t waits)
{
	const struct profile_stack *stacks[] = {query_stack(p, pair->ustack),
						query_stack(p, pair->kstack)};
	const char *want[] = {user, kernel};

	for (int i = 0; i < 2; i++) {
		char text[512] = "";

		for (uint32_t k = 0; stacks[i] && k < stacks[i]->nframes; k++) {
			strcat(text, k ? ";" : "");
			strcat(text, query_func(p, stacks[i]->frames[k])->name);
		}
		assert_string_equal(text, want[i]);
	}
	assert_int_equal(pair->us, us);
	assert_int_equal(pair->waits, waits);
}

#define RUN  "ngx_worker_process_cycle;ngx_process_events_and_timers;"
#define TAKE RUN "ngx_shmtx_lock;pthread_mutex_lock"
#define AT_LOCK                                                                                    \
	"do_syscall_64;futex_wait;lock;0x7f0000001000;nginx;futex_wake;pthread_mutex_unlock;"
#define SLOW AT_LOCK "ngx_shmtx_unlock;ngx_log_error"
#define FAST AT_LOCK "ngx_slab_free;ngx_http_finalize"

static void waits_for_the_same_are_groups(void **state)
{
	struct machine m;
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct found f;

	(void)state;
	machine_open(&m);
	assert_int_equal(machine_waits(&m), 0);
	f = wakes(m.p, &q);
	assert_int_equal(f.ngroups, 3);
	assert_group(m.p, &f.groups[0], m.nginx, "0x7f0000001000", 1500 * MS, 75, 2, 3);
	assert_group(m.p, &f.groups[1], m.postgres, "disk", 700 * MS, 70, 1, 1);
	assert_group(m.p, &f.groups[2], m.node, "0x7f0000002000", 600 * MS, 1, 1, 1);
	/* The longest time first, and each with the chain of those who were woken themselves. */
	assert_pair(m.p, &f.pairs[f.groups[0].first], TAKE, SLOW ";node;uv_async_send", 900 * MS,
		    45);
	assert_pair(m.p, &f.pairs[f.groups[0].first + 1], TAKE, SLOW, 400 * MS, 20);
	assert_pair(m.p, &f.pairs[f.groups[0].first + 2], TAKE, FAST, 200 * MS, 10);
	assert_pair(m.p, &f.pairs[f.groups[1].first], "main;ExecutorRun;FileRead",
		    "do_syscall_64;io_schedule;disk;interrupt;blk_mq_complete_request;"
		    "asm_common_interrupt",
		    700 * MS, 70);
	assert_pair(m.p, &f.pairs[f.groups[2].first], "main;uv_run;uv_mutex_lock",
		    "do_syscall_64;futex_wait;lock;0x7f0000002000", 600 * MS, 1);
	drop(&f);
	machine_close(&m);
}

static void slices_are_added_up(void **state)
{
	struct machine m;
	static const enum measure measures[] = {MEASURE_CPU, MEASURE_OFF, MEASURE_WALL};

	(void)state;
	machine_open(&m);
	for (int i = 0; i < 3; i++)
		assert_int_equal(machine_waits(&m), 0);
	/* Whatever is counted elsewhere. */
	for (size_t i = 0; i < 3; i++) {
		const struct query q = {
			.span = SPAN_WINDOW, .proc = QUERY_ALL, .measure = measures[i]};
		struct found f = wakes(m.p, &q);

		assert_int_equal(f.ngroups, 3);
		assert_group(m.p, &f.groups[0], m.nginx, "0x7f0000001000", 4500 * MS, 225, 2, 3);
		assert_int_equal(f.pairs[f.groups[0].first].us, 2700 * MS);
		drop(&f);
	}
	machine_close(&m);
}

static void queries_choose_waits(void **state)
{
	struct machine m;
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct sample_filter one = {.tid = 4121};
	bool keeps[256] = {false};
	const struct sample_filter holder = {.funcs = keeps, .nfuncs = 256};
	struct found f;

	(void)state;
	machine_open(&m);
	assert_int_equal(machine_waits(&m), 0);
	q.proc = m.postgres;
	f = wakes(m.p, &q);
	assert_int_equal(f.ngroups, 1);
	assert_group(m.p, &f.groups[0], m.postgres, "disk", 700 * MS, 70, 1, 1);
	drop(&f);
	q.proc = m.nginx;
	q.scope = &one;
	f = wakes(m.p, &q);
	assert_int_equal(f.ngroups, 1);
	assert_group(m.p, &f.groups[0], m.nginx, "0x7f0000001000", 600 * MS, 30, 1, 2);
	drop(&f);
	/* A function of the one that ended the wait. */
	for (uint32_t id = 0; id < 256; id++)
		keeps[id] = query_func(m.p, id) &&
			    strcmp(query_func(m.p, id)->name, "ngx_slab_free") == 0;
	q.scope = NULL;
	q.filter = &holder;
	f = wakes(m.p, &q);
	assert_int_equal(f.ngroups, 1);
	assert_group(m.p, &f.groups[0], m.nginx, "0x7f0000001000", 200 * MS, 10, 1, 1);
	drop(&f);
	q.proc = m.kswapd;
	f = wakes(m.p, &q);
	assert_int_equal(f.ngroups, 0);
	drop(&f);
	machine_close(&m);
}

/* What it is for is the waiter's own: neither the cause nor the lock of one that woke it. */
static void wakers_do_not_say_what_it_was_for(void **state)
{
	struct profile *p = profile_new(10, 1000);
	const struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	const uint32_t proc = feed_proc(p, 1, 1, "a", false);
	struct profile_cell cells[] = {
		{.kstack = feed_frames(p, "k:read;wait:pipe;waker:b@pid 2;wait:disk", 0),
		 .count = 1,
		 .weight = 100},
		{.kstack = feed_frames(p, "k:read;wait:pipe;waker:c@pid 3;lock:0x1", 0),
		 .count = 2,
		 .weight = 300},
		/* Nothing is left of it but that it was one. */
		{.kstack = feed_frames(p, "waker:folded away", 0), .count = 4, .weight = 50},
	};
	struct found f;

	(void)state;
	for (int i = 0; i < 3; i++) {
		cells[i].proc = proc;
		cells[i].tid = 7;
		cells[i].ustack = PROFILE_NO_STACK;
	}
	assert_int_equal(feed_commit(p, cells, 3), 0);
	f = wakes(p, &q);
	assert_int_equal(f.ngroups, 2);
	assert_group(p, &f.groups[0], proc, "pipe", 400, 3, 1, 2);
	assert_int_equal(f.pairs[f.groups[0].first].us, 300);
	assert_int_equal(f.groups[1].what, QUERY_NONE);
	assert_int_equal(f.groups[1].us, 50);
	drop(&f);
	profile_free(p);
}

/* Sums do not tell threads apart. */
static void threads_of_sums_are_not_known(void **state)
{
	struct machine m;
	const struct query q = {.span = SPAN_TOTAL, .proc = QUERY_ALL};
	struct found f;

	(void)state;
	machine_open(&m);
	assert_int_equal(machine_waits(&m), 0);
	/* The window and the time before it go by. */
	for (int i = 0; i < 25; i++)
		assert_int_equal(machine_slice(&m, 0), 0);
	f = wakes(m.p, &q);
	assert_int_equal(f.ngroups, 3);
	assert_group(m.p, &f.groups[0], m.nginx, "0x7f0000001000", 1500 * MS, 75, 0, 3);
	drop(&f);
	machine_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_the_same_are_groups),
		cmocka_unit_test(slices_are_added_up),
		cmocka_unit_test(queries_choose_waits),
		cmocka_unit_test(wakers_do_not_say_what_it_was_for),
		cmocka_unit_test(threads_of_sums_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
