// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the tracker knows of the machine's processes and of children that the test starts, compared
 * with /proc and with the program headers of the files that they map.
 * Covers: bpf/tracker/tracker.c bpf/tracker/answers.c bpf/tracker/process.c
 * Covers: bpf/tracker/maplist.c bpf/tracker/mapsreader.c bpf/sampler/clock.h
 * Covers: bpf/tracker/procstat.c bpf/tracker/mapping.c bpf/tracker/publish.c bpf/tracker/rescan.c
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/tracker/procstat.h"
#include "bpf/tracker/sideband.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker_priv.h"
#include "tests/support/fds.h"
#include "tests/support/places.h"

/* --- processes ------------------------------------------------------------------------------- */

struct existing {
	pid_t pid;
	struct stat_line stat; /* before there was a tracker */
};

static size_t list_existing(struct existing **out)
{
	DIR *dir = opendir("/proc");
	struct existing *list = NULL;
	size_t n = 0, room = 0;
	struct dirent *e;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		struct existing one = {.pid = atoi(e->d_name)};

		if (one.pid <= 0 || !stat_read(one.pid, &one.stat))
			continue;
		if (n == room) {
			room = room ? 2 * room : 1024;
			list = realloc(list, room * sizeof(*list));
			assert_non_null(list);
		}
		list[n++] = one;
	}
	closedir(dir);
	*out = list;
	return n;
}

/* True as well when the process is gone, although others may leave it a zombie for long. */
static bool as_in_proc(struct running *r, const struct existing *e)
{
	struct stat_line s;
	struct tracker_proc p;

	if (!stat_read(e->pid, &s) || s.start != e->stat.start || s.state == 'Z' || s.state == 'X')
		return true;
	if (!tracker_proc(r->tracker, &(struct tracker_exec){.pid = e->pid, .start_stack = s.image},
			  &p))
		return false;
	return p.kthread == s.kthread && !p.exited &&
	       /* the parent may have died since, and another have taken its place */
	       (p.ppid == s.ppid || p.ppid == e->stat.ppid) &&
	       /* those of workers change with what they do, which no record tells */
	       (!strncmp(p.comm, "kworker/", 8) || !strncmp(p.comm, s.comm, sizeof(p.comm) - 1));
}

static void test_existing(void **state)
{
	struct existing *list;
	size_t n = list_existing(&list), kthreads = 0;
	struct tracker_state ts;
	static struct running r;

	(void)state;
	run(&r, NULL);
	for (size_t i = 0; i < n; i++) {
		WAIT(as_in_proc(&r, &list[i]));
		kthreads += list[i].stat.kthread;
	}
	free(list);
	assert_true(n > 1 && kthreads > 1);
	assert_false(is_known(&r, 0x3fffffff));
	tracker_state(r.tracker, &ts);
	assert_true(ts.nprocs > kthreads);
	WAIT((tracker_state(r.tracker, &ts), ts.nobjects > 1)); /* files are opened elsewhere */
	assert_int_equal(ts.shards_max, SHARDS);
	assert_int_equal(ts.words_max, (uint64_t)SHARDS << 20);
	assert_false(ts.filtering);
	assert_int_equal(ts.nattached, 0);
	WAIT((tracker_state(r.tracker, &ts), ts.idle));
	assert_true(ts.words_used > 0 && ts.words_used <= ts.words_max);
	assert_in_range(ts.shards_used, 1, ts.shards_created);
	assert_in_range(ts.shards_created, 1, SHARDS);
	run_end(&r);
}

/* --- places ---------------------------------------------------------------------------------- */

static void check_file(struct running *r, pid_t pid, uint64_t image, const struct area *a,
		       uint64_t addr)
{
	struct code_place p;
	struct stat st;
	uint64_t vaddr;

	tracker_place(r->tracker, &(struct tracker_exec){.pid = pid, .start_stack = image}, addr,
		      &p);
	if (p.kind != PLACE_FILE)
		fail_msg("%" PRIx64 " of %s is of kind %d", addr, a->name, p.kind);
	assert_non_null(p.object);
	assert_int_equal(fstat(object_fd(p.object), &st), 0);
	assert_int_equal(st.st_ino, a->inode);
	assert_true(vaddr_of(object_fd(p.object), addr - a->start + a->offset, &vaddr));
	if (p.vaddr != vaddr)
		fail_msg("%" PRIx64 " of %s: %" PRIx64 " instead of %" PRIx64, addr, a->name,
			 p.vaddr, vaddr);
	assert_string_equal(object_name(p.object), base_name(a->name));
	object_put(r->tracker, p.object);
}

