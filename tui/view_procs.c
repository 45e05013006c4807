// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Procs: the processes, and below them the functions of the one under the cursor, so that the two
 * questions everyone asks first (who, and in what) are answered without a key.
 */
#include "tui/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/functable.h"

#define SCROLL_STEP  8
#define SCROLL_MAX   240
#define BROKEN_SHARE 0.05 /* more than this gets a mark */
#define NS_PER_SEC   1000000000ULL

enum procs_column {
	PROCS_MARK,
	PROCS_PID,
	PROCS_USER,
	PROCS_THREADS,
	PROCS_CPU,
	PROCS_HISTORY,
	PROCS_RATE,
	PROCS_KERNEL,
	PROCS_UNWOUND,
	PROCS_HOTTEST,
	PROCS_COMMAND,
	PROCS_COLUMNS,
};

static const struct column columns[PROCS_COLUMNS] = {
	[PROCS_MARK] = {.title = "", .min = 2, .max = 2, .keep = true},
	[PROCS_PID] = {"PID", 8, 8, 0, true, true, true, "PID"},
	[PROCS_USER] = {"USER", 8, 11, 0, false, false, true, "USER"},
	[PROCS_THREADS] = {"THR", 4, 5, 0, true, false, true, "THR: threads"},
	[PROCS_CPU] = {"CPU%", 7, 8, 0, true, true, true, "CPU%: of one CPU"},
	[PROCS_HISTORY] = {.title = "HISTORY", .min = 9, .max = 9},
	[PROCS_RATE] = {"SMP/s", 6, 7, 0, true, false, true, "SMP/s: samples a second"},
	[PROCS_KERNEL] = {"K%", 4, 5, 0, true, false, true, "K%: share in the kernel"},
	[PROCS_UNWOUND] = {"UNWOUND", 8, 9, 0, true, false, true, "UNWOUND: complete stacks"},
	[PROCS_HOTTEST] = {"HOTTEST FUNCTION", 13, 44, 4, false, false, true, "HOTTEST FUNCTION"},
	[PROCS_COMMAND] = {"COMMAND", 11, 400, 3, false, true, true, "COMMAND"},
};

struct procs_row {
	struct proc_row data; /* ids in it are not to be used */
	struct profile_proc proc;
	const struct profile_func *hottest; /* of names; NULL: none */
};

struct procs {
	struct names *names;
	struct procs_row *rows;
	struct list list;
	pid_t pid; /* (pid, image) is under the cursor */
	uint64_t image;
	enum procs_column sorted;
	bool inverted;
	int scroll;
	struct functable *below;
};

static void procs_close(void *state)
{
	struct procs *v = state;

	if (!v)
		return;
	functable_free(v->below);
	names_free(v->names);
	free(v->rows);
	free(v);
}

static void *procs_open(void)
{
	struct procs *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->sorted = PROCS_CPU;
	v->below = functable_new();
	v->names = names_new();
	if (!v->below || !v->names) {
		procs_close(v);
		return NULL;
	}
	return v;
}

static int load_rows(struct ui *ui, struct procs *v, const struct profile *p)
{
	struct query q = {ui_weigh(ui), QUERY_ALL, ui->hide_kernel, ui->hide_user};
	struct proc_row *found;
	size_t count;
	int err = query_procs(p, &q, &found, &count);

	names_clear(v->names);
	free(v->rows);
	v->list.count = 0;
	v->rows = err ? NULL : calloc(count + 1, sizeof(*v->rows));
	if (!err && !v->rows)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		const struct profile_proc *proc = query_proc(p, found[i].proc);
		struct procs_row *row = &v->rows[v->list.count];

		if (!proc)
			continue;
		row->data = found[i];
		row->proc = *proc;
		if (found[i].hottest != UINT32_MAX) {
			row->hottest = names_get(v->names, p, found[i].hottest);
			err = row->hottest ? 0 : -ENOMEM;
		}
		v->list.count++;
	}
	free(found);
	return err;
}

static int compare_rows(const void *x, const void *y, void *arg);

