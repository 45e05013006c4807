/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_FORKED_H
#define STACKTOP_SYMBOLS_BASE_FORKED_H

/*
 * A forked process that touches files which may never answer. It may be left behind, so it holds
 * nothing of its parent.
 */

#include <stdatomic.h>
#include <stdbool.h>

#define FORKED_FD 3 /* the descriptor that it keeps */

/* In the child: leaves the terminal, and only the descriptor `keep` open, as FORKED_FD. */
void forked_let_go(int keep);

/*
 * Waits until another process has had an answer about the path, if only an error; then this one may
 * touch it: a thread that hangs on a file may be impossible to kill, and its process cannot end
 * then. False: *stop was set meanwhile.
 */
bool forked_await(const char *path, const atomic_bool *stop);

#endif
