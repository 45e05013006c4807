// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Settings by keys and commands, and the mouse, on a made-up machine.
 * Covers: tui/app/setup.c tui/app/cmdline.c tui/app/dispatch.c
 * Covers: tui/screen/keymap.c tui/screen/columns.c tui/screen/hints.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/feed_inventory.h"
#include "tests/support/typist.h"
#include "tui/app/cmdline.h"
#include "tui/app/setup.h"
#include "tui/profile/board.h"
#include "tui/screen/mouse.h"
#include "tui/app/dispatch.h"

static int setup(void **state)
{
	*state = typist_after(12);
	return 0;
}

/* Row and column of the text's first letter on the screen. */
static void find(struct typist *t, const char *text, int *row, int *col)
{
	const char *at = strstr(screen(t), text), *line = t->text;

	if (!at)
		fail_msg("'%s' is not on the screen:\n%s", text, t->text);
	*row = 0;
	for (const char *c = t->text; c < at; c++)
		if (*c == '\n') {
			++*row;
			line = c + 1;
		}
	*col = 0;
	for (const char *c = line; c < at; c++)
		*col += ((unsigned char)*c & 0xc0) != 0x80;
}

static unsigned int click_at(struct typist *t, int row, int col, bool twice)
{
	struct mouse m = {MOUSE_CLICK, row, col, twice};

	ui_draw(t->ui, t->g);
	return ui_mouse(t->ui, t->g, &m);
}

static unsigned int click(struct typist *t, const char *text)
{
	int row, col;

	find(t, text, &row, &col);
	return click_at(t, row, col, false);
}

static void turn_wheel(struct typist *t, enum mouse_kind kind)
{
	struct mouse m = {kind, 15, 20, false};

	ui_draw(t->ui, t->g);
	ui_mouse(t->ui, t->g, &m);
}

/* --- the mouse ----------------------------------------------------------------------------- */

static void clicks_do_what_is_written_there(void **state)
{
	struct typist *t = *state;
	int row, col;

	click(t, "3 Tree");
	assert_shows(t, "[3 Tree]");
	click(t, "1 Procs");
	assert_shows(t, "[1 Procs]");
	click(t, "postgres: SELECT");
	assert_shows(t, "5310 postgres: hottest functions");
	click(t, "nginx: worker");
	assert_shows(t, "4121 nginx: hottest functions");
	/* Headers sort; a second click inverts. */
	t->ui->ascii = true;
	click(t, "PID");
	assert_shows(t, "PID^"); /* the lowest first */
	click(t, "PID");
	assert_shows(t, "PIDv");
	click(t, "CPU%");
	assert_shows(t, "CPU%v");
	type(t, "2");
	click(t, "TOTAL%");
	assert_shows(t, "TOTAL%v");
	type(t, "1");
	click(t, "F1Help");
	assert_shows(t, "stacktop: keys");
	type(t, "x");
	click(t, "F8Freeze");
	assert_shows(t, "FROZEN");
	click(t, "F8Resume");
	assert_hides(t, "FROZEN");
	grid_resize(t->g, 24, 80);
	type(t, "3");
	click(t, "F1Help");
	assert_shows(t, "stacktop: keys");
	type(t, "x1");
	grid_resize(t->g, 30, 100);
	find(t, "postgres: SELECT", &row, &col);
	click_at(t, row, col, false);
	click_at(t, row, col, true);
	assert_shows(t, "[2 Funcs]");
	assert_shows(t, "all > 5310 postgres");
}

static void wheel_scrolls(void **state)
{
	struct typist *t = *state;

	type(t, "2");
	type(t, "g");
	turn_wheel(t, MOUSE_WHEEL_DOWN);
	assert_hides(t, ">    33.6");
	turn_wheel(t, MOUSE_WHEEL_UP);
	assert_mark_on(t, "ngx_parse_header");
	type(t, "?");
	turn_wheel(t, MOUSE_WHEEL_DOWN);
	assert_shows(t, " 4 to ");
}

