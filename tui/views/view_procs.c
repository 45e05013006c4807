// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Procs: the processes, and below them the functions of the one under the cursor. The first two
 * questions (which process, which function) are answered without a key.
 */
#include "tui/views/procs_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/ui/attach.h"
#include "tui/ui/bycpu.h"
#include "tui/views/view_funcs.h"
#include "tui/views/procline.h"
#include "tui/ui/plain_list.h"
#include "tui/profile/units.h"
#include "tui/ui/selection.h"
#include "tui/util/share.h"

/* What answers the first question stands on the narrowest screen, the rest as width comes. */
const struct column procs_default[PROCS_COLUMNS] = {
	[PROCS_MARK] = {.title = "", .min = 2, .max = 2, .keep = true, .words = "%s"},
	[PROCS_CPU] = COLUMN("CPU%", 7, 8, 0, true, true, SORTS_DOWN, "CPU%: of one CPU", ""),
	[PROCS_CHANGE] = COLUMN("vs BASE", 9, 9, 0, true, true, SORTS_DOWN,
				"vs BASE: change of CPU%", "%s in the baseline"),
	[PROCS_HISTORY] =
		{.title = "HISTORY", .min = 9, .max = 1 + PROC_HISTORY, .weight = 2, .rank = 2},
	[PROCS_KERNEL] = COLUMN("K%", 4, 5, 0, true, false, SORTS_DOWN, "K%: share in the kernel",
				"%s % of it in the kernel", .rank = 1),
	[PROCS_UNWOUND] =
		COLUMN("UNWOUND", 8, 9, 0, true, false, SORTS_UP, "UNWOUND: complete stacks",
		       "%s % of its stacks complete", .rank = 4, .from = 100),
	[PROCS_PID] = COLUMN("PID", 8, 8, 0, true, true, SORTS_UP, "PID", ""),
	[PROCS_USER] = COLUMN("USER", 8, 11, 0, false, false, SORTS_UP, "USER", "", .rank = 5,
			      .from = 100),
	[PROCS_THREADS] = COLUMN("THR", 4, 5, 0, true, false, SORTS_DOWN, "THR: threads", "",
				 .rank = 6, .from = 120),
	[PROCS_RATE] = COLUMN("SMP/s", 6, 7, 0, true, false, SORTS_DOWN, "SMP/s: samples a second",
			      "", .rank = 7, .from = 140),
	[PROCS_STATE] = {.title = "STATE", .min = 9, .max = 21, .weight = 1, .rank = 3},
	[PROCS_WAITS] = COLUMN("WAITS FOR", 13, 14, 0, false, false, SORTS_NOT,
			       "WAITS FOR: most of its time off a CPU", "waits for %s", .rank = 2),
	[PROCS_LOCK] = COLUMN("GIL%", 5, 5, 0, true, false, SORTS_DOWN,
			      "GIL%: holds the interpreter's lock", "%s", .rank = 3),
	[PROCS_CPUS] = COLUMN("ON CPU", 12, 16, 1, false, false, SORTS_NOT, "ON CPU: where it ran",
			      "on CPU %s", .rank = 3),
	[PROCS_GROUP] = COLUMN("CONTAINER, UNIT", 16, 26, 2, false, false, SORTS_UP,
			       "CONTAINER, UNIT", "", .rank = 5, .from = 118),
	[PROCS_COMMAND] = COLUMN("COMMAND", 12, 400, 3, false, true, SORTS_UP, "COMMAND", ""),
	[PROCS_HOTTEST] = COLUMN("HOTTEST FUNCTION", 16, 44, 2, false, false, SORTS_UP,
				 "HOTTEST FUNCTION", "mostly %s"),
};

static void procs_close(void *state)
{
	struct procs *v = state;

	if (!v)
		return;
	functable_free(v->below);
	names_free(v->rows.names);
	match_cache_free(&v->members);
	procrows_free(&v->rows);
	free(v);
}

static void *procs_open(void)
{
	struct procs *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->sorted = PROCS_CPU;
	v->list.pins = true;
	memcpy(v->columns, procs_default, sizeof(procs_default));
	v->below = functable_new();
	v->rows.names = names_new();
	if (!v->below || !v->rows.names) {
		procs_close(v);
		return NULL;
	}
	return v;
}

