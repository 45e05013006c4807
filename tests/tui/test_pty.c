// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The screen on a pseudo-terminal, seen through a terminal emulator: what it shows, and that the
 * terminal is given back however the program ends. demo (beside this program) needs no rights and
 * is always tested; STACKTOP_BIN names the real binary, which samples this machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <vterm.h>

#define RAW_MAX	 (1 << 20)
#define PATIENCE 10000 /* ms; the machine may be busy */
#define MAX_ENV	 8

struct session {
	VTerm *vt;
	VTermScreen *screen;
	int rows, cols;
	int master;
	int reports; /* wait(2) states of the program, from the shell */
	pid_t shell; /* leader of the terminal's session */
	pid_t program;
	struct termios before;
	bool alternate, cursor_hidden;
	char *raw; /* all that was written, NUL-terminated */
	size_t nraw;
	char text[200 * 64 * 8];
};

static char demo[512];

static int on_property(VTermProp property, VTermValue *value, void *user)
{
	struct session *s = user;

	if (property == VTERM_PROP_ALTSCREEN)
		s->alternate = value->boolean;
	if (property == VTERM_PROP_CURSORVISIBLE)
		s->cursor_hidden = !value->boolean;
	return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = on_property};

static volatile pid_t shell_program;

/* What `fg` does. */
static void shell_continue(int signal)
{
	(void)signal;
	tcsetpgrp(0, shell_program);
	kill(shell_program, SIGCONT);
}

/* A shell is needed between: the group of a session's leader is never stopped by ^Z. */
static void shell(const char *const *argv, const char *const *env, int reports)
{
	pid_t pid;
	int state;

	signal(SIGTTOU, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		tcsetpgrp(0, getpid());
		signal(SIGTTOU, SIG_DFL);
		for (; *env; env++)
			putenv((char *)*env);
		execv(argv[0], (char *const *)argv);
		_exit(126);
	}
	shell_program = pid;
	signal(SIGUSR1, shell_continue);
	if (write(reports, &pid, sizeof(pid)) < 0)
		_exit(1);
	while (waitpid(pid, &state, WUNTRACED | WCONTINUED) > 0) {
		if (WIFSTOPPED(state))
			tcsetpgrp(0, getpid());
		if (write(reports, &state, sizeof(state)) < 0 || WIFEXITED(state) ||
		    WIFSIGNALED(state))
			break;
	}
	/* The terminal's state can be read while somebody has it open. */
	sleep(30);
	_exit(0);
}

static struct session *session_start(int rows, int cols, const char *const *argv,
				     const char *const *env)
{
	struct session *s = calloc(1, sizeof(*s));
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
	int reports[2];

	s->rows = rows;
	s->cols = cols;
	s->raw = calloc(1, RAW_MAX);
	assert_int_equal(pipe2(reports, O_CLOEXEC), 0);
	s->shell = forkpty(&s->master, NULL, NULL, &size);
	assert_true(s->shell >= 0);
	if (s->shell == 0) {
		tcgetattr(0, &s->before);
		shell(argv, env, reports[1]);
	}
	tcgetattr(s->master, &s->before);
	close(reports[1]);
	s->reports = reports[0];
	assert_int_equal(read(s->reports, &s->program, sizeof(s->program)), sizeof(s->program));
	fcntl(s->master, F_SETFL, O_NONBLOCK);
	s->vt = vterm_new(rows, cols);
	vterm_set_utf8(s->vt, 1);
	s->screen = vterm_obtain_screen(s->vt);
	vterm_screen_enable_altscreen(s->screen, 1);
	vterm_screen_set_callbacks(s->screen, &callbacks, s);
	vterm_screen_reset(s->screen, 1);
	s->cursor_hidden = false;
	return s;
}

