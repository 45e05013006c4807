// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Questions about files and the processes that answer them, which are stopped and killed here. Time
 * passes as the tests say.
 * Covers: bpf/tracker/opener.c bpf/tracker/openhelper.c bpf/tracker/openfile.c
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/sampler/clock.h"
#include "bpf/tracker/openhelper.h"
#include "bpf/tracker/opener.h"
#include "symbols/files/procstat.h"
#include "tests/support/fds.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tests/support/serve.h"
#include "tests/support/shell.h"

#define SECOND 1000000000ull

static char folder[SCRATCH];

struct world {
	struct opener *opener;
	uint64_t start, passed;
	unsigned int answers;
	uint64_t id; /* of the last answer */
	struct open_answer last;
};

static int make_files(void **state)
{
	(void)state;
	scratch_folder(folder, "opener");
	must("cd %s && echo 'int f(void) { return 1; }' >f.c && "
	     "gcc -shared -fPIC -Wl,--build-id=0x0123456789abcdef -o elf f.c && "
	     "for n in 0 1 2 3; do echo $n >text$n; done && mkfifo fifo",
	     folder);
	return 0;
}

static void on_answer(void *arg, const struct opening *o, const struct open_answer *a, int fd)
{
	struct world *w = arg;
	struct stat st;

	w->answers++;
	w->id = o->id;
	w->last = *a;
	assert_true(a->err ? fd < 0 : fd >= 0 && !fstat(fd, &st) && st.st_ino == a->file.inode);
	if (fd >= 0)
		close(fd);
}

static struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->start = clock_now();
	assert_int_equal(opener_new(on_answer, w, &w->opener), 0);
	return w;
}

static void world_free(struct world *w)
{
	opener_free(w->opener);
	free(w);
}

static void turn(struct world *w)
{
	opener_turn(w->opener, w->start + w->passed);
}

static uint64_t ask(struct world *w, const char *name, uid_t uid, bool alone)
{
	static struct open_request r;
	struct stat st;

	memset(&r, 0, sizeof(r));
	snprintf(r.name, sizeof(r.name), "%s/%s", folder, name);
	assert_int_equal(stat(r.name, &st), 0);
	r.dev = st.st_dev;
	r.inode = st.st_ino;
	r.copy_max = 1 << 20;
	r.pid = getpid();
	return opener_ask(w->opener, &r, getpid(), uid, alone);
}

static void wait_for(struct world *w, unsigned int answers)
{
	WAIT((turn(w), w->answers == answers));
}

static int parent_of(int pid)
{
	struct procstat s;

	return procstat_read(pid, &s) || s.zombie ? 0 : s.ppid;
}

static bool is_in_state(int pid, char state)
{
	struct procstat s;

	return !procstat_read(pid, &s) && s.state == state;
}

/* For processes whose parent's parent this one is. Returns how many. */
static unsigned int each_helper(bool (*does)(int pid, int arg), int arg, unsigned int most)
{
	struct dirent *e;
	DIR *dir = opendir("/proc");
	unsigned int n = 0;

	assert_non_null(dir);
	while (n < most && (e = readdir(dir))) {
		int pid = atoi(e->d_name), parent = pid ? parent_of(pid) : 0;

		if (parent > 1 && parent_of(parent) == getpid() && does(pid, arg))
			n++;
	}
	closedir(dir);
	return n;
}

/* Those that are to stop have stopped then. */
static bool signal_one(int pid, int number)
{
	if (kill(pid, number))
		return false;
	if (number == SIGSTOP)
		WAIT(is_in_state(pid, 'T'));
	return true;
}

static unsigned int signal_some(int number, unsigned int most)
{
	return each_helper(signal_one, number, most);
}

static unsigned int signal_helpers(int number)
{
	return signal_some(number, UINT_MAX);
}

