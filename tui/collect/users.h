/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_USERS_H
#define STACKTOP_TUI_COLLECT_USERS_H

/*
 * Names of users. If they are kept on another machine a look-up may take minutes, so a thread does
 * it, and callers get the number until the name is known. Any thread may call these.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct users;

/* 0 and the raw name, or non-zero: there is none. May block. */
typedef int users_lookup(uid_t uid, char *to, size_t size);

/* lookup: NULL for the system's own (getpwuid). -ENOMEM, or what making a thread failed with. */
int users_new(users_lookup *lookup, struct users **out);
/* A look-up that does not return is left behind with what it needs. */
void users_free(struct users *users);

/*
 * The clean name of the user, else the number. Waits a moment for a user that was not asked for
 * before, unless an earlier one is still missing.
 */
void users_name(struct users *users, uid_t uid, char *to, size_t size);

/* The result of users_find; known: there is such a user. It must not call functions of users.h. */
typedef void users_found(void *arg, const char *name, bool known, uid_t uid);
/*
 * Looks up the user of that name, or else of that number, in the thread, which then calls found,
 * but not after users_free has begun. -ENOMEM; -EAGAIN: too many wait already.
 */
int users_find(struct users *users, const char *name, users_found *found, void *arg);
/* Drops the questions of users_find so far, including the current one: they get no answer. */
void users_forget(struct users *users);

#endif
