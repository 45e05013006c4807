// SPDX-License-Identifier: GPL-2.0-or-later
/* See baseline.h. The whole session is one sum, since shares of it are compared. */
#include "tui/session/baseline.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/forked.h"
#include "symbols/base/text.h"
#include "symbols/base/thread.h"
#include "tui/profile/board.h"
#include "tui/session/feeder.h"
#include "tui/profile/profile.h"
#include "tui/session/session_read.h"

#define END_MS 500 /* a file may never answer */

struct baseline {
	struct profile *profile;
	pthread_t thread;
	bool joined;
	atomic_bool stop, done;
	bool loaded; /* valid when done */
	char name[48];
	char path[];
};

static int load(struct baseline *b, char *error, size_t size)
{
	struct session *s;
	struct feeder *f = NULL;
	int err;

	if (!forked_await(b->path, &b->stop))
		return -ECANCELED;
	err = session_open(b->path, &s, error, size);
	if (err)
		return err;
	err = feeder_new(b->profile, s, &f);
	if (!err)
		err = feeder_baseline(f, &b->stop);
	feeder_free(f);
	session_free(s);
	if (err)
		snprintf(error, size, "%s: %s", b->path,
			 err == -EBADMSG ? "is damaged" : strerror(-err));
	return err;
}

static void *run(void *arg)
{
	struct baseline *b = arg;
	char error[256] = "";
	int err = load(b, error, sizeof(error));

	if (err && err != -ECANCELED)
		board_message(profile_board(b->profile), MESSAGE_ERROR, "no baseline: %s", error);
	b->loaded = !err;
	atomic_store(&b->done, true);
	return NULL;
}

int baseline_start(struct baseline **out, struct profile *p, const char *path)
{
	struct baseline *b = calloc(1, sizeof(*b) + strlen(path) + 1);
	const char *slash = strrchr(path, '/');
	const char *name = slash && slash[1] ? slash + 1 : path;
	int err;

	*out = NULL;
	if (!b)
		return -ENOMEM;
	b->profile = p;
	memcpy(b->path, path, strlen(path) + 1);
	text_clean(b->name, sizeof(b->name), name, strlen(name));
	err = thread_start(&b->thread, run, b);
	if (err)
		free(b);
	else
		*out = b;
	return err;
}

bool baseline_done(struct baseline *b, bool *loaded)
{
	if (!atomic_load(&b->done))
		return false;
	*loaded = b->loaded;
	return true;
}

const char *baseline_name(const struct baseline *b)
{
	return b->name;
}

void baseline_wait(struct baseline *b)
{
	if (!b->joined)
		pthread_join(b->thread, NULL);
	b->joined = true;
}

void baseline_free(struct baseline *b)
{
	if (!b)
		return;
	atomic_store(&b->stop, true);
	if (b->joined || thread_join_within(b->thread, END_MS))
		free(b);
}
