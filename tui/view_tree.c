// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tree: the calls from the outermost function down. Chains without a branch are not indented:
 * stacks of a hundred frames are common and screens of two hundred columns are not.
 */
#include "tui/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/list.h"
#include "tui/names.h"
#include "tui/openset.h"

#define LIMIT	     0.005 /* of all samples: nodes below are summed up in one row */
#define HOT	     0.02  /* nodes from here on are open at first */
#define SHOWN_DEPTH  4	   /* levels of guides that stay in sight of the cursor's row */
#define DETAILS_ROWS 18	   /* of the view: with less there is no pane at the bottom */
#define REST_OF_PATH 0x9e3779b97f4a7c15ULL
#define GUIDES_MAX   100

enum tree_column {
	TREE_MARK,
	TREE_TOTAL,
	TREE_SELF,
	TREE_SAMPLES,
	TREE_BAR,
	TREE_CALLS,
	TREE_MODULE,
	TREE_COLUMNS
};

static const struct column columns[TREE_COLUMNS] = {
	[TREE_MARK] = {.title = "", .min = 2, .max = 2, .keep = true},
	[TREE_TOTAL] = {.title = "TOTAL%", .min = 7, .max = 8, .right = true, .keep = true},
	[TREE_SELF] = {.title = "SELF%", .min = 7, .max = 8, .right = true, .keep = true},
	[TREE_SAMPLES] = {.title = "SAMPLES", .min = 8, .max = 8, .right = true},
	[TREE_BAR] = {.title = "BAR", .min = 9, .max = 13},
	[TREE_CALLS] = {.title = "CALL TREE", .min = 28, .max = 400, .keep = true, .weight = 4},
	[TREE_MODULE] = {.title = "MODULE", .min = 11, .max = 24},
};

struct tree_row {
	uint32_t node;	 /* of the tree; the parent of the nodes in a row of small ones */
	uint32_t parent; /* row number + 1, 0: none */
	uint32_t small;	 /* so many nodes below the limit; 0: the row is a node */
	uint32_t indent; /* levels */
	uint64_t path;
	uint64_t self, total;
	bool open, closed; /* neither: it has no children */
	bool chained;	   /* the only child: drawn right below its parent, without a guide */
	bool more;	   /* siblings follow */
};

struct tree_view {
	struct names *names;
	const struct profile_func **funcs; /* by node of tree */
	struct tree tree;
	uint64_t samples;
	uint32_t hottest; /* node, 0: none */
	struct openset *open;
	struct tree_row *rows;
	size_t room;
	struct list list;
	uint64_t cursor; /* path under the cursor */
	pid_t zoomed;	 /* the process that `open` is about, 0: all */
	uint64_t image;
};

static void forget(struct tree_view *v)
{
	free(v->tree.nodes);
	free(v->funcs);
	v->tree = (struct tree){0};
	v->funcs = NULL;
	v->samples = 0;
	v->hottest = 0;
	v->list.count = 0;
	names_clear(v->names);
}

static void tree_close(void *state)
{
	struct tree_view *v = state;

	if (!v)
		return;
	if (v->names)
		forget(v);
	names_free(v->names);
	openset_free(v->open);
	free(v->rows);
	free(v);
}

static void *tree_open(void)
{
	struct tree_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->names = names_new();
	v->open = openset_new();
	if (!v->names || !v->open) {
		tree_close(v);
		return NULL;
	}
	return v;
}

static int copy_names(struct tree_view *v, const struct profile *p)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	v->funcs = calloc(v->tree.count + 1, sizeof(*v->funcs));
	if (!v->funcs)
		return -ENOMEM;
	for (uint32_t i = 1; i < v->tree.count; i++) {
		v->funcs[i] = names_get(v->names, p, v->tree.nodes[i].func);
		if (!v->funcs[i])
			return -ENOMEM;
		if (v->hottest == 0 || v->tree.nodes[i].self > v->tree.nodes[v->hottest].self)
			v->hottest = i;
	}
	return 0;
}

