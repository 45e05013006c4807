// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tree: the calls from the outermost function down; and Callers: from the functions that executed
 * up. Chains without a branch are not indented: stacks of a hundred frames are common and screens
 * of two hundred columns are not.
 */
#include "tui/ui/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/views/calltree.h"
#include "tui/screen/list.h"
#include "tui/ui/framedetails.h"
#include "tui/ui/names.h"
#include "tui/ui/selection.h"
#include "tui/ui/typing.h"
#include "tui/views/treerows.h"
#include "tui/util/share.h"

#define SHOWN_DEPTH  4	/* levels of guides that stay in sight of the cursor's row */
#define DETAILS_ROWS 18 /* of the view: with less there is no pane at the bottom */
#define GUIDES_MAX   100
#define RUN_SHOWN    2600 /* bytes of a row of two names and what is between */

enum tree_column {
	TREE_MARK,
	TREE_TOTAL,
	TREE_SELF,
	TREE_SAMPLES,
	TREE_CHANGE,
	TREE_BAR,
	TREE_CALLS,
	TREE_MODULE,
	TREE_COLUMNS
};

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
static const char of_parent_title[] = "PARENT%";

struct tree_view {
	struct calltree calls;
	bool callers; /* bottom up */
	enum tree_column sorted;
	bool inverted;
	struct openset open;
	struct treerows rows;
	uint64_t most; /* samples of the row that has most: what a full bar is */
	struct list list;
	uint64_t cursor; /* path under the cursor */
	char about[128]; /* scope of the paths that are shown */
	pid_t zoomed;	 /* the process that `open` is about, 0: all */
	uint64_t image;
	bool pane; /* the view has one with details, as drawn last */
};

/* Tree and Callers are one view each with a state of its own. */
static struct tree_view *state_of(const struct ui *ui)
{
	return ui->state[ui->view];
}

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
	/* Callers of what is hot are many; what is hot comes first. */
	openset_reset(&v->open, OPENSET_NONE);
	return v;
}

static const struct column *columns_in(const struct tree_view *v, int *count, int *sorted)
{
	*count = TREE_COLUMNS;
	*sorted = (int)v->sorted;
	return v->callers ? callers_columns : tree_columns;
}

static const struct profile_func *tree_function(const struct ui *ui)
{
	const struct tree_view *v = state_of(ui);

	if (!v->list.count || v->rows.row[v->list.cursor].small ||
	    calltree_is_process(&v->calls, v->rows.row[v->list.cursor].node))
		return NULL;
	return calltree_func(&v->calls, v->rows.row[v->list.cursor].node);
}

