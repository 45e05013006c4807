// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits: the locks, pipes and sockets that threads waited for longest, and below, side by side,
 * where the waiter stood and where the thread that ended its wait did. Of a lock that is who held
 * it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/keyhash.h"
#include "tui/profile/units.h"
#include "tui/screen/hints.h"
#include "tui/ui/names.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/selection.h"
#include "tui/ui/view.h"
#include "tui/util/share.h"

#define ROWS_MAX    500u /* of the table */
#define LINES_MAX   60u	 /* of a stack */
#define LINE_MAX    200u
#define STACKS_ROWS 14 /* of the screen, from which on the stacks are shown */
#define TEXT_MAX    160u

enum waits_column {
	WAITS_SHARE,
	WAITS_TIME,
	WAITS_COUNT,
	WAITS_THREADS,
	WAITS_PID,
	WAITS_PROCESS,
	WAITS_WHAT,
	WAITS_WAKER,
	WAITS_COLUMNS,
};

static const struct column columns[WAITS_COLUMNS] = {
	[WAITS_SHARE] = COLUMN_NUMBER("TIME%", 7, 7, .keep = true, .words = ""),
	[WAITS_TIME] = COLUMN_NUMBER("TIME", 10, 10, .keep = true, .words = "%s"),
	[WAITS_COUNT] = COLUMN_NUMBER("WAITS", 8, 8, .words = "%s waits", .rank = 2),
	[WAITS_THREADS] = COLUMN_NUMBER("WAITERS", 8, 8, .words = "by %s threads", .rank = 3),
	[WAITS_PID] = COLUMN_NUMBER("PID", 9, 9, .words = "", .rank = 1),
	[WAITS_PROCESS] = COLUMN_TEXT("PROCESS", 12, 16, .keep = true, .words = ""),
	[WAITS_WHAT] = COLUMN_TEXT("WAITS FOR", 22, 26, .keep = true, .words = ""),
	[WAITS_WAKER] = COLUMN_TEXT("MOSTLY ENDED BY", 20, 400, .weight = 4, .rank = 1,
				    .words = "mostly ended by %s"),
};

struct waits_row {
	uint64_t key; /* the same in every refresh */
	uint64_t us, waits;
	uint32_t threads, npairs;
	pid_t pid;
	uint64_t image;
	char comm[16];
	enum wait_cause cause;
	char what[40];
	char waker[TEXT_MAX]; /* of the longest pair; "": it goes on */
};

/* A stack in lines, innermost first. */
struct stack_lines {
	char line[LINES_MAX][LINE_MAX];
	enum role role[LINES_MAX];
	size_t count;
};

struct waits_view {
	struct list list;
	struct waits_row *rows;
	uint64_t us;   /* of all */
	uint64_t key;  /* of the row under the cursor */
	uint32_t pair; /* of it, that is shown */
	uint64_t pair_us;
	struct stack_lines waiter, waker;
	char chain[TEXT_MAX * 2]; /* who woke the waker, and so on */
};

static void *waits_open(void)
{
	return calloc(1, sizeof(struct waits_view));
}

static void waits_close(void *state)
{
	struct waits_view *v = state;

	if (!v)
		return;
	free(v->rows);
	free(v);
}

/* --- loading ------------------------------------------------------------------------------- */

/* The frame behind which the waker's frames stand; QUERY_NONE: there is none. */
static uint32_t waker_at(const struct profile *p, const struct profile_stack *stack, uint32_t from)
{
	for (uint32_t i = from; i < stack->nframes; i++)
		if (query_func(p, stack->frames[i])->kind == FUNC_WAKER)
			return i;
	return QUERY_NONE;
}

/* The first function of the waker's that is its own, not the kernel's: it ended the wait there. */
static const struct profile_func *waker_place(const struct profile *p,
					      const struct profile_stack *stack, uint32_t at)
{
	for (uint32_t i = at + 1; i < stack->nframes; i++) {
		const struct profile_func *func = query_func(p, stack->frames[i]);

		if (func->kind == FUNC_WAKER)
			break;
		if (func->kind != FUNC_KERNEL && strncmp(func->name, "__", 2) != 0 &&
		    strncmp(func->name, "pthread_", 8) != 0 &&
		    strncmp(func->name, "futex", 5) != 0 && strncmp(func->name, "lll_", 4) != 0)
			return func;
	}
	return NULL;
}

/* own: the PID of the one that waits, which need not be said again. */
static void waker_text(const struct profile *p, const struct profile_stack *stack, uint32_t at,
		       pid_t own, char *to, size_t size)
{
	const struct profile_func *by = query_func(p, stack->frames[at]);
	const struct profile_func *place = waker_place(p, stack, at);
	char pid[32];
	bool other;

	snprintf(pid, sizeof(pid), "pid %d", (int)own);
	other = by->module[0] && strcmp(by->module, pid) != 0;
	snprintf(to, size, "%s%s%s%s%.100s", by->name, other ? ", " : "", other ? by->module : "",
		 place ? ", in " : "", place ? place->name : "");
}

