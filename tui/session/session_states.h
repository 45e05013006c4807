/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_STATES_H
#define STACKTOP_TUI_SESSION_SESSION_STATES_H

/* What is in the shards, and a captured walk, as records of a session (docs/SESSION.md). */

#include <stdint.h>

struct cursor;
struct inspection;
struct inventory;
struct outbytes;

void session_inventory_put(struct outbytes *to, const struct inventory *inv);
/* With one reference; times are relative to `now`. -EBADMSG: it makes no sense; -ENOMEM. */
int session_inventory_take(struct cursor *c, uint64_t now, struct inventory **out);

void session_walk_put(struct outbytes *to, const struct inspection *i);
/* Likewise. */
int session_walk_take(struct cursor *c, struct inspection **out);

#endif
