// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the collector checks between slices, and reports when it has changed: CPUs that come and go,
 * shards that a view shows, a captured walk, debug files that are being fetched.
 */
#include "tui/collect/collector_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/tracker/inventory.h"
#include "bpf/sampler/ksyms.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker.h"
#include "tui/profile/inspection.h"
#include "tui/session/session_write.h"

void engine_watch_cpus(struct engine *e)
{
	unsigned int before = sampler_ncpus(e->sampler), now;
	int err = sampler_watch(e->sampler);
	char text[128];

	now = sampler_ncpus(e->sampler);
	if (err && !e->unwatched) {
		e->unwatched = true;
		snprintf(text, sizeof(text), "cannot sample a CPU that came online: %s",
			 strerror(-err));
		engine_say(e, MESSAGE_WARNING, text);
	}
	if (now != before) {
		e->unwatched = false;
		snprintf(text, sizeof(text), "a CPU %s, sampled are now: %u",
			 now < before ? "went offline" : "came online", now);
		engine_say(e, MESSAGE_INFO, text);
	}
	if (now > e->ncpus)
		e->ncpus = now;
}

void engine_take_inventory(struct engine *e)
{
	struct inventory *inventory;
	bool wanted;

	profile_lock(e->profile);
	wanted = profile_inventory_wanted(e->profile);
	profile_unlock(e->profile);
	wanted |= e->record && session_wants_inventory(e->record, engine_now());
	if (!wanted || tracker_inventory(e->tracker, &inventory))
		return;
	profile_lock(e->profile);
	profile_set_inventory(e->profile, inventory);
	profile_unlock(e->profile);
	engine_signal(e->event);
}

void engine_inspect(struct engine *e)
{
	struct inspection *inspection = NULL;
	int err;

	if (!e->captured)
		return;
	err = inspection_make(e->tracker, e->resolver, e->captured, &inspection);
	free(e->captured);
	e->captured = NULL;
	if (err) {
		engine_say(
			e, MESSAGE_WARNING,
			err == -ESRCH
				? "the captured walk cannot be looked at: its process is gone, or "
				  "not known yet"
				: "the captured walk cannot be looked at: memory is short");
		return;
	}
	profile_lock(e->profile);
	profile_set_inspection(e->profile, inspection);
	profile_unlock(e->profile);
	engine_signal(e->event);
}

void engine_tell_of_fetching(struct engine *e)
{
	struct remotedebug_state now;
	char text[192], size[64] = "";

	if (!e->remote)
		return;
	remotedebug_state(e->remote, &now);
	if (now.waiting == e->fetched.waiting && now.done == e->fetched.done &&
	    now.found == e->fetched.found && now.missing == e->fetched.missing)
		return;
	if (now.done)
		snprintf(size, sizeof(size), now.total ? ", %.1f of %.1f MB" : ", %.1f MB",
			 (double)now.done / 1e6, (double)now.total / 1e6);
	if (now.waiting)
		snprintf(text, sizeof(text), "debuginfod: %u to be fetched, now %.12s%s",
			 now.waiting, now.id[0] ? now.id : "-", size);
	else
		snprintf(text, sizeof(text), "debuginfod: %u debug files came, %u are not there",
			 now.found, now.missing);
	e->fetched = now;
	engine_say(e, MESSAGE_INFO, text);
}

void engine_tell_of_ksyms(struct engine *e)
{
	const char *trouble = ksyms_trouble(e->ksyms);

	if (trouble && trouble != e->ksyms_trouble)
		engine_say(e, MESSAGE_WARNING, trouble);
	e->ksyms_trouble = trouble;
}
