// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types keys at a made-up profile and looks at the screen as text. Whole screens are compared with
 * files of expected/; STACKTOP_EXPECTED=write makes them anew, to be read before they are kept.
 * Covers: tui/ui/ui.c tui/app/dispatch.c tui/ui/header.c
 * Covers: tui/views/view_procs.c tui/views/procs_draw.c
 * Covers: tui/views/view_funcs.c tui/views/view_tree.c tui/views/procline.c tui/screen/columns.c
 * Covers: tui/ui/names.c tui/app/help.c tui/screen/menu.c tui/screen/prompt.c tui/app/questions.c
 * Covers: tui/ui/timespan.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/screens.h"
#include "tui/app/questions.h"
#include "tui/profile/board.h"
#include "tui/app/dispatch.h"

/* --- whole screens --------------------------------------------------------------------------- */

static void screens_are_as_expected(void **state)
{
	static const char *const names[] = {"procs", "funcs", "tree"};
	struct typist *f = *state;

	slices(f, 12, 0);
	for (int ascii = 0; ascii < 2; ascii++) {
		f->ui->ascii = ascii;
		for (int v = 0; v < 3; v++) {
			char key[2] = {(char)('1' + v), '\0'};

			type(f, key);
			for (size_t i = 0; typist_resize(f, i); i++)
				compare(f, names[v]);
		}
	}
}

static void help_is_as_expected(void **state)
{
	struct typist *f = *state;

	slices(f, 1, 0);
	grid_resize(f->g, 24, 80);
	type(f, "?");
	compare(f, "help");
	type(f, "G");
	compare(f, "help-end");
	type(f, "x");
	assert_shows(f, "[1 Procs]");
}

static void first_screen_says_what_goes_on(void **state)
{
	struct typist *f = *state;

	assert_int_equal(ui_refresh(f->ui), 0);
	assert_shows(f, "Starting: no samples have come yet.");
	type(f, "2");
	assert_shows(f, "no samples yet");
	type(f, "3");
	assert_shows(f, "no stacks yet");
}

/* Every cell of every size is a printable one, whatever is open. */
static void no_size_breaks(void **state)
{
	struct typist *f = *state;
	static const char *const keys[] = {"1", "2", "3", "3E", "?", "1A", "3R"};

	slices(f, 12, 0);
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		type(f, keys[k]);
		for (int rows = 1; rows < 40; rows++) {
			for (int cols = 1; cols < 130; cols += 3) {
				grid_resize(f->g, rows, cols);
				ui_draw(f->ui, f->g);
				for (int i = 0; i < rows * cols; i++)
					assert_true(f->g->cells[i].ch == 0 ||
						    f->g->cells[i].ch >= ' ');
			}
		}
		ui_key(f->ui, KEYCODE_ESCAPE);
	}
	ui_key(f->ui, KEYCODE_F0 + 6);
	for (int rows = 1; rows < 20; rows++) {
		grid_resize(f->g, rows, 30);
		ui_draw(f->ui, f->g);
	}
}

/* --- keys and what is told ------------------------------------------------------------------- */

static void the_event_is_chosen_from_a_menu(void **state)
{
	struct typist *f = *state;

	slices(f, 2, 0);
	nposted = 0;
	assert_int_equal(ui_key(f->ui, keys_parse("F7", 2)), UI_REDRAW);
	assert_shows(f, "Sample at");
	assert_shows(f, ">cpu-clock");
	assert_shows(f, "off-cpu");
	type(f, "G");
	assert_shows(f, ">iTLB-load-misses");
	type(f, "gjjjj\n");
	assert_hides(f, "Sample at");
	assert_int_equal(nposted, 1);
	assert_int_equal(posted, SOURCE_EVENT);
	assert_string_equal(posted_arg, "page-faults");
	type(f, ":event context-switches\n");
	assert_int_equal(nposted, 2);
	assert_string_equal(posted_arg, "context-switches");
	ui_key(f->ui, keys_parse("F7", 2));
	type(f, "q");
	assert_int_equal(nposted, 2);
	assert_hides(f, "Sample at");
	/* The menu of the columns is another. */
	type(f, "2");
	ui_key(f->ui, keys_parse("F6", 2));
	type(f, "\n");
	assert_int_equal(nposted, 2);
}

