// SPDX-License-Identifier: GPL-2.0-or-later
/* See clipboard.h. */
#include "tui/ui/clipboard.h"

#include "tui/ui/names.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"

unsigned int clipboard_take(struct ui *ui)
{
	const struct view_ops *view = view_get(ui);
	const struct profile_func *func = view->function ? view->function(ui) : NULL;

	ui->copied[0] = '\0';
	if (view->copy)
		view->copy(ui, ui->copied, sizeof(ui->copied));
	else if (func)
		names_show(func, ui->copied, sizeof(ui->copied));
	if (!ui->copied[0])
		return 0;
	ui_notice(ui, "copied %s", ui->copied);
	return UI_REDRAW | UI_COPY;
}
