/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_JIT_FILES_H
#define STACKTOP_TUI_SYMBOLIZE_JIT_FILES_H

/*
 * The files of names (jit.h) of processes that may be gone when their slice is named: they are
 * opened as soon as a stack with code made by the process arrives. Used by one thread.
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
/* A new stack of the process has this address. On failure the process has no files. */
void jit_files_seen(struct jit_files *e, pid_t pid, uint64_t addr);
/* Hands over the opened files to the caller; NULL each if there is none. */
void jit_files_take(struct jit_files *e, pid_t pid, struct perfmap **map, struct jitdump **dump);
/* Begins another round, and closes files that were not taken for some rounds. */
void jit_files_age(struct jit_files *e);

#endif
