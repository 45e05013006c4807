/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_FILE_H
#define STACKTOP_TUI_SESSION_SESSION_FILE_H

/* Where a session is written to. */

#include <stddef.h>

/*
 * An empty, locked file of that name, readable by its owner alone, who is the caller: a new one, or
 * one that was a session, under this name only. The descriptor, which the caller closes, or -errno;
 * error says what is wrong.
 */
int session_file_new(const char *path, char *error, size_t size);

#endif
