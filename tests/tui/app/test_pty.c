// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The screen on a pseudo-terminal: that keys reach it, and that the terminal is given back however
 * the program ends.
 * Covers: tui/app/screen.c tui/screen/terminal.c tui/screen/crash.c tui/ui/settings_thread.c
 */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <vterm.h>

#include "tests/support/pty_session.h"

static void keys_change_the_screen(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);

	(void)state;
	wait_for(s, "[1 Procs]");
	assert_true(s->alternate);
	assert_true(s->cursor_hidden);
	wait_for(s, "nginx: wor");
	session_type(s, "\t");
	wait_for(s, "[2 Funcs]");
	session_type(s, "\x1b[Z"); /* Shift-Tab */
	wait_for(s, "[1 Procs]");
	session_type(s, "3");
	wait_for(s, "CALL TREE");
	session_type(s, "\x1bOP"); /* F1 */
	wait_for(s, "stacktop: keys");
	session_type(s, "\x1b");
	wait_for(s, "[3 Tree]");
	session_type(s, "A77\r");
	wait_for(s, "engine: command 0 '77'"); /* the answer, not the notice */
	session_type(s, "z");
	wait_for(s, "FROZEN");
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
}

/* A sequence is one key, or none: its characters are not pressed. */
static void sequences_are_no_letters(void **state)
{
	static const char *const unknown[] = {"\x1b[57~",    "\x1b[1;9Q", "\x1b[[~",
					      "\x1b[?61;7c", "\x1bOz",	  "\x1b[97;5u"};
	struct session *s = demo_start(24, 100, XTERM, NULL);

	(void)state;
	wait_for(s, "nginx: wor");
	session_type(s, "2");
	wait_for(s, "[2 Funcs]");
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		session_type(s, unknown[i]);
	session_type(s, "\x1b[15~"); /* F5 */
	wait_for(s, "[3 Tree]");
	wait_for(s, "every 1.0 s");
	wait_for(s, "? LIVE");	     /* ~ would have made it a star */
	session_type(s, "\x1b[11~"); /* F1 */
	wait_for(s, "stacktop: keys");
	session_type(s, "\x1b\x1b[17~"); /* Esc, which takes the help away, and F6 */
	wait_for(s, "Sort by");
	session_type(s, "\x1b");
	wait_for(s, "ngx_process_request_line ");
	session_type(s, "1");
	wait_for(s, "[1 Procs]");
	session_type(s, "\x1b[17~");
	wait_for(s, "Sort by");
	session_type(s, "\x1b[24~\x1b");
	wait_for(s, "nginx: wor");
	session_type(s, "\x1b[4~"); /* End of a VT220; xterm's is ESC O F */
	wait_for(s, "902 kswapd0: ");
	session_type(s, "\x1b[1~");
	wait_for(s, "4121 nginx: ");
	/* Esc and another key at once, one of them a sequence, are two keys. */
	session_type(s, "/");
	wait_for(s, "Search:");
	session_type(s, "\x1b\x1b[11~");
	wait_for(s, "stacktop: keys");
	session_type(s, "\x1bz");
	wait_for(s, "FROZEN");
	wait_for(s, "every 1.0 s");
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	session_end(s);
}

static void ends_by_signal(int signal, int status)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);

	wait_for(s, "nginx: wor");
	kill(s->program, signal);
	assert_int_equal(state_next(s), status);
	assert_given_back(s);
	session_end(s);
}

/* A terminal that controls no session sends no SIGHUP when it is gone. */
static void gone_without_a_signal(void **state)
{
	const char *argv[] = {demo, NULL};
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	int64_t until = now_ms() + patience();
	char raw[65536] = "";
	size_t n = 0;
	int master, slave, end;
	pid_t pid;

	(void)state;
	assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setsid();
		putenv((char *)XTERM);
		putenv((char *)"LC_ALL=C.UTF-8");
		for (int fd = 0; fd < 3; fd++)
			dup2(slave, fd);
		close(master);
		close(slave);
		execv(argv[0], (char *const *)argv);
		_exit(126);
	}
	close(slave);
	fcntl(master, F_SETFL, O_NONBLOCK);
	while (!strstr(raw, "nginx: wor") && now_ms() < until) {
		struct pollfd fd = {.fd = master, .events = POLLIN};
		ssize_t more;

		poll(&fd, 1, 50);
		more = read(master, raw + n, sizeof(raw) - 1 - n);
		n += more > 0 ? (size_t)more : 0;
		raw[n] = '\0';
	}
	assert_non_null(strstr(raw, "nginx: wor"));
	close(master);
	for (until = now_ms() + patience(); waitpid(pid, &end, WNOHANG) == 0; usleep(20000)) {
		if (now_ms() < until)
			continue;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		fail_msg("it goes on without a terminal");
	}
	assert_int_equal(end, 0);
}

