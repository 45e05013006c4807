// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a reader must know before believing the numbers below: what is measured, how much of it was
 * lost and why, and what the measuring costs. On a small screen what matters least goes first.
 */
#include "tui/ui/header_priv.h"

#include <stdio.h>
#include <string.h>

#include "tui/profile/reasons.h"
#include "tui/screen/hints.h"
#include "tui/ui/chips.h"
#include "tui/profile/units.h"
#include "tui/ui/replay_keys.h"
#include "tui/query/query.h"
#include "tui/ui/selection.h"
#include "tui/ui/statebar.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"

#define NS_PER_SEC	1000000000.0
#define ROWS_FOR_METERS 20 /* with fewer rows one line has all figures */
#define ROWS_FOR_TWO	28 /* with fewer the timeline has one row */
#define ROWS_FOR_STATES 34 /* with fewer rows states of threads have as many as CPU use */
#define ROWS_FOR_STATE	9  /* with fewer: no line of figures */
#define ROWS_FOR_CHIPS	6  /* with fewer they have no row of their own */
#define ROWS_FOR_TABLES 10 /* of a view; with fewer it gets all of them */
#define STRIP_LEAST	12 /* cells of a timeline behind the figures */
#define NEARLY_FULL	0.9
#define WAITS_DEAR	1 /* percent of a CPU */
#define GOOD_UNWOUND	0.95
#define MISSED_SHARE	10 /* a tenth of the ticks of busy CPUs */

void header_load(struct header *h, const struct profile *p)
{
	const struct profile_replay *replay = profile_replay(p);

	h->replayed = replay != NULL;
	if (replay)
		h->replay = *replay;
	query_health(p, &h->last);
	query_health_sum(p, SPAN_WINDOW, &h->sum);
	header_load_use(h, p);
	header_load_timeline(h, p);
}

