/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_WRITE_H
#define STACKTOP_TUI_SESSION_SESSION_WRITE_H

/*
 * Records what a profile is fed in a file (docs/SESSION.md). A slice takes two steps, so that the
 * profile's lock is not held while a disk is waited for: session_note with the lock, session_flush
 * without. Used by one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/profile/profile.h"

struct session_writer;

/*
 * Makes an empty, locked file of that name, owned by the caller and readable by the caller alone: a
 * new one, or an old session with no other name. Returns the descriptor, which the caller closes,
 * or -errno; error says what is wrong.
 */
int session_file_new(const char *path, char *error, size_t size);
/* Any other existing file stays as it is. error as above. */
int session_writer_new(const char *path, struct session_writer **out, char *error, size_t size);
/* Writes the end and closes the file. -errno: what was written is still a session. */
int session_writer_end(struct session_writer *w);
/* Ends the file, unless that was done. w may be NULL. */
void session_writer_free(struct session_writer *w);

/*
 * True: the caller should give the profile an inventory of the shards before it notes the next
 * slice. now: CLOCK_MONOTONIC ns.
 */
bool session_wants_inventory(const struct session_writer *w, uint64_t now);
/* Notes what was just committed; the lock is held since then. -ENOMEM, -EFBIG. */
int session_note(struct session_writer *w, const struct profile *p,
		 const struct profile_cell *cells, size_t ncells,
		 const struct profile_health *health);
/*
 * Writes what was noted. -errno: the file was cut back to its last whole slice if possible, and is
 * closed; later calls do nothing.
 */
int session_flush(struct session_writer *w);

#endif