static void check_vdso(struct running *r, pid_t pid, uint64_t image, const struct area *a,
		       uint64_t addr)
{
	const void *mine = (const void *)getauxval(AT_SYSINFO_EHDR), *bytes;
	struct code_place p;
	size_t size;

	tracker_place(r->tracker, &(struct tracker_exec){.pid = pid, .start_stack = image}, addr,
		      &p);
	assert_int_equal(p.kind, PLACE_VDSO);
	assert_string_equal(object_name(p.object), "[vdso]");
	assert_int_equal(object_fd(p.object), -1);
	bytes = object_image(p.object, &size);
	assert_in_range(size, 64, a->end - a->start);
	assert_memory_equal(bytes, mine, size);
	/* the kernel's is linked at 0 */
	assert_true(p.vaddr == addr - a->start);
	object_put(r->tracker, p.object);
}

static void check_area(struct running *r, pid_t pid, uint64_t image, const struct area *a,
		       uint64_t addr)
{
	if (!a->exec)
		assert_int_equal(place_at(r, pid, image, addr).kind, PLACE_UNKNOWN);
	else if (!strcmp(a->name, "[vdso]"))
		check_vdso(r, pid, image, a, addr);
	else if (a->inode)
		check_file(r, pid, image, a, addr);
	else
		assert_int_equal(place_at(r, pid, image, addr).kind, PLACE_JIT);
}

/* Every area at its first, middle and last byte; how many of them can be executed. */
static size_t check_places(struct running *r, pid_t pid)
{
	uint64_t image = stat_image(pid);
	FILE *f = maps_open(pid);
	struct area a;
	size_t n = 0;

	while (area_read(f, &a)) {
		if (!strcmp(a.name, "[vsyscall]"))
			continue;
		check_area(r, pid, image, &a, a.start);
		check_area(r, pid, image, &a, a.start + (a.end - a.start) / 2);
		check_area(r, pid, 0, &a, a.end - 1);
		n += a.exec;
	}
	fclose(f);
	return n;
}

static void change_places(struct running *r, struct child *c)
{
	struct area a;
	uint64_t at;

	at = child_ask(c, ORDER_STACK, NULL);
	assert_int_equal(place_at(r, c->pid, 0, at).kind, PLACE_UNKNOWN);

	assert_int_equal(child_ask(c, ORDER_PLUGIN, PLUGIN), 0);
	assert_true(area_find(c->pid, PLUGIN, true, &a));
	WAIT(place_at(r, c->pid, 0, a.start).kind == PLACE_FILE);

	at = child_ask(c, ORDER_JIT, NULL);
	assert_int_not_equal(at, 0);
	WAIT(place_at(r, c->pid, 0, at).kind == PLACE_JIT);
	check_places(r, c->pid);
}

static void test_places(void **state)
{
	struct child c[3];
	static struct running r;

	(void)state;
	c[0] = child_start(BY_EXEC, "t-before", 0);
	run(&r, NULL);
	c[1] = child_start(BY_EXEC, "t-after", 0);
	c[2] = child_start(BY_FORK, "t-fork", 0);
	for (int i = 0; i < 3; i++) {
		wait_for_image(&r, c[i].pid, "/test_tracker");
		/* the program, libc, the loader, the vDSO */
		assert_true(check_places(&r, c[i].pid) >= 4);
		change_places(&r, &c[i]);
	}
	assert_int_equal(place_at(&r, c[0].pid, 0, 0).kind, PLACE_UNKNOWN);
	assert_int_equal(place_at(&r, c[0].pid, 0, UINT64_MAX).kind, PLACE_UNKNOWN);
	assert_int_equal(place_at(&r, c[0].pid, 1, 0x400000).kind, PLACE_UNKNOWN);
	assert_int_equal(place_at(&r, 0x3fffffff, 0, 0x400000).kind, PLACE_UNKNOWN);
	for (int i = 0; i < 3; i++)
		child_end(&c[i]);
	run_end(&r);
}