static void place_cursor(struct procs *v)
{
	for (size_t i = 0; v->list.held && i < v->list.count; i++)
		if (v->rows[i].proc.pid == v->pid && v->rows[i].proc.image == v->image)
			v->list.cursor = i;
	list_follow(&v->list);
}

static void hold_cursor(struct procs *v)
{
	if (v->list.cursor >= v->list.count)
		return;
	v->pid = v->rows[v->list.cursor].proc.pid;
	v->image = v->rows[v->list.cursor].proc.image;
}

static void sort_rows(struct procs *v)
{
	if (v->list.count)
		qsort_r(v->rows, v->list.count, sizeof(*v->rows), compare_rows, v);
	place_cursor(v);
	hold_cursor(v);
}

static int load_below(struct ui *ui, struct procs *v, const struct profile *p)
{
	struct query q = {ui_weigh(ui), QUERY_ALL, ui->hide_kernel, ui->hide_user};

	q.proc = v->list.count ? ui_find_proc(p, v->pid, v->image) : QUERY_ALL;
	if (q.proc == QUERY_ALL) {
		functable_clear(v->below);
		return 0;
	}
	return functable_load(v->below, p, &q);
}

static int procs_load(struct ui *ui, const struct profile *p)
{
	struct procs *v = ui->state[VIEW_PROCS];
	int err = 0;

	/* A frozen copy knows no history: the rows that were there when it froze stay. */
	if (!ui->frozen || !v->rows)
		err = load_rows(ui, v, p);
	if (err)
		return err;
	sort_rows(v);
	if (ui->header.slices > 1 && v->list.count)
		v->list.held = true;
	return load_below(ui, v, p);
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : -1;
}

static int order(double a, double b)
{
	return (a < b) - (a > b);
}

static const char *hottest(const struct procs_row *row)
{
	return row->hottest ? row->hottest->name : "";
}

static int compare_by(enum procs_column column, const struct procs_row *a,
		      const struct procs_row *b)
{
	switch (column) {
	case PROCS_PID:
		return order(b->proc.pid, a->proc.pid);
	case PROCS_USER:
		return strcmp(a->proc.user, b->proc.user);
	case PROCS_THREADS:
		return order(a->proc.nthreads, b->proc.nthreads);
	case PROCS_KERNEL:
		return order(ratio(a->data.kernel_samples, a->data.samples),
			     ratio(b->data.kernel_samples, b->data.samples));
	case PROCS_UNWOUND: /* the broken ones first: they are looked for */
		return order(ratio(b->data.complete, b->data.walks),
			     ratio(a->data.complete, a->data.walks));
	case PROCS_HOTTEST:
		return strcmp(hottest(a), hottest(b));
	case PROCS_COMMAND:
		return strcmp(a->proc.cmdline, b->proc.cmdline);
	default:
		return order((double)a->data.samples, (double)b->data.samples);
	}
}

static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct procs_row *a = x, *b = y;
	const struct procs *v = arg;
	int result = compare_by(v->sorted, a, b);

	if (result)
		return v->inverted ? -result : result;
	result = compare_by(PROCS_CPU, a, b);
	if (!result)
		result = compare_by(PROCS_PID, a, b);
	return result ? result : (a->proc.image > b->proc.image) - (a->proc.image < b->proc.image);
}

static int procs_sort(struct ui *ui)
{
	struct procs *v = ui->state[VIEW_PROCS];

	sort_rows(v);
	functable_sort(v->below);
	return 0;
}

/* --- drawing ------------------------------------------------------------------------------- */

static bool broken(const struct procs_row *row)
{
	return row->data.walks && (double)(row->data.walks - row->data.complete) >
					  BROKEN_SHARE * (double)row->data.walks;
}

static void draw_mark(const struct ui *ui, const struct procs_row *row, struct grid *g, int y)
{
	if (row->proc.exited)
		grid_put(g, y, 0, 1, ROLE_STALE, "z");
	else if (ui->header.last.filtering && row->proc.attached)
		grid_put(g, y, 0, 1, ROLE_TAG, "+");
}

