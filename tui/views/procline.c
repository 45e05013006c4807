// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One row of Procs in cells: which mark, number and word goes into which column, and in what
 * colour. What a process did is read across its row, so all of it is drawn in one place.
 */
#include "tui/views/procline.h"

#include <stdio.h>
#include <string.h>

#include "tui/screen/delta.h"
#include "tui/ui/names.h"
#include "tui/ui/search.h"
#include "tui/ui/selection.h"
#include "tui/ui/view.h"

#define BROKEN_SHARE 0.05 /* more than this gets a mark */
#define NS_PER_SEC   1000000000ULL

static bool broken(const struct procs_row *row)
{
	return row->data.walks && (double)(row->data.walks - row->data.complete) >
					  BROKEN_SHARE * (double)row->data.walks;
}

static void draw_mark(const struct ui *ui, const struct procs_row *row, struct grid *g, int y)
{
	if (row->proc->exited)
		grid_put(g, y, 0, 1, ROLE_STALE, "z");
	else if (ui->header.last.filtering && row->proc->attached)
		grid_put(g, y, 0, 1, ROLE_TAG, "+");
	if (!row->data.tid && tags_has(&ui->selection->tags, row->proc->pid, row->proc->image))
		grid_put(g, y, 1, 1, ROLE_TAG, "*");
}

/* A low bar: nothing was used; no bar: not known. */
static void draw_history(const struct procs_row *row, struct grid *g, int y, int col,
			 const struct procline_history *past)
{
	const double most = past->most;

	for (int i = PROC_HISTORY - past->bars; i < PROC_HISTORY; i++) {
		int level = most > 0 ? (int)(row->data.history[i] / most * (SPARK_LEVELS - 1) + 0.5)
				     : 0;

		/* Something is never drawn as nothing. */
		if (level == 0 && row->data.history[i] && most > 0)
			level = 1;
		grid_put(g, y, col + i, 1, level ? ROLE_TEXT : ROLE_DIM, grid_spark(g, level));
	}
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : -1;
}

/* cpus: of how many CPU% is a share. */
static void draw_numbers(const struct procs_row *row, struct grid *g, int y, int *col,
			 const int *width, const struct procline_history *past, unsigned int cpus)
{
	double kernel = ratio(row->data.kernel_samples, row->data.samples);
	double unwound = ratio(row->data.complete, row->data.walks);
	char text[48];

	snprintf(text, sizeof(text), "%.1f", row->data.cpu_percent / cpus);
	grid_right(g, y, *col, width[PROCS_CPU] - 1, ui_heat(row->data.cpu_percent / 100), text);
	*col += width[PROCS_CPU];
	if (width[PROCS_CHANGE])
		delta_draw(g, y, *col, width[PROCS_CHANGE], row->data.cpu_percent / cpus,
			   row->data.before_cpu / cpus);
	*col += width[PROCS_CHANGE];
	if (width[PROCS_HISTORY])
		draw_history(row, g, y, *col, past);
	*col += width[PROCS_HISTORY];
	snprintf(text, sizeof(text), "%.0f", row->data.rate);
	grid_right(g, y, *col, width[PROCS_RATE] - 1, ROLE_TEXT, text);
	*col += width[PROCS_RATE];
	if (width[PROCS_CPUS])
		grid_fit(g, y, *col, width[PROCS_CPUS] - 1, ROLE_TEXT, row->cpus);
	*col += width[PROCS_CPUS];
	snprintf(text, sizeof(text), kernel < 0 ? "-" : "%.0f", 100 * kernel);
	grid_right(g, y, *col, width[PROCS_KERNEL] - 1, kernel > 0.5 ? ROLE_KERNEL : ROLE_TEXT,
		   text);
	*col += width[PROCS_KERNEL];
	snprintf(text, sizeof(text), unwound < 0 ? "-" : "%s%.1f%%", broken(row) ? "! " : "",
		 100 * unwound);
	grid_right(g, y, *col, width[PROCS_UNWOUND] - 1,
		   broken(row)	 ? ROLE_BROKEN
		   : unwound < 0 ? ROLE_DIM
				 : ROLE_OK,
		   text);
	*col += width[PROCS_UNWOUND];
}

const char *procline_command(const struct grid *g, const char *command, int scroll, int width)
{
	size_t word = strcspn(command, " ");
	const char *name = command;

	/* Names of kernel threads have slashes of their own: [kworker/0:1]. */
	if (*command != '[' && grid_width(g, command) > width)
		for (size_t i = 0; i + 1 < word; i++)
			if (command[i] == '/')
				name = command + i + 1;
	if (name != command) {
		if (!scroll)
			return name;
		scroll -= PROCLINE_SCROLL;
	}
	for (int i = 0; i < scroll && *command; i++)
		do {
			command++;
		} while (((unsigned char)*command & 0xc0) == 0x80);
	return command;
}

