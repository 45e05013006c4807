/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_QUOTA_H
#define STACKTOP_SYMBOLS_BASE_QUOTA_H

/*
 * A limited resource, shared by the users whose processes consume it. Root may take all of it, any
 * other user half, and all users but root three quarters together: no user, nor many of them, can
 * take what root's processes need. Not thread-safe.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct quota_user;

struct quota {	      /* zeroed: without limit */
	uint64_t max; /* 0: no limit, but usage is counted */
	uint64_t used;
	uint64_t others; /* part of it used by users other than root */
	struct quota_user *users;
};

/* How much more the user may take. */
uint64_t quota_room(const struct quota *q, uid_t uid);
/* Takes n, or nothing: false. Also false without memory for the user's account. */
bool quota_take(struct quota *q, uid_t uid, uint64_t n);
/* Gives back what the same user has taken. */
void quota_give(struct quota *q, uid_t uid, uint64_t n);
/* What the user has taken. */
uint64_t quota_used(const struct quota *q, uid_t uid);
void quota_free(struct quota *q);

#endif
