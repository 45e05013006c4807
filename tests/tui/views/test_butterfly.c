// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The butterfly of a function: opened from each view, walked through, of what is chosen, on screens
 * of all sizes and in words. Its numbers are for tests/tui/query/test_query_butterfly.c.
 * Covers: tui/views/butterfly.c tui/views/butterfly_draw.c tui/views/butterfly_priv.h
 * Covers: tui/app/actions.c tui/app/cmdline.c
 * Covers: tui/ui/selection.c tui/ui/plain_list.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/profile/annotation.h"
#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/profile/board.h"
#include "tui/screen/mouse.h"
#include "tui/ui/plain_list.h"

/* The line with that text, without the blanks between its words. */
static const char *line_with(struct typist *f, const char *want)
{
	static char line[1024];
	const char *at = strstr(screen(f), want), *begin = at;
	size_t n = 0;

	if (!at) {
		fail_msg("'%s' is not on the screen:\n%s", want, f->text);
		return "";
	}
	while (begin > f->text && begin[-1] != '\n')
		begin--;
	for (; *begin && *begin != '\n' && n + 1 < sizeof(line); begin++)
		if (*begin != ' ' || (n && line[n - 1] != ' '))
			line[n++] = *begin;
	line[n] = '\0';
	return line;
}

static void assert_row(struct typist *f, const char *name, const char *numbers)
{
	const char *line = line_with(f, name);

	if (!strstr(line, numbers))
		fail_msg("'%s' has no %s:\n%s", line, numbers, f->text);
}

/* What stands above stands above. */
static void assert_order(struct typist *f, const char *first, const char *second)
{
	const char *a = strstr(screen(f), first), *b = strstr(f->text, second);

	if (!a || !b || a >= b)
		fail_msg("%s is not above %s:\n%s", first, second, f->text);
}

static void callers_are_above_callees_below(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2/request_line\nf");
	for (size_t i = 0; typist_resize(f, i); i++) {
		/* 150 of 298 samples a second, of which 100 in the one and 50 in the other. */
		assert_row(f, "ngx_process_events_and", "100.0 1500");
		assert_row(f, "total 50.3%", "self 0.0%");
		assert_row(f, "ngx_parse_header", "66.7 1000");
		assert_row(f, "memmove", "33.3 500");
		assert_order(f, "ngx_process_events_and", "total 50.3%");
		assert_order(f, "total 50.3%", "ngx_parse_header");
		assert_order(f, "ngx_parse_header", "memmove");
		assert_hides(f, "ExecInterpExpr");
		assert_cursor_on(f, "total 50.3%");
		assert_shows(f, "1500 samples  1-4 of 4");
		if (screen_sizes[i][1] >= 80)
			assert_shows(f, "% of its samples");
	}
	assert_no_size_breaks(f);
	f->ui->ascii = true;
	assert_no_size_breaks(f);
}

static void a_leaf_calls_nothing_an_outermost_has_no_caller(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2/memmove\nf");
	assert_row(f, "(self)", "100.0 500");
	type(f, "\b2/^ngx_worker\nf");
	assert_row(f, "(no caller: outermost)", "100.0 2010");
	/* A stack that broke says so in the place of the caller. */
	type(f, "\b2/Builtins\nf");
	assert_row(f, "[unwind: no table for pc]", "100.0 200");
}

/* Each sample counts once: for the caller of the outermost call, the callee of the innermost. */
static void recursion_counts_once(void **state)
{
	struct typist *f = *state;

	slices(f, 1, 0);
	slice_of_stack(
		f,
		"main@postgres;walk@postgres;walk@postgres;step@postgres;walk@postgres;leaf@postgres",
		30);
	slice_of_stack(f, "main@postgres;walk@postgres", 10);
	slice_of_stack(f, "other@postgres;walk@postgres;leaf@postgres", 60);
	type(f, "2/^walk\nf");
	assert_row(f, "main", "40.0 40");
	assert_row(f, "other", "60.0 60");
	assert_row(f, "recursive 30.0%", "total");
	assert_row(f, "leaf", "90.0 90");
	assert_row(f, "(self)", "10.0 10");
	assert_hides(f, "step");
	/* The most frequent is next to the function. */
	assert_order(f, "main", "other");
	assert_order(f, "other", "total");
	assert_order(f, "leaf", "(self)");
}

