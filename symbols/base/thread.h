/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_THREAD_H
#define STACKTOP_SYMBOLS_BASE_THREAD_H

/*
 * Threads of the program. Signals that ask are for the main thread, those of a crash for the thread
 * that crashes; a handler with SA_ONSTACK works there even when the thread's own stack is full.
 */

#include <pthread.h>
#include <signal.h>

/* Starts a thread with a second stack for handlers. -ENOMEM, or what pthread_create(3) says. */
int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
/* All but those of a crash, in this thread and in those that it starts; before may be NULL. */
void thread_block_signals(sigset_t *before);

#endif
