/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_SOURCEFILE_H
#define STACKTOP_SYMBOLS_FILES_SOURCEFILE_H

/*
 * Lines of a source file, at a path from debug information, which is not trusted. Only regular
 * files are opened, below the root of the process that runs the program, and of 8 MiB at most.
 */

#include <stddef.h>

struct sourcefile;

#define SOURCEFILE_LINE 512u /* bytes of a line; the rest is left out */

/* root: as in rootfile_open. -EFBIG; -EINVAL: not absolute, or no regular file; -ENOMEM, or the
 * error of a system call. */
int sourcefile_read(int root, const char *path, struct sourcefile **out);
void sourcefile_free(struct sourcefile *s);
/* Line from 1 on, not terminated, of length bytes, without control characters but tabs, which are
 * blanks up to the next column that 8 divides. Valid until the next call. NULL: there is none. */
const char *sourcefile_line(struct sourcefile *s, unsigned int number, size_t *length);

#endif
