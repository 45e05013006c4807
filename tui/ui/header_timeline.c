// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPU use over time, of what is in view. The profile keeps that of all samples; of a zoom or a
 * filter it is counted here, slice by slice, and kept for as long as the same is in view.
 */
#include "tui/ui/header_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "symbols/base/keyhash.h"
#include "tui/query/query.h"
#include "tui/ui/selection.h"
#include "tui/ui/statebar.h"
#include "tui/ui/ui.h"

#define NS_PER_SEC  1000000000.0
#define CELLS_COUNT 200000u /* that are counted at a time ... */
#define CELLS_NAMES 25000u  /* ... where all frames of a stack are looked at */
#define LEFT	    7	    /* cells in front of the timeline */
#define LEFT_SCOPE  17	    /* with its scale, in one row */
#define RIGHT	    5	    /* "now" */
#define LEAST_SCALE 0.01    /* of all CPUs: the noise of an idle process is no mountain */
#define MARK_ROOM   12	    /* cells between two marks of time, at least */

/* --- counting -------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	uint64_t both[] = {hash, value};

	return keyhash(both, sizeof(both));
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	return mix(hash, keyhash(text, strlen(text)));
}

/* Of all that selection_in_view() is made from. */
static uint64_t scope_of(const struct ui *ui)
{
	const struct selection *s = ui->selection;
	const struct zoom *zoom = &ui->zoom;
	uint64_t hash = mix(1, VIEW_BIT(ui->view) & (IN_PROCS | IN_UNWIND));

	hash = mix(hash, ui->hide_user | ui->hide_kernel << 1 | ui->hide_inline << 2 |
				 (uint64_t)zoom->on << 3 | zoom->in_module << 4 |
				 s->filter.set << 5 | (uint64_t)ui->frames << 6 |
				 (uint64_t)ui->measure << 8);
	if (zoom->on) {
		hash = mix(mix(hash, (uint64_t)zoom->pid), zoom->image);
		hash = mix(hash, zoom->tid);
	}
	if (zoom->in_module)
		hash = mix_text(hash, zoom->module);
	if (s->filter.set)
		hash = mix_text(hash, s->filter.text);
	for (size_t i = 0; i < s->tags.count; i++)
		hash = mix(mix(hash, (uint64_t)s->tags.tag[i].pid), s->tags.tag[i].image);
	return hash;
}

static float use_of(const struct profile *p, const struct query *q, uint64_t slice, size_t *cells)
{
	struct profile_health health;
	uint64_t samples;
	double whole;

	if (!query_slice_health(p, slice, &health) ||
	    !query_slice_samples(p, q, slice, &samples, cells))
		return -1;
	whole = (double)health.elapsed / NS_PER_SEC * health.frequency * health.ncpus;
	return whole <= 0 ? 0 : samples >= whole ? 1 : (float)((double)samples / whole);
}

/* The newest first: they are what is seen. */
static void count_slices(struct ui *ui, const struct profile *p, const struct query *q)
{
	const size_t most = q->filter || ui->zoom.in_module ? CELLS_NAMES : CELLS_COUNT;
	struct header *h = &ui->header;
	struct scope_line *line = &h->line;
	size_t cells = 0;

	line->waits = false;
	for (size_t back = 0; back < h->ntimeline; back++) {
		uint64_t slice = h->slices - back;
		size_t at = slice % TIMELINE_MAX;

		if (line->slice[at] != slice && cells > most) {
			line->waits = true;
		} else if (line->slice[at] != slice) {
			line->slice[at] = slice;
			line->use[at] = use_of(p, q, slice, &cells);
			cells++;
		}
		h->timeline[h->ntimeline - 1 - back] =
			line->slice[at] == slice ? line->use[at] : -1;
	}
}

/* True: all of it was counted before, and is taken from there. Cursor keys come here: the filter
 * must not be matched with all processes for each. */
static bool load_counted(struct header *h, uint64_t scope)
{
	struct scope_line *line = &h->line;

	if (!line->on || line->scope != scope)
		return false;
	for (size_t i = 0; i < h->ntimeline; i++) {
		uint64_t slice = h->slices - h->ntimeline + 1 + i;

		if (line->slice[slice % TIMELINE_MAX] != slice)
			return false;
		h->timeline[i] = line->use[slice % TIMELINE_MAX];
	}
	line->waits = false;
	return true;
}

static void share_times(const struct query *q, const uint64_t us[WAIT_CAUSES],
			uint16_t share[WAIT_CAUSES])
{
	uint64_t all = 0;

	for (int i = q->measure == MEASURE_OFF; i < WAIT_CAUSES; i++)
		all += us[i];
	for (int i = 0; i < WAIT_CAUSES; i++)
		share[i] = !all || (i == WAIT_NONE && q->measure == MEASURE_OFF)
				   ? 0
				   : (uint16_t)lround((double)us[i] / (double)all * UINT16_MAX);
}

