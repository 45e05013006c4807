// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The function that the user chose is under the cursor of the next view, if that shows it; what the
 * user did not choose moves no cursor.
 * Covers: tui/ui/chosen.c tui/ui/chosen.h tui/app/dispatch.c tui/app/actions.c
 * Covers: tui/views/calltree.c tui/views/view_tree.c tui/views/view_flame.c tui/views/view_funcs.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/screen/mouse.h"

static void go_resized(struct typist *f, size_t size)
{
	typist_resize(f, size);
	screen(f);
}

static void it_follows_from_view_to_view(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	for (size_t i = 0; i < SIZES; i++) {
		go_resized(f, i);
		type(f, "2g/^tcp_send\n");
		assert_cursor_on(f, "tcp_sendmsg");
		type(f, "3");
		assert_cursor_on(f, "tcp_sendmsg");
		type(f, "2/^memmove\n4");
		assert_cursor_on(f, "memmove");
		type(f, "5");
		assert_shows(f, ">memmove");
		/* And the other way round. */
		type(f, "/request_line\n");
		assert_shows(f, ">ngx_process_request");
		type(f, "2");
		assert_cursor_on(f, "ngx_process_reques");
		type(f, "3j");
		assert_cursor_on(f, "ngx_parse_header");
		type(f, "4");
		assert_cursor_on(f, "ngx_parse_header");
		type(f, "/^ExecInt\n");
		ui_key(f->ui, KEYCODE_F0 + 5);
		assert_shows(f, "[5");
		assert_shows(f, ">Exec");
		ui_key(f->ui, KEYCODE_F0 + 5);
		assert_cursor_on(f, "ExecInterpExpr");
		type(f, "\t\t\t\t\t\t\t"); /* round to Funcs */
		assert_shows(f, "[2");
		assert_cursor_on(f, "ExecInterpExpr");
		type(f, "3b"); /* callees and callers */
		assert_cursor_on(f, "ExecInterpExpr");
	}
}

static void a_first_row_is_no_choice(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2");
	assert_cursor_on(f, "ngx_parse_header");
	type(f, "3");
	assert_cursor_on(f, "4121 nginx");
	type(f, "5");
	assert_shows(f, ">all processes");
	/* Nor is the hottest of a process. */
	type(f, "1j3");
	assert_cursor_on(f, "4121 nginx");
	/* One that a key went to is. */
	type(f, "2g3");
	assert_cursor_on(f, "ngx_parse_header");
}

static void what_is_not_there_moves_nothing(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "4jj");
	assert_cursor_on(f, "memmove");
	type(f, "3/worker_process\n"); /* it only calls */
	assert_cursor_on(f, "ngx_worker_process_cycle");
	type(f, "4");
	assert_cursor_on(f, "memmove");
	/* It is the choice all the same. */
	type(f, "2");
	assert_cursor_on(f, "ngx_worker_process_cycle");
	/* Below the limit there is no row. */
	type(f, "3/ExecutorRun\n2/rare\n3");
	assert_cursor_on(f, "ExecutorRun");
	/* A row of several frames is none. */
	type(f, "2/memmove\n3/tcp_send\nj");
	assert_cursor_on(f, "1 frame under");
	type(f, "2");
	assert_cursor_on(f, "memmove");
}

static void the_tree_shows_the_heaviest(void **state)
{
	struct typist *f = *state;

	slices(f, 1, 0);
	slice_of_stack(f, "main@postgres;few@postgres;both@postgres", 40);
	slice_of_stack(f, "main@postgres;many@postgres;deep@postgres;both@postgres;both@postgres",
		       60);
	type(f, "3C2/^both\n3");
	grid_resize(f->g, 15, 60);
	assert_cursor_on(f, "both");
	screen(f);
	type(f, "k");
	assert_cursor_on(f, "deep");
	/* The cursor stays on one of several if it is there. */
	type(f, "/few\nj2");
	assert_cursor_on(f, "both");
	type(f, "3k");
	assert_cursor_on(f, "few");
	type(f, "2/^both\n5");
	screen(f);
	type(f, "k");
	assert_shows(f, ">deep");
	/* Drawn before or not. */
	type(f, "2/^both\n5k");
	assert_shows(f, ">deep");
}

static void news_move_nothing(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2/^memmove\n3");
	assert_cursor_on(f, "memmove");
	type(f, "jk/ExecInterp\n");
	slices(f, 12, 1);
	assert_cursor_on(f, "ExecInterpExpr");
	type(f, "K");
	assert_cursor_on(f, "ExecInterpExpr");
	type(f, "2");
	assert_cursor_on(f, "ExecInterpExpr");
}

static void what_was_opened_is_chosen(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2a3"); /* code */
	assert_cursor_on(f, "ngx_parse_header");
	type(f, "2/request_line\nfj\nk3");
	assert_cursor_on(f, "ngx_process_request_line");
	/* What was only looked at is not. */
	type(f, "2fjjj\b3");
	assert_cursor_on(f, "ngx_process_request_line");
	type(f, "1f4"); /* Procs: the hottest of the process */
	assert_cursor_on(f, "ngx_parse_header");
}

static void a_click_chooses(void **state)
{
	struct typist *f = *state;
	struct mouse mouse = {MOUSE_CLICK, 0, 20, false};

	slices(f, 12, 0);
	type(f, "2");
	screen(f);
	while (!grid_zone_at(f->g, mouse.row, 20) ||
	       grid_zone_at(f->g, mouse.row, 20)->kind != ZONE_ROWS)
		mouse.row++;
	ui_mouse(f->ui, f->g, &mouse); /* on the row that it is on */
	type(f, "3");
	assert_cursor_on(f, "ngx_parse_header");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(it_follows_from_view_to_view),
		SCREEN_TEST(a_first_row_is_no_choice),
		SCREEN_TEST(what_is_not_there_moves_nothing),
		SCREEN_TEST(the_tree_shows_the_heaviest),
		SCREEN_TEST(news_move_nothing),
		SCREEN_TEST(what_was_opened_is_chosen),
		SCREEN_TEST(a_click_chooses),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
