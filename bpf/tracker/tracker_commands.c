// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands of the user. Any thread posts them; the tracker's thread runs them between two readings
 * of the records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include <utlist.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/selector.h"
#include "bpf/tracker/tracker_priv.h"

struct posted_command {
	enum tracker_command command;
	struct posted_command *prev, *next;
	char arg[256];
};

/* shard: -1: all. */
static void reset_tables(struct tracker *t, long shard)
{
	struct object *o, *next;
	unsigned int n = 0;
	uint32_t i;

	HASH_ITER(hh, t->objects.all, o, next) {
		bool in = shard < 0 && o->state != OBJECT_QUEUED && o->state != OBJECT_UNASKED;

		for (i = 0; i < o->nspans && !in; i++)
			in = o->spans[i].word >> SHARD_SHIFT == (unsigned long)shard;
		if (in) {
			object_rebuild(&t->objects, o);
			n++;
		}
	}
	notices_renew(&t->notices, NOTICE_TABLES_FULL);
	notices_tell(&t->notices, 0, "reset: %u objects load again", n);
}

static void attach_selector(struct tracker *t, const char *arg, bool on)
{
	struct selector selector;
	const char *why;

	if (!selector_parse(arg, &selector, &why)) {
		notices_tell(&t->notices, 2, "%s: %s", why, arg);
		return;
	}
	/* At the start the process may not have been read yet. */
	if (selector.kind == SELECTOR_PID && !proctable_live(&t->procs, selector.pid))
		process_scan(t, selector.pid);
	targets_attach(&t->targets, &selector, on);
}

static struct object *object_named_by(struct tracker *t, const char *arg)
{
	char *end;
	uint64_t id = strtoull(arg, &end, 10);
	struct object *o = end != arg && !*end ? object_by_id(&t->objects, id) : NULL;

	if (!o)
		notices_tell(&t->notices, 2, "that object is gone");
	return o;
}

static void drop_table(struct tracker *t, const char *arg)
{
	struct object *o = object_named_by(t, arg);

	if (!o)
		return;
	if (o->in_queue || !o->nspans) {
		notices_tell(&t->notices, 2, "%s has no table to drop", o->name);
		return;
	}
	object_drop_spans(&t->objects, o);
	object_set_state(&t->objects, o, OBJECT_EVICTED);
	o->need = o->sampled = 0; /* 0 words always fit: the next sample rebuilds it */
	proctable_touch(&t->procs, o);
	notices_tell(&t->notices, 0, "dropped the table of %s; its next sample brings it back",
		     o->name);
}

/* Or no longer, if it was. */
static void pin_table(struct tracker *t, const char *arg)
{
	struct object *o = object_named_by(t, arg);

	if (!o)
		return;
	o->pinned = !o->pinned;
	notices_tell(&t->notices, 0,
		     o->pinned ? "%s is pinned: it keeps its table" : "%s is no longer pinned",
		     o->name);
	/* The reference keeps it when no process maps it any more. */
	if (!o->pinned) {
		object_unref(&t->objects, o);
		return;
	}
	object_get(&t->objects, o);
	if (o->state == OBJECT_EVICTED)
		object_rebuild(&t->objects, o);
}

static void run_command(struct tracker *t, const struct posted_command *c)
{
	char *end;
	long number;

	switch (c->command) {
	case TRACKER_ATTACH:
	case TRACKER_DETACH:
		attach_selector(t, c->arg, c->command == TRACKER_ATTACH);
		break;
	case TRACKER_DETACH_ALL:
		targets_clear(&t->targets);
		break;
	case TRACKER_RESET_SHARDS:
		reset_tables(t, -1);
		break;
	case TRACKER_DROP:
		drop_table(t, c->arg);
		break;
	case TRACKER_PIN:
		pin_table(t, c->arg);
		break;
	case TRACKER_CAPTURE:
		number = strtol(c->arg, &end, 10);
		sampler_capture(t->sampler, (pid_t)number, (unsigned int)strtoul(end, NULL, 10));
		break;
	case TRACKER_RESET_SHARD:
		number = strtol(c->arg, &end, 10);
		if (end == c->arg || *end || number < 0 || number >= shards_max(t->shards))
			notices_tell(&t->notices, 2, "there is no shard %s", c->arg);
		else
			reset_tables(t, number);
		break;
	}
}

void tracker_post(struct tracker *t, enum tracker_command command, const char *arg)
{
	struct posted_command *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->command = command;
	snprintf(c->arg, sizeof(c->arg), "%s", arg ? arg : "");
	pthread_mutex_lock(&t->posted.lock);
	DL_APPEND(t->posted.first, c);
	pthread_mutex_unlock(&t->posted.lock);
	eventfd_write(t->wake_fd, 1);
}

void commands_take(struct tracker *t)
{
	struct posted_command *all, *c, *next;

	pthread_mutex_lock(&t->posted.lock);
	all = t->posted.first;
	t->posted.first = NULL;
	pthread_mutex_unlock(&t->posted.lock);
	DL_FOREACH_SAFE(all, c, next)
	{
		run_command(t, c);
		free(c);
	}
}

void commands_free(struct tracker *t)
{
	struct posted_command *c, *next;

	DL_FOREACH_SAFE(t->posted.first, c, next)
	free(c);
}
