// SPDX-License-Identifier: GPL-2.0-or-later
/* See scrub.h: what the keys z Z , . { } M B X do. */
#include "tui/ui/scrub.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tui/profile/frozen_sum.h"
#include "tui/session/baseline.h"
#include "tui/screen/hints.h"
#include "tui/ui/replay_keys.h"
#include "tui/ui/ui.h"

#define NS_PER_SEC 1000000000ULL
#define MIB	   (1024.0 * 1024.0)
#define FAR	   10.0 /* seconds of { and } */

bool scrub_moves(const struct ui *ui, enum action action)
{
	return ui->frozen && (action == ACTION_STEP_BACK || action == ACTION_STEP_ON ||
			      action == ACTION_FAR_BACK || action == ACTION_FAR_ON);
}

/* The slices that are shown. */
static void bounds(const struct ui *ui, const struct profile *p, uint64_t *first, uint64_t *last)
{
	const struct scrub *s = &ui->scrub;

	*first = s->mark && s->mark < s->at ? s->mark : s->at;
	*last = s->mark > s->at ? s->mark : s->at;
	if (!s->mark)
		*first = query_window_first(p, s->at);
}

/* As long a time as that of the moment, right before it; there is none if a part of it is gone, or
 * was never sampled. */
static int take_before(const struct ui *ui, struct profile *p, uint64_t first, uint64_t last)
{
	struct history kept;
	const uint64_t n = last + 1 - first; /* slices of a range */
	uint64_t from;
	int err;

	query_history(p, &kept);
	if (first <= kept.first ||
	    (ui->scrub.mark ? first - kept.first < n : !query_window_whole(p, first - 1))) {
		frozen_sum_drop(p, FROZEN_BEFORE);
		return 0;
	}
	from = ui->scrub.mark ? first - n : query_window_first(p, first - 1);
	err = frozen_sum_slices(p, FROZEN_BEFORE, from, first - 1);
	if (err)
		frozen_sum_drop(p, FROZEN_BEFORE);
	return err;
}

/* Takes the time of the cursor and the mark; the lock is held. */
static int take_slices(struct ui *ui, struct profile *p)
{
	struct scrub *s = &ui->scrub;
	struct profile_health sum;
	uint64_t first, last;
	int err;

	bounds(ui, p, &first, &last);
	err = frozen_sum_slices(p, FROZEN_MOMENT, first, last);
	if (err)
		return err;
	s->weighed = false;
	s->shown[0] = '\0';
	query_health_sum(p, SPAN_MOMENT, &sum);
	if (s->mark)
		snprintf(s->shown, sizeof(s->shown), "range %.0f s",
			 (double)sum.elapsed / (double)NS_PER_SEC);
	return take_before(ui, p, first, last);
}

static unsigned int freeze(struct ui *ui)
{
	struct scrub *s = &ui->scrub;
	struct profile *p = ui->profile;
	int err;

	profile_lock(p);
	header_load(&ui->header, p);
	s->at = s->froze = ui->header.slices;
	s->mark = 0;
	s->shown[0] = '\0';
	s->weighed = ui_span(ui) != SPAN_WINDOW;
	query_history(p, &s->kept);
	if (s->weighed) /* what is weighed so has no time before */
		frozen_sum_drop(p, FROZEN_BEFORE);
	err = s->weighed ? frozen_sum_span(p, FROZEN_MOMENT, ui_span(ui)) : take_slices(ui, p);
	/* Nothing was sampled yet: that is what is shown. */
	if (err == -ENOENT) {
		s->weighed = true;
		err = frozen_sum_span(p, FROZEN_MOMENT, SPAN_WINDOW);
	}
	profile_unlock(p);
	if (err) {
		ui_notice(ui, "not frozen: %s", strerror(-err));
		return UI_REDRAW;
	}
	ui->frozen = true;
	ui_notice(ui, "history: %.0f of %d s, %.1f of %.0f MiB; , . { } go back", s->kept.seconds,
		  SCRUB_SECONDS, (double)s->kept.bytes / MIB, (double)s->kept.bytes_max / MIB);
	return UI_RELOAD;
}

