// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The span of time that figures are of, and how often they are refreshed. Settings, keys and
 * replays change both, and name them with the same words.
 */
#include "tui/ui/timespan.h"

#include <stdio.h>
#include <string.h>

#include "tui/ui/bycpu.h"
#include "tui/profile/source.h"
#include "tui/ui/view.h"

static const double intervals[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};

#define INTERVALS (sizeof(intervals) / sizeof(intervals[0]))

void timespan_name(struct ui *ui, unsigned int seconds)
{
	snprintf(ui->window_name, sizeof(ui->window_name), "%u s", seconds);
	snprintf(ui->decay_name, sizeof(ui->decay_name), "decay %g s", seconds / 2.0);
}

/* What CPUs and threads had is in slices, of which those of the window are added up. */
static bool needs_window(const struct ui *ui)
{
	return bycpu_chosen(ui) || ui->threads || (ui->zoom.on && ui->zoom.tid);
}

enum span timespan_weighed(const struct ui *ui)
{
	return needs_window(ui) ? SPAN_WINDOW : ui->span;
}

enum span ui_span(const struct ui *ui)
{
	return ui->frozen ? SPAN_MOMENT : timespan_weighed(ui);
}

const char *ui_weighed(const struct ui *ui)
{
	enum span span;

	if (ui->frozen && !ui->scrub.weighed)
		return ui->scrub.mark ? ui->scrub.shown : ui->window_name;
	span = ui->frozen ? ui->span : timespan_weighed(ui);
	return span == SPAN_WINDOW  ? ui->window_name
	       : span == SPAN_TOTAL ? "all since zero"
				    : ui->decay_name;
}

void timespan_total(struct ui *ui, bool total)
{
	ui->span = total ? SPAN_TOTAL : SPAN_WINDOW;
	if (total && needs_window(ui))
		ui_notice(ui, "%s are only known in the window: the total has none",
			  bycpu_chosen(ui) ? "CPUs" : "threads");
}

unsigned int timespan_zero(struct ui *ui)
{
	profile_lock(ui->profile);
	profile_zero(ui->profile);
	profile_unlock(ui->profile);
	if (ui->overlay.ops && ui->overlay.ops->reset)
		ui->overlay.ops->reset(ui);
	ui_notice(ui, ui->frozen ? "counts are zero; the frozen view keeps what it has"
				 : "counts are zero");
	return UI_RELOAD;
}

unsigned int timespan_weigh(struct ui *ui)
{
	if (ui->frozen) {
		ui_notice(ui, "the view is frozen: z resumes first");
		return UI_REDRAW;
	}
	if (bycpu_chosen(ui)) {
		ui_notice(ui, ui->grouping == GROUP_CPU
				      ? "CPUs are only known in the window: c shows processes"
				      : "CPUs are only known in the window: Esc ends the filter");
		return UI_REDRAW;
	}
	if (ui->threads || (ui->zoom.on && ui->zoom.tid)) {
		ui_notice(ui, "threads are only known in the window: H and Esc join them");
		return UI_REDRAW;
	}
	ui->span = ui->span == SPAN_WINDOW  ? SPAN_TOTAL
		   : ui->span == SPAN_TOTAL ? SPAN_DECAY
					    : SPAN_WINDOW;
	if (ui->span == SPAN_WINDOW)
		ui_notice(ui, "shows the last %s", ui->window_name);
	else if (ui->span == SPAN_TOTAL)
		ui_notice(ui, "shows all samples since zero");
	else
		ui_notice(ui, "shows decaying samples: half the weight every %s",
			  ui->decay_name + strlen("decay "));
	return UI_RELOAD;
}

void timespan_refresh(struct ui *ui, double seconds)
{
	char arg[32];

	ui->interval = seconds;
	snprintf(arg, sizeof(arg), "%.1f", seconds);
	ui_post(ui, SOURCE_INTERVAL, arg);
}

unsigned int timespan_pace(struct ui *ui, int step)
{
	size_t i = 0;

	while (i + 1 < INTERVALS && intervals[i] < ui->interval - 0.001)
		i++;
	/* The command line may have asked for more than the longest. */
	if (step > 0 && intervals[i] < ui->interval + 0.001) {
		if (i + 1 == INTERVALS)
			return 0;
		i++;
	} else if (step < 0 && i > 0 && intervals[i] > ui->interval - 0.001) {
		i--;
	}
	timespan_refresh(ui, intervals[i]);
	ui_notice(ui, "refresh every %.1f s", intervals[i]);
	return UI_REDRAW;
}

unsigned int timespan_window(struct ui *ui, unsigned int seconds)
{
	int err;

	profile_lock(ui->profile);
	err = profile_set_window(ui->profile, seconds);
	seconds = profile_window(ui->profile);
	profile_unlock(ui->profile);
	if (err)
		ui_notice(ui, "%s", strerror(-err));
	else if (ui->frozen)
		ui_notice(ui, "the window is %u s from the next moment on", seconds);
	timespan_name(ui, seconds);
	return UI_RELOAD;
}