static int tree_load(struct ui *ui, const struct profile *p)
{
	struct tree_view *v = ui->state[VIEW_TREE];
	pid_t zoomed = ui->zoom.on ? ui->zoom.pid : 0;
	struct query q;
	int err;

	forget(v);
	if (zoomed != v->zoomed || (zoomed && ui->zoom.image != v->image)) {
		openset_reset(v->open, OPENSET_HOT);
		v->zoomed = zoomed;
		v->image = ui->zoom.image;
	}
	if (!ui_query(ui, p, &q))
		return 0;
	err = query_tree(p, &q, &v->tree);
	if (err) {
		v->tree = (struct tree){0};
		return err;
	}
	v->samples = query_samples(p, &q, NULL);
	err = copy_names(v, p);
	if (err)
		forget(v);
	return err;
}

/* --- rows ---------------------------------------------------------------------------------- */

static double share(const struct tree_view *v, uint64_t n)
{
	return v->samples ? (double)n / (double)v->samples : 0;
}

static bool small(const struct tree_view *v, uint32_t node)
{
	return share(v, v->tree.nodes[node].total) < LIMIT;
}

static struct tree_row *row_add(struct tree_view *v)
{
	if (v->list.count == v->room) {
		size_t room = v->room ? 2 * v->room : 256;
		struct tree_row *rows = realloc(v->rows, room * sizeof(*rows));

		if (!rows)
			return NULL;
		v->rows = rows;
		v->room = room;
	}
	memset(&v->rows[v->list.count], 0, sizeof(*v->rows));
	return &v->rows[v->list.count++];
}

/* The row of one node, a child of row `parent` (+1, 0: of the root) that has `lines` lines. */
static int add_node(struct tree_view *v, uint32_t node, size_t parent, uint32_t lines, bool more)
{
	const struct tree_node *n = &v->tree.nodes[node];
	struct tree_row *row = row_add(v);
	bool hot = share(v, n->total) >= HOT;

	if (!row)
		return -ENOMEM;
	row->node = node;
	row->parent = (uint32_t)parent;
	row->path = n->path;
	row->self = n->self;
	row->total = n->total;
	row->chained = lines == 1;
	row->more = more;
	row->indent = (parent ? v->rows[parent - 1].indent : 0) + !row->chained;
	if (n->first_child) {
		row->open = openset_get(v->open, n->path, hot);
		row->closed = !row->open;
	}
	return 0;
}

static int add_small(struct tree_view *v, uint32_t node, size_t parent, uint32_t lines)
{
	struct tree_row *row = row_add(v);

	if (!row)
		return -ENOMEM;
	row->node = node;
	row->parent = (uint32_t)parent;
	row->chained = lines == 1;
	row->indent = (parent ? v->rows[parent - 1].indent : 0) + !row->chained;
	row->path = v->tree.nodes[node].path ^ REST_OF_PATH;
	for (uint32_t c = v->tree.nodes[node].first_child; c; c = v->tree.nodes[c].next) {
		if (!small(v, c))
			continue;
		row->small++;
		row->self += v->tree.nodes[c].self;
		row->total += v->tree.nodes[c].total;
	}
	return 0;
}

/* Lines that the children of a node take when they are all closed. */
static uint32_t child_lines(const struct tree_view *v, uint32_t node, bool *rest)
{
	uint32_t lines = 0;

	*rest = false;
	for (uint32_t c = v->tree.nodes[node].first_child; c; c = v->tree.nodes[c].next) {
		if (small(v, c))
			*rest = true;
		else
			lines++;
	}
	return lines + *rest;
}

/* Children come sorted, so that the small ones are the last. Walked without recursion: a tree is
 * as deep as the deepest stack. */
static int flatten(struct tree_view *v)
{
	const struct tree_node *nodes = v->tree.nodes;
	uint32_t node = 0;
	size_t parent = 0; /* row + 1 of node, 0: the root */
	uint32_t child = nodes[0].first_child;

	for (;;) {
		bool rest;
		uint32_t lines = child_lines(v, node, &rest);
		bool last;

		if (child && !small(v, child)) {
			last = !nodes[child].next || (small(v, nodes[child].next) && !rest);
			if (add_node(v, child, parent, lines, !last))
				return -ENOMEM;
			if (v->rows[v->list.count - 1].open) {
				node = child;
				parent = v->list.count;
				child = nodes[child].first_child;
			} else {
				child = nodes[child].next;
			}
			continue;
		}
		if (child && add_small(v, node, parent, lines))
			return -ENOMEM;
		if (parent == 0)
			return 0;
		child = nodes[node].next;
		parent = v->rows[parent - 1].parent;
		node = parent ? v->rows[parent - 1].node : 0;
	}
}

