// SPDX-License-Identifier: GPL-2.0-or-later
/* Funcs: the functions of the machine, or of the process that was zoomed into. */
#include "tui/view.h"

#include "tui/functable.h"

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
		return functable_load(t, p, &q);
	functable_clear(t);
	return 0;
}

static int funcs_sort(struct ui *ui)
{
	struct functable *t = ui->state[VIEW_FUNCS];

	functable_sort(t);
	functable_hold(t);
	/* After the first seconds the cursor belongs to its function if that stays in sight. */
	if (ui->header.slices > 1 && t->list.count)
		t->list.held = true;
	return 0;
}

static void funcs_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	ui_draw_zoom(ui, g, top);
	functable_draw(ui, ui->state[VIEW_FUNCS], g, top + 1, rows - 1, true);
}

static const struct column *funcs_columns(int *count, const struct ui *ui, int *sorted)
{
	const struct functable *t = ui->state[VIEW_FUNCS];

	*count = FUNCTABLE_COLUMNS;
	*sorted = (int)t->sorted;
	return functable_columns();
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
	case ACTION_SORT_TOTAL:
		return funcs_sort_by(ui, FUNCTABLE_TOTAL);
	case ACTION_SORT_SELF:
		return funcs_sort_by(ui, FUNCTABLE_SELF);
	case ACTION_BACK:
		if (!ui->zoom.on)
			return ui_go(ui, VIEW_PROCS);
		ui->zoom.on = false;
		return ui_go(ui, VIEW_PROCS);
	default:
		return 0;
	}
}

static unsigned int funcs_find(struct ui *ui, int step, bool here)
{
	struct functable *t = ui->state[VIEW_FUNCS];
	size_t n = t->list.count;
	size_t at = t->list.cursor;

	for (size_t tried = 0; tried < n; tried++) {
		char name[256];

		if (!here || tried)
			at = (at + n + (size_t)step) % n;
		names_show(t->rows[at].func, name, sizeof(name));
		if (ui_matches(ui, name)) {
			list_select(&t->list, at);
			functable_hold(t);
			return UI_REDRAW;
		}
	}
	return 0;
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
};