static void draw_history(const struct procs_row *row, struct grid *g, int y, int col, double most)
{
	for (int i = 0; i < PROC_HISTORY; i++) {
		int level = most > 0 ? (int)(row->data.history[i] / most * (SPARK_LEVELS - 1) + 0.5)
				     : 0;

		/* Something is never drawn as nothing. */
		if (level == 0 && row->data.history[i] && most > 0)
			level = 1;
		grid_put(g, y, col + i, 1, level ? ROLE_TEXT : ROLE_DIM, grid_spark(g, level));
	}
}

static void draw_numbers(const struct procs_row *row, struct grid *g, int y, int *col,
			 const int *width, double most)
{
	double kernel = ratio(row->data.kernel_samples, row->data.samples);
	double unwound = ratio(row->data.complete, row->data.walks);
	char text[48];

	snprintf(text, sizeof(text), "%.1f", row->data.cpu_percent);
	grid_right(g, y, *col, width[PROCS_CPU] - 1, ui_heat(row->data.cpu_percent / 100), text);
	*col += width[PROCS_CPU];
	if (width[PROCS_HISTORY])
		draw_history(row, g, y, *col, most);
	*col += width[PROCS_HISTORY];
	snprintf(text, sizeof(text), "%.0f", row->data.rate);
	grid_right(g, y, *col, width[PROCS_RATE] - 1, ROLE_TEXT, text);
	*col += width[PROCS_RATE];
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

static void draw_words(const struct ui *ui, const struct procs *v, const struct procs_row *row,
		       struct grid *g, int y, int col, const int *width)
{
	enum role role = row->proc.exited ? ROLE_STALE : ROLE_TEXT;
	enum role hot = row->hottest && row->hottest->kind == FUNC_END ? ROLE_BROKEN : ROLE_TEXT;
	const char *command = row->proc.cmdline;
	char text[320];

	if (row->proc.exited && ui->now > row->proc.exit_time)
		snprintf(text, sizeof(text), "exited %llu s ago",
			 (unsigned long long)((ui->now - row->proc.exit_time) / NS_PER_SEC));
	else if (row->hottest)
		names_show(row->hottest, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "-");
	if (width[PROCS_HOTTEST])
		grid_fit(g, y, col, width[PROCS_HOTTEST] - 1, row->proc.exited ? ROLE_STALE : hot,
			 text);
	col += width[PROCS_HOTTEST];
	if (ui_matches(ui, command))
		role = ROLE_MATCH;
	for (int i = 0; i < v->scroll && *command; i++)
		do {
			command++;
		} while (((unsigned char)*command & 0xc0) == 0x80);
	grid_fit(g, y, col, width[PROCS_COMMAND], role, command);
}

static void draw_row(const struct ui *ui, const struct procs *v, const struct procs_row *row,
		     struct grid *g, int y, const int *width, double most)
{
	int col = width[PROCS_MARK];
	char text[32];

	draw_mark(ui, row, g, y);
	snprintf(text, sizeof(text), "%d", (int)row->proc.pid);
	grid_right(g, y, col, width[PROCS_PID] - 1, ROLE_TEXT, text);
	col += width[PROCS_PID];
	if (width[PROCS_USER])
		grid_fit(g, y, col, width[PROCS_USER] - 1, ROLE_MODULE, row->proc.user);
	col += width[PROCS_USER];
	snprintf(text, sizeof(text), "%u", row->proc.nthreads);
	grid_right(g, y, col, width[PROCS_THREADS] - 1, ROLE_TEXT, text);
	col += width[PROCS_THREADS];
	draw_numbers(row, g, y, &col, width, most);
	draw_words(ui, v, row, g, y, col, width);
}

/* A full block is one CPU busy all the slice long, or the busiest when that is more. */
static double history_scale(const struct ui *ui, const struct procs *v)
{
	double most = ui->header.last.frequency * (double)ui->header.last.elapsed / NS_PER_SEC;

	for (size_t i = 0; i < v->list.count; i++)
		for (int k = 0; k < PROC_HISTORY; k++)
			if (v->rows[i].data.history[k] > most)
				most = v->rows[i].data.history[k];
	return most;
}

static void draw_rows(const struct ui *ui, struct procs *v, struct grid *g, int top, int rows)
{
	int width[PROCS_COLUMNS];
	double most = history_scale(ui, v);

	columns_fit(columns, PROCS_COLUMNS, g->cols, 0, width);
	columns_header(g, top, columns, PROCS_COLUMNS, width, (int)v->sorted, v->inverted);
	list_settle(&v->list, rows > 1 ? (size_t)rows - 1 : 1);
	for (int i = 1; i < rows; i++) {
		size_t at = v->list.top + (size_t)i - 1;

		if (at >= v->list.count)
			break;
		draw_row(ui, v, &v->rows[at], g, top + i, width, most);
		if (at == v->list.cursor) {
			if (g->cells[(top + i) * g->cols].ch != ' ')
				grid_put(g, top + i, 1, 1, ROLE_CURSOR, ">");
			else
				grid_put(g, top + i, 0, 1, ROLE_CURSOR, ">");
			grid_role(g, top + i, 0, g->cols, ROLE_CURSOR);
		}
	}
}

static void draw_between(const struct ui *ui, const struct procs *v, struct grid *g, int row)
{
	const struct profile_proc *proc = &v->rows[v->list.cursor].proc;
	const char *frames = ui->hide_kernel && ui->hide_user ? "no frames"
			     : ui->hide_kernel		      ? "user frames only"
			     : ui->hide_user		      ? "kernel frames only"
							      : "K+U frames";
	char right[80];
	int at;

	grid_line(g, row, 0, g->cols, ROLE_BORDER, GLYPH_HLINE);
	snprintf(right, sizeof(right), " %% of process, %s, %s ", ui_weighed(ui), frames);
	at = g->cols - grid_width(g, right) - 2;
	grid_printf(g, row, 2, at > 40 ? at - 3 : g->cols - 4, ROLE_TITLE, " Functions of %d %s ",
		    (int)proc->pid, proc->comm);
	if (at > 40)
		grid_put(g, row, at, g->cols - at, ROLE_DIM, right);
}

static void draw_empty(const struct ui *ui, struct grid *g, int top)
{
	if (ui->header.slices == 0) {
		grid_put(g, top, 2, g->cols, ROLE_TITLE, "Starting: no samples have come yet.");
		grid_put(g, top + 1, 2, g->cols, ROLE_DIM,
			 "Processes are read and unwind tables built, the hottest first.");
	} else if (ui->header.last.filtering) {
		grid_put(g, top, 2, g->cols, ROLE_TITLE, "The attached processes use no CPU.");
		grid_put(g, top + 1, 2, g->cols, ROLE_DIM,
			 "F9 attaches to another; F9 and an empty line to the whole machine.");
	} else {
		grid_put(g, top, 2, g->cols, ROLE_TITLE, "Nothing uses the CPU.");
		grid_put(g, top + 1, 2, g->cols, ROLE_DIM,
			 "Idle time is not sampled; a busy process appears within a second.");
	}
}

static void procs_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	struct procs *v = ui->state[VIEW_PROCS];
	int upper = rows >= 9 ? rows / 2 : rows;

	/* Few processes leave their room to the functions. */
	if (upper < rows && v->list.count && (int)v->list.count + 1 < upper)
		upper = (int)v->list.count + 1 < 4 ? 4 : (int)v->list.count + 1;
	draw_rows(ui, v, g, top, upper);
	if (v->list.count == 0) {
		draw_empty(ui, g, top + 2);
		return;
	}
	if (upper == rows)
		return;
	draw_between(ui, v, g, top + upper);
	functable_draw(ui, v->below, g, top + upper + 1, rows - upper - 1, false);
}

