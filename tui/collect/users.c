/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table that forgets serves as queue and cache: the thread looks for entries without an answer.
 * A look-up cannot be cancelled, so the thread may be left behind (worker.h).
 */
#include "tui/collect/users.h"

#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/clock.h"
#include "symbols/base/text.h"
#include "symbols/base/worker.h"

#define USERS_KNOWN 256u /* direct-mapped by uid */
#define WAIT_NS	    50000000u
#define NAME_BYTES  64u
#define FIND_BYTES  256u
#define FIND_MAX    64u

struct users_entry {
	enum { USER_NONE, USER_ASKED, USER_KNOWN } state;
	uid_t uid;
	char name[NAME_BYTES];
};

struct users_question { /* of users_find */
	struct users_question *next;
	users_found *found;
	void *arg;
	unsigned int round;
	char name[FIND_BYTES];
};

struct users {
	struct worker worker;
	users_lookup *lookup;
	bool late; /* an earlier answer did not come in time, and is still missing */
	struct users_question *first, **end;
	unsigned int nquestions;
	unsigned int round; /* questions of other rounds get no answer */
	struct users_entry known[USERS_KNOWN];
};

static int system_lookup(uid_t uid, char *to, size_t size)
{
	struct passwd entry, *found = NULL;
	char buffer[16384];

	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) || !found)
		return -1;
	snprintf(to, size, "%s", found->pw_name);
	return 0;
}

static void drop_questions(struct users *u)
{
	struct users_question *q;

	while ((q = u->first)) {
		u->first = q->next;
		free(q);
	}
	u->end = &u->first;
	u->nquestions = 0;
}

static void answer(struct users *u, struct users_entry *user)
{
	char raw[NAME_BYTES], name[NAME_BYTES];
	uid_t uid = user->uid;
	bool found;

	pthread_mutex_unlock(&u->worker.lock);
	found = !u->lookup(uid, raw, sizeof(raw));
	if (found)
		text_clean(name, sizeof(name), raw, strnlen(raw, sizeof(raw)));
	else
		snprintf(name, sizeof(name), "%u", (unsigned int)uid);
	pthread_mutex_lock(&u->worker.lock);
	u->late = false;
	if (user->state == USER_ASKED && user->uid == uid) {
		user->state = USER_KNOWN;
		memcpy(user->name, name, sizeof(name));
	}
	pthread_cond_broadcast(&u->worker.answered);
}

/* A name of digits is a name first, as with chown(1). */
static bool find(const char *name, uid_t *uid)
{
	struct passwd entry, *found = NULL;
	char buffer[16384], *end;
	unsigned long long number;

	if (!getpwnam_r(name, &entry, buffer, sizeof(buffer), &found) && found) {
		*uid = found->pw_uid;
		return true;
	}
	number = strtoull(name, &end, 10);
	if (name[0] < '0' || name[0] > '9' || *end || number >= UINT32_MAX)
		return false;
	*uid = (uid_t)number;
	return true;
}

/*
 * The lock is released during the look-up, but not during the callback: its argument must not be
 * freed by then.
 */
static void answer_question(struct users *u)
{
	struct users_question *q = u->first;
	uid_t uid = 0;
	bool known;

	u->first = q->next;
	if (!u->first)
		u->end = &u->first;
	u->nquestions--;
	pthread_mutex_unlock(&u->worker.lock);
	known = find(q->name, &uid);
	pthread_mutex_lock(&u->worker.lock);
	if (!u->worker.stop && q->round == u->round)
		q->found(q->arg, q->name, known, uid);
	free(q);
}

int users_find(struct users *u, const char *name, users_found *found, void *arg)
{
	struct users_question *q = calloc(1, sizeof(*q));
	int err = 0;

	if (!q)
		return -ENOMEM;
	q->found = found;
	q->arg = arg;
	snprintf(q->name, sizeof(q->name), "%s", name);
	pthread_mutex_lock(&u->worker.lock);
	q->round = u->round;
	if (u->nquestions < FIND_MAX) {
		u->nquestions++;
		*u->end = q;
		u->end = &q->next;
		q = NULL;
		worker_wake(&u->worker);
	} else {
		err = -EAGAIN;
	}
	pthread_mutex_unlock(&u->worker.lock);
	free(q);
	return err;
}

/* The current one is no longer in the list, and belongs to the thread. */
void users_forget(struct users *u)
{
	pthread_mutex_lock(&u->worker.lock);
	drop_questions(u);
	u->round++;
	pthread_mutex_unlock(&u->worker.lock);
}

static bool work(void *arg)
{
	struct users *u = arg;

	for (unsigned int i = 0; i < USERS_KNOWN; i++)
		if (u->known[i].state == USER_ASKED) {
			answer(u, &u->known[i]);
			return true;
		}
	if (!u->first)
		return false;
	answer_question(u);
	return true;
}

static void free_all(void *arg)
{
	drop_questions(arg);
	free(arg);
}

int users_new(users_lookup *lookup, struct users **out)
{
	static const struct worker_ops ops = {.work = work, .free = free_all};
	struct users *u = calloc(1, sizeof(*u));
	int err;

	*out = NULL;
	if (!u)
		return -ENOMEM;
	u->lookup = lookup ? lookup : system_lookup;
	u->end = &u->first;
	err = worker_start(&u->worker, &ops, u);
	if (err)
		free(u);
	else
		*out = u;
	return err;
}

void users_free(struct users *u)
{
	if (u)
		worker_stop(&u->worker, WAIT_NS);
}

void users_name(struct users *u, uid_t uid, char *to, size_t size)
{
	struct timespec then = clock_in(CLOCK_MONOTONIC, WAIT_NS);
	struct users_entry *user = &u->known[uid % USERS_KNOWN];
	bool known;

	pthread_mutex_lock(&u->worker.lock);
	if (user->state == USER_NONE || user->uid != uid) {
		user->state = USER_ASKED;
		user->uid = uid;
		worker_wake(&u->worker);
		while (!u->late && user->state == USER_ASKED && user->uid == uid)
			u->late = !worker_wait(&u->worker, &then);
	}
	known = user->state == USER_KNOWN && user->uid == uid;
	if (known)
		snprintf(to, size, "%s", user->name);
	pthread_mutex_unlock(&u->worker.lock);
	if (!known)
		snprintf(to, size, "%u", (unsigned int)uid);
}
