// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flame: stacks side by side, as wide as they have samples. The root is on top (icicle) or at the
 * bottom (flame), and what is below a frame are its callees, or its callers.
 *
 * Cursor and zoom are paths from the root, so that they stay where they are in every refresh; when
 * a path has no samples any more, its longest part that has some stands for it.
 */
#include "tui/ui/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/views/calltree.h"
#include "tui/screen/columns.h"
#include "tui/views/flamebox.h"
#include "tui/screen/hints.h"
#include "tui/ui/framedetails.h"
#include "tui/ui/names.h"
#include "tui/ui/selection.h"
#include "tui/ui/shortname.h"
#include "tui/views/treepath.h"
#include "tui/util/share.h"

#define DETAILS_ROWS 18 /* of the view: with less there is no pane at the bottom */
#define PAGE_LEVELS  10
#define NAME_MIN     4	/* columns of a frame: with fewer it has no name */
#define SHARE_MIN    25 /* cells from which on a box has its share, too */

enum coloring { COLOR_MODULE, COLOR_HEAT, COLOR_SIDE, COLOR_DIFF, COLORINGS };

static const char *const coloring_names[COLORINGS] = {"module", "heat", "kernel and user",
						      "difference"};

struct flame_view {
	struct calltree calls;
	struct treepath cursor, zoom;
	uint32_t at, top; /* nodes that stand for them */
	bool callers, upright;
	enum coloring coloring;
	bool compared;	    /* the last time that was looked at */
	struct flame flame; /* as drawn last */
	int columns;	    /* cells of it */
	uint32_t first;	    /* level on the first row */
	uint32_t page;	    /* levels that were shown last */
	pid_t zoomed;	    /* the process that the paths are about, 0: all */
	uint64_t image;
	struct search_total found;
	bool pane; /* with details, as drawn last */
};

static void flame_close(void *state)
{
	struct flame_view *v = state;

	if (!v)
		return;
	calltree_free(&v->calls);
	flame_free(&v->flame);
	search_total_free(&v->found);
	free(v);
}

static void *flame_open(void)
{
	struct flame_view *v = calloc(1, sizeof(*v));

	if (v && calltree_init(&v->calls)) {
		flame_close(v);
		return NULL;
	}
	return v;
}

/* --- what is seen ---------------------------------------------------------------------------- */

/* What is narrower than a column and not under the cursor is not seen, and is most of a tree. */
static int flame_seen(struct tree_part *part, void *arg)
{
	struct flame_view *v = arg;
	int err = treepath_grow(&v->cursor, part);
	uint32_t top;

	if (!err)
		err = treepath_grow(&v->zoom, part);
	if (err)
		return err;
	top = treepath_node(&v->zoom, query_part_tree(part));
	err = search_total_in_part(&v->found, part, top);
	return err ? err : flame_make(&v->flame, query_part_tree(part), part, top, v->columns);
}

static int flame_load(struct ui *ui, const struct profile *p)
{
	struct flame_view *v = ui->state[VIEW_FLAME];
	pid_t zoomed = ui->zoom.on ? ui->zoom.pid : 0;
	int err;

	if (zoomed != v->zoomed || (zoomed && ui->zoom.image != v->image)) {
		v->cursor.depth = v->zoom.depth = 0;
		v->zoomed = zoomed;
		v->image = ui->zoom.image;
	}
	/* The difference was asked for, so it is shown; c has the other colours. */
	if (v->compared != ui->scrub.diff)
		v->coloring = ui->scrub.diff ? COLOR_DIFF : COLOR_MODULE;
	v->compared = ui->scrub.diff;
	err = search_total_judge(&v->found, ui, p);
	if (err)
		return err;
	/* How wide it is drawn is not known before the first time. */
	if (!v->columns)
		err = calltree_load(&v->calls, ui, p, v->callers, false);
	else
		err = calltree_load_part(&v->calls, ui, p, v->callers, flame_seen, v);
	if (err || v->calls.part)
		return err;
	return search_total_in_tree(&v->found, &v->calls.tree,
				    treepath_node(&v->zoom, &v->calls.tree));
}

static int flame_sort(struct ui *ui)
{
	struct flame_view *v = ui->state[VIEW_FLAME];

	v->top = treepath_node(&v->zoom, &v->calls.tree);
	v->at = treepath_node(&v->cursor, &v->calls.tree);
	if (v->calls.tree.count && !treepath_below(&v->calls.tree, v->at, v->top))
		v->at = v->top;
	return flame_make(&v->flame, &v->calls.tree, NULL, v->top, v->columns);
}