/* After an exec the process is another row; what it was is one that has exited. */
static void follow_exec(struct procs *v)
{
	for (size_t i = 0; i < v->list.count; i++)
		if (v->rows.row[i].proc->pid == v->pid && v->rows.row[i].proc->image == v->image &&
		    !v->rows.row[i].proc->exited)
			return;
	for (size_t i = 0; i < v->list.count; i++)
		if (v->rows.row[i].proc->pid == v->pid && v->rows.row[i].proc->image != v->image &&
		    !v->rows.row[i].proc->exited && !v->rows.row[i].data.tid)
			v->list.cursor = i;
}

static const struct profile_proc *proc_of_row(const void *rows, size_t i)
{
	return ((const struct procs_row *)rows)[i].proc;
}

/* The busiest that is still there. */
static size_t first_alive(const struct ui *ui, const struct procs *v)
{
	/* Before anything was drawn there is no page. */
	const size_t page = v->list.page ? v->list.page : v->list.count;

	for (size_t i = 0; i < v->list.count && i < page; i++)
		if (!procgroups_exited(ui, v->rows.row[i].proc))
			return i;
	return 0;
}

/* False: it has no row any more, or has exited and fallen behind the first rows. */
static bool find_chosen(const struct ui *ui, struct procs *v)
{
	bool found = false;

	for (size_t i = 0; i < v->list.count; i++)
		if (v->rows.row[i].proc->pid == v->pid && v->rows.row[i].proc->image == v->image &&
		    (v->rows.row[i].data.tid == v->tid || !v->rows.row[i].data.tid)) {
			v->list.cursor = i;
			found = true;
			if (v->rows.row[i].data.tid == v->tid)
				break;
		}
	return found && (v->list.cursor < v->list.page || v->list.scrolled ||
			 !procgroups_exited(ui, v->rows.row[v->list.cursor].proc));
}

static void place_cursor(const struct ui *ui, struct procs *v)
{
	size_t attached = attach_find(ui, &v->attached, v->list.count, proc_of_row, v->rows.row);

	if (ui->follow)
		v->list.chosen = v->list.scrolled = true;
	if (v->list.chosen && !find_chosen(ui, v) && !ui->follow && !v->list.scrolled)
		v->list.chosen = false;
	if (ui->follow)
		follow_exec(v);
	if (!v->list.chosen)
		v->list.cursor = first_alive(ui, v);
	if (attached < v->list.count)
		list_select(&v->list, attached);
	list_settle(&v->list, v->list.page);
}

static void hold_cursor(struct procs *v)
{
	if (v->list.cursor >= v->list.count)
		return;
	v->pid = v->rows.row[v->list.cursor].proc->pid;
	v->image = v->rows.row[v->list.cursor].proc->image;
	v->tid = v->rows.row[v->list.cursor].data.tid;
}

static void sort_rows(const struct ui *ui, struct procs *v)
{
	if (!v->ordered)
		procrows_sort(&v->rows, v->sorted, v->inverted);
	v->ordered = true;
	place_cursor(ui, v);
	hold_cursor(v);
}

/* The processes that the row counts, by id, and in the tree those of all rows below it. */
static int judge_members(struct procs *v, const struct procs_row *row, const struct profile *p)
{
	const struct procgroups *g = &v->rows.groups;
	const size_t below = v->rows.tree && row->below ? row->below : 1;
	int err = query_judge_procs(p, &v->members, NULL, NULL);

	for (size_t id = 0; !err && id < v->members.count && id < g->count; id++)
		for (size_t i = 0; i < below && !v->members.pass[id]; i++)
			v->members.pass[id] = !row[i].absent && g->owners[id] == row[i].data.proc;
	return err;
}

/* Of the samples that the row counts. */
static int load_members(struct ui *ui, struct procs *v, const struct procs_row *row,
			const struct profile *p)
{
	struct query q = selection_all(ui);
	struct sample_filter scope = {0};
	int err = judge_members(v, row, p);

	if (!err && ui->selection->filter.of != FILTER_OF_ROW)
		err = selection_query(ui, p, &q, true);
	scope.procs = v->members.pass;
	scope.nprocs = v->members.count;
	q.scope = &scope;
	return err ? err : functable_load(v->below, p, &q, NULL);
}