static unsigned int thaw(struct ui *ui)
{
	profile_lock(ui->profile);
	frozen_sum_drop(ui->profile, FROZEN_MOMENT);
	frozen_sum_drop(ui->profile, FROZEN_BEFORE);
	profile_unlock(ui->profile);
	ui->frozen = false;
	return UI_RELOAD;
}

static unsigned int go_slice(struct ui *ui, uint64_t slice)
{
	uint64_t old = ui->scrub.at;
	int err;

	ui->scrub.at = slice;
	profile_lock(ui->profile);
	err = take_slices(ui, ui->profile);
	profile_unlock(ui->profile);
	if (err == -ENOENT) {
		ui->scrub.at = old;
		ui_notice(ui, "the history has no samples of that time");
	} else if (err) {
		ui_notice(ui, "%s", strerror(-err));
	}
	return UI_RELOAD;
}

static unsigned int move(struct ui *ui, double seconds)
{
	const char *end = seconds < 0 ? "this is the oldest moment that is kept"
				      : "this is the newest moment";
	uint64_t to;

	if (!ui->frozen && freeze(ui) != UI_RELOAD)
		return UI_REDRAW;
	profile_lock(ui->profile);
	to = query_slice_step(ui->profile, ui->scrub.at, seconds);
	profile_unlock(ui->profile);
	if (to != ui->scrub.at || ui->scrub.weighed)
		return go_slice(ui, to);
	ui_notice(ui, "%s", end);
	return UI_RELOAD;
}

unsigned int scrub_point(struct ui *ui, uint64_t slice, bool drag)
{
	struct scrub *s = &ui->scrub;
	bool there = slice >= 1;

	if (!there || (ui->frozen && drag && slice == s->at))
		return UI_REDRAW;
	if (!ui->frozen && freeze(ui) != UI_RELOAD)
		return UI_REDRAW;
	if (!drag) {
		s->mark = 0;
	} else if (!s->mark) {
		s->mark = s->at;
		s->mark_time = s->time;
	}
	return go_slice(ui, slice);
}

static unsigned int mark(struct ui *ui)
{
	struct scrub *s = &ui->scrub;

	if (!ui->frozen) {
		ui_notice(ui, "ranges are marked in a frozen view: z freezes, M marks one end");
		return UI_REDRAW;
	}
	s->mark = s->mark ? 0 : s->at;
	s->mark_time = s->time;
	ui_notice(ui, s->mark ? "one end of the range is here: , . { } move the other"
			      : "no range: shows the window before the cursor");
	return go_slice(ui, s->at);
}

/* --- the difference ------------------------------------------------------------------------ */

/* The lock is held. */
static int take_baseline(struct ui *ui, struct profile *p, enum span span, const char *what)
{
	struct scrub *s = &ui->scrub;
	int err = frozen_sum_span(p, FROZEN_BASELINE, span);
	char clock[16];

	if (err)
		return err;
	s->base[0] = s->base[1] = 0;
	if (span == SPAN_MOMENT && !s->weighed)
		bounds(ui, p, &s->base[0], &s->base[1]);
	snprintf(clock, sizeof(clock), "%s", ui->clock);
	if (ui->frozen && s->clock[0])
		snprintf(clock, sizeof(clock), "%s", s->clock);
	else if (ui->header.replayed)
		replay_keys_clock(&ui->header, clock, sizeof(clock));
	snprintf(s->base_name, sizeof(s->base_name), "%s to %s", what, clock);
	return 0;
}