/* The newest first, as with count_slices. */
static void load_states(struct ui *ui, const struct profile *p, uint64_t scope)
{
	struct header *h = &ui->header;
	struct state_line *line = &h->states;
	uint64_t us[WAIT_CAUSES];
	bool narrowed;
	struct query q;
	size_t cells = 0;

	if (line->scope != scope)
		memset(line->slice, 0, sizeof(line->slice));
	line->scope = scope;
	if (!selection_in_view(ui, p, &q, &narrowed))
		return;
	for (size_t back = 0; back < h->ntimeline && cells < CELLS_COUNT; back++) {
		const uint64_t slice = h->slices - back;
		const size_t at = slice % TIMELINE_MAX;

		if (line->slice[at] == slice || !query_slice_times(p, &q, slice, us, &cells))
			continue;
		line->slice[at] = slice;
		share_times(&q, us, line->share[at]);
	}
}

void header_load_scope(struct ui *ui, const struct profile *p)
{
	struct header *h = &ui->header;
	uint64_t scope = scope_of(ui);
	bool narrowed = false, there;
	struct query q;

	if (ui->measure != MEASURE_CPU)
		load_states(ui, p, scope);

	if (load_counted(h, scope))
		return;
	there = selection_in_view(ui, p, &q, &narrowed);
	h->line.on = narrowed;
	h->line.waits = false;
	if (!narrowed)
		return;
	if (h->line.scope != scope)
		memset(h->line.slice, 0, sizeof(h->line.slice));
	h->line.scope = scope;
	if (there) {
		count_slices(ui, p, &q);
		return;
	}
	/* The process is gone, and its samples with it. */
	for (size_t i = 0; i < h->ntimeline; i++)
		h->timeline[i] = -1;
}

/* --- what is drawn ---------------------------------------------------------------------------- */

/* The part of the timeline that is drawn: `n` slices up to number `last`, at columns from `col` on.
 */
struct stretch {
	int col, n;
	uint64_t last;
};

/* In `room` columns from `col` on. The cursor in time stays in sight. */
static struct stretch stretch_of(const struct ui *ui, int col, int room)
{
	const struct header *h = &ui->header;
	uint64_t first = h->slices - h->ntimeline + 1; /* number of timeline[0] */
	struct stretch s = {.n = room > 0 ? room : 0, .last = h->slices};

	if (ui->frozen && ui->scrub.at + (uint64_t)s.n < h->slices + 3)
		s.last = ui->scrub.at + (uint64_t)s.n / 2;
	if (s.last > h->slices)
		s.last = h->slices;
	if (s.last < first)
		s.n = 0;
	else if ((uint64_t)s.n > s.last + 1 - first)
		s.n = (int)(s.last + 1 - first);
	s.col = col + (room > 0 ? room : 0) - s.n;
	return s;
}

uint64_t header_slice_at(const struct ui *ui, const struct zone *zone, int col)
{
	struct stretch s = stretch_of(ui, zone->col, zone->cols);
	int back = s.col + s.n - 1 - col;

	if (!s.n)
		return 0;
	back = back < 0 ? 0 : back >= s.n ? s.n - 1 : back;
	return s.last - (uint64_t)back;
}

static float use_at(const struct header *h, const struct stretch *s, int i)
{
	size_t back = (size_t)(h->slices - s->last) + (size_t)(s->n - i);

	return h->timeline[h->ntimeline - back];
}

/* What a full column stands for: all CPUs, or the most that what is in view had. */
static double scale_of(const struct header *h, const struct stretch *s)
{
	double most = LEAST_SCALE;

	for (int i = 0; i < s->n && h->line.on; i++)
		most = use_at(h, s, i) > most ? use_at(h, s, i) : most;
	return h->line.on ? most : 1;
}

/* The states of a slice, from the bottom up: each cell has that of the time at its middle. */
static void draw_states(const struct ui *ui, struct grid *g, int row, int rows, int col,
			uint64_t slice)
{
	const struct state_line *line = &ui->header.states;
	const uint16_t *share = line->share[slice % TIMELINE_MAX];
	uint32_t before = 0, all = 0;
	int cause = WAIT_NONE;

	for (int i = 0; i < WAIT_CAUSES; i++)
		all += share[i];
	if (line->slice[slice % TIMELINE_MAX] != slice || !all)
		return;
	for (int i = 0; i < rows; i++) {
		const double at = (i + 0.5) * all / rows;

		while (cause + 1 < WAIT_CAUSES && before + share[cause] <= at)
			before += share[cause++];
		statebar_cell(ui, g, row + rows - 1 - i, col, (enum wait_cause)cause);
	}
}

/* Whose height is 0..rows * SPARK_LEVELS - 1. */
static void draw_column(struct grid *g, int row, int rows, int col, double use, double scale)
{
	int level = (int)(use / scale * (rows * SPARK_LEVELS - 1) + 0.5);

	if (use < 0)
		return;
	for (int i = rows - 1; i >= 0; i--, level -= SPARK_LEVELS)
		if (level >= 0)
			grid_put(g, row + i, col, 1, ui_heat(use), grid_spark(g, level));
}

