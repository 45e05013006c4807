/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_LINES_H
#define STACKTOP_SYMBOLS_FILES_LINES_H

/* Reads a text file line by line, and piece by piece: it is never held as a whole. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Gets a line without its newline. Any result but 0 ends the reading. */
typedef int lines_fn(const char *line, const char *end, void *arg);

/*
 * Calls fn for each line of a file from where it is, and returns what fn did, -errno of a read, or
 * -ENOMEM. A last line without a newline was cut: it is left out. Of a line of 64 KiB or more only
 * its end is passed.
 */
int lines_read(int fd, lines_fn *fn, void *arg);
/* The same for the whole lines of a text in memory, which take *taken bytes. */
int lines_whole(const char *text, size_t length, lines_fn *fn, void *arg, size_t *taken);
/* The same for all of a text, whose last line needs no newline. */
int lines_parse(const char *text, size_t length, lines_fn *fn, void *arg);

/*
 * Takes a number from *at, which moves behind its digits. False: there are none, or one that the
 * base (10 or 16) does not have, or more than 64 bits of them.
 */
bool lines_number(const char **at, const char *end, unsigned int base, uint64_t *value);

#endif
