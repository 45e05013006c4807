// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See butterfly.h. Callers are above, the most frequent next to the function, so that both sides
 * are read from the middle. Enter makes any of them the middle: so the graph of calls is walked, in
 * which a function is one node, whatever path it was reached by.
 */
#include "tui/views/butterfly_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/ui/bycpu.h"
#include "tui/ui/selection.h"
#include "tui/views/annotate.h"

#define SCROLL_STEP 8
#define SCROLL_MAX  960

/* --- loading ------------------------------------------------------------------------------- */

/* Of the row of Procs that it was opened on. -ESRCH: that is gone. */
static int query_row(const struct ui *ui, struct wings *w, const struct profile *p, struct query *q)
{
	const struct procs_scope *scope = &w->scope;
	int err = 0;

	w->counted = (struct sample_filter){0};
	/* Without a column the filter is about processes there. */
	if (ui->selection->filter.set && ui->selection->filter.of != FILTER_OF_ROW)
		err = selection_query(ui, p, q, true);
	q->scope = &w->counted;
	if (err || scope->grouping != ui->grouping)
		return err ? err : -ESRCH;
	if (scope->several)
		return procs_members(ui, p, scope, &w->counted);
	if (scope->grouping == GROUP_CPU) {
		bycpu_query(ui, q);
		w->counted.cpus = w->cpus;
		w->counted.ncpus = scope->cpu + 1;
		return 0;
	}
	q->proc = query_find_proc(p, scope->pid, scope->image);
	if (scope->tid)
		ui_query_threads(ui, q);
	w->counted.tid = scope->tid;
	return q->proc == QUERY_ALL ? -ESRCH : 0;
}

static int query_view(const struct ui *ui, const struct profile *p, struct query *q)
{
	int err;

	if (ui->zoom.on) {
		q->proc = query_find_proc(p, ui->zoom.pid, ui->zoom.image);
		if (q->proc == QUERY_ALL)
			return -ESRCH;
	}
	err = selection_query(ui, p, q, true);
	/* It is about other rows than functions. */
	if (ui->selection->filter.of == FILTER_OF_ROW && !(VIEW_BIT(ui->view) & IN_NAMES))
		q->filter = NULL;
	return err;
}

static bool is_middle(const struct profile_func *func, void *arg)
{
	const struct profile_func *middle = arg;

	return func->kind == middle->kind && !strcmp(func->name, middle->name) &&
	       !strcmp(func->module, middle->module);
}

static int add_row(struct wings *w, const struct profile *p, enum wing wing,
		   const struct butterfly_row *from)
{
	struct wing_row *row = &w->rows[w->list.count++];
	uint64_t hash = 0;

	*row = (struct wing_row){.wing = wing, .samples = from->samples, .before = from->before};
	if (wing == WING_MIDDLE)
		row->func = &wings_middle(w)->func;
	else if (from->func != QUERY_NONE)
		row->func = names_get_hash(w->names, p, from->func, &hash);
	/* 0 is the key of the middle. */
	if (wing != WING_MIDDLE)
		row->key = hash * 2 + (wing == WING_CALLEE) + 2;
	return wing != WING_MIDDLE && from->func != QUERY_NONE && !row->func ? -ENOMEM : 0;
}

static int make_rows(struct wings *w, const struct profile *p, const struct butterfly *b)
{
	const struct butterfly_row middle = {QUERY_NONE, b->total, b->before};
	int err;

	free(w->rows);
	w->list.count = 0;
	w->rows = calloc(b->ncallers + b->ncallees + 1, sizeof(*w->rows));
	if (!w->rows)
		return -ENOMEM;
	names_renew(w->names);
	err = 0;
	for (size_t i = b->ncallers; i-- > 0 && !err;)
		err = add_row(w, p, WING_CALLER, &b->callers[i]);
	if (err)
		return err;
	w->at = w->list.count;
	err = add_row(w, p, WING_MIDDLE, &middle);
	for (size_t i = 0; i < b->ncallees && !err; i++)
		err = add_row(w, p, WING_CALLEE, &b->callees[i]);
	w->self = b->self;
	w->recursive = b->recursive;
	return err;
}

