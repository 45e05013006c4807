/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_LEAVE_H
#define STACKTOP_TUI_LEAVE_H

/*
 * The end of the program, which waits for no thread for long: a thread may be within a system call
 * on a file that does not answer.
 */

/*
 * Milliseconds for the collector, and again for all that is freed after it: 800, or STACKTOP_END_MS
 * of the environment (up to ten minutes), for tools that slow the program and look for leaks.
 */
unsigned int leave_ms(void);

/*
 * From now on the process ends after ms milliseconds at the latest, with this status, as by
 * _exit(2). All output has to be complete. Without memory for a thread there is no limit.
 */
void leave_within(unsigned int ms, int status);

/* All was freed in time: the process exits by itself. */
void leave_done(void);

/* Ends the process now. Buffered output is written; nothing is freed and no thread is joined. */
void leave_now(int status) __attribute__((noreturn));

#endif
