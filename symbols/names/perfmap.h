/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_PERFMAP_H
#define STACKTOP_SYMBOLS_NAMES_PERFMAP_H

/*
 * /tmp/perf-PID.map, which runtimes write for profilers: a line `START SIZE NAME` for each function
 * that they compile, numbers in hexadecimal with or without 0x (Linux, tools/perf/Documentation/
 * jit-interface.txt).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct codemap;
struct fileasker;
struct perfmap;
struct procfile_owner;

/* Finds no file yet. NULL: no memory. */
struct perfmap *perfmap_new(void);
void perfmap_free(struct perfmap *pm);

/* Closes the file, and knows nothing of it any more. */
void perfmap_close(struct perfmap *pm);

/* Opens the file ahead of the first perfmap_update, and what is in it now was told before anything
 * was sampled (codemap_set_round); owner: not NULL. asker: as in procfile_ask. False: it may not be
 * read, or not yet. */
bool perfmap_open(struct perfmap *pm, const struct procfile_owner *owner, struct fileasker *asker);

/*
 * Adds what has been written since the last call, at most *budget bytes of it, which are taken from
 * the budget. owner: NULL when the process is gone; then the file that is open is read to its end.
 * A file that was replaced, cut or written anew empties the map first. round: see
 * codemap_set_round. 1: the map has changed; 0; -ENOENT: there is no file that may be read;
 * -ENOMEM, or what reading failed with.
 */
int perfmap_update(struct perfmap *pm, const struct procfile_owner *owner, struct fileasker *asker,
		   struct codemap *map, uint64_t round, size_t *budget);
/* The end of the file was not reached, or whether it is the same could not be seen: there may be
 * newer names of code that has one. */
bool perfmap_is_behind(const struct perfmap *pm);

/*
 * Adds the whole lines of a text; *taken: their bytes. Lines that make no sense are skipped.
 * What the tests and the fuzzer call. -ENOMEM.
 */
int perfmap_parse(struct codemap *map, const char *text, size_t length, size_t *taken);

#endif