/* Loads all of the tree. */
static int flame_whole(struct ui *ui)
{
	struct flame_view *v = ui->state[VIEW_FLAME];
	struct profile *p = ui_profile(ui);
	int err = 0;

	if (v->calls.part) {
		profile_lock(p);
		err = calltree_load(&v->calls, ui, p, v->callers, false);
		profile_unlock(p);
	}
	return err ? err : flame_sort(ui);
}

/* --- drawing -------------------------------------------------------------------------------- */

static void node_name(const struct ui *ui, const struct flame_view *v, uint32_t node, char *to,
		      size_t size)
{
	if (node)
		names_show(calltree_func(&v->calls, node), to, size);
	else
		ui_zoom_name(ui, to, size);
}

static enum role box_role(const struct ui *ui, const struct flame_view *v, uint32_t node,
			  const char *name)
{
	const struct profile_func *func = node ? calltree_func(&v->calls, node) : NULL;
	const struct tree_node *n = &v->calls.tree.nodes[node];
	uint32_t hash = 0;

	if (node == v->at)
		return ROLE_CURSOR;
	if (func && search_matches(ui, name))
		return ROLE_MATCH_CURRENT;
	if (!func || calltree_is_process(&v->calls, node))
		return ROLE_TITLE;
	if (func->kind == FUNC_END)
		return ROLE_BROKEN;
	if (func->kind == FUNC_WAIT)
		return names_wait_role(wait_by_name(func->name));
	if (v->coloring == COLOR_DIFF) {
		const struct delta delta = calltree_delta(&v->calls, node);

		return delta_role(&delta);
	}
	if (v->coloring == COLOR_HEAT)
		return ui_heat(calltree_share(&v->calls, v->callers ? n->total : n->self));
	if (func->kind == FUNC_KERNEL)
		return ROLE_FLAME_4;
	if (func_is_language(func->kind))
		return ROLE_LANGUAGE;
	if (v->coloring == COLOR_SIDE)
		return ROLE_FLAME_1;
	for (const char *c = func->module; *c; c++)
		hash = hash * 31 + (unsigned char)*c;
	return (enum role)(ROLE_FLAME_1 + hash % 3);
}

static void draw_box(const struct ui *ui, const struct flame_view *v, const struct flame_box *box,
		     struct grid *g, int y)
{
	const struct profile_func *func = box->node ? calltree_func(&v->calls, box->node) : NULL;
	int width = box->to - box->from;
	const uint64_t samples = v->calls.tree.nodes[box->node].total;
	char name[SHORTNAME_MAX], text[SHORTNAME_MAX + 64] = "", change[32];
	const char *mark;
	enum role role;
	int at;

	node_name(ui, v, box->node, name, sizeof(name));
	role = box_role(ui, v, box->node, name);
	grid_put(g, y, box->from, 1, role, box->node == v->at ? ">" : grid_glyph(g, GLYPH_VLINE));
	if (width < NAME_MIN) {
		grid_blank(g, y, box->from + 1, width - 1, role);
		return;
	}
	mark = func ? names_mark(func) : "u";
	if (strcmp(mark, "u") != 0)
		snprintf(text, sizeof(text), "%s%s", mark, func->kind == FUNC_END ? "" : " ");
	at = width - 1 - grid_width(g, text);
	if (func)
		shortname_func(g, func, at, text + strlen(text), sizeof(text) - strlen(text));
	else
		shortname_fit(g, name, at, text + strlen(text), sizeof(text) - strlen(text));
	at = box->from + 1 + grid_width(g, text);
	if (v->coloring == COLOR_DIFF && width >= SHARE_MIN - 8) {
		const struct delta delta = calltree_delta(&v->calls, box->node);

		delta_text(&delta, g, change, sizeof(change));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "  %s", change);
	} else if (width >= SHARE_MIN) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "  %.1f%%",
			 100 * calltree_share(&v->calls, samples));
	} else {
		at = box->to;
	}
	grid_fit(g, y, box->from + 1, width - 1, role, text);
	/* The box keeps its colour, which says what it is; its share says little. */
	if (role != ROLE_CURSOR && samples < SHARE_FEW && at < box->to)
		grid_role(g, y, at, box->to - at, ROLE_DIM);
}

