// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Drawing of Procs: its rows, and below them the functions of the row under the cursor.
 */
#include "tui/views/procs_priv.h"

#include <stdio.h>

#include "tui/profile/language.h"
#include "tui/util/share.h"
#include "tui/views/procline.h"

#define HISTORY_COLS 118 /* below, the change takes the place of the history */
#define NAMES_MAX    44	 /* cells for names of groups, which come first */
#define NS_PER_SEC   1000000000ULL

unsigned int procs_cpus(const struct ui *ui)
{
	bool machine = ui->config.units == UNITS_MACHINE && ui->header.last.ncpus &&
		       profile_is_time(&ui->header.last) && ui->measure == MEASURE_CPU;

	return machine ? ui->header.last.ncpus : 1;
}

void procs_row_name(const struct ui *ui, const struct procs *v, const struct procs_row *row,
		    char *to, size_t size)
{
	if (ui->grouping == GROUP_CPU)
		snprintf(to, size, "%s", row->proc->comm);
	else if (row->group)
		snprintf(to, size, "%s%s", row->proc->cmdline,
			 row->proc->exited ? " (exited)" : "");
	else if (procs_counts_several(v, row))
		snprintf(to, size, "%d %s and below", (int)row->proc->pid, row->proc->comm);
	else
		snprintf(to, size, "%s%d %s", row->data.tid ? "thread " : "",
			 row->data.tid ? (int)row->data.tid : (int)row->proc->pid,
			 row->data.tid ? row->thread : row->proc->comm);
}

/* A full block is one CPU busy all the slice long, or the busiest of those shown when that is more.
 */
static double history_scale(const struct ui *ui, const struct procs *v, int bars)
{
	double most =
		ui->measure == MEASURE_CPU
			? ui->header.last.frequency * (double)ui->header.last.elapsed / NS_PER_SEC
			: (double)ui->header.last.elapsed / 1e6;

	for (size_t i = 0; i < v->list.count; i++)
		for (int k = PROC_HISTORY - bars; k < PROC_HISTORY; k++)
			if (v->rows.row[i].data.history[k] > most)
				most = v->rows.row[i].data.history[k];
	return most;
}

/* Room for the command comes first, and a column that says nothing needs none. */
static bool shows_groups(const struct procs *v)
{
	for (size_t i = 0; i < v->list.count; i++)
		if (v->rows.row[i].proc->group[0])
			return true;
	return false;
}

static bool shows_locks(const struct procs *v)
{
	for (size_t i = 0; i < v->list.count; i++)
		if (v->rows.row[i].data.locks[STACK_LOCK_NONE] < v->rows.row[i].data.walks)
			return true;
	return false;
}

/* The time that the bars of the histories cover, in place of the column's title. */
static void draw_span(const struct ui *ui, const struct procs *v, struct grid *g, int row,
		      const int *width)
{
	const int cells = width[PROCS_HISTORY] - 1;
	int order[PROCS_COLUMNS], col = 0;
	char text[32];

	columns_order(v->columns, PROCS_COLUMNS, order);
	for (int k = 0; order[k] != PROCS_HISTORY; k++)
		col += width[order[k]];
	if (cells < 1)
		return;
	snprintf(text, sizeof(text), "LAST %.0f s", cells * ui->interval);
	if (grid_width(g, text) <= cells)
		grid_fit(g, row, col, cells, ROLE_HEADER, text);
}

/* As far as the longest command that is seen. */
static int scroll_of(struct procs *v, struct grid *g, int n, int width)
{
	int most = 0;

	for (int i = 0; i < n; i++) {
		const struct procs_row *row = &v->rows.row[list_at(&v->list, i)];
		int over = grid_width(g, row->proc->cmdline) - width + 1;

		/* The first step only brings back the folder of the program. */
		if (over > 0 && over + PROCLINE_SCROLL > most)
			most = over + PROCLINE_SCROLL;
	}
	v->scroll_max = (most + PROCLINE_SCROLL - 1) / PROCLINE_SCROLL * PROCLINE_SCROLL;
	if (v->scroll > v->scroll_max)
		v->scroll = v->scroll_max;
	return v->scroll;
}

