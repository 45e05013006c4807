// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the tracker makes of records and of /proc when no thread of its own runs: the test takes its
 * steps one by one, so that what comes in between is certain.
 * Covers: bpf/tracker/tracker.c bpf/tracker/process.c bpf/tracker/mapping.c bpf/tracker/rescan.c
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/sideband.h"
#include "bpf/tracker/tracker_priv.h"
#include "symbols/files/procstat.h"
#include "tests/support/places.h"

static void on_event(const struct sideband_event *e, void *arg)
{
	process_on_event(arg, e);
}

/* Is the process called so, by /proc, and has it done all that an exec does? */
static bool has_become(pid_t pid, const char *comm, uint64_t not_image)
{
	struct procstat s;

	return !procstat_read(pid, &s) && !strcmp(s.comm, comm) && s.complete &&
	       s.start_stack != not_image;
}

/* False: other processes have left no room for the records. */
static bool read_all(struct tracker *t)
{
	sideband_read(t->sideband, on_event, t);
	return !sideband_has_gap(t->sideband);
}

/* A tracker without threads, whose steps `once` takes one by one; false: no room for the records.
 */
static void step_by_step(bool (*once)(struct running *))
{
	static const struct tracker_filter all;
	static struct running r;
	int tries = 0;

	memset(&r, 0, sizeof(r));
	pthread_mutex_init(&r.lock, NULL);
	pthread_mutex_init(&r.gate, NULL);
	run_sampler(&r);
	assert_int_equal(tracker_new(r.sampler, &all, SHARDS, on_say, &r, &r.tracker), 0);
	do {
		assert_true(++tries < 100);
		read_all(r.tracker);
	} while (!once(&r));
	run_end(&r);
}

static bool exec_again(struct running *r)
{
	struct child c = child_start(BY_EXEC, "t-again", 0);
	struct tracker *t = r->tracker;
	struct tracker_proc p;
	struct area text;
	uint64_t image;
	bool all = read_all(t);

	assert_true(!all || is_called(r, c.pid, "exe"));
	image = stat_image(c.pid);
	assert_true(area_find(c.pid, "/test_tracker_steps", true, &text));
	child_order(&c, ORDER_EXEC, NULL);
	WAIT(has_become(c.pid, "sleep", image));
	process_refresh(t);
	all &= read_all(t);
	process_refresh(t);
	if (all) {
		assert_true(tracker_proc(
			t, &(struct tracker_exec){.pid = c.pid, .start_stack = image}, &p));
		assert_true(p.exited);
		assert_string_equal(p.comm, "exe");
		assert_int_equal(place_at(r, c.pid, image, text.start).kind, PLACE_FILE);
		assert_true(tracker_proc(
			t, &(struct tracker_exec){.pid = c.pid, .start_stack = stat_image(c.pid)},
			&p));
		assert_false(p.exited);
		assert_string_equal(p.comm, "sleep");
	}
	child_end(&c);
	return all;
}

/*
 * What was read of an exec is completed from /proc when there is another program by then: samples
 * of the first keep its name and its mappings.
 */
static void test_exec_again(void **state)
{
	(void)state;
	step_by_step(exec_again);
}

/* Whether the tracker has the process's executable areas, each with its ends. */
static bool has_areas(struct tracker *t, pid_t pid)
{
	const struct process *p = proctable_live(&t->procs, pid);
	FILE *f = maps_open(pid);
	struct area a;
	size_t i = 0;

	while (p && area_read(f, &a)) {
		if (!a.exec || !strcmp(a.name, "[vsyscall]"))
			continue;
		if (i == p->nmappings || p->mappings[i].start != a.start ||
		    p->mappings[i].end != a.end)
			break;
		i++;
	}
	fclose(f);
	return p && i == p->nmappings;
}

/* Maps the program's text, and one page of it over that, where it cuts it in two. */
static bool cut(struct running *r)
{
	struct request request = {.order = ORDER_MAP};
	struct child c = child_start(BY_EXEC, "t-cut", 0);
	struct tracker *t = r->tracker;
	struct area text;
	bool all;

	assert_true(area_find(c.pid, "/test_tracker_steps", true, &text));
	strncpy(request.arg, text.name, sizeof(request.arg) - 1);
	request.offset = text.offset;
	request.size = text.end - text.start;
	assert_true(request.size >= 3 * 4096);
	child_send(&c, &request);
	request.at = child_answer(&c);
	assert_int_not_equal(request.at, 0);
	request.at += 4096;
	request.size = 4096;
	child_send(&c, &request);
	assert_true(child_answer(&c) == request.at);
	all = read_all(t);
	if (all)
		assert_true(has_areas(t, c.pid));
	child_end(&c);
	return all;
}