static void draw_crumbs(const struct ui *ui, const struct flame_view *v, struct grid *g, int y)
{
	const char *shape = v->callers ? "callers" : v->upright ? "flame" : "icicle";
	int end = ui_draw_samples(ui, g, y, v->calls.samples, NULL);
	int col = grid_put(g, y, 0, end, ROLE_DIM, " Zoom: "), width;
	char name[256], text[96];

	if (ui->zoom.on || selection_sums(ui))
		col += grid_cut(g, y, col, end - col, ROLE_TEXT, "all > ");
	node_name(ui, v, 0, name, sizeof(name));
	col += grid_cut(g, y, col, end - col, v->top ? ROLE_TEXT : ROLE_TITLE, name);
	if (v->top) {
		names_show(calltree_func(&v->calls, v->top), name, sizeof(name));
		col += grid_cut(g, y, col, end - col, ROLE_TEXT,
				v->calls.tree.nodes[v->top].parent ? " > ... > " : " > ");
		col += grid_cut(g, y, col, end - col, ROLE_TITLE, name);
	}
	width = search_total_draw(&v->found, ui, &v->calls, g, y, col, end);
	end = width < end ? width - 2 : end;
	snprintf(text, sizeof(text), "%s, %s %s, by %s", shape, v->callers ? "leaf" : "root",
		 v->upright ? "at the bottom" : "on top", coloring_names[v->coloring]);
	if (col + 2 + grid_width(g, text) > end)
		snprintf(text, sizeof(text), "%s, by %s", shape, coloring_names[v->coloring]);
	width = grid_width(g, text);
	if (col + 2 + width <= end)
		grid_put(g, y, end - width, width, ROLE_DIM, text);
}

static void draw_details(const struct ui *ui, const struct flame_view *v, struct grid *g, int y)
{
	char shape[48];
	const struct hint hints[] = {
		{ACTION_NONE, ACTION_NONE, shape},
		{ACTION_FLAME_ZOOM, ACTION_NONE, "zooms"},
		{ACTION_BACK, ACTION_NONE, "back"},
		{ACTION_FLAME_TURN, ACTION_NONE, "upside down"},
		{ACTION_FLIP, ACTION_NONE, "callers"},
		{ACTION_FLAME_COLOR, ACTION_NONE, "colours"},
		{ACTION_SAME_NAME, ACTION_NONE, "same name"},
		{ACTION_NONE, ACTION_NONE, "! broken stack"},
		{ACTION_NONE, ACTION_NONE, "k kernel"},
	};
	const struct tree_node *nodes = v->calls.tree.nodes;
	const struct tree_node *n = &nodes[v->at];
	char name[256], change[32];
	int col;

	snprintf(shape, sizeof(shape), "width = %s, blank %s = %s",
		 ui->measure == MEASURE_CPU ? "samples" : "time", v->upright ? "above" : "below",
		 v->callers ? "begin here" : "self");
	node_name(ui, v, v->at, name, sizeof(name));
	grid_line(g, y, 0, g->cols, ROLE_BORDER, GLYPH_HLINE);
	grid_printf(g, y, 2, g->cols - 4, ROLE_TITLE, " %s ", name);
	ui_count(ui, n->total, change, sizeof(change));
	col = grid_printf(g, y + 1, 0, g->cols, ui_share_role(n->total, ROLE_TEXT),
			  " total %.1f%% (%s)", percent_of(n->total, v->calls.samples), change);
	ui_count(ui, n->self, change, sizeof(change));
	col += grid_printf(g, y + 1, col, g->cols - col, ui_share_role(n->self, ROLE_TEXT),
			   "  %s %.1f%% (%s)", v->callers ? "begin here" : "self",
			   percent_of(n->self, v->calls.samples), change);
	col += grid_printf(g, y + 1, col, g->cols - col, ui_share_role(n->total, ROLE_TEXT),
			   "  of parent %.1f%%  of zoom %.1f%%",
			   percent_of(n->total, nodes[n->parent].total),
			   percent_of(n->total, nodes[v->top].total));
	grid_printf(g, y + 1, col, g->cols - col, ROLE_TEXT, "  %s",
		    v->at ? calltree_func(&v->calls, v->at)->module : "");
	if (v->calls.compared) {
		const struct delta delta = calltree_delta(&v->calls, v->at);

		delta_text(&delta, g, change, sizeof(change));
		grid_printf(g, y, g->cols - 22, 21, delta_role(&delta), " vs base %s ", change);
	}
	if (v->at)
		calltree_draw_path(&v->calls, v->at, g, y + 2);
	hints_draw(&ui->config.keys, hints, sizeof(hints) / sizeof(hints[0]), g, y + 3, ROLE_DIM);
}

