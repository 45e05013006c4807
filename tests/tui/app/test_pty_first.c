// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the real binary shows of live processes before a key is pressed, and while the process under
 * the cursor stops and ends.
 * Covers: tui/views/view_procs.c tui/screen/list.c
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <vterm.h>

#include "tests/support/busychild.h"
#include "tests/support/pty_session.h"

#define SLEEPERS 12

static volatile unsigned int turns;

static void __attribute__((noinline, no_sanitize("thread"))) pty_busy(void)
{
	for (;;)
		turns++;
}

/* A few samples a second. */
static void __attribute__((noinline, no_sanitize("thread"))) pty_little(void)
{
	for (;;) {
		for (int i = 0; i < 2000000; i++)
			turns++;
		usleep(50000);
	}
}

/* Samples these processes alone, so that it does not matter what else is busy. */
static struct session *sample(const pid_t *pids, size_t n)
{
	const char *argv[] = {sampling_binary(), "-F", "499", "-p", NULL, NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", XTERM, NULL};
	char list[16 * (SLEEPERS + 2)] = "";
	size_t length = 0;

	for (size_t i = 0; i < n; i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%d",
					   i ? "," : "", (int)pids[i]);
	argv[4] = list;
	return session_start(24, 80, argv, env);
}

/* Whether a line of the list of processes, the one with the cursor if so wanted, is of the PID. */
static bool has_row(struct session *s, pid_t pid, bool cursor)
{
	char number[24];

	snprintf(number, sizeof(number), " %d ", (int)pid);
	for (const char *line = screen_text(s); line && *line;) {
		const char *end = strchr(line, '\n'), *mark = strchr(line, '>');

		if (!end)
			break;
		if ((!cursor || (mark && mark - line < 2)) &&
		    memmem(line, (size_t)(end - line), number, strlen(number)))
			return true;
		line = end + 1;
	}
	return false;
}

static void wait_for_cursor(struct session *s, pid_t pid)
{
	for (int64_t until = now_ms() + patience(); !has_row(s, pid, true); pump(s, 50))
		if (now_ms() > until)
			fail_msg("the cursor is not on %d:\n%s", (int)pid, s->text);
}

static void leave(struct session *s)
{
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	session_end(s);
}

static void cursor_is_on_the_busiest_until_a_key_moves_it(void **state)
{
	pid_t pids[2];
	struct session *s;

	(void)state;
	sampling_binary();
	pids[0] = busychild_new("pty-first", pty_busy);
	pids[1] = busychild_new("pty-later", pty_busy);
	kill(pids[1], SIGSTOP);
	s = sample(pids, 2);
	session_type(s, ":window 2\r");
	wait_for_cursor(s, pids[0]);
	kill(pids[0], SIGSTOP);
	kill(pids[1], SIGCONT);
	wait_for_cursor(s, pids[1]);
	/* The lower half goes with it. */
	wait_for(s, "pty-later: ");
	/* It is gone for good: the cursor is on one that is there. */
	kill(pids[0], SIGCONT);
	busychild_end(pids[1]);
	wait_for_cursor(s, pids[0]);
	wait_for(s, "pty-first: ");
	busychild_end(pids[0]);
	leave(s);
}

/* The process under the cursor falls asleep behind all others, and ends there. */
static void the_busiest_stay_in_sight(void **state)
{
	pid_t pids[SLEEPERS + 2];
	struct session *s;

	(void)state;
	sampling_binary();
	for (int i = 0; i < SLEEPERS; i++)
		pids[i] = busychild_new("pty-little", pty_little);
	pids[SLEEPERS] = busychild_new("pty-busy", pty_busy);
	pids[SLEEPERS + 1] = busychild_new("pty-chosen", pty_busy);
	kill(pids[SLEEPERS], SIGSTOP);
	s = sample(pids, SLEEPERS + 2);
	session_type(s, ":window 2\r");
	wait_for_cursor(s, pids[SLEEPERS + 1]);
	session_type(s, "/pty-chosen\r");
	kill(pids[SLEEPERS + 1], SIGSTOP);
	kill(pids[SLEEPERS], SIGCONT);
	/* Its row is the last one that is seen, with others between that are not. */
	for (int64_t until = now_ms() + patience();; pump(s, 50)) {
		int seen = 0;

		for (int i = 0; i < SLEEPERS; i++)
			seen += has_row(s, pids[i], false);
		if (seen > 2 && seen < SLEEPERS && has_row(s, pids[SLEEPERS + 1], true) &&
		    has_row(s, pids[SLEEPERS], false))
			break;
		if (now_ms() > until)
			fail_msg("it has not sunk:\n%s", s->text);
	}
	busychild_end(pids[SLEEPERS + 1]);
	wait_for_cursor(s, pids[SLEEPERS]);
	leave(s);
	for (int i = 0; i <= SLEEPERS; i++)
		busychild_end(pids[i]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cursor_is_on_the_busiest_until_a_key_moves_it),
		cmocka_unit_test(the_busiest_stay_in_sight),
	};

	(void)argc;
	pty_setup(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
