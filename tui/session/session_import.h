/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_IMPORT_H
#define STACKTOP_TUI_SESSION_SESSION_IMPORT_H

/*
 * Makes a session of a file of another profiler (tui/import/import.h), in memory, so that all that
 * reads sessions reads these files, too.
 */

#include <stddef.h>

/*
 * Reads all of fd, which stays open; *out is a descriptor of the session, a file without a name
 * that the caller closes. name is for the error, which is set on failure. Errors are those of
 * import_file; -ESPIPE also for a session that comes from a pipe.
 */
int session_import(int fd, const char *name, int *out, char *error, size_t size);

#endif
