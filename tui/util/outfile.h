/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_OUTFILE_H
#define STACKTOP_TUI_UTIL_OUTFILE_H

/*
 * A file that is there as a whole or not at all: it is written under another name beside its own
 * and takes that name when it is complete. What is no regular file (a terminal, a pipe, /dev/null)
 * is written as it is, for nothing may take its place.
 */

#include <stddef.h>
#include <stdio.h>

struct outfile;

/*
 * Replaces a file of this user's only, and writes into a FIFO of his own only: -EPERM, as for links
 * that root does not follow (tui/util/safepath.h). A new file has the mode that umask leaves. Else
 * what open(2) and the like say; *out is NULL then.
 */
int outfile_open(const char *path, struct outfile **out);
/* The same for a file that is not there yet, neither now (-EEXIST) nor when it is complete. */
int outfile_new(const char *path, struct outfile **out);
/* "PATH: why", printable, for an error of the two: -EPERM names the file and its owner. */
void outfile_error(const char *path, int err, char *to, size_t size);
/* Owned by the outfile. */
FILE *outfile_stream(struct outfile *file);
/* Writes what is left to disk and gives the file its name; frees. The -errno of either. */
int outfile_commit(struct outfile *file);
/* Frees, and leaves nothing behind. NULL is fine. */
void outfile_abandon(struct outfile *file);

#endif