/* The box of the cursor, or the one that it is too narrow to be seen in. */
static size_t cursor_box(const struct flame_view *v)
{
	size_t box = FLAME_NONE;

	for (uint32_t at = v->at; v->flame.count; at = v->calls.tree.nodes[at].parent) {
		box = flame_find(&v->flame, at);
		if (box != FLAME_NONE || !at)
			break;
	}
	return box;
}

static void flame_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	struct flame_view *v = ui->state[VIEW_FLAME];
	int details = rows >= DETAILS_ROWS && v->calls.tree.count ? 4 : 0;
	uint32_t level;
	size_t box;

	v->pane = details;
	draw_crumbs(ui, v, g, top++);
	rows -= 1 + details;
	if (v->columns != g->cols) {
		v->columns = g->cols;
		if (flame_whole(ui))
			ui_notice(ui, "out of memory");
	}
	box = cursor_box(v);
	if (rows < 1 || box == FLAME_NONE) {
		grid_put(g, top, 2, g->cols - 2, ROLE_DIM, selection_nothing(ui));
		return;
	}
	/* Keeps the cursor's level in sight. */
	level = v->flame.boxes[box].level;
	v->page = (uint32_t)rows;
	if (v->first > level)
		v->first = level;
	if (level >= v->first + v->page)
		v->first = level - v->page + 1;
	if (v->first && v->flame.levels < v->first + v->page)
		v->first = v->flame.levels > v->page ? v->flame.levels - v->page : 0;
	grid_zone(g, (struct zone){ZONE_BODY, 0, NULL, top, rows, 0, g->cols});
	for (size_t i = 0; i < v->flame.count; i++) {
		const struct flame_box *b = &v->flame.boxes[i];
		int y = (int)b->level - (int)v->first;

		if (y < 0 || y >= rows)
			continue;
		draw_box(ui, v, b, g, v->upright ? top + rows - 1 - y : top + y);
	}
	if (details)
		draw_details(ui, v, g, top + rows);
}

/* --- keys ----------------------------------------------------------------------------------- */

static unsigned int go_node(struct flame_view *v, uint32_t node)
{
	v->at = node;
	treepath_set(&v->cursor, &v->calls.tree, node);
	return UI_REDRAW;
}

static unsigned int go_box(struct flame_view *v, size_t box)
{
	return go_node(v, v->flame.boxes[box].node);
}

/* Levels away from the root are positive. */
static unsigned int go_levels(struct flame_view *v, int levels)
{
	size_t box = cursor_box(v);

	for (; levels < 0; levels++)
		box = v->flame.boxes[box].parent;
	for (; levels > 0; levels--)
		box = flame_deeper(&v->flame, box);
	return go_box(v, box);
}

static unsigned int zoom(struct flame_view *v, uint32_t node)
{
	treepath_set(&v->zoom, &v->calls.tree, node);
	v->first = 0;
	return UI_RELOAD;
}

static uint32_t hottest_below(const struct flame_view *v)
{
	const struct tree_node *nodes = v->calls.tree.nodes;
	uint32_t best = v->top;

	for (size_t i = 0; i < v->flame.count; i++)
		if (nodes[v->flame.boxes[i].node].self > nodes[best].self)
			best = v->flame.boxes[i].node;
	return best;
}

static unsigned int move(struct flame_view *v, enum action action)
{
	const int down = v->upright ? -1 : 1;

	switch (action) {
	case ACTION_UP:
		return go_levels(v, -down);
	case ACTION_DOWN:
		return go_levels(v, down);
	case ACTION_PAGE_UP:
	case ACTION_HALF_UP:
		return go_levels(v, -down * PAGE_LEVELS);
	case ACTION_PAGE_DOWN:
	case ACTION_HALF_DOWN:
		return go_levels(v, down * PAGE_LEVELS);
	case ACTION_FLAME_LEFT:
		return go_box(v, flame_beside(&v->flame, cursor_box(v), -1));
	case ACTION_FLAME_RIGHT:
		return go_box(v, flame_beside(&v->flame, cursor_box(v), 1));
	case ACTION_FIRST:
		return go_node(v, v->top);
	case ACTION_LAST:
	case ACTION_HOTTEST_LEAF:
		return go_node(v, hottest_below(v));
	case ACTION_FLAME_ZOOM:
		return zoom(v, v->at);
	default:
		return 0;
	}
}