static void make_row(const struct profile *p, const struct wake_group *group,
		     const struct wake_pair *pair, struct waits_row *row)
{
	const struct profile_proc *proc = query_proc(p, group->proc);
	const struct profile_func *what = query_func(p, group->what);
	const struct profile_stack *stack = query_stack(p, pair->kstack);
	const uint32_t at = waker_at(p, stack, 0);
	uint64_t key[3];

	*row = (struct waits_row){.us = group->us,
				  .waits = group->waits,
				  .threads = group->threads,
				  .npairs = group->npairs,
				  .cause = stack->cause};
	if (proc) {
		row->pid = proc->pid;
		row->image = proc->image;
		snprintf(row->comm, sizeof(row->comm), "%s", proc->comm);
	}
	if (what && what->kind == FUNC_LOCK)
		snprintf(row->what, sizeof(row->what), "lock %.30s", what->name);
	else if (what)
		snprintf(row->what, sizeof(row->what), "%.30s", what->name);
	if (at != QUERY_NONE)
		waker_text(p, stack, at, row->pid, row->waker, sizeof(row->waker));
	key[0] = (uint64_t)row->pid;
	key[1] = row->image;
	key[2] = what ? names_hash(what) : 0;
	row->key = keyhash(key, sizeof(key));
}

static void add_line(struct stack_lines *to, const struct profile_func *func)
{
	if (to->count == LINES_MAX)
		return;
	to->role[to->count] = names_role(func, func->kind == FUNC_KERNEL  ? ROLE_KERNEL
					       : func->kind == FUNC_WAKER ? ROLE_TITLE
									  : ROLE_TEXT);
	names_show(func, to->line[to->count++], LINE_MAX);
}

static void add_stack(const struct profile *p, const struct query *q, uint32_t id,
		      struct stack_lines *to)
{
	const struct profile_stack *stack = query_stack(p, id);

	for (uint32_t i = stack ? stack->nframes : 0; i-- > 0;)
		if (query_shows_frame(p, q, stack, i))
			add_line(to, query_func(p, stack->frames[i]));
}

/* The two stacks of a pair, and the chain of wakers. */
static void load_pair(struct waits_view *v, const struct profile *p, const struct query *q,
		      const struct wake_pair *pair)
{
	const struct profile_stack *stack = query_stack(p, pair->kstack);
	uint32_t at = waker_at(p, stack, 0), next;
	size_t length = 0;

	v->pair_us = pair->us;
	for (uint32_t i = at == QUERY_NONE ? stack->nframes : at; i-- > 0;)
		if (!q->hide_kernel || query_func(p, stack->frames[i])->kind != FUNC_KERNEL)
			add_line(&v->waiter, query_func(p, stack->frames[i]));
	if (!q->hide_user)
		add_stack(p, q, pair->ustack, &v->waiter);
	if (at == QUERY_NONE)
		return;
	next = waker_at(p, stack, at + 1);
	for (uint32_t i = at; i < (next == QUERY_NONE ? stack->nframes : next); i++) {
		const enum func_kind kind = query_func(p, stack->frames[i])->kind;

		if ((!q->hide_kernel || kind != FUNC_KERNEL) &&
		    (query_shows_frame(p, q, stack, i) || kind == FUNC_WAKER))
			add_line(&v->waker, query_func(p, stack->frames[i]));
	}
	for (at = next; at != QUERY_NONE && length < sizeof(v->chain);
	     at = waker_at(p, stack, at + 1)) {
		char text[TEXT_MAX];

		waker_text(p, stack, at, 0, text, sizeof(text));
		length += (size_t)snprintf(v->chain + length, sizeof(v->chain) - length, "%s%s",
					   length ? ", that by " : "", text);
	}
}

static void place_cursor(struct waits_view *v)
{
	for (size_t i = 0; i < v->list.count && v->list.chosen; i++)
		if (v->rows[i].key == v->key)
			v->list.cursor = i;
	list_follow(&v->list);
	if (v->list.cursor >= v->list.count)
		v->list.cursor = v->list.count ? v->list.count - 1 : 0;
	if (v->list.count && v->key != v->rows[v->list.cursor].key) {
		v->key = v->rows[v->list.cursor].key;
		v->pair = 0;
	}
}

