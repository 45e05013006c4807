// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shares of what the tracker keeps for processes. An account exists only while its user holds
 * something, so there are no more accounts than things held.
 */
#include "symbols/base/quota.h"

#include <stdlib.h>

#include "symbols/base/hash.h"

struct quota_user {
	uid_t uid;
	uint64_t used;
	bool hashed;
	UT_hash_handle hh;
};

static struct quota_user *user_find(const struct quota *q, uid_t uid)
{
	struct quota_user *u;

	HASH_FIND(hh, q->users, &uid, sizeof(uid), u);
	return u;
}

static struct quota_user *user_get(struct quota *q, uid_t uid)
{
	struct quota_user *u = user_find(q, uid);

	if (u)
		return u;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->uid = uid;
	u->hashed = true;
	HASH_ADD(hh, q->users, uid, sizeof(u->uid), u);
	if (!u->hashed) {
		free(u);
		return NULL;
	}
	return u;
}

static uint64_t left(uint64_t max, uint64_t used)
{
	return max > used ? max - used : 0;
}

uint64_t quota_used(const struct quota *q, uid_t uid)
{
	const struct quota_user *u = user_find(q, uid);

	return u ? u->used : 0;
}

uint64_t quota_room(const struct quota *q, uid_t uid)
{
	uint64_t room = left(q->max, q->used), own, others;

	if (!q->max)
		return UINT64_MAX;
	if (!uid)
		return room;
	own = left(q->max / 2, quota_used(q, uid));
	others = left(q->max / 4 * 3, q->others);
	room = room < own ? room : own;
	return room < others ? room : others;
}

bool quota_take(struct quota *q, uid_t uid, uint64_t n)
{
	struct quota_user *u;

	if (!n)
		return true;
	u = quota_room(q, uid) >= n ? user_get(q, uid) : NULL;
	if (!u)
		return false;
	u->used += n;
	q->used += n;
	q->others += uid ? n : 0;
	return true;
}

void quota_give(struct quota *q, uid_t uid, uint64_t n)
{
	struct quota_user *u = n ? user_find(q, uid) : NULL;

	if (!u)
		return;
	n = n < u->used ? n : u->used;
	u->used -= n;
	q->used -= n;
	q->others -= uid ? n : 0;
	if (u->used)
		return;
	HASH_DEL(q->users, u);
	free(u);
}

void quota_free(struct quota *q)
{
	struct quota_user *u, *next;

	HASH_ITER(hh, q->users, u, next) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		HASH_DEL(q->users, u);
		free(u);
	}
}
