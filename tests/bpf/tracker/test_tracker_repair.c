// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is gone comes again: tables that are thrown away, seen in walks of a child, and processes of
 * which the kernel lost the records.
 * Covers: bpf/tracker/rescan.c bpf/tracker/evict.c bpf/tracker/garbage.c
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/sampler/sampler.h"
#include "tests/support/orders.h"

/* --- tables ---------------------------------------------------------------------------------- */

struct walks {
	pid_t pid;
	uint64_t bottom[64]; /* hashes of the child's stacks that reached the bottom */
	size_t n;
};

static void on_stack(const struct stack_record *rec, void *arg)
{
	struct walks *w = arg;

	if (rec->tgid == (uint32_t)w->pid && !rec->kernel && rec->reason == WALK_BOTTOM &&
	    rec->nframes > 3)
		w->bottom[w->n++ % 64] = rec->hash;
}

static bool is_walked(struct running *r, struct walks *w)
{
	const struct sampler_count *counts;
	size_t n;

	assert_int_equal(sampler_drain(r->sampler, on_stack, w, &counts, &n), 0);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < w->n && j < 64; j++)
			if (counts[i].key.user == w->bottom[j])
				return true;
	return false;
}

/* Samples from now on, not those that were taken before. */
static void wait_for_walks(struct running *r, struct walks *w)
{
	is_walked(r, w);
	WAIT(is_walked(r, w));
}

static bool is_idle(struct running *r, struct tracker_state *ts)
{
	tracker_state(r->tracker, ts);
	return ts->idle;
}

static bool is_back(struct running *r, uint64_t words)
{
	struct tracker_state ts;

	return is_idle(r, &ts) && ts.words_used >= words - words / 50 &&
	       ts.words_used <= words + words / 50;
}

/*
 * Gives the orders and waits until as many words are in use as before. When others have mapped
 * something new meanwhile, that many is what the next time is measured by; a leak never ends.
 */
static void reset(struct running *r, enum tracker_command command, const char *arg, int times)
{
	struct tracker_state ts;
	uint64_t until;

	WAIT(is_idle(r, &ts));
	for (int i = 0; i < 8; i++) {
		assert_true(ts.words_used > 0);
		for (int j = 1; j < times; j++)
			tracker_post(r->tracker, command, arg);
		post(r, command, arg, 0, "reset: ");
		until = clock_now() + 5000000000ull;
		while (clock_now() < until) {
			if (is_back(r, ts.words_used))
				return;
			usleep(2000);
		}
		WAIT(is_idle(r, &ts));
	}
	fail_msg("%" PRIu64 " words are in use", ts.words_used);
}

static void test_reset(void **state)
{
	static struct running r;
	struct tracker_state ts;
	struct walks walks = {0};
	struct child c;
	char shard[16];

	(void)state;
	c = child_start(BY_EXEC, "t-reset", 0);
	walks.pid = c.pid;
	run_own(&r);
	child_order(&c, ORDER_WORK, NULL);
	wait_for_walks(&r, &walks);
	for (int i = 0; i < 3; i++) {
		reset(&r, TRACKER_RESET_SHARDS, "", 1);
		assert_true(atoi(last_message(&r).text + 7) > 1);
		wait_for_walks(&r, &walks);
	}
	/* before the builder is done with the one before */
	reset(&r, TRACKER_RESET_SHARDS, "", 20);
	wait_for_walks(&r, &walks);
	tracker_state(r.tracker, &ts);
	for (unsigned int i = 0; i < ts.shards_created; i++) {
		snprintf(shard, sizeof(shard), "%u", i);
		reset(&r, TRACKER_RESET_SHARD, shard, 1);
	}
	wait_for_walks(&r, &walks);
	/* one that holds nothing */
	snprintf(shard, sizeof(shard), "%u", SHARDS - 1);
	post(&r, TRACKER_RESET_SHARD, shard, 0, "reset: 0 objects");
	child_end(&c);
	run_end(&r);
}

/* --- lost records ---------------------------------------------------------------------------- */

static void pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(pid, sizeof(set), &set), 0);
}

/*
 * The tracker is kept from reading while one CPU's ring overflows. Then a process ends there and
 * another begins, of which there are no records: both have to be found out otherwise.
 */