static void test_answers(void **state)
{
	struct world *w = world_new();
	uint64_t id = ask(w, "elf", 0, false);
	struct stat st;
	char path[SCRATCH + 8];

	(void)state;
	assert_int_not_equal(id, 0);
	assert_true(opener_is_busy(w->opener, clock_now()));
	wait_for(w, 1);
	assert_false(opener_is_busy(w->opener, clock_now()));
	assert_true(w->id == id && !w->last.err && !w->last.elf_err);
	snprintf(path, sizeof(path), "%s/elf", folder);
	assert_int_equal(stat(path, &st), 0);
	assert_true(w->last.file.dev == st.st_dev && w->last.file.size == (uint64_t)st.st_size);
	assert_int_equal(w->last.build_id_size, 8);
	assert_memory_equal(w->last.build_id, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
	must("test $(readelf -lW %s | grep -c '^  LOAD') = %u", path, w->last.nloads);
	ask(w, "text0", 0, false);
	wait_for(w, 2);
	assert_true(!w->last.err && w->last.elf_err == -EINVAL);
	ask(w, "fifo", 0, false);
	wait_for(w, 3);
	assert_true(w->last.err < 0);
	world_free(w);
}

static void test_joins(void **state)
{
	struct world *w = world_new();
	uint64_t id = ask(w, "text0", 0, false);

	(void)state;
	assert_true(ask(w, "text0", 1, false) == id);
	assert_true(ask(w, "text1", 0, false) != id);
	assert_true(ask(w, "text0", 0, true) != id);
	wait_for(w, 3);
	assert_true(ask(w, "text0", 0, false) != id);
	wait_for(w, 4);
	world_free(w);
}

/* One that does not answer is given up, with what reads it; it is not asked for again so soon. */
static void test_silent(void **state)
{
	struct world *w = world_new();

	(void)state;
	ask(w, "text0", 0, false);
	wait_for(w, 1);
	assert_int_equal(signal_helpers(SIGSTOP), 1);
	assert_int_not_equal(ask(w, "text1", 0, false), 0);
	turn(w);
	w->passed = 4 * SECOND; /* no other request waits */
	turn(w);
	assert_int_equal(w->answers, 1);
	w->passed = 6 * SECOND;
	turn(w);
	assert_int_equal(w->answers, 2);
	assert_int_equal(w->last.err, -ETIMEDOUT);
	assert_int_equal(ask(w, "text1", 0, false), 0);
	assert_int_not_equal(ask(w, "text2", 0, false), 0);
	wait_for(w, 3);
	assert_int_equal(w->last.err, 0);
	world_free(w);
}

static bool use_cpu(int pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(pid, sizeof(set), &set);
}

/* The first and the last CPU that this process may use. */
static void two_cpus(int cpus[2])
{
	cpu_set_t set;

	cpus[0] = cpus[1] = -1;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		cpus[0] = cpus[0] < 0 ? i : cpus[0];
		cpus[1] = i;
	}
}

/* A process that leaves nothing of that CPU to others, for half a second at most. */
static pid_t take_cpu(int cpu)
{
	const struct sched_param first = {.sched_priority = 1};
	uint64_t until;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (!use_cpu(0, cpu) || sched_setscheduler(0, SCHED_FIFO, &first))
		_exit(1);
	for (until = clock_now() + SECOND / 2; clock_now() < until;)
		;
	_exit(0);
}

/* A helper that wants to run, but may not, is not given up: its file may well answer. */
static void test_starved(void **state)
{
	int cpus[2], status;
	struct world *w;
	pid_t busy;

	(void)state;
	need_sys_nice();
	two_cpus(cpus);
	if (cpus[0] == cpus[1])
		skip_since("one CPU");
	w = world_new();
	ask(w, "text0", 0, false);
	wait_for(w, 1);
	assert_true(use_cpu(0, cpus[0]));
	assert_int_equal(each_helper(use_cpu, cpus[1], 1), 1);
	busy = take_cpu(cpus[1]);
	WAIT(sched_getscheduler(busy) == SCHED_FIFO && is_in_state(busy, 'R'));
	ask(w, "text1", 0, false);
	for (w->passed = 0; w->passed < 20 * SECOND; w->passed += SECOND)
		turn(w);
	assert_int_equal(w->answers, 1); /* it has not run */
	wait_for(w, 2);
	assert_int_equal(w->last.err, 0);
	assert_int_equal(waitpid(busy, &status, 0), busy);
	assert_int_equal(status, 0);
	world_free(w);
}

/* All helpers run, none has a question, and none answers the next one. */
static void stop_all(struct world *w)
{
	char name[] = "text0";

	for (unsigned int i = 0; i < OPENHELPERS; i++, name[4]++)
		ask(w, name, 0, true);
	wait_for(w, OPENHELPERS);
	assert_int_equal(signal_helpers(SIGSTOP), OPENHELPERS);
}