static int tree_load(struct ui *ui, const struct profile *p)
{
	struct tree_view *v = state_of(ui);
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
	struct tree_view *v = state_of(ui);
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

/* --- drawing ------------------------------------------------------------------------------- */

/* Guides from the left: for each level of the row, whether a sibling of that level follows. */
static int draw_guides(const struct tree_view *v, const struct tree_row *row, struct grid *g, int y,
		       int col, int end, uint32_t skip)
{
	bool follows[GUIDES_MAX] = {false};
	const struct tree_row *at = row;
	int levels = (int)row->indent - (int)skip;

	if (levels > GUIDES_MAX)
		levels = GUIDES_MAX;
	for (; at; at = at->parent ? &v->rows.row[at->parent - 1] : NULL)
		if (!at->chained && at->indent > skip && at->indent - skip <= GUIDES_MAX)
			follows[at->indent - skip - 1] = at->more;
	for (int i = 0; i < levels && col < end - 1; i++, col += 2) {
		bool own = i == levels - 1 && !row->chained;

		grid_put(g, y, col, 1, ROLE_TREE,
			 own	      ? grid_glyph(g, follows[i] ? GLYPH_BRANCH : GLYPH_CORNER)
			 : follows[i] ? grid_glyph(g, GLYPH_VLINE)
				      : " ");
		if (own)
			grid_put(g, y, col + 1, 1, ROLE_TREE, grid_glyph(g, GLYPH_HLINE));
	}
	return col;
}

static int put(struct grid *g, int y, int col, int end, enum role role, const char *text)
{
	return col < end ? col + grid_put(g, y, col, end - col, role, text) : col;
}

static const char *mark_of(const struct profile_func *func)
{
	return func->kind == FUNC_KERNEL   ? "k "
	       : func->kind == FUNC_INLINE ? "i "
	       : func->kind == FUNC_JIT	   ? "j "
					   : "";
}

static bool has_hottest(const struct tree_view *v, const struct treerun *run)
{
	uint32_t node = run->first;

	for (uint32_t i = 0; i < run->nodes && v->calls.hottest; i++) {
		if (node == v->calls.hottest)
			return true;
		node = treerun_next(&v->calls, node);
	}
	return false;
}

static bool run_matches(const struct ui *ui, const struct tree_view *v, const struct treerun *run)
{
	return search_matches_func(ui, calltree_func(&v->calls, run->last)) ||
	       search_matches_func(ui, calltree_func(&v->calls, run->first));
}

static void draw_name(const struct ui *ui, const struct tree_view *v, const struct tree_row *row,
		      struct grid *g, int y, int col, int end)
{
	const struct profile_func *func = calltree_func(&v->calls, row->node);
	enum role role = func->kind == FUNC_END ? ROLE_BROKEN : ROLE_TEXT;
	const bool hottest = has_hottest(v, &row->run);
	const char *mark = "  <== hottest";
	char name[RUN_SHOWN];
	int need;

	if (run_matches(ui, v, &row->run))
		role = ROLE_MATCH;
	col = put(g, y, col, end, ROLE_TREE,
		  func->kind == FUNC_END ? "(!) "
		  : row->open		 ? "[-] "
		  : row->closed		 ? "[+] "
					 : "");
	if (!row->open && !row->closed && func->kind != FUNC_END) {
		grid_line(g, y, col, 3 < end - col ? 3 : end - col, ROLE_TREE, GLYPH_HLINE);
		col += 4;
	}
	col = put(g, y, col, end, func->kind == FUNC_KERNEL ? ROLE_KERNEL : ROLE_USER,
		  row->run.nodes == 1 || func->kind == FUNC_KERNEL ? mark_of(func) : "");
	treerun_show(&v->calls, &row->run, g, end - col, name, sizeof(name));
	need = grid_width(g, name);
	if (hottest) {
		mark = end - col - need >= (int)strlen(mark) ? mark : "  <==";
		treerun_show(&v->calls, &row->run, g, end - col - (int)strlen(mark), name,
			     sizeof(name));
		need = grid_width(g, name);
	}
	if (need > end - col)
		need = end - col;
	grid_fit(g, y, col, need, role, name);
	col += need;
	if (hottest)
		put(g, y, col, end, ROLE_HEAT_5, mark);
	else if (row->closed && end - col > 8)
		grid_printf(g, y, col, end - col, ROLE_DIM, "  (%u)",
			    v->calls.tree.nodes[row->node].nchildren);
}

/* Of all samples, or of those of the row that this one is below. */
static double row_share(const struct ui *ui, const struct tree_view *v, const struct tree_row *row,
			uint64_t samples)
{
	const struct tree_node *nodes = v->calls.tree.nodes;
	/* A row of small ones has the number of their parent. */
	uint32_t parent = row->small ? row->node : nodes[row->run.first].parent;

	if (!ui->of_parent || !parent)
		return calltree_share(&v->calls, samples);
	return share_of(samples, nodes[parent].total);
}

static void draw_row(const struct ui *ui, const struct tree_view *v, const struct tree_row *row,
		     struct grid *g, int y, const int *width, uint32_t skip)
{
	const struct profile_func *func = row->small ? NULL : calltree_func(&v->calls, row->node);
	double total = row_share(ui, v, row, row->total);
	const enum role heat = ui_share_role(row->total, ui_heat(total));
	const struct delta delta =
		row->small ? delta_none() : calltree_delta(&v->calls, row->run.first);
	int col = width[TREE_MARK];
	char text[64];
	int end;

	if (func && func->kind == FUNC_END)
		grid_put(g, y, 0, 1, ROLE_BROKEN, "!");
	snprintf(text, sizeof(text), "%.1f", 100 * total);
	grid_right(g, y, col, width[TREE_TOTAL] - 1, heat, text);
	col += width[TREE_TOTAL];
	snprintf(text, sizeof(text), "%.1f", 100 * row_share(ui, v, row, row->self));
	grid_right(g, y, col, width[TREE_SELF] - 1, ui_share_role(row->self, ROLE_TEXT), text);
	col += width[TREE_SELF];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)row->total);
	grid_right(g, y, col, width[TREE_SAMPLES] - 1, ROLE_TEXT, text);
	col += width[TREE_SAMPLES];
	delta_text(&delta, g, text, sizeof(text));
	grid_right(g, y, col, width[TREE_CHANGE] - 1, delta_role(&delta), text);
	col += width[TREE_CHANGE];
	grid_eighths(g, y, col, width[TREE_BAR] - 1, heat,
		     v->most ? (double)row->total / (double)v->most : 0);
	col += width[TREE_BAR];
	end = col + width[TREE_CALLS] - (width[TREE_MODULE] != 0);
	if (width[TREE_MODULE] && func)
		grid_fit(g, y, col + width[TREE_CALLS], width[TREE_MODULE], ROLE_MODULE,
			 func->module);
	col = draw_guides(v, row, g, y, col, end, row->indent < skip ? row->indent : skip);
	if (func) {
		draw_name(ui, v, row, g, y, col, end);
		return;
	}
	snprintf(text, sizeof(text), "... %u %s under %.1f%%", row->small,
		 row->node || !v->calls.nprocs ? row->small == 1 ? "frame" : "frames"
		 : row->small == 1	       ? "process"
					       : "processes",
		 100 * v->calls.limit);
	put(g, y, col, end, ROLE_DIM, text);
}

