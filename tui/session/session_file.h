/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_FILE_H
#define STACKTOP_TUI_SESSION_SESSION_FILE_H

/* The file that a session is written to. */

#include <stddef.h>

/*
 * Makes an empty, locked file of that name, owned by the caller and readable by the caller alone: a
 * new one, or an old session with no other name. Returns the descriptor, which the caller closes,
 * or -errno; error says what is wrong.
 */
int session_file_new(const char *path, char *error, size_t size);

#endif