static void click_zooms_in_flame(void **state)
{
	struct typist *t = *state;
	int row, col;

	type(t, "5");
	find(t, "ngx_process_request_line", &row, &col);
	click_at(t, row, col, false);
	assert_shows(t, "> ngx_process_request_line");
	/* On what fills the width now: one level out. */
	find(t, "Zoom", &row, &col);
	click_at(t, row + 1, 5, false);
	assert_hides(t, "> ngx_process_request_line ");
}

static void clicks_anywhere_hurt_nobody(void **state)
{
	static const char *const views[] = {"1", "2", "3", "4", "5", "6", "7", "?", "o", ":"};
	struct typist *t = *state;

	for (size_t v = 0; v < sizeof(views) / sizeof(views[0]); v++) {
		type(t, views[v]);
		for (int row = -1; row <= 31; row++)
			for (int col = -1; col <= 101; col += 7)
				for (int kind = 0; kind < 4; kind++) {
					struct mouse m = {kind % 3, row, col, kind == 3};

					ui_draw(t->ui, t->g);
					ui_mouse(t->ui, t->g, &m);
				}
		for (int i = 0; i < 4; i++)
			ui_key(t->ui, KEYCODE_ESCAPE);
	}
}

static enum mouse_read report(const char *text, struct mouse *out)
{
	struct mouse_reader r = {.reading = true};
	enum mouse_read result = MOUSE_GOES_ON;

	for (; *text && result == MOUSE_GOES_ON; text++)
		result = mouse_read(&r, *text, out);
	if (result != MOUSE_GOES_ON)
		assert_false(r.reading);
	return result;
}

/* Examples of xterm's ctlseqs: button;column;row from 1, M pressed, m released. */
static void reports_are_read(void **state)
{
	struct mouse m;

	(void)state;
	assert_int_equal(report("0;7;3M", &m), MOUSE_DONE);
	assert_int_equal(m.kind, MOUSE_CLICK);
	assert_int_equal(m.row, 2);
	assert_int_equal(m.col, 6);
	assert_int_equal(report("64;300;120M", &m), MOUSE_DONE);
	assert_int_equal(m.kind, MOUSE_WHEEL_UP);
	assert_int_equal(m.col, 299);
	assert_int_equal(report("65;1;1M", &m), MOUSE_DONE);
	assert_int_equal(m.kind, MOUSE_WHEEL_DOWN);
	assert_int_equal(report("16;1;1M", &m), MOUSE_DONE); /* with control */
	assert_int_equal(report("0;7;3m", &m), MOUSE_NOTHING);
	assert_int_equal(report("2;7;3M", &m), MOUSE_NOTHING);
	assert_int_equal(report("0;7M", &m), MOUSE_NOTHING);
	assert_int_equal(report("0;0;0M", &m), MOUSE_NOTHING);
	assert_int_equal(report("0;1;2;3M", &m), MOUSE_NOTHING);
	assert_int_equal(report("0;-1;2M", &m), MOUSE_NOTHING);
	assert_int_equal(report("4294967296;1;1M", &m), MOUSE_NOTHING);
	assert_int_equal(report("0;99999;1M", &m), MOUSE_NOTHING);
	assert_int_equal(report("0000000000000000000000000000000;1;1M", &m), MOUSE_NOTHING);
	assert_int_equal(report("\x1b", &m), MOUSE_NOTHING);
	assert_int_equal(report("0;7", &m), MOUSE_GOES_ON);
}

/* --- commands ------------------------------------------------------------------------------ */

static unsigned int command(struct typist *t, const char *text)
{
	type(t, ":");
	type(t, text);
	return ui_key(t->ui, KEYCODE_ENTER);
}