/* Of the samples that the row of the CPU counts. */
static int load_cpu(struct ui *ui, struct procs *v, const struct profile *p)
{
	const uint32_t cpu = v->rows.row[v->list.cursor].data.cpu;
	struct query q = selection_all(ui);
	struct sample_filter scope = {.ncpus = cpu + 1};
	bool *cpus = calloc(cpu + 1, sizeof(*cpus));
	int err = cpus ? 0 : -ENOMEM;

	bycpu_query(ui, &q);
	if (!err && ui->selection->filter.of != FILTER_OF_ROW)
		err = selection_query(ui, p, &q, true);
	if (!err) {
		cpus[cpu] = true;
		scope.cpus = cpus;
		q.scope = &scope;
		err = functable_load(v->below, p, &q, NULL);
	}
	free(cpus);
	return err;
}

#define HOLDERS 3 /* threads that are named */

static int by_holding(const void *a, const void *b)
{
	const struct proc_row *x = a, *y = b;

	return ORDER(y->locks[STACK_LOCK_HELD], x->locks[STACK_LOCK_HELD]);
}

/* Adds "TEXT 12%" unless it is 0. */
static void tell_share(struct procs *v, const char *text, uint64_t part, uint64_t all)
{
	const size_t at = strlen(v->locks);

	if (part)
		snprintf(v->locks + at, sizeof(v->locks) - at, "%s%s %.0f%%",
			 at ? ", " : "GIL: ", text, percent_of(part, all));
}

/* Many threads have the name of their process. */
static void thread_name(const struct profile_proc *proc, uint32_t tid, const char *comm,
			char to[16])
{
	if (tid == (uint32_t)proc->pid)
		snprintf(to, 16, "main");
	else if (!strcmp(comm, proc->comm))
		snprintf(to, 16, "%u", tid);
	else
		snprintf(to, 16, "%s", comm);
}

/* Which threads hold the lock of the process's interpreter, which is said in the rule below. */
static void load_locks(struct procs *v, const struct profile *p, const struct query *of)
{
	const struct procs_row *chosen = &v->rows.row[v->list.cursor];
	const uint64_t *locks = chosen->data.locks;
	const uint64_t all =
		locks[STACK_LOCK_HELD] + locks[STACK_LOCK_WAITS] + locks[STACK_LOCK_RELEASED];
	struct query q = *of;
	struct proc_row *rows;
	char name[16];
	size_t n;

	v->locks[0] = '\0';
	q.threads = true;
	if (!all || v->tid || query_procs(p, &q, &rows, &n))
		return;
	qsort(rows, n, sizeof(*rows), by_holding);
	for (size_t i = 0; i < n && i < HOLDERS; i++) {
		thread_name(chosen->proc, rows[i].tid, query_thread(p, q.proc, rows[i].tid), name);
		tell_share(v, name, rows[i].locks[STACK_LOCK_HELD], all);
	}
	free(rows);
	tell_share(v, "waiting", locks[STACK_LOCK_WAITS], all);
	tell_share(v, "released", locks[STACK_LOCK_RELEASED], all);
}

static int load_below(struct ui *ui, struct procs *v, const struct profile *p)
{
	const struct filter *filter = &ui->selection->filter;
	struct query q = selection_all(ui);
	struct sample_filter thread = {0};
	int err;

	v->locks[0] = '\0';
	if (ui->grouping == GROUP_CPU && v->list.count)
		return load_cpu(ui, v, p);
	if (v->list.count && procs_counts_several(v, &v->rows.row[v->list.cursor]))
		return load_members(ui, v, &v->rows.row[v->list.cursor], p);
	err = bycpu_filter(ui, p, &q);
	if (err)
		return err;
	if (v->tid) {
		ui_query_threads(ui, &q);
		thread.tid = v->tid;
		q.scope = &thread;
	}
	q.proc = v->list.count ? query_find_proc(p, v->pid, v->image) : QUERY_ALL;
	if (q.proc == QUERY_ALL) {
		functable_clear(v->below);
		return 0;
	}
	load_locks(v, p, &q);
	/* Without a column the filter is about processes here. */
	return functable_load(v->below, p, &q, filter->of == FILTER_OF_FUNC ? ui : NULL);
}

