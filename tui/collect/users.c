/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table that forgets is enough for a queue and a cache at once: the thread looks for entries
 * without an answer. The thread cannot be told to give up a look-up, so it shares the table by a
 * reference and may outlive its owner.
 */
#include "tui/collect/users.h"

#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbols/base/text.h"
#include "symbols/base/thread.h"

#define USERS_KNOWN 256u /* direct-mapped by uid */
#define WAIT_NS	    50000000l
#define NAME_BYTES  64u
#define FIND_BYTES  256u
#define FIND_MAX    64u

struct user {
	enum { USER_NONE, USER_ASKED, USER_KNOWN } state;
	uid_t uid;
	char name[NAME_BYTES];
};

struct question { /* of users_find */
	struct question *next;
	users_found *found;
	void *arg;
	unsigned int round;
	char name[FIND_BYTES];
};

struct users {
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	users_lookup *lookup;
	pthread_t thread;
	unsigned int refs; /* the owner, the thread */
	bool stop;
	bool late; /* one was waited for in vain, and has not come back */
	struct question *first, **end;
	unsigned int nquestions;
	unsigned int round; /* whose questions get their answers */
	struct user known[USERS_KNOWN];
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
	struct question *q;

	while ((q = u->first)) {
		u->first = q->next;
		free(q);
	}
	u->end = &u->first;
	u->nquestions = 0;
}

/* Lock held; given up here. */
static void unref(struct users *u)
{
	bool last = --u->refs == 0;

	pthread_mutex_unlock(&u->lock);
	if (!last)
		return;
	drop_questions(u);
	pthread_cond_destroy(&u->asked);
	pthread_cond_destroy(&u->answered);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

static struct user *next_asked(struct users *u)
{
	for (unsigned int i = 0; i < USERS_KNOWN; i++)
		if (u->known[i].state == USER_ASKED)
			return &u->known[i];
	return NULL;
}

static void answer(struct users *u, struct user *user)
{
	char raw[NAME_BYTES], name[NAME_BYTES];
	uid_t uid = user->uid;
	bool found;

	pthread_mutex_unlock(&u->lock);
	found = !u->lookup(uid, raw, sizeof(raw));
	if (found)
		text_clean(name, sizeof(name), raw, strnlen(raw, sizeof(raw)));
	else
		snprintf(name, sizeof(name), "%u", (unsigned int)uid);
	pthread_mutex_lock(&u->lock);
	u->late = false;
	if (user->state == USER_ASKED && user->uid == uid) {
		user->state = USER_KNOWN;
		memcpy(user->name, name, sizeof(name));
	}
	pthread_cond_broadcast(&u->answered);
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

/* The lock is given up for as long as it takes to find out, but not to tell: who asked must not be
 * gone by then. */
static void answer_question(struct users *u)
{
	struct question *q = u->first;
	uid_t uid = 0;
	bool known;

	u->first = q->next;
	if (!u->first)
		u->end = &u->first;
	u->nquestions--;
	pthread_mutex_unlock(&u->lock);
	known = find(q->name, &uid);
	pthread_mutex_lock(&u->lock);
	if (!u->stop && q->round == u->round)
		q->found(q->arg, q->name, known, uid);
	free(q);
}

int users_find(struct users *u, const char *name, users_found *found, void *arg)
{
	struct question *q = calloc(1, sizeof(*q));
	int err = 0;

	if (!q)
		return -ENOMEM;
	q->found = found;
	q->arg = arg;
	snprintf(q->name, sizeof(q->name), "%s", name);
	pthread_mutex_lock(&u->lock);
	q->round = u->round;
	if (u->nquestions < FIND_MAX) {
		u->nquestions++;
		*u->end = q;
		u->end = &q->next;
		q = NULL;
		pthread_cond_signal(&u->asked);
	} else {
		err = -EAGAIN;
	}
	pthread_mutex_unlock(&u->lock);
	free(q);
	return err;
}

/* The one under way is no longer in the list, and belongs to the thread. */
void users_forget(struct users *u)
{
	pthread_mutex_lock(&u->lock);
	drop_questions(u);
	u->round++;
	pthread_mutex_unlock(&u->lock);
}

static void *run(void *arg)
{
	struct users *u = arg;
	struct user *user;

	pthread_mutex_lock(&u->lock);
	while (!u->stop) {
		user = next_asked(u);
		if (user)
			answer(u, user);
		else if (u->first)
			answer_question(u);
		else
			pthread_cond_wait(&u->asked, &u->lock);
	}
	unref(u);
	return NULL;
}

int users_new(users_lookup *lookup, struct users **out)
{
	struct users *u = calloc(1, sizeof(*u));
	pthread_condattr_t clock;
	int err;

	*out = NULL;
	if (!u)
		return -ENOMEM;
	u->lookup = lookup ? lookup : system_lookup;
	u->refs = 1;
	u->end = &u->first;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->asked, NULL);
	pthread_cond_init(&u->answered, &clock);
	pthread_condattr_destroy(&clock);
	u->refs++;
	err = thread_start(&u->thread, run, u);
	if (err) {
		u->refs = 1;
		pthread_mutex_lock(&u->lock);
		unref(u);
		return err;
	}
	*out = u;
	return 0;
}

static struct timespec moment_from_now(clockid_t clock)
{
	struct timespec then;

	clock_gettime(clock, &then);
	then.tv_nsec += WAIT_NS;
	then.tv_sec += then.tv_nsec / 1000000000l;
	then.tv_nsec %= 1000000000l;
	return then;
}

void users_free(struct users *u)
{
	struct timespec then = moment_from_now(CLOCK_REALTIME);

	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	u->stop = true;
	pthread_cond_signal(&u->asked);
	pthread_mutex_unlock(&u->lock);
	if (pthread_timedjoin_np(u->thread, NULL, &then))
		pthread_detach(u->thread);
	pthread_mutex_lock(&u->lock);
	unref(u);
}

void users_name(struct users *u, uid_t uid, char *to, size_t size)
{
	struct timespec then = moment_from_now(CLOCK_MONOTONIC);
	struct user *user = &u->known[uid % USERS_KNOWN];
	bool known;

	pthread_mutex_lock(&u->lock);
	if (user->state == USER_NONE || user->uid != uid) {
		user->state = USER_ASKED;
		user->uid = uid;
		pthread_cond_signal(&u->asked);
		while (!u->late && user->state == USER_ASKED && user->uid == uid)
			u->late = pthread_cond_timedwait(&u->answered, &u->lock, &then) != 0;
	}
	known = user->state == USER_KNOWN && user->uid == uid;
	if (known)
		snprintf(to, size, "%s", user->name);
	pthread_mutex_unlock(&u->lock);
	if (!known)
		snprintf(to, size, "%u", (unsigned int)uid);
}
