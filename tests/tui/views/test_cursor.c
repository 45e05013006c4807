// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the cursor is on, whatever comes and goes: rows that move, nodes that open, a zoom, a
 * search, another order.
 * Covers: tui/screen/list.c tui/views/treerows.c tui/views/calltree.c
 * Covers: tui/views/view_procs.c tui/views/view_funcs.c tui/views/view_tree.c
 * Covers: tui/views/procrows.c tui/screen/columns.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/screens.h"
#include "tui/app/dispatch.h"

static void cursor_stays_on_its_process(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	assert_cursor_on(f, "nginx: worker");
	type(f, "j");
	assert_cursor_on(f, "postgres: SELECT");
	assert_shows(f, "5310 postgres: hottest functions");
	/* postgres becomes the busiest, and the first. */
	slices(f, 12, 1);
	assert_cursor_on(f, "postgres: SELECT");
	assert_shows(f, "ExecInterpExpr");
	type(f, "I");
	assert_cursor_on(f, "postgres: SELECT");
	type(f, "k"); /* now the least busy are above */
	assert_cursor_on(f, "node server.js");
	type(f, "G");
	assert_cursor_on(f, "postgres: SELECT");
}

static void cursor_is_on_the_busiest_until_a_key_moves_it(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	assert_cursor_on(f, "nginx: worker");
	slices(f, 12, 1);
	assert_cursor_on(f, "postgres: SELECT");
}

static void cursor_stays_on_its_function(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2j");
	assert_cursor_on(f, "ExecInterpExpr");
	slices(f, 12, 1);
	assert_cursor_on(f, "ExecInterpExpr");
	type(f, "S");
	assert_cursor_on(f, "ExecInterpExpr");
}

/* A place far down says nothing in another list; a function that both have does. */
static void functions_of_another_process_begin_anew(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2/shrink\n");
	assert_cursor_on(f, "shrink_folio");
	type(f, "1\n"); /* nginx has none of that name */
	type(f, "2");
	assert_cursor_on(f, "ngx_parse_header");
	type(f, "/tcp\n");
	assert_cursor_on(f, "tcp_sendmsg");
	type(f, "\x1b");
	type(f, "2");
	assert_cursor_on(f, "tcp_sendmsg");
}

static void the_tree_of_another_process_begins_anew(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "3/shrink\n");
	assert_cursor_on(f, "shrink_folio");
	type(f, "1\n3");
	assert_cursor_on(f, "ngx_process_events_and_t");
}

static void cursor_and_open_nodes_stay_in_the_tree(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "3jj");
	assert_cursor_on(f, "ngx_process_request_line");
	type(f, "-");
	assert_hides(f, "memmove");
	/* postgres overtakes nginx: the order turns round. */
	slices(f, 12, 1);
	assert_cursor_on(f, "ngx_process_request_line");
	assert_hides(f, "memmove");
	type(f, "+");
	assert_shows(f, "memmove");
	slices(f, 12, 0);
	assert_cursor_on(f, "ngx_process_request_line");
	assert_shows(f, "memmove");
}

static void tree_opens_and_closes(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "3C");
	assert_hides(f, "ngx_process_events");
	assert_cursor_on(f, "[+] 4121 nginx");
	type(f, "\n");
	assert_shows(f, "ngx_process_events");
	assert_hides(f, "memmove");
	type(f, "*");
	assert_shows(f, "memmove");
	assert_shows(f, "k tcp_sendmsg");
	assert_hides(f, "ExecutorRun");
	type(f, "e");
	assert_hides(f, "ngx_process_events");
	type(f, "E");
	assert_shows(f, "ExecInterpExpr");
	assert_shows(f, "memmove");
	/* h closes, then goes to the parent; l opens, then goes to the child. */
	type(f, "gjjjh");
	assert_cursor_on(f, "[+] ngx_process_request_line");
	type(f, "h");
	assert_cursor_on(f, "ngx_process_events_and_timers");
	type(f, "jll");
	assert_cursor_on(f, "ngx_parse_header");
}

