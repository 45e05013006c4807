// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampling program on the running kernel, with children that are busy in a known way. What
 * they used and who they are is taken from /proc; that no sample is lost is bookkeeping: all that
 * the program took is in a count that was drained, or in a counter that says why it is not.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
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
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/sampler.h"

#define PID_NS_INIT   4026531836u /* PROC_PID_INIT_INO of linux/proc_ns.h */
#define RECORDS_MAX   (1u << 18)
#define THREADS_MAX   8192u
#define PATIENCE_NS   60000000000ull
#define CHILD_THREADS 3

/* --- what was drained ------------------------------------------------------------------------ */

struct seen_stack {
	uint64_t hash, frames; /* all of them, mixed */
	uint32_t times;
	uint32_t tgid;
	uint64_t leaf;
	uint8_t kernel, reason;
};

struct thread {
	uint32_t tgid, tid;
	uint64_t count, with_user, with_kernel;
	uint64_t image, last_user;
	char comm[16];
};

struct tally {
	struct seen_stack *stacks; /* by hash */
	struct thread *threads;
	size_t nthreads;
	uint64_t total;
	uint64_t records, kernel_records;
	uint64_t missing; /* counts of stacks that had not come */
};

static struct tally *tally_new(void)
{
	struct tally *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->stacks = calloc(RECORDS_MAX, sizeof(*t->stacks));
	t->threads = calloc(THREADS_MAX, sizeof(*t->threads));
	assert_true(t->stacks && t->threads);
	return t;
}

static void tally_free(struct tally *t)
{
	free(t->stacks);
	free(t->threads);
	free(t);
}

/* Where the hash is, or would be. */
static struct seen_stack *stack_of(struct tally *t, uint64_t hash)
{
	size_t i = hash % RECORDS_MAX, tries;

	for (tries = 0; t->stacks[i].hash && t->stacks[i].hash != hash; i = (i + 1) % RECORDS_MAX)
		assert_true(tries++ < RECORDS_MAX);
	return &t->stacks[i];
}

static void on_stack(const struct stack_record *rec, void *arg)
{
	struct tally *t = arg;
	struct seen_stack *seen = stack_of(t, rec->hash);
	uint64_t frames = rec->nframes;

	assert_int_not_equal(rec->hash, 0);
	assert_in_range(rec->nframes, 1, rec->kernel ? KERNEL_FRAMES_MAX : WALK_FRAMES_MAX);
	assert_in_range(rec->kernel, 0, 1);
	assert_in_range(rec->reason, 0, WALK_REASON_COUNT - 1);
	for (size_t i = 0; i < rec->nframes; i++) {
		if (rec->kernel)
			assert_true(rec->frames[i] >> 63);
		frames = (frames ^ rec->frames[i]) * 0x100000001b3;
	}
	t->records++;
	t->kernel_records += rec->kernel;
	if (seen->times++) { /* the same name means the same stack */
		assert_true(seen->frames == frames);
		assert_int_equal(seen->reason, rec->reason);
		return;
	}
	seen->hash = rec->hash;
	seen->frames = frames;
	seen->tgid = rec->tgid;
	seen->leaf = rec->frames[0];
	seen->kernel = rec->kernel;
	seen->reason = rec->reason;
}

static struct thread *thread_of(struct tally *t, uint32_t tgid, uint32_t tid)
{
	size_t i;

	for (i = 0; i < t->nthreads; i++)
		if (t->threads[i].tgid == tgid && t->threads[i].tid == tid)
			return &t->threads[i];
	if (t->nthreads == THREADS_MAX) /* of a machine that starts many: the last serves them */
		return &t->threads[THREADS_MAX - 1];
	t->nthreads++;
	t->threads[i].tgid = tgid;
	t->threads[i].tid = tid;
	return &t->threads[i];
}

static void add_count(struct tally *t, const struct sampler_count *c)
{
	struct thread *thread = thread_of(t, c->key.tgid, c->key.tid);

	assert_true(c->value.count > 0);
	t->total += c->value.count;
	t->missing += c->key.user && !stack_of(t, c->key.user)->times;
	t->missing += c->key.kernel && !stack_of(t, c->key.kernel)->times;
	thread->count += c->value.count;
	thread->with_user += c->key.user ? c->value.count : 0;
	thread->with_kernel += c->key.kernel ? c->value.count : 0;
	thread->image = c->value.image;
	if (c->key.user)
		thread->last_user = c->key.user;
	memcpy(thread->comm, c->value.comm, sizeof(thread->comm));
}