static void enter_walks_and_escape_goes_back(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2/request_line\nf");
	type(f, "j");
	assert_cursor_on(f, "ngx_parse_header");
	type(f, "\n");
	assert_cursor_on(f, "total 33.6%");
	assert_row(f, "(self)", "100.0 1000");
	type(f, "k");
	assert_cursor_on(f, "ngx_process_request_line");
	type(f, "f"); /* the same key */
	assert_cursor_on(f, "total 50.3%");
	type(f, "k\n");
	assert_row(f, "ngx_writev", "24.9 500");
	/* Back through each of them, to the row it was left by. */
	type(f, "\b");
	assert_cursor_on(f, "ngx_process_events_and");
	assert_shows(f, "total 50.3%");
	type(f, "\b");
	assert_shows(f, "total 33.6%");
	assert_cursor_on(f, "ngx_process_request_line");
	ui_key(f->ui, KEYCODE_ESCAPE);
	assert_cursor_on(f, "ngx_parse_header");
	assert_shows(f, "total 50.3%");
	type(f, "\b");
	assert_shows(f, "[2 Funcs]");
	assert_shows(f, "FUNCTION");
	assert_cursor_on(f, "ngx_process_request_line");
	/* On the function itself there is nowhere to go. */
	type(f, "f\n");
	assert_shows(f, "in the middle");
	type(f, "G\n");
	assert_hides(f, "in the middle");
	/* As many as one likes. */
	for (int i = 0; i < 200; i++)
		type(f, "k\nj\n");
	assert_no_size_breaks(f);
	for (int i = 0; i < 400; i++)
		type(f, "\b");
	assert_shows(f, "[1 Procs]");
}

static void each_view_opens_it(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "f"); /* Procs: the hottest of the process */
	assert_shows(f, "Butterfly in 4121 nginx");
	assert_row(f, "total 49.8%", "ngx_parse_header");
	type(f, "\bj");
	type(f, "f");
	assert_shows(f, "Butterfly in 5310 postgres");
	assert_row(f, "total 100.0%", "ExecInterpExpr");
	type(f, "3/ExecutorRun\nf");
	assert_shows(f, "Butterfly in all processes");
	assert_row(f, "total 20.1%", "ExecutorRun");
	type(f, "4gf");
	assert_row(f, "total 33.6%", "ngx_parse_header");
	type(f, "5/writev\nf");
	assert_row(f, "total 16.8%", "ngx_writev");
	assert_row(f, "do_syscall_64", "100.0 500");
	type(f, "7f");
	assert_shows(f, "there is no function under the cursor");
	type(f, "\nf"); /* the reason, on its stacks */
	assert_row(f, "total 6.7%", "no table for pc");
	assert_row(f, "Builtins_Call", "100.0 200");
	type(f, "\b\nf");
	assert_row(f, "total 6.7%", "Builtins_Call");
	type(f, ":butterfly ExecutorRun\n");
	assert_row(f, "total 20.1%", "ExecutorRun");
	type(f, ":butterfly nowhere\n");
	assert_shows(f, "there is no function 'nowhere'");
}

static void it_is_of_what_is_chosen(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "j\n/^main\nf"); /* node has one, too */
	assert_shows(f, "Butterfly in 5310 postgres");
	assert_row(f, "total 100.0%", "main");
	assert_hides(f, "uv_run");
	type(f, "\b\bjt");
	type(f, "2/^main\nf"); /* the sum of the tagged */
	assert_shows(f, "1 tagged: 7781");
	assert_row(f, "uv_run", "100.0 50");
	type(f, "\b:untag\n");
	/* The filter keeps paths, and says so; it can be cleared from here. */
	type(f, "2/events_and_timers\nf");
	assert_row(f, "ngx_writev", "24.9 500");
	type(f, "\\parse_header\n");
	assert_shows(f, "keeps paths with such a frame");
	assert_row(f, "ngx_process_request_line", "100.0 1000");
	assert_row(f, "total 33.6%", "self");
	assert_hides(f, "ngx_writev");
	type(f, "\b");
	assert_shows(f, "ngx_writev");
	/* In Procs it is about processes. */
	type(f, "1\\postgres\nf");
	assert_row(f, "total 100.0%", "ExecInterpExpr");
	assert_shows(f, "(filter postgres)"); /* has no effect */
	type(f, "\b");
	type(f, "\b2/writev\nf");
	assert_shows(f, "do_syscall_64");
	assert_hides(f, "frames only");
	type(f, "K");
	assert_hides(f, "do_syscall_64");
	assert_row(f, "(self)", "100.0 500");
	assert_shows(f, "user frames only");
	type(f, "KU");
	assert_shows(f, "no samples of it");
	type(f, "U");
	assert_row(f, "do_syscall_64", "100.0 500");
}

