/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_INVENTORY_H
#define STACKTOP_TUI_SESSION_SESSION_INVENTORY_H

/* What is in the shards (bpf/tracker/inventory.h) as a record of a session (docs/SESSION.md). */

#include <stdint.h>

struct outbytes;
struct cursor;
struct inventory;

void session_inventory_put(struct outbytes *to, const struct inventory *inv);
/* With one reference; times are relative to `now`. -EBADMSG: it makes no sense; -ENOMEM. */
int session_inventory_take(struct cursor *c, uint64_t now, struct inventory **out);

#endif
