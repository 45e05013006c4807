// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Terminals of many kinds, seen from the side of the terminal: those that cannot move a cursor,
 * that have no colours, no mouse or no UTF-8, and those that read lines.
 * Covers: tui/screen/terminal.c tui/screen/mouse.c tui/app/plain.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <vterm.h>

#include "tests/support/pty_session.h"

static void terminals_that_work(void **state)
{
	static const char *const terms[] = {"TERM=xterm",  "TERM=vt100",	 "TERM=linux",
					    "TERM=screen", "TERM=tmux-256color", "TERM=ansi"};

	(void)state;
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		struct session *s = demo_start(24, 80, terms[i], NULL);
		int64_t until = now_ms() + 300;

		while (now_ms() < until || s->nraw < 1000)
			if (!pump(s, 50) && now_ms() > until + patience())
				break;
		if (!strstr(s->raw, "Procs")) {
			/* A small system may lack the description; then it is told so. */
			assert_non_null(strstr(s->raw, "unknown"));
		} else {
			session_type(s, "q");
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
		assert_non_null(strstr(s->raw, "--plain"));
		assert_given_back(s);
		session_end(s);
	}
}

/* Nothing but lines, typed and read, and a terminal that is left as it was. */
static void lines_need_no_terminal_type(void **state)
{
	static const char *const terms[] = {"TERM=dumb", "TERM="};
	const char *argv[] = {demo, "--plain", NULL};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *env[] = {"LC_ALL=C", terms[i], NULL};
		struct session *s = session_start(24, 80, argv, env);

		wait_for_raw(s, "\r\n1. 203.0 % PID 4121 nginx: worker process");
		session_type(s, "zoom nginx\r");
		wait_for_raw(s, "Functions of 4121 nginx");
		assert_given_back(s);
		session_type(s, i ? "quit\r" : "\x04");
		assert_int_equal(state_next(s), 0);
		assert_given_back(s);
		for (size_t k = 0; k < s->nraw; k++)
			assert_true(strchr("\r\n\b", s->raw[k]) ||
				    (s->raw[k] >= ' ' && s->raw[k] < 0x7f));
		session_end(s);
	}
}

static void interrupted_lines_end(void **state)
{
	const char *argv[] = {demo, "--plain", NULL};
	const char *env[] = {"LC_ALL=C", "TERM=dumb", NULL};
	struct session *s = session_start(24, 80, argv, env);

	(void)state;
	wait_for_raw(s, "nginx: worker");
	session_type(s, "\x03");
	assert_int_equal(state_next(s), (128 + SIGINT) << 8);
	session_end(s);
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
	session_type(s, "~3");
	wait_for(s, "[3 Tree]");
	for (size_t i = 0; i < s->nraw; i++)
		assert_true((unsigned char)s->raw[i] < 0x80);
	session_end(s);
	s = demo_start(24, 80, XTERM, NULL);
	wait_for(s, "nginx: wor");
	assert_non_null(strstr(s->raw, "●"));
	session_end(s);
}

static int count(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* Waits for the text: what came before it may be on a screen that is still being drawn. */
static void click_on(struct session *s, const char *text)
{
	const char *at;
	char report[64]; /* counts from 1 */

	wait_for(s, text);
	at = strstr(screen_text(s), text);
	assert_non_null(at);
	snprintf(report, sizeof(report), "\033[<0;%d;%dM\033[<0;%d;%dm",
		 (int)((at - s->text) % (s->cols + 1)) + 1,
		 (int)((at - s->text) / (s->cols + 1)) + 1,
		 (int)((at - s->text) % (s->cols + 1)) + 1,
		 (int)((at - s->text) / (s->cols + 1)) + 1);
	session_type(s, report);
}

static void mouse_is_taken_and_given_back(void **state)
{
	struct session *s = demo_start(24, 80, XTERM, NULL);

	(void)state;
	wait_for(s, "nginx: wor");
	for (int64_t until = now_ms() + patience(); !strstr(s->raw, "\033[?1002h\033[?1006h");
	     pump(s, 20))
		assert_true(now_ms() < until);
	click_on(s, "3 Tree");
	wait_for(s, "[3 Tree]");
	click_on(s, "F1Help");
	wait_for(s, "stacktop: keys");
	session_type(s, "\033[<65;10;10M");
	wait_for(s, " 4 to ");
	session_type(s, "x");
	wait_for(s, "[3 Tree]");
	/* Reports that are cut, absurd or of no meaning, one of them in two pieces. */
	session_type(s, "\033[<999999999999999999999999999;1;1M\033[<0;1M\033[<35;4;4M\033[<0;9");
	pump(s, 100);
	session_type(s, "999;1M\033[M !!");
	session_type(s, "\0331");
	wait_for(s, "[1 Procs]");
	session_type(s, "\x05");
	wait_for(s, "the terminal has the mouse");
	for (int64_t until = now_ms() + patience(); !strstr(s->raw, "\033[?1002l\033[?1000l");
	     pump(s, 20))
		assert_true(now_ms() < until);
	session_type(s, "\x05");
	session_type(s, "q");
	assert_int_equal(state_next(s), 0);
	assert_int_equal(count(s->raw, "\033[?1000l"), count(s->raw, "\033[?1000h"));
	assert_given_back(s);
	session_end(s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminals_that_work),
		cmocka_unit_test(terminals_that_do_not),
		cmocka_unit_test(lines_need_no_terminal_type),
		cmocka_unit_test(interrupted_lines_end),
		cmocka_unit_test(colors_and_none),
		cmocka_unit_test(other_locales_get_ascii),
		cmocka_unit_test(mouse_is_taken_and_given_back),
	};

	(void)argc;
	pty_setup(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
