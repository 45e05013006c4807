// SPDX-License-Identifier: GPL-2.0-or-later
/* What the views that can be zoomed are about: a process, a thread of it, a module. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tui/screen/hints.h"
#include "tui/screen/list.h"
#include "tui/ui/selection.h"
#include "tui/profile/units.h"
#include "tui/ui/ui.h"
#include "tui/util/share.h"

#define HOTTEST "hottest line "

void ui_zoom(struct ui *ui, const struct profile_proc *proc)
{
	ui->zoom.on = true;
	ui->zoom.pid = proc->pid;
	ui->zoom.image = proc->image;
	ui->zoom.tid = 0;
	ui->zoom.in_module = false;
	snprintf(ui->zoom.name, sizeof(ui->zoom.name), "%d %s", (int)proc->pid, proc->comm);
}

unsigned int ui_zoom_module(struct ui *ui, const char *module)
{
	ui->zoom.in_module = true;
	snprintf(ui->zoom.module, sizeof(ui->zoom.module), "%s", module);
	return UI_RELOAD;
}

unsigned int ui_zoom_out(struct ui *ui)
{
	if (ui->zoom.in_module) {
		ui->zoom.in_module = false;
		return UI_RELOAD;
	}
	if (ui->zoom.tid) {
		ui->zoom.tid = 0;
		return UI_RELOAD;
	}
	ui->zoom.on = false;
	return ui_go(ui, VIEW_PROCS);
}

void ui_zoom_follow(struct ui *ui, const struct profile *p)
{
	const struct profile_proc *now;
	struct zoom *zoom = &ui->zoom;
	uint32_t id;

	if (!ui->follow || !zoom->on || ui->frozen)
		return;
	id = query_pid(p, zoom->pid);
	now = id == QUERY_ALL ? NULL : query_proc(p, id);
	if (!now || now->image == zoom->image)
		return;
	zoom->image = now->image;
	snprintf(zoom->name, sizeof(zoom->name), "%d %s", (int)now->pid, now->comm);
}

bool ui_knows_threads(struct ui *ui)
{
	if (ui->frozen && ui->header.slices && !ui->scrub.weighed && !ui->scrub.slices)
		ui_notice(ui, "too long ago: threads are no longer known; z shows now");
	else if (ui->span != SPAN_WINDOW && (!ui->frozen || ui->scrub.weighed))
		ui_notice(ui, "threads are only known in the window: m shows it");
	else
		return true;
	return false;
}

void ui_query_threads(const struct ui *ui, struct query *q)
{
	q->threads = true;
	q->span = ui->frozen ? SPAN_MOMENT : SPAN_WINDOW;
}

void ui_zoom_name(const struct ui *ui, char *to, size_t size)
{
	const struct tags *tags = &ui->selection->tags;
	const struct zoom *zoom = &ui->zoom;
	size_t n;

	if (selection_sums(ui))
		snprintf(to, size, "%zu tagged:", tags->count);
	else
		snprintf(to, size, "%s", zoom->on ? zoom->name : "all processes");
	for (size_t i = 0; selection_sums(ui) && i < tags->count; i++) {
		n = strlen(to);
		snprintf(to + n, size - n, "%s%d", i ? ", " : " ", (int)tags->tag[i].pid);
	}
	n = strlen(to);
	if (zoom->on && zoom->tid)
		snprintf(to + n, size - n, " > %s", zoom->thread);
	n = strlen(to);
	if (zoom->in_module)
		snprintf(to + n, size - n, " > %s", zoom->module);
}

bool ui_zoom_changed(const struct ui *ui, char *about, size_t size)
{
	char name[512];

	ui_zoom_name(ui, name, sizeof(name));
	name[size - 1 < sizeof(name) ? size - 1 : sizeof(name) - 1] = '\0';
	if (strcmp(name, about) == 0)
		return false;
	snprintf(about, size, "%s", name);
	return true;
}

static bool are_few(const struct ui *ui, uint64_t samples)
{
	return units_are_samples(&ui->header.last, ui->measure) && samples < SHARE_FEW;
}

void ui_amount(const struct ui *ui, uint64_t samples, char *to, size_t size)
{
	units_amount(&ui->header.last, ui->measure, samples, to, size);
}

void ui_samples(const struct ui *ui, uint64_t samples, char *to, size_t size)
{
	char text[40];

	ui_amount(ui, samples, text, sizeof(text));
	snprintf(to, size, "%s%s", are_few(ui, samples) ? "only " : "", text);
}

void ui_count(const struct ui *ui, uint64_t samples, char *to, size_t size)
{
	if (ui->measure != MEASURE_CPU)
		units_time(samples, to, size);
	else if (units_are_samples(&ui->header.last, ui->measure))
		snprintf(to, size, "%llu", (unsigned long long)samples);
	else
		units_number((double)samples, to, size);
}

const char *ui_count_title(const struct ui *ui)
{
	return ui->measure != MEASURE_CPU			  ? "TIME"
	       : units_are_samples(&ui->header.last, ui->measure) ? "SAMPLES"
								  : "EVENTS";
}

int ui_draw_samples(const struct ui *ui, struct grid *g, int row, uint64_t samples,
		    const struct list *list)
{
	char range[LIST_RANGE] = "", text[48];
	int end = g->cols - 1, width;

	if (list)
		list_range(list, range);
	width = grid_width(g, range);
	if (width && 2 * width < end) {
		end -= width;
		grid_put(g, row, end, width, ROLE_DIM, range);
		end -= 2;
	}
	ui_samples(ui, samples, text, sizeof(text));
	width = grid_width(g, text);
	if (!samples || 2 * (width + g->cols - end) > g->cols)
		return end;
	end -= width;
	grid_put(g, row, end, width, are_few(ui, samples) ? ROLE_WARN : ROLE_DIM, text);
	return end - 2;
}

/* "hottest line src/http/parse.c:42" in front of column end, behind col; folders go first when
 * there is no room, then the words. */
