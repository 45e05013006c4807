// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tree: the calls from the outermost function down; and Callers: from the functions that executed
 * up. Chains without a branch are not indented: stacks of a hundred frames are common and screens
 * of two hundred columns are not.
 */
#include "tui/views/tree_priv.h"

#include <stdlib.h>
#include <string.h>

#include "tui/ui/typing.h"

/* Callers hide self, so there it must not be in the menu. */
#define COLUMNS(calls, self)                                                                       \
	{                                                                                          \
		[TREE_MARK] = COLUMN_TEXT("", 2, 2, .keep = true),                                 \
		[TREE_TOTAL] = COLUMN_NUMBER(                                                      \
			"TOTAL%", 7, 8, .keep = true,                                              \
			COLUMN_SORTABLE(SORTS_DOWN, "TOTAL%: all samples of the path")),           \
		[TREE_SELF] = COLUMN_NUMBER("SELF%", 7, 8, .keep = true, self),                    \
		[TREE_SAMPLES] = COLUMN_NUMBER("SAMPLES", 8, 8),                                   \
		[TREE_CHANGE] = COLUMN_NUMBER(                                                     \
			"vs BASE", 9, 9, .keep = true,                                             \
			COLUMN_SORTABLE(SORTS_DOWN, "vs BASE: change (X shows it)")),              \
		[TREE_BAR] = COLUMN_TEXT("BAR", 9, 13),                                            \
		[TREE_CALLS] = COLUMN_TEXT(calls, 37, 400, .keep = true, .weight = 4,              \
					   COLUMN_SORTABLE(SORTS_UP, calls ": by name")),          \
		[TREE_MODULE] =                                                                    \
			COLUMN_TEXT("MODULE", 11, 24, COLUMN_SORTABLE(SORTS_UP, "MODULE")),        \
	}

static const struct column tree_columns[TREE_COLUMNS] =
	COLUMNS("CALL TREE", COLUMN_SORTABLE(SORTS_DOWN, "SELF%: samples that ended there"));
static const struct column callers_columns[TREE_COLUMNS] =
	COLUMNS("EXECUTED, CALLED BY", .sortable = SORTS_NOT);
static const enum treeorder_by orders[TREE_COLUMNS] = {
	[TREE_SELF] = TREEORDER_SELF,
	[TREE_CHANGE] = TREEORDER_CHANGE,
	[TREE_CALLS] = TREEORDER_NAME,
	[TREE_MODULE] = TREEORDER_MODULE,
};

static void tree_close(void *state)
{
	struct tree_view *v = state;

	if (!v)
		return;
	calltree_free(&v->calls);
	openset_reset(&v->open, OPENSET_HOT);
	free(v->rows.row);
	free(v);
}

static void *tree_open(void)
{
	struct tree_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	memcpy(v->columns, tree_columns, sizeof(v->columns));
	v->sorted = TREE_TOTAL;
	if (calltree_init(&v->calls)) {
		tree_close(v);
		return NULL;
	}
	return v;
}

static void *callers_open(void)
{
	struct tree_view *v = tree_open();

	if (!v)
		return NULL;
	v->callers = true;
	memcpy(v->columns, callers_columns, sizeof(v->columns));
	/* Callers of what is hot are many; what is hot comes first. */
	openset_reset(&v->open, OPENSET_NONE);
	return v;
}

const struct column *tree_columns_in(const struct tree_view *v, int *count, int *sorted)
{
	*count = TREE_COLUMNS;
	*sorted = (int)v->sorted;
	return v->columns;
}

const struct profile_func *tree_function(const struct ui *ui)
{
	const struct tree_view *v = tree_state(ui);

	if (!v->list.count || v->rows.row[v->list.cursor].small ||
	    calltree_is_process(&v->calls, v->rows.row[v->list.cursor].node))
		return NULL;
	return calltree_func(&v->calls, v->rows.row[v->list.cursor].node);
}

static int tree_load(struct ui *ui, const struct profile *p)
{
	struct tree_view *v = tree_state(ui);
	pid_t zoomed = ui->zoom.on ? ui->zoom.pid : 0;

	if (zoomed != v->zoomed || (zoomed && ui->zoom.image != v->image)) {
		openset_reset(&v->open, v->callers ? OPENSET_NONE : OPENSET_HOT);
		v->zoomed = zoomed;
		v->image = ui->zoom.image;
	}
	v->list.count = 0;
	return calltree_load(&v->calls, ui, p, v->callers, true);
}

