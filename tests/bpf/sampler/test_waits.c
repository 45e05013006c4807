// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time of threads that do known things: the sums of a thread, at two moments, differ by the
 * time between these moments, and each part is what the thread itself has measured. Long waits say
 * what ended them, and threads that end say all of their time.
 *
 * Covers: bpf/sampler/waits.c bpf/prog/waits.bpf.c bpf/prog/sample.bpf.h
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/sampler/sampler.h"
#include "bpf/sampler/waits.h"
#include "tests/support/rights.h"

#define MS	     1000000ll
#define WATCHED	     (1500 * MS)
#define SETTLED	     (100 * MS)
#define LEAST_WAKE   (1 * MS)
#define THREADS_MAX  256
#define RECORDS_MAX  20000
#define SHORT_LIVES  50
#define PART_OF_1000 5 /* of a thread's time may be missing */

static long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static long long now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void pause_ns(long long ns)
{
	const struct timespec t = {ns / (1000 * MS), ns % (1000 * MS)};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL) == EINTR)
		;
}

/* --- threads that do one thing ---------------------------------------------------------------- */

enum job { SLEEPER, SPINNER, RIVAL, TAKER, HOLDER, READER, WRITER, JOBS };

static struct worker {
	pthread_t thread;
	_Atomic pid_t tid;
	clockid_t clock; /* of its CPU time */
} workers[JOBS];

static atomic_bool over;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_held, is_taken;
static int ends[2];
static atomic_uint taken_after_wait;

static void sleeps(void)
{
	while (!over)
		pause_ns(7 * MS);
}

/* Two of them share a CPU. */
static void spins(void)
{
	cpu_set_t allowed, one;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(getpid(), sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	while (!over)
		;
}

static void takes(void)
{
	for (;;) {
		sem_wait(&is_held);
		if (over)
			break;
		pthread_mutex_lock(&mutex);
		taken_after_wait++;
		pthread_mutex_unlock(&mutex);
		sem_post(&is_taken);
	}
}

static void holds(void)
{
	while (!over) {
		pthread_mutex_lock(&mutex);
		sem_post(&is_held);
		pause_ns(10 * MS);
		pthread_mutex_unlock(&mutex);
		sem_wait(&is_taken);
	}
}

static void reads(void)
{
	char byte;

	while (read(ends[0], &byte, 1) == 1)
		;
}

static void writes(void)
{
	while (!over) {
		pause_ns(10 * MS);
		if (write(ends[1], "x", 1) != 1)
			break;
	}
	close(ends[1]);
}

static void (*const job_of[JOBS])(void) = {sleeps, spins, spins, takes, holds, reads, writes};

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_getcpuclockid(pthread_self(), &w->clock);
	w->tid = (pid_t)syscall(SYS_gettid);
	job_of[w - workers]();
	return NULL;
}

static int begin_work(void **state)
{
	(void)state;
	over = false;
	sem_init(&is_held, 0, 0);
	sem_init(&is_taken, 0, 0);
	if (pipe(ends))
		return -1;
	for (int i = 0; i < JOBS; i++) {
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return -1;
		while (!workers[i].tid)
			pause_ns(MS);
	}
	return 0;
}

static int end_work(void **state)
{
	(void)state;
	over = true;
	sem_post(&is_held);
	sem_post(&is_taken);
	for (int i = 0; i < JOBS; i++)
		pthread_join(workers[i].thread, NULL);
	close(ends[0]);
	return 0;
}

/* --- what is seen of them --------------------------------------------------------------------- */

static struct wait_record waits[RECORDS_MAX];
static struct thread_entry lasts[RECORDS_MAX];
static size_t nwaits, nlasts;

static void keep(const struct stack_record *rec, void *arg)
{
	(void)arg;
	if (rec->kernel == STACK_WAIT && nwaits < RECORDS_MAX)
		memcpy(&waits[nwaits++], rec, sizeof(waits[0]));
	if (rec->kernel == STACK_THREAD && nlasts < RECORDS_MAX)
		lasts[nlasts++] = ((const struct thread_record *)rec)->thread;
}

