// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=tracker_proc */
/*
 * Which process the samples of a PID are shown as, where it has executed one program after the
 * other, or two processes had the number one after the other, and all had the same image. /proc is
 * that of this test, whose number stands for the PID; what the tracker knows is made up.
 * Covers: tui/collect/procinfo.c
 */
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/tracker.h"
#include "tui/collect/procinfo.h"
#include "tui/profile/profile.h"
#include "tui/query/query.h"

#define IMAGE  0x7ffffffde000u
#define FIRST  5000000000u /* execs */
#define SECOND 5000000001u
#define SLICE  1000000000u /* ns */

static struct told {   /* by the tracker */
	uint64_t exec; /* 0: of none */
	struct tracker_proc proc;
} told[2];

bool __wrap_tracker_proc(struct tracker *t, const struct tracker_exec *of,
			 struct tracker_proc *out);
bool __wrap_tracker_proc(struct tracker *t, const struct tracker_exec *of, struct tracker_proc *out)
{
	(void)t;
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		if (!told[i].exec || told[i].exec != of->exec_id)
			continue;
		*out = told[i].proc;
		return true;
	}
	return false;
}

struct world {
	struct profile *profile;
	struct procinfo *procs;
	uint64_t now;
};

static int setup(void **state)
{
	static struct world w;

	memset(told, 0, sizeof(told));
	w = (struct world){.now = 10ull * SLICE};
	w.profile = profile_new(10, 1000);
	if (!w.profile || procinfo_new(w.profile, NULL, &w.procs))
		return -1;
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	procinfo_free(w->procs);
	profile_free(w->profile);
	return 0;
}

static uint32_t sampled_of(struct world *w, pid_t pid, uint64_t image, uint64_t exec,
			   const char *comm)
{
	const struct tracker_exec of = {.pid = pid, .start_stack = image, .exec_id = exec};
	int64_t id = procinfo_proc(w->procs, &of, comm, w->now);

	assert_true(id >= 0);
	return (uint32_t)id;
}

static uint32_t sampled(struct world *w, uint64_t image, uint64_t exec, const char *comm)
{
	return sampled_of(w, getpid(), image, exec, comm);
}

static void end_slice(struct world *w)
{
	assert_int_equal(procinfo_update(w->procs, w->now), 0);
	procinfo_age(w->procs);
	w->now += SLICE;
}

static const struct profile_proc *proc(struct world *w, uint32_t id)
{
	return query_proc(w->profile, id);
}

/* 16 bytes, as in a count */
static const char alpha[16] = "alpha", bravo[16] = "bravo";
static const char worker[2][16] = {"kworker/0:1-ev", "kworker/0:1-mm"};

/* In whichever order their counts come out of the map. */
static void two_programs_of_a_slice_are_two_processes(void **state)
{
	struct world *w = *state;
	uint32_t first, second;

	for (int turn = 0; turn < 2; turn++) {
		const uint64_t later = turn ? 1000 : 0;

		procinfo_seen(w->procs, getpid(), (turn ? SECOND : FIRST) + later);
		procinfo_seen(w->procs, getpid(), (turn ? FIRST : SECOND) + later);
		if (turn)
			second = sampled(w, IMAGE, SECOND + later, bravo);
		first = sampled(w, IMAGE, FIRST + later, alpha);
		if (!turn)
			second = sampled(w, IMAGE, SECOND + later, bravo);
		end_slice(w);
		assert_int_not_equal(first, second);
		assert_string_equal(proc(w, first)->comm, "alpha");
		assert_string_equal(proc(w, second)->comm, "bravo");
		assert_true(proc(w, first)->exited);
		assert_false(proc(w, second)->exited);
		assert_int_equal(query_pid(w->profile, getpid()), second);
		/* /proc is the second one's */
		assert_string_equal(proc(w, first)->cmdline, "[alpha]");
		assert_string_equal(proc(w, first)->user, "");
		assert_int_equal(proc(w, first)->nthreads, 0);
		assert_non_null(strstr(proc(w, second)->cmdline, "test_procinfo"));
		assert_true(proc(w, second)->nthreads > 0);
	}
}

/* The next slice has none of the first one's samples. */
static void what_it_was_before_has_exited_at_once(void **state)
{
	struct world *w = *state;
	uint32_t first, second;
	uint64_t then;

	procinfo_seen(w->procs, getpid(), FIRST);
	first = sampled(w, IMAGE, FIRST, alpha);
	end_slice(w);
	assert_false(proc(w, first)->exited);

	then = w->now;
	procinfo_seen(w->procs, getpid(), SECOND);
	second = sampled(w, IMAGE, SECOND, bravo);
	end_slice(w);
	assert_int_not_equal(first, second);
	assert_true(proc(w, first)->exited);
	assert_true(proc(w, first)->exit_time == then);
	assert_string_equal(proc(w, first)->comm, "alpha");
	assert_false(proc(w, second)->exited);
}

/* It may take the one that lives for the one that has gone: they have one image. */
static void the_tracker_is_not_believed_that_it_lives(void **state)
{
	struct world *w = *state;
	uint32_t first;

	told[0] = (struct told){FIRST, {.ppid = 77, .comm = "bravo", .attached = true}};
	procinfo_seen(w->procs, getpid(), FIRST);
	procinfo_seen(w->procs, getpid(), SECOND);
	first = sampled(w, IMAGE, FIRST, alpha);
	sampled(w, IMAGE, SECOND, bravo);
	end_slice(w);
	assert_string_equal(proc(w, first)->comm, "alpha");
	assert_true(proc(w, first)->exited);
	assert_int_equal(proc(w, first)->ppid, 0);
}