/* Whatever a row counts, the butterfly does, too. */
static void groups_are_those_of_the_row(void **state)
{
	static const struct {
		const char *find, *title, *total; /* those of each grouping, by program first */
	} groups[] = {
		{"/^nginx\n", "Butterfly in nginx", "total 49.8%"},
		{"g", "Butterfly in no container or unit known", "total 33.6%"},
		{"/^www\n", "Butterfly in www", "total 49.8%"},
		{"/^nginx\n", "Butterfly in 4121 nginx", "total 49.8%"},
	};
	struct typist *f = *state;

	slices(f, 12, 0);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		type(f, "c");
		type(f, groups[i].find);
		type(f, "f");
		assert_shows(f, groups[i].title);
		assert_row(f, groups[i].total, "ngx_parse_header");
		type(f, "k\n");
		assert_row(f, "ngx_parse_header", "66.7 1000");
		slices(f, 1, 0);
		assert_row(f, "ngx_parse_header", "66.7 1000");
		/* The rows of Procs are others, then. */
		if (i == 2) {
			type(f, "H");
			assert_shows(f, "no samples");
			type(f, "H\b\bccc");
			continue;
		}
		type(f, "\b\b");
	}
}

static void threads_are_told_apart(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "Hg");
	for (int i = 0; i < 5 && !strstr(screen(f), "thread 4133"); i++)
		type(f, "j");
	type(f, "f");
	assert_shows(f, "Butterfly in thread 4133");
	assert_row(f, "total 98.0%", "tcp_sendmsg");
	for (int i = 0; i < 3; i++)
		type(f, "k\n");
	/* Another thread parses requests. */
	assert_row(f, "total 100.0%", "ngx_process_events_and");
	assert_row(f, "ngx_writev", "98.0 500");
	assert_hides(f, "request_line");
}

static void news_leave_the_cursor(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2/request_line\nfj");
	assert_cursor_on(f, "ngx_parse_header");
	slices(f, 1, 0);
	assert_cursor_on(f, "ngx_parse_header");
	slice_of_stack(f, "ngx_process_request_line@nginx;memmove@libc.so.6", 5000);
	assert_cursor_on(f, "ngx_parse_header");
	assert_order(f, "memmove", "ngx_parse_header");
	assert_row(f, "(no caller: outermost)", "5000");
	/* Frozen, it stays as it is, and goes back in time. */
	type(f, "z");
	slice_of_stack(f, "ngx_process_request_line@nginx;late@nginx", 5000);
	assert_hides(f, "late");
	type(f, ",,");
	assert_hides(f, "outermost)");
	type(f, "z");
	assert_shows(f, "late");
	/* Of what is gone the function is left. */
	for (int i = 0; i < 12; i++)
		slice_of_stack(f, "main@postgres", 10);
	assert_shows(f, "no samples of it");
	assert_cursor_on(f, "total 0.0%");
	assert_no_size_breaks(f);
}

static void a_baseline_has_a_column(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	grid_resize(f->g, 24, 80);
	type(f, "2/request_line\nf");
	assert_hides(f, "vs BASE");
	type(f, "B");
	slices(f, 12, 0);
	for (int i = 0; i < 10; i++)
		slice_of_stack(f, "ngx_process_request_line@nginx;memmove@libc.so.6", 100);
	type(f, "X");
	assert_shows(f, "vs BASE");
	assert_row(f, "memmove", "+66.7");
	assert_row(f, "ngx_parse_header", "-66.7");
	assert_no_size_breaks(f);
}

static void code_goes_back_to_it(void **state)
{
	struct typist *f = *state;
	struct annotation_wish wish = {0};

	slices(f, 12, 0);
	type(f, "2/request_line\nfja");
	assert_true(board_annotation_wish(profile_board(f->feed.p), &wish));
	assert_string_equal(wish.name, "ngx_parse_header");
	assert_shows(f, "Looks for samples");
	type(f, "\b");
	assert_false(board_annotation_wish(profile_board(f->feed.p), &wish));
	assert_cursor_on(f, "ngx_parse_header");
	assert_shows(f, "total 50.3%");
	/* From code, it is that of the code's function. */
	type(f, "af");
	assert_row(f, "total 33.6%", "ngx_parse_header");
	type(f, "\b");
	assert_shows(f, "total 50.3%");
	type(f, "\baf");
	assert_shows(f, "total 50.3%");
	type(f, "a2"); /* another view closes both */
	assert_shows(f, "FUNCTION");
	type(f, "\b");
	assert_shows(f, "[1 Procs]");
	/* What has no code says why, and the butterfly stays. */
	type(f, "2/Builtins\nfka");
	assert_shows(f, "total 6.7%");
	type(f, "y");
	assert_string_equal(f->ui->copied, "[unwind: no table for pc]");
}