static void draw_details(const struct tree_view *v, struct grid *g, int top)
{
	const struct tree_row *row = &v->rows.row[v->list.cursor];
	const struct profile_func *func = calltree_func(&v->calls, row->node);
	const struct tree_node *node = &v->calls.tree.nodes[row->node];
	const struct tree_node *first = &v->calls.tree.nodes[row->run.first];
	const struct tree_node *parent = &v->calls.tree.nodes[first->parent];
	char name[512], text[32];

	names_show(func, name, sizeof(name));
	grid_line(g, top, 0, g->cols, ROLE_BORDER, GLYPH_HLINE);
	grid_printf(g, top, 2, g->cols - 4, ROLE_TITLE, " %s ", name);
	snprintf(text, sizeof(text), " self %.1f%% ", 100 * calltree_share(&v->calls, row->self));
	grid_printf(g, top + 1, 0, g->cols, ROLE_TEXT,
		    "%s total %.1f%%  %llu samples  of %s %.1f%%  %s %u  %s",
		    v->callers ? "" : text, 100 * calltree_share(&v->calls, row->total),
		    (unsigned long long)row->total, v->callers ? "callee" : "parent",
		    parent->total ? 100.0 * (double)row->total / (double)parent->total : 100.0,
		    v->callers ? "callers" : "children", node->nchildren, func->module);
	calltree_draw_path(&v->calls, row->node, g, top + 2);
}

