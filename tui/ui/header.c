// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a reader must know before believing the numbers below: what is measured, how much of it was
 * lost and why, and what the measuring costs. On a small screen what matters least goes first.
 */
#include "tui/ui/header.h"

#include <stdio.h>
#include <string.h>

#include "tui/profile/reasons.h"
#include "tui/ui/replay_keys.h"
#include "tui/query/query.h"
#include "tui/ui/selection.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"

#define NS_PER_SEC     1000000000.0
#define ROWS_FOR_BARS  20 /* screens with fewer rows have no bars */
#define ROWS_FOR_TIME  28 /* with fewer: no timeline */
#define ROWS_FOR_STATE 9  /* with fewer: no line of figures */
#define BAR_MIN	       12
#define BAR_MAX	       50
#define STATE_WIDTH    47 /* of the figures to the right of the bars */
#define GOOD_UNWOUND   0.95
#define MISSED_SHARE   10 /* a tenth of the ticks of busy CPUs */

void header_load(struct header *h, const struct profile *p)
{
	const struct profile_replay *replay = profile_replay(p);

	h->replayed = replay != NULL;
	if (replay)
		h->replay = *replay;
	query_health(p, &h->last);
	query_health_sum(p, SPAN_WINDOW, &h->sum);
	header_load_timeline(h, p);
}

void header_load_timeline(struct header *h, const struct profile *p)
{
	h->slices = query_slices(p);
	h->ntimeline = query_timeline(p, h->timeline, TIMELINE_MAX);
}

bool header_tells(const struct profile_health *health, enum loss loss)
{
	if (loss == LOSS_MISSED)
		return health->loss[loss] * MISSED_SHARE + health->idle > health->ticks;
	return health->loss[loss] > 0;
}

