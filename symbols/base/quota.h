/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_QUOTA_H
#define STACKTOP_SYMBOLS_BASE_QUOTA_H

/*
 * Something of which there is so much in all, shared by the users whose processes cause it. Root
 * may take all of it, another user half, and all others together three quarters: so no user takes
 * what another's processes need, and not even many users take what root's do. Not thread-safe.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct quota_user;

struct quota {	      /* zeroed: without limit */
	uint64_t max; /* 0: no limit, but what is taken is counted */
	uint64_t used;
	uint64_t others; /* of it, by users other than root */
	struct quota_user *users;
};

/* How much more the user may take. */
uint64_t quota_room(const struct quota *q, uid_t uid);
/* Takes n, or nothing: false. Without memory for the user's account that is so, too. */
bool quota_take(struct quota *q, uid_t uid, uint64_t n);
/* Gives back what was taken, by the same user. */
void quota_give(struct quota *q, uid_t uid, uint64_t n);
/* What the user has taken. */
uint64_t quota_used(const struct quota *q, uid_t uid);
void quota_free(struct quota *q);

#endif
