// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=tracker_proc,--wrap=tracker_open_mapped,--wrap=tracker_place */
/* build: -Wl,--wrap=tracker_code_names,--wrap=tracker_runs_hotspot,--wrap=procfile_ask */
/*
 * Names of code made at run time, round by round, of perf maps of this process and of children of
 * other users. The tracker knows nothing of them.
 * Covers: tui/symbolize/jit.c symbols/base/quota.c symbols/names/perfmap.c
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/tracker.h"
#include "symbols/base/memory.h"
#include "symbols/files/fileasker.h"
#include "symbols/files/procfile.h"
#include "tests/support/rights.h"
#include "tui/symbolize/jit.h"

#define FIRST	 12345u /* users */
#define SECOND	 12346u
#define MANY	 4u
#define JIT_SIZE (3u << 20)
#define LINES	 1500u /* of a large map: each process may have a third of the above */
#define ROUNDS	 20u   /* in which it is read: a user reads a twelfth of the above in one */
#define LARGE	 3000u /* lines of one that has more bytes than a round reads */

bool __wrap_tracker_proc(struct tracker *t, const struct tracker_exec *of,
			 struct tracker_proc *out);
bool __wrap_tracker_proc(struct tracker *t, const struct tracker_exec *of, struct tracker_proc *out)
{
	(void)t;
	(void)of;
	(void)out;
	return false;
}

int __wrap_tracker_open_mapped(struct tracker *t, const struct tracker_exec *of,
			       bool (*is_wanted)(const char *name));
int __wrap_tracker_open_mapped(struct tracker *t, const struct tracker_exec *of,
			       bool (*is_wanted)(const char *name))
{
	(void)t;
	(void)of;
	(void)is_wanted;
	return -ENOENT;
}

void __wrap_tracker_place(struct tracker *t, const struct tracker_exec *of, uint64_t frame,
			  struct code_place *out);
void __wrap_tracker_place(struct tracker *t, const struct tracker_exec *of, uint64_t frame,
			  struct code_place *out)
{
	(void)t;
	(void)of;
	(void)frame;
	*out = (struct code_place){.kind = PLACE_JIT};
}

static bool hotspot;

bool __wrap_tracker_runs_hotspot(struct tracker *t, const struct tracker_exec *of);
bool __wrap_tracker_runs_hotspot(struct tracker *t, const struct tracker_exec *of)
{
	(void)t;
	(void)of;
	return hotspot;
}

static int asked_err;	  /* instead of the file; 0: it comes */
static bool asked_copies; /* what comes is a copy */

int __real_procfile_ask(const struct procfile_owner *owner, const char *path,
			struct fileasker *asker, const struct file_facts *known,
			struct file_facts *facts);
int __wrap_procfile_ask(const struct procfile_owner *owner, const char *path,
			struct fileasker *asker, const struct file_facts *known,
			struct file_facts *facts);
int __wrap_procfile_ask(const struct procfile_owner *owner, const char *path,
			struct fileasker *asker, const struct file_facts *known,
			struct file_facts *facts)
{
	int fd = asked_err ? asked_err : __real_procfile_ask(owner, path, asker, known, facts);

	if (fd >= 0)
		facts->copied = asked_copies;
	return fd;
}

static uint64_t described; /* version of the process's own description; 0: none */

int __wrap_tracker_code_names(struct tracker *t, const struct tracker_exec *of, uint64_t *version,
			      tracker_name_fn *fn, void *arg);
int __wrap_tracker_code_names(struct tracker *t, const struct tracker_exec *of, uint64_t *version,
			      tracker_name_fn *fn, void *arg)
{
	(void)t;
	(void)of;
	if (!described || *version == described)
		return 0;
	*version = described;
	return fn(arg, described << 12, 16, described == 1 ? "one" : "two") ? -ENOMEM : 1;
}

static struct jit *jit;
static struct tracker_exec self;

