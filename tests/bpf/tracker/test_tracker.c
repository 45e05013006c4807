// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the tracker knows of the machine's processes and of children that the test starts, compared
 * with /proc and with the program headers of the files that they map. time limit: 600 s
 * Covers: bpf/tracker/tracker.c bpf/tracker/answers.c bpf/tracker/process.c
 * Covers: bpf/tracker/maplist.c bpf/tracker/mapsreader.c bpf/sampler/clock.h
 * Covers: symbols/files/procstat.c bpf/tracker/mapping.c bpf/tracker/publish.c bpf/tracker/rescan.c
 */
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/sampler/sampler.h"
#include "tests/support/fds.h"
#include "tests/support/places.h"
#include "tests/support/rights.h"

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
	size_t n, kthreads = 0;
	struct tracker_state ts;
	static struct running r;

	(void)state;
	need_sampling();
	n = list_existing(&list);
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
	/* not until it is idle: processes come and go on a busy machine */
	WAIT((tracker_state(r.tracker, &ts), ts.words_used));
	assert_in_range(ts.words_used, 1, ts.words_max);
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

	/* Code in a file that no compiler made is the process's own. */
	at = child_ask(c, ORDER_JIT, "no code");
	assert_int_not_equal(at, 0);
	WAIT(place_at(r, c->pid, 0, at + 5).kind == PLACE_JIT);
	assert_int_equal(place_at(r, c->pid, 0, at + 5).vaddr, at + 5);
	at = child_ask(c, ORDER_JIT, "MZ");
	WAIT(place_at(r, c->pid, 0, at).kind == PLACE_FILE);
	at = child_ask(c, ORDER_JIT, "\177ELF");
	WAIT(place_at(r, c->pid, 0, at).kind == PLACE_FILE);
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
	run_own(&r);
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
	run_own(&r);
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
	run_own(&r);
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
	run_own(&r);
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
		run_own(&r);
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
	WAIT(last_message(&r).number);
	assert_non_null(strstr(last_message(&r).text, "more than 2 processes:"));
	assert_int_equal(last_message(&r).number, 1);
	tracker_state(r.tracker, &ts);
	assert_true(ts.nprocs > 2 && is_known(&r, c.pid));
	child_end(&c);
	run_end(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_existing), cmocka_unit_test(test_life),
		cmocka_unit_test(test_places),	 cmocka_unit_test(test_exec),
		cmocka_unit_test(test_names),	 cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_too_many), cmocka_unit_test(test_kept),
	};

	if (argc > 1 && !strcmp(argv[1], "--serve"))
		return serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