static unsigned int baseline(struct ui *ui)
{
	char shows[64];
	int err;

	profile_lock(ui->profile);
	err = take_baseline(ui, ui->profile, ui_span(ui), ui_weighed(ui));
	profile_unlock(ui->profile);
	if (err) {
		ui_notice(ui, "no baseline: %s", strerror(-err));
		return UI_RELOAD;
	}
	/* What was shown was the difference from another one: X is to show, not to hide. */
	ui->scrub.diff = false;
	hints_words(&ui->config.keys, ACTION_DIFF, "shows the difference from it", shows,
		    sizeof(shows));
	ui_notice(ui, "the baseline is %s%s%s", ui->scrub.base_name, shows[0] ? "; " : "", shows);
	return UI_RELOAD;
}

unsigned int scrub_baseline(struct ui *ui, const char *path)
{
	int err;

	baseline_free(ui->baseline);
	err = baseline_start(&ui->baseline, ui->profile, path);
	if (err)
		ui_notice(ui, "no baseline: %s", strerror(-err));
	else
		ui_notice(ui, "reads %s", baseline_name(ui->baseline));
	return UI_REDRAW;
}

/* True, with a notice, if samples of two events would be compared: their shares are not of the
 * same thing. The lock is held. */
static bool other_event(struct ui *ui, const struct profile *p)
{
	const char *now = ui->header.last.event;
	struct profile_health base;

	query_health_sum(p, SPAN_BASELINE, &base);
	if (!now[0] || !base.event[0] || strcmp(now, base.event) == 0)
		return false;
	ui_notice(ui, "no difference: the baseline is of %s, this is %s; B remembers this",
		  base.event, now);
	return true;
}

/* Whether the session has been read; the lock is held. */
static void take_recorded(struct ui *ui, struct profile *p)
{
	struct scrub *s = &ui->scrub;
	bool loaded;

	if (ui->baseline && baseline_done(ui->baseline, &loaded)) {
		if (loaded) {
			s->base[0] = s->base[1] = 0;
			snprintf(s->base_name, sizeof(s->base_name), "%s",
				 baseline_name(ui->baseline));
			s->diff = true;
			ui_notice(ui, "the difference from %s", s->base_name);
		}
		baseline_free(ui->baseline);
		ui->baseline = NULL;
	}
	if (s->diff && frozen_sum_match(p))
		ui_notice(ui, "%s", strerror(ENOMEM));
}

/* Without a baseline it is the time right before what is shown. */
static int default_baseline(struct ui *ui)
{
	struct profile *p = ui->profile;
	uint64_t last, first;
	int err = 0;

	profile_lock(p);
	if (!ui->frozen) {
		struct history kept;

		query_history(p, &kept);
		last = kept.last;
		first = query_window_first(p, last);
		err = take_before(ui, p, first, last);
	}
	if (!err && !frozen_sum_taken(p, FROZEN_BEFORE))
		err = -ENOENT;
	if (!err)
		err = take_baseline(ui, p, SPAN_BEFORE, "the same length of time before the last");
	if (!err)
		snprintf(ui->scrub.base_name, sizeof(ui->scrub.base_name), "the time before");
	profile_unlock(p);
	return err;
}

static unsigned int difference(struct ui *ui)
{
	struct scrub *s = &ui->scrub;
	uint64_t first = 0, last = 0;
	int err = 0;

	s->diff = !s->diff;
	if (!s->diff) {
		ui_notice(ui, "the difference is not shown");
		return UI_RELOAD;
	}
	if (!s->base_name[0])
		err = default_baseline(ui);
	if (err) {
		s->diff = false;
		ui_notice(ui, "there is no baseline: B makes one of what is shown");
		return UI_REDRAW;
	}
	profile_lock(ui->profile);
	s->diff = !other_event(ui, ui->profile);
	profile_unlock(ui->profile);
	if (!s->diff)
		return UI_REDRAW;
	ui_notice(ui, "the difference from %s", s->base_name);
	if (!ui->frozen || s->weighed)
		return UI_RELOAD;
	profile_lock(ui->profile);
	bounds(ui, ui->profile, &first, &last);
	profile_unlock(ui->profile);
	/* The baseline does not differ from itself. Going back to it means that the spike is
	 * wanted. */
	if (first == s->base[0] && last == s->base[1] && s->froze != s->at) {
		s->mark = 0;
		return go_slice(ui, s->froze);
	}
	return UI_RELOAD;
}

