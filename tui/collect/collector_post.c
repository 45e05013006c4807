// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests of screens. Most are the tracker's business; another interval or event is taken over by
 * the collector's thread at the end of a slice.
 */
#include "tui/collect/collector_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker.h"
#include "bpf/sampler/event.h"
#include "tui/collect/procinfo.h"
#include "tui/collect/threadbook.h"
#include "tui/collect/users.h"
#include "tui/profile/board.h"

#define DEAD_MORE_NS 3000000000ull

void collector_set_period(struct collector *c, double seconds)
{
	uint64_t ns = (uint64_t)(seconds * 1e9);

	atomic_store(&c->period, ns);
	/* A slice is late if naming the one before took long. */
	tracker_keep_dead(c->tracker, 2 * ns + DEAD_MORE_NS);
}

static void set_interval(struct collector *c, const char *arg)
{
	char *end;
	double seconds = strtod(arg, &end);

	if (end == arg || !(seconds >= COLLECTOR_DELAY_MIN && seconds <= COLLECTOR_DELAY_MAX))
		return;
	collector_set_period(c, seconds);
	source_signal(c->wake);
}

static void give_up_fetching(struct collector *c)
{
	unsigned int count = c->remote ? remotedebug_cancel(c->remote) : 0;

	if (count)
		collector_say(c, MESSAGE_INFO, "debuginfod: gave up on %u debug files", count);
	else
		collector_say(c, MESSAGE_INFO, "no debug files are being fetched");
}

static void set_event(struct collector *c, const char *name)
{
	const struct event *event = event_find(name);

	if (event)
		atomic_store(&c->wish, event);
	else
		collector_say(c, MESSAGE_WARNING, "no event is called '%.40s'; F7 lists them",
			      name);
}

static void post_user(struct collector *c, enum tracker_command command, const char *name,
		      bool known, uid_t uid)
{
	char text[256];

	if (known) {
		snprintf(text, sizeof(text), "user:%u %s", (unsigned int)uid, name);
		tracker_post(c->tracker, command, text);
	} else {
		collector_say(c, MESSAGE_ERROR, "there is no user '%.200s'", name);
	}
}

static void attach_user(void *arg, const char *name, bool known, uid_t uid)
{
	post_user(arg, TRACKER_ATTACH, name, known, uid);
}

static void detach_user(void *arg, const char *name, bool known, uid_t uid)
{
	post_user(arg, TRACKER_DETACH, name, known, uid);
}

/* The tracker knows users by number, and looking up a name may take long. False: it is none. */
static bool by_user(struct collector *c, enum source_command command, const char *arg)
{
	static const char prefix[] = "user:";
	const char *name = arg + strlen(prefix);
	int err;

	if ((command != SOURCE_ATTACH && command != SOURCE_DETACH) ||
	    strncmp(arg, prefix, strlen(prefix)) != 0)
		return false;
	name += strspn(name, " ");
	err = users_find(procinfo_users(c->procs), name,
			 command == SOURCE_ATTACH ? attach_user : detach_user, c);
	if (err)
		collector_say(c, MESSAGE_ERROR, "cannot look up the user right now");
	return true;
}

/* True: it is too early for the command, which is kept. */
static bool keep_early(struct collector *c, enum source_command command, const char *arg)
{
	struct early *e = &c->early;
	bool kept;

	pthread_mutex_lock(&e->lock);
	kept = !e->over;
	if (kept && e->count < EARLY_MAX) {
		e->commands[e->count].command = command;
		snprintf(e->commands[e->count].arg, sizeof(e->commands[0].arg), "%s", arg);
		e->count++;
	}
	pthread_mutex_unlock(&e->lock);
	return kept;
}

static void execute(struct collector *c, enum source_command command, const char *arg)
{
	static const enum tracker_command commands[] = {
		[SOURCE_ATTACH] = TRACKER_ATTACH,
		[SOURCE_DETACH] = TRACKER_DETACH,
		[SOURCE_DETACH_ALL] = TRACKER_DETACH_ALL,
		[SOURCE_RESET_SHARD] = TRACKER_RESET_SHARD,
		[SOURCE_RESET_SHARDS] = TRACKER_RESET_SHARDS,
		[SOURCE_DROP] = TRACKER_DROP,
		[SOURCE_PIN] = TRACKER_PIN,
		[SOURCE_INSPECT] = TRACKER_CAPTURE,
	};

	if (command == SOURCE_INSPECT)
		procwatch_begin(&c->watch, (pid_t)strtol(arg, NULL, 10));
	/* Users that are still being looked up would be attached after this. */
	if (command == SOURCE_DETACH_ALL)
		users_forget(procinfo_users(c->procs));
	if (command == SOURCE_NEXT) {
		atomic_store(&c->reported, atomic_load(&c->source.slices));
		source_signal(c->wake);
	} else if (command == SOURCE_GIVE_UP) {
		give_up_fetching(c);
	} else if (command == SOURCE_EVENT) {
		set_event(c, arg);
	} else if (command == SOURCE_BY_CPU) {
		atomic_store(&c->by_cpu, arg[0] == '1');
		source_signal(c->wake);
	} else if (command == SOURCE_WAITS) {
		atomic_store(&c->waits, arg[0] == '1');
		source_signal(c->wake);
	} else if (command == SOURCE_INTERVAL) {
		set_interval(c, arg);
	} else if (!by_user(c, command, arg) &&
		   (size_t)command < sizeof(commands) / sizeof(*commands)) {
		tracker_post(c->tracker, commands[command], arg);
	}
}

