// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Side-band records of processes and threads that the test starts itself. What they should say is
 * taken from the calls that caused them and from /proc/PID/maps.
 * Covers: bpf/tracker/sideband.c
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/sideband.h"
#include "symbols/files/kernelclock.h"
#include "tests/support/fds.h"
#include "tests/support/rights.h"

#define PLUGIN	   "libBrokenLocale.so.1" /* of libc6, linked by nothing here */
#define EVENTS_MAX 65536

struct seen {
	struct sideband_event *events; /* names are copies */
	size_t n;
	size_t all; /* of other processes, too */
	pid_t only; /* of this process; 0: of all */
	uint64_t last;
	bool unordered;
};

static void keep(const struct sideband_event *e, void *arg)
{
	struct seen *seen = arg;
	struct sideband_event *to;

	seen->unordered |= e->time < seen->last;
	seen->last = e->time;
	seen->all++;
	if ((seen->only && e->pid != seen->only) || seen->n == EVENTS_MAX)
		return;
	to = &seen->events[seen->n++];
	*to = *e;
	to->name = e->name ? strdup(e->name) : NULL;
}

static void ignore(const struct sideband_event *e, void *arg)
{
	(void)e;
	(void)arg;
}

static void seen_init(struct seen *seen, pid_t only)
{
	memset(seen, 0, sizeof(*seen));
	seen->only = only;
	seen->events = calloc(EVENTS_MAX, sizeof(*seen->events));
	assert_non_null(seen->events);
}

static void seen_free(struct seen *seen)
{
	for (size_t i = 0; i < seen->n; i++)
		free((char *)seen->events[i].name);
	free(seen->events);
}

static const struct sideband_event *find(const struct seen *seen, enum sideband_kind kind,
					 pid_t pid, pid_t tid)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->events[i].kind == kind && seen->events[i].pid == pid &&
		    (!tid || seen->events[i].tid == tid))
			return &seen->events[i];
	return NULL;
}

static void open_all(struct sideband **s)
{
	int err = sideband_new(NULL, 0, s);

	if (err == -EACCES || err == -EPERM)
		skip_without("CAP_PERFMON");
	assert_int_equal(err, 0);
}

static void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* --- processes ------------------------------------------------------------------------------ */

static void test_true(void **state)
{
	const struct sideband_event *fork_, *exec_, *exit_;
	struct sideband *s;
	struct seen seen;
	uint64_t before, after;
	int status;
	pid_t pid;

	(void)state;
	open_all(&s);
	seen_init(&seen, 0);
	before = kernelclock_now();
	pid = fork();
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	after = kernelclock_now();
	assert_int_equal(sideband_read(s, keep, &seen), 0);
	fork_ = find(&seen, SIDEBAND_FORK, pid, pid);
	exec_ = find(&seen, SIDEBAND_EXEC, pid, pid);
	exit_ = find(&seen, SIDEBAND_EXIT, pid, pid);
	assert_non_null(fork_);
	assert_non_null(exec_);
	assert_non_null(exit_);
	assert_int_equal(fork_->ppid, getpid());
	assert_string_equal(exec_->comm, "true");
	assert_true(before <= fork_->time && fork_->time < exec_->time);
	assert_true(exec_->time < exit_->time && exit_->time <= after);
	assert_false(seen.unordered);
	seen_free(&seen);
	sideband_free(s);
}

/* Every line of executable memory with a file in maps is a record; how many lines that are. */
static size_t compare_maps(const struct seen *seen, pid_t pid, bool *libc, bool *plugin)
{
	unsigned long long start, end, offset, inode;
	unsigned int maj, min;
	char path[64], line[4400], perms[8], name[4200];
	size_t i, n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %4199s", &start, &end, perms,
			   &offset, &maj, &min, &inode, name) != 8 ||
		    perms[2] != 'x' || name[0] != '/')
			continue;
		for (i = 0; i < seen->n; i++) {
			const struct sideband_event *e = &seen->events[i];

			if (e->kind == SIDEBAND_MMAP && e->start == start &&
			    e->length == end - start && e->offset == offset && e->inode == inode &&
			    e->dev_major == maj && e->dev_minor == min && !strcmp(e->name, name))
				break;
		}
		if (i == seen->n)
			fail_msg("no record of %s", line);
		*libc |= strstr(name, "/libc.so") || strstr(name, "/libc-");
		*plugin |= strstr(name, PLUGIN) != NULL;
		n++;
	}
	fclose(f);
	return n;
}

