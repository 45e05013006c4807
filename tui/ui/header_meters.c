// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How busy the CPUs are, a meter each, user and kernel time in one bar. Many CPUs share rows; when
 * not even that has room, each is one cell, or all are one meter.
 */
#include "tui/ui/header_priv.h"

#include <stdio.h>
#include <string.h>

#include "tui/ui/ui.h"

#define WHOLE	    1000.0 /* of struct cpu_use */
#define METER_LEAST 16	   /* cells, with its name */
#define METER_MOST  40
#define FIGURES	    43 /* cells to the right of the meters */
#define WAITS_DEAR  1  /* percent of a CPU */
#define FIGURE_ROWS 2  /* ... and rows */
#define STACKS	    "stacks complete"
#define ROWS_SHARE  6 /* of the screen's height at most a sixth is meters */

struct meters {
	enum { METERS_BARS, METERS_CELLS, METERS_SUM } form;
	int rows, across, width; /* bars: of one with its name; cells: of a row of them */
	int label;		 /* cells of the longest name, and a blank */
	bool below;		 /* the figures have a row of their own */
};

bool header_cpu(const struct header *h, double *user, double *kernel)
{
	const struct profile_health *last = &h->last;
	double full = profile_full(last) * (profile_is_time(last) ? last->ncpus : 1);

	*user = full > 0 ? (double)last->user_samples / full : 0;
	*kernel = full > 0 ? (double)last->kernel_samples / full : 0;
	/* The samples of another event say nothing about time. */
	if (!h->nuse)
		return profile_is_time(last);
	*user = *kernel = 0;
	for (size_t i = 0; i < h->nuse; i++) {
		*user += h->use[i].user / WHOLE;
		*kernel += h->use[i].kernel / WHOLE;
	}
	*user /= (double)h->nuse;
	*kernel /= (double)h->nuse;
	return true;
}

/* As few across as the height allows, with the figures at their right if those have room. */
static bool fit_bars(struct meters *m, int n, int most, int cols)
{
	for (m->across = 1; m->across <= n; m->across++) {
		m->rows = (n + m->across - 1) / m->across;
		m->width = (cols - FIGURES) / m->across;
		if (m->rows <= most && m->width >= METER_LEAST)
			return true;
	}
	m->below = true;
	for (m->across = 1; m->across <= n; m->across++) {
		m->rows = (n + m->across - 1) / m->across;
		m->width = (cols - 1) / m->across;
		if (m->rows < most && m->width >= METER_LEAST)
			return true;
	}
	return false;
}

static struct meters meters_for(const struct header *h, const struct grid *g)
{
	struct meters m = {.form = METERS_BARS};
	int n = (int)h->nuse, most = g->rows / ROWS_SHARE;
	char last[16];

	if (most < FIGURE_ROWS)
		most = FIGURE_ROWS;
	snprintf(last, sizeof(last), "cpu%u", n ? (unsigned int)h->use[n - 1].cpu : 0U);
	m.label = (int)strlen(last) + (n > 0);
	if (n && fit_bars(&m, n, most, g->cols)) {
		m.width = m.width > METER_MOST ? METER_MOST : m.width;
		return m;
	}
	m.width = g->cols - 2 - m.label;
	m.rows = n && m.width > 0 ? (n + m.width - 1) / m.width : 0;
	m.below = true;
	m.form = METERS_CELLS;
	if (m.rows && m.rows < most)
		return m;
	m = (struct meters){METERS_SUM, 1, 1, g->cols - FIGURES, (int)strlen("cpu "), false};
	m.width = m.width < METER_LEAST ? METER_LEAST : m.width > METER_MOST ? METER_MOST : m.width;
	return m;
}

/* "cpu0 [||||||||||KK  97%]"; shares of 0..1. */
static void draw_meter(struct grid *g, int row, int col, int width, int label, const char *name,
		       double user, double kernel)
{
	int from = col + label + 1, cells = width - label - 2 - (int)strlen(" 100%");
	int users = (int)(user * cells + 0.5), both = (int)((user + kernel) * cells + 0.5);

	grid_put(g, row, col, label, ROLE_TEXT, name);
	grid_put(g, row, from - 1, 1, ROLE_TEXT, "[");
	for (int i = 0; i < both && i < cells; i++)
		grid_put(g, row, from + i, 1, i < users ? ROLE_USER : ROLE_KERNEL,
			 i >= users ? "K"
			 : g->ascii ? "#"
				    : "|");
	grid_printf(g, row, from + cells, 6, ROLE_TEXT, "%4.0f%%]", 100 * (user + kernel));
}

static void draw_bars(const struct header *h, struct grid *g, int row, const struct meters *m)
{
	for (size_t i = 0; i < h->nuse; i++) {
		const struct cpu_use *use = &h->use[i];
		char name[16];

		snprintf(name, sizeof(name), "cpu%u", use->cpu);
		draw_meter(g, row + (int)i % m->rows, 1 + (int)i / m->rows * m->width, m->width - 1,
			   m->label, name, use->user / WHOLE, use->kernel / WHOLE);
	}
}

