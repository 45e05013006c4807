/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_JIT_H
#define STACKTOP_TUI_SYMBOLIZE_JIT_H

/*
 * Names of code that processes make while they run, from what their runtimes write for profilers
 * (symbols/names/jitdump.h, symbols/names/perfmap.h). Files are searched and read once a round.
 * Used by one thread, without the profile's lock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fileasker;
struct jit;
struct tracker;
struct tracker_exec;

/* Neither is owned. asker: for files that may not answer; see procfile_ask. -ENOMEM. */
int jit_new(struct tracker *tracker, struct fileasker *asker, struct jit **out);
void jit_free(struct jit *jit);

/* From then on (CLOCK_MONOTONIC) nothing is read on in this round; 0: the number of bytes decides.
 */
void jit_wait_until(struct jit *jit, uint64_t until);

/*
 * Name of the code at a run-time address, valid for the round; NULL: unknown. Samples of the round
 * were taken before its files were read. So code that replaced other code since the previous read
 * is JIT_REWRITTEN, since the sample may be of either; and so it is in the next round, which began
 * before that read.
 */
#define JIT_REWRITTEN "[rewritten code]"
const char *jit_find(struct jit *jit, const struct tracker_exec *of, uint64_t addr);

/* Does the process run HotSpot? What the names of its code mean depends on it. */
bool jit_is_hotspot(struct jit *jit, const struct tracker_exec *of);

/* The name that is known now of the code at the address, and where that code begins and ends. */
const char *jit_extent(struct jit *jit, const struct tracker_exec *of, uint64_t addr,
		       uint64_t *start, uint64_t *end);

/*
 * Reads the files of the process and returns the version of its names, which differs after each
 * change, also of whether names are certain. Never 0.
 */
uint64_t jit_version(struct jit *jit, const struct tracker_exec *of);

/*
 * A new stack of the process has this address: if the process made the code there, its files are
 * opened, for it may be gone when the stack is named.
 */
void jit_seen(struct jit *jit, pid_t pid, uint64_t addr);

/* Begins another round, and forgets processes that were not asked about for long. */
void jit_age(struct jit *jit);

#endif
