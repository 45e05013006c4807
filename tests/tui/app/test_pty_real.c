// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The real binary on a pseudo-terminal, which samples this machine or replays a recording, and the
 * settings of the person before it.
 * Covers: tui/app/screen.c tui/ui/settings_thread.c tui/ui/themes.c tui/app/user_files.c
 * Covers: tui/collect/collector_slice.c
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <vterm.h>

#include "tests/support/busychild.h"
#include "tests/support/machine.h"
#include "tests/support/pty_session.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tui/session/session_write.h"

static void write_text(const char *directory, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void read_text(const char *directory, const char *name, char *to, size_t size)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "r");
	assert_non_null(f);
	to[fread(to, 1, size - 1, f)] = '\0';
	fclose(f);
}

static struct session *start_with_config(const char *binary, const char *directory)
{
	const char *argv[] = {binary, NULL};
	char home[128];
	const char *env[] = {"LC_ALL=C.UTF-8", XTERM, home, NULL};

	snprintf(home, sizeof(home), "XDG_CONFIG_HOME=%s", directory);
	return session_start(30, 100, argv, env);
}

/* Written before the screen was there, or on it. */
static void wait_for_words(struct session *s, const char *want)
{
	for (int64_t until = now_ms() + patience();
	     !strstr(s->raw, want) && !strstr(screen_text(s), want); pump(s, 50))
		if (now_ms() > until)
			fail_msg("'%s' was not written:\n%s", want, s->text);
}

/* The settings of a person, on the real binary where it can sample: keys, a theme that is saved
 * while it is shown, the setup screen, and what is in the file afterwards. */
static void settings_are_kept(void **state)
{
	char dir[SCRATCH], home[128], themes[160], text[512];
	const char *binary = getenv("STACKTOP_BIN");
	struct session *s;

	(void)state;
	if (!binary || access(binary, X_OK) || !may_sample())
		binary = demo;
	scratch_folder(dir, "pty");
	snprintf(home, sizeof(home), "%s/stacktop", dir);
	snprintf(themes, sizeof(themes), "%s/themes", home);
	assert_int_equal(mkdir(home, 0700), 0);
	assert_int_equal(mkdir(themes, 0700), 0);
	write_text(home, "config",
		   "# mine\nshiny = 1\ntheme = own\nkey F5 = quit\nkey t = view-tree\n"
		   "hide.procs = THR, CONTAINER, UNIT, PID, N\001PE\n");
	write_text(
		themes, "own.theme",
		"# stacktop theme 1\n[palette]\na = #010203 17 blue\n[roles]\ntitle = a default\n");
	s = start_with_config(binary, dir);
	wait_for(s, "[1 Procs]");
	/* Before the screen, or one after the other on it if the machine is busy. */
	wait_for_words(s, "config: line 2: unknown setting 'shiny'");
	wait_for_words(s, "config: Procs has no column 'PID' that can be hidden");
	wait_for_words(s, "config: Procs has no column 'N?PE' that can be hidden");
	assert_null(strstr(s->raw, "column 'THR'"));
	assert_null(strstr(s->raw, "column 'CONTAINER'"));
	assert_null(strstr(s->raw, "column 'UNIT'"));
	session_type(s, "t");
	wait_for(s, "[3 Tree]");
	wait_for(s, "F5Quit");
	assert_non_null(strstr(s->raw, "38;5;17"));
	assert_null(strstr(s->raw, "38;5;201"));
	write_text(themes, "own.theme",
		   "# stacktop theme 1\n[palette]\na = #ff00ff 201 magenta\n[roles]\n"
		   "title = a default\n");
	for (int64_t until = now_ms() + patience(); !strstr(s->raw, "38;5;201"); pump(s, 50))
		if (now_ms() > until)
			fail_msg("the theme was not read anew");
	session_type(s, "o");
	wait_for(s, "stacktop: setup");
	session_type(s, "j ");
	wait_for(s, "< total >");
	session_type(s, "\033");
	wait_for(s, "config: written");
	session_type(s, "\033[15~"); /* F5 */
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
	read_text(home, "config", text, sizeof(text));
	assert_string_equal(text, "# mine\nshiny = 1\ntheme = own\nkey F5 = quit\n"
				  "key t = view-tree\n"
				  "hide.procs = THR, CONTAINER, UNIT, PID, N\001PE\n"
				  "window = total\n");
	snprintf(text, sizeof(text), "%s/own.theme", themes);
	unlink(text);
	snprintf(text, sizeof(text), "%s/config", home);
	unlink(text);
	/* A pipe in its place is not waited for. */
	assert_int_equal(mkfifo(text, 0600), 0);
	s = start_with_config(binary, dir);
	wait_for(s, "[1 Procs]");
	wait_for_words(s, "not a regular file");
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	session_end(s);
	unlink(text);
	rmdir(themes);
	rmdir(home);
	rmdir(dir);
}