static int tree_sort(struct ui *ui)
{
	struct tree_view *v = ui->state[VIEW_TREE];
	int err;

	v->list.count = 0;
	if (v->tree.count == 0)
		return 0;
	err = flatten(v);
	for (size_t i = 0; v->list.held && i < v->list.count; i++)
		if (v->rows[i].path == v->cursor)
			v->list.cursor = i;
	list_follow(&v->list);
	if (v->list.cursor < v->list.count)
		v->cursor = v->rows[v->list.cursor].path;
	if (ui->header.slices > 1 && v->list.count)
		v->list.held = true;
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
	for (; at; at = at->parent ? &v->rows[at->parent - 1] : NULL)
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

static void draw_name(const struct ui *ui, const struct tree_view *v, const struct tree_row *row,
		      struct grid *g, int y, int col, int end)
{
	const struct profile_func *func = v->funcs[row->node];
	enum role role = func->kind == FUNC_END ? ROLE_BROKEN : ROLE_TEXT;
	char name[512];
	int need;

	names_show(func, name, sizeof(name));
	if (ui_matches(ui, name))
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
	if (func->kind == FUNC_KERNEL)
		col = put(g, y, col, end, ROLE_KERNEL, "k ");
	else if (func->kind == FUNC_JIT)
		col = put(g, y, col, end, ROLE_USER, "j ");
	need = grid_width(g, name);
	if (need > end - col)
		need = end - col;
	grid_fit(g, y, col, need, role, name);
	col += need;
	if (row->node == v->hottest)
		put(g, y, col, end, ROLE_HEAT_5, end - col >= 13 ? "  <== hottest" : "  <==");
	else if (row->closed && end - col > 8)
		grid_printf(g, y, col, end - col, ROLE_DIM, "  (%u)",
			    v->tree.nodes[row->node].nchildren);
}

static void draw_row(const struct ui *ui, const struct tree_view *v, const struct tree_row *row,
		     struct grid *g, int y, const int *width, uint32_t skip)
{
	const struct profile_func *func = row->small ? NULL : v->funcs[row->node];
	double total = share(v, row->total);
	int col = width[TREE_MARK];
	char text[64];
	int end;

	if (func && func->kind == FUNC_END)
		grid_put(g, y, 0, 1, ROLE_BROKEN, "!");
	snprintf(text, sizeof(text), "%.1f", 100 * total);
	grid_right(g, y, col, width[TREE_TOTAL] - 1, ui_heat(total), text);
	col += width[TREE_TOTAL];
	snprintf(text, sizeof(text), "%.1f", 100 * share(v, row->self));
	grid_right(g, y, col, width[TREE_SELF] - 1, ROLE_TEXT, text);
	col += width[TREE_SELF];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)row->total);
	grid_right(g, y, col, width[TREE_SAMPLES] - 1, ROLE_TEXT, text);
	col += width[TREE_SAMPLES];
	grid_bar(g, y, col, width[TREE_BAR] - 1, ui_heat(total), total);
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
		 row->small == 1 ? "frame" : "frames", 100 * LIMIT);
	put(g, y, col, end, ROLE_DIM, text);
}

/* main > run > here, from the end that fits. */
static void draw_path(const struct tree_view *v, const struct tree_row *row, struct grid *g, int y)
{
	uint32_t chain[64];
	int n = 0, first = 0, room = g->cols - 10, col;

	for (uint32_t at = row->node; at && n < 64; at = v->tree.nodes[at].parent)
		chain[n++] = at;
	col = grid_put(g, y, 0, g->cols, ROLE_DIM, " path   ");
	for (first = 0; first < n; first++) {
		room -= grid_width(g, v->funcs[chain[first]]->name) + 3;
		if (room < 0)
			break;
	}
	if (first < n)
		col += grid_printf(g, y, col, g->cols - col, ROLE_DIM, "%s > ",
				   grid_glyph(g, GLYPH_ELLIPSIS));
	for (int i = first - 1; i >= 0; i--)
		col += grid_printf(g, y, col, g->cols - col, i ? ROLE_TEXT : ROLE_TITLE, "%s%s",
				   v->funcs[chain[i]]->name, i ? " > " : "");
}