static int ask(const struct ui *ui, struct wings *w, const struct profile *p, struct butterfly *b)
{
	struct query q = selection_all(ui), all;
	int err = w->of_row ? query_row(ui, w, p, &q) : query_view(ui, p, &q);

	*b = (struct butterfly){0};
	w->samples = w->before_samples = 0;
	w->compared = false;
	if (err)
		return err == -ESRCH ? 0 : err;
	err = query_judge_funcs(p, &w->middle, is_middle, &wings_middle(w)->func);
	if (!err)
		err = query_butterfly(p, &q, &w->middle, b);
	all = q;
	all.filter = NULL;
	w->samples = query_samples(p, &all, NULL);
	w->compared = q.baseline;
	all.span = SPAN_BASELINE;
	if (q.baseline)
		w->before_samples = query_samples(p, &all, NULL);
	return err;
}

/* The cursor stays on its row, and the middle where it is on the screen. */
static void place_cursor(struct wings *w, size_t was)
{
	struct list *list = &w->list;
	size_t down = w->at > was ? w->at - was : 0, up = was > w->at ? was - w->at : 0;

	list->chosen = true;
	list->cursor = w->at;
	for (size_t i = 0; i < list->count; i++)
		if (w->rows[i].key == w->cursor)
			list->cursor = i;
	list->top += down;
	list->top -= up < list->top ? up : list->top;
	list_settle(list, list->page);
}

static int butterfly_load(struct ui *ui)
{
	struct wings *w = wings_of(ui);
	struct profile *p = ui_profile(ui);
	struct butterfly b;
	size_t was = w->at;
	int err;

	profile_lock(p);
	err = ask(ui, w, p, &b);
	if (!err)
		err = make_rows(w, p, &b);
	profile_unlock(p);
	butterfly_free(&b);
	if (err)
		w->list.count = 0;
	else
		place_cursor(w, was);
	return err;
}

/* --- keys ---------------------------------------------------------------------------------- */

static const struct wing_row *row_of(const struct wings *w)
{
	return w->list.cursor < w->list.count ? &w->rows[w->list.cursor] : NULL;
}

static const struct profile_func *butterfly_function(const struct ui *ui)
{
	const struct wing_row *row = row_of(wings_of(ui));

	/* Its own code is that of the function. */
	if (row && !row->func && row->wing == WING_CALLEE)
		return &wings_middle(wings_of(ui))->func;
	return row ? row->func : NULL;
}

static struct visited *visited_new(const struct profile_func *func)
{
	size_t name = strlen(func->name) + 1, module = strlen(func->module) + 1;
	struct visited *v = calloc(1, sizeof(*v) + name + module);

	if (!v)
		return NULL;
	memcpy(v->text, func->name, name);
	memcpy(v->text + name, func->module, module);
	v->func = (struct profile_func){v->text, v->text + name, func->kind, NULL, 0};
	return v;
}

static void middle_changed(struct wings *w)
{
	match_cache_free(&w->middle);
	w->placed = false;
	w->cursor = wings_middle(w)->cursor;
}

/* Makes it the middle. False: no memory. */
static bool push(struct wings *w, const struct profile_func *func)
{
	struct visited *next = visited_new(func);

	if (!next)
		return false;
	if (w->depth == VISITED_MAX) {
		free(w->visited[0]);
		w->depth--;
		for (size_t i = 0; i < w->depth; i++)
			w->visited[i] = w->visited[i + 1];
	}
	if (w->depth)
		wings_middle(w)->cursor = w->cursor;
	w->visited[w->depth++] = next;
	middle_changed(w);
	return true;
}

/* The view below stays as it was loaded, unless it knows which processes count. */
static unsigned int load_middle(struct ui *ui)
{
	int err;

	if (wings_of(ui)->scope.several)
		return UI_RELOAD;
	err = butterfly_load(ui);
	if (err)
		ui_notice(ui, "%s", strerror(-err));
	return UI_REDRAW;
}

static unsigned int walk(struct ui *ui, struct wings *w, const struct profile_func *func)
{
	if (!func || is_middle(func, &wings_middle(w)->func))
		ui_notice(ui, func ? "this is the function in the middle"
				   : "there is no function under the cursor");
	else if (!push(w, func))
		ui_notice(ui, "%s", strerror(ENOMEM));
	else
		return load_middle(ui);
	return UI_REDRAW;
}

static unsigned int back(struct ui *ui, struct wings *w)
{
	if (w->depth == 1)
		return ui_overlay_back(ui);
	free(w->visited[--w->depth]);
	middle_changed(w);
	return load_middle(ui);
}

