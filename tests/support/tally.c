// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -O1 */
#include "tests/support/rights.h"
#include "tests/support/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "symbols/files/procstat.h"

#define PID_NS_INIT 4026531836u /* PROC_PID_INIT_INO of linux/proc_ns.h */

#define RECORDS_MAX (1u << 18)

#define THREADS_MAX 8192u

#define CHILDREN_MAX 8u

static pid_t children[CHILDREN_MAX]; /* that were started and not ended; 0: no child */

/* --- what was drained ------------------------------------------------------------------------ */

struct tally *tally_new(void)
{
	struct tally *t;

	need_sampling();
	t = calloc(1, sizeof(*t));
	assert_non_null(t);
	t->stacks = calloc(RECORDS_MAX, sizeof(*t->stacks));
	t->threads = calloc(THREADS_MAX, sizeof(*t->threads));
	assert_true(t->stacks && t->threads);
	return t;
}

void tally_free(struct tally *t)
{
	free(t->stacks);
	free(t->threads);
	free(t);
}

struct seen_stack *stack_of(struct tally *t, uint64_t hash)
{
	size_t i = hash % RECORDS_MAX, tries;

	for (tries = 0; t->stacks[i].hash && t->stacks[i].hash != hash; i = (i + 1) % RECORDS_MAX)
		assert_true(tries++ < RECORDS_MAX);
	return &t->stacks[i];
}

void on_stack(const struct stack_record *rec, void *arg)
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
	seen->image = rec->start_stack;
	seen->leaf = rec->frames[0];
	seen->nframes = rec->nframes;
	memcpy(seen->first, rec->frames,
	       (rec->nframes < FIRST_FRAMES ? rec->nframes : FIRST_FRAMES) *
		       sizeof(rec->frames[0]));
	seen->kernel = rec->kernel;
	seen->reason = rec->reason;
}

struct thread *thread_of(struct tally *t, uint32_t tgid, uint32_t tid)
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
	thread->image = c->value.start_stack;
	if (c->key.user)
		thread->last_user = c->key.user;
	if (c->key.kernel)
		thread->last_kernel = c->key.kernel;
	memcpy(thread->comm, c->value.comm, sizeof(thread->comm));
}

size_t drain(struct sampler *s, struct tally *t)
{
	const struct sampler_count *counts;
	size_t n, i;

	assert_int_equal(sampler_drain(s, on_stack, t, &counts, &n), 0);
	for (i = 0; i < n; i++)
		add_count(t, &counts[i]);
	return n;
}

uint64_t count_of(const struct tally *t, pid_t tgid)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].tgid == (uint32_t)tgid)
			n += t->threads[i].count;
	return n;
}

uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void drain_until(struct sampler *s, struct tally *t, pid_t tgid, uint64_t n)
{
	uint64_t until = now() + PATIENCE_NS, before = count_of(t, tgid);

	while (count_of(t, tgid) < before + n) {
		if (now() > until)
			fail_msg("process %d is not sampled", tgid);
		usleep(5000);
		drain(s, t);
	}
}

void drain_old(struct sampler *s, struct tally *t)
{
	sampler_wait(s);
	drain(s, t);
	t->nthreads = 0;
	memset(t->threads, 0, THREADS_MAX * sizeof(*t->threads));
}

/* --- children -------------------------------------------------------------------------------- */

void __attribute__((noinline, unused)) spin(void)
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

void enter_kernel(void)
{
	static char buffer[65536];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
}

pid_t start_child(const char *comm, void (*work)(void), int nthreads, int cpu)
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
	for (size_t i = 0; i < CHILDREN_MAX; i++)
		if (!children[i]) {
			children[i] = pid;
			break;
		}
	return pid;
}

void end_child(pid_t pid)
{
	for (size_t i = 0; i < CHILDREN_MAX; i++)
		if (children[i] == pid)
			children[i] = 0;
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

uint64_t stat_field(pid_t pid, int number)
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

struct sampler_options cpu_clock(unsigned int frequency)
{
	return (struct sampler_options){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.frequency = highest_rate(frequency),
		.shards_max = 1,
	};
}

/* Children that work need not do so while programs are loaded. */
static void pause_children(pid_t paused[CHILDREN_MAX])
{
	for (size_t i = 0; i < CHILDREN_MAX; i++) {
		struct procstat stat;

		paused[i] = 0;
		/* A test may have stopped it for itself. */
		if (!children[i] || procstat_read(children[i], &stat) || stat.state == 'T')
			continue;
		paused[i] = children[i];
		kill(paused[i], SIGSTOP);
	}
}

struct sampler *start_sampler(const struct sampler_options *options)
{
	pid_t paused[CHILDREN_MAX];
	struct sampler *s;
	struct stat st;
	char error[256];
	int err;

	need_sampling();
	if (stat("/proc/self/ns/pid", &st) || st.st_ino != PID_NS_INIT)
		skip_since("not in the first PID namespace");
	pause_children(paused);
	err = sampler_new(options, &s, error, sizeof(error));
	if (!err) {
		err = sampler_start(s, error, sizeof(error));
		if (err)
			sampler_free(s);
	}
	for (size_t i = 0; i < CHILDREN_MAX; i++)
		if (paused[i])
			kill(paused[i], SIGCONT);
	if (err == -EPERM || err == -EACCES)
		skip_without("CAP_BPF");
	if (err)
		fail_msg("%d: %s", err, error);
	return s;
}