static void commands_do_what_keys_do(void **state)
{
	struct typist *t = *state;

	command(t, "view-tree");
	assert_shows(t, "[3 Tree]");
	command(t, "attach 123");
	assert_int_equal(posted, SOURCE_ATTACH);
	assert_string_equal(posted_arg, "123");
	command(t, "detach 77");
	assert_int_equal(posted, SOURCE_DETACH);
	assert_string_equal(posted_arg, "77");
	command(t, "set refresh 2");
	assert_int_equal(posted, SOURCE_INTERVAL);
	assert_string_equal(posted_arg, "2.0");
	assert_shows(t, "every 2.0 s");
	assert_true(command(t, "theme nord") & UI_THEME);
	assert_string_equal(t->ui->config.theme, "nord");
	assert_true(command(t, "save") & UI_SAVE);
	assert_true(command(t, "quit") & UI_QUIT);
	command(t, "search ngx_writev");
	assert_mark_on(t, "ngx_writev");
	command(t, "attach");
	assert_shows(t, "Attach (-X detaches");
}

static void wrong_commands_are_told(void **state)
{
	static const char *const wrong[][2] = {
		{"nonsense", "there is no command 'nonsense'"},
		{"set", ":set needs an argument"},
		{"set refresh", "set what?"},
		{"set refresh soon", "refresh: 'soon' is not a number from 0.1 to 3600"},
		{"set colour red", "unknown setting 'colour'"},
		{"theme ../../etc/passwd", "is not the name of a theme"},
		{"turn", "turn has no meaning in this view"},
		{"zero 5", "zero takes no argument"},
		{"bind F99 flip", "there is no key 'F99'"},
		{"bind F5 fly", "there is no action 'fly'"},
		{"search (", "("},
	};
	struct typist *t = *state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		command(t, wrong[i][0]);
		assert_shows(t, wrong[i][1]);
	}
	command(t, "");
	command(t, "   ");
}

static void tab_completes(void **state)
{
	static const char *const cases[][2] = {
		{"qu\t", "quit "},
		{"view-f\t", "view-funcs "},
		{"vfl\t", "view-flame "},
		{"view-fu\t", "view-funcs "},
		{"set ref\t", "set refresh "},
		{"set units m\t", "set units machine "},
		{"theme sol\t", "theme solarized "},
		{"set theme hi\t", "set theme high-contrast "},
		{"bind F5 fli\t", "bind F5 flip "},
		{"attach us\t", "attach user:"},
		{"attach user:po\t", "attach user:postgres"},
		{"detach user:ww\t", "detach user:www"},
		{"attach postg\t", "attach postgres"},
		{"attach user:no-such-one\t", "attach user:no-such-one"},
		{"filter-user pos\t", "filter-user postgres"},
		{"filter-user ^pos\t", "filter-user ^postgres"},
		{"sort th\t", "sort THR"},
		{"sort HOT\t", "sort HOTTEST FUNCTION"},
		{"sort HOTTEST F\t", "sort HOTTEST FUNCTION"},
		{"zoom postg\t", "zoom postgres"},
		{"inspect postg\t", "inspect postgres"},
		{"tag postg\t", "tag postgres"},
		{"xyz\t", "xyz"},
	};
	struct typist *t = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		type(t, ":");
		type(t, cases[i][0]);
		assert_string_equal(t->ui->prompt.text, cases[i][1]);
		ui_key(t->ui, KEYCODE_ESCAPE);
	}
	type(t, ":search some\t");
	assert_string_equal(t->ui->prompt.text, "search some");
	assert_shows(t, "no completion is known here");
	type(t, "t");
	assert_hides(t, "nothing is known");
	ui_key(t->ui, KEYCODE_ESCAPE);
	/* The blank that Tab leaves is no part of a name. */
	type(t, ":theme sol\t\n");
	assert_string_equal(t->ui->config.theme, "solarized");
	type(t, ":set units m\t\n");
	assert_shows(t, "CPU%");
	type(t, ":sort sm\t\n");
	assert_shows(t, "SMP/s▼");
	type(t, ":zoom nothing\t");
	assert_shows(t, "nothing begins with 'nothing'");
	type(t, "\n");
	assert_shows(t, "there is no process 'nothing' with samples");
	/* A line that is full stays as it is. */
	type(t, ":");
	for (int i = 0; i < 300; i++)
		type(t, "q");
	type(t, "\t\t");
	ui_key(t->ui, KEYCODE_ESCAPE);
}