static void draw_hottest(const struct profile_func *func, struct grid *g, int row, int col, int end)
{
	int room = end - col - 3, label = (int)strlen(HOTTEST), width;
	char text[PATH_MAX + 32];
	const char *shown = text;

	if (!func || !func->file)
		return;
	snprintf(text, sizeof(text), "%s:%u", func->file, func->line);
	/* The longest end of the path, from a folder on, that fits. */
	while (grid_width(g, shown) > room - label && strchr(shown, '/'))
		shown = strchr(shown, '/') + 1;
	width = grid_width(g, shown);
	if (width > room)
		return;
	if (width + label <= room)
		grid_put(g, row, end - width - label - 1, label, ROLE_DIM, HOTTEST);
	grid_put(g, row, end - width - 1, width, ROLE_TEXT, shown);
}

void ui_draw_zoom(const struct ui *ui, struct grid *g, int row, int end,
		  const struct profile_func *func)
{
	int col = grid_put(g, row, 0, end, ROLE_DIM, " Zoom: ");
	bool deep = ui->zoom.on || selection_sums(ui);
	char name[512], out[64];

	if (deep)
		col += grid_cut(g, row, col, end - col, ROLE_TEXT, "all > ");
	ui_zoom_name(ui, name, sizeof(name));
	deep |= ui->zoom.in_module;
	col += grid_cut(g, row, col, end - col, deep ? ROLE_TITLE : ROLE_TEXT, name);
	hints_words(&ui->config.keys, ACTION_BACK, "goes one level out", out, sizeof(out));
	if (deep && col + 3 + grid_width(g, out) <= end)
		col += 3 + grid_put(g, row, col + 3, end - col - 3, ROLE_DIM, out);
	draw_hottest(func, g, row, col, end);
}