static int procs_load(struct ui *ui, const struct profile *p)
{
	struct procs *v = ui->state[VIEW_PROCS];
	/* A process that had ended keeps its row while the cursor is on it. */
	bool moved = v->moved && v->list.count && v->slices == query_slices(p) &&
		     !v->rows.row[v->list.cursor].group;
	bool time = profile_is_time(&ui->header.last);
	const bool waits = ui->measure != MEASURE_CPU;
	struct profile_health sum;
	int err;

	v->moved = false;
	if (moved)
		return load_below(ui, v, p);
	v->columns[PROCS_CPU].title = waits && ui->measure == MEASURE_OFF ? "OFF%"
				      : waits				  ? "WALL%"
				      : time ? procs_default[PROCS_CPU].title
					     : "SMP%";
	v->columns[PROCS_CPU].name = waits  ? "of one thread's time, off a CPU or in all"
				     : time ? procs_default[PROCS_CPU].name
					    : "SMP%: of all samples";
	query_health_sum(p, selection_all(ui).span, &sum);
	v->columns[PROCS_RATE].title = waits ? "us/s" : units_of(&sum)->rate;
	v->columns[PROCS_RATE].name = strcmp(v->columns[PROCS_RATE].title, "SMP/s")
					      ? v->columns[PROCS_RATE].title
					      : procs_default[PROCS_RATE].name;
	/* How often another event than a clock happens is what was asked for. */
	v->columns[PROCS_RATE].from = time ? procs_default[PROCS_RATE].from : 0;
	v->columns[PROCS_RATE].rank = time ? procs_default[PROCS_RATE].rank : 1;
	v->rows.pid = v->list.chosen ? v->pid : 0;
	v->rows.image = v->list.chosen ? v->image : 0;
	err = procrows_load(&v->rows, ui, p);
	v->slices = query_slices(p);
	v->ordered = false;
	v->list.count = err ? 0 : v->rows.kept;
	if (err)
		return err;
	sort_rows(ui, v);
	return load_below(ui, v, p);
}

static int procs_sort(struct ui *ui)
{
	struct procs *v = ui->state[VIEW_PROCS];

	sort_rows(ui, v);
	functable_sort(v->below);
	return 0;
}

/* --- keys ---------------------------------------------------------------------------------- */

static unsigned int procs_sort_by(struct ui *ui, int column)
{
	struct procs *v = ui->state[VIEW_PROCS];

	v->sorted = (enum procs_column)column;
	v->inverted = v->ordered = false;
	return UI_RESORT;
}

static const struct column *procs_columns(int *count, const struct ui *ui, int *sorted)
{
	const struct procs *v = ui->state[VIEW_PROCS];

	*count = PROCS_COLUMNS;
	*sorted = (int)v->sorted;
	return v->columns;
}

static unsigned int show_cpu(struct ui *ui, uint32_t cpu)
{
	char text[24];

	if (!cpu) {
		ui_notice(ui, "the CPU of these samples is not known");
		return UI_REDRAW;
	}
	snprintf(text, sizeof(text), "cpu:%u", cpu - 1);
	ui->grouping = GROUP_NONE;
	return selection_filter(ui, text);
}

static unsigned int group(struct ui *ui)
{
	static const char *const notes[] = {
		"processes, one by one",
		"grouped by program: Enter shows the processes of one",
		"grouped by container or unit: Enter shows the processes of one",
		"grouped by user: Enter shows the processes of one",
		"processes below their parents, with sums",
		"grouped by CPU: Enter keeps the samples of one"};
	struct procs *v = ui->state[VIEW_PROCS];

	v->rows.unfolded = false;
	ui->grouping = (enum grouping)((ui->grouping + 1) % GROUPINGS);
	/* Without counts per CPU there would be no rows: W turns them on. */
	if (ui->grouping == GROUP_CPU && !ui->header.last.by_cpu)
		ui->grouping = GROUP_NONE;
	ui->threads = false;
	ui_notice(ui, "%s", notes[ui->grouping]);
	if (ui->grouping == GROUP_CPU)
		bycpu_wanted(ui);
	return UI_RELOAD;
}

/* The processes of a group, as rows. */
static unsigned int enter_group(struct ui *ui, struct procs *v, const struct procs_row *row)
{
	const struct profile_proc *proc = row->proc;
	char only[128], text[PROMPT_TEXT];
	enum action action;

	if (proc->exited) {
		v->rows.unfolded = true;
		if (ui->grouping != GROUP_TREE)
			ui->grouping = GROUP_NONE;
		ui_notice(ui, "a row for each process that has exited; Esc or c folds them again");
		return UI_RELOAD;
	}
	search_quote(only, sizeof(only),
		     ui->grouping == GROUP_USER	    ? proc->user
		     : ui->grouping == GROUP_CGROUP ? proc->group
						    : proc->cmdline);
	snprintf(text, sizeof(text), "comm:%s", only);
	if (ui->grouping == GROUP_PROGRAM) {
		ui->grouping = GROUP_NONE;
		return selection_filter(ui, text);
	}
	action = ui->grouping == GROUP_USER ? ACTION_FILTER_USER : ACTION_FILTER_GROUP;
	ui->grouping = GROUP_NONE;
	return selection_filter_column(ui, action, only);
}