static void kernel_and_user_frames_can_be_hidden(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2");
	assert_shows(f, "tcp_sendmsg");
	type(f, "K");
	assert_hides(f, "tcp_sendmsg");
	assert_shows(f, "ngx_writev");
	type(f, "KU");
	assert_shows(f, "tcp_sendmsg");
	assert_hides(f, "ngx_writev");
	type(f, "U");
	assert_shows(f, "libc.so.6");
	type(f, "V");
	assert_hides(f, "libc.so.6");
	type(f, "KU3");
	assert_shows(f, "no stacks; frames are hidden (K, U)");
	type(f, "KU\\nowhere\n");
	assert_shows(f, "the filter keeps none");
}

static void zero_and_weigh(void **state)
{
	struct typist *f = *state;

	slices(f, 30, 0);
	grid_resize(f->g, 30, 120);
	type(f, "2");
	assert_shows(f, "1000");
	type(f, "m");
	assert_shows(f, "3000");
	type(f, "0");
	assert_shows(f, "no samples yet");
	slices(f, 1, 0);
	assert_shows(f, " 100 ");
}

static void reset_asks_first(void **state)
{
	struct typist *f = *state;

	slices(f, 1, 0);
	type(f, "R");
	assert_shows(f, "Reset shard");
	assert_int_equal(nposted, 0);
	ui_key(f->ui, KEYCODE_ESCAPE);
	assert_int_equal(nposted, 0);
	type(f, "Rmaybe\n");
	assert_int_equal(nposted, 0);
	assert_shows(f, "nothing was reset");
	type(f, "R\n"); /* what is offered */
	assert_int_equal(posted, SOURCE_RESET_SHARDS);
	assert_int_equal(nposted, 1);
	type(f, "R3\n"); /* takes its place */
	assert_int_equal(posted, SOURCE_RESET_SHARD);
	assert_string_equal(posted_arg, "3");
	type(f, "Rall\n");
	assert_int_equal(posted, SOURCE_RESET_SHARDS);
	assert_int_equal(nposted, 3);
}

static void pace_is_posted(void **state)
{
	struct typist *f = *state;

	slices(f, 1, 0);
	type(f, "[");
	assert_int_equal(posted, SOURCE_INTERVAL);
	assert_string_equal(posted_arg, "2.0");
	type(f, "]]");
	assert_string_equal(posted_arg, "0.5");
	type(f, "]]]]]]");
	assert_string_equal(posted_arg, "0.1");
	type(f, "[[[[[[[[[[[[");
	assert_string_equal(posted_arg, "60.0");
}

static void ascii_is_ascii(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "~");
	for (const char *view = "123?"; *view; view++) {
		char key[2] = {*view, '\0'};

		type(f, key);
		for (const char *c = screen(f); *c; c++)
			assert_true((unsigned char)*c < 0x7f);
	}
	type(f, "x~");
	assert_shows(f, "●");
}

static void prompts_can_be_edited(void **state)
{
	struct typist *f = *state;

	slices(f, 1, 0);
	type(f, "2Aabc");
	ui_key(f->ui, KEYCODE_LEFT);
	type(f, "\bX");
	ui_key(f->ui, KEYCODE_HOME);
	ui_key(f->ui, 0xe9);
	ui_key(f->ui, KEYCODE_END);
	ui_key(f->ui, 0x6f22);
	type(f, "\n");
	assert_string_equal(posted_arg, "éaXc漢");
	type(f, "A");
	for (int i = 0; i < 2000; i++)
		ui_key(f->ui, 0x6f22);
	screen(f);
	type(f, "\n");
	assert_int_equal(posted, SOURCE_ATTACH);
}