static void draw_rows(const struct ui *ui, struct procs *v, struct grid *g, int top, int rows)
{
	unsigned int hidden = shows_groups(v) ? 0 : 1U << PROCS_GROUP;
	int width[PROCS_COLUMNS], n;
	struct procline line = {ui, 0, 0, v->rows.past, procs_cpus(ui)};

	if (!v->rows.cpus)
		hidden |= 1U << PROCS_CPUS;
	if (!v->rows.times)
		hidden |= 1U << PROCS_STATE | 1U << PROCS_WAITS;
	/* All waits are in the kernel. */
	if (ui->measure == MEASURE_OFF)
		hidden |= 1U << PROCS_KERNEL;
	if (!shows_locks(v))
		hidden |= 1U << PROCS_LOCK;
	/* The change says more than the last seconds, where there is not room for both. */
	if (!ui->scrub.diff)
		hidden |= 1U << PROCS_CHANGE;
	else if (g->cols < HISTORY_COLS)
		hidden |= 1U << PROCS_HISTORY;
	hidden |= config_hidden(&ui->config, VIEW_PROCS, v->columns, PROCS_COLUMNS) |
		  config_hidden(&ui->config, VIEW_PROCS, procs_default, PROCS_COLUMNS);
	config_place(&ui->config, VIEW_PROCS, v->columns, PROCS_COLUMNS);
	/* Names of groups come first in their rows. */
	v->columns[PROCS_COMMAND].max = procs_default[PROCS_COMMAND].max;
	if (ui->grouping && ui->grouping != GROUP_CPU) {
		v->columns[PROCS_COMMAND].place = 0;
		v->columns[PROCS_COMMAND].max = NAMES_MAX;
	}
	for (int i = 0; i < PROCS_COLUMNS; i++)
		v->columns[i].wanted = i == (int)v->sorted;
	columns_fit(v->columns, PROCS_COLUMNS, g->cols, hidden, width);
	columns_header(g, top, v->columns, PROCS_COLUMNS, width, (int)v->sorted, v->inverted);
	draw_span(ui, v, g, top, width);
	n = list_fit(&v->list, rows);
	if (width[PROCS_HISTORY])
		line.most = history_scale(ui, v, width[PROCS_HISTORY] - 1);
	v->command_cells = width[PROCS_COMMAND];
	line.scroll = scroll_of(v, g, n, v->command_cells);
	for (int i = 0; i < n; i++)
		columns_row(g, top + 1 + i, v->columns, PROCS_COLUMNS, width, procline_cell, &line,
			    &v->rows.row[list_at(&v->list, i)]);
	list_draw_range(&v->list, g, top);
	list_draw_scroll(&v->list, g, top + 1, n, g->cols - 1);
	list_mark(&v->list, g, top, n, true);
}

/* A text in a rule, in front of column end; returns the column in front of which the next ends. */
static int rule_put(struct grid *g, int row, int end, enum role role, const char *text)
{
	int width = grid_width(g, text), from = end - width - 2;

	if (!width || from < g->cols / 3)
		return end;
	grid_put(g, row, from, 1, role, " ");
	grid_put(g, row, from + 1, width, role, text);
	grid_put(g, row, from + 1 + width, 1, role, " ");
	return from - 1;
}

/* What the functions are of, in the room that the right end of the rule leaves. */
static void draw_whose(const struct ui *ui, const struct procs *v, struct grid *g, int row, int end)
{
	static const char *const headings[] = {": hottest functions ", ": functions ", " "};
	const struct procs_row *chosen = &v->rows.row[v->list.cursor];
	const char *const *heading = headings;
	char name[280];
	int col;

	name[0] = ' ';
	procs_row_name(ui, v, chosen, name + 1, sizeof(name) - 1);
	while (2 + grid_width(g, name) + grid_width(g, *heading) >= end && **heading == ':')
		heading++;
	col = 2 + grid_cut(g, row, 2, end - 4, ROLE_TITLE, name);
	grid_put(g, row, col, end - col, ROLE_TITLE, *heading);
}

