/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_SMALLFILE_H
#define STACKTOP_TUI_UTIL_SMALLFILE_H

/* Reads settings and themes as a whole, from folders that another user may own. */

#include <stddef.h>

/* Which files root reads; other users read all that they may. */
enum smallfile_trust {
	SMALLFILE_ANY,	/* also other users' */
	SMALLFILE_OWN,	/* only root's */
	SMALLFILE_SOLE, /* only root's that no other user or group may write */
};

/*
 * The caller frees *text, which has *length bytes and a NUL; NULL on failure. Never waits, and
 * reads `max` bytes at most. -EINVAL: not a regular file; -EFBIG; -EPERM: not trusted, or behind a
 * link that root does not follow (tui/util/safepath.h); -ENOMEM, or the error of open(2) or
 * read(2).
 */
int smallfile_read(const char *path, size_t max, enum smallfile_trust trust, char **text,
		   size_t *length);

#endif