static int tree_sort(struct ui *ui)
{
	struct tree_view *v = tree_state(ui);
	bool found = false;
	int err;

	treeorder_apply((struct treeorder){orders[v->sorted], v->inverted}, &v->calls);
	err = treerows_make(&v->rows, &v->calls, &v->open);
	v->list.count = err ? 0 : v->rows.count;
	v->most = 0;
	for (size_t i = 0; i < v->list.count; i++)
		if (v->rows.row[i].total > v->most)
			v->most = v->rows.row[i].total;
	if (v->list.chosen && v->list.count) {
		size_t row = treerows_find(&v->rows, &v->calls, v->cursor);

		found = row < v->list.count;
		v->list.cursor = found ? row : v->list.cursor;
	}
	if (ui_zoom_changed(ui, v->about, sizeof(v->about)) && !found)
		list_anew(&v->list);
	list_follow(&v->list);
	if (v->list.cursor < v->list.count)
		v->cursor = v->rows.row[v->list.cursor].path;
	return err;
}

/* --- keys ---------------------------------------------------------------------------------- */

static unsigned int set_open(struct ui *ui, struct tree_row *row, bool open)
{
	struct tree_view *v = tree_state(ui);

	if (row->small || (!row->open && !row->closed))
		return 0;
	v->list.chosen = true;
	if (openset_put(&v->open, row->path, open))
		ui_notice(ui, "out of memory");
	return UI_RESORT;
}

static unsigned int go_row(struct tree_view *v, size_t row)
{
	list_select(&v->list, row);
	v->cursor = v->rows.row[v->list.cursor].path;
	return UI_REDRAW;
}

/* The cursor goes to the first frame that is unfolded, or stays in the row that has it. */
static unsigned int unfold(struct ui *ui, bool unfolded)
{
	struct tree_view *v = tree_state(ui);
	const struct tree_row *row = &v->rows.row[v->list.cursor];

	if (treerows_unfold(&v->rows, &v->calls, &v->open, v->list.cursor, unfolded))
		ui_notice(ui, "out of memory");
	if (unfolded)
		v->cursor = v->calls.tree.nodes[row->run.first].path;
	v->list.chosen = true;
	return UI_RESORT;
}

static unsigned int key_on_row(struct ui *ui, struct tree_view *v, enum action action)
{
	struct tree_row *row = &v->rows.row[v->list.cursor];

	switch (action) {
	case ACTION_TREE_TOGGLE:
		return set_open(ui, row, !row->open);
	case ACTION_TREE_OPEN:
		if (row->run.nodes > 1 && !row->closed)
			return unfold(ui, true);
		return set_open(ui, row, true);
	case ACTION_TREE_CLOSE:
		return set_open(ui, row, false);
	case ACTION_TREE_IN:
		if (row->run.nodes > 1 && !row->closed)
			return unfold(ui, true);
		if (row->open && v->list.cursor + 1 < v->list.count)
			return go_row(v, v->list.cursor + 1);
		return set_open(ui, row, true);
	case ACTION_TREE_OUT:
		if (row->head)
			return unfold(ui, false);
		if (!row->small && row->open)
			return set_open(ui, row, false);
		return row->parent ? go_row(v, row->parent - 1) : 0;
	case ACTION_TREE_SUBTREE:
		if (row->small)
			return 0;
		v->list.chosen = true;
		treerows_open(&v->calls, &v->open, row->node);
		return UI_RESORT;
	case ACTION_ZOOM_MODULE:
		return row->small || calltree_is_process(&v->calls, row->node)
			       ? 0
			       : ui_zoom_module(ui, calltree_func(&v->calls, row->node)->module);
	default:
		return 0;
	}
}

/* The cursor's node vanishes into its ancestor of that level. */
static void close_below(struct tree_view *v, uint32_t levels)
{
	size_t row = v->list.cursor;

	openset_depth(&v->open, levels);
	v->list.chosen = true;
	if (!v->list.count)
		return;
	while (v->rows.row[row].parent &&
	       (v->rows.row[row].small ||
		v->rows.row[row].level - v->rows.row[row].run.nodes >= levels))
		row = v->rows.row[row].parent - 1;
	go_row(v, row);
	/* A run may end at that level. */
	v->cursor = v->calls.tree.nodes[v->rows.row[row].run.first].path;
}