unsigned int scrub_act(struct ui *ui, enum action action)
{
	switch (action) {
	case ACTION_FREEZE:
		return ui->frozen ? thaw(ui) : freeze(ui);
	case ACTION_LIVE:
		if (ui->frozen)
			return thaw(ui);
		ui_notice(ui, "this is live already");
		return UI_REDRAW;
	case ACTION_STEP_BACK:
		return move(ui, -1);
	case ACTION_STEP_ON:
		return move(ui, 1);
	case ACTION_FAR_BACK:
		return move(ui, -FAR);
	case ACTION_FAR_ON:
		return move(ui, FAR);
	case ACTION_MARK:
		return mark(ui);
	case ACTION_BASELINE:
		return baseline(ui);
	case ACTION_DIFF:
		return difference(ui);
	default:
		return 0;
	}
}

/* --- what is shown of it ------------------------------------------------------------------- */

void scrub_load(struct ui *ui, struct profile *p)
{
	struct scrub *s = &ui->scrub;
	struct profile_health health;
	struct tm tm;
	time_t when;
	bool there;

	take_recorded(ui, p);
	/* The event may have changed since, as it does in a recording, too. */
	if (s->diff && other_event(ui, p))
		s->diff = false;
	query_history(p, &s->kept);
	if (!ui->frozen)
		return;
	header_load_timeline(&ui->header, p);
	query_health_sum(p, SPAN_MOMENT, &ui->header.sum);
	if (query_slice_health(p, s->kept.last, &health))
		s->newest = health.time;
	/* Of a slice that is gone, the header keeps what it had. */
	there = query_slice_health(p, s->at, &health);
	if (there)
		ui->header.last = health;
	header_load_use(&ui->header, p);
	s->slices = query_keeps_slices(p, SPAN_MOMENT);
	/* A slice without samples may have counted per CPU all the same. */
	s->cpus = s->slices && (ui->header.last.by_cpu || query_knows_cpus(p, SPAN_MOMENT));
	if (!there)
		return;
	s->time = health.time;
	s->clock[0] = '\0';
	when = (time_t)(health.clock / NS_PER_SEC);
	if (health.clock && localtime_r(&when, &tm))
		strftime(s->clock, sizeof(s->clock), "%H:%M:%S", &tm);
}

void scrub_wait(struct ui *ui, const struct profile *p)
{
	const struct profile_replay *replay = profile_replay(p);
	struct profile_health health;
	struct history kept;

	if (!ui->frozen || !replay)
		return;
	ui->header.replay = *replay;
	query_history(p, &kept);
	if (query_slice_health(p, kept.last, &health))
		ui->scrub.newest = health.time;
}

static void age_text(const struct ui *ui, uint64_t time, char *to, size_t size)
{
	uint64_t now = ui->scrub.newest;
	unsigned long long seconds;

	/* Time goes on; that of a recording only by what is played. */
	if (!ui->header.replayed && ui->now > now)
		now = ui->now;
	seconds = now > time ? (now - time + NS_PER_SEC / 2) / NS_PER_SEC : 0;
	if (seconds < 60)
		snprintf(to, size, "-%llus", seconds);
	else
		snprintf(to, size, "-%llum%llus", seconds / 60, seconds % 60);
}

void scrub_age(const struct ui *ui, char *to, size_t size)
{
	const struct scrub *s = &ui->scrub;
	char from[32], until[32];

	to[0] = '\0';
	if (!s->time)
		return;
	age_text(ui, s->time, from, sizeof(from));
	if (!s->mark) {
		snprintf(to, size, "%s", from);
		return;
	}
	age_text(ui, s->mark_time, until, sizeof(until));
	if (s->mark < s->at)
		snprintf(to, size, "%s..%s", until, from);
	else
		snprintf(to, size, "%s..%s", from, until);
}
