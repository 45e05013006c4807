// SPDX-License-Identifier: GPL-2.0-or-later
/* See unwind_tables.h. */
#include "tui/views/unwind_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/views/objtable.h"
#include "tui/views/procline.h"
#include "tui/util/share.h"

#define BROKEN_SHARE 0.05 /* more than this gets a mark */
#define SCOPES_FIXED 2	  /* rows that are no processes */
#define NUMBER_SIZE  32

const struct column unwind_procs_columns[SCOPE_COLUMNS] = {
	[SCOPE_MARK] = {.title = "", .min = 2, .max = 2, .keep = true},
	[SCOPE_PID] = COLUMN("PID", 8, 8, 0, true, true, SORTS_UP, "PID", NULL),
	[SCOPE_WALKS] =
		COLUMN("WALKS", 9, 10, 0, true, false, SORTS_DOWN, "WALKS: user stacks", NULL),
	[SCOPE_COMPLETE] = COLUMN("COMPLETE", 10, 11, 0, true, true, SORTS_UP,
				  "COMPLETE: share of them", NULL),
	[SCOPE_BROKEN] =
		COLUMN("BROKEN", 8, 10, 0, true, true, SORTS_DOWN, "BROKEN: not complete", NULL),
	[SCOPE_RATE] = {.title = "/s", .min = 7, .max = 8, .right = true},
	[SCOPE_GUESSED] = COLUMN("GUESSED", 9, 10, 0, true, false, SORTS_DOWN,
				 "GUESSED: complete, if a frame pointer is right", NULL),
	[SCOPE_REASON] =
		COLUMN("MOSTLY", 17, 34, 9, false, true, SORTS_UP, "MOSTLY: the reason", NULL),
	[SCOPE_COMMAND] = COLUMN("COMMAND", 11, 400, 3, false, true, SORTS_UP, "COMMAND", NULL),
};

void unwind_procs_free(struct unwind_procs *t)
{
	free(t->scopes);
	t->scopes = NULL;
	t->list.count = 0;
}

static uint64_t broken(const struct walk_end_proc *proc)
{
	return proc->walks - proc->complete;
}

static double completeness(const struct walk_end_proc *proc)
{
	return proc->walks ? (double)proc->complete / (double)proc->walks : 1;
}

static int compare_by(enum scope_column column, const struct walk_end_proc *a,
		      const struct walk_end_proc *b)
{
	switch (column) {
	case SCOPE_PID:
		return most_first(b->proc.pid, a->proc.pid);
	case SCOPE_WALKS:
		return most_first((double)a->walks, (double)b->walks);
	case SCOPE_COMPLETE: /* the least complete first: they are looked for */
		return most_first(completeness(b), completeness(a));
	case SCOPE_GUESSED:
		return most_first((double)a->guessed, (double)b->guessed);
	case SCOPE_REASON:
		return strcmp(a->reason ? a->reason->name : "", b->reason ? b->reason->name : "");
	case SCOPE_COMMAND:
		return strcmp(a->proc.cmdline, b->proc.cmdline);
	default:
		return most_first((double)broken(a), (double)broken(b));
	}
}

static int compare_scopes(const void *x, const void *y, void *arg)
{
	const struct unwind_procs *t = arg;
	const struct walk_end_proc *a = &t->endings->procs[*(const int *)x];
	const struct walk_end_proc *b = &t->endings->procs[*(const int *)y];
	int result = compare_by(t->sorted, a, b);

	if (result)
		return t->inverted ? -result : result;
	result = compare_by(SCOPE_BROKEN, a, b);
	if (!result)
		result = compare_by(SCOPE_WALKS, a, b);
	if (!result)
		result = compare_by(SCOPE_PID, a, b);
	return result ? result : (a->proc.image > b->proc.image) - (a->proc.image < b->proc.image);
}

const struct walk_end_proc *unwind_procs_proc(const struct unwind_procs *t)
{
	if (t->list.cursor >= t->list.count || t->scopes[t->list.cursor] < 0)
		return NULL;
	return &t->endings->procs[t->scopes[t->list.cursor]];
}

void unwind_procs_hold(struct unwind_procs *t)
{
	const struct walk_end_proc *proc = unwind_procs_proc(t);

	t->fixed = 0;
	if (!proc) {
		t->fixed = t->list.cursor < t->list.count ? t->scopes[t->list.cursor]
							  : UNWIND_REASONS_ALL;
		return;
	}
	t->pid = proc->proc.pid;
	t->image = proc->proc.image;
}

