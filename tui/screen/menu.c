// SPDX-License-Identifier: GPL-2.0-or-later
/* See menu.h. */
#include "tui/screen/menu.h"

#include <string.h>

#include "tui/screen/keys.h"

void menu_open(struct menu *m, int purpose, const char *title)
{
	memset(m, 0, sizeof(*m));
	m->purpose = purpose;
	m->title = title;
}

void menu_add(struct menu *m, const char *text, int value, bool current)
{
	if (m->count == MENU_MAX)
		return;
	if (current)
		m->cursor = m->count;
	m->items[m->count++] = (struct menu_item){.text = text, .value = value};
}

void menu_add_told(struct menu *m, const char *text, int value, bool current, const char *note,
		   const char *why)
{
	menu_add(m, text, value, current);
	if (m->count) {
		m->items[m->count - 1].note = note;
		m->items[m->count - 1].why = why;
	}
}

void menu_close(struct menu *m)
{
	m->title = NULL;
}

enum menu_result menu_key(struct menu *m, int key)
{
	switch (keys_action(key, VIEW_TREE)) {
	case ACTION_UP:
		m->cursor -= m->cursor > 0;
		return MENU_GOES_ON;
	case ACTION_DOWN:
		m->cursor += m->cursor + 1 < m->count;
		return MENU_GOES_ON;
	case ACTION_FIRST:
		m->cursor = 0;
		return MENU_GOES_ON;
	case ACTION_LAST:
		m->cursor = m->count - 1;
		return MENU_GOES_ON;
	case ACTION_BACK:
	case ACTION_QUIT:
		return MENU_CANCELLED;
	default:
		return key == KEYCODE_ENTER && m->count ? MENU_DONE : MENU_GOES_ON;
	}
}

static const char *item_note(const struct menu_item *item)
{
	return item->why ? item->why : item->note;
}

void menu_draw(const struct menu *m, struct grid *g, int top)
{
	int width = grid_width(g, m->title) + 4;
	int rows = g->rows - top - 2;
	int first, names = 0;

	for (int i = 0; i < m->count; i++) {
		int n = grid_width(g, m->items[i].text);

		names = n > names ? n : names;
	}
	for (int i = 0; i < m->count; i++) {
		int n = item_note(&m->items[i]) ? names + 2 + grid_width(g, item_note(&m->items[i]))
						: grid_width(g, m->items[i].text);

		width = n + 6 > width ? n + 6 : width;
	}
	width = width < g->cols - 3 ? width : g->cols - 3;
	if (rows > m->count)
		rows = m->count;
	first = m->cursor >= rows ? m->cursor - rows + 1 : 0;
	grid_put(g, top, 2, 1, ROLE_BORDER, grid_glyph(g, GLYPH_TOP_LEFT));
	grid_line(g, top, 3, width - 2, ROLE_BORDER, GLYPH_HLINE);
	grid_put(g, top, 1 + width, 1, ROLE_BORDER, grid_glyph(g, GLYPH_TOP_RIGHT));
	grid_printf(g, top, 4, width - 4, ROLE_TITLE, " %s ", m->title);
	for (int i = 0; i < rows; i++) {
		const struct menu_item *item = &m->items[first + i];
		bool current = first + i == m->cursor;
		int row = top + 1 + i;

		grid_put(g, row, 2, 1, ROLE_BORDER, grid_glyph(g, GLYPH_VLINE));
		grid_fit(g, row, 3, 2, ROLE_TEXT, current ? " >" : "  ");
		grid_fit(g, row, 5, width - 4, item->why ? ROLE_DIM : ROLE_TEXT, item->text);
		if (item_note(item))
			grid_fit(g, row, 7 + names, width - 6 - names, ROLE_DIM, item_note(item));
		if (current)
			grid_role(g, row, 3, width - 2, ROLE_CURSOR);
		grid_put(g, row, 1 + width, 1, ROLE_BORDER, grid_glyph(g, GLYPH_VLINE));
		grid_zone(g, (struct zone){ZONE_MENU, first + i, NULL, row, 1, 3, width - 2});
	}
	grid_put(g, top + rows + 1, 2, 1, ROLE_BORDER, grid_glyph(g, GLYPH_BOTTOM_LEFT));
	grid_line(g, top + rows + 1, 3, width - 2, ROLE_BORDER, GLYPH_HLINE);
	grid_put(g, top + rows + 1, 1 + width, 1, ROLE_BORDER, grid_glyph(g, GLYPH_BOTTOM_RIGHT));
}
