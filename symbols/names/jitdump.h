/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_JITDUMP_H
#define STACKTOP_SYMBOLS_NAMES_JITDUMP_H

/*
 * jit-PID.dump, which runtimes write for `perf inject --jit`: binary records of the functions that
 * they compile (Linux, tools/perf/Documentation/jitdump-specification.txt). Code is named as it
 * was last told; line numbers and unwinding information are passed over.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct codemap;
struct jitdump;

/* Whether a base name is jit-PID.dump. */
bool jitdump_is_name(const char *name);

/*
 * Takes over the descriptor of a file that the process has mapped to tell where it is; closed at
 * once when there is no memory (-ENOMEM) or it is no regular file (-EINVAL).
 */
int jitdump_new(int fd, struct jitdump **out);
void jitdump_free(struct jitdump *jd);
/* What is in the file now was told before anything was sampled (codemap_set_round). */
void jitdump_set_early(struct jitdump *jd);

/*
 * Adds what has been written since the last call, at most *budget bytes of it, which are taken from
 * the budget. round: see codemap_set_round. 1: the map has changed; 0; -EINVAL: it is no such file,
 * or no sense can be made of what follows; -ENOMEM, or what reading failed with.
 */
int jitdump_update(struct jitdump *jd, struct codemap *map, uint64_t round, size_t *budget);
/* The end of the file was not reached: what is there may be about code that has a name. */
bool jitdump_is_behind(const struct jitdump *jd);

/*
 * A piece of the file, from its beginning or from where the one before was left; *taken: the bytes
 * of whole records. What the tests and the fuzzer call. As jitdump_update.
 */
int jitdump_parse(struct jitdump *jd, struct codemap *map, const uint8_t *data, size_t length,
		  uint64_t *taken);
/* For them: a dump without a file. */
struct jitdump *jitdump_new_empty(void);

#endif