void collector_post(struct source *source, enum source_command command, const char *arg)
{
	struct collector *c = collector_of(source);

	arg = arg ? arg : "";
	if (!keep_early(c, command, arg))
		execute(c, command, arg);
}

/* A command that is posted meanwhile may overtake those, which were typed before. */
void collector_post_early(struct collector *c)
{
	struct early *e = &c->early;

	pthread_mutex_lock(&e->lock);
	e->over = true;
	pthread_mutex_unlock(&e->lock);
	for (unsigned int i = 0; i < e->count; i++)
		execute(c, e->commands[i].command, e->commands[i].arg);
}

void collector_try_events(struct collector *c)
{
	int errors[BOARD_EVENTS_MAX] = {0};
	size_t count;
	const struct event *events = event_table(&count);

	/* Without a screen there is no menu. */
	if (c->events_tried || !c->annotator)
		return;
	c->events_tried = true;
	for (size_t i = 0; i < count && i < BOARD_EVENTS_MAX; i++)
		if (&events[i] != c->sampled)
			errors[i] = sampler_has(c->sampler, events[i].type, events[i].config);
	board_set_events(profile_board(c->profile), errors, count);
}

/* Sampling stops before the slice ends, so that the old event has no samples for another one. */
const struct event *collector_next_event(struct collector *c)
{
	const struct event *event = atomic_exchange(&c->wish, NULL);
	char text[256];

	if (!event || event == c->sampled)
		return NULL;
	if (sampler_try(c->sampler, event->type, event->config, text, sizeof(text))) {
		collector_say(c, MESSAGE_WARNING, "%s", text);
		return NULL;
	}
	sampler_stop(c->sampler);
	return event;
}

/* Counts of two events have no sum: earlier samples are forgotten. A frozen view keeps its own. */
void collector_change_event(struct collector *c, const struct event *event)
{
	char text[256];

	if (sampler_change(c->sampler, event->type, event->config, text, sizeof(text))) {
		collector_say(c, MESSAGE_WARNING, "%s", text);
		return;
	}
	c->sampled = event;
	c->slice_start = source_now();
	accounting_read(&c->books, c->sampler);
	accounting_restart(&c->books);
	profile_lock(c->profile);
	profile_rewind(c->profile);
	profile_unlock(c->profile);
	collector_say(c, MESSAGE_INFO, "samples are of %s from now on", event->name);
}

#define LEAST_WAKE_NS 100000u /* of a wait from which on its waker is asked for */

/* Without an event of time there is no time on CPUs beside the waits. */
void collector_follow_waits(struct collector *c)
{
	struct profile_health now = {0};
	bool wanted;
	char text[256];

	snprintf(now.event, sizeof(now.event), "%s", c->sampled->name);
	wanted = atomic_load(&c->waits) && profile_is_time(&now);
	if (wanted == c->follows)
		return;
	c->follows = wanted;
	if (!wanted) {
		sampler_leave_waits(c->sampler);
		threadbook_forget(c->threads);
	} else if (sampler_follow_waits(c->sampler, c->options->least_wait * 1000ull, LEAST_WAKE_NS,
					text, sizeof(text))) {
		collector_say(c, MESSAGE_WARNING, "%s", text);
	}
}

void collector_tell_cpus_apart(struct collector *c)
{
	bool wanted = atomic_load(&c->by_cpu);
	int err;

	if (wanted == c->apart)
		return;
	err = sampler_set_by_cpu(c->sampler, wanted);
	if (!err) {
		c->apart = wanted;
		return;
	}
	atomic_store(&c->by_cpu, c->apart);
	collector_say(c, MESSAGE_WARNING, "cannot tell CPUs apart: %s", strerror(-err));
}
