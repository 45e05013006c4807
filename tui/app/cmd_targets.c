// SPDX-License-Identifier: GPL-2.0-or-later
/* See cmd_targets.h. */
#include "tui/app/cmd_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tui/views/annotate.h"
#include "tui/views/procrows.h"
#include "tui/ui/selection.h"
#include "tui/ui/view.h"

/* Of those that were sampled, the busiest; else one that was not, by its PID. A copy. */
static bool find_process(struct ui *ui, const char *text, struct profile_proc *out)
{
	struct profile *p = ui_profile(ui);
	bool number = strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);
	pid_t pid = number ? (pid_t)strtol(text, NULL, 10) : 0;
	struct query q = procrows_query(ui);
	const struct profile_proc *proc;
	struct proc_row *rows = NULL;
	uint64_t most = 0;
	size_t count = 0;
	bool found = false;

	profile_lock(p);
	if (query_procs(p, &q, &rows, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		proc = query_proc(p, rows[i].proc);
		if (!proc || (pid ? proc->pid != pid : strcmp(proc->comm, text) != 0) ||
		    (found && rows[i].samples <= most))
			continue;
		*out = *proc;
		most = rows[i].samples;
		found = true;
	}
	proc = !found && pid ? query_proc(p, query_pid(p, pid)) : NULL;
	if (proc) {
		*out = *proc;
		found = true;
	}
	profile_unlock(p);
	free(rows);
	if (!found)
		ui_notice(ui, "there is no process '%s' with samples", text);
	return found;
}

unsigned int cmd_targets_zoom(struct ui *ui, const char *text)
{
	struct profile_proc proc;

	if (!find_process(ui, text, &proc))
		return UI_REDRAW;
	ui_zoom(ui, &proc);
	return ui_go(ui, VIEW_BIT(ui->view) & (IN_NAMES | IN_UNWIND) ? ui->view : VIEW_FUNCS);
}

unsigned int cmd_targets_tag(struct ui *ui, const char *text)
{
	struct profile_proc proc;

	return find_process(ui, text, &proc) ? selection_tag(ui, &proc) : UI_REDRAW;
}

unsigned int cmd_targets_inspect(struct ui *ui, const char *text)
{
	struct profile_proc proc;

	return find_process(ui, text, &proc) ? unwind_inspect(ui, proc.pid, 0) : UI_REDRAW;
}

struct target_search {
	char name[1024], module[256];
	enum func_kind kind;
	uint64_t self;
	bool any;
};

static void find_function(struct ui *ui, const char *text, struct target_search *out)
{
	struct profile *p = ui_profile(ui);
	struct func_row *rows = NULL;
	struct query q;
	size_t count = 0;

	profile_lock(p);
	if (!ui_query(ui, p, &q) || query_funcs(p, &q, &rows, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct profile_func *func = query_func(p, rows[i].func);

		if (!func || strcmp(func->name, text) != 0 ||
		    (out->any && rows[i].self <= out->self))
			continue;
		snprintf(out->name, sizeof(out->name), "%s", func->name);
		snprintf(out->module, sizeof(out->module), "%s", func->module);
		out->kind = func->kind;
		out->self = rows[i].self;
		out->any = true;
	}
	profile_unlock(p);
	free(rows);
}

unsigned int cmd_targets_annotate(struct ui *ui, const char *text)
{
	struct target_search found = {.any = false};
	struct profile_func func = {.name = found.name, .module = found.module};

	find_function(ui, text, &found);
	if (!found.any) {
		ui_notice(ui, "there is no function '%s' with samples", text);
		return UI_REDRAW;
	}
	func.kind = found.kind;
	return annotate_open(ui, &func, ui->zoom.on ? ui->zoom.pid : 0, ui->zoom.image);
}

unsigned int cmd_targets_sort(struct ui *ui, const char *text)
{
	const struct view_ops *view = view_get(ui);
	const struct column *columns;
	int count, sorted;

	if (!view->columns || !view->sort_by || ui->overlay.ops) {
		ui_notice(ui, "this view cannot be sorted");
		return UI_REDRAW;
	}
	columns = view->columns(&count, ui, &sorted);
	for (int i = 0; i < count; i++)
		if (columns[i].sortable && strncasecmp(columns[i].title, text, strlen(text)) == 0)
			return view->sort_by(ui, i);
	ui_notice(ui, "there is no column '%s' to sort by", text);
	return UI_REDRAW;
}