static void session_end(struct session *s)
{
	kill(s->program, SIGKILL);
	kill(s->shell, SIGKILL);
	waitpid(s->shell, NULL, 0);
	close(s->master);
	close(s->reports);
	vterm_free(s->vt);
	free(s->raw);
	free(s);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads what was written within ms; false: nothing came. */
static bool pump(struct session *s, int ms)
{
	struct pollfd fd = {.fd = s->master, .events = POLLIN};
	char buffer[4096];
	ssize_t n;

	if (poll(&fd, 1, ms) <= 0)
		return false;
	n = read(s->master, buffer, sizeof(buffer));
	if (n <= 0)
		return false;
	vterm_input_write(s->vt, buffer, (size_t)n);
	if (s->nraw + (size_t)n < RAW_MAX) {
		memcpy(s->raw + s->nraw, buffer, (size_t)n);
		s->nraw += (size_t)n;
	}
	return true;
}

static const char *screen_text(struct session *s)
{
	char *to = s->text;

	for (int row = 0; row < s->rows; row++) {
		for (int col = 0; col < s->cols; col++) {
			VTermScreenCell cell;
			uint32_t ch;

			vterm_screen_get_cell(s->screen, (VTermPos){row, col}, &cell);
			ch = cell.chars[0];
			/* Letters are compared; every other character is a question mark. */
			*to++ = ch == 0 ? ' ' : ch < 0x7f ? (char)ch : '?';
		}
		*to++ = '\n';
	}
	*to = '\0';
	return s->text;
}

static void wait_for(struct session *s, const char *want)
{
	int64_t until = now_ms() + PATIENCE;

	while (!strstr(screen_text(s), want)) {
		if (now_ms() > until)
			fail_msg("'%s' did not appear:\n%s", want, s->text);
		pump(s, 50);
	}
}

static void type(struct session *s, const char *keys)
{
	assert_int_equal(write(s->master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* Next state of the program as wait(2) tells it. */
static int state_next(struct session *s)
{
	struct pollfd fd = {.fd = s->reports, .events = POLLIN};
	int64_t until = now_ms() + PATIENCE;
	int state;

	while (poll(&fd, 1, 0) == 0) {
		if (now_ms() > until)
			fail_msg("the program did not end:\n%s", screen_text(s));
		pump(s, 20);
	}
	assert_int_equal(read(s->reports, &state, sizeof(state)), sizeof(state));
	while (pump(s, 50))
		;
	return state;
}

static void assert_given_back(struct session *s)
{
	struct termios after;

	assert_int_equal(tcgetattr(s->master, &after), 0);
	assert_int_equal(after.c_lflag, s->before.c_lflag);
	assert_int_equal(after.c_iflag, s->before.c_iflag);
	assert_int_equal(after.c_oflag, s->before.c_oflag);
	assert_false(s->alternate);
	assert_false(s->cursor_hidden);
}

#define XTERM "TERM=xterm-256color"

static struct session *demo_start(int rows, int cols, const char *first, const char *second)
{
	const char *argv[] = {demo, NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", first, second, NULL};

	return session_start(rows, cols, argv, env);
}

/* --- tests --------------------------------------------------------------------------------- */

static void keys_change_the_screen(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);

	(void)state;
	wait_for(s, "[1 Procs]");
	assert_true(s->alternate);
	assert_true(s->cursor_hidden);
	wait_for(s, "nginx: wor");
	type(s, "\t");
	wait_for(s, "[2 Funcs]");
	type(s, "\x1b[Z"); /* Shift-Tab */
	wait_for(s, "[1 Procs]");
	type(s, "3");
	wait_for(s, "CALL TREE");
	type(s, "\x1bOP"); /* F1 */
	wait_for(s, "stacktop: keys");
	type(s, "\x1b");
	wait_for(s, "[3 Tree]");
	type(s, "A77\r");
	wait_for(s, "attaches 77");
	type(s, "z");
	wait_for(s, "FROZEN");
	type(s, "q");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
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

static void signals_that_ask_end_it(void **state)
{
	(void)state;
	ends_by_signal(SIGINT, (128 + SIGINT) << 8);
	ends_by_signal(SIGTERM, (128 + SIGTERM) << 8);
	ends_by_signal(SIGHUP, (128 + SIGHUP) << 8);
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

static void control_c_ends_it(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);

	(void)state;
	wait_for(s, "nginx: wor");
	type(s, "\x03");
	assert_int_equal(state_next(s), (128 + SIGINT) << 8);
	assert_given_back(s);
	session_end(s);
}

static void stops_and_goes_on(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);
	int stopped;

	(void)state;
	wait_for(s, "nginx: wor");
	type(s, "\x1a");
	stopped = state_next(s);
	assert_true(WIFSTOPPED(stopped));
	assert_given_back(s);
	vterm_screen_reset(s->screen, 1);
	kill(s->shell, SIGUSR1);
	assert_true(WIFCONTINUED(state_next(s)));
	wait_for(s, "nginx: wor");
	assert_true(s->alternate);
	assert_true(s->cursor_hidden);
	type(s, "3");
	wait_for(s, "[3 Tree]");
	type(s, "q");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
}

static void resize_redraws(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);
	struct winsize size = {.ws_row = 15, .ws_col = 60};

	(void)state;
	wait_for(s, "UNWOUND");
	s->rows = 15;
	s->cols = 60;
	vterm_set_size(s->vt, 15, 60);
	assert_int_equal(ioctl(s->master, TIOCSWINSZ, &size), 0);
	/* The footer has moved up to the last line. */
	for (int64_t until = now_ms() + PATIENCE;; pump(s, 20)) {
		const char *last = screen_text(s) + 14 * 61;

		if (strncmp(last, " F1Help", 7) == 0 && !strstr(s->text, "UNWOUND"))
			break;
		if (now_ms() > until)
			fail_msg("not drawn anew:\n%s", s->text);
	}
	size = (struct winsize){.ws_row = 5, .ws_col = 20};
	s->rows = 5;
	s->cols = 20;
	vterm_set_size(s->vt, 5, 20);
	assert_int_equal(ioctl(s->master, TIOCSWINSZ, &size), 0);
	for (int i = 0; i < 10; i++)
		pump(s, 50);
	type(s, "3jjE21q");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
}

static void terminals_that_work(void **state)
{
	static const char *const terms[] = {"TERM=xterm",  "TERM=vt100",	 "TERM=linux",
					    "TERM=screen", "TERM=tmux-256color", "TERM=ansi"};

	(void)state;
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		struct session *s = demo_start(24, 80, terms[i], NULL);
		int64_t until = now_ms() + 300;

		while (now_ms() < until || s->nraw < 1000)
			if (!pump(s, 50) && now_ms() > until + PATIENCE)
				break;
		if (!strstr(s->raw, "Procs")) {
			/* A small system may lack the description; then it is told so. */
			assert_non_null(strstr(s->raw, "unknown"));
		} else {
			type(s, "q");
			assert_int_equal(state_next(s), 0);
		}
		session_end(s);
	}
}

static void terminals_that_do_not(void **state)
{
	static const struct {
		const char *term, *message;
	} cases[] = {
		{"TERM=dumb", "cannot move its cursor"},
		{"TERM=nosuch-terminal", "TERM=nosuch-terminal is unknown"},
		{"TERM=", "TERM is not set"},
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct session *s = demo_start(24, 80, cases[i].term, NULL);

		assert_int_equal(state_next(s), 1 << 8);
		assert_non_null(strstr(s->raw, cases[i].message));
		assert_non_null(strstr(s->raw, "--batch"));
		assert_given_back(s);
		session_end(s);
	}
}

/* A colour is SGR 30 to 49 or 90 to 107, anywhere in the list of a sequence. */
static bool has_color(const char *raw)
{
	for (const char *at = raw; (at = strstr(at, "\x1b[")); at += 2) {
		const char *end = at + 2 + strspn(at + 2, "0123456789;");

		if (*end != 'm')
			continue;
		for (const char *n = at + 1; n < end; n = strpbrk(n + 1, ";m")) {
			int value = atoi(n + 1);

			if ((value >= 30 && value < 39) || (value >= 40 && value < 49) ||
			    (value >= 90 && value < 108))
				return true;
		}
	}
	return false;
}

static void colors_and_none(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);

	(void)state;
	wait_for(s, "nginx: wor");
	assert_true(has_color(s->raw));
	session_end(s);
	s = demo_start(24, 80, XTERM, "NO_COLOR=1");
	wait_for(s, "nginx: wor");
	assert_false(has_color(s->raw));
	session_end(s);
}

static void other_locales_get_ascii(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, "LC_ALL=C");

	(void)state;
	wait_for(s, "nginx: wor");
	type(s, "~3");
	wait_for(s, "[3 Tree]");
	for (size_t i = 0; i < s->nraw; i++)
		assert_true((unsigned char)s->raw[i] < 0x80);
	session_end(s);
	s = demo_start(24, 80, XTERM, NULL);
	wait_for(s, "nginx: wor");
	assert_non_null(strstr(s->raw, "●"));
	session_end(s);
}

