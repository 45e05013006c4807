/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_SMALLFILE_H
#define STACKTOP_TUI_UTIL_SMALLFILE_H

/* Reads settings and themes as a whole, from folders that another user may own. */

#include <stdbool.h>
#include <stddef.h>

/*
 * The caller frees *text, which has *length bytes and a NUL; NULL on failure. Never waits, and
 * reads `max` bytes at most. own: root refuses files of other users. -EINVAL: not a regular file;
 * -EFBIG; -EPERM: another user's, or behind a link that root does not follow (tui/util/safepath.h);
 * -ENOMEM, or the error of open(2) or read(2).
 */
int smallfile_read(const char *path, size_t max, bool own, char **text, size_t *length);

#endif