static struct sampler *follow(void)
{
	const struct sampler_options options = {.type = PERF_TYPE_SOFTWARE,
						.config = PERF_COUNT_SW_CPU_CLOCK,
						.frequency = 99,
						.shards_max = 1};
	struct sampler *s = NULL;
	char error[256] = "";

	need_sampling();
	nwaits = nlasts = 0;
	if (sampler_new(&options, &s, error, sizeof(error)) ||
	    sampler_start(s, error, sizeof(error)) ||
	    sampler_follow_waits(s, 1000, LEAST_WAKE, error, sizeof(error)))
		fail_msg("%s", error);
	return s;
}

static void drain(struct sampler *s)
{
	const struct sampler_count *counts;
	size_t n;

	assert_int_equal(sampler_drain(s, keep, NULL, &counts, &n), 0);
}

/* What the kernel and the thread itself know of it, and its entry, all at one moment. */
struct look {
	struct thread_entry entry;
	long long from, to; /* the moment */
	long long cpu, ready;
	bool found;
};

static void keep_look(uint64_t key, const struct thread_entry *t, void *arg)
{
	struct look *looks = arg;

	(void)key;
	for (int i = 0; i < JOBS; i++) {
		if (t->tgid == (__u32)getpid() && t->tid == (__u32)workers[i].tid) {
			assert_false(looks[i].found);
			looks[i].entry = *t;
			looks[i].found = true;
		}
	}
}

static long long ready_ns(pid_t tid)
{
	char path[64];
	long long ns = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	file = fopen(path, "r");
	if (file && fscanf(file, "%*d %lld", &ns) != 1)
		ns = -1;
	if (file)
		fclose(file);
	return ns;
}

static void look_at(struct sampler *s, struct look looks[JOBS])
{
	memset(looks, 0, JOBS * sizeof(*looks));
	for (int i = 0; i < JOBS; i++) {
		looks[i].from = now();
		looks[i].cpu = clock_ns(workers[i].clock);
		looks[i].ready = ready_ns(workers[i].tid);
	}
	assert_int_equal(waits_take(sampler_waits(s)), 0);
	waits_threads(sampler_waits(s), keep_look, looks);
	for (int i = 0; i < JOBS; i++)
		looks[i].to = now();
}

static long long sum_of(const struct thread_entry *t)
{
	long long sum = 0;

	for (int i = 0; i < THREAD_STATES; i++)
		sum += (long long)t->spent[i];
	return sum;
}

/* ns of a state between two looks, the time since the thread's last change included. */
static long long spent(const struct look *from, const struct look *to, int state)
{
	long long ns = (long long)(to->entry.spent[state] - from->entry.spent[state]);

	ns += to->entry.state == (__u32)state ? to->to - (long long)to->entry.since : 0;
	ns -= from->entry.state == (__u32)state ? from->to - (long long)from->entry.since : 0;
	return ns;
}

static void assert_near(const char *what, long long got, long long want, long long slack)
{
	if (got < want - slack || got > want + slack)
		fail_msg("%s: %lld us, not %lld us (+- %lld us)", what, got / 1000, want / 1000,
			 slack / 1000);
}

/* Entries change when a thread does, so all that it has spent until then is in one of the sums. */
static void check_sums(const struct look *from, const struct look *to)
{
	long long sum = sum_of(&to->entry) - sum_of(&from->entry);
	long long passed = (long long)(to->entry.since - from->entry.since);

	assert_near("a thread's sums", sum, passed, passed / 10000 + 10000);
}

/* The rest of its waits is of that cause. */
static const int causes[JOBS] = {[SLEEPER] = THREAD_SLEEP,
				 [TAKER] = THREAD_LOCK,
				 [READER] = THREAD_PIPE,
				 [WRITER] = THREAD_SLEEP};

