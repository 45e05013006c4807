// SPDX-License-Identifier: GPL-2.0-or-later
/* See statebar.h. Which cause a cell has is decided by the time at its middle. */
#include "tui/ui/statebar.h"

#include <stdio.h>
#include <string.h>

#include "tui/query/query.h"
#include "tui/ui/names.h"
#include "tui/ui/ui.h"
#include "tui/util/share.h"

/* Without colours a letter says which cause it is. */
static bool by_letter(const struct ui *ui, const struct grid *g)
{
	return g->ascii || ui->no_color || strcmp(ui->config.theme, "mono") == 0;
}

void statebar_cell(const struct ui *ui, struct grid *g, int y, int col, enum wait_cause cause)
{
	const char letter[2] = {wait_text(cause)->letter, '\0'};

	grid_put(g, y, col, 1, names_wait_role(cause), by_letter(ui, g) ? letter : "█");
}

void statebar_draw(const struct ui *ui, struct grid *g, int y, int col, int cells,
		   const struct time_row *time)
{
	int cause = WAIT_NONE;
	uint64_t before = 0;

	for (int i = 0; i < cells && !time->all; i++)
		grid_put(g, y, col + i, 1, ROLE_DIM, ".");
	for (int i = 0; i < cells && time->all; i++) {
		const double at = ((double)i + 0.5) * (double)time->all / cells;

		while (cause + 1 < WAIT_CAUSES && (double)(before + time->us[cause]) <= at)
			before += time->us[cause++];
		statebar_cell(ui, g, y, col + i, (enum wait_cause)cause);
	}
}

void statebar_words(const struct time_row *time, char *to, size_t size)
{
	size_t at = 0;

	to[0] = '\0';
	for (int i = 0; i < WAIT_CAUSES && at < size; i++)
		if (time->us[i])
			at += (size_t)snprintf(to + at, size - at, "%s%s %.0f %%", at ? ", " : "",
					       wait_text((enum wait_cause)i)->name,
					       percent_of(time->us[i], time->all));
}

int statebar_legend(const struct ui *ui, struct grid *g, int y, int col, int end,
		    const struct time_row *time)
{
	for (int i = 0; i < WAIT_CAUSES; i++) {
		const struct wait_text *text = wait_text((enum wait_cause)i);
		const int width = (int)strlen(text->name) + 3;

		if ((time && !time->us[i]) || col + width - 1 > end)
			continue;
		statebar_cell(ui, g, y, col, (enum wait_cause)i);
		grid_put(g, y, col + 2, width, ROLE_DIM, text->name);
		col += width;
	}
	return col;
}
