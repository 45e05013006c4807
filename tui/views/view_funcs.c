// SPDX-License-Identifier: GPL-2.0-or-later
/* Funcs: the functions of the machine, or of the process that was zoomed into. */
#include "tui/ui/view.h"

#include "tui/views/functable.h"

#define SCROLL_STEP 8
#define SCROLL_MAX  960

static void *funcs_open(void)
{
	return functable_new();
}

static void funcs_close(void *state)
{
	functable_free(state);
}

static int funcs_load(struct ui *ui, const struct profile *p)
{
	struct functable *t = ui->state[VIEW_FUNCS];
	struct query q;

	if (ui_query(ui, p, &q))
		return functable_load(t, p, &q, ui);
	functable_clear(t);
	return 0;
}

static int funcs_sort(struct ui *ui)
{
	struct functable *t = ui->state[VIEW_FUNCS];
	bool found;

	functable_sort(t);
	found = t->list.count && t->rows[t->list.cursor].hash == t->cursor;
	/* In the list of another process a place far down means nothing. */
	if (ui_zoom_changed(ui, t->about, sizeof(t->about)) && !found)
		list_anew(&t->list);
	functable_hold(t);
	if (ui->follow)
		t->list.held = t->list.chosen = t->list.count != 0;
	/* After the first seconds the cursor belongs to its function if that stays in sight. */
	if (ui->header.slices > 1 && t->list.count)
		t->list.held = true;
	return 0;
}

static void funcs_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	ui_draw_zoom(ui, g, top, functable_function(ui->state[VIEW_FUNCS]));
	functable_draw(ui, ui->state[VIEW_FUNCS], g, top + 1, rows - 1, true);
}

static const struct column *funcs_columns(int *count, const struct ui *ui, int *sorted)
{
	const struct functable *t = ui->state[VIEW_FUNCS];

	*count = FUNCTABLE_COLUMNS;
	*sorted = (int)t->sorted;
	return functable_columns(ui->scrub.diff);
}

static unsigned int funcs_sort_by(struct ui *ui, int column)
{
	struct functable *t = ui->state[VIEW_FUNCS];

	t->sorted = (enum functable_column)column;
	t->inverted = false;
	return UI_RESORT;
}

static unsigned int funcs_key(struct ui *ui, enum action action)
{
	struct functable *t = ui->state[VIEW_FUNCS];

	if (list_move(&t->list, action)) {
		functable_hold(t);
		return UI_REDRAW;
	}
	switch (action) {
	case ACTION_LEFT:
		t->scroll -= t->scroll ? SCROLL_STEP : 0;
		return UI_REDRAW;
	case ACTION_RIGHT:
		t->scroll += t->scroll < SCROLL_MAX ? SCROLL_STEP : 0;
		return UI_REDRAW;
	case ACTION_INVERT:
		t->inverted = !t->inverted;
		return UI_RESORT;
	case ACTION_SORT_SELF:
		return funcs_sort_by(ui, t->sorted == FUNCTABLE_SELF ? FUNCTABLE_TOTAL
								     : FUNCTABLE_SELF);
	case ACTION_FOLLOW:
		return UI_RESORT;
	case ACTION_BACK:
		return ui_zoom_out(ui);
	case ACTION_ZOOM_MODULE:
		return t->list.count ? ui_zoom_module(ui, t->rows[t->list.cursor].func->module) : 0;
	case ACTION_SAME_NAME:
		return search_func(ui, functable_function(t));
	default:
		return 0;
	}
}

static unsigned int funcs_find(struct ui *ui, int step, bool here)
{
	struct functable *t = ui->state[VIEW_FUNCS];

	if (!LIST_FIND(&t->list, step, here, i, search_matches_func(ui, t->rows[i].func)))
		return 0;
	functable_hold(t);
	return UI_REDRAW;
}

static int funcs_plain(const struct ui *ui, struct plain_list *list)
{
	return functable_plain(ui->state[VIEW_FUNCS], ui, list);
}

static const struct profile_func *funcs_function(const struct ui *ui)
{
	return functable_function(ui->state[VIEW_FUNCS]);
}

const struct view_ops funcs_view = {
	.title = "Funcs",
	.open = funcs_open,
	.close = funcs_close,
	.load = funcs_load,
	.sort = funcs_sort,
	.draw = funcs_draw,
	.key = funcs_key,
	.find = funcs_find,
	.columns = funcs_columns,
	.sort_by = funcs_sort_by,
	.function = funcs_function,
	.plain = funcs_plain,
};