static void real_binary_shows_this_machine(void **state)
{
	const char *binary = getenv("STACKTOP_BIN");
	const char *argv[] = {binary, NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", XTERM, NULL};
	struct session *s;

	(void)state;
	if (!binary || access(binary, X_OK)) {
		print_message("STACKTOP_BIN is not set: the real binary is not tested here\n");
		skip();
	}
	s = session_start(30, 100, argv, env);
	wait_for(s, "[1 Procs]");
	wait_for(s, "Functions of");
	type(s, "3");
	wait_for(s, "CALL TREE");
	wait_for(s, "[-]");
	type(s, "z");
	wait_for(s, "FROZEN");
	type(s, "zq");
	assert_int_equal(state_next(s), 0);
	assert_given_back(s);
	session_end(s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_change_the_screen),
		cmocka_unit_test(signals_that_ask_end_it),
		cmocka_unit_test(crashes_give_the_terminal_back),
		cmocka_unit_test(control_c_ends_it),
		cmocka_unit_test(stops_and_goes_on),
		cmocka_unit_test(resize_redraws),
		cmocka_unit_test(terminals_that_work),
		cmocka_unit_test(terminals_that_do_not),
		cmocka_unit_test(colors_and_none),
		cmocka_unit_test(other_locales_get_ascii),
		cmocka_unit_test(real_binary_shows_this_machine),
	};
	char *slash;

	(void)argc;
	snprintf(demo, sizeof(demo), "%s", argv[0]);
	slash = strrchr(demo, '/');
	snprintf(slash ? slash + 1 : demo, sizeof(demo) - (size_t)(slash ? slash + 1 - demo : 0),
		 "demo");
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