static size_t drain(struct sampler *s, struct tally *t)
{
	const struct sampler_count *counts;
	size_t n, i;

	assert_int_equal(sampler_drain(s, on_stack, t, &counts, &n), 0);
	for (i = 0; i < n; i++)
		add_count(t, &counts[i]);
	return n;
}

static uint64_t count_of(const struct tally *t, pid_t tgid)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].tgid == (uint32_t)tgid)
			n += t->threads[i].count;
	return n;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Drains until the process was counted n more times. */
static void drain_until(struct sampler *s, struct tally *t, pid_t tgid, uint64_t n)
{
	uint64_t until = now() + PATIENCE_NS, before = count_of(t, tgid);

	while (count_of(t, tgid) < before + n) {
		if (now() > until)
			fail_msg("process %d is not sampled", tgid);
		usleep(5000);
		drain(s, t);
	}
}

/* Throws away what was sampled before. */
static void drain_old(struct sampler *s, struct tally *t)
{
	sampler_wait(s);
	drain(s, t);
	t->nthreads = 0;
	memset(t->threads, 0, THREADS_MAX * sizeof(*t->threads));
}

/* --- children -------------------------------------------------------------------------------- */

static void spin(void)
{
	for (;;)
		; /* one address */
}

static void *spin_thread(void *arg)
{
	(void)arg;
	spin();
	return NULL;
}

static void enter_kernel(void)
{
	static char buffer[65536];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
}

/* Executes a million addresses. */
static void slide(void)
{
	const size_t size = 1u << 20;
	uint8_t *code = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int32_t back = -(int32_t)size;

	if (code == MAP_FAILED)
		_exit(1);
	memset(code, 0x90, size); /* nop; at the end, jmp rel32 */
	code[size - 5] = 0xe9;
	memcpy(code + size - 4, &back, sizeof(back));
	((void (*)(void))(uintptr_t)code)();
}

/* A child that does work, with so many threads more, on one CPU or on any (-1). */
static pid_t start_child(const char *comm, void (*work)(void), int nthreads, int cpu)
{
	pid_t parent = getpid(), pid;
	pthread_t thread;
	int ready[2];
	cpu_set_t set;
	char byte = 0;

	assert_int_equal(pipe(ready), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, comm);
		CPU_ZERO(&set);
		CPU_SET(cpu < 0 ? 0 : cpu, &set);
		if (getppid() != parent || (cpu >= 0 && sched_setaffinity(0, sizeof(set), &set)))
			_exit(1);
		while (nthreads--)
			if (pthread_create(&thread, NULL, spin_thread, NULL))
				_exit(1);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		close(ready[0]);
		close(ready[1]);
		work();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Field number of /proc/PID/stat (proc_pid_stat(5)), from the fourth on. */
static uint64_t stat_field(pid_t pid, int number)
{
	char path[64], text[1024], *word, *rest;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	word = strrchr(text, ')');
	assert_non_null(word);
	word = strtok_r(word + 1, " ", &rest);
	for (int i = 3; word && i < number; i++)
		word = strtok_r(NULL, " ", &rest);
	assert_non_null(word);
	return strtoull(word, NULL, 10);
}

/* CPUs that the test may use: *first and *last. */
static int usable_cpus(int *first, int *last)
{
	cpu_set_t set;
	int n = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		if (!n++)
			*first = i;
		*last = i;
	}
	return n;
}

/* --- samplers -------------------------------------------------------------------------------- */

static unsigned int highest_rate(unsigned int wanted)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned int max;

	if (f) {
		if (fscanf(f, "%u", &max) == 1 && max < wanted)
			wanted = max;
		fclose(f);
	}
	return wanted;
}

static struct sampler_options cpu_clock(unsigned int frequency)
{
	return (struct sampler_options){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.frequency = highest_rate(frequency),
		.shards_max = 1,
	};
}

/* Skips where it is not permitted, or where PIDs are not those that the kernel program sees. */
static struct sampler *start_sampler(const struct sampler_options *options)
{
	struct sampler *s;
	struct stat st;
	char error[256];
	int err;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino != PID_NS_INIT)
		skip();
	err = sampler_new(options, &s, error, sizeof(error));
	if (!err) {
		err = sampler_start(s, error, sizeof(error));
		if (err)
			sampler_free(s);
	}
	if (err == -EPERM || err == -EACCES)
		skip();
	if (err)
		fail_msg("%d: %s", err, error);
	return s;
}