static void test_mappings(void **state)
{
	int ready[2], leave[2], status;
	bool libc = false, plugin = false;
	struct sideband *s;
	struct seen seen;
	char byte = 0;
	pid_t pid;

	(void)state;
	open_all(&s);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(leave), 0);
	pid = fork();
	if (!pid) {
		dup2(leave[0], 0);
		dup2(ready[1], 1);
		for (int fd = 3; fd < 256; fd++)
			close(fd);
		execl("/proc/self/exe", "plugin", "--plugin", NULL);
		_exit(127);
	}
	seen_init(&seen, pid);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	assert_int_equal(sideband_read(s, keep, &seen), 0);
	assert_true(compare_maps(&seen, pid, &libc, &plugin) >= 4);
	assert_true(libc);
	assert_true(plugin);
	for (size_t i = 0; i < seen.n; i++) /* data is left out: fewer records than mmap calls */
		if (seen.events[i].kind == SIDEBAND_MMAP)
			assert_true(seen.events[i].length > 0 && seen.events[i].name);
	assert_int_equal(write(leave[1], "", 1), 1);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	close(ready[0]);
	close(ready[1]);
	close(leave[0]);
	close(leave[1]);
	seen_free(&seen);
	sideband_free(s);
}

/* The program that test_mappings executes: says y when the library is mapped, ends when told. */
static int be_plugin(void)
{
	bool good = dlopen(PLUGIN, RTLD_NOW) != NULL;
	char byte;

	return write(1, good ? "y" : "n", 1) != 1 || read(0, &byte, 1) != 1;
}

static void *thread(void *tid)
{
	*(pid_t *)tid = gettid();
	return NULL;
}

