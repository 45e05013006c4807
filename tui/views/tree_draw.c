// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Drawing of Tree and Callers: guides, runs of frames, shares, and the frame under the cursor.
 */
#include "tui/views/tree_priv.h"

#include <stdio.h>
#include <string.h>

#include "tui/ui/framedetails.h"
#include "tui/ui/names.h"
#include "tui/ui/selection.h"
#include "tui/util/share.h"

#define SHOWN_DEPTH  4	/* levels of guides that stay in sight of the cursor's row */
#define DETAILS_ROWS 18 /* of the view: with less there is no pane at the bottom */
#define GUIDES_MAX   100
#define RUN_SHOWN    2600 /* bytes of a row of two names and what is between */

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

/* Without a mark it is a function of the user, or says what it is by its name. */
static bool has_mark(const struct profile_func *func)
{
	return func_is_language(func->kind) || func->kind == FUNC_KERNEL ||
	       func->kind == FUNC_INLINE || func->kind == FUNC_JIT;
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
	const struct profile_func *marked = treerun_marked(&v->calls, &row->run);
	enum role role = func->kind == FUNC_END ? ROLE_BROKEN : names_role(func, ROLE_TEXT);
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
	if (marked && has_mark(marked)) {
		col = put(g, y, col, end, names_mark_role(marked), names_mark(marked));
		col = put(g, y, col, end, ROLE_TEXT, " ");
	}
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
	ui_count(ui, row->total, text, sizeof(text));
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
			 names_module(func));
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

static void draw_details(const struct ui *ui, const struct tree_view *v, struct grid *g, int top)
{
	const struct tree_row *row = &v->rows.row[v->list.cursor];
	const struct profile_func *func = calltree_func(&v->calls, row->node);
	const struct tree_node *node = &v->calls.tree.nodes[row->node];
	const struct tree_node *first = &v->calls.tree.nodes[row->run.first];
	const struct tree_node *parent = &v->calls.tree.nodes[first->parent];
	char name[512], text[32], amount[40];

	ui_amount(ui, row->total, amount, sizeof(amount));
	names_show(func, name, sizeof(name));
	grid_line(g, top, 0, g->cols, ROLE_BORDER, GLYPH_HLINE);
	grid_printf(g, top, 2, g->cols - 4, ROLE_TITLE, " %s ", name);
	snprintf(text, sizeof(text), " self %.1f%% ", 100 * calltree_share(&v->calls, row->self));
	grid_printf(g, top + 1, 0, g->cols, ROLE_TEXT,
		    "%s total %.1f%%  %s  of %s %.1f%%  %s %u  %s", v->callers ? "" : text,
		    100 * calltree_share(&v->calls, row->total), amount,
		    v->callers ? "callee" : "parent",
		    parent->total ? 100.0 * (double)row->total / (double)parent->total : 100.0,
		    v->callers ? "callers" : "children", node->nchildren, func->module);
	calltree_draw_path(&v->calls, row->node, g, top + 2);
}

void tree_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	struct tree_view *v = tree_state(ui);
	int count, sorted;
	const struct column *columns = tree_columns_in(v, &count, &sorted);
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
	if (config_hides(&ui->config, v->callers ? VIEW_CALLERS : VIEW_TREE, "SAMPLES"))
		hidden |= 1U << TREE_SAMPLES;
	columns_fit(columns, count, g->cols, hidden, width);
	v->columns[TREE_SAMPLES].title = ui_count_title(ui);
	columns_header(g, top, columns, count, width, sorted, v->inverted);
	if (ui->of_parent)
		grid_right(g, top, width[TREE_MARK], width[TREE_TOTAL] - 1,
			   v->sorted == TREE_TOTAL ? ROLE_HEADER_SORT : ROLE_HEADER, "PARENT%");
	n = list_fit(&v->list, rows);
	/* Deep below, the guides to the left make room for the names. */
	room = (uint32_t)width[TREE_CALLS] / 4;
	if (v->list.count && v->rows.row[v->list.cursor].indent > room)
		skip = v->rows.row[v->list.cursor].indent - (room > SHOWN_DEPTH ? SHOWN_DEPTH : 0);
	for (int i = 0; i < n; i++)
		draw_row(ui, v, &v->rows.row[v->list.top + (size_t)i], g, top + 1 + i, width, skip);
	ui_draw_zoom(ui, g, top - 1, ui_draw_samples(ui, g, top - 1, v->calls.samples, &v->list),
		     tree_function(ui));
	list_draw_scroll(&v->list, g, top + 1, n, g->cols - 1);
	list_mark(&v->list, g, top, n, true);
	if (v->list.count == 0)
		grid_put(g, top + 1, 2, g->cols - 2, ROLE_DIM, selection_nothing(ui));
	if (details && !v->rows.row[v->list.cursor].small)
		draw_details(ui, v, g, top + rows);
}

bool tree_details(const struct ui *ui, struct grid *g, int y)
{
	const struct tree_view *v = tree_state(ui);
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