/* No sample is taken any more. */
static void stop_events(const struct sampler *s)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;
	struct dirent *e;
	char link[64];
	ssize_t got;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		got = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);
		link[got < 0 ? 0 : got] = '\0';
		if (strcmp(link, "anon_inode:[perf_event]"))
			continue;
		assert_int_equal(ioctl(atoi(e->d_name), PERF_EVENT_IOC_DISABLE, 0), 0);
		n++;
	}
	closedir(dir);
	assert_int_equal(n, sampler_ncpus(s));
}

/* The books of a sampler whose events are stopped. */
static void check_books(struct sampler *s, struct tally *t, struct profiler_stats *stats)
{
	drain(s, t);
	assert_int_equal(drain(s, t), 0);
	assert_int_equal(drain(s, t), 0);
	assert_int_equal(sampler_stats(s, stats), 0);
	assert_int_equal(stats->samples,
			 stats->filtered + stats->counts_full + stats->counts_busy + t->total);
	assert_int_equal(stats->stacks, t->records);
	/* what the ring had no room for cannot have come */
	assert_true(t->missing <= stats->ring_full);
	assert_true(stats->user <= stats->samples - stats->filtered);
	assert_true(stats->walks <= stats->samples - stats->filtered);
	assert_true(stats->complete <= stats->walks);
	assert_true(stats->frames >= stats->complete);
}

/* --- tests ----------------------------------------------------------------------------------- */

static void check_single(struct tally *t, pid_t pid, const char *comm)
{
	const struct thread *thread = thread_of(t, pid, pid);

	assert_int_equal(thread->count, count_of(t, pid)); /* and no other thread's */
	assert_string_equal(thread->comm, comm);
	assert_true(thread->image == stat_field(pid, 28));
}

static size_t threads_met(const struct tally *t, pid_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		n += t->threads[i].tgid == (uint32_t)pid;
	return n;
}

static void check_threads(struct tally *t, pid_t pid)
{
	char path[64];
	struct dirent *e;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		assert_true(thread_of(t, pid, atoi(e->d_name))->count > 0);
		n++;
	}
	closedir(dir);
	assert_int_equal(n, CHILD_THREADS + 1);
	assert_int_equal(threads_met(t, pid), n);
}

static void test_load(void **state)
{
	struct sampler_options options = cpu_clock(4999);
	struct tally *t = tally_new();
	struct profiler_stats stats;
	struct sampler *s;
	pid_t spins[2], kernel, threads;

	(void)state;
	spins[0] = start_child("t-spin-0", spin, 0, -1);
	spins[1] = start_child("t-spin-1", spin, 0, -1);
	kernel = start_child("t-kernel", enter_kernel, 0, -1);
	threads = start_child("t-threads", spin, CHILD_THREADS, -1);
	s = start_sampler(&options);
	for (int round = 0; round < 60; round++) {
		usleep(2000);
		if (round == 20) { /* some are to be filtered */
			assert_int_equal(sampler_set_target(s, spins[0], true), 0);
			assert_int_equal(sampler_set_filtering(s, true), 0);
		} else if (round == 35) {
			assert_int_equal(sampler_set_filtering(s, false), 0);
		}
		if (round % 3 == 0)
			assert_int_equal(sampler_read_stacks(s, on_stack, t), 0);
		drain(s, t);
	}
	drain_until(s, t, spins[0], 100);
	drain_until(s, t, spins[1], 100);
	drain_until(s, t, kernel, 100);
	while (threads_met(t, threads) <= CHILD_THREADS)
		drain_until(s, t, threads, 10);
	stop_events(s);
	check_books(s, t, &stats);
	assert_true(stats.filtered > 0);
	assert_true(stats.user > 0 && stats.user < stats.samples);
	check_single(t, spins[0], "t-spin-0");
	check_single(t, spins[1], "t-spin-1");
	check_single(t, kernel, "t-kernel");
	check_threads(t, threads);
	assert_true(thread_of(t, kernel, kernel)->with_kernel > 0);
	sampler_free(s);
	end_child(spins[0]);
	end_child(spins[1]);
	end_child(kernel);
	end_child(threads);
	tally_free(t);
}