static void draw_between(const struct ui *ui, const struct procs *v, struct grid *g, int row)
{
	const struct procs_row *chosen = &v->rows.row[v->list.cursor];
	const char *frames = ui->hide_kernel && ui->hide_user ? ", no frames"
			     : ui->hide_kernel		      ? ", user frames only"
			     : ui->hide_user		      ? ", kernel frames only"
							      : "";
	const char *whole = ui->grouping == GROUP_CPU	      ? "CPU"
			    : procs_counts_several(v, chosen) ? "group"
			    : chosen->data.tid		      ? "thread"
							      : "process";
	char range[LIST_RANGE], samples[48], of[80];
	int end = g->cols - 2;

	list_range(&v->below->list, range);
	ui_samples(ui, v->below->samples, samples, sizeof(samples));
	snprintf(of, sizeof(of), "%% of %s%s", whole, frames);
	grid_line(g, row, 0, g->cols, ROLE_BORDER, GLYPH_HLINE);
	if (v->below->samples)
		end = rule_put(g, row, end,
			       ui->measure == MEASURE_CPU && v->below->samples < SHARE_FEW
				       ? ROLE_WARN
				       : ROLE_DIM,
			       samples);
	/* The range comes first. */
	if (end - grid_width(g, of) - grid_width(g, range) - 5 >= g->cols * 2 / 5)
		end = rule_put(g, row, end, ROLE_DIM, of);
	end = rule_put(g, row, end, ROLE_DIM, range);
	end = rule_put(g, row, end, ROLE_LANGUAGE, v->locks);
	draw_whose(ui, v, g, row, end);
}

void procs_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	struct procs *v = ui->state[VIEW_PROCS];
	int upper = rows >= 9 ? rows / 2 : rows;
	const char *remedy;

	/* Few processes leave their room to the functions. */
	if (upper < rows && v->list.count && (int)v->list.count + 1 < upper)
		upper = (int)v->list.count + 1 < 4 ? 4 : (int)v->list.count + 1;
	draw_rows(ui, v, g, top, upper);
	if (v->list.count == 0) {
		grid_put(g, top + 2, 2, g->cols, ROLE_TITLE, procline_nothing(ui, &remedy));
		grid_put(g, top + 3, 2, g->cols, ROLE_DIM, remedy);
		return;
	}
	if (upper == rows)
		return;
	functable_draw(ui, v->below, g, top + upper + 1, rows - upper - 1, false);
	draw_between(ui, v, g, top + upper);
}

/* Why a process has no frames of its language, else a command that its row had no room for. */
bool procs_details(const struct ui *ui, struct grid *g, int row)
{
	const struct procs *v = ui->state[VIEW_PROCS];
	const struct procs_row *of = v->list.count ? &v->rows.row[v->list.cursor] : NULL;
	int col = 1;

	if (of && !of->group && of->proc->mute) {
		col += grid_printf(g, row, 1, g->cols - 1, ROLE_WARN, "%s? ",
				   language_mark(of->proc->mute));
		grid_printf(g, row, col, g->cols - col, ROLE_TEXT, "no frames of %s",
			    of->proc->why);
		return true;
	}
	if (!of || grid_width(g, of->proc->cmdline) < v->command_cells)
		return false;
	if (!of->group)
		col += grid_printf(g, row, 1, g->cols - 1, ROLE_TITLE, "%d ", (int)of->proc->pid);
	grid_fit(g, row, col, g->cols - col, ROLE_TEXT, of->proc->cmdline);
	return true;
}
