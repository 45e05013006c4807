/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_SLICE_H
#define STACKTOP_TUI_SESSION_SESSION_SLICE_H

/* The content of a slice's chunk (docs/SESSION.md, Slice). */

#include <stddef.h>
#include <stdint.h>

#include "symbols/base/message.h"
#include "tui/profile/profile.h"

struct cursor;
struct session_names;

struct session_message {
	enum message_level level;
	char text[256];
};

#define SESSION_MESSAGES_MAX 16

/* A slice. Ids are the session's. */
struct session_slice {
	const struct profile_cell *cells;
	size_t ncells;
	struct profile_health health; /* .time: ns since the start; left to the caller */
	struct session_message messages[SESSION_MESSAGES_MAX];
	size_t nmessages;
};

/* Room for the cells of a slice, reused for the next. Zeroed: none; to be freed by free(at). */
struct session_cells {
	struct profile_cell *at;
	size_t room;
};

/*
 * Takes slice n. out->cells point into `cells`, which the next slice overwrites. -EBADMSG: it makes
 * no sense; -ENOMEM.
 */
int session_slice_take(struct session_names *names, struct cursor *c, uint32_t n,
		       struct session_cells *cells, struct session_slice *out);

#endif