static int setup(void **state)
{
	static struct memory_plan plan;

	(void)state;
	memory_plan(&plan, (uint64_t)1 << 33, 0, &(struct memory_given){0});
	plan.part[MEMORY_JIT] = JIT_SIZE;
	memory_use(&plan);
	self = (struct tracker_exec){.pid = getpid()};
	return jit_new(NULL, NULL, &jit);
}

static void map_path(char path[64], pid_t pid)
{
	snprintf(path, 64, "/tmp/perf-%d.map", (int)pid);
}

static int teardown(void **state)
{
	char path[64];

	(void)state;
	map_path(path, getpid());
	unlink(path);
	jit_free(jit);
	return 0;
}

static void put(const char *mode, const char *text)
{
	char path[64];
	FILE *file;

	map_path(path, getpid());
	file = fopen(path, mode);
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void assert_name(uint64_t addr, const char *name)
{
	const char *found = jit_find(jit, &self, addr);

	assert_non_null(found);
	assert_string_equal(found, name);
}

/* A name that changes is in doubt in the round in which that is seen and in the next. */
static void test_rounds(void **state)
{
	uint64_t versions[4];

	(void)state;
	put("w", "1000 10 alpha\n2000 10 other\n");
	assert_name(0x1000, "alpha");
	versions[0] = jit_version(jit, &self);
	jit_age(jit);
	put("a", "1000 10 bravo\n");
	versions[1] = jit_version(jit, &self);
	assert_name(0x1000, JIT_REWRITTEN);
	assert_name(0x2000, "other");
	jit_age(jit);
	versions[2] = jit_version(jit, &self);
	assert_name(0x1000, JIT_REWRITTEN);
	jit_age(jit);
	versions[3] = jit_version(jit, &self);
	assert_name(0x1000, "bravo");
	assert_name(0x2000, "other");
	assert_int_not_equal(versions[1], versions[0]);
	assert_int_equal(versions[2], versions[1]);
	assert_int_not_equal(versions[3], versions[2]);
}

/* Code is looked at in the round in which it is sampled, which may be long after. */
static void test_rounds_apart(void **state)
{
	(void)state;
	put("w", "1000 10 alpha\n");
	assert_name(0x1000, "alpha");
	put("a", "1000 10 bravo\n1000 10 alpha\n");
	for (int i = 0; i < 5; i++)
		jit_age(jit);
	assert_name(0x1000, JIT_REWRITTEN); /* it was bravo meanwhile */
	for (int i = 0; i < 5; i++)
		jit_age(jit);
	assert_name(0x1000, "alpha");
}

/* What the file held when the first stack came is no change. */
static void test_early(void **state)
{
	(void)state;
	put("w", "1000 10 alpha\n1000 10 bravo\n2000 10 other\n");
	jit_seen(jit, getpid(), 0x1000);
	put("a", "2000 10 another\n3000 10 new\n");
	assert_name(0x1000, "bravo");
	assert_name(0x2000, JIT_REWRITTEN);
	assert_name(0x3000, "new");
}

static void test_replaced(void **state)
{
	char path[64];

	(void)state;
	put("w", "1000 10 alpha\n");
	assert_name(0x1000, "alpha");
	jit_age(jit);
	map_path(path, getpid());
	unlink(path);
	put("w", "1000 10 alpha\n2000 10 other\n");
	assert_name(0x1000, JIT_REWRITTEN);
	assert_name(0x2000, JIT_REWRITTEN);
	jit_age(jit);
	jit_age(jit);
	assert_name(0x1000, "alpha");
	assert_name(0x2000, "other");
}

/*
 * Perf maps in another mount namespace are requested, and the answer may come too late. Reading
 * goes on in an open file if its path still leads to it. A copy, or a file that was replaced, may
 * lack newer names, so names of code in it are in doubt.
 */
static void test_asked_in_vain(void **state)
{
	static const struct {
		int err;
		bool copies, replaced, in_doubt;
	} cases[] = {{-EAGAIN, false, false, false},
		     {-ETIMEDOUT, false, false, false},
		     {-EAGAIN, true, false, true},
		     {-EAGAIN, false, true, true},
		     {-EPERM, false, false, true}};
	uint64_t version;
	char path[64];

	(void)state;
	map_path(path, getpid());
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		asked_copies = cases[i].copies;
		put("w", "1000 10 alpha\n");
		assert_name(0x1000, "alpha");
		version = jit_version(jit, &self);
		jit_age(jit);
		asked_err = cases[i].err;
		if (cases[i].replaced)
			unlink(path);
		put("a", "2000 10 other\n");
		assert_name(0x1000, cases[i].in_doubt ? JIT_REWRITTEN : "alpha");
		assert_null(jit_find(jit, &self, 0x3000));
		if (!cases[i].in_doubt)
			assert_name(0x2000, "other");
		assert_int_not_equal(jit_version(jit, &self), version);
		version = jit_version(jit, &self);
		jit_age(jit);
		asked_err = 0;
		put("a", "1000 10 alpha\n3000 10 third\n");
		assert_name(0x3000, cases[i].replaced ? JIT_REWRITTEN : "third");
		assert_name(0x1000, cases[i].replaced ? JIT_REWRITTEN : "alpha");
		assert_int_not_equal(jit_version(jit, &self), version);
		jit_free(jit);
		assert_int_equal(jit_new(NULL, NULL, &jit), 0);
	}
	asked_copies = false;
}

