/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_FEED_INVENTORY_H
#define STACKTOP_TESTS_SUPPORT_FEED_INVENTORY_H

/* Made-up shards: two full ones, one that fills, one that was created anew, the rest not created.
 */

#include "tests/support/machine.h"
#include "tui/profile/profile.h"

enum {
	FEED_NGINX,
	FEED_LIBC,
	FEED_POSTGRES,
	FEED_CRYPTO,
	FEED_SSL,
	FEED_NODE,
	FEED_CHROME,
	FEED_GONE,
	FEED_BROKEN,
	FEED_OBJECTS
};

struct inventory *feed_inventory(uint64_t now);

#endif