/* What the thread and the kernel have measured. Their clocks were read a bit earlier. */
static void check_parts(int job, const struct look *from, const struct look *to)
{
	long long wall = to->to - from->to, looked = to->to - to->from + from->to - from->from;
	long long slack = wall * PART_OF_1000 / 1000 + looked + 2 * MS;
	long long on = spent(from, to, THREAD_ON), ready = spent(from, to, THREAD_RUNNABLE);

	assert_near("on a CPU", on, to->cpu - from->cpu, slack);
	if (from->ready >= 0 && to->entry.state != THREAD_RUNNABLE &&
	    from->entry.state != THREAD_RUNNABLE)
		assert_near("runnable", ready, to->ready - from->ready, slack);
	if (causes[job])
		assert_near("of one cause", spent(from, to, causes[job]), wall - on - ready, slack);
}

static uint64_t missed_so_far(struct sampler *s)
{
	struct wait_stats stats;

	assert_int_equal(waits_stats(sampler_waits(s), &stats), 0);
	return stats.missed;
}

static void test_sums(void **state)
{
	static struct look from[JOBS], to[JOBS];
	struct sampler *s;
	uint64_t missed;

	(void)state;
	s = follow();
	pause_ns(SETTLED);
	missed = missed_so_far(s);
	look_at(s, from);
	pause_ns(WATCHED);
	look_at(s, to);
	missed = missed_so_far(s) - missed;
	if (missed)
		print_message("the kernel has not reported %" PRIu64 " switches\n", missed);
	for (int i = 0; i < JOBS; i++) {
		long long all = 0;

		assert_true(from[i].found && to[i].found);
		assert_int_equal(from[i].entry.start, to[i].entry.start);
		check_sums(&from[i], &to[i]);
		for (int c = 0; c < THREAD_STATES; c++)
			all += spent(&from[i], &to[i], c);
		assert_near("all of a thread's time", all, to[i].to - from[i].to,
			    (to[i].to - from[i].to) * PART_OF_1000 / 1000);
		if (!missed)
			check_parts(i, &from[i], &to[i]);
	}
	sampler_free(s);
}

static const struct worker *worker_of(pid_t tid)
{
	for (int i = 0; i < JOBS; i++)
		if (workers[i].tid == tid)
			return &workers[i];
	return NULL;
}

/* Is that who ends a wait of this worker? */
static bool is_waker(const struct worker *of, const struct waker *by)
{
	switch (of - workers) {
	case TAKER:
		return by->tgid == (__u32)getpid() && by->tid == (__u32)workers[HOLDER].tid;
	case READER:
		return by->tgid == (__u32)getpid() && by->tid == (__u32)workers[WRITER].tid;
	default: /* an interrupt, whatever it interrupts */
		return !by->tgid || by->kernel;
	}
}

static void test_wakers(void **state)
{
	size_t met[JOBS] = {0}, right[JOBS] = {0}, all = 0, good = 0;
	struct wait_stats stats;
	struct sampler *s;

	(void)state;
	s = follow();
	pause_ns(WATCHED);
	drain(s);
	for (size_t i = 0; i < nwaits; i++) {
		const struct wait_record *w = &waits[i];
		const struct worker *of =
			w->tgid == (__u32)getpid() ? worker_of((pid_t)w->tid) : NULL;

		assert_in_range(w->state, THREAD_LOCK, THREAD_STATES - 1);
		assert_int_not_equal(w->state, THREAD_SLEEP); /* the thread itself set the timer */
		assert_true(w->ns >= LEAST_WAKE);
		assert_in_range(w->nwakers, 0, WAKERS_MAX);
		if (!of)
			continue;
		met[of - workers]++;
		right[of - workers] += w->nwakers && is_waker(of, &w->wakers[0]);
		if (of == &workers[TAKER])
			assert_int_equal(w->state, THREAD_LOCK);
		if (of == &workers[READER])
			assert_int_equal(w->state, THREAD_PIPE);
	}
	assert_int_equal(waits_stats(sampler_waits(s), &stats), 0);
	assert_int_equal(stats.lost, 0);
	for (int i = 0; i < JOBS; i++) {
		if (i == TAKER || i == READER) /* the others have no long waits, or sleep */
			assert_in_range(met[i], 20, RECORDS_MAX);
		print_message("job %d: %zu of %zu wakers are right\n", i, right[i], met[i]);
		all += met[i];
		good += right[i];
	}
	assert_true(good * 100 >= all * 99);
	sampler_free(s);
}

