// SPDX-License-Identifier: GPL-2.0-or-later
/* See chosen.h. The one place that knows it: views only find a function among their rows. */
#include "tui/ui/chosen.h"

#include "tui/ui/names.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"

void chosen_moved(struct ui *ui)
{
	if (!ui->overlay.ops)
		ui->chosen.moved = true;
}

void chosen_set(struct ui *ui, const struct profile_func *func)
{
	ui->chosen.func = func ? names_hash(func) : 0;
}

void chosen_leave(struct ui *ui)
{
	const struct profile_func *func = overlay_function(ui);

	if (func)
		chosen_set(ui, func);
	ui->chosen.moved = false;
	ui->chosen.arrived = true;
}

unsigned int chosen_follow(struct ui *ui)
{
	const struct view_ops *view = view_get(ui);
	struct chosen *chosen = &ui->chosen;
	unsigned int flags = 0;

	if (!view->select) {
		chosen->moved = chosen->arrived = false;
		return 0;
	}
	if (chosen->arrived && chosen->func) {
		const struct profile_func *func = view->function(ui);

		/* It may be one of several occurrences, and is not exchanged for another. */
		if (!func || names_hash(func) != chosen->func)
			flags = view->select(ui, chosen->func);
	} else if (chosen->moved) {
		chosen_set(ui, view->function(ui));
	}
	chosen->moved = chosen->arrived = false;
	return flags;
}