static void tree_opens_down_to_a_level(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "3gjjj");
	assert_cursor_on(f, "ngx_parse_header");
	type(f, "D3\n");
	assert_shows(f, "ngx_process_events_and_timer");
	assert_shows(f, "[+] main \u203a ExecutorRun");
	assert_hides(f, "ngx_process_request_line");
	assert_cursor_on(f, "ngx_process_events_and_t");
	/* What comes anew is no deeper, and what is opened by hand stays so. */
	type(f, "+");
	slices(f, 12, 1);
	assert_shows(f, "[+] main \u203a ExecutorRun");
	assert_shows(f, "[+] ngx_process_request_line");
	type(f, "D2\n");
	assert_shows(f, "[+] ngx_worker_");
	assert_hides(f, "ngx_process_request");
	type(f, ":depth 4\n");
	assert_shows(f, "[+] ngx_process_request_line");
	for (const char *const *wrong = (const char *const[]){"0", "-1", "x", "1101", "", NULL};
	     *wrong; wrong++) {
		type(f, "D");
		type(f, *wrong);
		type(f, "\n");
		assert_shows(f, "is not a number from 1 to 1100");
	}
	type(f, "2:depth 3\n");
	assert_shows(f, "only Tree and Callers have levels");
}

static void tree_says_where_a_stack_broke(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "3");
	assert_shows(f, "(!) [unwind: no table for pc]");
	assert_shows(f, "... 1 frame under 0.5%");
	assert_hides(f, "rare_one");
	assert_shows(f, "<== hottest");
}

static void deep_stacks_keep_their_names(void **state)
{
	struct typist *f = *state;
	char frames[16384] = "";
	struct profile_health h;
	struct profile_cell cell = {f->feed.nginx, 1, 0, PROFILE_NO_STACK, 100000, 0, 0};
	uint32_t other;

	for (int i = 0; i < 512; i++)
		sprintf(frames + strlen(frames), "f%d@m;", i);
	profile_lock(f->feed.p);
	cell.ustack = machine_stack(&f->feed, frames);
	strcpy(strstr(frames, "f400@"), "other@m");
	other = machine_stack(&f->feed, frames);
	f->feed.time += MACHINE_SECOND;
	machine_health(&f->feed, &h, 200000, 0, 200000);
	assert_int_equal(profile_commit(f->feed.p, &cell, 1, &h), 0);
	profile_stack_put(f->feed.p, cell.ustack);
	cell.ustack = other;
	cell.count /= 2;
	assert_int_equal(profile_commit(f->feed.p, &cell, 1, &h), 0);
	profile_stack_put(f->feed.p, other);
	profile_unlock(f->feed.p);
	ui_refresh(f->ui);
	type(f, "3EG");
	assert_cursor_on(f, "other");
	type(f, "k");
	assert_cursor_on(f, "f511");
	assert_shows(f, " > f510 > f511");
}

static void zoom_goes_in_and_out(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "j\n");
	assert_shows(f, "[2 Funcs]");
	assert_shows(f, "Zoom: all > 5310 postgres");
	assert_hides(f, "memmove");
	assert_shows(f, "100.0");
	type(f, "3");
	assert_shows(f, "ExecutorRun");
	assert_hides(f, "ngx_");
	ui_key(f->ui, KEYCODE_ESCAPE);
	assert_shows(f, "[1 Procs]");
	assert_cursor_on(f, "postgres: SELECT");
	type(f, "3");
	assert_shows(f, "ngx_");
}

static void frozen_data_stay_and_can_be_explored(void **state)
{
	struct typist *f = *state;
	char *before;

	slices(f, 12, 0);
	type(f, "z");
	assert_shows(f, "FROZEN");
	assert_shows(f, "8Resume");
	before = strdup(screen(f));
	slices(f, 12, 1);
	assert_string_equal(screen(f), before);
	free(before);
	/* Another view shows the same moment: nginx has two thirds, not a tenth. */
	type(f, "3");
	assert_shows(f, "67.4");
	assert_cursor_on(f, "4121 nginx");
	type(f, "1\n");
	assert_shows(f, "Zoom: all > 4121 nginx");
	assert_shows(f, "49.8");
	type(f, "K");
	assert_hides(f, "tcp_sendmsg");
	type(f, "Kz");
	assert_shows(f, "LIVE");
	assert_shows(f, "47.6"); /* 10 of 21 samples a second, no longer 100 of 201 */
}

static void search_finds_and_goes_on(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "/NODE\n");
	assert_cursor_on(f, "node server.js");
	type(f, "2/mem.*e$\n");
	assert_cursor_on(f, "memmove");
	type(f, "/ngx_p\n");
	assert_cursor_on(f, "ngx_process_events");
	type(f, "n");
	assert_cursor_on(f, "ngx_process_request_line");
	type(f, "N");
	assert_cursor_on(f, "ngx_process_events");
	type(f, "/nowhere\n");
	assert_shows(f, "not found: nowhere");
	type(f, "/[\n");
	assert_shows(f, "[: ");
	/* In the tree, what is closed is searched as well, and opened. */
	type(f, "3C/tcp_send\n");
	assert_cursor_on(f, "tcp_sendmsg");
}