/* False: what the cursor was on is gone. */
static bool place_cursor(struct unwind_procs *t)
{
	bool found = false;

	for (size_t i = 0; i < t->list.count && !found; i++) {
		const int scope = t->scopes[i];
		const struct profile_proc *proc = scope < 0 ? NULL : &t->endings->procs[scope].proc;

		found = t->fixed || !proc ? scope == t->fixed
					  : proc->pid == t->pid && proc->image == t->image;
		if (found)
			t->list.cursor = i;
	}
	t->list.pins = true;
	list_settle(&t->list, t->list.page);
	return found;
}

int unwind_procs_load(struct unwind_procs *t, const struct walk_ends *e,
		      const struct filter *filter)
{
	size_t n = SCOPES_FIXED;
	int *scopes = realloc(t->scopes, (e->nprocs + SCOPES_FIXED) * sizeof(*scopes));

	if (!scopes)
		return -ENOMEM;
	t->endings = e;
	t->scopes = scopes;
	scopes[0] = UNWIND_REASONS_ALL;
	scopes[1] = UNWIND_REASONS_LOST;
	for (size_t i = 0; i < e->nprocs; i++)
		if (filter_keeps_proc(filter, &e->procs[i].proc))
			scopes[n++] = (int)i;
	if (n > SCOPES_FIXED)
		qsort_r(scopes + SCOPES_FIXED, n - SCOPES_FIXED, sizeof(*scopes), compare_scopes,
			t);
	t->list.count = n;
	t->gone = !place_cursor(t);
	return 0;
}

int unwind_procs_chosen(const struct unwind_procs *t)
{
	return t->list.cursor < t->list.count ? t->scopes[t->list.cursor] : UNWIND_REASONS_ALL;
}

/* --- drawing ------------------------------------------------------------------------------- */

struct scope { /* a row in words */
	char pid[16], walks[NUMBER_SIZE], complete[16], broken[NUMBER_SIZE], rate[16],
		guessed[NUMBER_SIZE];
	const char *reason, *command;
	bool bad;
};

static void describe_walks(const struct walk_ends *e, uint64_t walks, uint64_t complete,
			   uint64_t guessed, struct scope *s)
{
	double part = walks ? (double)complete / (double)walks : 1;

	s->bad = 1 - part > BROKEN_SHARE;
	objtable_number(s->walks, sizeof(s->walks), walks);
	snprintf(s->complete, sizeof(s->complete), walks ? "%s%.1f%%" : "-", s->bad ? "! " : "",
		 100 * part);
	objtable_number(s->broken, sizeof(s->broken), walks - complete);
	snprintf(s->rate, sizeof(s->rate), "%.1f", walk_ends_rate(e, walks - complete));
	objtable_number(s->guessed, sizeof(s->guessed), guessed);
}

static void describe_all(const struct walk_ends *e, struct scope *s)
{
	uint64_t walks = 0, complete = 0, guessed = 0, most = 0;

	for (size_t i = 0; i < e->nprocs; i++) {
		walks += e->procs[i].walks;
		complete += e->procs[i].complete;
		guessed += e->procs[i].guessed;
		if (broken(&e->procs[i]) > most) {
			most = broken(&e->procs[i]);
			s->reason = e->procs[i].reason->name;
		}
	}
	snprintf(s->pid, sizeof(s->pid), "all");
	s->command = "all processes";
	describe_walks(e, walks, complete, guessed, s);
}

static void describe_lost(const struct walk_ends *e, struct scope *s)
{
	/* Of all that should have been shown. */
	uint64_t lost = profile_lost(&e->health) + e->health.loss[LOSS_THROTTLED] +
			e->health.loss[LOSS_MISSED],
		 most = 0;
	struct entry_line lines[WALK_ENDS_LINES];
	size_t n = walk_ends_lines(e, lines);

	for (size_t i = 0; i < n; i++) {
		if (lines[i].normal)
			continue;
		s->bad = true;
		if (lines[i].count > most) {
			most = lines[i].count;
			s->reason = lines[i].cause.name;
		}
	}
	snprintf(s->pid, sizeof(s->pid), "lost");
	snprintf(s->walks, sizeof(s->walks), "-");
	snprintf(s->complete, sizeof(s->complete), s->bad ? "!" : "-");
	objtable_number(s->broken, sizeof(s->broken), lost);
	snprintf(s->rate, sizeof(s->rate), "%.1f", walk_ends_rate(e, lost));
	snprintf(s->guessed, sizeof(s->guessed), "-");
	s->command = "samples not shown";
}

