// SPDX-License-Identifier: GPL-2.0-or-later
/* See delta.h. */
#include "tui/screen/delta.h"

#include <math.h>
#include <stdio.h>

#define SHOWN 0.05 /* less is shown as none */
#define LARGE 0.5

void delta_text(const struct grid *g, double now, double before, char *to, size_t size)
{
	double points = now - before;
	const char *mark = grid_glyph(g, points > 0 ? GLYPH_RISE : GLYPH_FALL);

	if (before < 0 || (now <= 0 && before <= 0))
		snprintf(to, size, "-");
	else if (before <= 0)
		snprintf(to, size, "new");
	else if (fabs(points) < SHOWN)
		snprintf(to, size, "= 0.0");
	else
		snprintf(to, size, "%s %+.1f", g->ascii ? "" : mark, points);
}

enum role delta_role(double now, double before)
{
	if (before < 0 || fabs(now - before) < LARGE)
		return ROLE_DIM;
	return now > before ? ROLE_UP : ROLE_DOWN;
}

void delta_draw(struct grid *g, int row, int col, int width, double now, double before)
{
	char text[32];

	delta_text(g, now, before, text, sizeof(text));
	grid_right(g, row, col, width - 1, delta_role(now, before), text);
}