/* Code lies over it, and goes back to it. */
static unsigned int code(struct ui *ui, const struct wings *w)
{
	const struct profile_func *func = butterfly_function(ui);
	const bool row = w->of_row && !w->scope.several && w->scope.grouping != GROUP_CPU;
	const struct overlay mine = ui->overlay;
	unsigned int flags;

	if (!func)
		return 0;
	ui->overlay = (struct overlay){0};
	flags = annotate_open(ui, func,
			      row	    ? w->scope.pid
			      : ui->zoom.on ? ui->zoom.pid
					    : 0,
			      row ? w->scope.image : ui->zoom.image);
	if (ui->overlay.ops)
		ui->beneath = mine;
	else
		ui->overlay = mine;
	return flags;
}

static unsigned int butterfly_key(struct ui *ui, int action)
{
	struct wings *w = wings_of(ui);

	if (list_move(&w->list, (enum action)action)) {
		w->cursor = w->list.count ? w->rows[w->list.cursor].key : 0;
		return UI_REDRAW;
	}
	switch (action) {
	case ACTION_WALK:
	case ACTION_BUTTERFLY:
		return walk(ui, w, butterfly_function(ui));
	case ACTION_BACK:
		return back(ui, w);
	case ACTION_ANNOTATE:
		return code(ui, w);
	case ACTION_LEFT:
		w->scroll -= w->scroll ? SCROLL_STEP : 0;
		return UI_REDRAW;
	case ACTION_RIGHT:
		w->scroll += w->scroll < SCROLL_MAX ? SCROLL_STEP : 0;
		return UI_REDRAW;
	default:
		return 0;
	}
}

static bool row_matches(const struct ui *ui, const struct wing_row *row)
{
	char name[512];

	wing_row_name(row, name, sizeof(name));
	return search_matches(ui, name);
}

static unsigned int butterfly_find(struct ui *ui, int step, bool here)
{
	struct wings *w = wings_of(ui);

	if (!LIST_FIND(&w->list, step, here, i, row_matches(ui, &w->rows[i])))
		return 0;
	w->cursor = w->rows[w->list.cursor].key;
	return UI_REDRAW;
}

static unsigned int butterfly_place(struct ui *ui, struct view_place *place, bool back)
{
	struct wings *w = wings_of(ui);

	if (!back) {
		place->list[0] = w->list;
		place->id[0] = w->cursor;
		return 0;
	}
	list_restore(&w->list, &place->list[0]);
	w->cursor = place->id[0];
	return UI_REDRAW;
}

/* --- opening and closing ------------------------------------------------------------------- */

static void wings_free(struct wings *w)
{
	for (size_t i = 0; i < w->depth; i++)
		free(w->visited[i]);
	match_cache_free(&w->middle);
	names_free(w->names);
	free(w->cpus);
	free(w->rows);
	free(w);
}

static void butterfly_close(struct ui *ui)
{
	wings_free(wings_of(ui));
}

static const struct overlay_ops butterfly_ops = {
	.draw = butterfly_draw,
	.key = butterfly_key,
	.load = butterfly_load,
	.function = butterfly_function,
	.find = butterfly_find,
	.place = butterfly_place,
	.plain = butterfly_plain,
	.close = butterfly_close,
	.keys = VIEW_BUTTERFLY,
	.filtered = true,
};

/* NULL: no memory. */
static struct wings *wings_new(const struct ui *ui, const struct profile_func *func, bool of_row)
{
	struct wings *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->names = names_new();
	w->of_row = of_row;
	if (of_row)
		procs_scope(ui, &w->scope);
	w->cpus = calloc((size_t)w->scope.cpu + 1, sizeof(*w->cpus));
	if (!w->names || !w->cpus || !push(w, func)) {
		wings_free(w);
		return NULL;
	}
	w->cpus[w->scope.cpu] = true;
	return w;
}

unsigned int butterfly_open(struct ui *ui, const struct profile_func *func, bool of_row)
{
	struct wings *w;

	if (ui->beneath.ops == &butterfly_ops) {
		/* It is of code, which is closed now. */
		struct visited *kept = visited_new(func);

		ui_overlay_back(ui);
		if (kept && !is_middle(&kept->func, &wings_middle(wings_of(ui))->func))
			push(wings_of(ui), &kept->func);
		free(kept);
		return load_middle(ui);
	}
	w = wings_new(ui, func, of_row);
	if (!w) {
		ui_notice(ui, "%s", strerror(ENOMEM));
		return UI_REDRAW;
	}
	ui_close_overlay(ui);
	ui->overlay = (struct overlay){&butterfly_ops, w};
	return load_middle(ui);
}