/* What was known of a slice stays when the slice is gone. */
void header_load_use(struct header *h, const struct profile *p)
{
	size_t n = query_cpu_use(p, h->last.time, h->use, CPU_USE_MAX);

	if (n || h->use_time != h->last.time)
		h->nuse = n;
	h->use_time = h->last.time;
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

static double per_second(const struct profile_health *last, uint64_t n)
{
	return share((double)n * NS_PER_SEC, (double)last->elapsed);
}

/* Text that is shown as a whole or not at all, up to `end`; returns where the next begins. */
int header_piece(struct grid *g, int row, int col, int end, enum role role, const char *text)
{
	int width = grid_width(g, text);

	return width <= end - col ? col + grid_put(g, row, col, width, role, text) : col;
}

/* --- the title -------------------------------------------------------------------------------- */

/* What the title says besides the program's name; what goes first when there is no room is last. */
enum title_part { PART_SPAN, PART_EVENT, PART_HOST, PART_PACE, PARTS };

struct title {
	char state[224];       /* at the right end */
	char text[PARTS][128]; /* "": not said */
	bool still;
};

static void title_state(const struct ui *ui, const struct grid *g, struct title *t)
{
	const struct header *h = &ui->header;
	char state[96];

	t->still = ui->frozen || (h->replayed && (h->replay.paused || h->replay.ended));
	if (h->replayed)
		replay_keys_state(ui, state, sizeof(state));
	else if (ui->frozen)
		snprintf(state, sizeof(state), "%s",
			 ui->scrub.clock[0] ? ui->scrub.clock : ui->clock);
	else
		snprintf(state, sizeof(state), "LIVE %s", ui->clock);
	snprintf(t->state, sizeof(t->state), " %s %s%s ",
		 grid_glyph(g, t->still ? GLYPH_FROZEN : GLYPH_LIVE), ui->frozen ? "FROZEN  " : "",
		 state);
}

static void title_pieces(const struct ui *ui, struct title *t)
{
	const struct profile_health *last = &ui->header.last;
	const char *weighed = ui_weighed(ui);

	snprintf(t->text[PART_HOST], sizeof(t->text[0]), " %s",
		 ui->header.replayed ? ui->header.replay.host : ui->host);
	if (last->ncpus && last->frequency)
		snprintf(t->text[PART_EVENT], sizeof(t->text[0]), "  %s %u Hz", last->event,
			 last->frequency);
	else if (last->ncpus)
		snprintf(t->text[PART_EVENT], sizeof(t->text[0]), "  %s", last->event);
	/* Other spans are chips. */
	if (weighed == ui->window_name)
		snprintf(t->text[PART_SPAN], sizeof(t->text[0]), "  last %s", weighed);
	else if (ui->frozen && !ui->scrub.weighed)
		snprintf(t->text[PART_SPAN], sizeof(t->text[0]), "  %s", weighed);
	snprintf(t->text[PART_PACE], sizeof(t->text[0]), "  every %.1f s", ui->interval);
}

/* Leaves out pieces until all has room in front of `end`, as far as there are any to leave out;
 * false: there is none. */
static bool title_fit(const struct grid *g, struct title *t, int room, enum title_part least)
{
	for (int piece = PARTS; piece >= (int)least; piece--) {
		int width = grid_width(g, " stacktop");

		if (piece < PARTS)
			t->text[piece][0] = '\0';
		for (int i = 0; i < PARTS; i++)
			width += grid_width(g, t->text[i]);
		if (width <= room)
			return true;
	}
	return false;
}

/* Returns the chips that are still to be drawn. */
static size_t draw_title(const struct ui *ui, struct grid *g, const struct chip *chips, size_t n)
{
	static const enum title_part order[] = {PART_HOST, PART_EVENT, PART_SPAN, PART_PACE};
	struct title all = {.still = false}, t;
	int end, col, room;
	char text[48];

	title_state(ui, g, &all);
	title_pieces(ui, &all);
	end = g->cols - grid_width(g, all.state);
	grid_put(g, 0, end < 0 ? 0 : end, g->cols, all.still ? ROLE_PAUSED : ROLE_OK, all.state);
	room = n ? chips_width(g, chips, n, g->cols) + 1 : 0;
	t = all;
	/* Where a row is dear, the event gives way as well. */
	if (room &&
	    !title_fit(g, &t, end - room, g->rows < ROWS_FOR_METERS ? PART_EVENT : PART_HOST)) {
		room = 0;
		t = all;
	}
	title_fit(g, &t, end - room, PART_SPAN);
	col = header_piece(g, 0, 0, end, ROLE_TITLE, " stacktop");
	/* A screen too small for the figures still shows these. */
	snprintf(text, sizeof(text), "  lost %llu",
		 (unsigned long long)profile_lost(&ui->header.sum));
	if (g->rows < ROWS_FOR_STATE && profile_lost(&ui->header.sum))
		col = header_piece(g, 0, col, end, ROLE_ERROR, text);
	for (size_t i = 0; i < PARTS; i++)
		col = header_piece(g, 0, col, end, order[i] == PART_HOST ? ROLE_TITLE : ROLE_TEXT,
				   t.text[order[i]]);
	if (room)
		chips_draw(g, 0, end - room, room - 1, chips, n);
	return room ? 0 : n;
}

/* --- figures ---------------------------------------------------------------------------------- */

int header_put_lost(const struct ui *ui, struct grid *g, int row, int col, int end)
{
	const struct profile_health *sum = &ui->header.sum;
	uint64_t lost = profile_lost(sum);
	char text[64];

	snprintf(text, sizeof(text), "lost %llu", (unsigned long long)lost);
	col += grid_put(g, row, col, end - col, lost ? ROLE_ERROR : ROLE_OK, text);
	for (int i = 0; i < LOSS_COUNT; i++) {
		int width;

		if (!header_tells(sum, (enum loss)i))
			continue;
		snprintf(text, sizeof(text), " (%s)", reasons_loss((enum loss)i)->name);
		width = grid_width(g, text);
		width = width < end - col ? width : end - col;
		if (width > 2)
			grid_fit(g, row, col, width, ROLE_WARN, text);
		return col + (width > 2 ? width : 0);
	}
	return col;
}

int header_put_complete(const struct ui *ui, struct grid *g, int row, int col, const char *what)
{
	const struct profile_health *sum = &ui->header.sum;
	double complete = share((double)sum->complete_walks, (double)sum->user_walks);
	char text[64];

	snprintf(text, sizeof(text), "%s -", what);
	if (!sum->user_walks)
		return header_piece(g, row, col, g->cols, ROLE_DIM, text);
	snprintf(text, sizeof(text), "%s %.1f%%", what, 100 * complete);
	return header_piece(g, row, col, g->cols, complete >= GOOD_UNWOUND ? ROLE_OK : ROLE_WARN,
			    text);
}

double header_self(const struct ui *ui)
{
	return 100 * share((double)ui->header.last.self_ns, (double)ui->header.last.elapsed);
}

void header_rate(const struct profile_health *last, char *to, size_t size)
{
	char number[16];
	const struct unit *unit = units_of(last);
	const bool samples = strcmp(unit->name, "samples") == 0;

	units_number(per_second(last, samples ? last->samples : last->weight), number,
		     sizeof(number));
	snprintf(to, size, "%s %s/s", unit->name, number);
}

/* All of it in one line, for screens without room for meters, and a timeline behind it. */
static void draw_state(const struct ui *ui, struct grid *g, int row)
{
	const struct profile_health *last = &ui->header.last;
	double user, kernel;
	char text[96], rate[48];
	int col;

	header_rate(last, rate, sizeof(rate));
	if (header_cpu(&ui->header, &user, &kernel))
		snprintf(text, sizeof(text), " cpu %.0f%%  %s%s", 100 * (user + kernel),
			 profile_is_time(last) ? "" : rate, profile_is_time(last) ? "" : "  ");
	else
		snprintf(text, sizeof(text), " %s  ", rate);
	col = grid_put(g, row, 0, g->cols, ROLE_TEXT, text);
	col = header_put_lost(ui, g, row, col, g->cols);
	col = header_put_complete(ui, g, row, col + 2, "complete");
	if (g->cols - col - 2 >= STRIP_LEAST)
		header_draw_strip(ui, g, row, col + 2, g->cols);
}

/* --- stacktop's own tables -------------------------------------------------------------------- */

int header_draw_tables(const struct ui *ui, struct grid *g, int row, int rows)
{
	const struct profile_health *last = &ui->header.last;
	char text[64];
	int col;

	if (rows < ROWS_FOR_TABLES)
		return 0;
	snprintf(text, sizeof(text), " stack map %u/%u", last->counts_used, last->counts_max);
	col = header_piece(g, row, 0, g->cols, ROLE_DIM, text);
	snprintf(text, sizeof(text), "  shards %u/%u, %.1f%% full", last->shards_used,
		 last->shards_max, 100 * share((double)last->words_used, (double)last->words_max));
	col = header_piece(g, row, col, g->cols, ROLE_DIM, text);
	if (last->evicted && ui->view != VIEW_UNWIND) { /* which tells it itself */
		snprintf(text, sizeof(text), "  evicted %u, %.1f/s", last->evicted,
			 per_second(last, last->evictions));
		col = header_piece(g, row, col, g->cols, ROLE_WARN, text);
	}
	snprintf(text, sizeof(text), "  read %.1f ms", (double)last->drain_ns / 1e6);
	col = header_piece(g, row, col, g->cols, ROLE_DIM, text);
	snprintf(text, sizeof(text), "  draw %.1f ms", (double)ui->draw_ns / 1e6);
	if (ui->draw_ns)
		header_piece(g, row, col, g->cols, ROLE_DIM, text);
	return 1;
}

/* Following threads costs more than is promised, or leaves out so much that it is seen. */
static bool waits_full(const struct profile_health *last, char *to, size_t size)
{
	const double cost = 100 * share((double)last->wait_ns, (double)last->elapsed);
	const uint64_t all = last->wait_thinned + last->wait_walks;

	if (!last->waits || cost <= WAITS_DEAR || !last->wait_thinned)
		return false;
	snprintf(
		to, size,
		"waits cost %.1f%% of a CPU; %.0f%% of their stacks, of short ones, are thinned out: "
		"--min-block, F9",
		cost, 100 * share((double)last->wait_thinned, (double)all));
	return true;
}

bool header_full(const struct header *h, enum measure measure, char *to, size_t size)
{
	const struct profile_health *last = &h->last;
	double map = share((double)last->counts_used, (double)last->counts_max);
	double words = share((double)last->words_used, (double)last->words_max);

	to[0] = '\0';
	if (last->wait_lost)
		snprintf(
			to, size,
			"%llu waits lost: their time is counted, their stacks are not; --min-block "
			"makes them fewer",
			(unsigned long long)last->wait_lost);
	else if (map > NEARLY_FULL)
		snprintf(to, size, "the stack map is %.0f%% full: %s", 100 * map,
			 reasons_loss(LOSS_COUNTS_FULL)->remedy);
	else if (last->evictions)
		snprintf(to, size,
			 "unwind tables in use are evicted, %.1f a second: --memory gives them "
			 "more room",
			 per_second(last, last->evictions));
	else if (words > NEARLY_FULL)
		snprintf(to, size,
			 "the shards are %.0f%% full: --memory gives the tables more room",
			 100 * words);
	else if (measure != MEASURE_CPU)
		waits_full(last, to, size);
	return to[0] != '\0';
}

/* --- tabs ------------------------------------------------------------------------------------- */

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

/* What is sampled, unless a chip says it. */
static void draw_whose(const struct ui *ui, struct grid *g, int row, int from)
{
	const struct profile_health *last = &ui->header.last;
	const char *text = "machine ";
	int width = grid_width(g, text);

	if (!last->filtering && last->ncpus && from + 2 + width <= g->cols)
		grid_put(g, row, g->cols - width, width, ROLE_DIM, text);
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

/* Chips that have no room in the title, and what the filter keeps here. */
static void draw_chips(const struct ui *ui, struct grid *g, int row, const struct chip *chips,
		       size_t n)
{
	const struct filter *f = &ui->selection->filter;
	const char *what = f->set ? selection_meaning(ui) : NULL;
	int col = chips_draw(g, row, 0, g->cols - 1, chips, n), width;
	char text[160], clears[64];

	if (!what)
		return;
	hints_words(&ui->config.keys, ACTION_BACK, "clears ", clears, sizeof(clears));
	snprintf(text, sizeof(text), "%s %s; %% is of all. %s", f->negated ? "hides" : "keeps",
		 what, clears);
	width = grid_width(g, text);
	if (width <= g->cols - col - 2)
		grid_put(g, row, g->cols - width, width, ROLE_DIM, text);
}

int header_draw(const struct ui *ui, struct grid *g)
{
	struct chip chips[CHIP_COUNT];
	size_t n = chips_list(ui, chips);
	int row = 1, tall = g->rows >= ROWS_FOR_TWO ? 2 : 1;

	/* Four states can be told apart. */
	if (ui->measure != MEASURE_CPU && g->rows >= ROWS_FOR_STATES)
		tall = 4;

	n = draw_title(ui, g, chips, n);
	if (g->rows >= ROWS_FOR_METERS) {
		row += header_draw_meters(ui, g, row);
		header_draw_timeline(ui, g, row, tall);
		row += tall;
		if (tall > 2) {
			grid_blank(g, row, 0, g->cols, ROLE_TEXT);
			statebar_legend(ui, g, row++, 7, g->cols, NULL);
		}
	} else if (g->rows >= ROWS_FOR_STATE) {
		/* There is no other way to see where in time the view is. */
		if (ui->frozen)
			header_draw_timeline(ui, g, row++, 1);
		else
			draw_state(ui, g, row++);
	}
	draw_tabs(ui, g, row++);
	if (n && g->rows >= ROWS_FOR_CHIPS)
		draw_chips(ui, g, row++, chips, n);
	return row;
}
