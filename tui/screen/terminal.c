// SPDX-License-Identifier: GPL-2.0-or-later
/* See terminal.h. */
#include "tui/screen/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

#include "symbols/base/clock.h"
#include "tui/screen/crash.h"
#include "tui/screen/keys.h"
#include "tui/screen/mouse.h"
#include "tui/util/base64.h"

#define ESCAPE_MS 25
#define TWICE_NS  400000000	/* two clicks within that are one of two */
#define REPORT	  (KEY_MAX - 1) /* the beginning of what the mouse did */

/* Presses of buttons and the wheel, and motion while a button is down, with numbers in decimal
 * (xterm's ctlseqs). A terminal that has no mode 1002 has 1000. terminfo's kmous is another form in
 * most descriptions, without columns beyond 223. */
#define MOUSE_ON  "\033[?1000h\033[?1002h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1002l\033[?1000l"
#define PAIRS_MAX 250 /* pair numbers that fit the 8 bits of old interfaces */

struct terminal {
	SCREEN *screen;
	struct grid *shown; /* what the terminal has */
	bool repaint;
	int colors;  /* 0: none */
	bool direct; /* colours are 0xrrggbb */
	bool mouse_on;
	struct mouse_reader reader;
	struct mouse mouse;
	int64_t clicked; /* CLOCK_MONOTONIC ns of the last click */
	int npairs;
	struct {
		int fg, bg;
	} pairs[PAIRS_MAX];
};

static const struct {
	int curses, key;
} keys[] = {
	{KEY_UP, KEYCODE_UP},	      {KEY_DOWN, KEYCODE_DOWN},
	{KEY_LEFT, KEYCODE_LEFT},     {KEY_RIGHT, KEYCODE_RIGHT},
	{KEY_PPAGE, KEYCODE_PAGE_UP}, {KEY_NPAGE, KEYCODE_PAGE_DOWN},
	{KEY_HOME, KEYCODE_HOME},     {KEY_END, KEYCODE_END},
	{KEY_BTAB, KEYCODE_BACKTAB},  {KEY_BACKSPACE, KEYCODE_BACKSPACE},
	{KEY_DC, KEYCODE_DELETE},     {KEY_ENTER, KEYCODE_ENTER},
	{KEY_A1, KEYCODE_HOME},	      {KEY_A3, KEYCODE_PAGE_UP},
	{KEY_C1, KEYCODE_END},	      {KEY_C3, KEYCODE_PAGE_DOWN},
};

/* What terminals send regardless of TERM: PuTTY calls itself xterm and has the Home and End of a
 * VT220, and the arrows have two forms, of which a description has one. */
static const struct {
	const char *sequence;
	int curses;
} others[] = {
	{"\033[1~", KEY_HOME},	 {"\033[4~", KEY_END},	 {"\033[7~", KEY_HOME},
	{"\033[8~", KEY_END},	 {"\033[H", KEY_HOME},	 {"\033[F", KEY_END},
	{"\033OH", KEY_HOME},	 {"\033OF", KEY_END},	 {"\033[A", KEY_UP},
	{"\033[B", KEY_DOWN},	 {"\033[C", KEY_RIGHT},	 {"\033[D", KEY_LEFT},
	{"\033OA", KEY_UP},	 {"\033OB", KEY_DOWN},	 {"\033OC", KEY_RIGHT},
	{"\033OD", KEY_LEFT},	 {"\033[3~", KEY_DC},	 {"\033[5~", KEY_PPAGE},
	{"\033[6~", KEY_NPAGE},	 {"\033[Z", KEY_BTAB},	 {"\033OP", KEY_F(1)},
	{"\033OQ", KEY_F(2)},	 {"\033OR", KEY_F(3)},	 {"\033OS", KEY_F(4)},
	{"\033[11~", KEY_F(1)},	 {"\033[12~", KEY_F(2)}, {"\033[13~", KEY_F(3)},
	{"\033[14~", KEY_F(4)},	 {"\033[15~", KEY_F(5)}, {"\033[17~", KEY_F(6)},
	{"\033[18~", KEY_F(7)},	 {"\033[19~", KEY_F(8)}, {"\033[20~", KEY_F(9)},
	{"\033[21~", KEY_F(10)}, {"\033[[A", KEY_F(1)},	 {"\033[[B", KEY_F(2)},
	{"\033[[C", KEY_F(3)},	 {"\033[[D", KEY_F(4)},	 {"\033[[E", KEY_F(5)},
};

