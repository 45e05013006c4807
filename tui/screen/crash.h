/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_CRASH_H
#define STACKTOP_TUI_SCREEN_CRASH_H

/*
 * Signals while the screen is up. Those that ask (INT, TERM, HUP, QUIT, WINCH, TSTP) become bytes
 * in a pipe that the main loop polls, since any thread may get them. Those that kill (SEGV, BUS,
 * ABRT, FPE, ILL) give the terminal back first and say where it happened. The state is global
 * because handlers have no argument.
 */

/* Installs the handlers and lets the signals through to the calling thread, also if they were
 * blocked when the program began. Returns the end of the pipe to be read, or -errno. Bytes are
 * signal numbers. */
int crash_open(void);
/* Puts the former handlers and the thread's mask back and closes the pipe. */
void crash_close(void);

/* Before the terminal's modes are changed: remembers them. */
void crash_terminal_before(void);
/* The terminal was taken: strings of terminfo(5) that undo it, NULL where it has none. */
void crash_terminal_taken(const char *exit_screen, const char *show_cursor, const char *plain,
			  const char *keypad);
void crash_terminal_given_back(void);

#endif