/* What waits behind a file that does not answer is opened by another helper soon. */
static void test_behind(void **state)
{
	struct world *w = world_new();
	size_t fds = count_fds(); /* each helper that runs has two */

	(void)state;
	stop_all(w);
	for (unsigned int i = 0; i < 2 * OPENHELPERS; i++)
		ask(w, "text0", 0, true);
	turn(w);
	assert_true(signal_some(SIGCONT, 1) == 1);
	/* The helper that goes on answers its own two, and after a while the second questions of
	 * the others. */
	wait_for(w, OPENHELPERS + 2);
	w->passed = SECOND / 2;
	wait_for(w, OPENHELPERS + 2 + OPENHELPERS - 1);
	assert_int_equal(w->last.err, 0);
	/* A file that was only slow is answered, and its helper has no old questions. */
	assert_int_equal(signal_helpers(SIGCONT), OPENHELPERS);
	wait_for(w, 3 * OPENHELPERS);
	assert_int_equal(w->last.err, 0);
	assert_int_equal(count_fds(), fds + 2);
	for (unsigned int i = 0; i < OPENHELPERS; i++)
		ask(w, "text1", 0, true);
	turn(w);
	assert_int_equal(count_fds(), fds + OPENHELPERS + 1);
	wait_for(w, 4 * OPENHELPERS);
	assert_int_equal(w->last.err, 0);
	world_free(w);
}

/* Files that do not answer have all helpers: one is given up sooner if another file waits. */
static void test_crowded(void **state)
{
	struct world *w = world_new();
	char name[] = "text0";
	uint64_t id;

	(void)state;
	stop_all(w);
	for (unsigned int i = 0; i < OPENHELPERS; i++, name[4]++)
		ask(w, name, 0, false);
	turn(w);
	id = ask(w, "elf", 0, false);
	for (unsigned int tenths = 0; tenths < 10; tenths++) {
		w->passed = tenths * SECOND / 10;
		turn(w);
		assert_int_equal(w->answers, OPENHELPERS);
	}
	w->passed = SECOND;
	turn(w);
	assert_int_equal(w->answers, OPENHELPERS + 1);
	assert_int_equal(w->last.err, -ETIMEDOUT);
	w->passed = 2 * SECOND;
	wait_for(w, OPENHELPERS + 2);
	assert_true(w->id == id && !w->last.err);
	world_free(w);
}

/* Who waits behind another user's file that does not answer has another helper. */
static void test_users(void **state)
{
	struct world *w = world_new();

	(void)state;
	ask(w, "text0", 1000, false);
	wait_for(w, 1);
	assert_int_equal(signal_helpers(SIGSTOP), 1);
	ask(w, "text1", 1000, false);
	turn(w);
	ask(w, "text2", 1001, false);
	wait_for(w, 2);
	assert_int_equal(w->last.err, 0);
	world_free(w);
}

static void test_crash(void **state)
{
	struct world *w = world_new();

	(void)state;
	ask(w, "text0", 0, false);
	wait_for(w, 1);
	assert_int_equal(signal_helpers(SIGSTOP), 1);
	ask(w, "text1", 0, false);
	turn(w);
	assert_int_equal(signal_helpers(SIGKILL), 1);
	wait_for(w, 2);
	assert_int_equal(w->last.err, 0);
	world_free(w);
}

/* Nothing stays open, and no process is left, also with questions that were not answered. */
static void test_end(void **state)
{
	struct world *w;
	size_t fds = count_fds();

	(void)state;
	for (int i = 0; i < 3; i++) {
		w = world_new();
		ask(w, "text0", 0, false);
		if (i)
			turn(w);
		if (i > 1)
			wait_for(w, 1);
		ask(w, "text1", 0, false);
		world_free(w);
		assert_int_equal(count_fds(), fds);
	}
	WAIT(!signal_helpers(0));
}

/* Who takes over what a process leaves behind may never ask for it, as PID 1 of a container. */
static void test_reaped(void **state)
{
	struct openhelpers helpers;
	int sockets[OPENHELPERS];

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(openhelpers_new(&helpers), 0);
	for (unsigned int i = 0; i < OPENHELPERS; i++) {
		sockets[i] = openhelpers_start(&helpers, i);
		assert_true(sockets[i] >= 0);
	}
	openhelpers_free(&helpers);
	assert_int_equal(waitpid(-1, NULL, 0), -1); /* else it was left to us */
	assert_int_equal(errno, ECHILD);
	for (unsigned int i = 0; i < OPENHELPERS; i++)
		close(sockets[i]);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers), cmocka_unit_test(test_joins),
		cmocka_unit_test(test_silent),	cmocka_unit_test(test_behind),
		cmocka_unit_test(test_crowded), cmocka_unit_test(test_users),
		cmocka_unit_test(test_crash),	cmocka_unit_test(test_end),
		cmocka_unit_test(test_reaped),	cmocka_unit_test(test_starved),
	};

	return cmocka_run_group_tests(tests, make_files, scratch_remove);
}