/* Zooms into the frame; a click on what the view is zoomed into goes one level out. */
static unsigned int flame_click(struct ui *ui, int row, int col, bool twice)
{
	struct flame_view *v = ui->state[VIEW_FLAME];
	int level = (v->upright ? (int)v->page - 1 - row : row) + (int)v->first;
	size_t box = level < 0 ? FLAME_NONE : flame_at(&v->flame, (uint32_t)level, col);

	/* The first click has zoomed, and something else is there now. */
	if (box == FLAME_NONE || twice)
		return UI_REDRAW;
	go_box(v, box);
	if (v->at == v->top && v->top)
		return zoom(v, v->calls.tree.nodes[v->top].parent);
	return v->at == v->top ? UI_REDRAW : zoom(v, v->at);
}

static const struct profile_func *flame_function(const struct ui *ui)
{
	const struct flame_view *v = ui->state[VIEW_FLAME];

	return v->at && !calltree_is_process(&v->calls, v->at) ? calltree_func(&v->calls, v->at)
							       : NULL;
}

static unsigned int flame_key(struct ui *ui, enum action action)
{
	struct flame_view *v = ui->state[VIEW_FLAME];

	switch (action) {
	case ACTION_BACK:
		return v->top ? zoom(v, v->calls.tree.nodes[v->top].parent) : ui_zoom_out(ui);
	case ACTION_FLAME_TURN:
		v->upright = !v->upright;
		return UI_REDRAW;
	case ACTION_FLAME_COLOR:
		v->coloring = (v->coloring + 1) % (v->compared ? COLORINGS : COLOR_DIFF);
		return UI_REDRAW;
	case ACTION_FLIP:
		v->callers = !v->callers;
		v->cursor.depth = v->zoom.depth = 0;
		v->first = 0;
		return UI_RELOAD;
	case ACTION_ZOOM_MODULE:
		return flame_function(ui) && v->calls.tree.count
			       ? ui_zoom_module(ui, calltree_func(&v->calls, v->at)->module)
			       : 0;
	case ACTION_SAME_NAME:
		return search_func(ui, flame_function(ui));
	default:
		return v->flame.count ? move(v, action) : 0;
	}
}

/* The node behind it in the order of the paths, below top and round again. */
static uint32_t node_after(const struct tree_node *nodes, uint32_t node, uint32_t top)
{
	if (nodes[node].first_child)
		return nodes[node].first_child;
	while (node != top && !nodes[node].next)
		node = nodes[node].parent;
	return node == top ? top : nodes[node].next;
}

struct finder {
	struct ui *ui;
	int step;
	bool here, found;
};

/* From the cursor on, which is where flame_sort would have it. */
static int find_seen(struct tree_part *part, void *arg)
{
	struct finder *f = arg;
	struct flame_view *v = f->ui->state[VIEW_FLAME];
	const struct tree *tree = query_part_tree(part);
	uint32_t top, at, found;
	int err = flame_seen(part, v);

	if (err)
		return err;
	top = treepath_node(&v->zoom, tree);
	at = treepath_node(&v->cursor, tree);
	if (!treepath_below(tree, at, top))
		at = top;
	err = treepath_find(part, at, top, f->step, f->here, &v->found, &found);
	f->found = !err && found;
	if (f->found)
		treepath_set(&v->cursor, tree, found);
	return err;
}

/* Nodes that are too small to be seen are not loaded: the profile is searched again. The same
 * pass counts the matches, as flame_load does. */
static bool find_in_part(struct ui *ui, int step, bool here)
{
	struct flame_view *v = ui->state[VIEW_FLAME];
	struct profile *p = ui_profile(ui);
	struct finder f = {.ui = ui, .step = step, .here = here};
	int err;

	profile_lock(p);
	err = search_total_judge(&v->found, ui, p);
	if (!err)
		err = calltree_load_part(&v->calls, ui, p, v->callers, find_seen, &f);
	if (!err && !v->calls.part)
		err = search_total_in_tree(&v->found, &v->calls.tree,
					   treepath_node(&v->zoom, &v->calls.tree));
	profile_unlock(p);
	if (!err)
		err = flame_sort(ui);
	if (err)
		ui_notice(ui, "%s", strerror(-err));
	return f.found;
}

