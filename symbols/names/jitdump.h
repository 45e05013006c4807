/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_JITDUMP_H
#define STACKTOP_SYMBOLS_NAMES_JITDUMP_H

/*
 * jit-PID.dump, which runtimes write for `perf inject --jit`: binary records of the functions that
 * they compile (Linux, tools/perf/Documentation/jitdump-specification.txt). Code has the name of
 * its last record; line numbers and unwinding information are skipped.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct codemap;
struct jitdump;

/* True if a base name is jit-PID.dump. */
bool jitdump_is_name(const char *name);

/*
 * Takes over the descriptor of a file that the process has mapped to announce it. The descriptor is
 * closed at once if there is no memory (-ENOMEM) or the file is not a regular one (-EINVAL).
 */
int jitdump_new(int fd, struct jitdump **out);
void jitdump_free(struct jitdump *jd);
/* What is in the file now counts as written before the first sample (codemap_set_round). */
void jitdump_set_early(struct jitdump *jd);

/*
 * Adds what has been written since the last call, at most *budget bytes, which are taken from the
 * budget. round: see codemap_set_round. 1: the map has changed; 0; -EINVAL: it is not such a file,
 * or makes no sense from here on; -ENOMEM, or the error of a read.
 */
int jitdump_update(struct jitdump *jd, struct codemap *map, uint64_t round, size_t *budget);
/* True if the end of the file was not reached: the rest may be about code that has a name. */
bool jitdump_is_behind(const struct jitdump *jd);

/*
 * As jitdump_update, for a piece of the file in memory, from its beginning or from where the piece
 * before ended; *taken: the bytes of whole records. For tests and the fuzzer.
 */
int jitdump_parse(struct jitdump *jd, struct codemap *map, const uint8_t *data, size_t length,
		  uint64_t *taken);
/* For them: a dump without a file. */
struct jitdump *jitdump_new_empty(void);

#endif