static void *live_shortly(void *arg)
{
	long long *life = arg, began = now();

	pause_ns(5 * MS);
	*life = now() - began;
	return NULL;
}

/* Each thread that ends says all of its time. */
static void test_ends(void **state)
{
	long long lives[SHORT_LIVES], asleep = 0, most = 0, least = 0;
	struct sampler *s;
	size_t found = 0;

	(void)state;
	s = follow();
	for (int i = 0; i < SHORT_LIVES; i++) {
		long long began = now();
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, live_shortly, &lives[i]), 0);
		pthread_join(thread, NULL);
		most += now() - began;
		least += lives[i];
	}
	drain(s);
	for (size_t i = 0; i < nlasts; i++) {
		if (lasts[i].tgid != (__u32)getpid())
			continue;
		found++;
		asleep += (long long)lasts[i].spent[THREAD_SLEEP];
		least -= sum_of(&lasts[i]);
		most -= sum_of(&lasts[i]);
	}
	assert_int_equal(found, SHORT_LIVES);
	assert_in_range(asleep, SHORT_LIVES * 5 * MS, INT64_MAX);
	assert_true(least < MS);
	assert_true(most > -(long long)MS);
	sampler_free(s);
}

/* Not followed any more, and again: nothing of before is left. */
static void test_again(void **state)
{
	static struct look before[JOBS], after[JOBS];
	struct sampler *s;
	char error[256];

	(void)state;
	s = follow();
	pause_ns(SETTLED);
	look_at(s, before);
	sampler_leave_waits(s);
	assert_null(sampler_waits(s));
	pause_ns(SETTLED);
	assert_int_equal(sampler_follow_waits(s, 1000, LEAST_WAKE, error, sizeof(error)), 0);
	assert_int_equal(sampler_follow_waits(s, 1000, LEAST_WAKE, error, sizeof(error)), 0);
	pause_ns(SETTLED);
	look_at(s, after);
	for (int i = 0; i < JOBS; i++) {
		assert_true(before[i].found && after[i].found);
		assert_true(sum_of(&after[i].entry) < after[i].to - before[i].to - SETTLED);
	}
	sampler_free(s);
}

static unsigned int cause_of(const __u64 *calls, long call)
{
	return calls[call / 16] >> call % 16 * 4 & 15;
}

static void test_calls(void **state)
{
	__u64 calls[CALLS_MAX / 16];

	(void)state;
	waits_calls(calls);
	assert_int_equal(cause_of(calls, SYS_futex), THREAD_LOCK);
	assert_int_equal(cause_of(calls, SYS_clock_nanosleep), THREAD_SLEEP);
	assert_int_equal(cause_of(calls, SYS_ppoll), THREAD_POLL);
	assert_int_equal(cause_of(calls, SYS_fsync), THREAD_DISK);
	assert_int_equal(cause_of(calls, SYS_wait4), THREAD_CHILD);
	assert_int_equal(cause_of(calls, SYS_recvfrom), THREAD_SOCKET);
	assert_int_equal(cause_of(calls, SYS_read), CALL_BY_FILE);
	assert_int_equal(cause_of(calls, SYS_write), CALL_BY_FILE);
	assert_int_equal(cause_of(calls, SYS_getpid), THREAD_ON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test_setup_teardown(test_sums, begin_work, end_work),
		cmocka_unit_test_setup_teardown(test_wakers, begin_work, end_work),
		cmocka_unit_test_setup_teardown(test_again, begin_work, end_work),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
