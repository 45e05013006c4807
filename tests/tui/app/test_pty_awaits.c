// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The real binary on a pseudo-terminal: what is typed before it samples is done, a failed attach is
 * told, the cursor goes to what was attached, and a process that sleeps is said to.
 * Covers: tui/collect/collector.c tui/collect/collector_post.c tui/collect/procwatch.c
 * Covers: tui/ui/attach.c tui/views/inspector_waits.c
 */
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
#include <vterm.h>

#include "tests/support/pty_session.h"
#include "tests/support/scratch.h"

static char folder[SCRATCH];

/*
 * A program of that name, which ends with this one. It is another file, since a fork of this one
 * would have the threads of its sanitizer, too.
 */
static pid_t start(const char *name, bool busy)
{
	char path[2 * SCRATCH];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(symlink(busy ? "/bin/sh" : "/bin/sleep", path), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (busy)
		execl(path, "sh", "-c", "while :; do :; done", (char *)NULL);
	else
		execl(path, "sleep", "3600", (char *)NULL);
	_exit(1);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void wait_for_cursor_on(struct session *s, const char *want)
{
	char row[256];

	for (int64_t until = now_ms() + patience(); now_ms() < until; pump(s, 50)) {
		const char *line = screen_text(s);

		for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
			snprintf(row, sizeof(row), "%.*s", (int)strcspn(line, "\n"), line);
			/* Behind the mark of what is attached. */
			if ((row[0] == '>' || row[1] == '>') && strstr(row, want))
				return;
		}
	}
	fail_msg("the cursor is not on %s:\n%s", want, screen_text(s));
}

static void what_is_awaited_is_said(void **state)
{
	const char *argv[] = {sampling_binary(), "-d", "0.5", NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", XTERM, NULL};
	pid_t busy = start("t-awaits-busy", true), idle = start("t-awaits-idle", false);
	struct session *s = session_start(24, 100, argv, env);
	char text[80];

	(void)state;
	wait_for(s, "[1 Procs]");
	session_type(s, ":attach t-no-such\r");
	wait_for(s, "attached to nothing: no process of");
	session_type(s, ":attach t-awaits-busy\r");
	wait_for(s, "attached to 1 process named t-awaits-busy, and to those that start later");
	snprintf(text, sizeof(text), " %d ", (int)busy);
	wait_for_cursor_on(s, text);
	snprintf(text, sizeof(text), ":attach %d\r", (int)idle);
	session_type(s, text);
	snprintf(text, sizeof(text), "attached to %d", (int)idle);
	wait_for(s, text);
	session_type(s, ":detach\r");
	wait_for(s, "the whole machine is sampled");
	snprintf(text, sizeof(text), ":inspect %d\r", (int)idle);
	session_type(s, text);
	snprintf(text, sizeof(text), "%d t-awaits-idle is idle: it has had no sample", (int)idle);
	wait_for(s, text);
	end(idle);
	snprintf(text, sizeof(text), "Process %d has exited: no walk of it will come.", (int)idle);
	wait_for(s, text);
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
	end(busy);
}

/* q ends it also while it still loads. */
static void ends_before_it_samples(void **state)
{
	const char *argv[] = {sampling_binary(), NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", XTERM, NULL};
	struct session *s = session_start(24, 80, argv, env);

	(void)state;
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
}

static int setup(void **state)
{
	(void)state;
	scratch_folder(folder, "awaits");
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_awaited_is_said),
		cmocka_unit_test(ends_before_it_samples),
	};

	(void)argc;
	pty_setup(argv[0]);
	return cmocka_run_group_tests(tests, setup, scratch_remove);
}
