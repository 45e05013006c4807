// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cells of one look are written in one go. In a drawing each run has a given length, so that it
 * fills its cells in any font.
 */
#include "tui/screen/screen_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tui/screen/grid.h"
#include "tui/util/safepath.h"
#include "tui/screen/theme.h"

#define CELL_WIDTH  8
#define CELL_HEIGHT 17
#define BASELINE    13
#define PAPER	    0x16181du /* what the terminal's own colours are taken for */
#define INK	    0xd7d9dcu

enum screen_file_format screen_file_format(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && !strcasecmp(dot, ".svg"))
		return SCREEN_FILE_SVG;
	if (dot && (!strcasecmp(dot, ".ansi") || !strcasecmp(dot, ".ans")))
		return SCREEN_FILE_ANSI;
	return SCREEN_FILE_TEXT;
}

static const struct gridcell *cell_at(const struct grid *g, int row, int col)
{
	return &g->cells[(size_t)row * (size_t)g->cols + (size_t)col];
}

static const struct style *look_of(const struct theme *theme, const struct gridcell *c)
{
	return theme_style(theme, (enum ui_view)c->view, (enum role)c->role);
}

static bool same_color(const struct color *a, const struct color *b)
{
	return a->terminal == b->terminal && (a->terminal || a->rgb == b->rgb);
}

/* Column behind the cells that look like the one at col. */
static int run_end(const struct grid *g, const struct theme *theme, int row, int col)
{
	const struct style *first = look_of(theme, cell_at(g, row, col));
	int end = col + 1;

	for (; end < g->cols; end++) {
		const struct gridcell *c = cell_at(g, row, end);
		const struct style *look = look_of(theme, c);

		if (c->ch &&
		    !(same_color(&first->fg, &look->fg) && same_color(&first->bg, &look->bg) &&
		      first->attributes == look->attributes))
			break;
	}
	return end;
}

static void put_cells(FILE *to, const struct grid *g, int row, int col, int end,
		      void (*put)(FILE *to, const char *text))
{
	char text[GRID_CELL_BYTES + 1];

	for (; col < end; col++) {
		text[grid_cell_text(cell_at(g, row, col), text)] = '\0';
		put(to, text);
	}
}

/* --- with escape sequences ------------------------------------------------------------------- */

static void put_plain(FILE *to, const char *text)
{
	fputs(text, to);
}

static void put_color(FILE *to, int kind, const struct color *c)
{
	if (!c->terminal)
		fprintf(to, ";%d;2;%u;%u;%u", kind, c->rgb >> 16 & 255, c->rgb >> 8 & 255,
			c->rgb & 255);
}

static void put_look(FILE *to, const struct style *look)
{
	static const struct {
		unsigned int attribute;
		int code;
	} codes[] = {{ATTR_BOLD, 1},
		     {ATTR_DIM, 2},
		     {ATTR_ITALIC, 3},
		     {ATTR_UNDERLINE, 4},
		     {ATTR_REVERSE, 7}};

	fputs("\033[0", to);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (look->attributes & codes[i].attribute)
			fprintf(to, ";%d", codes[i].code);
	put_color(to, 38, &look->fg);
	put_color(to, 48, &look->bg);
	fputc('m', to);
}

static void write_ansi(FILE *to, const struct grid *g, const struct theme *theme)
{
	for (int row = 0; row < g->rows; row++) {
		for (int col = 0, end; col < g->cols; col = end) {
			end = run_end(g, theme, row, col);
			put_look(to, look_of(theme, cell_at(g, row, col)));
			put_cells(to, g, row, col, end, put_plain);
		}
		fputs("\033[0m\n", to);
	}
}

/* --- as a drawing ---------------------------------------------------------------------------- */

static void put_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", to);
		else if (*text == '>')
			fputs("&gt;", to);
		else if (*text == '&')
			fputs("&amp;", to);
		else if (*text == '"')
			fputs("&quot;", to);
		else if (*text == ' ')
			fputs("\302\240", to); /* or blanks of a run would become one */
		else
			fputc(*text, to);
	}
}

static uint32_t shade(const struct color *c, uint32_t own)
{
	return c->terminal ? own : c->rgb;
}

static bool is_blank(const struct grid *g, int row, int col, int end)
{
	for (; col < end; col++)
		if (cell_at(g, row, col)->ch && cell_at(g, row, col)->ch != ' ')
			return false;
	return true;
}

static void write_run(FILE *to, const struct grid *g, const struct style *look, int row, int col,
		      int end)
{
	bool reverse = look->attributes & ATTR_REVERSE;
	uint32_t fg = shade(&look->fg, INK), bg = shade(&look->bg, PAPER);
	int x = col * CELL_WIDTH, width = (end - col) * CELL_WIDTH;

	if (reverse) {
		uint32_t swap = fg;

		fg = bg;
		bg = swap;
	}
	if (bg != PAPER)
		fprintf(to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n",
			x, row * CELL_HEIGHT, width, CELL_HEIGHT, bg);
	if (is_blank(g, row, col, end) && !(look->attributes & ATTR_UNDERLINE))
		return;
	fprintf(to, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"#%06x\"%s%s%s%s>", x,
		row * CELL_HEIGHT + BASELINE, width, fg,
		look->attributes & ATTR_BOLD ? " font-weight=\"bold\"" : "",
		look->attributes & ATTR_ITALIC ? " font-style=\"italic\"" : "",
		look->attributes & ATTR_DIM ? " fill-opacity=\"0.65\"" : "",
		look->attributes & ATTR_UNDERLINE ? " text-decoration=\"underline\"" : "");
	put_cells(to, g, row, col, end, put_escaped);
	fputs("</text>\n", to);
}

static void write_svg(FILE *to, const struct grid *g, const struct theme *theme)
{
	int width = g->cols * CELL_WIDTH, height = g->rows * CELL_HEIGHT;

	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\">\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n"
		"<g font-family=\"monospace\" font-size=\"13\">\n",
		width, height, width, height, width, height, PAPER);
	for (int row = 0; row < g->rows; row++) {
		for (int col = 0, end; col < g->cols; col = end) {
			end = run_end(g, theme, row, col);
			write_run(to, g, look_of(theme, cell_at(g, row, col)), row, col, end);
		}
	}
	fputs("</g>\n</svg>\n", to);
}

int screen_file_make(const struct grid *g, const struct theme *theme,
		     enum screen_file_format format, char **text, size_t *size)
{
	FILE *to;

	*text = NULL;
	if (format == SCREEN_FILE_TEXT) {
		*text = grid_text(g);
		*size = *text ? strlen(*text) : 0;
		return *text ? 0 : -ENOMEM;
	}
	to = open_memstream(text, size);
	if (!to)
		return -ENOMEM;
	if (format == SCREEN_FILE_SVG)
		write_svg(to, g, theme);
	else
		write_ansi(to, g, theme);
	if (ferror(to) | fclose(to)) {
		free(*text);
		*text = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = TEMP_FAILURE_RETRY(write(fd, text, size));

		if (n < 0)
			return -errno;
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

int screen_file_save(const char *path, const char *text, size_t size)
{
	struct safepath at;
	int err = safepath_open(&at, path, SAFEPATH_NOFOLLOW), fd;

	if (err)
		return err;
	fd = openat(at.folder, at.name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	err = fd < 0 ? -errno : write_all(fd, text, size);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (fd >= 0 && err)
		unlinkat(at.folder, at.name, 0);
	safepath_close(&at);
	return err;
}
