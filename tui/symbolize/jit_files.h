/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_JIT_FILES_H
#define STACKTOP_TUI_SYMBOLIZE_JIT_FILES_H

/*
 * The files of names (jit.h) of processes that may be gone when their slice is named: they are
 * opened as soon as a stack arrives that has code which the process made. Used by one thread.
 */

#include <stdint.h>
#include <sys/types.h>

struct jit_files;
struct fileasker;
struct jitdump;
struct perfmap;
struct tracker;

/* Neither is owned. NULL: no memory. */
struct jit_files *jit_files_new(struct tracker *tracker, struct fileasker *asker);
void jit_files_free(struct jit_files *e);
/* A new stack of the process has this address. What fails leaves the process without. */
void jit_files_seen(struct jit_files *e, pid_t pid, uint64_t addr);
/* What was opened, the caller's from now on; NULL each where there is none. */
void jit_files_take(struct jit_files *e, pid_t pid, struct perfmap **map, struct jitdump **dump);
/* Begins another round, and closes files that were not taken for some rounds. */
void jit_files_age(struct jit_files *e);

#endif