/* Where a command line has no room, the folder of its program goes, and comes back by scrolling. */
static void commands_show_the_name_of_the_program(void **state)
{
	struct typist *f = *state;
	struct profile_health h;
	static const char *const others[] = {"build/tests/tui/test_session --all of them",
					     "[kworker/0:1-events_freezable_power_]",
					     "postgres: me/db a@b/c SELECT 1 and wait"};
	struct profile_cell cells[5] = {{0, 1, 0, PROFILE_NO_STACK, 500, 0, 0}};

	f->feed.time += MACHINE_SECOND;
	machine_health(&f->feed, &h, 1000, 0, 1000);
	profile_lock(f->feed.p);
	cells[0].proc =
		machine_proc(&f->feed, 666, "root", "cc1",
			     "/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet /home/you/a.c", 1);
	cells[1] = cells[0];
	cells[1].proc = machine_proc(&f->feed, 667, "root", "ls", "/bin/ls /usr/lib", 1);
	for (int i = 0; i < 3; i++) {
		cells[2 + i] = cells[0];
		cells[2 + i].proc = machine_proc(&f->feed, 668 + i, "root", "other", others[i], 1);
	}
	for (int i = 0; i < 5; i++)
		cells[i].ustack = machine_stack(&f->feed, "main@cc1");
	assert_int_equal(profile_commit(f->feed.p, cells, 5, &h), 0);
	for (int i = 0; i < 5; i++)
		profile_stack_put(f->feed.p, cells[i].ustack);
	profile_unlock(f->feed.p);
	ui_refresh(f->ui);
	assert_shows(f, " cc1 -quiet /h");
	assert_hides(f, " /usr/lib/gcc/x ");
	assert_shows(f, " /bin/ls /usr/lib");
	assert_shows(f, " test_session --");
	assert_shows(f, " [kworker/0:1-e");
	assert_shows(f, " postgres: me/d");
	type(f, "l");
	assert_shows(f, " /usr/lib/gcc/x");
	type(f, "l");
	assert_shows(f, " /gcc/x86_64-li");
	type(f, "hh");
	assert_shows(f, " cc1 -quiet /h");
	type(f, "7");
	assert_hides(f, "/usr/lib/gcc");
	type(f, "1");
	assert_int_equal(grid_resize(f->g, 30, 200), 0);
	assert_shows(f, " /usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet /home/you/a.c");
}

static void hostile_names_do_not_reach_the_screen(void **state)
{
	struct typist *f = *state;
	struct profile_health h;
	struct profile_cell cell = {0, 1, 0, PROFILE_NO_STACK, 500, 0, 0};

	f->feed.time += MACHINE_SECOND;
	machine_health(&f->feed, &h, 500, 0, 500);
	profile_lock(f->feed.p);
	cell.proc = machine_proc(&f->feed, 666, "\x1b[5m", "\x1b]0;x\x07", "\x1b[2J\n\xc2\x9b", 1);
	cell.ustack =
		machine_stack(&f->feed, "\x1b[31mred@\x1b[0m;\xe2\x80\xaegnp@x;漢字漢字e\xcc\x81");
	assert_int_equal(profile_commit(f->feed.p, &cell, 1, &h), 0);
	profile_stack_put(f->feed.p, cell.ustack);
	board_message(profile_board(f->feed.p), MESSAGE_ERROR, "\x1b[2J%s", "\x9b");
	profile_unlock(f->feed.p);
	ui_refresh(f->ui);
	for (const char *view = "1\n3?"; *view; view++) {
		char key[2] = {*view, '\0'};

		type(f, key);
		assert_null(strchr(screen(f), 0x1b));
		assert_null(strstr(f->text, "\xc2\x9b"));
		assert_null(strstr(f->text, "\xe2\x80\xae"));
		assert_null(strchr(f->text, 0x07));
	}
}

