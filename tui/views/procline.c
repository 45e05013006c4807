// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One row of Procs: which mark, number or word stands in which column, and in which colour. It is
 * read across, so all of it is in one place.
 */
#include "tui/views/procline.h"

#include <stdio.h>
#include <string.h>

#include "tui/profile/language.h"
#include "tui/profile/units.h"
#include "tui/ui/bycpu.h"
#include "tui/ui/names.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/search.h"
#include "tui/ui/selection.h"
#include "tui/screen/delta.h"
#include "tui/ui/shortname.h"
#include "tui/ui/view.h"
#include "tui/views/proctree.h"
#include "tui/ui/statebar.h"
#include "tui/util/share.h"

#define BROKEN_SHARE 0.05 /* more than this gets a mark */
#define NS_PER_SEC   1000000000ULL

static bool broken(const struct procs_row *row)
{
	return row->data.walks && (double)(row->data.walks - row->data.complete) >
					  BROKEN_SHARE * (double)row->data.walks;
}

static void cell_mark(const struct ui *ui, const struct procs_row *row, struct column_cell *c)
{
	bool exited = procgroups_exited(ui, row->proc);
	bool attached = ui->header.last.filtering && row->proc->attached;
	bool tagged =
		!row->data.tid && tags_has(&ui->selection->tags, row->proc->pid, row->proc->image);

	if (!c->g) {
		cell_say(c, "%s%s%s%s%s", exited ? "exited" : "", exited && attached ? "; " : "",
			 attached ? "attached" : "", (exited || attached) && tagged ? "; " : "",
			 tagged ? "tagged" : "");
		return;
	}
	if (exited || attached)
		grid_put(c->g, c->y, 0, 1, exited ? ROLE_STALE : ROLE_TAG, exited ? "z" : "+");
	if (tagged)
		grid_put(c->g, c->y, 1, 1, ROLE_TAG, "*");
}

