/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_THREAD_H
#define STACKTOP_SYMBOLS_BASE_THREAD_H

/*
 * Threads of the program. Signals that request something go to the main thread, signals of a crash
 * to the thread that crashes. There, a handler with SA_ONSTACK works even if the thread's own stack
 * is full.
 */

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Starts a thread with a second stack for handlers. -ENOMEM, or what pthread_create(3) says. */
int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
/* Waits so many milliseconds for the end of a thread that may hang on a file. False: it has not
 * come; what the thread uses must not be freed any more. */
bool thread_join_within(pthread_t thread, unsigned int ms);
/* There is a thread that did not end: the process has to end without it. */
bool thread_is_stuck(void);
/* A signal that ends the program (SIGINT, SIGTERM, SIGHUP) is blocked and waits: what takes long
 * and is done before those are looked at has to end. */
bool thread_must_end(void);
/*
 * Blocks all signals but those of a crash, in this thread and those that it starts; before may be
 * NULL.
 */
void thread_block_signals(sigset_t *before);

#endif