/* --- users ----------------------------------------------------------------------------------- */

static void put_lines(pid_t pid, unsigned int lines, int width)
{
	char path[64];
	FILE *file;

	map_path(path, pid);
	unlink(path);
	file = fopen(path, "w");
	assert_non_null(file);
	for (unsigned int i = 0; i < lines; i++)
		fprintf(file, "%x 10 %0*u\n", 0x1000 + i * 16, width, i);
	assert_int_equal(fclose(file), 0);
}

static pid_t child_of(uid_t user, unsigned int lines)
{
	int fds[2];
	char ready;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (setgid(user) || setuid(user) || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
		    write(fds[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], &ready, 1), 1);
	close(fds[0]);
	close(fds[1]);
	put_lines(pid, lines, 400);
	return pid;
}

static void child_end(pid_t pid)
{
	char path[64];

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	map_path(path, pid);
	unlink(path);
}

static bool is_named(pid_t pid)
{
	const struct tracker_exec of = {.pid = pid};

	return jit_find(jit, &of, 0x1000) != NULL;
}

/*
 * Each of many processes of a user has names of 0.6 MiB at least, so half of all there is is enough
 * for two of them at most; what is left is for others.
 */
static void test_share_of_a_user(void **state)
{
	pid_t many[MANY], other, own;
	unsigned int named;

	(void)state;
	need_sys_ptrace();
	if (geteuid() != 0)
		skip_since("not root");
	for (unsigned int i = 0; i < MANY; i++)
		many[i] = child_of(FIRST, LINES);
	other = child_of(SECOND, 10);
	own = child_of(0, 10);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		named = 0;
		for (unsigned int i = 0; i < MANY; i++)
			named += is_named(many[i]);
		assert_true(named <= 2);
		assert_true(is_named(other)); /* whatever the first user's files take of a round */
		assert_true(is_named(own));
		jit_age(jit);
	}
	assert_true(named > 0);
	for (unsigned int i = 0; i < MANY; i++)
		child_end(many[i]);
	child_end(other);
	child_end(own);
}

/*
 * The first round has the names of a map that is larger than what a round may read, but not those
 * of any number of them.
 */