static void draw_details(const struct tree_view *v, struct grid *g, int top)
{
	const struct tree_row *row = &v->rows[v->list.cursor];
	const struct profile_func *func = v->funcs[row->node];
	const struct tree_node *node = &v->tree.nodes[row->node];
	const struct tree_node *parent = &v->tree.nodes[node->parent];
	char name[512];

	names_show(func, name, sizeof(name));
	grid_line(g, top, 0, g->cols, ROLE_BORDER, GLYPH_HLINE);
	grid_printf(g, top, 2, g->cols - 4, ROLE_TITLE, " %s ", name);
	grid_printf(g, top + 1, 0, g->cols, ROLE_TEXT,
		    " self %.1f%%  total %.1f%%  %llu samples  of parent %.1f%%  children %u  %s",
		    100 * share(v, row->self), 100 * share(v, row->total),
		    (unsigned long long)row->total,
		    parent->total ? 100.0 * (double)row->total / (double)parent->total : 100.0,
		    node->nchildren, func->module);
	draw_path(v, row, g, top + 2);
}

static void tree_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	struct tree_view *v = ui->state[VIEW_TREE];
	int width[TREE_COLUMNS];
	int details = rows >= DETAILS_ROWS && v->list.count ? 3 : 0;
	uint32_t skip = 0, room;

	ui_draw_zoom(ui, g, top++);
	rows -= 1 + details;
	columns_fit(columns, TREE_COLUMNS, g->cols, ui->hide_modules ? 1U << TREE_MODULE : 0,
		    width);
	columns_header(g, top, columns, TREE_COLUMNS, width, TREE_TOTAL, false);
	list_settle(&v->list, rows > 1 ? (size_t)rows - 1 : 1);
	/* Deep below, the guides to the left make room for the names. */
	room = (uint32_t)width[TREE_CALLS] / 4;
	if (v->list.count && v->rows[v->list.cursor].indent > room)
		skip = v->rows[v->list.cursor].indent - (room > SHOWN_DEPTH ? SHOWN_DEPTH : 0);
	for (int i = 1; i < rows; i++) {
		size_t at = v->list.top + (size_t)i - 1;

		if (at >= v->list.count)
			break;
		draw_row(ui, v, &v->rows[at], g, top + i, width, skip);
		if (at == v->list.cursor) {
			grid_put(g, top + i, 0, 1, ROLE_CURSOR, ">");
			grid_role(g, top + i, 0, g->cols, ROLE_CURSOR);
		}
	}
	if (v->list.count == 0)
		grid_put(g, top + 1, 2, g->cols - 2, ROLE_DIM, "no stacks yet");
	if (details && !v->rows[v->list.cursor].small)
		draw_details(v, g, top + rows);
}

/* --- keys ---------------------------------------------------------------------------------- */

static unsigned int set_open(struct ui *ui, struct tree_row *row, bool open)
{
	struct tree_view *v = ui->state[VIEW_TREE];

	if (row->small || (!row->open && !row->closed))
		return 0;
	v->list.held = v->list.chosen = true;
	if (openset_put(v->open, row->path, open))
		ui_notice(ui, "out of memory");
	return UI_RESORT;
}

static unsigned int go_row(struct tree_view *v, size_t row)
{
	list_select(&v->list, row);
	v->cursor = v->rows[v->list.cursor].path;
	return UI_REDRAW;
}

/* Opens a node with all below it that is not small. */
static unsigned int open_subtree(struct ui *ui, const struct tree_row *row)
{
	struct tree_view *v = ui->state[VIEW_TREE];
	const struct tree_node *nodes = v->tree.nodes;
	uint32_t top = row->node, at = top;

	if (row->small)
		return 0;
	v->list.held = v->list.chosen = true;
	while (at) {
		if (nodes[at].first_child && openset_put(v->open, nodes[at].path, true))
			break;
		if (nodes[at].first_child && !small(v, nodes[at].first_child)) {
			at = nodes[at].first_child;
			continue;
		}
		while (at != top && (!nodes[at].next || small(v, nodes[at].next)))
			at = nodes[at].parent;
		if (at == top)
			break;
		at = nodes[at].next;
	}
	return UI_RESORT;
}