static void losses_name_cause_and_remedy(void **state)
{
	struct typist *f = *state;
	struct profile_health h;

	slices(f, 12, 0);
	f->feed.time += MACHINE_SECOND;
	machine_health(&f->feed, &h, 100, 0, 100);
	h.loss[LOSS_COUNTS_FULL] = 7;
	profile_lock(f->feed.p);
	assert_int_equal(profile_commit(f->feed.p, NULL, 0, &h), 0);
	profile_unlock(f->feed.p);
	ui_refresh(f->ui);
	assert_shows(f, "lost 7 (stack map full)");
	assert_shows(f, "lost 7: stack map full (lower -F");
}

static void throttling_is_told(void **state)
{
	struct typist *f = *state;
	struct profile_health h;

	slices(f, 12, 0);
	f->feed.time += MACHINE_SECOND;
	machine_health(&f->feed, &h, 100, 0, 100);
	h.ticks = 10 * 396;
	h.idle = 9 * 396;
	h.loss[LOSS_MISSED] = 30; /* of 396 ticks: some always are */
	profile_lock(f->feed.p);
	assert_int_equal(profile_commit(f->feed.p, NULL, 0, &h), 0);
	profile_unlock(f->feed.p);
	ui_refresh(f->ui);
	assert_null(strstr(screen(f), "ticks late"));
	f->feed.time += MACHINE_SECOND;
	h.loss[LOSS_MISSED] = 200;
	profile_lock(f->feed.p);
	assert_int_equal(profile_commit(f->feed.p, NULL, 0, &h), 0);
	profile_unlock(f->feed.p);
	ui_refresh(f->ui);
	assert_shows(f, "lost 0 (ticks late or missed)");
	assert_shows(f, "lost 230: ticks late or missed (lower -F");
	f->feed.time += MACHINE_SECOND;
	h.loss[LOSS_THROTTLED] = 7;
	profile_lock(f->feed.p);
	assert_int_equal(profile_commit(f->feed.p, NULL, 0, &h), 0);
	profile_unlock(f->feed.p);
	ui_refresh(f->ui);
	assert_shows(f, "lost 0 (throttled by the kernel)");
	assert_shows(f, "lost 7: throttled by the kernel (lower -F, or raise kernel.");
}

static void filters_and_exits_are_marked(void **state)
{
	struct typist *f = *state;
	struct profile_proc gone = {.pid = 7781,
				    .image = 1,
				    .comm = "node",
				    .user = "app",
				    .cmdline = "node server.js",
				    .exited = true,
				    .exit_time = MACHINE_NOW};
	struct profile_proc chosen = {.pid = 5310,
				      .image = 1,
				      .comm = "postgres",
				      .cmdline = "postgres: SELECT",
				      .attached = true};
	struct profile_health h;

	slices(f, 3, 0);
	f->feed.time += MACHINE_SECOND;
	machine_health(&f->feed, &h, 100, 0, 100);
	h.filtering = true;
	h.nattached = 1;
	profile_lock(f->feed.p);
	assert_true(profile_proc(f->feed.p, &gone) >= 0);
	assert_true(profile_proc(f->feed.p, &chosen) >= 0);
	assert_int_equal(profile_commit(f->feed.p, NULL, 0, &h), 0);
	profile_unlock(f->feed.p);
	f->ui->now = MACHINE_NOW + 4 * MACHINE_SECOND;
	ui_refresh(f->ui);
	assert_shows(f, "z    18.9 ");
	assert_shows(f, "  7781 ");
	assert_shows(f, "exited 4s ago");
	assert_shows(f, "+    45.5 ");
	assert_shows(f, "    5310 ");
	assert_shows(f, "attached 1/231");
	/* Of a column that is short of room the age goes before a word of it is cut. */
	f->ui->now = MACHINE_NOW + 119 * MACHINE_SECOND;
	assert_shows(f, "exited 1m59s ago");
	f->ui->now = MACHINE_NOW + 7000 * MACHINE_SECOND;
	assert_shows(f, "exited 1h56m ago");
	f->ui->now = MACHINE_NOW + 7200 * MACHINE_SECOND;
	assert_shows(f, "exited 2h00m ago");
	for (int cols = 60; cols < 200; cols++) {
		static const char *const cut[] = {
			" 2\u2026",	 " 2h\u2026",	   " 2h0\u2026",     " 2h00\u2026",
			" 2h00m \u2026", " 2h00m a\u2026", " 2h00m ag\u2026"};

		grid_resize(f->g, 24, cols);
		for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
			assert_hides(f, cut[i]);
	}
	grid_resize(f->g, 30, 100);
	type(f, "jA");
	assert_shows(f, "all): -5310");
}

