// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unwind: how far to believe the other views. Which stacks are not complete, why, at which
 * function, and what helps; and the books, in which each sample and each tick is somewhere.
 */
#include "tui/ui/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/ui/bycpu.h"
#include "tui/views/unwind_tables.h"
#include "tui/screen/hints.h"
#include "tui/views/inspector.h"
#include "tui/ui/header.h"
#include "tui/views/objtable.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/selection.h"

#define NS_PER_PERCENT	 1e7
#define NUMBER_SIZE	 32
#define LOSS_PANEL_LINES 4
#define ROWS_FOR_BOTH	 6 /* with less for the tables only one is shown */
#define ROWS_FOR_WORDS	 8
#define ROWS_FOR_ALL	 12 /* books and words in full */
#define WORDS_SHARE	 5  /* of the rows, at most, where there are enough for books in full */

enum depth { DEPTH_SCOPES, DEPTH_REASONS, DEPTH_PLACES };

struct unwind_view {
	struct walk_ends endings;
	struct unwind_procs scopes;
	enum depth depth;
	struct unwind_reasons reasons, places;
	struct inspector inspector;
};

static void *unwind_open(void)
{
	struct unwind_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->scopes.fixed = UNWIND_REASONS_ALL;
	v->scopes.sorted = SCOPE_BROKEN;
	v->reasons.sorted = UNWIND_REASONS_SAMPLES;
	v->places.sorted = UNWIND_REASONS_SAMPLES;
	v->places.places = true;
	return v;
}