static void test_lost(void **state)
{
	struct child noisy, leaves, comes;
	int cpu = sched_getcpu();
	struct tracker_state ts;
	cpu_set_t before;
	static struct running r;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	noisy = child_start(BY_FORK, "t-noisy", 0);
	leaves = child_start(BY_FORK, "t-leaves", 0);
	run(&r, NULL);
	post_pid(&r, TRACKER_ATTACH, leaves.pid, 0, "attached to");
	pin(0, cpu);
	pin(noisy.pid, cpu);
	pin(leaves.pid, cpu);
	pthread_mutex_lock(&r.gate);
	tracker_post(r.tracker, TRACKER_ATTACH, "1073741823");
	child_ask(&noisy, ORDER_RENAMES, "t-loud");
	child_end(&leaves);
	comes = child_start(BY_EXEC, "t-comes", 0);
	pthread_mutex_unlock(&r.gate); /* the tracker has its lock until here: no post before */
	/* the kernel tells of it with the next record that finds room */
	WAIT((child_ask(&noisy, ORDER_COMM, "t-silent"), tracker_state(r.tracker, &ts),
	      ts.lost_records > 0));
	WAIT(is_called(&r, noisy.pid, "t-silent"));
	WAIT(is_known(&r, comes.pid));
	WAIT(!is_known(&r, leaves.pid));
	WAIT(!has_target(leaves.pid));
	assert_int_equal(count_attached(&r), 0);
	sched_setaffinity(0, sizeof(before), &before);
	child_end(&noisy);
	child_end(&comes);
	run_end(&r);
}

/* How many executable areas the process has; 0: one of them is not known. */
static size_t count_known(struct running *r, pid_t pid)
{
	FILE *f = maps_open(pid);
	struct area a;
	size_t n = 0;

	while (area_read(f, &a)) {
		if (!a.exec || !a.inode)
			continue;
		if (place_at(r, pid, 0, a.start).kind != PLACE_FILE) {
			n = 0;
			break;
		}
		n++;
	}
	fclose(f);
	return n;
}

/*
 * A process maps twice as much as a ring has records for, and then does nothing: the kernel has no
 * record before which it could tell what is missing.
 */
static void test_silent(void **state)
{
	struct request many = {.order = ORDER_MAPS};
	static struct running r;
	int cpu = sched_getcpu();
	struct child c;

	(void)state;
	many.size = 2 * 64 * (size_t)sysconf(_SC_PAGESIZE) / 96;
	assert_true(readlink("/proc/self/exe", many.arg, sizeof(many.arg) - 1) > 0);
	c = child_start(BY_EXEC, "t-silent", 0);
	run_own(&r);
	WAIT(count_known(&r, c.pid) > 0);
	pin(c.pid, cpu);
	pthread_mutex_lock(&r.gate);
	tracker_post(r.tracker, TRACKER_ATTACH, "1073741823");
	child_send(&c, &many);
	assert_int_equal(child_answer(&c), 0);
	pthread_mutex_unlock(&r.gate);
	WAIT(count_known(&r, c.pid) > many.size);
	child_end(&c);
	run_end(&r);
}

/*
 * A mapping that moves leaves no record, so a walk that ends badly is what tells of it. A process
 * is not read again at once: the doubt is kept until it is, although no other walk comes.
 */
static void test_moved(void **state)
{
	struct request move = {.order = ORDER_MOVE};
	static struct running r;
	struct child c;

	(void)state;
	c = child_start(BY_EXEC, "t-moved", 0);
	run_own(&r);
	move.size = 65536;
	move.at = child_ask(&c, ORDER_JIT, NULL);
	WAIT(place_at(&r, c.pid, 0, move.at).kind == PLACE_JIT);
	for (int i = 0; i < 8; i++) {
		uint64_t before = move.at;

		child_send(&c, &move);
		move.at = child_answer(&c);
		assert_true(move.at && move.at != before);
		tracker_doubt(r.tracker, c.pid, WALK_NOT_COVERED);
		WAIT(place_at(&r, c.pid, 0, move.at).kind == PLACE_JIT);
		assert_int_equal(place_at(&r, c.pid, 0, before).kind, PLACE_UNKNOWN);
	}
	child_end(&c);
	run_end(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_moved),
	};

	if (argc > 1 && !strcmp(argv[1], "--serve"))
		return serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
