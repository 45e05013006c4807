// SPDX-License-Identifier: GPL-2.0-or-later
/* See plain_list.h. */
#include "tui/ui/plain_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tui/ui/names.h"
#include "tui/ui/selection.h"
#include "tui/ui/view.h"
#include "tui/util/share.h"

struct plain_row *plain_list_add(struct plain_list *list, uint64_t key, double percent)
{
	struct plain_row *row = &list->rows[list->count];

	list->whole++;
	if (list->count == PLAIN_ROWS)
		return NULL;
	list->count++;
	*row = (struct plain_row){.key = key, .percent = percent};
	return row;
}

void plain_row_add(struct plain_row *row, const char *format, ...)
{
	size_t length = strlen(row->more);
	va_list args;

	if (length)
		length += (size_t)snprintf(row->more + length, sizeof(row->more) - length, "; ");
	if (length >= sizeof(row->more))
		return;
	va_start(args, format);
	vsnprintf(row->more + length, sizeof(row->more) - length, format, args);
	va_end(args);
}

void plain_row_few(const struct ui *ui, struct plain_row *row, uint64_t samples)
{
	if (ui->measure == MEASURE_CPU && samples < SHARE_FEW)
		plain_row_add(row, "only %llu %s", (unsigned long long)samples,
			      samples == 1 ? "sample" : "samples");
}

const char *plain_samples(const struct ui *ui, uint64_t samples)
{
	if (ui->measure != MEASURE_CPU)
		return ui->measure == MEASURE_OFF ? "time off CPUs" : "time on CPUs and off";
	return samples < SHARE_FEW ? "only a few samples" : "samples";
}

void plain_row_columns(struct plain_row *row, const struct column *columns, int count,
		       unsigned int hidden, columns_cell_fn cell, const void *table,
		       const void *from)
{
	for (int i = 0; i < count; i++) {
		struct column_cell c = {.role = ROLE_TEXT};
		const char *words = columns[i].words, *place = words ? strstr(words, "%s") : NULL;

		if (hidden & 1U << i || (words && !words[0]))
			continue;
		cell(table, from, i, &c);
		if (!c.text[0])
			continue;
		/* The text in the place of "%s"; other per cent signs stand for themselves. */
		if (place)
			plain_row_add(row, "%.*s%s%s", (int)(place - words), words, c.text,
				      place + 2);
		else if (!words)
			plain_row_add(row, "%s %s", columns[i].title, c.text);
	}
}

void plain_func(const struct profile_func *func, char *to, size_t size)
{
	const char *kind = names_kind(func);
	char name[320];

	names_show(func, name, sizeof(name));
	snprintf(to, size, "%s%s%s", name, kind[0] ? ", " : "", kind);
	size -= strlen(to);
	/* A row that stands for a file is called like it. */
	if (func->module[0] && strcmp(func->module, name) != 0)
		snprintf(to + strlen(to), size, ", in %s", func->module);
}

/* Which time, and which part of it. */
static void end_title(struct plain_list *list, const struct ui *ui)
{
	size_t length = strlen(list->title);
	const char *frames = ui->hide_kernel && ui->hide_user ? ", without any frames"
			     : ui->hide_kernel		      ? ", without kernel frames"
			     : ui->hide_user		      ? ", without user frames"
							      : "";
	const char *mode = ui->frames == FRAMES_ALL	   ? ", interpreters as well"
			   : ui->frames == FRAMES_LANGUAGE ? ", only frames of languages"
							   : "";
	const char *frozen = ui->scrub.clock[0] ? ui->scrub.clock : ui->clock;
	char filter[320] = "";

	if (ui->selection->filter.set)
		snprintf(filter, sizeof(filter), ", filter %s%s", ui->selection->filter.text,
			 selection_meaning(ui) ? "" : " (no effect here)");
	snprintf(list->title + length, sizeof(list->title) - length, "%s%s%s, %s%s%s%s", frames,
		 ui->hide_inline ? ", without inlined calls" : "", mode, ui_weighed(ui),
		 ui->frozen ? ", frozen at " : "", ui->frozen ? frozen : "", filter);
}

int plain_list_make(struct plain_list *list, const struct ui *ui)
{
	int err;

	memset(list, 0, sizeof(*list));
	if (ui->overlay.ops) {
		err = ui->overlay.ops->plain(ui, list);
		if (!err && ui->overlay.ops->filtered)
			end_title(list, ui);
		return err;
	}
	snprintf(list->empty, sizeof(list->empty), "%s",
		 ui->selection->filter.set ? "The filter keeps nothing." : "There are no samples.");
	err = view_get(ui)->plain(ui, list);
	if (!err && ui->view != VIEW_SHARDS)
		end_title(list, ui);
	return err;
}
