/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_PTY_SESSION_H
#define STACKTOP_TESTS_SUPPORT_PTY_SESSION_H

/*
 * A program on a pseudo-terminal of its own, seen through a terminal emulator and started by a
 * shell that can stop it: for tests of what it shows there and what it leaves behind. demo (beside
 * the test programs) needs no rights and is always there; STACKTOP_BIN names the real binary.
 * Who includes this includes vterm.h, too, by which it is linked.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include <cmocka.h>
#include <vterm.h>

/* Milliseconds that a test waits: the machine may be busy. Longer by $TIME_FACTOR. */
int64_t patience(void);

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

extern char demo[512];

/* A shell is needed between: the group of a session's leader is never stopped by ^Z. */
void shell(const char *const *argv, const char *const *env, int reports);

struct session *session_start(int rows, int cols, const char *const *argv, const char *const *env);

void session_end(struct session *s);

int64_t now_ms(void);

/* Reads what was written within ms; false: nothing came. */
bool pump(struct session *s, int ms);

const char *screen_text(struct session *s);

void wait_for(struct session *s, const char *want);

void session_type(struct session *s, const char *keys);

/* Next state of the program as wait(2) tells it. */
int state_next(struct session *s);

void assert_given_back(struct session *s);

#define XTERM "TERM=xterm-256color"

struct session *demo_start(int rows, int cols, const char *first, const char *second);

void wait_for_raw(struct session *s, const char *want);

/* STACKTOP_BIN; without it, and without the rights to sample, the test is skipped. */
const char *real_binary(void);
const char *sampling_binary(void);

/* To be called first in main: where demo is, and what is not the business of tests. */
void pty_setup(const char *program);

#endif