static void draw_cursor(const struct ui *ui, struct grid *g, int row, const struct stretch *s)
{
	int mark = s->col + s->n - 1 - (int)(int64_t)(s->last - ui->scrub.mark);
	int at = s->col + s->n - 1 - (int)(int64_t)(s->last - ui->scrub.at);

	if (ui->scrub.mark && mark >= s->col && mark < s->col + s->n)
		grid_put(g, row, mark, 1, ROLE_CURSOR, "M");
	for (int i = mark < at ? mark + 1 : at + 1; ui->scrub.mark && i < (mark < at ? at : mark);
	     i++)
		if (i >= s->col && i < s->col + s->n)
			grid_role(g, row, i, 1, ROLE_MATCH);
	if (at < s->col || at >= s->col + s->n)
		return;
	grid_put(g, row, at - 1, 1, ROLE_CURSOR, "[");
	grid_put(g, row, at, 1, ROLE_CURSOR, "#");
	grid_put(g, row, at + 1, 1, ROLE_CURSOR, "]");
}

static double ago(const struct ui *ui, const struct stretch *s, int n)
{
	return ((double)n + (double)(ui->header.slices - s->last)) * ui->interval;
}

/* "-30s" where nothing is drawn: in the upper of two rows, over low columns. */
static void draw_marks(const struct ui *ui, struct grid *g, int row, const struct stretch *s)
{
	static const int steps[] = {10, 30, 60, 120, 300};
	double interval = ui->interval > 0 ? ui->interval : 1;
	int step = 0, begin = s->col + s->n;
	char text[16];

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !step; i++)
		step = steps[i] / interval >= MARK_ROOM ? steps[i] : 0;
	for (int seconds = step; step && seconds < ago(ui, s, s->n); seconds += step) {
		int back = (int)(seconds / interval - (double)(ui->header.slices - s->last));
		int width = snprintf(text, sizeof(text), "-%ds", seconds);
		int col = begin - 1 - back;
		bool blank = back > 0 && col >= s->col;

		for (int i = -1; i <= width && blank; i++)
			blank = col + i < 0 || col + i >= g->cols ||
				g->cells[(size_t)row * g->cols + col + i].ch == ' ';
		if (blank)
			grid_put(g, row, col, width, ROLE_DIM, text);
	}
}

/* Returns the scale. */
static double draw_stretch(const struct ui *ui, struct grid *g, int row, int rows,
			   const struct stretch *s, int col, int room)
{
	double scale = scale_of(&ui->header, s);

	for (int i = 0; i < s->n; i++)
		if (ui->measure == MEASURE_CPU)
			draw_column(g, row, rows, s->col + i, use_at(&ui->header, s, i), scale);
		else
			draw_states(ui, g, row, rows, s->col + i,
				    s->last - (uint64_t)(s->n - 1 - i));
	if (rows > 1 && ui->measure == MEASURE_CPU)
		draw_marks(ui, g, row, s);
	if (room > 0)
		grid_zone(g, (struct zone){ZONE_TIME, 0, NULL, row, rows, col, room});
	for (int i = 0; i < rows && ui->frozen; i++)
		draw_cursor(ui, g, row + i, s);
	return scale;
}

void header_draw_timeline(const struct ui *ui, struct grid *g, int row, int rows)
{
	const struct header *h = &ui->header;
	int left = rows == 1 && h->line.on ? LEFT_SCOPE : LEFT, room = g->cols - left - RIGHT;
	struct stretch s = stretch_of(ui, left, room);
	char text[24], scale[24] = "";
	double most;

	for (int i = 0; i < rows; i++)
		grid_blank(g, row + i, 0, g->cols, ROLE_TEXT);
	most = draw_stretch(ui, g, row, rows, &s, left, room);
	snprintf(text, sizeof(text), " -%.0fs ", ago(ui, &s, s.n));
	if (ui->measure != MEASURE_CPU)
		snprintf(scale, sizeof(scale), "%s", rows > 1 ? "state" : "");
	else if (h->line.on || rows > 1)
		snprintf(scale, sizeof(scale), "%s%.*f%%", rows > 1 ? "" : "max ",
			 most < 0.0995 ? 1 : 0, 100 * most);
	grid_put(g, row + rows - 1, 0, LEFT, ROLE_DIM, text);
	if (scale[0])
		grid_right(g, row, rows > 1 ? 0 : LEFT, (rows > 1 ? LEFT : left - LEFT) - 1,
			   ROLE_DIM, scale);
	if (!ui->frozen)
		grid_put(g, row + rows - 1, g->cols - 4, 4, ROLE_DIM, "now");
}

void header_draw_strip(const struct ui *ui, struct grid *g, int row, int col, int end)
{
	struct stretch s = stretch_of(ui, col, end - RIGHT - col);

	draw_stretch(ui, g, row, 1, &s, col, end - RIGHT - col);
	if (!ui->frozen)
		grid_put(g, row, end - RIGHT + 1, RIGHT - 1, ROLE_DIM, "now");
}