static int waits_load(struct ui *ui, const struct profile *p)
{
	struct waits_view *v = ui->state[VIEW_WAITS];
	struct wake_group *groups = NULL;
	struct wake_pair *pairs = NULL;
	struct query q;
	size_t n = 0;
	int err = 0;

	v->list.count = 0;
	v->us = v->pair_us = 0;
	v->waiter.count = v->waker.count = 0;
	v->chain[0] = '\0';
	if (ui_query(ui, p, &q))
		err = query_wakes(p, &q, &groups, &n, &pairs);
	free(v->rows);
	v->rows = calloc((n < ROWS_MAX ? n : ROWS_MAX) + 1, sizeof(*v->rows));
	if (!err && !v->rows)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		v->us += groups[i].us;
		if (i < ROWS_MAX)
			make_row(p, &groups[i], &pairs[groups[i].first], &v->rows[v->list.count++]);
	}
	place_cursor(v);
	if (!err && groups && v->list.count) {
		const struct wake_group *group = &groups[v->list.cursor];

		v->pair %= group->npairs;
		load_pair(v, p, &q, &pairs[group->first + v->pair]);
	}
	free(groups);
	free(pairs);
	return err;
}

static int waits_sort(struct ui *ui)
{
	(void)ui;
	return 0;
}

/* --- drawing ------------------------------------------------------------------------------- */

struct waits_painter {
	const struct ui *ui;
	const struct waits_view *v;
};

static void cell_text(const void *table, const void *from, int column, struct column_cell *c)
{
	const struct waits_painter *p = table;
	const struct waits_row *row = from;

	switch ((enum waits_column)column) {
	case WAITS_SHARE:
		c->role = ui_heat(share_of(row->us, p->v->us));
		cell_say(c, "%.1f", percent_of(row->us, p->v->us));
		break;
	case WAITS_TIME:
		units_time(row->us, c->text, sizeof(c->text));
		break;
	case WAITS_COUNT:
		cell_say(c, "%llu", (unsigned long long)row->waits);
		break;
	case WAITS_THREADS:
		if (row->threads)
			cell_say(c, "%u", row->threads);
		break;
	case WAITS_PID:
		cell_say(c, "%d", (int)row->pid);
		break;
	case WAITS_PROCESS:
		cell_say(c, "%s", row->comm);
		break;
	case WAITS_WHAT:
		c->role = names_wait_role(row->cause);
		cell_say(c, "%s", row->what);
		break;
	default:
		c->role = row->waker[0] ? ROLE_TEXT : ROLE_DIM;
		cell_say(c, "%s", row->waker[0] ? row->waker : "(it goes on)");
		break;
	}
}

static void draw_lines(const struct stack_lines *from, struct grid *g, int top, int rows, int col,
		       int width)
{
	for (int i = 0; i < rows && i < (int)from->count; i++)
		grid_cut(g, top + i, col, width, from->role[i], from->line[i]);
}

/* The stacks of the pair under the cursor. */
static void draw_pair(const struct ui *ui, const struct waits_view *v, struct grid *g, int top,
		      int rows)
{
	const struct waits_row *row = &v->rows[v->list.cursor];
	const int half = g->cols / 2;
	char text[160], time[24];

	(void)ui;
	units_time(v->pair_us, time, sizeof(time));
	snprintf(text, sizeof(text), " %s of %s: pair %u of %u, %s, %.0f %% of it ", row->what,
		 row->comm, v->pair + 1, row->npairs, time, percent_of(v->pair_us, row->us));
	grid_line(g, top, 0, g->cols, ROLE_BORDER, GLYPH_HLINE);
	grid_put(g, top, 2, g->cols - 4, ROLE_TITLE, text);
	grid_put(g, top + 1, 0, half - 1, ROLE_HEADER, " waits in, innermost first");
	grid_put(g, top + 1, half, g->cols - half, ROLE_HEADER, " ended by, innermost first");
	rows -= 2 + (v->chain[0] != '\0');
	draw_lines(&v->waiter, g, top + 2, rows, 1, half - 2);
	draw_lines(&v->waker, g, top + 2, rows, half + 1, g->cols - half - 2);
	if (!v->waker.count)
		grid_put(g, top + 2, half + 1, g->cols - half - 2, ROLE_DIM, "(the wait goes on)");
	if (v->chain[0]) {
		int col = grid_put(g, top + 2 + rows, 1, g->cols - 2, ROLE_DIM,
				   "which was woken by ");

		grid_cut(g, top + 2 + rows, 1 + col, g->cols - col - 2, ROLE_TEXT, v->chain);
	}
}

static const char *nothing(const struct ui *ui)
{
	return ui->header.replayed && !ui->header.last.waits
		       ? "recorded without waits: -e off-cpu -w FILE records them"
	       : !ui->header.last.waits	   ? "waits of threads are not collected: Q turns that on"
	       : ui->selection->filter.set ? "the filter keeps none: Esc clears it, F4 changes it"
					   : "no thread has waited for more than 0.1 ms yet";
}

