// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clicks become the actions that keys have, so that the mouse can do nothing that the keyboard
 * cannot, and views need to know nothing of it.
 */
#include "tui/screen/mouse.h"

#include <string.h>

#include "tui/screen/grid.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"

#define WHEEL_ROWS   3
#define REPORT_MAX   24	  /* bytes */
#define POSITION_MAX 4095 /* no terminal is as large */

static unsigned int move(struct ui *ui, int rows)
{
	unsigned int flags = 0;

	for (; rows > 0; rows--)
		flags |= ui_act(ui, ACTION_DOWN);
	for (; rows < 0; rows++)
		flags |= ui_act(ui, ACTION_UP);
	return flags;
}

static unsigned int sort(struct ui *ui, const struct zone *zone)
{
	const struct view_ops *view = view_get(ui->view);
	int count, sorted;

	/* The lower table of a view with two is not that which keys sort. */
	if (!view->sort_by || view->columns(&count, ui, &sorted) != zone->of)
		return 0;
	return sorted == zone->value ? ui_act(ui, ACTION_INVERT) : view->sort_by(ui, zone->value);
}

static unsigned int click(struct ui *ui, const struct zone *zone, const struct mouse *mouse)
{
	const struct view_ops *view = view_get(ui->view);
	unsigned int flags;

	switch (zone->kind) {
	case ZONE_VIEW:
		return ui_go(ui, (enum ui_view)zone->value);
	case ZONE_KEY:
		return ui_key(ui, zone->value);
	case ZONE_SORT:
		return sort(ui, zone);
	case ZONE_ROWS:
		flags = move(ui, mouse->row - zone->value);
		return mouse->twice ? flags | ui_key(ui, KEYCODE_ENTER) : flags;
	case ZONE_BODY:
		return view->click ? view->click(ui, mouse->row - zone->row, mouse->col - zone->col,
						 mouse->twice)
				   : 0;
	default:
		return 0;
	}
}

unsigned int mouse_act(struct ui *ui, const struct grid *g, const struct mouse *mouse)
{
	const struct zone *zone = grid_zone_at(g, mouse->row, mouse->col);
	int wheel = mouse->kind == MOUSE_WHEEL_UP     ? -WHEEL_ROWS
		    : mouse->kind == MOUSE_WHEEL_DOWN ? WHEEL_ROWS
						      : 0;
	unsigned int flags = 0;

	if (ui->prompt.question)
		return 0;
	if (ui->menu.title || ui->help || ui->setup.open) {
		for (; wheel > 0; wheel--)
			flags |= ui_key(ui, KEYCODE_DOWN);
		for (; wheel < 0; wheel++)
			flags |= ui_key(ui, KEYCODE_UP);
		if (flags || !zone || !ui->menu.title || zone->kind != ZONE_MENU)
			return flags;
		ui->menu.cursor = zone->value;
		return ui_key(ui, KEYCODE_ENTER);
	}
	if (wheel)
		return move(ui, wheel);
	return zone ? click(ui, zone, mouse) : 0;
}

enum mouse_read mouse_read(struct mouse_reader *r, int ch, struct mouse *out)
{
	unsigned int button = r->number[0];

	if (++r->length > REPORT_MAX) {
		memset(r, 0, sizeof(*r));
		return MOUSE_NOTHING;
	}
	if (ch >= '0' && ch <= '9' && r->number[r->count] <= POSITION_MAX) {
		r->number[r->count] = r->number[r->count] * 10 + (unsigned int)(ch - '0');
		return MOUSE_GOES_ON;
	}
	if (ch == ';' && r->count < 2) {
		r->count++;
		return MOUSE_GOES_ON;
	}
	*out = (struct mouse){.row = (int)r->number[2] - 1, .col = (int)r->number[1] - 1};
	button &= ~28U; /* shift, meta, control */
	out->kind = button == 64 ? MOUSE_WHEEL_UP : button == 65 ? MOUSE_WHEEL_DOWN : MOUSE_CLICK;
	if (r->count != 2 || ch != 'M' || (button != 0 && button != 64 && button != 65) ||
	    out->row < 0 || out->col < 0 || out->row > POSITION_MAX || out->col > POSITION_MAX)
		button = ~0U;
	memset(r, 0, sizeof(*r));
	return button == ~0U ? MOUSE_NOTHING : MOUSE_DONE;
}