/* --- keys ---------------------------------------------------------------------------------- */

static unsigned int procs_sort_by(struct ui *ui, int column)
{
	struct procs *v = ui->state[VIEW_PROCS];

	v->sorted = (enum procs_column)column;
	v->inverted = false;
	return UI_RESORT;
}

static const struct column *procs_columns(int *count, const struct ui *ui, int *sorted)
{
	const struct procs *v = ui->state[VIEW_PROCS];

	*count = PROCS_COLUMNS;
	*sorted = (int)v->sorted;
	return columns;
}

static unsigned int zoom(struct ui *ui, const struct procs *v)
{
	const struct profile_proc *proc;

	if (v->list.count == 0)
		return 0;
	proc = &v->rows[v->list.cursor].proc;
	ui->zoom.on = true;
	ui->zoom.pid = proc->pid;
	ui->zoom.image = proc->image;
	snprintf(ui->zoom.name, sizeof(ui->zoom.name), "%d %s", (int)proc->pid, proc->comm);
	return ui_go(ui, VIEW_FUNCS);
}

static unsigned int ask_attach(struct ui *ui, const struct procs *v, bool this)
{
	const struct profile_proc *proc = v->list.count ? &v->rows[v->list.cursor].proc : NULL;
	char text[32] = "";

	if (this && !proc)
		return 0;
	if (proc)
		snprintf(text, sizeof(text), "%s%d",
			 this && ui->header.last.filtering && proc->attached ? "-" : "",
			 (int)proc->pid);
	prompt_open(&ui->prompt, ACTION_ATTACH,
		    "Attach (PID or name; -X detaches; empty: all):", text);
	return UI_REDRAW;
}