static void signals_that_ask_end_it(void **state)
{
	(void)state;
	ends_by_signal(SIGINT, (128 + SIGINT) << 8);
	ends_by_signal(SIGTERM, (128 + SIGTERM) << 8);
	ends_by_signal(SIGHUP, (128 + SIGHUP) << 8);
	ends_by_signal(SIGQUIT, (128 + SIGQUIT) << 8);
}

static void crashes_give_the_terminal_back(void **state)
{
	static const struct {
		int signal;
		const char *name;
	} crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct session *s = demo_start(24, 80, XTERM, NULL);
		int end;

		wait_for(s, "nginx: wor");
		kill(s->program, crashes[i].signal);
		end = state_next(s);
		assert_true(WIFSIGNALED(end));
		assert_int_equal(WTERMSIG(end), crashes[i].signal);
		assert_given_back(s);
		assert_non_null(strstr(s->raw, crashes[i].name));
		session_end(s);
	}
}

static void ends_by_key(const char *key, int signal)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);

	wait_for(s, "nginx: wor");
	session_type(s, key);
	assert_int_equal(state_next(s), (128 + signal) << 8);
	assert_given_back(s);
	session_end(s);
}

static void control_keys_end_it(void **state)
{
	(void)state;
	ends_by_key("\x03", SIGINT);
	ends_by_key("\x1c", SIGQUIT);
}

/* The demo takes for ever for a picture of that name. */
static void nobody_waits_for_a_disk(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);
	int end;

	(void)state;
	wait_for(s, "nginx: wor");
	session_type(s, "P\x15slow.txt\rP\x15slow.txt\r");
	wait_for(s, "still being written");
	session_type(s, "2");
	wait_for(s, "[2 Funcs]");
	session_type(s, "q");
	for (int64_t until = now_ms() + patience(); s->alternate; pump(s, 20))
		if (now_ms() > until)
			fail_msg("the screen stays");
	wait_for(s, "^C abandons it");
	session_type(s, "\x03");
	end = state_next(s);
	assert_true(WIFSIGNALED(end) && WTERMSIG(end) == SIGINT);
	assert_given_back(s);
	session_end(s);
}

static void stops_and_goes_on(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);
	int stopped;

	(void)state;
	wait_for(s, "nginx: wor");
	session_type(s, "\x1a");
	stopped = state_next(s);
	assert_true(WIFSTOPPED(stopped));
	assert_given_back(s);
	vterm_screen_reset(s->screen, 1);
	kill(s->shell, SIGUSR1);
	assert_true(WIFCONTINUED(state_next(s)));
	wait_for(s, "nginx: wor");
	assert_true(s->alternate);
	assert_true(s->cursor_hidden);
	session_type(s, "3");
	wait_for(s, "[3 Tree]");
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
}

static void resize(struct session *s, int rows, int cols)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};

	s->rows = rows;
	s->cols = cols;
	vterm_set_size(s->vt, rows, cols);
	assert_int_equal(ioctl(s->master, TIOCSWINSZ, &size), 0);
}

static void resize_redraws(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);

	(void)state;
	wait_for(s, "LAST 14 s");
	resize(s, 15, 60);
	/* The footer has moved up to the last line. */
	for (int64_t until = now_ms() + patience();; pump(s, 20)) {
		const char *last = screen_text(s) + 14 * 61;

		if (strncmp(last, " F1Help", 7) == 0 && !strstr(s->text, "LAST 14 s"))
			break;
		if (now_ms() > until)
			fail_msg("not drawn anew:\n%s", s->text);
	}
	resize(s, 5, 20);
	for (int i = 0; i < 10; i++)
		pump(s, 50);
	session_type(s, "3jjE21q");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
}

/* As perf(1) blocks SIGWINCH for what it runs. */
static void blocked_signals_come_through(void **state)
{
	struct session *s;
	sigset_t all, before;

	(void)state;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	s = demo_start(24, 80, XTERM, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	wait_for(s, "nginx: wor");
	assert_null(strstr(s->text, "procs 2"));
	resize(s, 24, 160);
	wait_for(s, "procs 2");
	kill(s->program, SIGTERM);
	assert_int_equal(state_next(s), (128 + SIGTERM) << 8);
	assert_given_back(s);
	session_end(s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_change_the_screen),
		cmocka_unit_test(sequences_are_no_letters),
		cmocka_unit_test(signals_that_ask_end_it),
		cmocka_unit_test(crashes_give_the_terminal_back),
		cmocka_unit_test(control_keys_end_it),
		cmocka_unit_test(nobody_waits_for_a_disk),
		cmocka_unit_test(gone_without_a_signal),
		cmocka_unit_test(stops_and_goes_on),
		cmocka_unit_test(resize_redraws),
		cmocka_unit_test(blocked_signals_come_through),
	};

	(void)argc;
	pty_setup(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
