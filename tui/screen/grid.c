// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Views draw into cells of memory instead of calling curses, so that a screen can be compared as
 * text in a test, and so that clipping, character widths and the last line of defence against
 * escape sequences in names are in one place.
 */
#include "tui/screen/grid.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define SIDE_MAX    2000
#define REPLACEMENT '?'
#define PRINTF_MAX  1024

static const char *const glyphs[GLYPH_COUNT][2] = {
	[GLYPH_HLINE] = {"─", "-"},	   [GLYPH_VLINE] = {"│", "|"},
	[GLYPH_BRANCH] = {"├", "|"},	   [GLYPH_CORNER] = {"└", "`"},
	[GLYPH_ELLIPSIS] = {"…", "~"},	   [GLYPH_LIVE] = {"●", "*"},
	[GLYPH_FROZEN] = {"‖", "="},	   [GLYPH_SORT_DOWN] = {"▼", "v"},
	[GLYPH_SORT_UP] = {"▲", "^"},	   [GLYPH_RISE] = {"▲", "+"},
	[GLYPH_FALL] = {"▼", "-"},	   [GLYPH_TOP_LEFT] = {"┌", "+"},
	[GLYPH_TOP_RIGHT] = {"┐", "+"},	   [GLYPH_BOTTOM_LEFT] = {"└", "+"},
	[GLYPH_BOTTOM_RIGHT] = {"┘", "+"}, [GLYPH_SCROLL] = {"▐", "#"},
};

static const char *const sparks[SPARK_LEVELS][2] = {
	{"▁", "_"}, {"▂", "."}, {"▃", ":"}, {"▄", "-"},
	{"▅", "="}, {"▆", "+"}, {"▇", "*"}, {"█", "#"},
};

/* One character of UTF-8 as RFC 3629 section 3 has it. Broken bytes are REPLACEMENT, one each. */
static uint32_t utf8_next(const char **text)
{
	const unsigned char *s = (const unsigned char *)*text;
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	int more = s[0] < 0x80	 ? 0
		   : s[0] < 0xc2 ? -1
		   : s[0] < 0xe0 ? 1
		   : s[0] < 0xf0 ? 2
		   : s[0] < 0xf5 ? 3
				 : -1;
	uint32_t ch;
	int i;

	*text += 1;
	if (more == 0)
		return s[0];
	if (more < 0)
		return REPLACEMENT;
	ch = s[0] & (0x3f >> more);
	for (i = 1; i <= more; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return REPLACEMENT;
		ch = ch << 6 | (s[i] & 0x3f);
	}
	if (ch < least[more] || ch > 0x10ffff || (ch >= 0xd800 && ch < 0xe000))
		return REPLACEMENT;
	*text += more;
	return ch;
}

