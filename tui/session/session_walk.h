/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_WALK_H
#define STACKTOP_TUI_SESSION_SESSION_WALK_H

/* A captured walk (tui/profile/inspection.h) as a record of a session (docs/SESSION.md). */

struct cursor;
struct inspection;
struct outbytes;

void session_walk_put(struct outbytes *to, const struct inspection *i);
/* With one reference. -EBADMSG: it makes no sense; -ENOMEM. */
int session_walk_take(struct cursor *c, struct inspection **out);

#endif
