// SPDX-License-Identifier: GPL-2.0-or-later
/* See loss_panel.h. */
#include "tui/views/loss_panel.h"

#include <stdio.h>
#include <string.h>

#include "tui/ui/header.h"
#include "tui/views/objtable.h"

#define NS_PER_PERCENT 1e7
#define NUMBER_SIZE    32

struct panel_writer {
	struct grid *g;
	int row, col;
};

/* A text is written as a whole or not at all. */
static void put(struct panel_writer *w, enum role role, const char *text)
{
	int width = grid_width(w->g, text);

	if (width <= w->g->cols - w->col)
		w->col += grid_put(w->g, w->row, w->col, width, role, text);
	else
		w->col = w->g->cols;
}

static void put_number(struct panel_writer *w, enum role role, const char *before, uint64_t n,
		       const char *after)
{
	char number[NUMBER_SIZE], text[128];

	objtable_number(number, sizeof(number), n);
	snprintf(text, sizeof(text), "%s%s %s", before, number, after);
	put(w, role, text);
}

static enum role loss_role(const struct profile_health *h, enum loss loss)
{
	return header_tells(h, loss) ? ROLE_ERROR : ROLE_TEXT;
}

/* Of a time in between, a few samples and ticks may belong to the next refresh. */
static void draw_rest(struct panel_writer *w, uint64_t sum, uint64_t told)
{
	if (sum > told)
		put_number(w, ROLE_DIM, " + ", sum - told, "under way");
	else if (sum < told)
		put_number(w, ROLE_DIM, " - ", told - sum, "of before");
}

static void draw_samples(const struct walk_ends *e, struct panel_writer *w)
{
	static const enum loss losses[] = {LOSS_COUNTS_FULL, LOSS_BUSY, LOSS_SLICE};
	const struct profile_health *h = &e->health;
	uint64_t shown = walk_ends_shown(e), lost = profile_lost(h);
	uint64_t told = shown + lost + h->filtered;

	put_number(w, ROLE_TEXT, " samples ", h->taken, "taken =");
	put_number(w, ROLE_OK, " ", shown, "shown");
	put_number(w, lost ? ROLE_ERROR : ROLE_TEXT, " + ", lost, "lost");
	if (profile_unattached(h) || h->filtering)
		put_number(w, ROLE_TEXT, " + ", profile_unattached(h), "filtered");
	if (h->outside)
		put_number(w, ROLE_TEXT, " + ", h->outside, "outside this PID namespace");
	draw_rest(w, h->taken, told);
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (h->loss[losses[i]])
			put_number(w, ROLE_WARN, "  ", h->loss[losses[i]],
				   reasons_loss(losses[i])->name);
}

static void draw_ticks(const struct walk_ends *e, struct panel_writer *w)
{
	const struct profile_health *h = &e->health;
	uint64_t throttled = h->loss[LOSS_THROTTLED], missed = h->loss[LOSS_MISSED];

	if (h->ticks) {
		put_number(w, ROLE_TEXT, " ticks ", h->ticks, "due =");
		put_number(w, ROLE_OK, " ", h->taken, "taken");
		put_number(w, ROLE_TEXT, " + ", h->idle, "idle");
		put_number(w, loss_role(h, LOSS_THROTTLED), " + ", throttled, "throttled");
		put_number(w, loss_role(h, LOSS_MISSED), " + ", missed, "missed");
		draw_rest(w, h->ticks, h->taken + h->idle + throttled + missed);
	} else {
		put(w, ROLE_DIM, " ticks: not of a clock");
		put_number(w, loss_role(h, LOSS_THROTTLED), "  ", throttled, "throttled");
	}
	for (int i = LOSS_STACK_RING; i <= LOSS_KERNEL; i++)
		if (h->loss[i] && (i == LOSS_STACK_RING || i == LOSS_SIDEBAND || i == LOSS_KERNEL))
			put_number(w, ROLE_WARN, "  ", h->loss[i],
				   reasons_loss((enum loss)i)->name);
}

static void draw_costs(const struct walk_ends *e, struct panel_writer *w)
{
	const struct profile_health *h = &e->health;
	double walks = (double)h->user_walks, seconds = (double)h->elapsed / 1e9;
	char text[128];

	put_number(w, ROLE_TEXT, " walks ", h->user_walks, "");
	snprintf(text, sizeof(text), " %.1f frames each  %.0f frames/s",
		 walks > 0 ? (double)h->frames / walks : 0, walk_ends_rate(e, h->frames));
	put(w, ROLE_TEXT, text);
	if (h->evicted || h->evictions) {
		snprintf(text, sizeof(text), "  evicted %u, %.1f/s", h->evicted,
			 walk_ends_rate(e, h->evictions));
		put(w, ROLE_WARN, text);
	}
	snprintf(text, sizeof(text), "  self %.1f%%",
		 seconds > 0 ? (double)h->self_ns / NS_PER_PERCENT / seconds : 0);
	put(w, ROLE_TEXT, text);
	if (h->runs) {
		snprintf(text, sizeof(text), "  BPF %.1f us a sample, %.2f%%",
			 (double)h->run_ns / 1e3 / (double)h->runs,
			 seconds > 0 ? (double)h->run_ns / NS_PER_PERCENT / seconds : 0);
		put(w, ROLE_TEXT, text);
		return;
	}
	snprintf(text, sizeof(text), "  BPF not timed: kernel.bpf_stats_enabled=1 does");
	if (grid_width(w->g, text) > w->g->cols - w->col)
		text[strlen("  BPF not timed")] = '\0';
	put(w, ROLE_DIM, text);
}

void loss_panel_draw(const struct walk_ends *e, struct grid *g, int top, int rows)
{
	static void (*const lines[])(const struct walk_ends *, struct panel_writer *) = {
		draw_samples, draw_ticks, draw_costs};

	for (int i = 0; i < rows && i < LOSS_PANEL_LINES; i++)
		lines[i](e, &(struct panel_writer){g, top + i, 0});
}
