// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -O2 -fomit-frame-pointer -fno-sanitize=alignment */
/*
 * Walks of this process's own stacks, with tables of the real mapped files, compared with libgcc's
 * unwinder (backtrace): from signal handlers, threads, coroutines, callbacks, and from wherever the
 * process is interrupted at random, as by the profiler.
 *
 * The step reads words where the stack says, aligned or not, as BPF on x86 may.
 * Covers: unwind/step.h unwind/walk.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "tests/unwind/stepreal.h"

#define TRACE_MAX  1536
#define ADDRESS(f) ((f) & ~FRAME_EXACT)

/* Captured by a signal handler: the stack it interrupted, its own, and libgcc's walk of both. */
struct shot {
	struct walk walk, here;
	uint64_t sp, here_sp; /* where the two began */
	int reason, here_reason;
	int ntrace;
	void *trace[TRACE_MAX];
};

static struct shot shot;
static unsigned int shots, bad_shots, lost_shots;
static struct shot bad_shot;

static int trace_index(const struct shot *s, uint64_t pc)
{
	for (int i = 0; i < s->ntrace; i++)
		if ((uint64_t)s->trace[i] == pc)
			return i;
	return -1;
}

/* Index of the first frame, from `from` on, that differs from libgcc's; -1: none does. */
static int first_difference(const struct shot *s, const struct walk *w, int at, unsigned int from)
{
	for (unsigned int i = from; i < w->nframes; i++)
		if (at + (int)i >= s->ntrace ||
		    ADDRESS(w->frames[i]) != (uint64_t)s->trace[at + (int)i])
			return (int)i;
	return -1;
}

/* 1: all frames equal libgcc's; 0: all up to where a register is lost; -1: they differ. */
static int compare_walk(const struct shot *s, struct walk *w, int reason, int at, unsigned int from)
{
	if (first_difference(s, w, at, from) >= 0)
		return -1;
	if (register_is_lost(w, reason))
		return 0;
	return reason == WALK_BOTTOM && (int)w->nframes == s->ntrace - at ? 1 : -1;
}

static int compare_shot(struct shot *s)
{
	int at = trace_index(s, ADDRESS(s->walk.frames[0])), first, second;

	if (at < 2)
		return -1;
	first = compare_walk(s, &s->walk, s->reason, at, 0);
	second = compare_walk(s, &s->here, s->here_reason, at - 2, 1);
	return first < second ? first : second;
}

static NOINLINE void take_shot(const ucontext_t *interrupted, const ucontext_t *here)
{
	int right;

	begin_context(&shot.walk, interrupted);
	shot.sp = shot.walk.sp;
	shot.reason = host_walk(&shot.walk);
	begin_context(&shot.here, here);
	shot.here_sp = shot.here.sp;
	shot.here_reason = host_walk(&shot.here);
	shots++;
	right = compare_shot(&shot);
	if (!right)
		lost_shots++;
	else if (right < 0 && !bad_shots++)
		bad_shot = shot;
}

static NOINLINE void on_signal(int sig, siginfo_t *info, void *context)
{
	ucontext_t here;
	int error = errno;

	(void)sig;
	(void)info;
	shot.ntrace = backtrace(shot.trace, TRACE_MAX);
	getcontext(&here);
	take_shot(context, &here);
	errno = error;
}

static void print_shot(const struct shot *s)
{
	int at = trace_index(s, ADDRESS(s->walk.frames[0]));

	print_message("ended as %d and %d, frames %u and %u of %d, frame 0 is %d\n", s->reason,
		      s->here_reason, s->walk.nframes, s->here.nframes, s->ntrace, at);
	for (unsigned int i = 0; i < s->walk.nframes || at + (int)i < s->ntrace; i++)
		print_message("  %3u %16" PRIx64 " %16" PRIx64 "\n", i,
			      i < s->walk.nframes ? (uint64_t)s->walk.frames[i] : 0,
			      at >= 0 && at + (int)i < s->ntrace ? (uint64_t)s->trace[at + (int)i]
								 : 0);
}

static void catch_signal(int sig, int flags)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};

	assert_int_equal(sigaction(sig, &sa, NULL), 0);
	shots = bad_shots = lost_shots = 0;
}

static void check_shots(void)
{
	if (bad_shots)
		print_shot(&bad_shot);
	assert_int_equal(bad_shots, 0);
	assert_true(shots > 0);
}

static void act_raise(void)
{
	raise(SIGUSR1);
}

/* --- the own process ------------------------------------------------------------------- */

static bool is_exact(const struct walk *w, unsigned int i)
{
	return (w->frames[i] & FRAME_EXACT) != 0;
}