int grid_utf8(char *to, uint32_t ch)
{
	if (ch < 0x80) {
		to[0] = (char)ch;
		return 1;
	}
	if (ch < 0x800) {
		to[0] = (char)(0xc0 | ch >> 6);
		to[1] = (char)(0x80 | (ch & 0x3f));
		return 2;
	}
	if (ch < 0x10000) {
		to[0] = (char)(0xe0 | ch >> 12);
		to[1] = (char)(0x80 | (ch >> 6 & 0x3f));
		to[2] = (char)(0x80 | (ch & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | ch >> 18);
	to[1] = (char)(0x80 | (ch >> 12 & 0x3f));
	to[2] = (char)(0x80 | (ch >> 6 & 0x3f));
	to[3] = (char)(0x80 | (ch & 0x3f));
	return 4;
}

/* Characters that change the order of others are as harmful as an escape sequence. */
static bool reorders(uint32_t ch)
{
	return (ch >= 0x202a && ch <= 0x202e) || (ch >= 0x2066 && ch <= 0x2069) || ch == 0x200e ||
	       ch == 0x200f || ch == 0x061c || ch == 0x2028 || ch == 0x2029 || ch == 0xfeff;
}

/* Next character as it is shown here, and its width in cells: 0 (combining), 1 or 2. */
static uint32_t next_shown(const struct grid *g, const char **text, int *width)
{
	uint32_t ch = utf8_next(text);
	int w;

	*width = 1;
	if (ch >= 0x20 && ch < 0x7f)
		return ch;
	if (ch < 0xa0 || reorders(ch))
		return REPLACEMENT;
	w = wcwidth((wchar_t)ch);
	if (w < 0)
		return REPLACEMENT;
	if (g->ascii && w > 0)
		return REPLACEMENT;
	*width = w;
	return ch;
}

struct grid *grid_new(int rows, int cols)
{
	struct grid *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	if (grid_resize(g, rows, cols)) {
		free(g);
		return NULL;
	}
	return g;
}

void grid_free(struct grid *g)
{
	if (!g)
		return;
	free(g->cells);
	free(g);
}

static int side(int n)
{
	return n < 1 ? 1 : n > SIDE_MAX ? SIDE_MAX : n;
}

int grid_resize(struct grid *g, int rows, int cols)
{
	struct gridcell *cells;

	rows = side(rows);
	cols = side(cols);
	cells = calloc((size_t)rows * cols, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	free(g->cells);
	g->cells = cells;
	g->rows = rows;
	g->cols = cols;
	grid_clear(g);
	return 0;
}

void grid_clear(struct grid *g)
{
	size_t n = (size_t)g->rows * g->cols;

	g->nzones = 0;
	memset(g->cells, 0, n * sizeof(*g->cells));
	for (size_t i = 0; i < n; i++)
		g->cells[i].ch = ' ';
}

static struct gridcell *cell_at(struct grid *g, int row, int col)
{
	return &g->cells[(size_t)row * g->cols + col];
}

/* A wide character of which one half is overwritten leaves a blank, not half a character. */
static void cell_set(struct grid *g, int row, int col, uint32_t ch, enum role role)
{
	struct gridcell *c = cell_at(g, row, col);

	if (c->ch == 0 && ch != 0 && col > 0)
		cell_at(g, row, col - 1)->ch = ' ';
	if (c->ch != 0 && col + 1 < g->cols && c[1].ch == 0)
		c[1].ch = ' ';
	*c = (struct gridcell){.ch = ch, .role = (uint8_t)role, .view = (uint8_t)g->view};
}

static void cell_mark(struct grid *g, int row, int col, uint32_t mark)
{
	struct gridcell *c = cell_at(g, row, col);

	if (c->ch == 0 && col > 0)
		c--;
	for (int i = 0; i < CELL_MARKS; i++) {
		if (c->marks[i] == 0) {
			c->marks[i] = mark;
			return;
		}
	}
}

/* Clips a run of cells to the grid; false: nothing is left. */
static bool clip(const struct grid *g, int row, int *col, int *width)
{
	if (row < 0 || row >= g->rows || *col >= g->cols)
		return false;
	if (*col < 0) {
		*width += *col;
		*col = 0;
	}
	if (*width > g->cols - *col)
		*width = g->cols - *col;
	return *width > 0;
}

int grid_put(struct grid *g, int row, int col, int width, enum role role, const char *text)
{
	int used = 0;

	if (col < 0 || !clip(g, row, &col, &width))
		return 0;
	while (*text) {
		int w;
		uint32_t ch = next_shown(g, &text, &w);

		if (w == 0) {
			if (used > 0 && !g->ascii)
				cell_mark(g, row, col + used - 1, ch);
			continue;
		}
		if (used + w > width)
			break;
		cell_set(g, row, col + used, ch, role);
		if (w == 2)
			cell_set(g, row, col + used + 1, 0, role);
		used += w;
	}
	return used;
}

int grid_width(const struct grid *g, const char *text)
{
	int cells = 0;

	while (*text) {
		int w;

		next_shown(g, &text, &w);
		cells += w;
	}
	return cells;
}

void grid_blank(struct grid *g, int row, int col, int width, enum role role)
{
	if (!clip(g, row, &col, &width))
		return;
	for (int i = 0; i < width; i++)
		cell_set(g, row, col + i, ' ', role);
}

void grid_fit(struct grid *g, int row, int col, int width, enum role role, const char *text)
{
	int used;

	if (width > g->cols - col)
		width = g->cols - col;
	if (width <= 0)
		return;
	if (grid_width(g, text) <= width) {
		used = grid_put(g, row, col, width, role, text);
	} else {
		used = grid_put(g, row, col, width - 1, role, text);
		used += grid_put(g, row, col + used, 1, role, grid_glyph(g, GLYPH_ELLIPSIS));
	}
	grid_blank(g, row, col + used, width - used, role);
}

int grid_cut(struct grid *g, int row, int col, int width, enum role role, const char *text)
{
	int all = grid_width(g, text);

	width = width < 0 ? 0 : width < all ? width : all;
	grid_fit(g, row, col, width, role, text);
	return width;
}

void grid_right(struct grid *g, int row, int col, int width, enum role role, const char *text)
{
	int need = grid_width(g, text);

	if (need >= width) {
		grid_fit(g, row, col, width, role, text);
		return;
	}
	grid_blank(g, row, col, width - need, role);
	grid_put(g, row, col + width - need, need, role, text);
}

int grid_printf(struct grid *g, int row, int col, int width, enum role role, const char *format,
		...)
{
	char text[PRINTF_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return grid_put(g, row, col, width, role, text);
}

/* As many words, with the blanks between them, as there is room for, but one at least. */
static size_t words_of_row(const struct grid *g, const char *text, int width)
{
	size_t fits = 0, at = 0;

	for (;;) {
		char part[PRINTF_MAX];
		size_t end = at + strspn(text + at, " ");

		end += strcspn(text + end, " ");
		if (end == at || end >= sizeof(part))
			return fits ? fits : strlen(text);
		memcpy(part, text, end);
		part[end] = '\0';
		if (fits && grid_width(g, part) > width)
			return fits;
		fits = at = end;
	}
}

int grid_words(struct grid *g, int row, int rows, int col, int width, int indent, enum role role,
	       const char *text)
{
	int n = 0;

	for (; *text; n++) {
		int in = n ? indent : 0;
		size_t length = words_of_row(g, text, width - in);
		char part[PRINTF_MAX];

		/* The last row gets all of the rest, so that it ends in the mark of a cut. */
		snprintf(part, sizeof(part), "%.*s",
			 n == rows - 1 ? (int)strlen(text) : (int)length, text);
		if (n < rows)
			grid_fit(g, row + n, col + in, width - in, role, part);
		text += length;
		text += strspn(text, " ");
	}
	return n;
}

void grid_line(struct grid *g, int row, int col, int width, enum role role, enum glyph glyph)
{
	if (!clip(g, row, &col, &width))
		return;
	for (int i = 0; i < width; i++)
		grid_put(g, row, col + i, 1, role, grid_glyph(g, glyph));
}

void grid_role(struct grid *g, int row, int col, int width, enum role role)
{
	if (!clip(g, row, &col, &width))
		return;
	for (int i = 0; i < width; i++) {
		struct gridcell *c = cell_at(g, row, col + i);

		c->role = (uint8_t)role;
		c->view = (uint8_t)g->view;
	}
}

void grid_bar(struct grid *g, int row, int col, int width, enum role role, double share)
{
	int inner = width - 2;
	int full;

	if (inner < 1)
		return;
	if (!(share > 0))
		share = 0;
	if (share > 1)
		share = 1;
	full = (int)(share * inner + 0.5);
	grid_put(g, row, col, 1, ROLE_BORDER, "[");
	for (int i = 0; i < inner; i++)
		grid_put(g, row, col + 1 + i, 1, role, i < full ? (g->ascii ? "#" : "|") : " ");
	grid_put(g, row, col + width - 1, 1, ROLE_BORDER, "]");
}

void grid_eighths(struct grid *g, int row, int col, int width, enum role role, double share)
{
	static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	int eighths, full;

	/* A column that is left out has no cells, and less without its blank. */
	if (width < 1)
		return;
	share = share > 1 ? 1 : share > 0 ? share : 0;
	eighths = (int)(share * width * 8 + 0.5);
	/* Something is never drawn as nothing. */
	if (!eighths && share > 0)
		eighths = 1;
	full = g->ascii ? (eighths + 7) / 8 : eighths / 8;
	for (int i = 0; i < full; i++)
		grid_put(g, row, col + i, 1, role, g->ascii ? "#" : "█");
	if (!g->ascii && eighths % 8)
		grid_put(g, row, col + full, 1, role, parts[eighths % 8]);
}

const char *grid_glyph(const struct grid *g, enum glyph glyph)
{
	return glyphs[glyph][g->ascii];
}

const char *grid_spark(const struct grid *g, int level)
{
	level = level < 0 ? 0 : level >= SPARK_LEVELS ? SPARK_LEVELS - 1 : level;
	return sparks[level][g->ascii];
}

size_t grid_cell_text(const struct gridcell *c, char to[GRID_CELL_BYTES])
{
	char *at = to;

	if (!c->ch)
		return 0;
	at += grid_utf8(at, c->ch);
	for (int i = 0; i < CELL_MARKS && c->marks[i]; i++)
		at += grid_utf8(at, c->marks[i]);
	return (size_t)(at - to);
}

char *grid_text(const struct grid *g)
{
	char *text = malloc((size_t)g->rows * (g->cols * (size_t)GRID_CELL_BYTES + 1) + 1);
	char *to = text;

	if (!text)
		return NULL;
	for (int row = 0; row < g->rows; row++) {
		char *line = to;

		for (int col = 0; col < g->cols; col++) {
			const struct gridcell *c = &g->cells[(size_t)row * g->cols + col];

			to += grid_cell_text(c, to);
		}
		while (to > line && to[-1] == ' ')
			to--;
		*to++ = '\n';
	}
	*to = '\0';
	return text;
}

void grid_zone(struct grid *g, struct zone zone)
{
	if (g->nzones < GRID_ZONES && zone.rows > 0 && zone.cols > 0)
		g->zones[g->nzones++] = zone;
}

const struct zone *grid_zone_at(const struct grid *g, int row, int col)
{
	for (int i = g->nzones - 1; i >= 0; i--) {
		const struct zone *z = &g->zones[i];

		if (row >= z->row && row < z->row + z->rows && col >= z->col &&
		    col < z->col + z->cols)
			return z;
	}
	return NULL;
}