/* A low bar: nothing was used; no bar: not known. The last second is at the right end. */
static void draw_history(const struct procline *line, const struct procs_row *row, struct grid *g,
			 int y, int col, int width)
{
	const double most = line->most;
	const int bars = line->bars < width ? line->bars : width;

	col += width - PROC_HISTORY;
	for (int i = PROC_HISTORY - bars; i < PROC_HISTORY; i++) {
		int level = most > 0 ? (int)(row->data.history[i] / most * (SPARK_LEVELS - 1) + 0.5)
				     : 0;

		/* Something is never drawn as nothing. */
		if (level == 0 && row->data.history[i] && most > 0)
			level = 1;
		grid_put(g, y, col + i, 1, level ? ROLE_TEXT : ROLE_DIM, grid_spark(g, level));
	}
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

/* The longest form that fits into the width. */
static void exited_text(uint64_t seconds, int width, char *to, size_t size)
{
	unsigned long long minutes = seconds / 60, hours = minutes / 60;
	char age[40];

	if (!minutes)
		snprintf(age, sizeof(age), "%llus", (unsigned long long)seconds);
	else if (!hours)
		snprintf(age, sizeof(age), "%llum%02llus", minutes,
			 (unsigned long long)seconds % 60);
	else
		snprintf(age, sizeof(age), "%lluh%02llum", hours, minutes % 60);
	snprintf(to, size, "exited %s ago", age);
	if ((int)strlen(to) > width)
		snprintf(to, size, "exited %s", age);
	if ((int)strlen(to) > width)
		snprintf(to, size, "exited");
}

/* mute: of the process, see struct profile_proc. */
static void show_short(const struct profile_func *func, enum func_kind mute, struct column_cell *c)
{
	size_t n = 0;

	/* Which language: the column is far from where the function has a module. */
	if (func_is_language(func->kind))
		cell_say(c, "%s ", names_mark(func));
	else if (mute)
		cell_say(c, "%s? ", language_mark(mute));
	n = strlen(c->text);
	shortname_func(c->g, func, c->width - (int)n, c->text + n, sizeof(c->text) - n);
}

/* The time of a recording goes on only while it is played, that of a frozen view not at all. */
static void cell_hottest(const struct ui *ui, const struct procs_row *row, struct column_cell *c)
{
	uint64_t now = ui->header.replayed || ui->frozen ? ui->header.last.time : ui->now;

	c->role = row->proc->exited				   ? ROLE_STALE
		  : row->hottest && row->hottest->kind == FUNC_END ? ROLE_BROKEN
								   : ROLE_TEXT;
	if (!c->g && row->hottest)
		plain_func(row->hottest, c->text, sizeof(c->text));
	if (!c->g && row->hottest && row->proc->mute && !row->group) {
		const size_t n = strlen(c->text);

		snprintf(c->text + n, sizeof(c->text) - n, "; no frames of %s", row->proc->why);
	}
	if (!c->g)
		return;
	/* A slice may report an end a moment before it comes to pass. */
	if (row->proc->exited && !row->group && now + NS_PER_SEC >= row->proc->exit_time)
		exited_text(now < row->proc->exit_time ? 0
						       : (now - row->proc->exit_time) / NS_PER_SEC,
			    c->width, c->text, sizeof(c->text));
	else if (row->hottest)
		show_short(row->hottest, row->group ? FUNC_USER : row->proc->mute, c);
	else
		cell_say(c, "-");
}

static void cell_command(const struct procline *line, const struct procs_row *row,
			 struct column_cell *c)
{
	const char *command = row->data.tid ? row->thread : row->proc->cmdline;
	char folded[300], guides[128];

	if (!c->g)
		return;
	if (row->group && row->proc->exited) {
		snprintf(folded, sizeof(folded), "%s (exited)", command);
		command = folded;
	}
	c->role = search_matches(line->ui, command)	   ? ROLE_MATCH
		  : procgroups_exited(line->ui, row->proc) ? ROLE_STALE
		  : row->absent				   ? ROLE_DIM
							   : ROLE_TEXT;
	if (row->data.tid) {
		int used =
			grid_printf(c->g, c->y, c->col, c->width, ROLE_TREE, "%s%s ",
				    grid_glyph(c->g, GLYPH_CORNER), grid_glyph(c->g, GLYPH_HLINE));

		c->col += used;
		c->width -= used;
	}
	if (row->depth) {
		proctree_guides(row, c->g, guides, sizeof(guides));
		c->width -= grid_width(c->g, guides);
		c->col += grid_put(c->g, c->y, c->col, c->g->cols - c->col, ROLE_TREE, guides);
		if (c->width < 1)
			return;
	}
	if (c->last)
		c->width = c->g->cols - c->col;
	cell_say(c, "%s", procline_command(c->g, command, line->scroll, c->width));
}

static void cell_pid(const struct ui *ui, const struct procs_row *row, struct column_cell *c)
{
	c->role = row->data.tid ? ROLE_DIM : ROLE_TEXT;
	if (ui->grouping == GROUP_CPU && row->data.cpu)
		cell_say(c, "cpu%u", row->data.cpu - 1);
	else if (row->group && !row->members)
		cell_say(c, "-");
	else if (row->group && row->members != 1)
		cell_say(c, "%s%u", c->g && c->g->ascii ? "x" : "×", row->members);
	else if (row->group)
		cell_say(c, "%d", (int)row->only);
	else if (!row->data.tid && row->proc->pid >= PROFILE_NO_PID)
		cell_say(c, "-");
	else
		cell_say(c, "%d", row->data.tid ? (int)row->data.tid : (int)row->proc->pid);
}

static void cell_change(const struct procline *line, const struct procs_row *row,
			struct column_cell *c)
{
	const struct proc_row *data = &row->data;
	const struct delta delta =
		delta_of_rates(data->samples, data->full * line->cpus, data->before_samples,
			       data->before_full * line->cpus);

	if (c->g) {
		c->role = delta_role(&delta);
		delta_text(&delta, c->g, c->text, sizeof(c->text));
	} else if (delta.before >= 0) {
		cell_say(c, "%.1f", delta.before);
	}
}

static void cell_kernel(const struct procs_row *row, struct column_cell *c)
{
	uint64_t kernel = row->data.kernel_samples, all = row->data.samples;

	if (!c->g && !kernel)
		return;
	c->role = 2 * kernel > all ? ROLE_KERNEL : ROLE_TEXT;
	if (all)
		cell_say(c, "%.0f", percent_of(kernel, all));
	else
		cell_say(c, "-");
}

/* A cell for each part of its time, of what takes most of it. */
static void cell_state(const struct ui *ui, const struct procs_row *row, struct column_cell *c)
{
	const struct time_row *time = &row->time;
	const int cells = c->width - 1;

	if (c->g)
		statebar_draw(ui, c->g, c->y, c->col, cells, time);
	else if (time->all)
		statebar_words(time, c->text, sizeof(c->text));
}

static void cell_waits(const struct procs_row *row, struct column_cell *c)
{
	const struct time_row *time = &row->time;
	const enum wait_cause cause = time_row_largest(time);

	c->role = cause ? names_wait_role(cause) : ROLE_DIM;
	if (cause)
		cell_say(c, "%s %.0f%%", wait_text(cause)->name,
			 percent_of(time->us[cause], time->all));
	else if (c->g)
		cell_say(c, "-");
}

/* Of the samples in which the interpreter's lock is known. */
static void cell_lock(const struct procs_row *row, struct column_cell *c)
{
	const uint64_t *locks = row->data.locks;
	const uint64_t all =
		locks[STACK_LOCK_HELD] + locks[STACK_LOCK_WAITS] + locks[STACK_LOCK_RELEASED];

	c->role = ROLE_LANGUAGE;
	if (c->g && all)
		cell_say(c, "%.0f", percent_of(locks[STACK_LOCK_HELD], all));
	else if (all)
		cell_say(c, "GIL held %.0f %%, waiting %.0f %%, released %.0f %%",
			 percent_of(locks[STACK_LOCK_HELD], all),
			 percent_of(locks[STACK_LOCK_WAITS], all),
			 percent_of(locks[STACK_LOCK_RELEASED], all));
}

static void cell_unwound(const struct procs_row *row, struct column_cell *c)
{
	double part = row->data.walks ? (double)row->data.complete / (double)row->data.walks : 1;

	if (!c->g && row->data.complete < row->data.walks)
		cell_say(c, "%.1f", 100 * part);
	if (!c->g)
		return;
	c->role = broken(row) ? ROLE_BROKEN : row->data.walks ? ROLE_OK : ROLE_DIM;
	cell_say(c, row->data.walks ? "%s%.1f%%" : "-", broken(row) ? "! " : "", 100 * part);
}

void procline_cell(const void *table, const void *from, int column, struct column_cell *c)
{
	const struct procline *line = table;
	const struct procs_row *row = from;
	const struct ui *ui = line->ui;

	switch ((enum procs_column)column) {
	case PROCS_MARK:
		cell_mark(ui, row, c);
		break;
	case PROCS_PID:
		cell_pid(ui, row, c);
		break;
	case PROCS_USER:
		c->role = ROLE_MODULE;
		cell_say(c, "%s", row->proc->user);
		break;
	case PROCS_THREADS:
		if (!row->data.tid && !row->group && row->proc->nthreads)
			cell_say(c, "%u", row->proc->nthreads);
		break;
	case PROCS_CPU:
		c->role = ui_heat(row->data.cpu_percent / 100);
		cell_say(c, "%.1f", row->data.cpu_percent / line->cpus);
		break;
	case PROCS_CHANGE:
		cell_change(line, row, c);
		break;
	case PROCS_HISTORY:
		if (c->g)
			draw_history(line, row, c->g, c->y, c->col, c->width);
		break;
	case PROCS_RATE:
		units_number(row->data.rate, c->text, 8);
		break;
	case PROCS_CPUS:
		cell_say(c, "%s", row->cpus);
		break;
	case PROCS_KERNEL:
		cell_kernel(row, c);
		break;
	case PROCS_UNWOUND:
		cell_unwound(row, c);
		break;
	case PROCS_STATE:
		cell_state(ui, row, c);
		break;
	case PROCS_WAITS:
		cell_waits(row, c);
		break;
	case PROCS_LOCK:
		cell_lock(row, c);
		break;
	case PROCS_HOTTEST:
		cell_hottest(ui, row, c);
		break;
	case PROCS_GROUP:
		c->role = search_matches(ui, row->proc->group) ? ROLE_MATCH : ROLE_MODULE;
		cell_say(c, "%s", row->proc->group);
		break;
	default:
		cell_command(line, row, c);
		break;
	}
}

/* --- in words ------------------------------------------------------------------------------ */

static void name_row(const struct ui *ui, const struct procs_row *from, struct plain_row *row)
{
	int pid = (int)from->proc->pid;

	if (ui->grouping == GROUP_CPU)
		snprintf(row->name, sizeof(row->name), "%s", from->proc->comm);
	else if (from->group && from->proc->exited)
		snprintf(row->name, sizeof(row->name), "%u exited: %s", from->members,
			 from->proc->cmdline);
	else if (from->group)
		snprintf(row->name, sizeof(row->name), "%s", from->proc->cmdline);
	else if (from->data.tid)
		snprintf(row->name, sizeof(row->name), "thread %u %s of PID %d %s", from->data.tid,
			 from->thread, pid, from->proc->comm);
	else
		snprintf(row->name, sizeof(row->name), "PID %d %s", pid, from->proc->cmdline);
	if (!from->group && ui->grouping != GROUP_CPU && !from->data.tid)
		snprintf(row->brief, sizeof(row->brief), "PID %d %s", pid, from->proc->comm);
}

const char *procline_nothing(const struct ui *ui, const char **remedy)
{
	if (ui->header.slices == 0 && ui->header.replayed) {
		*remedy = ui->awaited[0] ? ui->awaited : "The session is being read.";
		return "No samples have come yet.";
	}
	if (ui->header.slices == 0) {
		*remedy = ui->awaited[0] ? ui->awaited
					 : "Processes are read and unwind tables built, the "
					   "hottest first.";
		return "Starting: no samples have come yet.";
	}
	if (bycpu_chosen(ui) && bycpu_missing(ui)) {
		*remedy = bycpu_missing(ui);
		return "Nothing is known of CPUs:";
	}
	if (ui->selection->filter.set) {
		*remedy = "Esc clears it, F4 changes it.";
		return "The filter keeps no process.";
	}
	if (ui->measure != MEASURE_CPU && !ui->header.last.waits) {
		*remedy = "They show from the next refresh on.";
		return "Waits of threads were not collected yet.";
	}
	if (ui->header.last.filtering) {
		*remedy = "F9 attaches to another; F9 and an empty line to the whole machine.";
		return "The attached processes use no CPU.";
	}
	*remedy = "Idle time is not sampled; a busy process appears within a second.";
	return "Nothing uses the CPU.";
}

void procline_plain(const struct procline *line, const struct procs_row *rows, size_t count,
		    const struct column *columns, enum procs_column sorted, struct plain_list *list)
{
	static const char *const groups[] = {[GROUP_PROGRAM] = "Programs",
					     [GROUP_CGROUP] = "Containers and units",
					     [GROUP_USER] = "Users",
					     [GROUP_TREE] = "Processes below their parents",
					     [GROUP_CPU] = "CPUs"};
	const struct ui *ui = line->ui;
	const char *nothing, *remedy;
	unsigned int hidden = config_hidden(&ui->config, VIEW_PROCS, columns, PROCS_COLUMNS);

	for (size_t i = 0; i < count; i++) {
		const struct profile_proc *proc = rows[i].proc;
		uint64_t key = proc->image ^ (uint64_t)proc->pid << 32 ^ rows[i].data.tid;
		struct plain_row *row =
			plain_list_add(list, key, rows[i].data.cpu_percent / line->cpus);

		if (!row)
			continue;
		name_row(ui, &rows[i], row);
		plain_row_columns(row, columns, PROCS_COLUMNS, hidden, procline_cell, line,
				  &rows[i]);
	}
	snprintf(list->title, sizeof(list->title), "%s by %s, %% of %s",
		 ui->grouping  ? groups[ui->grouping]
		 : ui->threads ? "Processes and their threads"
			       : "Processes",
		 columns[sorted].title, line->cpus > 1 ? "all CPUs" : "one CPU");
	nothing = procline_nothing(ui, &remedy);
	snprintf(list->empty, sizeof(list->empty), "%s %s", nothing, remedy);
}
