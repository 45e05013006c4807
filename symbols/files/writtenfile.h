/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_WRITTENFILE_H
#define STACKTOP_SYMBOLS_FILES_WRITTENFILE_H

/*
 * Tells whether a mapped file is modified in place, for which there is no event: then the code at
 * its addresses is not what was read. The file is checked once a round, after the samples of the
 * round were counted, so a change seen in one round may belong to the round before or after it.
 */

#include <stdbool.h>
#include <stdint.h>

struct writtenfile {
	uint64_t mtime, size; /* ns; bytes; as of the last check */
	uint64_t changed;     /* round in which the above changed; 0: never */
	uint64_t read;	      /* ns; when it was last read */
	uint64_t wait;	      /* ns; not read again before that */
	bool known;	      /* mtime and size are known */
	bool stale;	      /* the file differs from what was read */
};

/*
 * The file is about to be read. fd: on a file system that answers (symbols/files/localfs.h), or -1.
 * mtime, size: those at the time of the mapping. round: not 0.
 */
void writtenfile_begin(struct writtenfile *w, int fd, uint64_t mtime, uint64_t size, uint64_t round,
		       uint64_t now);
/* Checks the file once more. True: it has changed now, and had not before. */
bool writtenfile_look(struct writtenfile *w, int fd, uint64_t round);
/* True if it may be read again: after a round without a change, and not too often. */
bool writtenfile_is_due(const struct writtenfile *w, uint64_t round, uint64_t now);
/* It is read again now: the wait until the next time grows while the file keeps changing. */
void writtenfile_again(struct writtenfile *w, uint64_t now);
/* True if a sample of this round may be of other code than what was read last. */
bool writtenfile_is_uncertain(const struct writtenfile *w, uint64_t round);

#endif