static struct scope describe(const struct walk_ends *e, int scope)
{
	struct scope s = {.reason = "-", .command = ""};
	const struct walk_end_proc *proc;

	if (scope == UNWIND_REASONS_ALL) {
		describe_all(e, &s);
	} else if (scope == UNWIND_REASONS_LOST) {
		describe_lost(e, &s);
	} else {
		proc = &e->procs[scope];
		snprintf(s.pid, sizeof(s.pid), "%d", (int)proc->proc.pid);
		s.command = proc->proc.cmdline;
		s.reason = proc->reason ? proc->reason->name : "-";
		describe_walks(e, proc->walks, proc->complete, proc->guessed, &s);
	}
	return s;
}

static void draw_scope(const struct ui *ui, const struct unwind_procs *t, int scope, struct grid *g,
		       int y, const int *width)
{
	struct scope s = describe(t->endings, scope);
	enum role role = s.bad ? ROLE_BROKEN : ROLE_OK;
	int col = width[SCOPE_MARK];

	grid_right(g, y, col, width[SCOPE_PID] - 1, scope < 0 ? ROLE_TITLE : ROLE_TEXT, s.pid);
	col += width[SCOPE_PID];
	grid_right(g, y, col, width[SCOPE_WALKS] - 1, ROLE_TEXT, s.walks);
	col += width[SCOPE_WALKS];
	grid_right(g, y, col, width[SCOPE_COMPLETE] - 1, role, s.complete);
	col += width[SCOPE_COMPLETE];
	grid_right(g, y, col, width[SCOPE_BROKEN] - 1, s.bad ? ROLE_BROKEN : ROLE_TEXT, s.broken);
	col += width[SCOPE_BROKEN];
	grid_right(g, y, col, width[SCOPE_RATE] - 1, ROLE_TEXT, s.rate);
	col += width[SCOPE_RATE];
	grid_right(g, y, col, width[SCOPE_GUESSED] - 1, ROLE_TEXT, s.guessed);
	col += width[SCOPE_GUESSED];
	grid_fit(g, y, col, width[SCOPE_REASON] - 1, s.bad ? ROLE_BROKEN : ROLE_DIM, s.reason);
	col += width[SCOPE_REASON];
	grid_fit(g, y, col, width[SCOPE_COMMAND],
		 scope >= 0 && search_matches(ui, s.command) ? ROLE_MATCH : ROLE_TEXT,
		 scope >= 0 ? procline_command(g, s.command, 0, width[SCOPE_COMMAND]) : s.command);
}

void unwind_procs_draw(const struct ui *ui, struct unwind_procs *t, struct grid *g, int top,
		       int rows)
{
	int width[SCOPE_COLUMNS], n;

	columns_fit(unwind_procs_columns, SCOPE_COLUMNS, g->cols,
		    config_hidden(&ui->config, VIEW_UNWIND, unwind_procs_columns, SCOPE_COLUMNS),
		    width);
	columns_header(g, top, unwind_procs_columns, SCOPE_COLUMNS, width, (int)t->sorted,
		       t->inverted);
	n = list_fit(&t->list, rows);
	for (int i = 0; i < n; i++)
		draw_scope(ui, t, t->scopes[list_at(&t->list, i)], g, top + 1 + i, width);
	list_draw_range(&t->list, g, top);
	list_draw_scroll(&t->list, g, top + 1, n, g->cols - 1);
	list_mark(&t->list, g, top, n, true);
}

static bool matches(const struct ui *ui, const struct walk_ends *e, int scope)
{
	const struct scope s = describe(e, scope);

	return search_matches(ui, s.command) || search_matches(ui, s.pid) ||
	       search_matches(ui, s.reason);
}

bool unwind_procs_find(struct ui *ui, struct unwind_procs *t, int step, bool here)
{
	bool found = LIST_FIND(&t->list, step, here, i, matches(ui, t->endings, t->scopes[i]));

	if (found)
		unwind_procs_hold(t);
	return found;
}
