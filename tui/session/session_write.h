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
/* Likewise, a new one only: -EEXIST if there is a file of that name. */
int session_file_fresh(const char *path, char *error, size_t size);
/* Any other existing file stays as it is. error as above. */
int session_writer_new(const char *path, struct session_writer **out, char *error, size_t size);
/* The same for an open file, of that name in messages, which the writer closes in any case. */
int session_writer_on(int fd, const char *path, struct session_writer **out, char *error,
		      size_t size);
/* Bytes that were written. */
uint64_t session_writer_size(const struct session_writer *w);
/* Writes the end and closes the file. -errno: what was written is still a session. */
int session_writer_end(struct session_writer *w);
/* Ends the file, unless that was done. w may be NULL. */
void session_writer_free(struct session_writer *w);

/*
 * True: the caller should give the profile an inventory of the shards before it notes the next
 * slice. now: CLOCK_MONOTONIC ns.
 */
bool session_wants_inventory(const struct session_writer *w, uint64_t now);
/* Notes what was just committed; the lock is held since then. Threads are merged if there are more
 * cells than a reader accepts (session_may_have). -ENOMEM, or -EFBIG: there are too many even so.
 */
int session_note(struct session_writer *w, const struct profile *p,
		 const struct profile_cell *cells, size_t ncells,
		 const struct profile_health *health);
/*
 * Notes a slice that is still kept (its number, see query_history), with names and processes as
 * they are known now; a process that ended after it runs. After a jump in a replay a slice has the
 * samples of minutes: it is joined with those after it, up to last, until it has their time, too;
 * *slice is set to the last of them. newest: `last` is the newest slice, to which the state of the
 * shards and the captured walk belong. Slices must come in their order. The lock is held. -ENOENT:
 * the slice is gone; -EFBIG: it has too many cells; else as session_note.
 */
int session_note_past(struct session_writer *w, const struct profile *p, uint64_t *slice,
		      uint64_t last, bool newest);
/* Makes room to note another slice before the next session_flush. Errors likewise. */
int session_pack(struct session_writer *w);
/*
 * Writes what was noted. -errno: the file was cut back to its last whole slice if possible, and is
 * closed; later calls do nothing.
 */
int session_flush(struct session_writer *w);

#endif