static void tree_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	struct tree_view *v = state_of(ui);
	int count, sorted;
	const struct column *columns = columns_in(v, &count, &sorted);
	unsigned int hidden = 0;
	int width[TREE_COLUMNS], n;
	int details = rows >= DETAILS_ROWS && v->list.count ? 3 : 0;
	uint32_t skip = 0, room;

	v->pane = details;
	top++;
	rows -= 1 + details;
	if (ui->hide_modules)
		hidden |= 1U << TREE_MODULE;
	if (!v->calls.compared)
		hidden |= 1U << TREE_CHANGE;
	if (v->callers) /* self is that of the first level, which is its total */
		hidden |= 1U << TREE_SELF;
	hidden |= config_hidden(&ui->config, v->callers ? VIEW_CALLERS : VIEW_TREE, columns,
				TREE_COLUMNS);
	columns_fit(columns, count, g->cols, hidden, width);
	columns_header(g, top, columns, count, width, sorted, v->inverted);
	if (ui->of_parent)
		grid_right(g, top, width[TREE_MARK], width[TREE_TOTAL] - 1,
			   v->sorted == TREE_TOTAL ? ROLE_HEADER_SORT : ROLE_HEADER,
			   of_parent_title);
	n = list_fit(&v->list, rows);
	/* Deep below, the guides to the left make room for the names. */
	room = (uint32_t)width[TREE_CALLS] / 4;
	if (v->list.count && v->rows.row[v->list.cursor].indent > room)
		skip = v->rows.row[v->list.cursor].indent - (room > SHOWN_DEPTH ? SHOWN_DEPTH : 0);
	for (int i = 0; i < n; i++)
		draw_row(ui, v, &v->rows.row[v->list.top + (size_t)i], g, top + 1 + i, width, skip);
	ui_draw_zoom(ui, g, top - 1, ui_draw_samples(g, top - 1, v->calls.samples, &v->list),
		     tree_function(ui));
	list_draw_scroll(&v->list, g, top + 1, n, g->cols - 1);
	list_mark(&v->list, g, top, n, true);
	if (v->list.count == 0)
		grid_put(g, top + 1, 2, g->cols - 2, ROLE_DIM, selection_nothing(ui));
	if (details && !v->rows.row[v->list.cursor].small)
		draw_details(v, g, top + rows);
}

/* --- keys ---------------------------------------------------------------------------------- */

static unsigned int set_open(struct ui *ui, struct tree_row *row, bool open)
{
	struct tree_view *v = state_of(ui);

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
	struct tree_view *v = state_of(ui);
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
	struct tree_view *v = state_of(ui);

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
	struct tree_view *v = state_of(ui);
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
	const struct tree_view *v = state_of(ui);
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
	struct tree_view *v = state_of(ui);

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
	return columns_in(ui->state[VIEW_TREE], count, sorted);
}

static const struct column *callers_columns_of(int *count, const struct ui *ui, int *sorted)
{
	return columns_in(ui->state[VIEW_CALLERS], count, sorted);
}

/* Callers: where the function executed, which is on the first level. */
static unsigned int tree_select(struct ui *ui, uint64_t func)
{
	struct tree_view *v = state_of(ui);
	uint32_t best = calltree_heaviest(&v->calls, func, 0, v->callers);

	return best && !treerows_small(&v->calls, best) ? go_deep(ui, best) : 0;
}

static unsigned int tree_place(struct ui *ui, struct view_place *place, bool back)
{
	struct tree_view *v = state_of(ui);
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
	struct tree_view *v = state_of(ui);
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
	const struct tree_view *v = state_of(ui);

	return v->list.count &&
	       calltree_process(&v->calls, v->rows.row[v->list.cursor].node, pid, image);
}

static bool tree_details(const struct ui *ui, struct grid *g, int y)
{
	const struct tree_view *v = state_of(ui);
	const struct tree_row *row = v->list.count ? &v->rows.row[v->list.cursor] : NULL;
	struct framedetails d;

	if (v->pane || !row || row->small)
		return false;
	d = (struct framedetails){
		.func = calltree_func(&v->calls, row->node),
		.self = v->callers ? -1 : 100 * calltree_share(&v->calls, row->self),
		.total = 100 * calltree_share(&v->calls, row->total),
	};
	framedetails_draw(&d, g, y);
	return true;
}

static int plain_of(const struct ui *ui, struct plain_list *list)
{
	const struct tree_view *v = state_of(ui);
	int count, sorted;

	return tree_plain(list, ui, &v->calls, v->callers,
			  columns_in(v, &count, &sorted)[v->sorted].title);
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
