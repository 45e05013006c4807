/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_LIVETHREAD_H
#define STACKTOP_SYMBOLS_FILES_LIVETHREAD_H

#include <sys/types.h>

/*
 * A thread that still has the memory and the root of its process: the first one, unless it has
 * ended while others live. Use its number in /proc in place of the process's, which stands for the
 * first thread. Returns pid itself if no thread lives.
 */
pid_t livethread(pid_t pid);

#endif