/* By records alone: what is read anew from /proc would hide what they were made of. */
static void test_cut(void **state)
{
	(void)state;
	step_by_step(cut);
}

static void read_everything(struct tracker *t)
{
	t->rescan.rest_until = 0;
	rescan_begin(t);
	while (rescan_turn(t))
		continue;
}

static bool bury(struct running *r)
{
	struct child c[2] = {child_start(BY_EXEC, "t-ends", 0), child_start(BY_EXEC, "t-lives", 0)};
	struct tracker *t = r->tracker;

	read_everything(t);
	assert_non_null(proctable_live(&t->procs, c[0].pid));
	child_end(&c[0]);
	read_everything(t);
	assert_null(proctable_live(&t->procs, c[0].pid));
	assert_non_null(proctable_live(&t->procs, c[1].pid));
	child_end(&c[1]);
	return true;
}

/* A process that has ended is found out by its absence: the record of it is not read here. */
static void test_absent(void **state)
{
	(void)state;
	step_by_step(bury);
}

static void *ask(void *t)
{
	struct tracker_state ts;

	tracker_state(t, &ts);
	return NULL;
}

/*
 * All processes are read for the first time while another thread wants the lock. So a turn ends
 * before it comes to any process: /proc has more names than a portion before them. One that was
 * sampled is read nevertheless.
 */
static bool sampled_first(struct running *r)
{
	struct child c[2] = {child_start(BY_EXEC, "t-asked", 0), child_start(BY_EXEC, "t-late", 0)};
	struct tracker *t = r->tracker;
	struct tracker_proc proc;
	pthread_t thread;

	rescan_begin(t);
	assert_false(tracker_proc(t, &(struct tracker_exec){.pid = c[0].pid}, &proc));
	turnlock_take(&t->lock);
	assert_int_equal(pthread_create(&thread, NULL, ask, t), 0);
	while (!turnlock_is_wanted(&t->lock))
		sched_yield();
	assert_true(rescan_turn(t));
	assert_non_null(proctable_live(&t->procs, c[0].pid));
	assert_null(proctable_live(&t->procs, c[1].pid));
	turnlock_give(&t->lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	while (rescan_turn(t))
		continue;
	assert_non_null(proctable_live(&t->procs, c[1].pid));
	child_end(&c[0]);
	child_end(&c[1]);
	return true;
}

static void test_sampled_first(void **state)
{
	(void)state;
	step_by_step(sampled_first);
}

/*
 * Records that are lost while all processes are read, or right after that, have them read anew, but
 * not before a rest, as long as the CPU time of the round tells. One that was sampled is read.
 */
static bool rests(struct running *r)
{
	struct tracker *t = r->tracker;
	struct child c[2] = {{0}, {0}};
	uint64_t began, cpu;
	struct tracker_proc proc;

	t->rescan.rest_until = 0;
	began = clock_now();
	cpu = clock_cpu_time();
	rescan_begin(t);
	rescan_begin(t);
	while (rescan_turn(t))
		continue;
	cpu = clock_cpu_time() - cpu;
	assert_true(t->rescan.again);
	assert_in_range(t->rescan.rest_until, began + 1, clock_now() + 7 * cpu);
	t->rescan.rest_until = UINT64_MAX; /* whatever else the machine does, it is not over */
	c[0] = child_start(BY_EXEC, "t-asked", 0);
	c[1] = child_start(BY_EXEC, "t-late", 0);
	rescan_begin(t);
	assert_false(tracker_proc(t, &(struct tracker_exec){.pid = c[0].pid}, &proc));
	assert_false(rescan_turn(t));
	assert_non_null(proctable_live(&t->procs, c[0].pid));
	assert_null(proctable_live(&t->procs, c[1].pid));
	t->rescan.rest_until = 0;
	while (rescan_turn(t))
		continue;
	assert_non_null(proctable_live(&t->procs, c[1].pid));
	assert_false(t->rescan.again);
	child_end(&c[0]);
	child_end(&c[1]);
	return true;
}

static void test_rests(void **state)
{
	(void)state;
	step_by_step(rests);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec_again), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_absent),	   cmocka_unit_test(test_sampled_first),
		cmocka_unit_test(test_rests),
	};

	if (argc > 1 && !strcmp(argv[1], "--serve"))
		return serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
