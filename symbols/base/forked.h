/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_FORKED_H
#define STACKTOP_SYMBOLS_BASE_FORKED_H

/*
 * A forked process that touches files which may never answer. It may be left behind, so it holds
 * nothing of its parent.
 */

#define FORKED_FD 3 /* the descriptor that it keeps */

/* In the child: leaves the terminal, and only the descriptor `keep` open, as FORKED_FD. */
void forked_let_go(int keep);

#endif