static void test_thread(void **state)
{
	const struct sideband_event *e;
	struct sideband *s;
	struct seen seen;
	pthread_t t;
	pid_t tid;

	(void)state;
	open_all(&s);
	seen_init(&seen, getpid());
	assert_int_equal(pthread_create(&t, NULL, thread, &tid), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	for (int i = 0; i < 100; i++) { /* join returns before the task is gone */
		assert_int_equal(sideband_read(s, keep, &seen), 0);
		if (find(&seen, SIDEBAND_EXIT, getpid(), tid))
			break;
		usleep(10000);
	}
	assert_int_not_equal(tid, getpid());
	e = find(&seen, SIDEBAND_FORK, getpid(), tid);
	assert_non_null(e);
	assert_int_equal(e->ppid, getpid());
	assert_non_null(find(&seen, SIDEBAND_EXIT, getpid(), tid));
	assert_null(find(&seen, SIDEBAND_EXIT, getpid(), getpid()));
	seen_free(&seen);
	sideband_free(s);
}

/* --- rings ---------------------------------------------------------------------------------- */

static void test_wakes(void **state)
{
	struct sideband *s;
	struct pollfd wait;
	struct seen seen;

	(void)state;
	open_all(&s);
	seen_init(&seen, getpid());
	wait = (struct pollfd){.fd = sideband_fd(s), .events = POLLIN};
	prctl(PR_SET_NAME, "\033[2J\n");
	assert_int_equal(poll(&wait, 1, 2000), 1);
	assert_int_equal(sideband_read(s, keep, &seen), 0);
	assert_non_null(find(&seen, SIDEBAND_COMM, getpid(), getpid()));
	assert_string_equal(find(&seen, SIDEBAND_COMM, getpid(), getpid())->comm, "\033[2J\n");
	assert_null(find(&seen, SIDEBAND_EXEC, getpid(), 0));
	seen_free(&seen);
	sideband_free(s);
}

static void rename_self(unsigned int i)
{
	char name[16];

	/* of several lengths, so that records end everywhere in the ring */
	snprintf(name, sizeof(name), i & 1 ? "%u" : "%u-longer", i);
	prctl(PR_SET_NAME, name);
}

/* Some MiB through a ring of 256 KiB, read in time. */
static void test_wraps(void **state)
{
	const unsigned int cpu = sched_getcpu(), rounds = 40, each = 1000;
	cpu_set_t old;
	struct sideband *s;
	struct seen seen;
	unsigned int i;

	(void)state;
	sched_getaffinity(0, sizeof(old), &old);
	open_all(&s);
	seen_init(&seen, getpid());
	pin(cpu);
	for (i = 0; i < rounds * each; i++) {
		rename_self(i);
		if (i % each == each - 1)
			assert_int_equal(sideband_read(s, keep, &seen), 0);
	}
	sched_setaffinity(0, sizeof(old), &old);
	assert_int_equal(seen.n, rounds * each);
	for (i = 0; i < seen.n; i++) {
		assert_int_equal(seen.events[i].kind, SIDEBAND_COMM);
		assert_int_equal(strtoul(seen.events[i].comm, NULL, 10), i);
		assert_int_equal(strstr(seen.events[i].comm, "-longer") != NULL, !(i & 1));
	}
	seen_free(&seen);
	sideband_free(s);
}

#define RING_BYTES (64 * (size_t)sysconf(_SC_PAGESIZE))
#define MAP_LEAST  96 /* bytes of a record of a mapping, at least */
#define NAME_LEAST 40 /* bytes of one of rename_self */
#define NAME_MOST  48
#define OTHERS	   500 /* records of other processes that do not fill the rest */
#define TRIES	   200

static void open_one(unsigned int cpu, struct sideband **s)
{
	open_all(s);
	sideband_free(*s);
	assert_int_equal(sideband_new(&cpu, 1, s), 0);
}

/* Other processes on the CPU lose some, too; not that many each time. */
static bool lose_names(struct sideband *s, size_t n)
{
	struct seen seen;
	int64_t lost;
	bool alone;

	sideband_read(s, ignore, NULL);
	seen_init(&seen, getpid());
	for (size_t i = 0; i < n; i++)
		rename_self((unsigned int)i);
	lost = sideband_read(s, keep, &seen);
	assert_true(lost >= 0);
	rename_self((unsigned int)n); /* the kernel says what it lost before the next that fits */
	lost += sideband_read(s, keep, &seen);
	assert_true(lost > 0);
	assert_true(seen.n > 0 && seen.n < n);
	assert_true(seen.n + (size_t)lost > n);
	alone = seen.n + (size_t)lost < n + n / 10 && !sideband_read(s, keep, &seen);
	seen_free(&seen);
	return alone;
}

static void test_lost(void **state)
{
	const unsigned int cpu = sched_getcpu();
	struct sideband *s;
	cpu_set_t old;
	int tries = 0;

	(void)state;
	sched_getaffinity(0, sizeof(old), &old);
	open_one(cpu, &s);
	pin(cpu);
	while (!lose_names(s, 3 * RING_BYTES / NAME_LEAST))
		assert_true(++tries < TRIES);
	sched_setaffinity(0, sizeof(old), &old);
	sideband_free(s);
}

/* A child that makes executable mappings on that CPU, and then nothing. */
static pid_t start_mapping(unsigned int cpu)
{
	pid_t parent = getpid(), pid;
	int ready[2], fd;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(cpu);
		fd = open("/proc/self/exe", O_RDONLY);
		for (int i = 0; i < 10; i++)
			if (mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
				_exit(1);
		if (getppid() != parent || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/*
 * The ring is full to its last bytes when a process begins, and stays so: no record is behind those
 * that are lost. False: others have written in between.
 */
static bool full_is_told(struct sideband *s, unsigned int cpu)
{
	struct seen seen;
	bool alone, gap;
	int64_t lost;
	pid_t pid;

	sideband_read(s, ignore, NULL);
	for (size_t i = 0; i <= RING_BYTES / NAME_LEAST; i++)
		rename_self((unsigned int)i);
	pid = start_mapping(cpu);
	seen_init(&seen, pid);
	lost = sideband_read(s, keep, &seen);
	assert_true(sideband_has_gap(s));
	alone = lost == 0;
	assert_true(!alone || seen.n == 0);
	/* How many they were comes with the next record, and is nothing new then. */
	seen.all = 0;
	rename_self(0);
	lost += sideband_read(s, keep, &seen);
	gap = sideband_has_gap(s);
	assert_true(lost > 10);
	assert_true(!gap || seen.all > OTHERS);
	alone &= !gap;
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	seen_free(&seen);
	return alone;
}

static void test_full(void **state)
{
	const unsigned int cpu = sched_getcpu();
	struct sideband *s;
	cpu_set_t old;
	int tries = 0;

	(void)state;
	sched_getaffinity(0, sizeof(old), &old);
	open_one(cpu, &s);
	pin(cpu);
	while (!full_is_told(s, cpu))
		assert_true(++tries < TRIES);
	sched_setaffinity(0, sizeof(old), &old);
	sideband_free(s);
}

static void test_half_full(void **state)
{
	const unsigned int cpu = sched_getcpu();
	const size_t n = RING_BYTES / 2 / NAME_MOST;
	cpu_set_t old;
	struct sideband *s;
	struct seen seen;

	(void)state;
	sched_getaffinity(0, sizeof(old), &old);
	open_one(cpu, &s);
	pin(cpu);
	do {
		sideband_read(s, ignore, NULL);
		for (size_t i = 0; i < n; i++)
			rename_self((unsigned int)i);
		seen_init(&seen, getpid());
		assert_true(sideband_read(s, keep, &seen) >= 0);
		assert_true(!sideband_has_gap(s) || seen.all > n + OTHERS);
		assert_true(seen.n == n || seen.all > n + OTHERS);
		seen_free(&seen);
	} while (seen.all > n + OTHERS);
	sched_setaffinity(0, sizeof(old), &old);
	sideband_free(s);
}

static void wander(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		pin(i & 1);
		rename_self(i);
	}
	_exit(0);
}

/* One process on two CPUs by turns, read meanwhile: its records come in order over all reads. */
static void test_order(void **state)
{
	const unsigned int n = 1000;
	const uint64_t start = kernelclock_now();
	struct sideband *s;
	struct seen seen;
	unsigned int next = 0;
	pid_t pid;

	(void)state;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip_since("one CPU");
	open_all(&s);
	pid = fork();
	if (!pid)
		wander(n);
	seen_init(&seen, pid);
	while (!find(&seen, SIDEBAND_EXIT, pid, pid) &&
	       kernelclock_now() - start < 60000000000ull) {
		for (size_t j = 0; j < seen.n; j++)
			free((char *)seen.events[j].name);
		seen.n = 0;
		assert_int_equal(sideband_read(s, keep, &seen), 0);
		for (size_t j = 0; j < seen.n; j++)
			if (seen.events[j].kind == SIDEBAND_COMM)
				assert_int_equal(strtoul(seen.events[j].comm, NULL, 10), next++);
	}
	waitpid(pid, NULL, 0);
	assert_int_equal(next, n);
	seen_free(&seen);
	sideband_free(s);
}

/* --- CPUs that come and go ------------------------------------------------------------------ */

#define SWITCH "/sys/devices/system/cpu/cpu1/online"

/* At the end, too. Only one test at a time may hold the switch. */
static int switch_cpu(int fd, bool on)
{
	return pwrite(fd, on ? "1" : "0", 1, 0) == 1 ? 0 : -errno;
}

/* A program that runs on CPU 1 from the fork on. */
static pid_t run_there(void)
{
	pid_t pid;
	int status;

	pin(1);
	pid = fork();
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return pid;
}

static bool is_told_of(struct sideband *s, pid_t pid)
{
	struct seen seen;
	bool told;

	seen_init(&seen, pid);
	assert_int_equal(sideband_read(s, keep, &seen), 0);
	told = find(&seen, SIDEBAND_EXEC, pid, pid) && find(&seen, SIDEBAND_EXIT, pid, pid);
	assert_true(told || !find(&seen, SIDEBAND_EXEC, pid, pid));
	seen_free(&seen);
	return told;
}

/* Off and on: one look sees both, or each sees one. -errno: the CPU cannot be switched. */
static int check_switched(int fd, struct sideband *s, bool look_between)
{
	pid_t before = run_there(), between, after;
	int err = switch_cpu(fd, false), went = 0, changes = 0;

	if (err)
		return err;
	for (int i = 0; i < 2 && look_between; i++) {
		went += sideband_watch(s);
		usleep(5000);
	}
	err = switch_cpu(fd, true);
	assert_int_equal(err, 0);
	assert_int_equal(went, look_between);
	between = run_there();
	/* The CPU has no new event yet, but records written before are still to be read. */
	assert_true(is_told_of(s, before));
	assert_false(is_told_of(s, between));
	for (int i = 0; i < 2; i++) { /* the first may find that it ran on since the last look */
		usleep(5000);
		changes += sideband_watch(s);
	}
	assert_int_equal(changes, look_between ? 1 : 2);
	after = run_there();
	assert_true(is_told_of(s, after));
	return 0;
}

static void test_hotplug(void **state)
{
	const unsigned int list[] = {0, 1};
	int fd = open(SWITCH, O_RDWR | O_CLOEXEC), err = 0;
	size_t fds;
	cpu_set_t old;
	struct sideband *s;
	char on = '0';

	(void)state;
	if (fd < 0 || flock(fd, LOCK_EX) || pread(fd, &on, 1, 0) != 1 || on != '1') {
		close(fd);
		need_sys_admin();
		skip_since("this CPU cannot be taken offline");
	}
	sched_getaffinity(0, sizeof(old), &old);
	fds = count_fds();
	for (int round = 0; round < 4 && !err; round++) {
		err = sideband_new(round & 2 ? list : NULL, 2, &s);
		if (err)
			break;
		assert_int_equal(sideband_watch(s), 0);
		usleep(5000);
		assert_int_equal(sideband_watch(s), 0);
		err = check_switched(fd, s, round & 1);
		sideband_free(s);
	}
	sched_setaffinity(0, sizeof(old), &old);
	assert_int_equal(count_fds(), fds);
	close(fd);
	if (err == -EPERM || err == -EACCES || err == -EBUSY)
		skip_since("this CPU cannot be taken offline");
	assert_int_equal(err, 0);
}

static void test_opens(void **state)
{
	const unsigned int good[] = {0}, bad[] = {0, 1u << 20};
	size_t fds = count_fds();
	struct sideband *s;

	(void)state;
	open_all(&s);
	sideband_free(s);
	assert_int_equal(sideband_new(good, 1, &s), 0);
	sideband_free(s);
	assert_true(sideband_new(bad, 2, &s) < 0);
	assert_null(s);
	sideband_free(NULL);
	assert_int_equal(count_fds(), fds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_true),	  cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_thread),	  cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_wraps),	  cmocka_unit_test(test_lost),
		cmocka_unit_test(test_order),	  cmocka_unit_test(test_opens),
		cmocka_unit_test(test_hotplug),	  cmocka_unit_test(test_full),
		cmocka_unit_test(test_half_full),
	};

	if (argc > 1 && !strcmp(argv[1], "--plugin"))
		return be_plugin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
