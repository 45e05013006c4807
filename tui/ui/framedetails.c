// SPDX-License-Identifier: GPL-2.0-or-later
/* See framedetails.h. */
#include "tui/ui/framedetails.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tui/screen/grid.h"
#include "tui/ui/names.h"
#include "tui/ui/shortname.h"

static void add_share(char *to, size_t size, const char *what, double percent)
{
	size_t n = strlen(to);

	if (percent >= 0)
		snprintf(to + n, size - n, "  %s %.1f%%", what, percent);
}

void framedetails_draw(const struct framedetails *d, struct grid *g, int row)
{
	char name[1100], text[SHORTNAME_MAX], shares[64] = "", place[NAME_MAX + 320] = "",
					      source[NAME_MAX + 32] = "";
	const char *module = "";
	int width = g->cols - 1, room, behind;

	names_show(d->func, name, sizeof(name));
	add_share(shares, sizeof(shares), "self", d->self);
	add_share(shares, sizeof(shares), "total", d->total);
	if (d->source && d->func->file)
		sourcename(d->func, source, sizeof(source));
	/* A row that stands for a file is called like it. */
	if (strcmp(d->func->module, name) != 0)
		module = d->func->module;
	snprintf(place, sizeof(place), "%s%s%s%s", module[0] ? "  " : "", module,
		 source[0] ? "  " : "", source);
	/* The name goes before where it is, up to half of the row. */
	behind = grid_width(g, place);
	room = width - grid_width(g, shares) - behind;
	if (room < grid_width(g, name) && room < width / 2) {
		room = grid_width(g, name) < width / 2 ? grid_width(g, name) : width / 2;
		behind = width - grid_width(g, shares) - room;
	} else if (room > grid_width(g, name)) {
		room = grid_width(g, name);
	}
	shortname_func(g, d->func, room, text, sizeof(text));
	grid_fit(g, row, 1, room, ROLE_TITLE, text);
	room += grid_put(g, row, 1 + room, width - room, ROLE_TEXT, shares);
	if (behind > 3)
		grid_fit(g, row, 1 + room, behind, ROLE_MODULE, place);
}