static void test_life(void **state)
{
	struct tracker_proc p;
	static struct running r;
	uint64_t before[2], image, old_image;
	struct child c;

	(void)state;
	run(&r, NULL);
	c = child_start(BY_FORK, "t-life", 0);
	WAIT(is_called(&r, c.pid, "t-life"));
	old_image = stat_image(c.pid);
	assert_true(tracker_proc(
		r.tracker, &(struct tracker_exec){.pid = c.pid, .start_stack = old_image}, &p));
	assert_int_equal(p.ppid, getpid());
	assert_false(p.exited);
	assert_false(p.kthread);

	before[0] = clock_now();
	child_order(&c, ORDER_EXEC, NULL);
	WAIT(is_called(&r, c.pid, "sleep"));
	wait_for_image(&r, c.pid, "/sleep");
	image = stat_image(c.pid);
	assert_true(tracker_proc(r.tracker,
				 &(struct tracker_exec){.pid = c.pid, .start_stack = image}, &p));
	assert_false(p.exited);
	assert_string_equal(p.comm, "sleep");
	assert_int_equal(p.ppid, getpid());
	/* samples of the image before may still be on their way */
	if (tracker_proc(r.tracker, &(struct tracker_exec){.pid = c.pid, .start_stack = old_image},
			 &p)) {
		assert_true(p.exited);
		assert_string_equal(p.comm, "t-life");
		assert_in_range(p.exit_time, before[0], clock_now());
	}

	before[1] = clock_now();
	child_end(&c);
	WAIT(!is_known(&r, c.pid));
	assert_true(tracker_proc(r.tracker,
				 &(struct tracker_exec){.pid = c.pid, .start_stack = image}, &p));
	assert_true(p.exited);
	assert_string_equal(p.comm, "sleep");
	assert_in_range(p.exit_time, before[1], clock_now());
	WAIT(!tracker_proc(r.tracker, &(struct tracker_exec){.pid = c.pid, .start_stack = image},
			   &p));
	/* not before the last slice could be named */
	assert_true(clock_now() - before[1] > 3000000000ull);
	run_end(&r);
}

/* For longer than the machine has been up, as a slice of hours asks for soon after boot. */
static void test_kept(void **state)
{
	struct tracker_proc p;
	static struct running r;
	struct area text;
	uint64_t image;
	struct child c;

	(void)state;
	run(&r, NULL);
	tracker_keep_dead(r.tracker, UINT64_MAX / 2);
	c = child_start(BY_EXEC, "t-kept", 0);
	wait_for_image(&r, c.pid, "/test_tracker");
	image = stat_image(c.pid);
	assert_true(area_find(c.pid, "/test_tracker", true, &text));
	child_end(&c);
	WAIT(!tracker_proc(r.tracker, &(struct tracker_exec){.pid = c.pid, .start_stack = image},
			   &p) ||
	     p.exited);
	assert_true(tracker_proc(r.tracker,
				 &(struct tracker_exec){.pid = c.pid, .start_stack = image}, &p));
	assert_int_equal(place_at(&r, c.pid, image, text.start).kind, PLACE_FILE);
	run_end(&r);
}

/* A fork has what its parent has; an exec leaves nothing of it, but for what was sampled before. */
static void test_exec(void **state)
{
	static struct running r;
	struct child c;
	struct area libc;
	uint64_t old_image, at;
	struct code_place mine, its;
	pid_t fork_;

	(void)state;
	run(&r, NULL);
	c = child_start(BY_EXEC, "t-exec", 0);
	wait_for_image(&r, c.pid, "/test_tracker");
	fork_ = (pid_t)child_ask(&c, ORDER_FORK, NULL);
	assert_true(fork_ > 0);
	assert_true(area_find(c.pid, "/libc.so", true, &libc));
	WAIT(is_known(&r, fork_));
	mine = place_at(&r, c.pid, 0, libc.start);
	its = place_at(&r, fork_, 0, libc.start);
	assert_int_equal(its.kind, PLACE_FILE);
	assert_ptr_equal(its.object, mine.object);
	assert_true(its.vaddr == mine.vaddr);
	check_places(&r, fork_);

	old_image = stat_image(c.pid);
	child_order(&c, ORDER_EXEC, NULL);
	WAIT(is_called(&r, c.pid, "sleep"));
	at = wait_for_image(&r, c.pid, "/sleep");
	assert_true(check_places(&r, c.pid) >= 4);
	if (stat_image(c.pid) != old_image) {
		/* either is found by its image for some seconds; then only the new one */
		its = place_at(&r, c.pid, old_image, libc.start);
		assert_true(its.kind == PLACE_UNKNOWN || its.object == mine.object);
		assert_int_equal(place_at(&r, c.pid, old_image, at).kind, PLACE_UNKNOWN);
	}
	/* the fork is as it was */
	check_places(&r, fork_);
	child_end(&c);
	run_end(&r);
}

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
	assert_true(area_find(c.pid, "/test_tracker", true, &text));
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

	assert_true(area_find(c.pid, "/test_tracker", true, &text));
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