/* In so many cells. */
static void exited_text(uint64_t seconds, int width, char *to, size_t size)
{
	unsigned long long minutes = seconds / 60, hours = minutes / 60;
	char age[40];

	if (minutes < 2)
		snprintf(age, sizeof(age), "%llu s", (unsigned long long)seconds);
	else if (hours < 2)
		snprintf(age, sizeof(age), "%llu min", minutes);
	else
		snprintf(age, sizeof(age), "%llu h", hours);
	snprintf(to, size, "exited %s ago", age);
	if ((int)strlen(to) > width)
		snprintf(to, size, "exited %s", age);
	if ((int)strlen(to) > width)
		snprintf(to, size, "exited");
}

static void draw_words(const struct ui *ui, const struct procs_row *row, int scroll, struct grid *g,
		       int y, int col, const int *width)
{
	enum role role = row->proc->exited ? ROLE_STALE : ROLE_TEXT;
	enum role hot = row->hottest && row->hottest->kind == FUNC_END ? ROLE_BROKEN : ROLE_TEXT;
	const char *command = row->data.tid ? row->thread : row->proc->cmdline;
	/* Time of a recording goes on only by what is played, that of a frozen view not at all. */
	uint64_t now = ui->header.replayed || ui->frozen ? ui->header.last.time : ui->now;
	char text[320];

	/* What was told with a slice may have come to pass a moment after it. */
	if (row->proc->exited && now + NS_PER_SEC >= row->proc->exit_time)
		exited_text(now < row->proc->exit_time ? 0
						       : (now - row->proc->exit_time) / NS_PER_SEC,
			    width[PROCS_HOTTEST] - 1, text, sizeof(text));
	else if (row->hottest)
		names_show(row->hottest, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "-");
	if (width[PROCS_HOTTEST])
		grid_fit(g, y, col, width[PROCS_HOTTEST] - 1, row->proc->exited ? ROLE_STALE : hot,
			 text);
	col += width[PROCS_HOTTEST];
	if (width[PROCS_GROUP])
		grid_fit(g, y, col, width[PROCS_GROUP] - 1,
			 search_matches(ui, row->proc->group) ? ROLE_MATCH : ROLE_MODULE,
			 row->proc->group);
	col += width[PROCS_GROUP];
	if (search_matches(ui, command))
		role = ROLE_MATCH;
	if (row->data.tid)
		col += grid_printf(g, y, col, width[PROCS_COMMAND], ROLE_TREE, "%s%s ",
				   grid_glyph(g, GLYPH_CORNER), grid_glyph(g, GLYPH_HLINE));
	grid_fit(g, y, col, g->cols - col, role,
		 procline_command(g, command, scroll, g->cols - col));
}

void procline_draw(const struct ui *ui, const struct procs_row *row, int scroll, struct grid *g,
		   int y, const int *width, const struct procline_history *past)
{
	int col = width[PROCS_MARK];
	char text[32];

	draw_mark(ui, row, g, y);
	if (ui->grouping == GROUP_CPU && row->data.cpu)
		snprintf(text, sizeof(text), "cpu%u", row->data.cpu - 1);
	else if (ui->grouping)
		snprintf(text, sizeof(text), "-");
	else
		snprintf(text, sizeof(text), "%d",
			 row->data.tid ? (int)row->data.tid : (int)row->proc->pid);
	grid_right(g, y, col, width[PROCS_PID] - 1, row->data.tid ? ROLE_DIM : ROLE_TEXT, text);
	col += width[PROCS_PID];
	if (width[PROCS_USER])
		grid_fit(g, y, col, width[PROCS_USER] - 1, ROLE_MODULE, row->proc->user);
	col += width[PROCS_USER];
	if (row->data.tid || ui->grouping)
		text[0] = '\0';
	else
		snprintf(text, sizeof(text), "%u", row->proc->nthreads);
	grid_right(g, y, col, width[PROCS_THREADS] - 1, ROLE_TEXT, text);
	col += width[PROCS_THREADS];
	draw_numbers(row, g, y, &col, width, past,
		     ui->config.units == UNITS_MACHINE && ui->header.last.ncpus &&
				     profile_is_time(&ui->header.last)
			     ? ui->header.last.ncpus
			     : 1);
	draw_words(ui, row, scroll, g, y, col, width);
}