/* Does the second text stand below the first? */
static bool is_below(struct typist *f, const char *first, const char *second)
{
	const char *text = screen(f);
	const char *a = strstr(text, first), *b = strstr(text, second);

	assert_non_null(a);
	assert_non_null(b);
	return a < b;
}

/* Sorted by the command :sort and inverted by I, the mark says each time what is above: in the
 * first order `least` is where the column rises, else below `most`. */
static void assert_marked(struct typist *f, const char *column, bool rises, const char *least,
			  const char *most)
{
	char text[64];

	snprintf(text, sizeof(text), ":sort %s\n", column);
	type(f, text);
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%s%s", column, rises ? "▲" : "▼");
		assert_shows(f, text);
		assert_int_equal(is_below(f, least, most), rises);
		type(f, "I");
		rises = !rises;
	}
}

static void marks_say_what_is_above(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	grid_resize(f->g, 40, 160);
	assert_marked(f, "PID", true, "nginx: worker", "postgres: SELECT");
	assert_marked(f, "USER", true, "5310 postgres", "4121 www");
	assert_marked(f, "CPU%", false, "postgres: SELECT", "nginx: worker");
	assert_marked(f, "COMMAND", true, "nginx: worker", "postgres: SELECT");
	assert_marked(f, "HOTTEST FUNCTION", true, "5310 postgres", "4121 www");
	type(f, "2");
	assert_marked(f, "FUNCTION", true, "ExecInterpExpr", "ngx_parse_header");
	assert_marked(f, "MODULE", true, "nginx\n", "postgres\n");
	assert_marked(f, "SELF%", false, "main", "ngx_parse_header");
}

static void columns_sort(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "g");
	ui_key(f->ui, KEYCODE_F0 + 6);
	assert_shows(f, "Sort by");
	type(f, "gjjjj\n");
	type(f, "g");
	assert_cursor_on(f, "902"); /* the lowest PID */
	type(f, "Ig");
	assert_cursor_on(f, "7781");
	type(f, ">g");
	assert_cursor_on(f, "7781 app"); /* by USER */
	grid_resize(f->g, 30, 118);
	type(f, "2g");
	assert_cursor_on(f, "ngx_parse_header");
	type(f, "Sg");
	assert_cursor_on(f, "ngx_process_events_and_timers");
	type(f, "Sg");
	assert_cursor_on(f, "ngx_parse_header");
	/* A long title gives way to the mark of the order. */
	assert_shows(f, "SELF%▼  TOTAL% BAR");
	assert_shows(f, " vs BEFORE SAMPLES k/u FUNCTION");
	type(f, ">>");
	assert_shows(f, " vs BEFOR▼ SAMPLES k/u");
	assert_shows(f, "sorted by change against before");
	type(f, ">I");
	assert_shows(f, "vs BEFORE SAMPLE▲ k/u");
	grid_resize(f->g, 30, 100);
	/* A column that the screen had no room for is there while rows are sorted by it. */
	assert_hides(f, "THR");
	type(f, "1>");
	assert_shows(f, "THR▼");
	type(f, ">");
	assert_hides(f, "THR");
	assert_shows(f, "SMP/s▼");
	/* One that the screen cannot have is named at least: nothing is compared. */
	type(f, "<<<<<<");
	assert_shows(f, "CPU% LAST");
	assert_shows(f, "sorted by vs BASE: change of CPU%");
	/* The narrowest screen leaves out others for it. */
	grid_resize(f->g, 15, 60);
	type(f, ":sort THR\n");
	assert_shows(f, "THR▼");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(cursor_stays_on_its_process),
		SCREEN_TEST(cursor_is_on_the_busiest_until_a_key_moves_it),
		SCREEN_TEST(cursor_stays_on_its_function),
		SCREEN_TEST(functions_of_another_process_begin_anew),
		SCREEN_TEST(the_tree_of_another_process_begins_anew),
		SCREEN_TEST(cursor_and_open_nodes_stay_in_the_tree),
		SCREEN_TEST(tree_opens_and_closes),
		SCREEN_TEST(tree_opens_down_to_a_level),
		SCREEN_TEST(tree_says_where_a_stack_broke),
		SCREEN_TEST(deep_stacks_keep_their_names),
		SCREEN_TEST(zoom_goes_in_and_out),
		SCREEN_TEST(frozen_data_stay_and_can_be_explored),
		SCREEN_TEST(search_finds_and_goes_on),
		SCREEN_TEST(marks_say_what_is_above),
		SCREEN_TEST(columns_sort),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
