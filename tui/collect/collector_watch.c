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

#include "bpf/report/trace.h"
#include "bpf/tracker/inventory.h"
#include "bpf/sampler/ksyms.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker.h"
#include "symbols/base/text.h"
#include "tui/profile/board.h"
#include "tui/profile/inspection.h"
#include "tui/session/session_write.h"
#include "tui/symbolize/resolver.h"

void collector_watch_cpus(struct collector *c)
{
	unsigned int before = sampler_ncpus(c->sampler), now;
	int err = sampler_watch(c->sampler);
	char text[128];

	now = sampler_ncpus(c->sampler);
	if (err && !c->unwatched) {
		c->unwatched = true;
		snprintf(text, sizeof(text), "cannot sample a CPU that came online: %s",
			 strerror(-err));
		collector_say(c, MESSAGE_WARNING, text);
	}
	if (now != before) {
		c->unwatched = false;
		snprintf(text, sizeof(text), "a CPU %s, sampled CPUs now: %u",
			 now < before ? "went offline" : "came online", now);
		collector_say(c, MESSAGE_INFO, text);
	}
	if (now > c->ncpus)
		c->ncpus = now;
}

void collector_take_inventory(struct collector *c)
{
	struct inventory *inventory;
	bool wanted;

	wanted = board_inventory_wanted(profile_board(c->profile));
	wanted |= c->record && session_wants_inventory(c->record, source_now());
	if (!wanted || tracker_inventory(c->tracker, &inventory))
		return;
	board_set_inventory(profile_board(c->profile), inventory);
	source_signal(c->source.event);
}

/* Names the frames of a captured walk. -ESRCH: its process is gone; -ENOMEM. No lock is held. */
static int inspection_make(struct collector *c, struct inspection **out)
{
	const struct tracker_exec of = {(pid_t)c->captured->tgid, c->captured->start_stack,
					c->captured->exec_id};
	struct tracker_proc proc;
	struct inspection *i;
	struct trace *trace;
	int err = trace_new(c->tracker, c->captured, &trace);

	*out = NULL;
	if (err)
		return err;
	i = inspection_new(trace);
	err = i ? resolver_inspection(c->resolver, i) : -ENOMEM;
	if (err) {
		inspection_put(i);
		return err;
	}
	if (tracker_proc(c->tracker, &of, &proc))
		text_clean(i->comm, sizeof(i->comm), proc.comm,
			   strnlen(proc.comm, sizeof(proc.comm)));
	*out = i;
	return 0;
}

void collector_inspect(struct collector *c)
{
	struct inspection *inspection = NULL;
	int err;

	if (!c->captured)
		return;
	err = inspection_make(c, &inspection);
	free(c->captured);
	c->captured = NULL;
	if (err) {
		collector_say(c, MESSAGE_WARNING,
			      err == -ESRCH
				      ? "cannot inspect the captured walk: its process is gone, or "
					"not tracked yet"
				      : "cannot inspect the captured walk: out of memory");
		return;
	}
	board_set_inspection(profile_board(c->profile), inspection);
	source_signal(c->source.event);
}

void collector_tell_of_fetching(struct collector *c)
{
	struct remotedebug_state now;
	char text[192], size[64] = "";

	if (!c->remote)
		return;
	remotedebug_state(c->remote, &now);
	if (now.waiting == c->fetched.waiting && now.done == c->fetched.done &&
	    now.found == c->fetched.found && now.missing == c->fetched.missing)
		return;
	if (now.done)
		snprintf(size, sizeof(size), now.total ? ", %.1f of %.1f MB" : ", %.1f MB",
			 (double)now.done / 1e6, (double)now.total / 1e6);
	if (now.waiting)
		snprintf(text, sizeof(text), "debuginfod: %u to fetch, now %.12s%s", now.waiting,
			 now.id[0] ? now.id : "-", size);
	else
		snprintf(text, sizeof(text), "debuginfod: %u debug file%s fetched, %u not found",
			 now.found, now.found == 1 ? "" : "s", now.missing);
	c->fetched = now;
	collector_say(c, MESSAGE_INFO, text);
}

void collector_tell_of_ksyms(struct collector *c)
{
	const char *trouble = ksyms_trouble(c->ksyms);

	if (trouble && trouble != c->ksyms_trouble)
		collector_say(c, MESSAGE_WARNING, trouble);
	c->ksyms_trouble = trouble;
}