static unsigned int key_on_row(struct ui *ui, struct tree_view *v, enum action action)
{
	struct tree_row *row = &v->rows[v->list.cursor];

	switch (action) {
	case ACTION_TREE_TOGGLE:
		return set_open(ui, row, !row->open);
	case ACTION_TREE_OPEN:
		return set_open(ui, row, true);
	case ACTION_TREE_CLOSE:
		return set_open(ui, row, false);
	case ACTION_TREE_IN:
		if (row->open && v->list.cursor + 1 < v->list.count)
			return go_row(v, v->list.cursor + 1);
		return set_open(ui, row, true);
	case ACTION_TREE_OUT:
		if (!row->small && row->open)
			return set_open(ui, row, false);
		return row->parent ? go_row(v, row->parent - 1) : 0;
	case ACTION_TREE_SUBTREE:
		return open_subtree(ui, row);
	default:
		return 0;
	}
}

static unsigned int tree_key(struct ui *ui, enum action action)
{
	struct tree_view *v = ui->state[VIEW_TREE];

	if (list_move(&v->list, action)) {
		if (v->list.count)
			v->cursor = v->rows[v->list.cursor].path;
		return UI_REDRAW;
	}
	switch (action) {
	case ACTION_TREE_ALL:
		openset_reset(v->open, OPENSET_ALL);
		v->list.held = v->list.chosen = true;
		return UI_RESORT;
	case ACTION_TREE_NONE:
		openset_reset(v->open, OPENSET_NONE);
		v->list.held = v->list.chosen = true;
		/* The cursor's node vanishes into its outermost ancestor. */
		if (v->list.count) {
			size_t row = v->list.cursor;

			while (v->rows[row].parent)
				row = v->rows[row].parent - 1;
			go_row(v, row);
		}
		return UI_RESORT;
	case ACTION_BACK:
		ui->zoom.on = false;
		return ui_go(ui, VIEW_PROCS);
	default:
		return v->list.count ? key_on_row(ui, v, action) : 0;
	}
}

/* Nodes in the order of the screen, as if every node were open. */
static size_t all_nodes(const struct tree_view *v, uint32_t *order)
{
	const struct tree_node *nodes = v->tree.nodes;
	uint32_t at = nodes[0].first_child;
	size_t n = 0;

	while (at && n < v->tree.count) {
		if (!small(v, at)) {
			order[n++] = at;
			if (nodes[at].first_child) {
				at = nodes[at].first_child;
				continue;
			}
		}
		while (at && !nodes[at].next)
			at = nodes[at].parent;
		at = at ? nodes[at].next : 0;
	}
	return n;
}

static unsigned int tree_find(struct ui *ui, int step, bool here)
{
	struct tree_view *v = ui->state[VIEW_TREE];
	uint32_t *order = v->list.count ? calloc(v->tree.count, sizeof(*order)) : NULL;
	size_t n = order ? all_nodes(v, order) : 0;
	size_t i = 0;
	unsigned int flags = 0;

	while (i + 1 < n && order[i] != v->rows[v->list.cursor].node)
		i++;
	for (size_t tried = 0; tried < n && !flags; tried++) {
		char name[512];
		uint32_t at;

		if (!here || tried)
			i = (i + n + (size_t)step) % n;
		at = order[i];
		names_show(v->funcs[at], name, sizeof(name));
		if (!ui_matches(ui, name))
			continue;
		for (uint32_t up = v->tree.nodes[at].parent; up; up = v->tree.nodes[up].parent)
			openset_put(v->open, v->tree.nodes[up].path, true);
		v->cursor = v->tree.nodes[at].path;
		v->list.held = v->list.chosen = true;
		flags = UI_RESORT;
	}
	free(order);
	return flags;
}

const struct view_ops tree_view = {
	.title = "Tree",
	.open = tree_open,
	.close = tree_close,
	.load = tree_load,
	.sort = tree_sort,
	.draw = tree_draw,
	.key = tree_key,
	.find = tree_find,
};