static int refuse(char *why, size_t size, int err, const char *what)
{
	snprintf(why, size,
		 "%s; `stacktop --plain` tells in lines what a screen shows, --batch reports",
		 what);
	return err;
}

/* Whether curses can draw here: initscr itself would exit the program if not. */
static int check(char *why, size_t size)
{
	const char *name = getenv("TERM");
	char text[160];
	bool usable;
	int err = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return refuse(why, size, -ENOTTY, "stdin and stdout must be a terminal");
	if (!name || !*name)
		return refuse(why, size, -ENOTSUP, "TERM is not set");
	if (setupterm(NULL, STDOUT_FILENO, &err) != OK) {
		snprintf(text, sizeof(text), "the terminal type TERM=%.40s is unknown", name);
		for (char *c = text; *c; c++)
			if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
				*c = '?';
		return refuse(why, size, -ENOTSUP, text);
	}
	usable = cursor_address && clear_screen;
	del_curterm(cur_term); /* newterm makes its own */
	if (!usable) {
		snprintf(text, sizeof(text), "a terminal of type %.40s cannot move its cursor",
			 name);
		return refuse(why, size, -ENOTSUP, text);
	}
	return 0;
}

static void curses_setup(void)
{
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	define_key("\033[<", REPORT);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!key_defined(others[i].sequence))
			define_key(others[i].sequence, others[i].curses);
	/* The first key would otherwise clear what was drawn before it. */
	refresh();
}

/* A crash gives back the mouse as well, which does no harm where it was not taken. */
static void taken(void)
{
	char undo[128];

	snprintf(undo, sizeof(undo), "%s%s", key_mouse ? MOUSE_OFF : "",
		 keypad_local ? keypad_local : "");
	crash_terminal_taken(exit_ca_mode, cursor_normal, exit_attribute_mode, undo);
}

int terminal_open(struct terminal **out, bool no_color, char *why, size_t size)
{
	const char *forbidden = getenv("NO_COLOR");
	struct terminal *t;
	int err = check(why, size);

	*out = NULL;
	if (err)
		return err;
	t = calloc(1, sizeof(*t));
	if (t)
		t->shown = grid_new(1, 1);
	if (!t || !t->shown) {
		free(t);
		return refuse(why, size, -ENOMEM, "out of memory");
	}
	crash_terminal_before();
	t->screen = newterm(NULL, stdout, stdin);
	if (!t->screen) {
		grid_free(t->shown);
		free(t);
		return refuse(why, size, -ENOTSUP, "curses cannot use this terminal");
	}
	taken();
	if (!no_color && !(forbidden && *forbidden) && has_colors() && start_color() != ERR) {
		use_default_colors();
		t->colors = COLORS;
		t->direct = COLORS > 256 && tigetflag("RGB") == 1;
	}
	curses_setup();
	t->repaint = true;
	*out = t;
	return 0;
}

void terminal_close(struct terminal *t)
{
	if (!t)
		return;
	terminal_mouse_on(t, false);
	endwin();
	crash_terminal_given_back();
	delscreen(t->screen);
	grid_free(t->shown);
	free(t);
}