static void waits_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	struct waits_view *v = ui->state[VIEW_WAITS];
	const struct waits_painter painter = {ui, v};
	int width[WAITS_COLUMNS], n, below = rows >= STACKS_ROWS && v->list.count ? rows / 2 : 0;
	char all[24], text[64], range[LIST_RANGE];
	int end = g->cols - 1, wide;

	rows -= 1 + below;
	n = list_fit(&v->list, rows);
	units_time(v->us, all, sizeof(all));
	snprintf(text, sizeof(text), "%s of long waits", all);
	list_range(&v->list, range);
	wide = grid_width(g, range);
	if (v->list.count) {
		grid_put(g, top, end - wide, wide, ROLE_DIM, range);
		end -= wide + 2 + grid_width(g, text);
		grid_put(g, top, end, grid_width(g, text), ROLE_DIM, text);
	}
	ui_draw_zoom(ui, g, top, end - 2, NULL);
	columns_fit(columns, WAITS_COLUMNS, g->cols, 0, width);
	columns_header(g, top + 1, columns, WAITS_COLUMNS, width, -1, false);
	for (int i = 0; i < n; i++)
		columns_row(g, top + 2 + i, columns, WAITS_COLUMNS, width, cell_text, &painter,
			    &v->rows[v->list.top + (size_t)i]);
	list_draw_scroll(&v->list, g, top + 2, n, g->cols - 1);
	list_mark(&v->list, g, top + 1, n, true);
	if (!v->list.count && rows > 1)
		grid_put(g, top + 2, 2, g->cols - 2, ROLE_DIM, nothing(ui));
	if (below)
		draw_pair(ui, v, g, top + 1 + rows, below);
}

/* --- keys ---------------------------------------------------------------------------------- */

static unsigned int waits_key(struct ui *ui, enum action action)
{
	struct waits_view *v = ui->state[VIEW_WAITS];

	if (list_move(&v->list, action)) {
		v->key = v->list.count ? v->rows[v->list.cursor].key : 0;
		v->pair = 0;
		return UI_RELOAD;
	}
	if (action == ACTION_BACK)
		return ui_zoom_out(ui);
	if (action == ACTION_PAIR && v->list.count) {
		v->pair++;
		if (v->rows[v->list.cursor].npairs < 2)
			ui_notice(ui, "all of these waits began and ended at the same places");
		return UI_RELOAD;
	}
	return 0;
}

static unsigned int waits_find(struct ui *ui, int step, bool here)
{
	struct waits_view *v = ui->state[VIEW_WAITS];

	if (!LIST_FIND(&v->list, step, here, i,
		       search_matches(ui, v->rows[i].comm) || search_matches(ui, v->rows[i].what) ||
			       search_matches(ui, v->rows[i].waker)))
		return 0;
	v->key = v->rows[v->list.cursor].key;
	v->pair = 0;
	return UI_RELOAD;
}

static unsigned int waits_place(struct ui *ui, struct view_place *place, bool back)
{
	struct waits_view *v = ui->state[VIEW_WAITS];

	if (!back) {
		place->list[0] = v->list;
		place->id[0] = v->key;
		place->id[1] = v->pair;
		return 0;
	}
	list_restore(&v->list, &place->list[0]);
	v->key = place->id[0];
	v->pair = (uint32_t)place->id[1];
	return UI_RELOAD;
}

static bool waits_process(const struct ui *ui, pid_t *pid, uint64_t *image)
{
	const struct waits_view *v = ui->state[VIEW_WAITS];

	if (!v->list.count)
		return false;
	*pid = v->rows[v->list.cursor].pid;
	*image = v->rows[v->list.cursor].image;
	return true;
}

static int waits_plain(const struct ui *ui, struct plain_list *list)
{
	const struct waits_view *v = ui->state[VIEW_WAITS];
	const struct waits_painter painter = {ui, v};

	snprintf(list->title, sizeof(list->title), "Long waits by time, %% of all of them");
	snprintf(list->empty, sizeof(list->empty), "%s", nothing(ui));
	for (size_t i = 0; i < v->list.count; i++) {
		const struct waits_row *from = &v->rows[i];
		struct plain_row *row =
			plain_list_add(list, from->key, percent_of(from->us, v->us));

		if (!row)
			continue;
		snprintf(row->name, sizeof(row->name), "PID %d %s waits for %s", (int)from->pid,
			 from->comm, from->what);
		plain_row_columns(row, columns, WAITS_COLUMNS, 0, cell_text, &painter, from);
	}
	return 0;
}

const struct view_ops waits_view = {
	.title = "Waits",
	.open = waits_open,
	.close = waits_close,
	.load = waits_load,
	.sort = waits_sort,
	.draw = waits_draw,
	.key = waits_key,
	.find = waits_find,
	.place = waits_place,
	.process = waits_process,
	.plain = waits_plain,
};