static uint32_t find_in_whole(const struct ui *ui, int step, bool here)
{
	const struct flame_view *v = ui->state[VIEW_FLAME];
	const struct tree_node *nodes = v->calls.tree.nodes;
	uint32_t at = v->at, found = 0;

	/* Backwards: the last match before one comes round to the cursor. */
	for (uint32_t i = 0; i < v->calls.tree.count; i++) {
		if (!here || i)
			at = node_after(nodes, at, v->top);
		if (at == v->at && (i || !here))
			break;
		if (!at || !search_matches_func(ui, calltree_func(&v->calls, at)))
			continue;
		found = at;
		if (step > 0)
			break;
	}
	return found;
}

static unsigned int flame_find_match(struct ui *ui, int step, bool here)
{
	struct flame_view *v = ui->state[VIEW_FLAME];
	uint32_t found;

	if (!v->calls.tree.count)
		return 0;
	/* Also with the whole tree, when the matches of this search are not counted yet. */
	if ((v->calls.part || (v->columns && !search_total_counted(&v->found, ui))) &&
	    find_in_part(ui, step, here))
		return UI_REDRAW;
	/* It may have become more than is easily had in part. */
	found = v->calls.part ? 0 : find_in_whole(ui, step, here);
	if (!found)
		return 0;
	/* Before the first drawing it is counted by flame_load. */
	return go_node(v, found) | (search_total_counted(&v->found, ui) ? 0 : UI_RELOAD);
}

static bool flame_process(const struct ui *ui, pid_t *pid, uint64_t *image)
{
	const struct flame_view *v = ui->state[VIEW_FLAME];

	return v->calls.tree.count && calltree_process(&v->calls, v->at, pid, image);
}

static bool flame_details(const struct ui *ui, struct grid *g, int row)
{
	const struct flame_view *v = ui->state[VIEW_FLAME];
	const struct tree_node *nodes = v->calls.tree.nodes;
	struct framedetails d = {.source = true};

	if (v->pane || !v->at || !v->calls.tree.count)
		return false;
	d.func = calltree_func(&v->calls, v->at);
	d.self = v->callers ? -1 : percent_of(nodes[v->at].self, v->calls.samples);
	d.total = percent_of(nodes[v->at].total, v->calls.samples);
	framedetails_draw(&d, g, row);
	return true;
}

/* Before it is drawn for the first time there are no boxes, and all of the tree. */
static unsigned int flame_select(struct ui *ui, uint64_t func)
{
	struct flame_view *v = ui->state[VIEW_FLAME];
	uint32_t best = calltree_heaviest(&v->calls, func, v->top, false);

	if (!best || (v->columns && flame_find(&v->flame, best) == FLAME_NONE))
		return 0;
	return go_node(v, best);
}

static unsigned int flame_place(struct ui *ui, struct view_place *place, bool back)
{
	struct flame_view *v = ui->state[VIEW_FLAME];

	if (back) {
		v->first = (uint32_t)place->id[0];
		if (place->more)
			memcpy(&v->cursor, place->more, sizeof(v->cursor));
		return UI_RESORT;
	}
	place->id[0] = v->first;
	place->more = malloc(sizeof(v->cursor));
	if (place->more)
		memcpy(place->more, &v->cursor, sizeof(v->cursor));
	return 0;
}

static void flame_copy(const struct ui *ui, char *to, size_t size)
{
	const struct flame_view *v = ui->state[VIEW_FLAME];

	calltree_path(&v->calls, v->at, v->callers, to, size);
}

const struct view_ops flame_view = {
	.title = "Flame",
	.open = flame_open,
	.close = flame_close,
	.load = flame_load,
	.sort = flame_sort,
	.draw = flame_draw,
	.key = flame_key,
	.find = flame_find_match,
	.place = flame_place,
	.function = flame_function,
	.select = flame_select,
	.plain = tree_plain_whole,
	.copy = flame_copy,
	.details = flame_details,
	.process = flame_process,
	.click = flame_click,
};
