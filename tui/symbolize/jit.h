/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_JIT_H
#define STACKTOP_TUI_SYMBOLIZE_JIT_H

/*
 * Names of code that processes made while they run, from what their runtimes write for profilers
 * (symbols/names/jitdump.h, symbols/names/perfmap.h). Files are looked for, and read on, once in a
 * round. Used by one thread, without the profile's lock.
 */

#include <stdint.h>
#include <sys/types.h>

struct fileasker;
struct jit;
struct tracker;
struct tracker_exec;

/* Neither is owned. asker: for files that may not answer; see procfile_ask. -ENOMEM. */
int jit_new(struct tracker *tracker, struct fileasker *asker, struct jit **out);
void jit_free(struct jit *jit);

/*
 * Name of the code at a run time address, valid for the round; NULL: none is known. Samples of the
 * round were taken before its files were read, so code that took the place of other code since they
 * were read before is JIT_REWRITTEN: it may be either. So it is in the next round, which began
 * before they were read.
 */
#define JIT_REWRITTEN "[rewritten code]"
const char *jit_find(struct jit *jit, const struct tracker_exec *of, uint64_t addr);

/*
 * Looks at the files of the process and tells the version of its names, which is another one after
 * each change, also of what is certain. Never 0.
 */
uint64_t jit_version(struct jit *jit, const struct tracker_exec *of);

/* A new stack of the process has this address: if the process made the code there, its files are
 * opened, for it may be gone when the stack is named. */
void jit_seen(struct jit *jit, pid_t pid, uint64_t addr);

/* Begins another round, and forgets processes that were not asked about for long. */
void jit_age(struct jit *jit);

#endif