static void the_tracker_knows_when_it_ended(void **state)
{
	struct world *w = *state;
	uint32_t first;

	told[0] = (struct told){
		FIRST, {.ppid = 77, .comm = "renamed", .exited = true, .exit_time = 12345}};
	procinfo_seen(w->procs, getpid(), FIRST);
	procinfo_seen(w->procs, getpid(), SECOND);
	sampled(w, IMAGE, SECOND, bravo);
	first = sampled(w, IMAGE, FIRST, alpha);
	end_slice(w);
	assert_string_equal(proc(w, first)->comm, "renamed");
	assert_true(proc(w, first)->exited && proc(w, first)->exit_time == 12345);
	assert_int_equal(proc(w, first)->ppid, 77);
}

/* It ends, or has called exec and runs the kernel's code for it. */
static void without_an_address_space_it_is_the_same(void **state)
{
	struct world *w = *state;
	uint32_t id;

	procinfo_seen(w->procs, getpid(), FIRST);
	id = sampled(w, 0, FIRST, alpha);
	end_slice(w);
	assert_int_equal(sampled(w, IMAGE, FIRST, alpha), id);
	end_slice(w);
	assert_false(proc(w, id)->kthread);
	assert_int_equal(sampled(w, 0, FIRST, alpha), id);
	end_slice(w);
	assert_false(proc(w, id)->kthread);
}

static void a_kernel_thread_is_one_process(void **state)
{
	struct world *w = *state;
	uint32_t id;

	told[0] = (struct told){FIRST, {.ppid = 2, .comm = "kworker/0:1", .kthread = true}};
	procinfo_seen(w->procs, getpid(), FIRST);
	id = sampled(w, 0, FIRST, worker[0]);
	end_slice(w);
	procinfo_seen(w->procs, getpid(), FIRST);
	assert_int_equal(sampled(w, 0, FIRST, worker[1]), id);
	end_slice(w);
	assert_true(proc(w, id)->kthread);
	assert_false(proc(w, id)->exited);
	assert_string_equal(proc(w, id)->comm, "kworker/0:1");
}

/* The kernel sets the name of the next image while the exec of this one is not over. */
static void a_sample_within_exec_does_not_name_the_process(void **state)
{
	struct world *w = *state;
	uint32_t id;

	procinfo_seen(w->procs, getpid(), FIRST);
	id = sampled(w, 0, FIRST, bravo);
	assert_int_equal(sampled(w, IMAGE, FIRST, alpha), id);
	assert_string_equal(proc(w, id)->comm, "alpha");
	/* in the other order, too */
	assert_int_equal(sampled(w, 0, FIRST, bravo), id);
	end_slice(w);
	assert_string_equal(proc(w, id)->comm, "alpha");
	assert_int_equal(sampled(w, 0, FIRST, bravo), id);
	end_slice(w);
	assert_string_equal(proc(w, id)->comm, "alpha");
}

/* A process of another group than its user, where this one may start such. */
/* Returns once /proc shows the program's arguments, which are there a little after exec's start. */
static pid_t start(char *const *args)
{
	char path[64], line[64] = "";
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		if (!getuid() && setegid(1))
			_exit(1);
		execvp(args[0], args);
		_exit(1);
	}
	snprintf(path, sizeof(path), "/proc/%d/cmdline", child);
	while (strcmp(line, args[0]) != 0) {
		FILE *file = fopen(path, "r");

		assert_non_null(file);
		if (!fgets(line, sizeof(line), file))
			line[0] = '\0';
		fclose(file);
		assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
	}
	return child;
}

static void a_process_has_its_arguments_and_its_user(void **state)
{
	char *const args[] = {"sleep", "300", "1", NULL};
	struct world *w = *state;
	const struct passwd *user = getpwuid(geteuid());
	const pid_t child = start(args);
	uint32_t id;

	assert_non_null(user);
	procinfo_seen(w->procs, child, FIRST);
	id = sampled_of(w, child, IMAGE, FIRST, alpha);
	end_slice(w);
	assert_string_equal(proc(w, id)->cmdline, "sleep 300 1");
	/* Another thread looks for the name, and the number stands for it until then. */
	for (int i = 0; i < 10000 && strcmp(proc(w, id)->user, user->pw_name) != 0; i++) {
		usleep(1000);
		sampled_of(w, child, IMAGE, FIRST, alpha);
		end_slice(w);
	}
	assert_string_equal(proc(w, id)->user, user->pw_name);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(two_programs_of_a_slice_are_two_processes),
		TEST(a_sample_within_exec_does_not_name_the_process),
		TEST(what_it_was_before_has_exited_at_once),
		TEST(the_tracker_is_not_believed_that_it_lives),
		TEST(the_tracker_knows_when_it_ended),
		TEST(without_an_address_space_it_is_the_same),
		TEST(a_kernel_thread_is_one_process),
		TEST(a_process_has_its_arguments_and_its_user),
	};

	return cmocka_run_group_tests_name("procinfo", tests, NULL, NULL);
}
