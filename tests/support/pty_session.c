// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/pty_session.h"
#include "tests/support/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <utmp.h>

#include <cmocka.h>

#define RAW_MAX (1 << 20)

char demo[512];

int64_t patience(void)
{
	const char *factor = getenv("TIME_FACTOR");

	return 30000 * (factor ? atoi(factor) : 1);
}

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

void shell(const char *const *argv, const char *const *env, int reports)
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
	for (;;) {
		if (waitpid(pid, &state, WUNTRACED | WCONTINUED) < 0) {
			if (errno != EINTR)
				break;
			continue;
		}
		if (WIFSTOPPED(state))
			tcsetpgrp(0, getpid());
		if (write(reports, &state, sizeof(state)) < 0 || WIFEXITED(state) ||
		    WIFSIGNALED(state))
			break;
	}
	/* Keeps the terminal open, so that the test can still read its state. */
	sleep(30);
	_exit(0);
}

struct session *session_start(int rows, int cols, const char *const *argv, const char *const *env)
{
	struct session *s = calloc(1, sizeof(*s));
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
	int reports[2], slave;

	s->rows = rows;
	s->cols = cols;
	s->raw = calloc(1, RAW_MAX);
	assert_int_equal(pipe2(reports, O_CLOEXEC), 0);
	/* Its state is read before the program can change it. */
	assert_int_equal(openpty(&s->master, &slave, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(slave, &s->before), 0);
	s->shell = fork();
	assert_true(s->shell >= 0);
	if (s->shell == 0) {
		close(s->master);
		login_tty(slave);
		shell(argv, env, reports[1]);
	}
	close(slave);
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

void session_end(struct session *s)
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

int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool pump(struct session *s, int ms)
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

const char *screen_text(struct session *s)
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

/* The program's state as in proc_pid_stat(5); '-': it has ended. */
static char program_state(const struct session *s)
{
	char path[32], state = '-';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)s->program);
	file = fopen(path, "r");
	if (!file)
		return state;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(file);
	return state;
}

void wait_for(struct session *s, const char *want)
{
	int64_t until = now_ms() + patience();

	while (!strstr(screen_text(s), want)) {
		if (now_ms() > until)
			fail_msg("'%s' did not appear (state %c):\n%s", want, program_state(s),
				 s->text);
		pump(s, 50);
	}
}

void session_type(struct session *s, const char *keys)
{
	assert_int_equal(write(s->master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

int state_next(struct session *s)
{
	struct pollfd fd = {.fd = s->reports, .events = POLLIN};
	int64_t until = now_ms() + patience();
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

void assert_given_back(struct session *s)
{
	struct termios after;

	/* The last output comes by a worker of the kernel, which may be late. */
	for (int64_t until = now_ms() + patience();
	     (s->alternate || s->cursor_hidden) && now_ms() < until; pump(s, 50))
		;
	assert_int_equal(tcgetattr(s->master, &after), 0);
	assert_int_equal(after.c_lflag, s->before.c_lflag);
	assert_int_equal(after.c_iflag, s->before.c_iflag);
	assert_int_equal(after.c_oflag, s->before.c_oflag);
	assert_false(s->alternate);
	assert_false(s->cursor_hidden);
}

struct session *demo_start(int rows, int cols, const char *first, const char *second)
{
	const char *argv[] = {demo, NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", first, second, NULL};

	return session_start(rows, cols, argv, env);
}

void wait_for_raw(struct session *s, const char *want)
{
	for (int64_t until = now_ms() + patience(); !strstr(s->raw, want); pump(s, 50))
		if (now_ms() > until)
			fail_msg("'%s' was not written (state %c):\n%s", want, program_state(s),
				 s->raw);
}

const char *real_binary(void)
{
	const char *binary = getenv("STACKTOP_BIN");

	if (!binary || access(binary, X_OK)) {
		skip_since("STACKTOP_BIN is not set: the real binary is not tested here");
	}
	return binary;
}

const char *sampling_binary(void)
{
	need_sampling();
	return real_binary();
}

void pty_setup(const char *program)
{
	const char *room = strstr(program, "/app/");

	assert_non_null(room);
	snprintf(demo, sizeof(demo), "%.*s/demo", (int)(room - program), program);
	signal(SIGPIPE, SIG_IGN);
	/* The settings of who runs the tests are none of theirs. */
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
}