/* More stacks than the maps hold: what does not fit is told, and nothing else is lost. */
static void test_overflow(void **state)
{
	struct sampler_options options = cpu_clock(20000);
	struct tally *t = tally_new();
	struct profiler_stats stats = {0};
	uint64_t until = now() + PATIENCE_NS;
	struct sampler *s;
	pid_t child[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		child[i] = start_child("t-slide", slide, 0, -1);
	s = start_sampler(&options);
	while (stats.counts_full < 100 && now() < until) {
		usleep(10000);
		assert_int_equal(sampler_stats(s, &stats), 0);
	}
	stop_events(s);
	check_books(s, t, &stats);
	assert_true(stats.counts_full >= 100);
	assert_in_range(t->total, COUNTS_MAX / 2, UINT64_MAX);
	sampler_free(s);
	for (int i = 0; i < 2; i++)
		end_child(child[i]);
	tally_free(t);
}

static void test_cpu_list(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	struct tally *t = tally_new();
	struct profiler_stats stats;
	pid_t here, elsewhere;
	struct sampler *s;
	unsigned int cpu;
	int first, last;

	(void)state;
	if (usable_cpus(&first, &last) < 2) {
		tally_free(t);
		skip();
	}
	elsewhere = start_child("t-first", spin, 0, first);
	here = start_child("t-last", spin, 0, last);
	cpu = last;
	options.cpus = &cpu;
	options.ncpus = 1;
	s = start_sampler(&options);
	assert_int_equal(sampler_ncpus(s), 1);
	drain_until(s, t, here, 300);
	assert_int_equal(count_of(t, elsewhere), 0);
	stop_events(s);
	check_books(s, t, &stats);
	sampler_free(s);
	end_child(here);
	end_child(elsewhere);
	tally_free(t);
}

static void suspend(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

static uint64_t ticks(pid_t pid)
{
	return stat_field(pid, 14) + stat_field(pid, 15);
}

/*
 * Two children share a CPU unevenly, and run only while they are sampled: what the scheduler says
 * they used and how often they were met are two accounts of the same.
 */
static void test_share(void **state)
{
	struct sampler_options options = cpu_clock(997);
	const uint64_t hz = sysconf(_SC_CLK_TCK);
	struct tally *t = tally_new();
	uint64_t used[2], count[2], until = now() + PATIENCE_NS;
	double share, met, expected;
	struct sampler *s;
	pid_t child[2];
	int first, last;

	(void)state;
	usable_cpus(&first, &last);
	for (int i = 0; i < 2; i++) {
		child[i] = start_child(i ? "t-low" : "t-high", spin, 0, last);
		suspend(child[i]);
		used[i] = ticks(child[i]);
	}
	assert_int_equal(setpriority(PRIO_PROCESS, child[1], 5), 0);
	s = start_sampler(&options);
	for (int i = 0; i < 2; i++)
		kill(child[i], SIGCONT);
	while (ticks(child[0]) + ticks(child[1]) < used[0] + used[1] + 2 * hz && now() < until) {
		usleep(20000);
		drain(s, t);
	}
	for (int i = 0; i < 2; i++) {
		suspend(child[i]);
		used[i] = ticks(child[i]) - used[i];
	}
	drain(s, t);
	for (int i = 0; i < 2; i++)
		count[i] = count_of(t, child[i]);
	print_message("ticks %" PRIu64 " %" PRIu64 ", samples %" PRIu64 " %" PRIu64 "\n", used[0],
		      used[1], count[0], count[1]);
	assert_true(used[0] + used[1] >= hz);
	share = (double)used[1] / (used[0] + used[1]);
	met = (double)count[1] / (count[0] + count[1]);
	if (met < share - 0.06 || met > share + 0.06)
		fail_msg("a share of %.3f was met as %.3f", share, met);
	expected = (double)(used[0] + used[1]) * options.frequency / hz;
	if (count[0] + count[1] < expected * 0.75 || count[0] + count[1] > expected * 1.15)
		fail_msg("%" PRIu64 " samples instead of %.0f", count[0] + count[1], expected);
	sampler_free(s);
	for (int i = 0; i < 2; i++)
		end_child(child[i]);
	tally_free(t);
}

static void check_sides(bool no_kernel, bool no_user)
{
	struct sampler_options options = cpu_clock(1999);
	struct tally *t = tally_new();
	struct profiler_stats stats;
	const struct thread *thread;
	struct sampler *s;
	pid_t pid;

	options.no_kernel = no_kernel;
	options.no_user = no_user;
	pid = start_child("t-sides", enter_kernel, 0, -1);
	s = start_sampler(&options);
	drain_until(s, t, pid, 200);
	stop_events(s);
	check_books(s, t, &stats);
	thread = thread_of(t, pid, pid);
	/* it has always come from user space, and hardly ever is there */
	assert_int_equal(thread->with_user, no_user ? 0 : thread->count);
	if (no_kernel)
		assert_int_equal(thread->with_kernel, 0);
	else
		assert_true(thread->with_kernel > thread->count / 2);
	assert_int_equal(t->kernel_records > 0, !no_kernel);
	assert_int_equal(t->records - t->kernel_records > 0, !no_user);
	assert_int_equal(stats.walks > 0, !no_user);
	sampler_free(s);
	end_child(pid);
	tally_free(t);
}

static void test_sides(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		check_sides(i & 1, i & 2);
}

static void test_targets(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	struct tally *t = tally_new();
	struct sampler *s;
	pid_t one, two;

	(void)state;
	one = start_child("t-one", spin, 0, -1);
	two = start_child("t-two", spin, 0, -1);
	s = start_sampler(&options);
	/* without filtering a target is nothing special */
	assert_int_equal(sampler_set_target(s, one, true), 0);
	drain_until(s, t, two, 50);
	assert_int_equal(sampler_set_filtering(s, true), 0);
	drain_old(s, t);
	drain_until(s, t, one, 200);
	assert_int_equal(t->nthreads, 1);
	assert_int_equal(sampler_set_target(s, two, true), 0);
	drain_until(s, t, two, 50);
	drain_until(s, t, one, 50);
	assert_int_equal(t->nthreads, 2);
	assert_int_equal(sampler_set_target(s, one, false), 0);
	drain_old(s, t);
	drain_until(s, t, two, 200);
	assert_int_equal(t->nthreads, 1);
	assert_int_equal(sampler_set_filtering(s, false), 0);
	drain_until(s, t, one, 50);
	sampler_free(s);
	end_child(one);
	end_child(two);
	tally_free(t);
}

static void test_forget(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	struct tally *t = tally_new();
	const struct seen_stack *seen;
	struct sampler *s;
	uint32_t times;
	pid_t pid;

	(void)state;
	pid = start_child("t-forget", spin, 0, -1);
	s = start_sampler(&options);
	drain_until(s, t, pid, 500);
	seen = stack_of(t, thread_of(t, pid, pid)->last_user);
	/* once, but others may have been put in its place */
	assert_in_range(seen->times, 1, 5);
	for (int i = 0; i < 5; i++) {
		times = seen->times;
		sampler_forget(s, seen->hash + 1);
		sampler_forget(s, seen->hash);
		drain_until(s, t, pid, 20);
		assert_true(seen->times > times);
	}
	sampler_free(s);
	end_child(pid);
	tally_free(t);
}

/* The last user stack of the process once it was sampled under what was just set. */
static const struct seen_stack *next_stack(struct sampler *s, struct tally *t, pid_t pid)
{
	drain_old(s, t);
	drain_until(s, t, pid, 50);
	return stack_of(t, thread_of(t, pid, pid)->last_user);
}

/* What a process entry does to the walk, and that the leaf is where the child is. */
static void test_process(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	struct tally *t = tally_new();
	const struct seen_stack *unknown, *other, *empty;
	struct proc_entry entry = {0};
	struct sampler *s;
	pid_t pid;

	(void)state;
	pid = start_child("t-process", spin, 0, -1);
	s = start_sampler(&options);
	unknown = next_stack(s, t, pid);
	assert_int_equal(unknown->reason, WALK_UNKNOWN_PROCESS);
	assert_int_equal(unknown->tgid, pid);
	assert_int_equal(unknown->kernel, 0);
	assert_true(unknown->leaf & FRAME_EXACT);
	/* a fork: what is here is there */
	assert_in_range(unknown->leaf & ~FRAME_EXACT, (uintptr_t)spin, (uintptr_t)spin + 64);

	entry.image = stat_field(pid, 28) + 16;
	assert_int_equal(sampler_set_process(s, pid, &entry), 0);
	other = next_stack(s, t, pid);
	assert_int_equal(other->reason, WALK_OTHER_IMAGE);
	assert_true(other->leaf == unknown->leaf);

	entry.image = stat_field(pid, 28);
	assert_int_equal(sampler_set_process(s, pid, &entry), 0);
	empty = next_stack(s, t, pid);
	assert_int_equal(empty->reason, WALK_NO_MAPPING);

	sampler_drop_process(s, pid);
	assert_true(next_stack(s, t, pid) == unknown);
	sampler_free(s);
	end_child(pid);
	tally_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load),	 cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_cpu_list), cmocka_unit_test(test_share),
		cmocka_unit_test(test_sides),	 cmocka_unit_test(test_targets),
		cmocka_unit_test(test_forget),	 cmocka_unit_test(test_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