static void unwind_close(void *state)
{
	struct unwind_view *v = state;

	if (!v)
		return;
	inspector_free(&v->inspector);
	walk_ends_free(&v->endings);
	unwind_reasons_free(&v->reasons);
	unwind_reasons_free(&v->places);
	unwind_procs_free(&v->scopes);
	free(v);
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Another view may have zoomed, or zoomed out. */
static void follow_zoom(const struct ui *ui, struct unwind_view *v)
{
	if (ui->zoom.on) {
		v->scopes.fixed = 0;
		v->scopes.pid = ui->zoom.pid;
		v->scopes.image = ui->zoom.image;
		if (v->depth == DEPTH_SCOPES)
			v->depth = DEPTH_REASONS;
	} else if (!v->scopes.fixed) {
		v->depth = DEPTH_SCOPES;
	}
}

static int unwind_load(struct ui *ui, const struct profile *p)
{
	struct unwind_view *v = ui->state[VIEW_UNWIND];
	struct query q = {.span = ui_span(ui), .proc = QUERY_ALL};
	int err;

	/* Their rows lead into what is forgotten now. */
	unwind_reasons_clear(&v->reasons);
	unwind_reasons_clear(&v->places);
	v->scopes.list.count = 0;
	follow_zoom(ui, v);
	if (v->inspector.open && !ui->frozen)
		inspector_load(&v->inspector, p);
	err = bycpu_filter(ui, p, &q);
	return err ? err : walk_ends_load(&v->endings, p, &q);
}

static int load_tables(struct unwind_view *v)
{
	int scope = unwind_procs_chosen(&v->scopes);
	const struct endrow *reason;
	int err = unwind_reasons_load(&v->reasons, &v->endings, scope, NULL);

	if (err)
		return err;
	unwind_reasons_clear(&v->places);
	reason = unwind_reasons_chosen(&v->reasons);
	if (v->depth > DEPTH_SCOPES && reason && scope != UNWIND_REASONS_LOST)
		err = unwind_reasons_load(&v->places, &v->endings, scope, reason->end);
	if (v->depth == DEPTH_PLACES && !v->places.list.count)
		v->depth = DEPTH_REASONS;
	return err;
}

static int unwind_sort(struct ui *ui)
{
	struct unwind_view *v = ui->state[VIEW_UNWIND];
	int err = unwind_procs_load(&v->scopes, &v->endings, &ui->selection->filter);

	if (err)
		return err;
	if (v->scopes.gone) {
		/* A process that was zoomed into has nothing to show, but stays the one. */
		if (ui->zoom.on)
			return 0;
		unwind_procs_hold(&v->scopes);
	}
	return load_tables(v);
}

/* --- the books: where each sample and each tick is, and what the walks cost ----------------- */

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

/* How user stacks ended. */
static void draw_ends(const struct walk_ends *e, struct panel_writer *w)
{
	const struct profile_health *h = &e->health;

	put_number(w, ROLE_TEXT, " walks ", h->user_walks, "=");
	put_number(w, ROLE_OK, " ", walk_ends_proved(e), "complete by proof");
	put_number(w, ROLE_OK, " + ", h->complete_fp_walks, "by frame pointers");
	put_number(w, ROLE_TEXT, " + ",
		   h->user_walks > h->complete_walks ? h->user_walks - h->complete_walks : 0,
		   "incomplete");
}

/* Off-CPU: how stacks of waits are taken, and what that leaves out. */
static void draw_waits(const struct walk_ends *e, struct panel_writer *w)
{
	const struct profile_health *h = &e->health;
	const double seconds = (double)h->elapsed / 1e9;
	char text[64];

	put_number(w, ROLE_TEXT, " waits: stacks at switch-out ", h->wait_walks, "taken");
	put_number(w, h->wait_thinned ? ROLE_WARN : ROLE_TEXT, " + ", h->wait_thinned,
		   "thinned out");
	put_number(w, ROLE_TEXT, ", ", h->wait_untaken, "long without one");
	put_number(w, h->wait_lost ? ROLE_ERROR : ROLE_TEXT, ", ", h->wait_lost, "lost");
	if (h->wait_missed)
		put_number(w, ROLE_WARN, ", ", h->wait_missed, "switches not reported");
	snprintf(text, sizeof(text), "  %.2f%% of a CPU",
		 seconds > 0 ? (double)h->wait_ns / NS_PER_PERCENT / seconds : 0);
	put(w, ROLE_TEXT, text);
}

static void draw_costs(const struct walk_ends *e, struct panel_writer *w)
{
	const struct profile_health *h = &e->health;
	double walks = (double)h->user_walks, seconds = (double)h->elapsed / 1e9;
	char text[128];

	snprintf(text, sizeof(text), " costs %.1f frames a walk  %.0f frames/s",
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

/* --- the rest of the drawing --------------------------------------------------------------- */

static void draw_between(const struct ui *ui, const struct unwind_view *v, struct grid *g, int row)
{
	static const struct hint hints[] = {{ACTION_DEEPER, ACTION_NONE, "goes there"},
					    {ACTION_BACK, ACTION_NONE, "back"},
					    {ACTION_INSPECT, ACTION_NONE, "catches one"}};
	const struct walk_end_proc *proc = unwind_procs_proc(&v->scopes);
	const struct endrow *reason = unwind_reasons_chosen(&v->reasons);
	int from = v->depth == DEPTH_PLACES, to = v->depth == DEPTH_SCOPES ? 1 : proc ? 3 : 2;
	char text[160];

	if (v->depth > DEPTH_SCOPES)
		snprintf(text, sizeof(text), " Last frames of those that ended: %s ",
			 reason ? reason->name : "-");
	else if (proc)
		snprintf(text, sizeof(text), " How stacks of %d %s ended ", (int)proc->proc.pid,
			 proc->proc.comm);
	else
		snprintf(text, sizeof(text),
			 v->scopes.fixed == UNWIND_REASONS_LOST
				 ? " What became of each sample and each tick "
				 : " How stacks of all processes ended ");
	hints_heading(&ui->config.keys, hints + from, (size_t)(to - from), g, row, text);
}

/* The row that words are about: the one under the cursor, else what needs them most. */
static const struct endrow *worst(const struct unwind_view *v)
{
	const struct endrow *found = unwind_reasons_chosen(&v->reasons);

	if (v->depth > DEPTH_SCOPES)
		return found;
	for (size_t i = 0; i < v->reasons.list.count; i++) {
		const struct endrow *row = &v->reasons.rows[i];

		if ((row->role == ROLE_BROKEN || row->role == ROLE_ERROR) &&
		    (!found || (found->role != ROLE_BROKEN && found->role != ROLE_ERROR) ||
		     row->samples > found->samples))
			found = row;
	}
	return found;
}

/* Returns the rows that all of it takes. */
static int draw_words(const struct unwind_view *v, struct grid *g, int top, int rows)
{
	const struct endrow *row = worst(v);
	char text[512];

	if (!row || !row->cause)
		return 0;
	snprintf(text, sizeof(text), "%s: %s%s%s", row->name, row->cause->meaning,
		 row->cause->remedy[0] ? "; " : "", row->cause->remedy);
	return grid_words(g, top, rows, 1, g->cols - 1, 2, row->role, text);
}

static void draw_tables(struct ui *ui, struct unwind_view *v, struct grid *g, int top, int rows)
{
	bool lost = v->scopes.fixed == UNWIND_REASONS_LOST && v->depth > DEPTH_SCOPES;
	size_t count = v->depth ? v->reasons.list.count : v->scopes.list.count;
	int above = rows / 2;

	if (rows < 1)
		return;
	if (rows < ROWS_FOR_BOTH || lost)
		above = v->depth == DEPTH_PLACES ? 0 : rows;
	else if ((int)count + 1 < above)
		above = (int)count + 1;
	if (above && v->depth == DEPTH_SCOPES)
		unwind_procs_draw(ui, &v->scopes, g, top, above);
	else if (above)
		unwind_reasons_draw(ui, &v->reasons, g, top, above, v->depth == DEPTH_REASONS,
				    true);
	if (above == rows)
		return;
	if (above)
		draw_between(ui, v, g, top + above++);
	if (v->depth == DEPTH_SCOPES)
		unwind_reasons_draw(ui, &v->reasons, g, top + above, rows - above, false, false);
	else
		unwind_reasons_draw(ui, &v->places, g, top + above, rows - above,
				    v->depth == DEPTH_PLACES, v->depth == DEPTH_PLACES);
}

static void draw_scope_name(const struct ui *ui, const struct unwind_view *v, struct grid *g,
			    int row)
{
	char out[64];
	int col;

	if (ui->zoom.on) {
		ui_draw_zoom(ui, g, row, g->cols, NULL);
		return;
	}
	col = grid_put(g, row, 0, g->cols, ROLE_TITLE,
		       v->scopes.fixed == UNWIND_REASONS_LOST
			       ? " What became of each sample and each tick"
			       : " All processes");
	grid_printf(
		g, row, col, g->cols - col, ROLE_DIM, "   %s",
		hints_words(&ui->config.keys, ACTION_BACK, "goes one level out", out, sizeof(out)));
}

static void unwind_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	/* What matters most first. */
	static void (*const lines[LOSS_PANEL_LINES])(
		const struct walk_ends *, struct panel_writer *) = {draw_samples, draw_ticks,
								    draw_ends, draw_costs};
	struct unwind_view *v = ui->state[VIEW_UNWIND];
	int books, words, tables;

	if (v->inspector.open) {
		inspector_draw(ui, &v->inspector, g, top, rows);
		return;
	}
	if (!v->endings.health.elapsed) {
		grid_put(g, top, 2, g->cols - 2, ROLE_TITLE, "Nothing has been sampled yet.");
		return;
	}
	tables = header_draw_tables(ui, g, top, rows);
	top += tables;
	rows -= tables;
	books = rows >= ROWS_FOR_ALL ? LOSS_PANEL_LINES : rows >= ROWS_FOR_WORDS ? 1 : 0;
	words = rows >= ROWS_FOR_ALL ? draw_words(v, g, 0, 0) : rows >= ROWS_FOR_WORDS ? 1 : 0;
	if (words > 1 && words > rows / WORDS_SHARE)
		words = rows / WORDS_SHARE;
	for (int i = 0; i < books; i++)
		lines[i](&v->endings, &(struct panel_writer){g, top++, 0});
	rows -= books + words;
	if (books > 1 && v->endings.health.waits) {
		draw_waits(&v->endings, &(struct panel_writer){g, top++, 0});
		rows--;
	}
	draw_words(v, g, top + rows, words);
	if (v->depth > DEPTH_SCOPES && books) {
		draw_scope_name(ui, v, g, top++);
		rows--;
	}
	draw_tables(ui, v, g, top, rows);
}

/* --- keys ---------------------------------------------------------------------------------- */

/* The table that keys go to; NULL: that of the scopes. */
static struct unwind_reasons *active(struct unwind_view *v)
{
	return v->depth == DEPTH_SCOPES	   ? NULL
	       : v->depth == DEPTH_REASONS ? &v->reasons
					   : &v->places;
}

static const struct column *unwind_columns(int *count, const struct ui *ui, int *sorted)
{
	struct unwind_view *v = ui->state[VIEW_UNWIND];
	const struct unwind_reasons *t = active(v);

	*count = t ? UNWIND_REASONS_COLUMNS : SCOPE_COLUMNS;
	*sorted = t ? (int)t->sorted : (int)v->scopes.sorted;
	return t ? unwind_reasons_columns(t) : unwind_procs_columns;
}

static const struct column *unwind_table(int at, int *count)
{
	*count = at ? (int)UNWIND_REASONS_COLUMNS : (int)SCOPE_COLUMNS;
	return at == 0	 ? unwind_procs_columns
	       : at == 1 ? unwind_reasons_columns(&(struct unwind_reasons){.places = false})
	       : at == 2 ? unwind_reasons_columns(&(struct unwind_reasons){.places = true})
			 : NULL;
}

static unsigned int unwind_sort_by(struct ui *ui, int column)
{
	struct unwind_view *v = ui->state[VIEW_UNWIND];
	struct unwind_reasons *t = active(v);

	if (t) {
		t->sorted = (enum unwind_reasons_column)column;
		t->inverted = false;
	} else {
		v->scopes.sorted = (enum scope_column)column;
		v->scopes.inverted = false;
	}
	return UI_RESORT;
}

static unsigned int move(struct unwind_view *v, enum action action)
{
	struct unwind_reasons *t = active(v);

	if (!list_move(t ? &t->list : &v->scopes.list, action))
		return 0;
	if (t)
		unwind_reasons_hold(t);
	else
		unwind_procs_hold(&v->scopes);
	return UI_RESORT;
}

static unsigned int deeper(struct ui *ui, struct unwind_view *v)
{
	const struct walk_end_proc *proc = unwind_procs_proc(&v->scopes);
	const struct endrow *row = worst(v);

	if (v->depth == DEPTH_SCOPES) {
		if (row)
			list_select(&v->reasons.list, (size_t)(row - v->reasons.rows));
		unwind_reasons_hold(&v->reasons);
		v->depth = DEPTH_REASONS;
		if (proc)
			ui_zoom(ui, &proc->proc);
	} else if (v->depth == DEPTH_REASONS && v->places.list.count) {
		v->depth = DEPTH_PLACES;
		/* The places stay those of this reason, also when another has more. */
		list_select(&v->reasons.list, v->reasons.list.cursor);
		unwind_reasons_hold(&v->reasons);
	}
	return UI_RESORT;
}

static unsigned int back(struct ui *ui, struct unwind_view *v)
{
	if (v->depth == DEPTH_SCOPES)
		return ui_go(ui, VIEW_PROCS);
	v->depth--;
	if (v->depth == DEPTH_SCOPES) {
		ui->zoom.on = false;
		ui->zoom.tid = 0;
	}
	return UI_RESORT;
}

unsigned int unwind_inspect(struct ui *ui, pid_t pid, unsigned int reason)
{
	struct unwind_view *v = ui->state[VIEW_UNWIND];

	inspector_ask(ui, &v->inspector, pid, reason);
	return ui->frozen ? UI_REDRAW : ui_go(ui, VIEW_UNWIND);
}

static bool unwind_waits(const struct ui *ui)
{
	const struct unwind_view *v = ui->state[VIEW_UNWIND];

	return v->inspector.open && inspector_waits(&v->inspector);
}

/* Of the process under the cursor; of its reasons the one under the cursor, if it is a walk's. */
static unsigned int inspect(struct ui *ui, const struct unwind_view *v)
{
	const struct walk_end_proc *proc = unwind_procs_proc(&v->scopes);
	const struct endrow *row =
		v->depth > DEPTH_SCOPES ? unwind_reasons_chosen(&v->reasons) : NULL;

	if (!proc)
		return 0;
	return unwind_inspect(ui, proc->proc.pid, row ? reasons_reason(row->name) : 0);
}

static unsigned int unwind_key(struct ui *ui, enum action action)
{
	struct unwind_view *v = ui->state[VIEW_UNWIND];
	struct unwind_reasons *t = active(v);
	unsigned int flags;

	if (v->inspector.open)
		return inspector_key(ui, &v->inspector, action);
	flags = move(v, action);
	if (flags)
		return flags;
	switch (action) {
	case ACTION_DEEPER:
		return deeper(ui, v);
	case ACTION_INSPECT:
		return inspect(ui, v);
	case ACTION_BACK:
		return back(ui, v);
	case ACTION_INVERT:
		if (t)
			t->inverted = !t->inverted;
		else
			v->scopes.inverted = !v->scopes.inverted;
		return UI_RESORT;
	default:
		return 0;
	}
}

/* A place is a function, and a reason stands on its stacks as if it were one. */
static const struct profile_func *unwind_function(const struct ui *ui)
{
	struct unwind_view *v = ui->state[VIEW_UNWIND];
	const struct unwind_reasons *t = active(v);
	const struct endrow *row = t && !v->inspector.open ? unwind_reasons_chosen(t) : NULL;

	return !row ? NULL : t->places ? row->func : row->end;
}

static unsigned int unwind_find(struct ui *ui, int step, bool here)
{
	struct unwind_view *v = ui->state[VIEW_UNWIND];
	struct unwind_reasons *t = active(v);
	bool found;

	if (v->inspector.open)
		found = inspector_find(ui, &v->inspector, step, here);
	else if (t)
		found = unwind_reasons_find(ui, t, step, here);
	else
		found = unwind_procs_find(ui, &v->scopes, step, here);
	return found ? UI_RESORT : 0;
}

static unsigned int unwind_place(struct ui *ui, struct view_place *place, bool back)
{
	struct unwind_view *v = ui->state[VIEW_UNWIND];
	struct unwind_reasons *t = active(v);
	struct list *list = v->inspector.open ? &v->inspector.frames
			    : t		      ? &t->list
					      : &v->scopes.list;

	if (!back) {
		place->list[0] = *list;
		place->id[0] = t ? t->hash : (uint64_t)v->scopes.pid;
		place->id[1] = v->scopes.image;
		place->id[2] = (uint64_t)v->scopes.fixed;
		return 0;
	}
	list_restore(list, &place->list[0]);
	if (t) {
		t->hash = place->id[0];
		return UI_RESORT;
	}
	v->scopes.pid = (pid_t)place->id[0];
	v->scopes.image = place->id[1];
	v->scopes.fixed = (int)place->id[2];
	return UI_RESORT;
}

static int unwind_plain(const struct ui *ui, struct plain_list *list)
{
	const struct unwind_view *v = ui->state[VIEW_UNWIND];
	const struct walk_ends *e = &v->endings;
	int proc = UNWIND_REASONS_ALL;

	/* The number of stacks stands in each row: in the title it would change with each
	 * refresh, and a list with a new title is written anew. */
	snprintf(list->title, sizeof(list->title), "How stacks of %s ended, %% of them",
		 ui->zoom.on ? ui->zoom.name : "all processes");
	snprintf(list->empty, sizeof(list->empty), "%s",
		 bycpu_chosen(ui) && bycpu_missing(ui)	 ? bycpu_missing(ui)
		 : e->nrows || ui->selection->filter.set ? "The filter keeps no process."
							 : "No user stack was walked.");
	if (ui->zoom.on) {
		for (proc = 0; proc < (int)e->nprocs; proc++)
			if (e->procs[proc].proc.pid == ui->zoom.pid &&
			    e->procs[proc].proc.image == ui->zoom.image)
				break;
		if (proc == (int)e->nprocs)
			return 0;
	}
	return unwind_reasons_plain(e, ui, proc, list);
}

const struct view_ops unwind_view = {
	.title = "Unwind",
	.open = unwind_open,
	.close = unwind_close,
	.load = unwind_load,
	.sort = unwind_sort,
	.draw = unwind_draw,
	.key = unwind_key,
	.find = unwind_find,
	.function = unwind_function,
	.place = unwind_place,
	.waits = unwind_waits,
	.plain = unwind_plain,
	.columns = unwind_columns,
	.table = unwind_table,
	.sort_by = unwind_sort_by,
};