/* What has no room in one row has more of them as long as it stands there, if there are any. */
static void long_answers_are_told_whole(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 24, 80);
	type(t, ":set \t");
	assert_shows(t,
		     "\n refresh window seconds theme ascii mouse units syntax frames hide.procs\n"
		     "   hide.funcs hide.tree hide.callers hide.shards hide.unwind order.procs\n"
		     "   order.funcs\n : set");
	grid_resize(t->g, 15, 50);
	assert_shows(t, "\n refresh window seconds theme ascii mouse units\n"
			"   syntax frames hide.procs hide.funcs hide.tree …\n : set");
	grid_resize(t->g, 11, 50);
	assert_shows(t, "\n refresh window seconds theme ascii mouse units s…\n : set");
	type(t, "t");
	assert_hides(t, "hide.");
}

static void keys_are_bound_anew(void **state)
{
	struct typist *t = *state;

	command(t, "bind F5 zero");
	assert_shows(t, "F5zero");
	ui_key(t->ui, KEYCODE_F0 + 5);
	assert_shows(t, "counts are zero");
	command(t, "unbind z");
	type(t, "z");
	assert_hides(t, "FROZEN");
	type(t, "?");
	assert_shows(t, "stacktop: keys");
	grid_resize(t->g, 120, 100);
	assert_shows(t, "F5 0  set all counts");
	assert_shows(t, "F8  freeze the view");
}

/* --- setup --------------------------------------------------------------------------------- */

static void setup_changes_settings(void **state)
{
	struct typist *t = *state;

	type(t, "o");
	assert_shows(t, "stacktop: setup");
	assert_shows(t, "refresh  < 1 >");
	ui_key(t->ui, KEYCODE_RIGHT);
	assert_shows(t, "refresh  < 2 >");
	assert_int_equal(posted, SOURCE_INTERVAL);
	type(t, "jj");
	assert_shows(t, "seconds  < 10 >");
	ui_key(t->ui, KEYCODE_RIGHT);
	assert_shows(t, "seconds  < 20 >");
	type(t, "j");
	assert_shows(t, "< default >");
	assert_true(ui_key(t->ui, KEYCODE_RIGHT) & UI_THEME);
	assert_shows(t, "< light >");
	/* The first column of Procs that can be hidden. */
	type(t, "jjjjjjjj");
	assert_shows(t, "> [x] HISTORY");
	type(t, " ");
	assert_shows(t, "> [ ] HISTORY");
	assert_true(ui_key(t->ui, KEYCODE_ESCAPE) & UI_SAVE);
	assert_shows(t, "[1 Procs]");
	assert_hides(t, "LAST ");
	assert_shows(t, "last 20 s  every 2.0 s");
	/* Without a change nothing is written. */
	type(t, "o");
	assert_false(ui_key(t->ui, KEYCODE_ESCAPE) & UI_SAVE);
}

/* 12 slices were fed, so that a window of 5 s has fewer samples, one of 60 s more than of 10 s. */
static void window_has_any_span(void **state)
{
	struct typist *t = *state;

	assert_shows(t, "last 10 s");
	grid_resize(t->g, 30, 120);
	type(t, "2");
	assert_shows(t, " 1000 u");
	type(t, ":window 5\n");
	assert_shows(t, "last 5 s");
	assert_shows(t, " 500 u");
	type(t, ":window 60\n");
	assert_shows(t, "last 60 s");
	assert_shows(t, " 1200 u");
	type(t, "m");
	assert_shows(t, "[all since zero]");
	type(t, "m");
	assert_shows(t, "[decay 30 s]");
	type(t, "m");
	assert_shows(t, "shows the last 60 s");
	type(t, ":window 0\n");
	assert_shows(t, "'0' is not a whole number from 1 to 300");
	type(t, ":window 301\n:window 2.5\n");
	assert_shows(t, "'2.5' is not a whole number from 1 to 300");
	assert_shows(t, "last 60 s");
	type(t, ":window total\n");
	assert_shows(t, "[all since zero]");
}

