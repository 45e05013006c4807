/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_PROCWATCH_H
#define STACKTOP_TUI_COLLECT_PROCWATCH_H

/*
 * Looks at the process whose walk a view waits for, so that the view can say why none comes. Puts
 * on the board what it sees.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tui/profile/procstate.h"

struct board;

/* Zeroed: it watches nothing. */
struct procwatch {
	_Atomic pid_t pid; /* 0: none */
	/* Of the thread that calls procwatch_turn. */
	uint64_t looked; /* ns */
	uint64_t since;	 /* ns: the first look at that process */
	struct procstate told;
};

/* From any thread: a walk of this process is waited for from now on. */
void procwatch_begin(struct procwatch *w, pid_t pid);
/* A walk of that process has come. */
void procwatch_end(struct procwatch *w, pid_t pid);
/* Call it every now and then; true: the board has something new. now: CLOCK_MONOTONIC ns. */
bool procwatch_turn(struct procwatch *w, struct board *board, uint64_t now);

#endif
