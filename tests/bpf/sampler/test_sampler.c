// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampling program on the running kernel: who is sampled, and that no sample is lost. That is
 * bookkeeping: all that the program took is in a count that was drained, or in a counter that says
 * why it is not. time limit: 300 s
 * Covers: bpf/sampler/sampler.c bpf/sampler/loader.c bpf/prog/profiler.bpf.c bpf/prog/maps.bpf.h
 * bpf/prog/sample.bpf.h bpf/sampler/events.c
 */
#include <dirent.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "symbols/files/procstat.h"
#include "tests/support/rights.h"
#include "tests/support/tally.h"

#define CHILD_THREADS 3

static const struct target any_start = {.chosen = 1};

/* Jumps to code from below a chain of 100 frames; a place that goes on to itself. */
void deep_jump(const void *code);
extern const char deep_end[];

__asm__(".text\n"
	"deep_jump: xor %ebp, %ebp; mov $100, %ecx\n"
	"1: call 2f\n"
	"2: push %rbp; mov %rsp, %rbp; dec %ecx; jnz 1b\n"
	"jmp *%rdi\n"
	"deep_end: jmp deep_end\n");

/* A million addresses to execute, one after the other and from the first again. */
static void *million(void)
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
	return code;
}

static void slide(void)
{
	((void (*)(void))(uintptr_t)million())();
}

static void slide_deep(void)
{
	deep_jump(million());
}

static void stay_deep(void)
{
	deep_jump(deep_end);
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
	assert_true(stats->complete_fp <= stats->complete);
	assert_true(stats->frames >= stats->complete);
}

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
			assert_int_equal(sampler_set_target(s, spins[0], &any_start), 0);
			assert_int_equal(sampler_set_filtering(s, FILTER_LISTED), 0);
		} else if (round == 35) {
			assert_int_equal(sampler_set_filtering(s, FILTER_NONE), 0);
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
	uint64_t counts_max;
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
	counts_max = sampler_counts_max(s);
	assert_in_range(t->total, counts_max / 2, UINT64_MAX);
	sampler_free(s);
	for (int i = 0; i < 2; i++)
		end_child(child[i]);
	tally_free(t);
}

/*
 * What a full ring had no room for is sent the next time that it is sampled. All stacks are of one
 * size here: a smaller one might find room behind the last that did.
 */
static void test_full_ring(void **state)
{
	struct sampler_options options = cpu_clock(20000);
	struct tally *t = tally_new();
	struct profiler_stats stats = {0};
	uint64_t until = now() + PATIENCE_NS, ticks;
	pid_t deep[2], busy;
	struct sampler *s;

	(void)state;
	for (int i = 0; i < 2; i++)
		deep[i] = start_child("t-deep", slide_deep, 0, -1);
	s = start_sampler(&options);
	while (stats.ring_full < 100 && now() < until) {
		usleep(10000);
		assert_int_equal(sampler_stats(s, &stats), 0);
	}
	assert_true(stats.ring_full >= 100);
	busy = start_child("t-busy", stay_deep, 0, -1);
	ticks = stat_field(busy, 14);
	for (until = now() + PATIENCE_NS; stat_field(busy, 14) < ticks + 10 && now() < until;)
		usleep(10000);
	assert_true(stat_field(busy, 14) >= ticks + 10);
	for (int i = 0; i < 2; i++)
		end_child(deep[i]);
	drain_old(s, t);
	drain_until(s, t, busy, 100);
	assert_true(stack_of(t, thread_of(t, busy, busy)->last_user)->times > 0);
	stop_events(s);
	check_books(s, t, &stats);
	sampler_free(s);
	end_child(busy);
	tally_free(t);
}

static bool is_filling(const struct sampler *s, int timeout)
{
	struct pollfd fd = {.fd = sampler_filling_fd(s), .events = POLLIN};

	return poll(&fd, 1, timeout) == 1;
}