/* Each question that has a form says which, in whole words from 60 columns on. */
static void questions_say_how_they_are_answered(void **state)
{
	static const char *const keys = "/\\uOAw:";
	struct typist *t = *state;

	slices(t, 2, 0);
	grid_resize(t->g, 15, 60);
	for (size_t i = 0; i < strlen(keys); i++) {
		const char *help;

		ui_key(t->ui, keys[i]);
		help = questions_help(t->ui);
		assert_non_null(help);
		assert_shows(t, help);
		ui_key(t->ui, KEYCODE_ESCAPE);
		assert_hides(t, help);
	}
	/* What it offers matters more. */
	type(t, "A\t");
	assert_shows(t, "user: ");
	assert_hides(t, "Tab completes");
	ui_key(t->ui, KEYCODE_ESCAPE);
	type(t, "\\zzz\n3");
	assert_shows(t, "the filter keeps none: Esc clears it, F4 changes it");
	type(t, "2");
	assert_shows(t, "the filter keeps none: Esc clears it, F4 changes it");
}

/* Of tabs and of what is said at the bottom there are whole words, at any width. */
static void narrow_screens_have_whole_words(void **state)
{
	static const char *const views[] = {"1 Procs", "2 Funcs",  "3 Tree",  "4 Callers",
					    "5 Flame", "6 Shards", "7 Unwind"};
	struct typist *t = *state;
	char want[32], key[2] = "1";

	slices(t, 2, 0);
	for (size_t i = 0; i < 7; i++, key[0]++) {
		type(t, key);
		snprintf(want, sizeof(want), " [%s]", views[i]);
		for (int cols = 20; cols < 100; cols++) {
			const char *row;

			grid_resize(t->g, cols % 2 ? 5 : 15, cols);
			assert_shows(t, want);
			/* What is behind it: no tab, numbers, or numbers with names. */
			row = strstr(t->text, want) + strlen(want);
			if (i < 6 && row[0] == ' ' && row[1] == views[i + 1][0])
				assert_true(!strncmp(row + 1, views[i + 1], strlen(views[i + 1])) ||
					    i == 5 || !strncmp(row + 2, "  ", 2));
			else if (i < 6)
				assert_true(row[0] == '\n' || !strncmp(row, "  ", 2));
		}
	}
	t->ui->notice_until = 0;
	t->ui->header.sum.user_walks = 0;
	grid_resize(t->g, 15, 60);
	assert_shows(t, " marks: > cursor  * tagged  + attached  ! broken stacks\n");
	grid_resize(t->g, 15, 30);
	assert_shows(t, " marks: > cursor  * tagged\n");
	t->ui->header.sum.user_walks = 100;
	t->ui->header.sum.complete_walks = 80;
	grid_resize(t->g, 15, 60);
	assert_shows(t, " ! 20% of user stacks are not complete: 7 shows why\n");
	grid_resize(t->g, 15, 40);
	assert_shows(t, " ! 20% of user stacks are not complete\n");
	grid_resize(t->g, 30, 150);
	assert_null(strstr(t->text, "reading more"));
	t->ui->header.last.reading_procs = true;
	assert_shows(t, "procs 231, reading more\n");
	type(t, "z");
	t->ui->notice_until = 0;
	grid_resize(t->g, 15, 60);
	assert_shows(t, " FROZEN, sampling goes on:  , . a second  { } ten  M range\n");
}