/* A thread of the thread sanitizer itself blocks all signals, which no thread of ours does. */
static bool is_sanitizers(unsigned long long blocked)
{
#ifdef __SANITIZE_THREAD__
	return blocked == 0xfffffffe7ffbfeffull;
#else
	(void)blocked;
	return false;
#endif
}

/* A crash whose signal is blocked kills at once, and the terminal is not given back. */
static void assert_crashes_are_handled(pid_t pid)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	char path[320], line[128];
	struct dirent *entry;
	DIR *tasks;
	int seen = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	assert_non_null(tasks);
	while ((entry = readdir(tasks))) {
		unsigned long long blocked = 0;
		FILE *status;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, entry->d_name);
		status = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (status && fgets(line, sizeof(line), status))
			if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
				seen++;
		if (status)
			fclose(status);
		for (size_t i = 0;
		     !is_sanitizers(blocked) && i < sizeof(crashes) / sizeof(crashes[0]); i++)
			if (blocked & 1ull << (crashes[i] - 1))
				fail_msg("thread %s blocks signal %d", entry->d_name, crashes[i]);
	}
	closedir(tasks);
	assert_true(seen >= 4);
}

static void real_binary_shows_this_machine(void **state)
{
	const char *binary = sampling_binary();
	const char *argv[] = {binary, NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", XTERM, NULL};
	struct session *s;

	(void)state;
	s = session_start(30, 100, argv, env);
	wait_for(s, "[1 Procs]");
	wait_for(s, "CALLED BY");
	assert_crashes_are_handled(s->program);
	session_type(s, "3");
	wait_for(s, "CALL TREE");
	wait_for(s, "[-]");
	session_type(s, "7");
	wait_for(s, "taken =");
	wait_for(s, "  lost  ");
	session_type(s, "\r");
	wait_for(s, "All processes");
	wait_for(s, "reached bottom");
	session_type(s, "6");
	wait_for(s, "Layout of shard 0");
	wait_for(s, "[vdso]");
	session_type(s, "\r/stackto\r");
	wait_for(s, "Esc shards");
	session_type(s, "p");
	wait_for(s, "it keeps its table");
	wait_for(s, "pinned");
	session_type(s, "\033[3~"); /* Del */
	wait_for(s, "dropped the table of stackto");
	session_type(s, "z");
	wait_for(s, "FROZEN");
	session_type(s, "zq");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
}

#define BUSY __attribute__((noinline, no_sanitize("thread")))

static volatile unsigned int turns;

static void BUSY pty_busy_one(void)
{
	for (;;)
		turns += 1;
}

static void BUSY pty_busy_two(void)
{
	for (;;)
		turns += 2;
}

/* A busy child of the test's own, whose walk is surely caught. */
static void real_binary_inspects_a_walk(void **state)
{
	const char *binary = sampling_binary();
	const char *argv[] = {binary, "-p", NULL, NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", XTERM, NULL};
	struct session *s;
	char number[16];
	pid_t busy;

	(void)state;
	busy = busychild_new("test_pty", pty_busy_one);
	snprintf(number, sizeof(number), "%d", (int)busy);
	argv[2] = number;
	s = session_start(30, 100, argv, env);
	wait_for(s, "CALLED BY");
	wait_for(s, "test_pty");
	/* A caller is there: what is caught from now on is walked by a table. */
	wait_for(s, "_cmocka_run_group_tests");
	session_type(s, "i");
	wait_for(s, "Who called frame 0?");
	wait_for(s, "pty_busy_one");
	wait_for(s, "These steps give the very frames that the program gave.");
	session_type(s, "j");
	wait_for(s, "Who called frame 1?");
	session_type(s, "\033");
	wait_for(s, "taken =");
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	busychild_end(busy);
	session_end(s);
}

/* SELF% and SAMPLES of the function's row in Funcs; 0: it has none, or is not drawn yet. */
static int row_now(struct session *s, const char *func, double *self)
{
	const char *at = strstr(screen_text(s), func), *count;
	double total;
	int samples = 0;

	if (!at || strstr(s->text, "HOTTEST FUNCTION"))
		return 0;
	/* The column of samples is in front of that of the side, which is in front of the name. */
	for (count = at; count > s->text && count[-1] == ' '; count--)
		;
	for (count -= count > s->text; count > s->text && count[-1] == ' '; count--)
		;
	while (count > s->text && count[-1] >= '0' && count[-1] <= '9')
		count--;
	while (at > s->text && at[-1] != '\n')
		at--;
	/* Behind the mark of the cursor. */
	if (count <= at || sscanf(at + 2, "%lf %lf", self, &total) != 2)
		return 0;
	return sscanf(count, "%d", &samples) == 1 ? samples : 0;
}

/* The view is frozen, so a row that stays when all was read is not half of another. */
static int row_of(struct session *s, const char *func, double *self)
{
	for (int64_t until = now_ms() + patience(); now_ms() < until; pump(s, 50)) {
		int samples = row_now(s, func, self);

		while (samples && pump(s, 100))
			;
		if (samples && samples == row_now(s, func, self))
			return samples;
	}
	fail_msg("%s has no row:\n%s", func, s->text);
	return 0;
}

/* Which of the two has a row, while the other has none. */
static int row_alone(struct session *s)
{
	double self;

	for (int64_t until = now_ms() + patience(); now_ms() < until; pump(s, 50)) {
		bool one = row_now(s, "pty_busy_one", &self), two;

		while (pump(s, 100))
			;
		two = row_now(s, "pty_busy_two", &self);
		if (one != two && one == (row_now(s, "pty_busy_one", &self) != 0))
			return two;
	}
	fail_msg("neither has a row of its own:\n%s", s->text);
	return 0;
}

/* Two busy children: when both are tagged, Funcs is about their sum, without other processes. */
static void real_binary_sums_what_is_tagged(void **state)
{
	const char *binary = sampling_binary();
	const char *argv[] = {binary, NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", XTERM, NULL};
	double share[2], both[2];
	int samples[2];
	struct session *s;
	pid_t one, two;

	(void)state;
	one = busychild_new("pty-one", pty_busy_one);
	two = busychild_new("pty-two", pty_busy_two);
	s = session_start(30, 120, argv, env);
	wait_for(s, "CALLED BY");
	session_type(s, "\\^pty-one\r");
	wait_for(s, "pty_busy_one");
	session_type(s, "\\^pty-two\r");
	wait_for(s, "pty_busy_two");
	sleep(4); /* how they began weighs little then, even on a busy machine */
	session_type(s, "z\\comm:^pty-\r");
	wait_for(s, "keeps processes");
	wait_for(s, "FROZEN");
	session_type(s, "g\r");
	wait_for(s, "pty-");
	wait_for(s, "[2 Funcs]");
	/* Each of the two by itself; which is the first is not known. */
	for (int i = 0; i < 2; i++) {
		int which = row_alone(s);

		samples[which] = row_of(s, which ? "pty_busy_two" : "pty_busy_one", &share[which]);
		assert_true(samples[which] > 0);
		assert_true(share[which] > 90);
		session_type(s, "1g");
		wait_for(s, "[1 Procs]");
		if (i)
			break;
		session_type(s, "j\r");
		wait_for(s, "[2 Funcs]");
	}
	session_type(s, "g  ");
	wait_for(s, "2 tagged");
	session_type(s, "\033");
	session_type(s, "\033");
	session_type(s, "2");
	wait_for(s, "2 tagged:");
	wait_for(s, "[2 Funcs]");
	assert_int_equal(row_of(s, "pty_busy_one", &both[0]), samples[0]);
	assert_int_equal(row_of(s, "pty_busy_two", &both[1]), samples[1]);
	assert_true(both[0] + both[1] > 90 && both[0] + both[1] < 100.2);
	for (int i = 0; i < 2; i++) {
		/* Of the samples that the share was of, when it stood alone. */
		double alone[2] = {samples[0] * 100 / share[0], samples[1] * 100 / share[1]};

		assert_true(both[i] > 100 * samples[i] / (alone[0] + alone[1]) - 0.3);
		assert_true(both[i] < 100 * samples[i] / (alone[0] + alone[1]) + 0.3);
	}
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	busychild_end(one);
	busychild_end(two);
	session_end(s);
}

static void wait_until_gone(struct session *s, const char *text)
{
	for (int64_t until = now_ms() + patience(); strstr(screen_text(s), text); pump(s, 50))
		if (now_ms() > until)
			fail_msg("'%s' is still there:\n%s", text, s->text);
}

/* What changes the meaning of numbers stands in the header until it is taken back. */
static void real_binary_has_chips(void **state)
{
	const char *binary = sampling_binary();
	const char *argv[] = {binary, NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", XTERM, NULL};
	char attach[64];
	struct session *s;
	pid_t child;

	(void)state;
	child = busychild_new("pty-chip", pty_busy_one);
	s = session_start(24, 80, argv, env);
	wait_for(s, "CALLED BY");
	wait_for(s, "cpu0 [");
	wait_for(s, " now");
	snprintf(attach, sizeof(attach), "KA%d\r", (int)child);
	session_type(s, attach);
	wait_for(s, "[attached 1/");
	session_type(s, "2\\pty_busy\r");
	wait_for(s, "[filter pty_busy]");
	wait_for(s, "max ");
	session_type(s, "z");
	wait_for(s, "[frozen -");
	session_type(s, "3");
	wait_for(s, "[3 Tree]");
	wait_for(s, "[-kernel] [attached 1/");
	session_type(s, "r");
	wait_for(s, "LIVE");
	session_type(s, "r");
	wait_until_gone(s, "[filter");
	session_type(s, "r");
	wait_until_gone(s, "[attached");
	session_type(s, "r");
	wait_until_gone(s, "[-kernel]");
	session_type(s, "r");
	wait_for(s, "nothing to take back");
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	busychild_end(child);
	session_end(s);
}

/* Twenty seconds of the made-up machine. */
static void write_session(const char *path)
{
	struct session_writer *w;
	struct profile_health health;
	struct machine f;
	char error[256];

	machine_open(&f);
	if (session_writer_new(path, &w, error, sizeof(error)))
		fail_msg("%s", error);
	profile_lock(f.p);
	for (uint64_t n = 0; n < 20; n++) {
		struct profile_cell cells[] = {
			{f.nginx, 4121, f.stacks[0], PROFILE_NO_STACK, 50, 0, 0},
			{f.nginx, 4133, f.stacks[2], f.stacks[3], 20 + n, 0, 0},
			{n < 10 ? f.node : f.postgres, 5310, f.stacks[4], PROFILE_NO_STACK, 9, 0,
			 0},
		};

		f.time += MACHINE_SECOND;
		machine_health(&f, &health, 70 + n, 0, 70);
		health.clock = (1600000000 + n) * MACHINE_SECOND;
		assert_int_equal(profile_commit(f.p, cells, 3, &health), 0);
		assert_int_equal(session_note(w, f.p, cells, 3, &health), 0);
		assert_int_equal(session_flush(w), 0);
	}
	profile_unlock(f.p);
	session_writer_free(w);
	machine_close(&f);
}

/* As lines: without input for commands a recording ends when all of it was played. */
static void real_binary_tells_a_session(void **state)
{
	const char *binary = real_binary();
	char path[SCRATCH], command[700], line[1024];
	bool told = false, ended = false;
	FILE *out;

	(void)state;
	close(scratch_file(path, "pty"));
	write_session(path);
	snprintf(command, sizeof(command), "'%s' --plain -r %s --speed 100 </dev/null 2>&1", binary,
		 path);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		told |= strstr(line, "PID 4121 nginx") != NULL;
		ended |= strncmp(line, "END 100x 0:20/0:20", 18) == 0;
	}
	assert_int_equal(pclose(out), 0);
	assert_true(told);
	assert_true(ended);
	unlink(path);
}

static void real_binary_replays_a_session(void **state)
{
	const char *binary = real_binary();
	char path[SCRATCH], host[65] = "";
	const char *argv[] = {binary, "-r", path, "--speed", "0.5", NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", XTERM, NULL};
	struct session *s;

	(void)state;
	close(scratch_file(path, "pty"));
	write_session(path);
	s = session_start(30, 100, argv, env);
	wait_for(s, "PLAY 0.5x 0:0");
	wait_for(s, "ngx_parse_header");
	gethostname(host, sizeof(host) - 1);
	wait_for(s, host);
	session_type(s, " ");
	wait_for(s, "PAUSE 0.5x");
	session_type(s, "@5\r");
	wait_for(s, "PAUSE 0.5x 0:05/0:20");
	wait_for(s, "node server.js");
	session_type(s, "}");
	wait_for(s, "0:15/0:20");
	wait_for(s, "postgres: SELECT");
	session_type(s, ",");
	wait_for(s, "0:14/0:20");
	session_type(s, "@-10\r");
	wait_for(s, "0:04/0:20");
	session_type(s, "A");
	wait_for(s, "this is a recording");
	session_type(s, "j:attach 77\r");
	wait_for(s, "this is a recording");
	session_type(s, "6");
	wait_for(s, "[6 Shards]");
	session_type(s, "]");
	wait_for(s, "PAUSE 1x");
	session_type(s, "3@20\r");
	wait_for(s, "END 1x 0:20/0:20");
	wait_for(s, "CALL TREE");
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
	unlink(path);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_kept),
		cmocka_unit_test(real_binary_shows_this_machine),
		cmocka_unit_test(real_binary_inspects_a_walk),
		cmocka_unit_test(real_binary_sums_what_is_tagged),
		cmocka_unit_test(real_binary_has_chips),
		cmocka_unit_test(real_binary_replays_a_session),
		cmocka_unit_test(real_binary_tells_a_session),
	};

	(void)argc;
	pty_setup(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
