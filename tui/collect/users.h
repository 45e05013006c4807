/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_USERS_H
#define STACKTOP_TUI_COLLECT_USERS_H

/*
 * Names of users. To ask for one may take minutes where they are kept on another machine, so a
 * thread of its own does it, and callers get the number until the name is known. May be used from
 * any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct users;

/* 0 and the raw name, or non-zero where there is none. May block. */
typedef int users_lookup(uid_t uid, char *to, size_t size);

/* lookup: NULL for the system's own (getpwuid). -ENOMEM, or what making a thread failed with. */
int users_new(users_lookup *lookup, struct users **out);
/* A look-up that does not return is left behind with what it needs. */
void users_free(struct users *users);

/*
 * The clean name of the user, else the number. Waits for a moment for one that was not asked for
 * before, unless an earlier one has not come back.
 */
void users_name(struct users *users, uid_t uid, char *to, size_t size);

/* What users_find found; known: there is such a user. Calls nothing of this header. */
typedef void users_found(void *arg, const char *name, bool known, uid_t uid);
/*
 * The other way: looks up who has that name, else that number, in the thread, which calls found
 * when it knows, or never once users_free has begun. -ENOMEM; -EAGAIN: too many wait already.
 */
int users_find(struct users *users, const char *name, users_found *found, void *arg);
/* What users_find was asked until now has no answer after this, the look-up under way included. */
void users_forget(struct users *users);

#endif