static void tree_copy(const struct ui *ui, char *to, size_t size)
{
	const struct tree_view *v = ui->state[ui->view];

	to[0] = '\0';
	if (v->list.count && !v->rows.row[v->list.cursor].small)
		calltree_path(&v->calls, v->rows.row[v->list.cursor].node, v->callers, to, size);
}

static unsigned int tree_sort_by(struct ui *ui, int column)
{
	struct tree_view *v = tree_state(ui);

	v->sorted = (enum tree_column)column;
	v->inverted = false;
	return UI_RESORT;
}

/* What the search that is being typed opens is closed again when its text changes. */
static int open_found(struct ui *ui, struct tree_view *v, uint32_t node)
{
	const struct tree_node *nodes = v->calls.tree.nodes;
	uint32_t level = 1;

	for (uint32_t up = nodes[node].parent; up; up = nodes[up].parent)
		level++;
	if (!openset_get(&v->open, nodes[node].path, level, false))
		typing_opens(ui, nodes[node].path);
	return openset_put(&v->open, nodes[node].path, true);
}

/* Opens what the node is in, and unfolds its run unless the row is about that node anyway. */
static unsigned int go_deep(struct ui *ui, uint32_t node)
{
	struct tree_view *v = tree_state(ui);
	const struct tree_node *nodes = v->calls.tree.nodes;
	size_t row;
	int err = 0;

	for (uint32_t up = nodes[node].parent; up && !err; up = nodes[up].parent)
		err = open_found(ui, v, up);
	v->cursor = nodes[node].path;
	v->list.chosen = true;
	if (!err)
		err = treerows_make(&v->rows, &v->calls, &v->open);
	v->list.count = err ? 0 : v->rows.count;
	row = err ? 0 : treerows_find(&v->rows, &v->calls, v->cursor);
	if (row < v->list.count && v->rows.row[row].node != node) {
		typing_unfolds(ui, v->cursor);
		err = treerows_unfold(&v->rows, &v->calls, &v->open, row, true);
	}
	if (err)
		ui_notice(ui, "out of memory");
	return UI_RESORT;
}

/* Of callers, the first level has the functions that executed, which have the samples. */
static unsigned int go_hottest(struct ui *ui)
{
	const struct tree_view *v = tree_state(ui);
	const struct tree_node *nodes = v->calls.tree.nodes;
	uint32_t hottest = v->calls.hottest;

	if (!v->list.count)
		return 0;
	for (uint32_t c = v->callers ? nodes[0].first_child : 0; c; c = nodes[c].next)
		if (!hottest || nodes[c].total > nodes[hottest].total)
			hottest = c;
	if (hottest && !treerows_small(&v->calls, hottest))
		return go_deep(ui, hottest);
	ui_notice(ui, "no frame has %.1f%% of its own: L shows smaller ones", 100 * v->calls.limit);
	return UI_REDRAW;
}

static unsigned int tree_key(struct ui *ui, enum action action)
{
	struct tree_view *v = tree_state(ui);

	if (list_move(&v->list, action)) {
		if (v->list.count)
			v->cursor = v->rows.row[v->list.cursor].path;
		return UI_REDRAW;
	}
	switch (action) {
	case ACTION_TREE_ALL:
		openset_reset(&v->open, OPENSET_ALL);
		v->list.chosen = true;
		return UI_RESORT;
	case ACTION_TREE_NONE:
	case ACTION_TREE_DEPTH:
		close_below(v, action == ACTION_TREE_NONE ? 1 : ui->levels);
		return UI_RESORT;
	case ACTION_INVERT:
		v->inverted = !v->inverted;
		return UI_RESORT;
	case ACTION_SORT_SELF:
		return tree_sort_by(ui, v->sorted == TREE_SELF ? TREE_TOTAL : TREE_SELF);
	case ACTION_BACK:
		return ui_zoom_out(ui);
	case ACTION_OF_PARENT:
		ui->of_parent = !ui->of_parent;
		ui_notice(ui, "shares are of %s",
			  !ui->of_parent ? "all samples"
			  : v->callers	 ? "the callee's samples"
					 : "the parent's samples");
		return UI_REDRAW;
	case ACTION_FLIP:
		return ui_go(ui, v->callers ? VIEW_TREE : VIEW_CALLERS);
	case ACTION_SAME_NAME:
		return search_func(ui, tree_function(ui));
	case ACTION_HOTTEST_LEAF:
		return go_hottest(ui);
	default:
		return v->list.count ? key_on_row(ui, v, action) : 0;
	}
}

