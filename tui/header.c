// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Everything a person must know before believing the numbers below: what is measured, how much of
 * it was lost and why, and what the measuring costs. What matters least goes first when the
 * screen is small.
 */
#include "tui/header.h"

#include <stdio.h>
#include <string.h>

#include "tui/query.h"
#include "tui/ui.h"
#include "tui/view.h"

#define NS_PER_SEC     1000000000.0
#define ROWS_FOR_BARS  20 /* a screen of so many rows has the three bars */
#define ROWS_FOR_TIME  28 /* ... and the timeline */
#define ROWS_FOR_STATE 9  /* ... and with less than this not even the line of figures */
#define BAR_MIN	       12
#define BAR_MAX	       50
#define STATE_WIDTH    47 /* of the figures to the right of the bars */
#define GOOD_UNWOUND   0.95

static const struct {
	const char *cause, *remedy;
} losses[LOSS_COUNT] = {
	[LOSS_COUNTS_FULL] = {"stack map full", "lower -F, or refresh more often: ]"},
	[LOSS_STACK_RING] = {"stacks not handed over", "counted without frames; lower -F"},
	[LOSS_BUSY] = {"sampler busy", "lower -F"},
	[LOSS_SIDEBAND] = {"process events lost", "processes were scanned again"},
};

void header_load(struct header *h, const struct profile *p)
{
	query_health(p, &h->last);
	query_health_sum(p, WEIGH_WINDOW, &h->sum);
	h->slices = query_slices(p);
	h->ntimeline = query_timeline(p, h->timeline, TIMELINE_MAX);
}

static uint64_t lost_samples(const struct profile_health *health)
{
	return health->loss[LOSS_COUNTS_FULL] + health->loss[LOSS_BUSY];
}

