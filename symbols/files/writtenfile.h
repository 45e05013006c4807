/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_WRITTENFILE_H
#define STACKTOP_SYMBOLS_FILES_WRITTENFILE_H

/*
 * Whether a mapped file is written in place, of which no record tells: then what is at its
 * addresses is not what was read of it. It is looked at once a round, after the samples of the
 * round were counted, so a change that is seen in one may be one of the round before or of the
 * next, too.
 */

#include <stdbool.h>
#include <stdint.h>

struct writtenfile {
	uint64_t mtime, size; /* ns; bytes; when it was last looked at */
	uint64_t changed;     /* round in which that was another; 0: never */
	uint64_t read;	      /* ns; when it was last read */
	uint64_t wait;	      /* ns; from then on it is not read again */
	bool known;	      /* mtime and size are */
	bool stale;	      /* what was read of it is not what it is */
};

/*
 * The file is going to be read. fd: of a file system that answers (symbols/files/localfs.h), or -1.
 * mtime, size: what it was when it was mapped. round: not 0.
 */
void writtenfile_begin(struct writtenfile *w, int fd, uint64_t mtime, uint64_t size, uint64_t round,
		       uint64_t now);
/* Looks at it once more. True: it has changed, and did not seem to before. */
bool writtenfile_look(struct writtenfile *w, int fd, uint64_t round);
/* May it be read again? Not before it has been left alone for a round, nor too often. */
bool writtenfile_is_due(const struct writtenfile *w, uint64_t round, uint64_t now);
/* It is read again, now: how long it has to wait for the next time grows while it is changed. */
void writtenfile_again(struct writtenfile *w, uint64_t now);
/* A sample of this round may be of other code than what was read last. */
bool writtenfile_is_uncertain(const struct writtenfile *w, uint64_t round);

#endif
