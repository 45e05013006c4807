// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What screens ask of the collection. Most is the tracker's business; an interval and another event
 * are wishes that the collector's thread sees to when a slice is over.
 */
#include "tui/collect/collector_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker.h"
#include "bpf/sampler/event.h"
#include "tui/options.h"
#include "tui/collect/procinfo.h"
#include "tui/collect/users.h"

#define DEAD_MORE_NS 3000000000ull

void engine_set_period(struct engine *e, double seconds)
{
	uint64_t ns = (uint64_t)(seconds * 1e9);

	atomic_store(&e->period, ns);
	/* A slice is late when naming the one before took long. */
	tracker_keep_dead(e->tracker, 2 * ns + DEAD_MORE_NS);
}

static void set_interval(struct engine *e, const char *arg)
{
	char *end;
	double seconds = strtod(arg, &end);

	if (end == arg || !(seconds >= OPTIONS_DELAY_MIN && seconds <= OPTIONS_DELAY_MAX))
		return;
	engine_set_period(e, seconds);
	engine_signal(e->wake);
}

static void give_up_fetching(struct engine *e)
{
	unsigned int count = e->remote ? remotedebug_cancel(e->remote) : 0;
	char text[96];

	snprintf(text, sizeof(text),
		 count ? "debuginfod: %u debug files are given up"
		       : "no debug files are being fetched",
		 count);
	engine_say(e, MESSAGE_INFO, text);
}

static void set_event(struct engine *e, const char *name)
{
	const struct event *event = event_find(name);
	char text[128];

	if (event) {
		atomic_store(&e->wish, event);
		return;
	}
	snprintf(text, sizeof(text), "no event is called '%.40s'; F7 lists them", name);
	engine_say(e, MESSAGE_WARNING, text);
}

/* --- attaching by user ----------------------------------------------------------------------- */

static void post_user(struct engine *e, enum tracker_command command, const char *name, bool known,
		      uid_t uid)
{
	char text[256];

	if (known) {
		snprintf(text, sizeof(text), "user:%u %s", (unsigned int)uid, name);
		tracker_post(e->tracker, command, text);
	} else {
		snprintf(text, sizeof(text), "there is no user '%.200s'", name);
		engine_say(e, MESSAGE_ERROR, text);
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

/* The tracker knows users by number, and to look a name up may take long. False: it is none. */
static bool by_user(struct engine *e, enum engine_command command, const char *arg)
{
	static const char prefix[] = "user:";
	const char *name = arg + strlen(prefix);
	int err;

	if ((command != ENGINE_ATTACH && command != ENGINE_DETACH) ||
	    strncmp(arg, prefix, strlen(prefix)) != 0)
		return false;
	name += strspn(name, " ");
	err = users_find(procinfo_users(e->procs), name,
			 command == ENGINE_ATTACH ? attach_user : detach_user, e);
	if (err)
		engine_say(e, MESSAGE_ERROR, "the user cannot be looked up just now");
	return true;
}

void engine_live_post(struct engine *e, enum engine_command command, const char *arg)
{
	static const enum tracker_command commands[] = {
		[ENGINE_ATTACH] = TRACKER_ATTACH,
		[ENGINE_DETACH] = TRACKER_DETACH,
		[ENGINE_DETACH_ALL] = TRACKER_DETACH_ALL,
		[ENGINE_RESET_SHARD] = TRACKER_RESET_SHARD,
		[ENGINE_RESET_SHARDS] = TRACKER_RESET_SHARDS,
		[ENGINE_DROP] = TRACKER_DROP,
		[ENGINE_PIN] = TRACKER_PIN,
		[ENGINE_INSPECT] = TRACKER_CAPTURE,
	};

	arg = arg ? arg : "";
	/* Users that are still being looked up would be attached after this. */
	if (command == ENGINE_DETACH_ALL)
		users_forget(procinfo_users(e->procs));
	if (command == ENGINE_NEXT) {
		atomic_store(&e->reported, atomic_load(&e->slices));
		engine_signal(e->wake);
	} else if (command == ENGINE_GIVE_UP) {
		give_up_fetching(e);
	} else if (command == ENGINE_EVENT) {
		set_event(e, arg);
	} else if (command == ENGINE_BY_CPU) {
		atomic_store(&e->by_cpu, arg[0] == '1');
		engine_signal(e->wake);
	} else if (command == ENGINE_INTERVAL) {
		set_interval(e, arg);
	} else if (!by_user(e, command, arg) &&
		   (size_t)command < sizeof(commands) / sizeof(*commands)) {
		tracker_post(e->tracker, commands[command], arg);
	}
}

/* Stopped before the slice ends, no sample of the event before is left to a slice of its own. */
const struct event *engine_next_event(struct engine *e)
{
	const struct event *event = atomic_exchange(&e->wish, NULL);
	char text[256];

	if (!event || event == e->sampled)
		return NULL;
	if (sampler_try(e->sampler, event->type, event->config, text, sizeof(text))) {
		engine_say(e, MESSAGE_WARNING, text);
		return NULL;
	}
	sampler_stop(e->sampler);
	return event;
}

/*
 * Counts of two events cannot be added up: what was sampled before is forgotten. A view that is
 * frozen keeps what it has.
 */
void engine_change_event(struct engine *e, const struct event *event)
{
	char text[256];

	if (sampler_change(e->sampler, event->type, event->config, text, sizeof(text))) {
		engine_say(e, MESSAGE_WARNING, text);
		return;
	}
	e->sampled = event;
	e->slice_start = engine_now();
	books_read(&e->books, e->sampler);
	books_restart(&e->books);
	profile_lock(e->profile);
	profile_rewind(e->profile);
	profile_unlock(e->profile);
	snprintf(text, sizeof(text), "samples are of %s from now on", event->name);
	engine_say(e, MESSAGE_INFO, text);
}

void engine_tell_cpus_apart(struct engine *e)
{
	bool wanted = atomic_load(&e->by_cpu);
	char text[96];
	int err;

	if (wanted == e->apart)
		return;
	err = sampler_set_by_cpu(e->sampler, wanted);
	if (!err) {
		e->apart = wanted;
		return;
	}
	atomic_store(&e->by_cpu, e->apart);
	snprintf(text, sizeof(text), "cannot tell CPUs apart: %s", strerror(-err));
	engine_say(e, MESSAGE_WARNING, text);
}