static unsigned int procs_key(struct ui *ui, enum action action)
{
	struct procs *v = ui->state[VIEW_PROCS];

	if (list_move(&v->list, action)) {
		hold_cursor(v);
		return UI_RELOAD;
	}
	switch (action) {
	case ACTION_ZOOM:
		return zoom(ui, v);
	case ACTION_ATTACH:
	case ACTION_ATTACH_THIS:
		return ask_attach(ui, v, action == ACTION_ATTACH_THIS);
	case ACTION_LEFT:
		v->scroll -= v->scroll ? SCROLL_STEP : 0;
		return UI_REDRAW;
	case ACTION_RIGHT:
		v->scroll += v->scroll < SCROLL_MAX ? SCROLL_STEP : 0;
		return UI_REDRAW;
	case ACTION_INVERT:
		v->inverted = !v->inverted;
		return UI_RESORT;
	case ACTION_SORT_TOTAL:
		v->below->sorted = FUNCTABLE_TOTAL;
		return procs_sort_by(ui, PROCS_CPU);
	case ACTION_SORT_SELF:
		v->below->sorted = FUNCTABLE_SELF;
		return UI_RESORT;
	case ACTION_BACK:
		ui->zoom.on = false;
		return UI_REDRAW;
	default:
		return 0;
	}
}

static bool row_matches(const struct ui *ui, const struct procs_row *row)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)row->proc.pid);
	return ui_matches(ui, row->proc.cmdline) || ui_matches(ui, row->proc.comm) ||
	       ui_matches(ui, row->proc.user) || ui_matches(ui, pid);
}

static unsigned int procs_find(struct ui *ui, int step, bool here)
{
	struct procs *v = ui->state[VIEW_PROCS];
	size_t n = v->list.count;
	size_t at = v->list.cursor;

	for (size_t tried = 0; tried < n; tried++) {
		if (!here || tried)
			at = (at + n + (size_t)step) % n;
		if (row_matches(ui, &v->rows[at])) {
			list_select(&v->list, at);
			hold_cursor(v);
			return UI_RELOAD;
		}
	}
	return 0;
}

const struct view_ops procs_view = {
	.title = "Procs",
	.open = procs_open,
	.close = procs_close,
	.load = procs_load,
	.sort = procs_sort,
	.draw = procs_draw,
	.key = procs_key,
	.find = procs_find,
	.columns = procs_columns,
	.sort_by = procs_sort_by,
};
