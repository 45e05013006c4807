/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_SOURCEFILE_H
#define STACKTOP_SYMBOLS_FILES_SOURCEFILE_H

/*
 * Lines of a source file at a path from debug information, which is not trusted. Only regular files
 * of at most 8 MiB below the root of the profiled process are opened.
 */

#include <stddef.h>
#include <time.h>

struct sourcefile;

#define SOURCEFILE_LINE 512u /* bytes of a line; the rest is cut off */

/* root: as in rootfile_open. -EFBIG; -EINVAL: not absolute, or no regular file; -ENOMEM, or the
 * error of a system call. */
int sourcefile_read(int root, const char *path, struct sourcefile **out);
void sourcefile_free(struct sourcefile *s);
/* When it was written last. */
time_t sourcefile_written(const struct sourcefile *s);
/*
 * Line `number`, from 1 on: length bytes, not terminated, without control characters; tabs become
 * blanks up to the next multiple of 8 columns. Valid until the next call. NULL: there is none.
 */
const char *sourcefile_line(struct sourcefile *s, unsigned int number, size_t *length);

#endif