static void search_and_clicks(void **state)
{
	struct typist *f = *state;
	struct mouse mouse = {MOUSE_CLICK, 0, 20, false};

	slices(f, 12, 0);
	type(f, "2/request_line\nf/memm\n");
	assert_cursor_on(f, "memmove");
	type(f, "/NGX\nn");
	assert_cursor_on(f, "ngx_p");
	type(f, "/nowhere\n");
	assert_shows(f, "not found: nowhere");
	screen(f);
	for (mouse.row = 0; mouse.row < f->g->rows; mouse.row++)
		if (grid_zone_at(f->g, mouse.row, 20) &&
		    grid_zone_at(f->g, mouse.row, 20)->kind == ZONE_ROWS)
			break;
	ui_mouse(f->ui, f->g, &mouse); /* the first row is the caller */
	assert_cursor_on(f, "ngx_process_events_and");
	mouse.twice = true;
	screen(f);
	ui_mouse(f->ui, f->g, &mouse);
	assert_row(f, "ngx_writev", "24.9 500");
}

/* Every key that the help lists for it does something, after one of these. */
static void every_key_has_an_effect(void **state)
{
	static const char *const ways[] = {"",	"j",   "k",	  "l",	"/ngx\n",
					   "z", "z,,", "\\ngx\n", "BX", "H"};
	size_t count;
	const struct key_row *rows = keys_table(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		int key = keys_parse(rows[i].keys, strcspn(rows[i].keys, " "));
		bool effect = false;

		if (!(rows[i].views & VIEW_BIT(VIEW_BUTTERFLY)))
			continue;
		for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]) && !effect; w++) {
			struct typist *f = typist_after(12);
			char *before;

			type(f, "2/request_line\nf");
			type(f, ways[w]);
			assert_int_equal(ui_keys(f->ui), VIEW_BUTTERFLY);
			f->ui->notice[0] = '\0';
			before = strdup(screen(f));
			nposted = 0;
			effect = ui_key(f->ui, key) & ~(unsigned int)UI_REDRAW || nposted;
			effect |= strcmp(before, screen(f)) != 0;
			free(before);
			typist_free(f);
		}
		/* The view that it lies over. */
		if (!effect && rows[i].action != ACTION_VIEW_2)
			fail_msg("%s (%s) does nothing", rows[i].keys, rows[i].name);
	}
}

static void it_is_told_in_words(void **state)
{
	struct typist *f = *state;
	struct plain_list list;

	slices(f, 12, 0);
	type(f, "2/request_line\nf");
	assert_int_equal(plain_list_make(&list, f->ui), 0);
	assert_string_equal(list.title,
			    "Callers and callees of ngx_process_request_line, in nginx, "
			    "in all processes, % of its samples, 10 s");
	assert_int_equal(list.count, 3);
	assert_string_equal(list.rows[0].name, "called by ngx_process_events_and_timers, in nginx");
	assert_string_equal(list.rows[1].name, "calls ngx_parse_header, in nginx");
	assert_true(list.rows[1].percent > 66.6 && list.rows[1].percent < 66.7);
	assert_string_equal(list.rows[1].more, "1000 samples");
	assert_string_equal(list.rows[2].name, "calls memmove, in libc.so.6");
	type(f, ":butterfly memmove\n");
	assert_int_equal(plain_list_make(&list, f->ui), 0);
	assert_string_equal(list.rows[1].name, "its own code");
	type(f, "U");
	assert_int_equal(plain_list_make(&list, f->ui), 0);
	assert_int_equal(list.count, 0);
	assert_string_equal(list.empty, "No samples of it.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(callers_are_above_callees_below),
		SCREEN_TEST(a_leaf_calls_nothing_an_outermost_has_no_caller),
		SCREEN_TEST(recursion_counts_once),
		SCREEN_TEST(enter_walks_and_escape_goes_back),
		SCREEN_TEST(each_view_opens_it),
		SCREEN_TEST(it_is_of_what_is_chosen),
		SCREEN_TEST(groups_are_those_of_the_row),
		SCREEN_TEST(threads_are_told_apart),
		SCREEN_TEST(news_leave_the_cursor),
		SCREEN_TEST(a_baseline_has_a_column),
		SCREEN_TEST(code_goes_back_to_it),
		SCREEN_TEST(search_and_clicks),
		cmocka_unit_test(every_key_has_an_effect),
		SCREEN_TEST(it_is_told_in_words),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