/* --- names ----------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	static const char *const names[] = {
		"\033[2J\033]0;x\007",
		"\n\r\t\b",
		"\xff\xfe\xfd\xfc\xfb\xfa\xf9",
		"a) R 1 2 (",
		") 0 0",
		"%s%n%x",
		"",
		"fifteen-letters",
		"((((((((((((((",
	};
	const size_t n = sizeof(names) / sizeof(names[0]);
	struct child before[sizeof(names) / sizeof(names[0])], after;
	struct tracker_proc p;
	static struct running r;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		before[i] = child_start(BY_FORK, names[i], 0);
		assert_int_equal(child_ask(&before[i], ORDER_THREAD, names[n - 1 - i]), 0);
	}
	run(&r, NULL);
	after = child_start(BY_FORK, "t-names", 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(
			tracker_proc(r.tracker, &(struct tracker_exec){.pid = before[i].pid}, &p));
		assert_int_equal(p.ppid, getpid());
		assert_true(p.comm[15] == '\0');
		assert_string_equal(p.comm, names[i]);
		/* a thread's name is not its process's */
		assert_int_equal(child_ask(&after, ORDER_THREAD, names[n - 1 - i]), 0);
		assert_int_equal(child_ask(&after, ORDER_COMM, names[i]), 0);
		WAIT(is_called(&r, after.pid, names[i]));
	}
	for (size_t i = 0; i < n; i++) {
		assert_true(is_called(&r, before[i].pid, names[i]));
		child_end(&before[i]);
	}
	child_end(&after);
	run_end(&r);
}

static void test_descriptors(void **state)
{
	size_t fds = count_fds();
	static struct running r;
	struct child c;

	(void)state;
	for (int i = 0; i < 2; i++) {
		run(&r, NULL);
		c = child_start(BY_EXEC, "t-fds", 0);
		wait_for_image(&r, c.pid, "/test_tracker");
		run_end(&r); /* at once, while tables are built */
		child_end(&c);
		assert_int_equal(count_fds(), fds);
	}
	tracker_free(NULL);
}

/* More processes than the map of them holds: all are known, and that some are not walked is told.
 */
static void test_too_many(void **state)
{
	static const struct tracker_filter all;
	struct tracker_state ts;
	static struct running r;
	struct child c;

	(void)state;
	memset(&r, 0, sizeof(r));
	pthread_mutex_init(&r.lock, NULL);
	pthread_mutex_init(&r.gate, NULL);
	c = child_start(BY_FORK, "t-many", 0);
	run_sampler_of(&r, 2);
	assert_int_equal(sampler_procs_max(r.sampler), 2);
	assert_int_equal(tracker_new(r.sampler, &all, SHARDS, on_say, &r, &r.tracker), 0);
	run_tracker(&r);
	assert_string_equal(strtok(last_message(&r).text, ":"), "more than 2 processes");
	assert_int_equal(last_message(&r).number, 1);
	tracker_state(r.tracker, &ts);
	assert_true(ts.nprocs > 2 && is_known(&r, c.pid));
	child_end(&c);
	run_end(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_existing),   cmocka_unit_test(test_life),
		cmocka_unit_test(test_places),	   cmocka_unit_test(test_exec),
		cmocka_unit_test(test_names),	   cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_too_many),   cmocka_unit_test(test_kept),
		cmocka_unit_test(test_exec_again), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_absent),	   cmocka_unit_test(test_sampled_first),
		cmocka_unit_test(test_rests),
	};

	if (argc > 1 && !strcmp(argv[1], "--serve"))
		return serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