static unsigned int zoom(struct ui *ui, struct procs *v)
{
	const struct procs_row *row = v->list.count ? &v->rows.row[v->list.cursor] : NULL;
	struct profile_proc proc;

	if (!row)
		return 0;
	if (ui->grouping == GROUP_CPU)
		return show_cpu(ui, row->data.cpu);
	if (row->absent) {
		ui_notice(ui, "%d %s had no samples of its own", (int)row->proc->pid,
			  row->proc->comm);
		return UI_REDRAW;
	}
	if (row->group && (row->members != 1 || row->proc->exited || ui->grouping != GROUP_PROGRAM))
		return enter_group(ui, v, row);
	proc = *row->proc;
	if (row->group) {
		proc.pid = row->only;
		proc.image = row->only_image;
	}
	ui_zoom(ui, &proc);
	if (ui->measure != MEASURE_CPU && !row->data.tid)
		return ui_go(ui, VIEW_TREE);
	if (row->data.tid)
		snprintf(ui->zoom.thread, sizeof(ui->zoom.thread), "thread %u %s", row->data.tid,
			 row->thread);
	ui->zoom.tid = row->data.tid;
	return ui_go(ui, VIEW_FUNCS);
}

static unsigned int procs_key(struct ui *ui, enum action action)
{
	struct procs *v = ui->state[VIEW_PROCS];
	const struct procs_row *row = v->list.count ? &v->rows.row[v->list.cursor] : NULL;
	unsigned int flags;
	bool many;

	if (list_move(&v->list, action)) {
		hold_cursor(v);
		v->moved = true;
		return UI_RELOAD;
	}
	if (row && (row->group || row->absent) &&
	    (action == ACTION_TAG || action == ACTION_TAG_PLAY || action == ACTION_INSPECT)) {
		ui_notice(ui, row->absent ? "it had no samples"
					  : "this is a group: Enter shows its processes");
		return UI_REDRAW;
	}
	switch (action) {
	case ACTION_GROUP:
		return group(ui);
	case ACTION_ZOOM:
		return zoom(ui, v);
	case ACTION_FOLLOW:
		return UI_RESORT;
	case ACTION_ZOOM_THREAD:
		if (v->tid && v->list.count)
			return zoom(ui, v);
		ui_notice(ui, "which thread? H gives each a row");
		return UI_REDRAW;
	case ACTION_FILTER_USER:
		/* A group of another kind has processes of many. */
		many = row && row->group && ui->grouping != GROUP_USER;
		return selection_ask_column(ui, action, row && !many ? row->proc->user : NULL);
	case ACTION_FILTER_GROUP:
		many = row && row->group && ui->grouping != GROUP_CGROUP;
		return selection_ask_column(ui, action, row && !many ? row->proc->group : NULL);
	case ACTION_SAME_NAME:
		return row ? search_name(ui, row->proc->comm) : 0;
	case ACTION_INSPECT:
		if (row && row->proc->exited && !ui->header.replayed) {
			ui_notice(ui, "%d has exited: no walk of it will come", (int)v->pid);
			return UI_REDRAW;
		}
		return row ? unwind_inspect(ui, v->pid, 0) : 0;
	case ACTION_ATTACH:
		return attach_ask_proc(ui, row ? row->proc : NULL, row && row->group);
	case ACTION_TAG:
	case ACTION_TAG_PLAY:
		if (!row)
			return 0;
		flags = selection_tag(ui, row->proc);
		/* The cursor moves on, so that neighbours are tagged by one key. */
		list_move(&v->list, ACTION_DOWN);
		hold_cursor(v);
		return flags;
	case ACTION_LEFT:
		if (!v->scroll)
			ui_notice(ui, "the commands are shown from their beginning");
		v->scroll -= v->scroll ? PROCLINE_SCROLL : 0;
		return UI_REDRAW;
	case ACTION_RIGHT:
		if (v->scroll >= v->scroll_max)
			ui_notice(ui, "the commands are shown to their end");
		else
			v->scroll += PROCLINE_SCROLL;
		return UI_REDRAW;
	case ACTION_INVERT:
		v->inverted = !v->inverted;
		v->ordered = false;
		return UI_RESORT;
	case ACTION_SORT_SELF:
		v->below->sorted =
			v->below->sorted == FUNCTABLE_SELF ? FUNCTABLE_TOTAL : FUNCTABLE_SELF;
		return UI_RESORT;
	case ACTION_BACK:
		if (v->rows.unfolded) {
			v->rows.unfolded = false;
			return UI_RELOAD;
		}
		ui->zoom.on = ui->zoom.in_module = false;
		ui->zoom.tid = 0;
		return UI_REDRAW;
	default:
		return 0;
	}
}