/* Each title once, though tables of a view share some, and hidden in all of them. */
static void columns_of_tables_are_hidden(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 50, 160);
	profile_lock(t->feed.p);
	board_set_inventory(profile_board(t->feed.p), feed_inventory(t->ui->now));
	profile_unlock(t->feed.p);
	type(t, "6");
	assert_shows(t, "OCCUPANCY");
	assert_shows(t, "BUILD ID");
	assert_shows(t, "GEN");
	type(t, ":set hide.shards BUILD ID, GEN, OCCUPANCY\n");
	assert_hides(t, "BUILD ID");
	assert_hides(t, "GEN");
	assert_hides(t, "OCCUPANCY");
	type(t, "7");
	assert_shows(t, "WHAT IT MEANS");
	assert_shows(t, "WALKS");
	type(t, ":set hide.unwind WALKS, BAR, WHAT IT MEANS\n");
	assert_hides(t, "WALKS");
	assert_hides(t, " BAR ");
	assert_hides(t, "WHAT IT MEANS");
	type(t, "o");
	grid_resize(t->g, 120, 100);
	assert_shows(
		t,
		"Columns of Shards\n   [ ] OCCUPANCY\n   [x] WORDS\n   [x] OBJS\n"
		"   [x] STATE\n   [x] EVICTED\n   [ ] GEN\n   [x] AGE\n   [x] PROCS\n"
		"   [x] USED\n   [x] MISS s\n   [x] B/CFI\n   [x] ROWS\n   [x] DERIV%\n   [ ] BUILD ID\n"
		" Columns of Unwind\n   [ ] WALKS\n   [x] /s\n   [x] GUESSED\n   [ ] BAR\n"
		"   [ ] WHAT IT MEANS\n   [x] SMP/s\n   [x] AT\n Keys\n");
}

static void setup_binds_keys(void **state)
{
	struct typist *t = *state;

	type(t, "o");
	type(t, "G");
	assert_shows(t, "quit");
	type(t, "\n");
	assert_shows(t, "Press the key for quit");
	ui_key(t->ui, KEYCODE_F0 + 12);
	assert_shows(t, "F12 F10 q");
	assert_shows(t, "F12: quit");
	type(t, "!");
	assert_hides(t, "F12");
	type(t, "\n");
	ui_key(t->ui, KEYCODE_F0 + 12);
	type(t, "\n");
	assert_int_equal(ui_key(t->ui, KEYCODE_ESCAPE) & UI_SAVE, 0);
	type(t, "!");
	assert_hides(t, "F12");
	type(t, "\nX");
	assert_true(ui_key(t->ui, KEYCODE_ESCAPE) & UI_SAVE);
	assert_string_equal(t->ui->notice, "");
	assert_true(ui_key(t->ui, 'X') & UI_QUIT);
}

/* What is cut off of the help of the row under the cursor stands below the rows. */
static void setup_tells_the_whole_help(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 24, 80);
	type(t, "oj");
	assert_shows(t, "\n what counts: the samples of the last seconds, or all since zero\n");
	type(t, "G");
	assert_shows(t, "\n text dim title");
	grid_resize(t->g, 24, 100);
	type(t, "gj");
	assert_shows(t, "\n text dim title");
}

static void setup_is_as_expected(void **state)
{
	struct typist *t = *state;

	type(t, "o");
	compare(t, "setup");
	grid_resize(t->g, 24, 80);
	compare(t, "setup");
	grid_resize(t->g, 15, 60);
	compare(t, "setup");
	assert_no_size_breaks(t);
}

