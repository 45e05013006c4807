/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_PERFMAP_H
#define STACKTOP_SYMBOLS_NAMES_PERFMAP_H

/*
 * /tmp/perf-PID.map, which runtimes write for profilers: a line `START SIZE NAME` for each function
 * that they compile, numbers in hexadecimal with or without 0x (Linux,
 * tools/perf/Documentation/jit-interface.txt).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct codemap;
struct fileasker;
struct perfmap;
struct procfile_owner;

/* No file is open yet. NULL: no memory. */
struct perfmap *perfmap_new(void);
void perfmap_free(struct perfmap *pm);

/* Closes the file, and forgets it. */
void perfmap_close(struct perfmap *pm);

/*
 * Opens the file ahead of the first perfmap_update; what is in it now counts as written before the
 * first sample (codemap_set_round). owner: not NULL. asker: as in procfile_ask. False: it may not
 * be read, or not yet.
 */
bool perfmap_open(struct perfmap *pm, const struct procfile_owner *owner, struct fileasker *asker);

/*
 * Adds what has been written since the last call, at most *budget bytes, which are taken from the
 * budget. owner: NULL if the process is gone; then the file that is open is read to its end. If the
 * file was replaced, cut or rewritten, the map is emptied first. round: see codemap_set_round. 1:
 * the map has changed; 0; -ENOENT: there is no file that may be read; -ENOMEM, or the error of a
 * read.
 */
int perfmap_update(struct perfmap *pm, const struct procfile_owner *owner, struct fileasker *asker,
		   struct codemap *map, uint64_t round, size_t *budget);
/* True if the end of the file was not reached: code that has a name may have a newer one. */
bool perfmap_is_behind(const struct perfmap *pm);
/* So if it could not be asked in time whether the process has another file now. */
bool perfmap_is_unsure(const struct perfmap *pm);

/*
 * Adds the whole lines of a text; *taken: their bytes. Lines that make no sense are skipped. For
 * tests and the fuzzer. -ENOMEM.
 */
int perfmap_parse(struct codemap *map, const char *text, size_t length, size_t *taken);

#endif