/* The setup asks while another view is shown. */
static const struct column *tree_columns_of(int *count, const struct ui *ui, int *sorted)
{
	return tree_columns_in(ui->state[VIEW_TREE], count, sorted);
}

static const struct column *callers_columns_of(int *count, const struct ui *ui, int *sorted)
{
	return tree_columns_in(ui->state[VIEW_CALLERS], count, sorted);
}

/* Callers: where the function executed, which is on the first level. */
static unsigned int tree_select(struct ui *ui, uint64_t func)
{
	struct tree_view *v = tree_state(ui);
	uint32_t best = calltree_heaviest(&v->calls, func, 0, v->callers);

	return best && !treerows_small(&v->calls, best) ? go_deep(ui, best) : 0;
}

static unsigned int tree_place(struct ui *ui, struct view_place *place, bool back)
{
	struct tree_view *v = tree_state(ui);
	const uint64_t *opened = place->more;

	if (!back) {
		place->list[0] = v->list;
		place->id[0] = v->cursor;
		return 0;
	}
	if (place->id[2]) {
		size_t row = treerows_find(&v->rows, &v->calls, place->id[2]);

		if (row < v->rows.count)
			treerows_unfold(&v->rows, &v->calls, &v->open, row, false);
		place->id[2] = 0;
	}
	for (size_t i = 0; i < place->id[1]; i++)
		openset_put(&v->open, opened[i], false);
	place->id[1] = 0;
	list_restore(&v->list, &place->list[0]);
	v->cursor = place->id[0];
	return UI_RESORT;
}

static unsigned int tree_find(struct ui *ui, int step, bool here)
{
	struct tree_view *v = tree_state(ui);
	const struct tree_row *row = v->list.count ? &v->rows.row[v->list.cursor] : NULL;
	uint32_t *order = row ? calloc(v->calls.tree.count, sizeof(*order)) : NULL;
	size_t n = order ? treerows_all(&v->calls, order) : 0;
	/* A new search begins with the first frame of the row. */
	uint32_t from = !row ? 0 : here ? row->run.first : row->node;
	unsigned int flags = 0;
	size_t i = 0;

	while (i + 1 < n && order[i] != from)
		i++;
	for (size_t tried = 0; tried < n && !flags; tried++) {
		if (!here || tried)
			i = (i + n + (size_t)step) % n;
		if (search_matches_func(ui, calltree_func(&v->calls, order[i])))
			flags = go_deep(ui, order[i]);
	}
	free(order);
	return flags;
}

static bool tree_process(const struct ui *ui, pid_t *pid, uint64_t *image)
{
	const struct tree_view *v = tree_state(ui);

	return v->list.count &&
	       calltree_process(&v->calls, v->rows.row[v->list.cursor].node, pid, image);
}

static int plain_of(const struct ui *ui, struct plain_list *list)
{
	const struct tree_view *v = tree_state(ui);
	int count, sorted;

	return tree_plain(list, ui, &v->calls, v->callers,
			  tree_columns_in(v, &count, &sorted)[v->sorted].title);
}

#define TREE_OPS                                                                                   \
	.close = tree_close, .load = tree_load, .sort = tree_sort, .draw = tree_draw,              \
	.key = tree_key, .find = tree_find, .function = tree_function, .plain = plain_of,          \
	.copy = tree_copy, .sort_by = tree_sort_by, .details = tree_details,                       \
	.process = tree_process, .select = tree_select, .place = tree_place

const struct view_ops tree_view = {
	.title = "Tree", .open = tree_open, .columns = tree_columns_of, TREE_OPS};
const struct view_ops callers_view = {
	.title = "Callers", .open = callers_open, .columns = callers_columns_of, TREE_OPS};
