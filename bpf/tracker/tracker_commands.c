// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a person asks for while it runs. Posted by any thread, done by the tracker's, between two
 * readings of the records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker_priv.h"

struct posted {
	enum tracker_command command;
	struct posted *next;
	char arg[256];
};

static void reset(struct tracker *t, long shard)
{
	struct object *o, *next;
	unsigned int n = 0;
	uint32_t i;

	HASH_ITER(hh, t->objects, o, next) {
		bool in = shard < 0 && o->state != OBJECT_QUEUED;

		for (i = 0; i < o->nspans && !in; i++)
			in = o->spans[i].word >> SHARD_SHIFT == (unsigned long)shard;
		if (in) {
			object_rebuild(t, o);
			n++;
		}
	}
	t->told_full = false;
	tracker_tell(t, 0, "reset: %u objects load again", n);
}

static void run_command(struct tracker *t, const struct posted *c)
{
	char *end;
	long shard; /* or whatever number there is */

	switch (c->command) {
	case TRACKER_ATTACH:
	case TRACKER_DETACH:
		choice_attach(t, c->arg, c->command == TRACKER_ATTACH);
		break;
	case TRACKER_DETACH_ALL:
		choice_clear(t);
		break;
	case TRACKER_RESET_SHARDS:
		reset(t, -1);
		break;
	case TRACKER_DROP:
		inventory_drop(t, c->arg);
		break;
	case TRACKER_PIN:
		inventory_pin(t, c->arg);
		break;
	case TRACKER_CAPTURE:
		shard = strtol(c->arg, &end, 10);
		sampler_capture(t->sampler, (pid_t)shard, (unsigned int)strtoul(end, NULL, 10));
		break;
	case TRACKER_RESET_SHARD:
		shard = strtol(c->arg, &end, 10);
		if (end == c->arg || *end || shard < 0 || shard >= shards_max(t->shards))
			tracker_tell(t, 2, "there is no shard %s", c->arg);
		else
			reset(t, shard);
		break;
	}
}

void tracker_post(struct tracker *t, enum tracker_command command, const char *arg)
{
	struct posted *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->command = command;
	snprintf(c->arg, sizeof(c->arg), "%s", arg ? arg : "");
	pthread_mutex_lock(&t->posted_lock);
	*t->posted_end = c;
	t->posted_end = &c->next;
	pthread_mutex_unlock(&t->posted_lock);
	tracker_wake(t);
}

void commands_take(struct tracker *t)
{
	struct posted *all, *c;

	pthread_mutex_lock(&t->posted_lock);
	all = t->posted;
	t->posted = NULL;
	t->posted_end = &t->posted;
	pthread_mutex_unlock(&t->posted_lock);
	while ((c = all)) {
		all = c->next;
		run_command(t, c);
		free(c);
	}
}

void commands_free(struct tracker *t)
{
	struct posted *c;

	while ((c = t->posted)) {
		t->posted = c->next;
		free(c);
	}
}