bool terminal_utf8(const struct terminal *t)
{
	(void)t;
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* --- showing ------------------------------------------------------------------------------- */

static int color_number(const struct terminal *t, const struct color *c)
{
	if (c->terminal)
		return -1;
	if (t->direct)
		return (int)c->rgb;
	if (t->colors >= 256)
		return c->c256;
	return t->colors >= 16 ? c->c16 : c->c16 & 7;
}

static int pair_number(struct terminal *t, int fg, int bg)
{
	int most = COLOR_PAIRS - 1 < PAIRS_MAX ? COLOR_PAIRS - 1 : PAIRS_MAX;

	if (fg == -1 && bg == -1)
		return 0;
	for (int i = 0; i < t->npairs; i++)
		if (t->pairs[i].fg == fg && t->pairs[i].bg == bg)
			return i + 1;
	if (t->npairs >= most || init_extended_pair(t->npairs + 1, fg, bg) == ERR)
		return 0;
	t->pairs[t->npairs].fg = fg;
	t->pairs[t->npairs].bg = bg;
	return ++t->npairs;
}

static attr_t curses_attributes(unsigned int attributes)
{
	return (attributes & ATTR_BOLD ? A_BOLD : 0) | (attributes & ATTR_DIM ? A_DIM : 0) |
	       (attributes & ATTR_UNDERLINE ? A_UNDERLINE : 0) |
	       (attributes & ATTR_REVERSE ? A_REVERSE : 0) |
	       (attributes & ATTR_ITALIC ? A_ITALIC : 0);
}

static void cell_show(struct terminal *t, int row, int col, const struct gridcell *c,
		      const struct theme *theme)
{
	const struct style *style = theme_style(theme, (enum ui_view)c->view, (enum role)c->role);
	wchar_t text[2 + CELL_MARKS] = {(wchar_t)c->ch};
	unsigned int attributes = theme_plain((enum role)c->role);
	int pair = 0;
	cchar_t cell;

	if (t->colors) {
		int fg = color_number(t, &style->fg);
		int bg = color_number(t, &style->bg);

		attributes = style->attributes;
		/* Eight colours have no bright ones: bold stands in, and grey on grey is avoided.
		 */
		if (t->colors < 16 && !style->fg.terminal && style->fg.c16 >= 8)
			attributes |= ATTR_BOLD;
		if (fg == bg && fg != -1)
			fg = bg == 7 ? 0 : 7;
		pair = pair_number(t, fg, bg);
	}
	for (int i = 0; i < CELL_MARKS; i++)
		text[1 + i] = (wchar_t)c->marks[i];
	if (setcchar(&cell, text, curses_attributes(attributes), (short)pair, &pair) == OK)
		mvadd_wch(row, col, &cell);
}

void terminal_show(struct terminal *t, const struct grid *g, const struct theme *theme)
{
	bool all = t->repaint || g->rows != t->shown->rows || g->cols != t->shown->cols;

	if (all && grid_resize(t->shown, g->rows, g->cols))
		return; /* the next frame may have the memory */
	if (all)
		erase();
	for (int row = 0; row < g->rows && row < LINES; row++) {
		for (int col = 0; col < g->cols && col < COLS; col++) {
			size_t at = (size_t)row * g->cols + col;
			const struct gridcell *c = &g->cells[at], *was = &t->shown->cells[at];

			if (c->ch && (all || c->ch != was->ch || c->role != was->role ||
				      c->view != was->view ||
				      memcmp(c->marks, was->marks, sizeof(c->marks)) != 0))
				cell_show(t, row, col, c, theme);
		}
	}
	memcpy(t->shown->cells, g->cells, (size_t)g->rows * g->cols * sizeof(*g->cells));
	if (t->repaint)
		clearok(curscr, TRUE);
	t->repaint = false;
	refresh();
}

void terminal_repaint(struct terminal *t)
{
	t->repaint = true;
}

/* --- keys and size ------------------------------------------------------------------------- */

void terminal_mouse(const struct terminal *t, struct mouse *out)
{
	*out = t->mouse;
}

void terminal_mouse_on(struct terminal *t, bool on)
{
	if (!key_mouse || on == t->mouse_on)
		return;
	t->mouse_on = on;
	putp(on ? MOUSE_ON : MOUSE_OFF);
	fflush(stdout);
}

/* The text is sent as base64, so no name of a function can end the sequence. */
bool terminal_copy(struct terminal *t, const char *text)
{
	char *ms = tigetstr("Ms"), *base64;
	size_t size = strlen(text) / 3 * 4 + 5;

	(void)t;
	if (!ms || ms == (char *)-1)
		return false;
	base64 = malloc(size);
	if (!base64)
		return false;
	base64_encode(text, strlen(text), base64, size);
	/* "c", the clipboard: xterm's control sequences, "Manipulate Selection Data" */
	putp(tiparm(ms, "c", base64));
	fflush(stdout);
	free(base64);
	return true;
}

/* A report comes in pieces: what is not there yet is read later. */
static int read_report(struct terminal *t, int ch)
{
	struct mouse mouse;
	int64_t now;

	if (mouse_read(&t->reader, ch, &mouse) != MOUSE_DONE)
		return 0;
	now = (int64_t)clock_ns(CLOCK_MONOTONIC);
	mouse.twice = mouse.kind == MOUSE_CLICK && now - t->clicked < TWICE_NS &&
		      mouse.row == t->mouse.row && mouse.col == t->mouse.col &&
		      t->mouse.kind == MOUSE_CLICK && !t->mouse.twice;
	t->clicked = now;
	t->mouse = mouse;
	return KEYCODE_MOUSE;
}

#define SEQUENCE_MAX 32

/*
 * After an escape character: reads and drops the rest of an unknown sequence (ECMA-48 section 5.4;
 * SS3 and the linux console's "[[" have one character more), or its characters would be taken for
 * keys. What is not a sequence, such as a key typed right after Esc, is put back.
 */
static int read_unknown(void)
{
	wint_t ch[SEQUENCE_MAX];
	int n = 0, kind = OK;

	while (n < SEQUENCE_MAX && (kind = get_wch(&ch[n])) == OK) {
		wint_t last = ch[n++];

		if (n == 1 && (last == '[' || last == 'O'))
			continue;
		if (n == 1 || last < ' ' || last > '~')
			break;
		if (ch[0] == 'O')
			return 0;
		if (last >= '@' && !(n == 2 && last == '['))
			return 0;
	}
	if (n < SEQUENCE_MAX && kind == KEY_CODE_YES)
		ungetch((int)ch[n]);
	while (n > 0)
		unget_wch((wchar_t)ch[--n]);
	return KEYCODE_ESCAPE;
}

int terminal_key(struct terminal *t)
{
	wint_t ch;
	int kind = get_wch(&ch);

	if (kind == ERR)
		return KEYCODE_NONE;
	if (t->reader.reading && kind != KEY_CODE_YES)
		return read_report(t, (int)ch);
	t->reader = (struct mouse_reader){0};
	if (kind == KEY_CODE_YES) {
		if (ch == REPORT) {
			t->reader.reading = true;
			return 0;
		}
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if ((int)ch == keys[i].curses)
				return keys[i].key;
		if (ch > KEY_F0 && ch <= KEY_F(12))
			return KEYCODE_F0 + (int)(ch - KEY_F0);
		return 0; /* a key without a meaning is not the end of input */
	}
	if (ch == '\n')
		return KEYCODE_ENTER;
	if (ch == 0x7f || ch == '\b')
		return KEYCODE_BACKSPACE;
	if (ch == KEYCODE_ESCAPE)
		return read_unknown();
	return (int)ch;
}

void terminal_size(const struct terminal *t, int *rows, int *cols)
{
	(void)t;
	*rows = LINES;
	*cols = COLS;
}

void terminal_resize(struct terminal *t)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row == 0 || size.ws_col == 0)
		return;
	resizeterm(size.ws_row, size.ws_col);
	t->repaint = true;
}

void terminal_suspend(struct terminal *t)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, before;
	bool mouse = t->mouse_on;

	terminal_mouse_on(t, false);
	endwin();
	crash_terminal_given_back();
	sigaction(SIGTSTP, &stop, &before);
	/* The whole process stops, whichever thread gets it. */
	kill(getpid(), SIGTSTP);
	sigaction(SIGTSTP, &before, NULL);
	crash_terminal_before();
	taken();
	terminal_resize(t);
	refresh();
	curs_set(0);
	if (mouse)
		terminal_mouse_on(t, true);
	t->repaint = true;
}