static void test_large(void **state)
{
	pid_t many[MANY];
	unsigned int named = 0;
	char name[256];

	(void)state;
	need_sys_ptrace();
	if (geteuid() != 0)
		skip_since("not root");
	put_lines(getpid(), LARGE, 200);
	snprintf(name, sizeof(name), "%0200u", LARGE - 1);
	assert_name(0x1000 + (LARGE - 1) * 16, name);
	jit_age(jit);
	for (unsigned int i = 0; i < MANY; i++) {
		many[i] = child_of(FIRST, 1);
		put_lines(many[i], LARGE, 200);
		named += is_named(many[i]);
	}
	assert_in_range(named, 1, MANY - 1);
	for (unsigned int i = 0; i < MANY; i++)
		child_end(many[i]);
}

/* With a time, it is read a step at a time, and names nothing until it is read. */
static void test_until(void **state)
{
	unsigned int rounds = 0;

	(void)state;
	put_lines(getpid(), 100, 20000);
	jit_wait_until(jit, 1);
	while (!is_named(getpid()) && rounds++ < 10)
		jit_age(jit);
	assert_in_range(rounds, 1, 9);
}

/* A map that was replaced once may have been replaced once more when its process has ended. */
static void test_ended(void **state)
{
	pid_t pid = child_of(0, 10);
	const struct tracker_exec of = {.pid = pid};
	char path[64];
	uint64_t version;
	FILE *file;

	(void)state;
	if (geteuid() != 0)
		skip_since("not root");
	assert_non_null(jit_find(jit, &of, 0x1000));
	map_path(path, pid);
	unlink(path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs("1000 10 alpha\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	for (int i = 0; i < 4; i++) {
		jit_age(jit);
		jit_find(jit, &of, 0x1000);
	}
	assert_string_equal(jit_find(jit, &of, 0x1000), "alpha");
	version = jit_version(jit, &of);
	child_end(pid);
	jit_age(jit);
	assert_string_equal(jit_find(jit, &of, 0x1000), JIT_REWRITTEN);
	assert_true(jit_version(jit, &of) != version); /* stacks with that name are named again */
}

/* One that was not keeps its names. */
static void test_ended_as_it_was(void **state)
{
	pid_t pid = child_of(0, 1);
	const struct tracker_exec of = {.pid = pid};

	(void)state;
	if (geteuid() != 0)
		skip_since("not root");
	assert_non_null(jit_find(jit, &of, 0x1000));
	child_end(pid);
	jit_age(jit);
	assert_non_null(jit_find(jit, &of, 0x1000));
	assert_string_not_equal(jit_find(jit, &of, 0x1000), JIT_REWRITTEN);
}

/* What was not used in this round makes room for what is, where it is of the same user. */
static void test_the_unused_goes(void **state)
{
	pid_t many[MANY], other;

	(void)state;
	need_sys_ptrace();
	if (geteuid() != 0)
		skip_since("not root");
	other = child_of(SECOND, 10);
	assert_true(is_named(other));
	for (unsigned int i = 0; i < MANY; i++) {
		many[i] = child_of(FIRST, LINES);
		for (unsigned int round = 0; round < ROUNDS && !is_named(many[i]); round++)
			jit_age(jit);
		assert_true(is_named(many[i]));
		jit_age(jit);
	}
	assert_true(is_named(other));
	for (unsigned int i = 0; i < MANY; i++)
		child_end(many[i]);
	child_end(other);
}

/* Each description replaces the one before as a whole. */
static void test_described(void **state)
{
	(void)state;
	described = 1;
	assert_string_equal(jit_find(jit, &self, 0x1008), "one");
	described = 2;
	assert_string_equal(jit_find(jit, &self, 0x1008), "one"); /* within the round */
	jit_age(jit);
	assert_null(jit_find(jit, &self, 0x1008));
	assert_string_equal(jit_find(jit, &self, 0x2008), "two");
	assert_null(jit_find(jit, &self, 0x2010));
	described = 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_rounds),	    TEST(test_rounds_apart),  TEST(test_early),
		TEST(test_replaced),	    TEST(test_asked_in_vain), TEST(test_share_of_a_user),
		TEST(test_the_unused_goes), TEST(test_ended),	      TEST(test_ended_as_it_was),
		TEST(test_described),	    TEST(test_large),	      TEST(test_until),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