bool header_loss(const struct header *h, char *to, size_t size)
{
	size_t length = 0;

	to[0] = '\0';
	for (int i = 0; i < LOSS_COUNT; i++) {
		if (!header_tells(&h->sum, (enum loss)i) || length >= size)
			continue;
		length += (size_t)snprintf(to + length, size - length, "%slost %llu: %s (%s)",
					   length ? "; " : "", (unsigned long long)h->sum.loss[i],
					   reasons_loss((enum loss)i)->name,
					   reasons_loss((enum loss)i)->remedy);
	}
	return length > 0;
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* Of the time of all CPUs in the slice, by how many samples it could have had; else of all samples.
 */
static double cpu_share(const struct profile_health *last, uint64_t samples)
{
	return share((double)samples,
		     profile_full(last) * (profile_is_time(last) ? last->ncpus : 1));
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
	const struct header *h = &ui->header;
	bool still = ui->frozen || (h->replayed && (h->replay.paused || h->replay.ended));
	char text[256], state[96], age[64] = "";
	int end, col;

	if (h->replayed)
		replay_keys_state(ui, state, sizeof(state));
	else
		snprintf(state, sizeof(state), "LIVE  %s", ui->clock);
	if (ui->frozen)
		scrub_age(ui, age, sizeof(age));
	if (ui->frozen && !h->replayed)
		snprintf(state, sizeof(state), "%s",
			 ui->scrub.clock[0] ? ui->scrub.clock : ui->clock);
	snprintf(text, sizeof(text), " %s %s%s%s%s ",
		 grid_glyph(g, still ? GLYPH_FROZEN : GLYPH_LIVE), ui->frozen ? "FROZEN " : "", age,
		 ui->frozen ? "  " : "", state);
	end = g->cols - grid_width(g, text);
	grid_put(g, 0, end < 0 ? 0 : end, g->cols, still ? ROLE_PAUSED : ROLE_OK, text);
	col = piece(g, 0, 0, end, ROLE_TITLE, " stacktop");
	/* A screen too small for the figures still shows these. */
	snprintf(text, sizeof(text), "  lost %llu",
		 (unsigned long long)profile_lost(&ui->header.sum));
	if (g->rows < ROWS_FOR_STATE && profile_lost(&ui->header.sum))
		col = piece(g, 0, col, end, ROLE_ERROR, text);
	snprintf(text, sizeof(text), "  %s", h->replayed ? h->replay.host : ui->host);
	col = piece(g, 0, col, end, ROLE_TITLE, text);
	if (last->ncpus) {
		snprintf(text, sizeof(text), "  %u cpu", last->ncpus);
		col = piece(g, 0, col, end, ROLE_TEXT, text);
		snprintf(text, sizeof(text), "  %s %u Hz", last->event, last->frequency);
		col = piece(g, 0, col, end, ROLE_TEXT, text);
	}
	snprintf(text, sizeof(text), "  %s %s",
		 ui_weighed(ui) == ui->window_name ? "window" : "weighs", ui_weighed(ui));
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
	const struct profile_health *sum = &ui->header.sum;
	uint64_t lost = profile_lost(sum);
	char text[64];

	snprintf(text, sizeof(text), "lost %llu", (unsigned long long)lost);
	col = put(g, row, col, lost ? ROLE_ERROR : ROLE_OK, text);
	for (int i = 0; i < LOSS_COUNT; i++) {
		if (!header_tells(sum, (enum loss)i))
			continue;
		snprintf(text, sizeof(text), " (%s)", reasons_loss((enum loss)i)->name);
		return put(g, row, col, ROLE_WARN, text);
	}
	return col;
}

static int put_unwound(const struct ui *ui, struct grid *g, int row, int col)
{
	const struct profile_health *sum = &ui->header.sum;
	double complete = share((double)sum->complete_walks, (double)sum->user_walks);
	char text[64];

	if (!sum->user_walks)
		return put(g, row, col, ROLE_DIM, "unwound -");
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
	col = put_unwound(ui, g, 2, col);
	snprintf(text, sizeof(text), "  shards %u/%u", last->shards_used, last->shards_max);
	col = piece(g, 2, col, g->cols, ROLE_TEXT, text);
	if (last->evicted) {
		snprintf(text, sizeof(text), "  evicted %.0f/s", per_second(last, last->evictions));
		col = piece(g, 2, col, g->cols, ROLE_WARN, text);
	}
	snprintf(text, sizeof(text), "  procs %u%s", last->nprocs,
		 last->reading_procs ? ", reading more" : "");
	piece(g, 2, col, g->cols, ROLE_TEXT, text);
	draw_costs(ui, g, 3, 8 + width);
}

/* All of it in one line, for screens without room for bars. */
static void draw_state(const struct ui *ui, struct grid *g, int row)
{
	const struct profile_health *last = &ui->header.last;
	char text[96];
	int col;

	if (profile_is_time(last))
		snprintf(text, sizeof(text), " cpu %.0f%%  %.0f/s  ",
			 100 * cpu_share(last, last->samples), per_second(last, last->samples));
	else
		snprintf(text, sizeof(text), " %.0f/s  ", per_second(last, last->samples));
	col = put(g, row, 0, ROLE_TEXT, text);
	col = put(g, row, put_lost(ui, g, row, col), ROLE_TEXT, "  ");
	col = put_unwound(ui, g, row, col);
	snprintf(text, sizeof(text), "  self %.1f%%", self_percent(ui));
	col = piece(g, row, col, g->cols, ROLE_TEXT, text);
	snprintf(text, sizeof(text), "  shards %u/%u", last->shards_used, last->shards_max);
	piece(g, row, col, g->cols, ROLE_TEXT, text);
}

/* The part of the timeline that is drawn: `n` slices up to number `last`, at columns from `col` on.
 */
struct header_stretch {
	int col, n;
	uint64_t last;
};

/* The cursor in time stays in sight. */
static struct header_stretch stretch_of(const struct ui *ui, const struct grid *g)
{
	const struct header *h = &ui->header;
	int room = g->cols - 12 > 0 ? g->cols - 12 : 0;
	uint64_t first = h->slices - h->ntimeline + 1; /* number of timeline[0] */
	struct header_stretch s = {.n = room, .last = h->slices};

	if (ui->frozen && ui->scrub.at + (uint64_t)room < h->slices + 3)
		s.last = ui->scrub.at + (uint64_t)room / 2;
	if (s.last > h->slices)
		s.last = h->slices;
	if (s.last < first)
		s.n = 0;
	else if ((uint64_t)s.n > s.last + 1 - first)
		s.n = (int)(s.last + 1 - first);
	s.col = 7 + room - s.n;
	return s;
}

static void draw_cursor(const struct ui *ui, struct grid *g, int row,
			const struct header_stretch *s)
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

static void draw_timeline(const struct ui *ui, struct grid *g, int row)
{
	const struct header *h = &ui->header;
	struct header_stretch s = stretch_of(ui, g);
	char text[24];

	grid_blank(g, row, 0, g->cols, ROLE_TEXT);
	snprintf(text, sizeof(text), " -%.0fs ",
		 ((double)s.n + (double)(h->slices - s.last)) * ui->interval);
	grid_put(g, row, 0, 7, ROLE_DIM, text);
	for (int i = 0; i < s.n; i++) {
		size_t back = (size_t)(h->slices - s.last) + (size_t)(s.n - i);
		float use = h->timeline[h->ntimeline - back];
		int level = (int)(use * (SPARK_LEVELS - 1) + 0.5F);

		grid_put(g, row, s.col + i, 1, ui_heat(use), grid_spark(g, level));
	}
	if (ui->frozen)
		draw_cursor(ui, g, row, &s);
	else
		grid_put(g, row, g->cols - 4, 4, ROLE_DIM, "now");
}

static const int numbers[VIEW_COUNT] = {
#define VIEW_NUMBER(id, number, title, name) [VIEW_##id] = number,
	VIEW_LIST(VIEW_NUMBER)
#undef VIEW_NUMBER
};

enum tabs { TABS_NAMED, TABS_NUMBERED, TABS_ALONE };

/* What there is room for: all names, or only that of the view that is shown, or nothing else. */
static enum tabs tabs_for(const struct ui *ui, const struct grid *g)
{
	int named = 1, current = (int)strlen(view_get(ui)->title);

	for (int i = VIEW_FRAME + 1; i < VIEW_COUNT; i++)
		named += 4 + (int)strlen(ui->views[i]->title);
	if (named <= g->cols)
		return TABS_NAMED;
	return 1 + 3 * (VIEW_COUNT - 1) + 1 + current <= g->cols ? TABS_NUMBERED : TABS_ALONE;
}

/* What is sampled, and how many tagged processes the other views add up. */
static void draw_whose(const struct ui *ui, struct grid *g, int row, int from)
{
	const struct profile_health *last = &ui->header.last;
	enum role roles[] = {last->filtering ? ROLE_TAG : ROLE_DIM, ROLE_TAG};
	char texts[2][64] = {"", ""};
	int end = g->cols;

	if (last->filtering)
		snprintf(texts[0], sizeof(texts[0]), "attached %u/%u ", last->nattached,
			 last->nprocs);
	else if (last->ncpus)
		snprintf(texts[0], sizeof(texts[0]), "whole machine ");
	if (ui->selection->tags.count)
		snprintf(texts[1], sizeof(texts[1]), "tagged %zu ", ui->selection->tags.count);
	for (int i = 0; i < 2; i++) {
		int width = grid_width(g, texts[i]);

		if (!width || from + 2 + width > end)
			continue;
		grid_put(g, row, end - width, width, roles[i], texts[i]);
		end -= width + 1;
	}
}

static void draw_tabs(const struct ui *ui, struct grid *g, int row)
{
	enum tabs tabs = tabs_for(ui, g);
	int col = 1;

	for (int i = VIEW_FRAME + 1; i < VIEW_COUNT; i++) {
		bool current = i == (int)ui->view;
		int wide;

		if (tabs == TABS_ALONE && !current)
			continue;
		wide = grid_printf(g, row, col, g->cols - col,
				   current ? ROLE_TAB_CURRENT : ROLE_TAB,
				   current		   ? "[%d %s]"
				   : tabs == TABS_NUMBERED ? " %d "
							   : " %d %s ",
				   numbers[i], ui->views[i]->title);
		grid_zone(g, (struct zone){ZONE_VIEW, i, NULL, row, 1, col, wide});
		col += wide;
	}
	draw_whose(ui, g, row, col);
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
	else if (ui->frozen && g->rows >= ROWS_FOR_STATE) /* there is no other way to see where */
		draw_timeline(ui, g, row - 1);
	draw_tabs(ui, g, row);
	return row + 1;
}