static void exits_in_a_recording_age_by_what_is_played(void **state)
{
	struct typist *f = *state;
	struct profile_replay replay = {.speed = 10, .interval = 5 * MACHINE_SECOND};
	struct profile_proc gone = {.pid = 7781, .image = 1, .comm = "node", .exited = true};
	struct profile_health h;

	slices(f, 3, 0);
	gone.exit_time = f->feed.time - MACHINE_SECOND;
	f->feed.time += MACHINE_SECOND;
	machine_health(&f->feed, &h, 100, 0, 100);
	profile_lock(f->feed.p);
	assert_true(profile_proc(f->feed.p, &gone) >= 0);
	assert_int_equal(profile_commit(f->feed.p, NULL, 0, &h), 0);
	profile_set_replay(f->feed.p, &replay);
	profile_unlock(f->feed.p);
	f->ui->now = f->feed.time + 3600 * MACHINE_SECOND;
	ui_refresh(f->ui);
	assert_shows(f, "exited 2s ago");
	assert_shows(f, "every 5.0 s");
}

/* As htop's F5 does, from the lists as well; then the same from other sides. */
static void f5_leads_to_the_tree(void **state)
{
	static const char *const titles[] = {"[3 Tree]", "[4 Callers]", "[5 Flame]", "[3 Tree]"};
	struct typist *t = *state;

	slices(t, 2, 0);
	for (int from = 1; from <= 2; from++) {
		type(t, from == 1 ? "1" : "2");
		assert_shows(t, "F5Tree");
		for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
			ui_key(t->ui, keys_parse("F5", 2));
			assert_shows(t, titles[i]);
		}
	}
}

/* However narrow the screen is, the ways to help and out are told, and no label is cut. */
static void footer_keeps_what_matters(void **state)
{
	static const char *const labels[] = {
		"F1Help", "F2Setup", "F2Set",	"F3Search", "F3Find",	"F4Filter", "F4Filt",
		"F5Tree", "F6Sort",  "F7Event", "F8Freeze", "F9Attach", "F9Add",    "F10Quit"};
	struct typist *t = *state;
	char row[512], *save, *word;

	slices(t, 2, 0);
	for (int cols = 15; cols < 100; cols++) {
		const char *last;

		grid_resize(t->g, 24, cols);
		last = strstr(screen(t), " F1Help ");
		assert_non_null(last);
		snprintf(row, sizeof(row), "%s", last);
		assert_non_null(strstr(row, " F10Quit"));
		for (word = strtok_r(row, " \n", &save); word;
		     word = strtok_r(NULL, " \n", &save)) {
			size_t i = 0;

			while (i < sizeof(labels) / sizeof(labels[0]) &&
			       strcmp(labels[i], word) != 0)
				i++;
			assert_true(i < sizeof(labels) / sizeof(labels[0]));
		}
	}
	assert_shows(t,
		     " F2Setup F3Search F4Filter F5Tree F6Sort F7Event F8Freeze F9Attach F10Quit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(screens_are_as_expected),
		SCREEN_TEST(help_is_as_expected),
		SCREEN_TEST(first_screen_says_what_goes_on),
		SCREEN_TEST(no_size_breaks),
		SCREEN_TEST(narrow_screens_have_whole_words),
		SCREEN_TEST(questions_say_how_they_are_answered),
		SCREEN_TEST(f5_leads_to_the_tree),
		SCREEN_TEST(footer_keeps_what_matters),
		SCREEN_TEST(the_event_is_chosen_from_a_menu),
		SCREEN_TEST(kernel_and_user_frames_can_be_hidden),
		SCREEN_TEST(zero_and_weigh),
		SCREEN_TEST(reset_asks_first),
		SCREEN_TEST(pace_is_posted),
		SCREEN_TEST(ascii_is_ascii),
		SCREEN_TEST(prompts_can_be_edited),
		SCREEN_TEST(commands_show_the_name_of_the_program),
		SCREEN_TEST(hostile_names_do_not_reach_the_screen),
		SCREEN_TEST(losses_name_cause_and_remedy),
		SCREEN_TEST(throttling_is_told),
		SCREEN_TEST(filters_and_exits_are_marked),
		SCREEN_TEST(exits_in_a_recording_age_by_what_is_played),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