static void setup_moves_columns(void **state)
{
	struct typist *t = *state;
	const char *text;

	type(t, "o");
	screen(t);
	type(t, "jjjjjjjjj");
	assert_shows(t, "> [=] CPU%");
	type(t, ">>");
	assert_shows(t, "> [=] CPU%");
	text = strstr(screen(t), "Columns of Procs");
	assert_true(strstr(text, "HISTORY") < strstr(text, "CPU%"));
	assert_true(strstr(text, "CPU%") < strstr(text, "K%"));
	/* It cannot be hidden. */
	type(t, " ");
	assert_shows(t, "without CPU% a row says nothing");
	assert_true(ui_key(t->ui, KEYCODE_ESCAPE) & UI_SAVE);
	text = strstr(screen(t), "LAST ");
	assert_non_null(text);
	assert_true(text < strstr(t->text, "CPU%"));
	type(t, "o");
	screen(t);
	type(t, "jjjjjjjjjjj<<<<<");
	assert_shows(t, "> [=] CPU%");
	ui_key(t->ui, KEYCODE_ESCAPE);
	assert_shows(t, "CPU%▼ LAST ");
	/* Functions, too, below processes as in their own view. */
	type(t, ":set order.funcs FUNCTION\n");
	text = strstr(screen(t), "\n  FUNCTION  ");
	assert_non_null(text);
	assert_true(text < strstr(t->text, "SELF%"));
	type(t, "2");
	text = strstr(screen(t), "\n  FUNCTION  ");
	assert_non_null(text);
	assert_true(text < strstr(t->text, "SELF%"));
	/* Not what has an order of its own. */
	type(t, "o<");
	assert_shows(t, "columns of Procs and Funcs can be moved");
}

static void units_are_of_the_machine(void **state)
{
	struct typist *t = *state;
	double one, all;
	const char *at;

	at = strstr(screen(t), "nginx: worker");
	assert_non_null(at);
	at = strstr(screen(t), "\n>");
	assert_int_equal(sscanf(at, "\n> %lf", &one), 1);
	command(t, "set units machine");
	at = strstr(screen(t), "\n>");
	assert_int_equal(sscanf(at, "\n> %lf", &all), 1);
	assert_true(t->ui->header.last.ncpus > 1);
	assert_true(all > 0);
	/* The figures are rounded to a tenth. */
	assert_true(one / t->ui->header.last.ncpus - all < 0.1);
	assert_true(all - one / t->ui->header.last.ncpus < 0.1);
}

static void keep_warning(void *arg, const char *text)
{
	snprintf(arg, 160, "%s", text);
}

static void unknown_columns_are_told(void **state)
{
	static const enum ui_view views[] = {VIEW_PROCS,   VIEW_FUNCS,	VIEW_TREE,
					     VIEW_CALLERS, VIEW_SHARDS, VIEW_UNWIND};
	struct typist *t = *state;
	char told[160];

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		char *hide = t->ui->config.hide[views[i]];

		told[0] = '\0';
		strcpy(hide, "nope");
		setup_check(t->ui, keep_warning, told);
		assert_non_null(strstr(told, " has no column 'nope' that can be hidden"));
		hide[0] = '\0';
	}
	strcpy(t->ui->config.hide[VIEW_TREE], "TOTAL%"); /* always shown */
	setup_check(t->ui, keep_warning, told);
	assert_non_null(strstr(told, " has no column 'TOTAL%' that can be hidden"));
	t->ui->config.hide[VIEW_TREE][0] = '\0';
	/* Only the last table of Unwind has this one. */
	config_hide(&t->ui->config, VIEW_UNWIND, "AT", true);
	told[0] = '\0';
	setup_check(t->ui, keep_warning, told);
	assert_string_equal(told, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, typist_teardown)
		CASE(clicks_do_what_is_written_there),
		CASE(wheel_scrolls),
		CASE(click_zooms_in_flame),
		CASE(clicks_anywhere_hurt_nobody),
		CASE(reports_are_read),
		CASE(commands_do_what_keys_do),
		CASE(wrong_commands_are_told),
		CASE(tab_completes),
		CASE(long_answers_are_told_whole),
		CASE(keys_are_bound_anew),
		CASE(setup_changes_settings),
		CASE(window_has_any_span),
		CASE(columns_of_tables_are_hidden),
		CASE(unknown_columns_are_told),
		CASE(setup_binds_keys),
		CASE(setup_is_as_expected),
		CASE(setup_tells_the_whole_help),
		CASE(units_are_of_the_machine),
		CASE(setup_moves_columns),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