static void test_chain(void **state)
{
	(void)state;
	act = act_raise;
	catch_signal(SIGUSR1, 0);
	descend(0);
	check_shots();
	assert_int_equal(lost_shots, 0);
	/* Each link and descend has a frame; qsort and bsearch bring more. */
	assert_true(shot.walk.nframes > 2 * LINKS + 4);
	/* Exact: the interrupted frame and, in a handler, the trampoline, which no call enters. */
	for (unsigned int i = 0; i < shot.walk.nframes; i++)
		assert_int_equal(is_exact(&shot.walk, i), i == 0);
	for (unsigned int i = 0; i < shot.here.nframes; i++)
		assert_int_equal(is_exact(&shot.here, i), i <= 2);
}

static void *thread_main(void *arg)
{
	descend(0);
	return arg;
}

static void test_thread(void **state)
{
	pthread_t thread;

	(void)state;
	act = act_raise;
	catch_signal(SIGUSR1, 0);
	assert_int_equal(pthread_create(&thread, NULL, thread_main, NULL), 0);
	pthread_join(thread, NULL);
	check_shots();
}

static ucontext_t outside, inside;
static char inside_stack[512 << 10];

static void coroutine(void)
{
	descend(0);
}

/*
 * A coroutine on a stack in .bss, with a signal stack in the main thread's, far above: where a
 * handler ends, the walk goes down in memory and must not take that for a broken stack.
 */
static NOINLINE void run_coroutine(char *altstack, size_t size)
{
	stack_t alt = {.ss_sp = altstack, .ss_size = size}, off = {.ss_flags = SS_DISABLE};

	act = act_raise;
	catch_signal(SIGUSR1, SA_ONSTACK);
	assert_int_equal(sigaltstack(&alt, NULL), 0);
	assert_int_equal(getcontext(&inside), 0);
	inside.uc_stack.ss_sp = inside_stack;
	inside.uc_stack.ss_size = sizeof(inside_stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	assert_int_equal(swapcontext(&outside, &inside), 0);
	assert_int_equal(sigaltstack(&off, NULL), 0);
}

static void test_coroutine(void **state)
{
	char altstack[256 << 10];

	(void)state;
	run_coroutine(altstack, sizeof(altstack));
	check_shots();
	assert_true(shot.here_sp > shot.sp);
}

static NOINLINE int recurse(int n)
{
	int r = 0;

	if (n)
		r = recurse(n - 1);
	else
		act();
	KEEP(r);
	return r + 1;
}

static void test_too_deep(void **state)
{
	int at;

	(void)state;
	act = act_raise;
	catch_signal(SIGUSR1, 0);
	recurse(WALK_FRAMES_MAX + 100);
	at = trace_index(&shot, ADDRESS(shot.walk.frames[0]));
	assert_int_equal(shot.reason, WALK_DEPTH);
	assert_int_equal(shot.walk.nframes, WALK_FRAMES_MAX);
	assert_int_equal(first_difference(&shot, &shot.walk, at, 0), -1);
	/* One less than the limit is complete. */
	catch_signal(SIGUSR1, 0);
	recurse((int)WALK_FRAMES_MAX - 60);
	check_shots();
}

/* Code of every origin: own, libc, its string functions, the vDSO, PLT stubs. */
static void act_work(void)
{
	struct timespec ts;
	char text[64];
	char *p;

	for (int i = 0; i < 20; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		snprintf(text, sizeof(text), "%ld %g", ts.tv_nsec, (double)ts.tv_nsec / 3);
		p = malloc(vary * 10);
		if (p) {
			memset(p, text[0], vary * 10);
			KEEP(p);
			free(p);
		}
	}
}

static pthread_t sampled;
static bool sampled_ends;

static void *sampler_main(void *arg)
{
	unsigned int random = 1;

	while (!__atomic_load_n(&sampled_ends, __ATOMIC_RELAXED)) {
		random = random * 1103515245u + 12345u;
		usleep(20 + (random >> 16) % 200);
		pthread_kill(sampled, SIGPROF);
	}
	return arg;
}

/* As by the profiler: interrupted anywhere, also in prologues and PLT stubs. */
static void test_sampled(void **state)
{
	pthread_t thread;
	const char *size = getenv("SIZE");
	unsigned int want = size && !strcmp(size, "full") ? 5000 : 2000;

	(void)state;
	act = act_work;
	catch_signal(SIGPROF, SA_RESTART);
	sampled = pthread_self();
	sampled_ends = false;
	assert_int_equal(pthread_create(&thread, NULL, sampler_main, NULL), 0);
	while (shots < want)
		descend(0);
	__atomic_store_n(&sampled_ends, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	signal(SIGPROF, SIG_IGN);
	print_message("%u stacks, %u end at a lost register\n", shots, lost_shots);
	check_shots();
	assert_true(lost_shots < shots / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),	  cmocka_unit_test(test_thread),
		cmocka_unit_test(test_coroutine), cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_sampled),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
