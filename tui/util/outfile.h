/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_OUTFILE_H
#define STACKTOP_TUI_UTIL_OUTFILE_H

/*
 * A file that is there as a whole or not at all: it is written under another name beside its own,
 * and renamed when it is complete. What is not a regular file (a terminal, a pipe, /dev/null) is
 * written directly, since it must not be replaced.
 */

#include <stddef.h>
#include <stdio.h>

struct outfile;

/*
 * Replaces only files of this user, and writes only into FIFOs of this user: -EPERM, as for links
 * that root does not follow (tui/util/safepath.h). A new file has the mode that umask leaves. Other
 * errors are those of open(2) and the like; *out is NULL then.
 */
int outfile_open(const char *path, struct outfile **out);
/* The same for a file that must not exist, neither now (-EEXIST) nor when it is complete. */
int outfile_new(const char *path, struct outfile **out);
/* "PATH: why", printable, for an error of these two: -EPERM names the file and its owner. */
void outfile_error(const char *path, int err, char *to, size_t size);
/* The outfile owns it. */
FILE *outfile_stream(struct outfile *file);
/* Flushes to disk, renames the file to its name, and frees. The -errno of either. */
int outfile_commit(struct outfile *file);
/* Frees, and leaves nothing behind. file may be NULL. */
void outfile_abandon(struct outfile *file);

#endif
