/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_LIVETHREAD_H
#define STACKTOP_SYMBOLS_FILES_LIVETHREAD_H

#include <sys/types.h>

/*
 * A thread of the process that has its memory and its root: the first of them, unless that has
 * ended while others live. Its number serves in /proc as the process's does, where only the first
 * thread is asked. The process's own number where there is no such thread.
 */
pid_t livethread(pid_t pid);

#endif