/* A row begins with the number of its first CPU. */
static void draw_cells(const struct header *h, struct grid *g, int row, const struct meters *m)
{
	for (size_t i = 0; i < h->nuse; i++) {
		const struct cpu_use *use = &h->use[i];
		int y = row + (int)i / m->width, x = (int)i % m->width;
		double both = (use->user + use->kernel) / WHOLE;

		if (!x)
			grid_printf(g, y, 1, m->label, ROLE_TEXT, "cpu%u", use->cpu);
		grid_put(g, y, 1 + m->label + x, 1,
			 use->kernel > use->user ? ROLE_KERNEL : ROLE_USER,
			 grid_spark(g, (int)(both * (SPARK_LEVELS - 1) + 0.5)));
	}
}

static int put_use(const struct ui *ui, struct grid *g, int row, int col, int end)
{
	const bool time = profile_is_time(&ui->header.last);
	double user, kernel;
	char text[96], rate[48];

	header_rate(&ui->header.last, rate, sizeof(rate));
	if (!header_cpu(&ui->header, &user, &kernel))
		snprintf(text, sizeof(text), "%s  user -  kernel -  ", rate);
	else if (time)
		snprintf(text, sizeof(text), "user %.1f%%  kernel %.1f%%  ", 100 * user,
			 100 * kernel);
	else
		snprintf(text, sizeof(text), "%s  user %.0f%%  kernel %.0f%%  ", rate, 100 * user,
			 100 * kernel);
	return col + grid_put(g, row, col, end - col, ROLE_TEXT, text);
}

static int put_self(const struct ui *ui, struct grid *g, int row, int col)
{
	char text[48];

	snprintf(text, sizeof(text), "  stacktop %.1f%%", header_self(ui));
	return header_piece(g, row, col, g->cols, header_self(ui) > 5 ? ROLE_WARN : ROLE_TEXT,
			    text);
}

static void put_procs(const struct ui *ui, struct grid *g, int row, int col)
{
	const struct profile_health *last = &ui->header.last;
	char text[64] = "  ";

	/* That of other events stands with the CPUs. */
	if (profile_is_time(last))
		header_rate(last, text + 2, sizeof(text) - 2);
	col = header_piece(g, row, col, g->cols, ROLE_TEXT, text);
	if (last->waits) {
		const double cost = 100 * (double)last->wait_ns / (double)(last->elapsed | 1);

		/* What is left out is not silently left out. */
		snprintf(text, sizeof(text), "  waits %.1f%%%s", cost,
			 last->wait_thinned ? ", thinned" : "");
		col = header_piece(g, row, col, g->cols, cost > WAITS_DEAR ? ROLE_WARN : ROLE_DIM,
				   text);
	}
	snprintf(text, sizeof(text), "  procs %u%s", last->nprocs,
		 last->reading_procs ? ", reading more" : "");
	header_piece(g, row, col, g->cols, ROLE_TEXT, text);
}

/* In one row below the meters, or in two at their right. */
static void draw_figures(const struct ui *ui, struct grid *g, int row, const struct meters *m)
{
	int left = 1 + m->across * m->width + 1, col;

	if (m->below) {
		row += m->rows;
		col = header_put_lost(ui, g, row, put_use(ui, g, row, 1, g->cols), g->cols);
		col = header_put_complete(ui, g, row, col + 2, STACKS);
		put_procs(ui, g, row, put_self(ui, g, row, col));
		return;
	}
	header_put_lost(ui, g, row, put_use(ui, g, row, left, g->cols), g->cols);
	col = put_self(ui, g, row + 1, header_put_complete(ui, g, row + 1, left, STACKS));
	if (m->rows > FIGURE_ROWS)
		put_procs(ui, g, row + FIGURE_ROWS, left - 2);
	else
		put_procs(ui, g, row + 1, col);
}

int header_draw_meters(const struct ui *ui, struct grid *g, int row)
{
	const struct header *h = &ui->header;
	struct meters m = meters_for(h, g);
	double user, kernel;
	bool known = header_cpu(h, &user, &kernel);

	if (m.form == METERS_BARS)
		draw_bars(h, g, row, &m);
	else if (m.form == METERS_CELLS)
		draw_cells(h, g, row, &m);
	else if (known)
		draw_meter(g, row, 1, m.width - 1, m.label, "cpu", user, kernel);
	else
		grid_put(g, row, 1, m.width - 1, ROLE_TEXT, "cpu -");
	draw_figures(ui, g, row, &m);
	if (m.below)
		return m.rows + 1;
	return m.rows < FIGURE_ROWS ? FIGURE_ROWS : m.rows;
}