static bool row_matches(const struct ui *ui, const struct procs_row *row)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)row->proc->pid);
	return search_matches(ui, row->proc->cmdline) || search_matches(ui, row->proc->comm) ||
	       search_matches(ui, row->proc->user) || search_matches(ui, row->proc->group) ||
	       search_matches(ui, pid);
}

static unsigned int procs_find(struct ui *ui, int step, bool here)
{
	struct procs *v = ui->state[VIEW_PROCS];

	if (!LIST_FIND(&v->list, step, here, i, row_matches(ui, &v->rows.row[i])))
		return 0;
	hold_cursor(v);
	v->moved = true;
	return UI_RELOAD;
}

static unsigned int procs_place(struct ui *ui, struct view_place *place, bool back)
{
	struct procs *v = ui->state[VIEW_PROCS];

	if (!back) {
		place->list[0] = v->list;
		place->id[0] = (uint64_t)v->pid;
		place->id[1] = v->image;
		place->id[2] = v->tid;
		return 0;
	}
	list_restore(&v->list, &place->list[0]);
	v->pid = (pid_t)place->id[0];
	v->image = place->id[1];
	v->tid = (uint32_t)place->id[2];
	return UI_RELOAD;
}

void procs_under_cursor(const struct ui *ui, pid_t *pid, uint64_t *image)
{
	const struct procs *v = ui->state[VIEW_PROCS];

	if (v->list.count) {
		*pid = v->rows.row[v->list.cursor].proc->pid;
		*image = v->rows.row[v->list.cursor].proc->image;
	}
}

void procs_scope(const struct ui *ui, struct procs_scope *to)
{
	const struct procs *v = ui->state[VIEW_PROCS];
	const struct procs_row *row = v->list.count ? &v->rows.row[v->list.cursor] : NULL;

	*to = (struct procs_scope){.grouping = ui->grouping};
	if (!row)
		return;
	to->pid = row->proc->pid;
	to->image = row->proc->image;
	to->tid = row->data.tid;
	to->cpu = row->data.cpu;
	to->several = ui->grouping != GROUP_CPU && procs_counts_several(v, row);
	procs_row_name(ui, v, row, to->name, sizeof(to->name));
}

int procs_members(const struct ui *ui, const struct profile *p, const struct procs_scope *scope,
		  struct sample_filter *members)
{
	struct procs *v = ui->state[VIEW_PROCS];
	int err;

	for (size_t i = 0; i < v->list.count && scope->grouping == ui->grouping; i++) {
		const struct procs_row *row = &v->rows.row[i];

		if (row->proc->pid != scope->pid || row->proc->image != scope->image ||
		    row->data.tid || !procs_counts_several(v, row))
			continue;
		err = judge_members(v, row, p);
		members->procs = v->members.pass;
		members->nprocs = v->members.count;
		return err;
	}
	return -ESRCH;
}

/* The hottest, or what it is sorted by: the lower table has no cursor of its own. */
static const struct profile_func *procs_function(const struct ui *ui)
{
	const struct procs *v = ui->state[VIEW_PROCS];

	return v->list.count ? functable_function(v->below) : NULL;
}

static int procs_plain(const struct ui *ui, struct plain_list *list)
{
	const struct procs *v = ui->state[VIEW_PROCS];
	const struct procline line = {.ui = ui, .cpus = procs_cpus(ui)};

	procline_plain(&line, v->rows.row, v->list.count, v->columns, v->sorted, list);
	return 0;
}

const struct view_ops procs_view = {
	.title = "Procs",
	.open = procs_open,
	.close = procs_close,
	.load = procs_load,
	.sort = procs_sort,
	.draw = procs_draw,
	.details = procs_details,
	.key = procs_key,
	.find = procs_find,
	.place = procs_place,
	.columns = procs_columns,
	.sort_by = procs_sort_by,
	.function = procs_function,
	.plain = procs_plain,
};
