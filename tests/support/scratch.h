/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_SCRATCH_H
#define STACKTOP_TESTS_SUPPORT_SCRATCH_H

/*
 * Files and folders of a test in $TMPDIR, which run.py removes after it; in /tmp where that is not
 * set or too long. The test fails if they cannot be made, and removes them if all is well.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SCRATCH 64 /* bytes of a path */

/* Makes an empty folder and writes its path. */
void scratch_folder(char path[SCRATCH], const char *name);
/* The end of a group of tests: removes the folder that was made last, with what is in it. */
int scratch_remove(void **state);
/* Makes an empty file, writes its path and returns a descriptor of it, which is the caller's. */
int scratch_file(char path[SCRATCH], const char *name);
/* What a file contains, which the caller frees, and its bytes. */
void *scratch_read(const char *path, size_t *size);

#endif
