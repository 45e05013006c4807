// SPDX-License-Identifier: GPL-2.0-or-later
/* See eventmenu.h. */
#include "tui/ui/eventmenu.h"

#include <string.h>

#include "tui/profile/source.h"
#include "bpf/sampler/event.h"
#include "tui/ui/ui.h"

static unsigned int refuse(struct ui *ui)
{
	ui_notice(ui, "this is a recording: its event is fixed");
	return UI_REDRAW;
}

unsigned int eventmenu_open(struct ui *ui)
{
	size_t count;
	const struct event *events = event_table(&count);

	if (ui->header.replayed)
		return refuse(ui);
	menu_open(&ui->menu, ACTION_EVENT, "Sample at");
	for (size_t i = 0; i < count; i++)
		menu_add(&ui->menu, events[i].name, (int)i,
			 !strcmp(events[i].name, ui->header.last.event));
	return UI_REDRAW;
}

unsigned int eventmenu_take(struct ui *ui, const char *name)
{
	if (ui->header.replayed)
		return refuse(ui);
	ui_post(ui, SOURCE_EVENT, name);
	return UI_REDRAW;
}