/* The reader of stacks is woken before the ring is full, not by each stack. */
static void test_filling(void **state)
{
	struct sampler_options options = cpu_clock(20000);
	struct tally *t = tally_new();
	struct profiler_stats before, after;
	uint64_t until;
	struct sampler *s;
	pid_t child;

	(void)state;
	child = start_child("t-slide", slide_deep, 0, -1);
	s = start_sampler(&options);
	/* nobody else fills it */
	assert_int_equal(sampler_set_filtering(s, FILTER_LISTED), 0);
	assert_int_equal(sampler_set_target(s, child, &any_start), 0);
	assert_true(is_filling(s, PATIENCE_NS / 1000000));
	end_child(child);
	drain(s, t);
	assert_int_equal(sampler_stats(s, &before), 0);
	child = start_child("t-deep", stay_deep, 0, -1);
	assert_int_equal(sampler_set_target(s, child, &any_start), 0);
	until = now() + PATIENCE_NS;
	do
		assert_int_equal(sampler_stats(s, &after), 0);
	while (after.stacks == before.stacks && now() < until);
	assert_true(after.stacks > before.stacks);
	assert_false(is_filling(s, 0));
	end_child(child);
	sampler_free(s);
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
		skip_since("one CPU");
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

/* Ticks that the kernel was to make and did not, as in a guest that its host does not run. */
static uint64_t ticks_missed(struct sampler *s)
{
	struct profiler_stats stats;
	struct sampler_ticks ticks;

	sampler_ticks(s, &ticks);
	assert_int_equal(sampler_stats(s, &stats), 0);
	return ticks.due > ticks.idle + stats.samples ? ticks.due - ticks.idle - stats.samples : 0;
}

/*
 * Two children share a CPU unevenly, and run only while they are sampled: what the scheduler says
 * they used and how often they were met are two accounts of the same, but for ticks that were not
 * made.
 */
static void test_share(void **state)
{
	struct sampler_options options = cpu_clock(997);
	const uint64_t hz = sysconf(_SC_CLK_TCK);
	struct tally *t = tally_new();
	uint64_t used[2], count[2], missed, until = now() + PATIENCE_NS;
	double share, met, margin, expected;
	struct sampler *s;
	unsigned int cpu;
	pid_t child[2];
	int first, last;

	(void)state;
	usable_cpus(&first, &last);
	cpu = last;
	options.cpus = &cpu;
	options.ncpus = 1;
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
	missed = ticks_missed(s);
	print_message("ticks %" PRIu64 " %" PRIu64 ", samples %" PRIu64 " %" PRIu64 ", %" PRIu64
		      " missed\n",
		      used[0], used[1], count[0], count[1], missed);
	assert_true(used[0] + used[1] >= hz);
	share = (double)used[1] / (used[0] + used[1]);
	met = (double)count[1] / (count[0] + count[1]);
	margin = 0.06 + (double)missed / (double)(count[0] + count[1] + missed);
	if (met < share - margin || met > share + margin)
		fail_msg("a share of %.3f was met as %.3f", share, met);
	expected = (double)(used[0] + used[1]) * options.frequency / hz;
	if (count[0] + count[1] + missed < expected * 0.75 || count[0] + count[1] > expected * 1.15)
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

static int set_started(struct sampler *s, pid_t pid, uint64_t start)
{
	return sampler_set_target(s, pid, &(struct target){.start = start, .chosen = 1});
}

static void test_targets(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	struct tally *t = tally_new();
	struct procstat stat;
	struct sampler *s;
	pid_t one, two;

	(void)state;
	one = start_child("t-one", spin, 0, -1);
	two = start_child("t-two", spin, 0, -1);
	s = start_sampler(&options);
	/* without filtering a target is nothing special */
	assert_int_equal(sampler_set_target(s, one, &any_start), 0);
	drain_until(s, t, two, 50);
	assert_int_equal(sampler_set_filtering(s, FILTER_LISTED), 0);
	drain_old(s, t);
	drain_until(s, t, one, 200);
	assert_int_equal(t->nthreads, 1);
	assert_int_equal(sampler_set_target(s, two, &any_start), 0);
	drain_until(s, t, two, 50);
	drain_until(s, t, one, 50);
	assert_int_equal(t->nthreads, 2);
	assert_int_equal(sampler_set_target(s, one, NULL), 0);
	drain_old(s, t);
	drain_until(s, t, two, 200);
	assert_int_equal(t->nthreads, 1);
	/* the number alone does not do where the start of the process is known */
	assert_int_equal(procstat_read(one, &stat), 0);
	assert_int_equal(set_started(s, one, stat.start + 1), 0);
	drain_old(s, t);
	drain_until(s, t, two, 200);
	assert_int_equal(t->nthreads, 1);
	assert_int_equal(set_started(s, one, stat.start), 0);
	drain_until(s, t, one, 50);
	assert_int_equal(sampler_set_filtering(s, FILTER_NONE), 0);
	drain_until(s, t, one, 50);
	sampler_free(s);
	end_child(one);
	end_child(two);
	tally_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load),	  cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_full_ring), cmocka_unit_test(test_filling),
		cmocka_unit_test(test_cpu_list),  cmocka_unit_test(test_share),
		cmocka_unit_test(test_sides),	  cmocka_unit_test(test_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
