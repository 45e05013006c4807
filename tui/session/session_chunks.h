/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_CHUNKS_H
#define STACKTOP_TUI_SESSION_SESSION_CHUNKS_H

/*
 * The framing of a session file as a list of checked, unpacked chunks (docs/SESSION.md, Chunks).
 */

#include <stdint.h>

#include "tui/util/bytes.h"
#include "tui/session/session.h"

struct session_chunks;

/*
 * Opens the file, which must be a regular one that begins as a session does. -EINVAL: it does not;
 * -EPROTONOSUPPORT: it is of another version; -EISDIR, -ESPIPE; -errno of the open.
 */
int session_chunks_open(const char *path, struct session_chunks **out);
void session_chunks_free(struct session_chunks *chunks);

/*
 * Reads the chunk at an offset (SESSION_MAGIC_SIZE for the first); the next one is behind
 * head->packed bytes of content. -ENODATA: the file ends before that; -EBADMSG: it is damaged;
 * -errno of the read; -ENOMEM.
 */
int session_chunks_read(struct session_chunks *chunks, uint64_t offset, struct session_chunk *head);
/*
 * The content of the chunk that was read last, valid until the next is unpacked. Errors as above.
 */
int session_chunks_unpack(struct session_chunks *chunks, const struct session_chunk *head,
			  struct cursor *out);

#endif