bool header_loss(const struct header *h, char *to, size_t size)
{
	size_t length = 0;

	to[0] = '\0';
	for (int i = 0; i < LOSS_COUNT; i++) {
		int n;

		if (!h->sum.loss[i] || length >= size)
			continue;
		n = snprintf(to + length, size - length, "%slost %llu: %s (%s)", length ? "; " : "",
			     (unsigned long long)h->sum.loss[i], losses[i].cause, losses[i].remedy);
		length += n > 0 ? (size_t)n : 0;
	}
	return length > 0;
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* CPU time of the slice as a share of all CPUs, by how many samples it could have had. */
static double cpu_share(const struct profile_health *last, uint64_t samples)
{
	return share((double)samples,
		     (double)last->ncpus * last->frequency * (double)last->elapsed / NS_PER_SEC);
}

static double per_second(const struct profile_health *last, uint64_t n)
{
	return share((double)n * NS_PER_SEC, (double)last->elapsed);
}

/* Text that is shown as a whole or not at all, up to `end`; returns where the next begins. */
static int piece(struct grid *g, int row, int col, int end, enum role role, const char *text)
{
	int width = grid_width(g, text);

	return width <= end - col ? col + grid_put(g, row, col, width, role, text) : col;
}

static void draw_title(const struct ui *ui, struct grid *g)
{
	const struct profile_health *last = &ui->header.last;
	char text[128];
	int end, col;

	snprintf(text, sizeof(text), " %s %s  %s ",
		 grid_glyph(g, ui->frozen ? GLYPH_FROZEN : GLYPH_LIVE),
		 ui->frozen ? "FROZEN" : "LIVE", ui->clock);
	end = g->cols - grid_width(g, text);
	grid_put(g, 0, end < 0 ? 0 : end, g->cols, ui->frozen ? ROLE_PAUSED : ROLE_OK, text);
	col = piece(g, 0, 0, end, ROLE_TITLE, " stacktop");
	snprintf(text, sizeof(text), "  %s", ui->host);
	col = piece(g, 0, col, end, ROLE_TITLE, text);
	if (last->ncpus) {
		snprintf(text, sizeof(text), "  %u cpu", last->ncpus);
		col = piece(g, 0, col, end, ROLE_TEXT, text);
		snprintf(text, sizeof(text), "  %s %u Hz", last->event, last->frequency);
		col = piece(g, 0, col, end, ROLE_TEXT, text);
	}
	snprintf(text, sizeof(text), "  %s %s", ui->weigh == WEIGH_WINDOW ? "window" : "weighs",
		 ui_weighed(ui));
	col = piece(g, 0, col, end, ROLE_TEXT, text);
	snprintf(text, sizeof(text), "  every %.1f s", ui->interval);
	piece(g, 0, col, end, ROLE_TEXT, text);
}

static void draw_bar(struct grid *g, int row, const char *label, double part, int width,
		     enum role role)
{
	char text[32];
	int col = 1 + 6;

	grid_put(g, row, 1, 6, ROLE_TEXT, label);
	grid_bar(g, row, col, width, role, part);
	/* The figure stands inside of the bar, at its end. */
	snprintf(text, sizeof(text), "%.1f%%", 100 * part);
	grid_put(g, row, col + width - 1 - (int)strlen(text), (int)strlen(text), ROLE_TEXT, text);
}

static int put(struct grid *g, int row, int col, enum role role, const char *text)
{
	return col + grid_put(g, row, col, g->cols - col, role, text);
}

static int put_lost(const struct ui *ui, struct grid *g, int row, int col)
{
	const struct profile_health *last = &ui->header.last;
	uint64_t lost = lost_samples(last);
	char text[64];

	snprintf(text, sizeof(text), "lost %llu", (unsigned long long)lost);
	col = put(g, row, col, lost ? ROLE_ERROR : ROLE_OK, text);
	for (int i = 0; i < LOSS_COUNT && lost; i++) {
		if (!last->loss[i])
			continue;
		snprintf(text, sizeof(text), " (%s)", losses[i].cause);
		return put(g, row, col, ROLE_WARN, text);
	}
	return col;
}

static int put_unwound(const struct ui *ui, struct grid *g, int row, int col)
{
	const struct profile_health *sum = &ui->header.sum;
	double complete = share((double)sum->complete_walks, (double)sum->user_walks);
	char text[64];

	if (!sum->user_walks) {
		return put(g, row, col, ROLE_DIM, "unwound -");
	}
	snprintf(text, sizeof(text), "unwound %.1f%%", 100 * complete);
	return put(g, row, col, complete >= GOOD_UNWOUND ? ROLE_OK : ROLE_WARN, text);
}

static double self_percent(const struct ui *ui)
{
	return 100 * share((double)ui->header.last.self_ns, (double)ui->header.last.elapsed);
}

/* What does not fit goes: first the drawing, then the reading. */
static void draw_costs(const struct ui *ui, struct grid *g, int row, int col)
{
	const struct profile_health *last = &ui->header.last;
	char map[64], read[32], draw[32] = "", self[32];
	int room = g->cols - col;

	snprintf(map, sizeof(map), "map %u/%u", last->counts_used, last->counts_max);
	snprintf(read, sizeof(read), "  read %.1f ms", (double)last->drain_ns / 1e6);
	if (ui->draw_ns)
		snprintf(draw, sizeof(draw), "  draw %.1f ms", (double)ui->draw_ns / 1e6);
	snprintf(self, sizeof(self), "  self %.1f%%", self_percent(ui));
	room -= (int)(strlen(map) + strlen(self));
	col = put(g, row, col, ROLE_TEXT, map);
	if ((int)strlen(read) <= room) {
		col = put(g, row, col, ROLE_TEXT, read);
		room -= (int)strlen(read);
		if ((int)strlen(draw) <= room)
			col = put(g, row, col, ROLE_TEXT, draw);
	}
	put(g, row, col, self_percent(ui) > 5 ? ROLE_WARN : ROLE_TEXT, self);
}

static void draw_bars(const struct ui *ui, struct grid *g)
{
	const struct profile_health *last = &ui->header.last;
	int width = g->cols - 8 - STATE_WIDTH;
	char text[96];
	int col;

	width = width < BAR_MIN ? BAR_MIN : width > BAR_MAX ? BAR_MAX : width;
	col = 8 + width;
	draw_bar(g, 1, "user", cpu_share(last, last->user_samples), width, ROLE_USER);
	draw_bar(g, 2, "kernel", cpu_share(last, last->kernel_samples), width, ROLE_KERNEL);
	draw_bar(g, 3, "shards", share((double)last->words_used, (double)last->words_max), width,
		 ROLE_MODULE);
	snprintf(text, sizeof(text), "samples %.0f/s  ", per_second(last, last->samples));
	put_lost(ui, g, 1, put(g, 1, col, ROLE_TEXT, text));
	col = put(g, 2, put_unwound(ui, g, 2, col), ROLE_TEXT, "  ");
	snprintf(text, sizeof(text), "shards %u/%u  procs %u", last->shards_used, last->shards_max,
		 last->nprocs);
	put(g, 2, col, ROLE_TEXT, text);
	draw_costs(ui, g, 3, 8 + width);
}

/* All of it in one line, for screens without room for bars. */
static void draw_state(const struct ui *ui, struct grid *g, int row)
{
	const struct profile_health *last = &ui->header.last;
	char text[96];
	int col;

	snprintf(text, sizeof(text), " cpu %.0f%%  %.0f/s  ", 100 * cpu_share(last, last->samples),
		 per_second(last, last->samples));
	col = put(g, row, 0, ROLE_TEXT, text);
	col = put(g, row, put_lost(ui, g, row, col), ROLE_TEXT, "  ");
	col = put_unwound(ui, g, row, col);
	snprintf(text, sizeof(text), "  self %.1f%%", self_percent(ui));
	col = piece(g, row, col, g->cols, ROLE_TEXT, text);
	snprintf(text, sizeof(text), "  shards %u/%u", last->shards_used, last->shards_max);
	piece(g, row, col, g->cols, ROLE_TEXT, text);
}

static void draw_timeline(const struct ui *ui, struct grid *g, int row)
{
	const struct header *h = &ui->header;
	int room = g->cols - 12;
	int n = (int)h->ntimeline < room ? (int)h->ntimeline : room;
	char text[16];

	snprintf(text, sizeof(text), " -%.0fs ", n * ui->interval);
	grid_put(g, row, 0, 7, ROLE_DIM, text);
	for (int i = 0; i < n; i++) {
		float use = h->timeline[h->ntimeline - (size_t)n + (size_t)i];
		int level = (int)(use * (SPARK_LEVELS - 1) + 0.5F);

		grid_put(g, row, 7 + room - n + i, 1, ui_heat(use), grid_spark(g, level));
	}
	grid_put(g, row, g->cols - 4, 4, ROLE_DIM, "now");
}

static void draw_tabs(const struct ui *ui, struct grid *g, int row)
{
	const struct profile_health *last = &ui->header.last;
	char text[64] = "";
	int col = 1, width;

	for (int i = VIEW_FRAME + 1; i < VIEW_COUNT; i++) {
		bool current = i == (int)ui->view;

		col += grid_printf(g, row, col, g->cols - col,
				   current ? ROLE_TAB_CURRENT : ROLE_TAB,
				   current ? "[%d %s]" : " %d %s ", i, view_get(i)->title);
	}
	if (last->filtering)
		snprintf(text, sizeof(text), "attached %u/%u ", last->nattached, last->nprocs);
	else if (last->ncpus)
		snprintf(text, sizeof(text), "whole machine ");
	width = grid_width(g, text);
	if (col + 2 + width <= g->cols)
		grid_put(g, row, g->cols - width, width, last->filtering ? ROLE_TAG : ROLE_DIM,
			 text);
}

int header_draw(const struct ui *ui, struct grid *g)
{
	int row = 1;

	draw_title(ui, g);
	if (g->rows >= ROWS_FOR_BARS) {
		draw_bars(ui, g);
		row = 4;
	} else if (g->rows >= ROWS_FOR_STATE) {
		draw_state(ui, g, row++);
	}
	if (g->rows >= ROWS_FOR_TIME)
		draw_timeline(ui, g, row++);
	draw_tabs(ui, g, row);
	return row + 1;
}
