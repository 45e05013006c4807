/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_SMALLFILE_H
#define STACKTOP_TUI_UTIL_SMALLFILE_H

/* Settings and themes, which are read whole from folders that another user may own. */

#include <stdbool.h>
#include <stddef.h>

/*
 * The caller frees *text, which has *length bytes and a NUL; NULL if this fails. Never waits, and
 * reads `max` bytes at most. own: root takes no file of another user. -EINVAL: no regular file;
 * -EFBIG; -EPERM: another user's, or behind a link that root does not follow (tui/util/safepath.h);
 * -ENOMEM, or what open(2) and read(2) say.
 */
int smallfile_read(const char *path, size_t max, bool own, char **text, size_t *length);

#endif
