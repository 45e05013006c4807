// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Siblings of Tree and Callers stand in the order that is asked for, by keys, menu, click, command.
 * Covers: tui/views/calltree.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/screens.h"
#include "tui/screen/mouse.h"
#include "tui/app/dispatch.h"

static int tall(void **state)
{
	struct typist *t = typist_new();

	grid_resize(t->g, 45, 100);
	*state = t;
	return 0;
}

/* The words are on the screen, each on a row below the one before. */
static void assert_order(struct typist *t, const char *const *words, size_t count)
{
	const char *at = strstr(screen(t), "TOTAL%");

	for (size_t i = 0; i < count; i++) {
		const char *found = at ? strstr(at, words[i]) : NULL;

		if (!found)
			fail_msg("'%s' is not below the %zu before\n%s", words[i], i, t->text);
		at = strchr(found, '\n');
	}
}

#define ASSERT_ORDER(t, ...)                                                                       \
	assert_order(t, (const char *const[]){__VA_ARGS__},                                        \
		     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

#define SMALL "1 frame under 0.5%"

static void callers_are_sorted(void **state)
{
	struct typist *t = *state;

	slices(t, 12, 0);
	type(t, "4");
	ASSERT_ORDER(t, "ngx_parse_header", "ExecInterpExpr", "memmove", "Builtins_Call",
		     "node::Parse", SMALL);
	type(t, "I");
	ASSERT_ORDER(t, "node::Parse", "shrink_folio", "Builtins_Call", "ExecInterpExpr",
		     "ngx_parse_header", SMALL);
	type(t, ">>");
	assert_shows(t, "sorted by EXECUTED, CALLED BY: by name");
	ASSERT_ORDER(t, "Builtins_Call", "ExecInterpExpr", "memmove", "ngx_parse_header",
		     "node::Parse", "shrink_folio", "tcp_sendmsg", SMALL);
	type(t, ">");
	ASSERT_ORDER(t, "memmove", "ngx_parse_header", "Builtins_Call", "node::Parse",
		     "ExecInterpExpr", "tcp_sendmsg", "shrink_folio", SMALL);
	/* It stays so when there are new samples, and as it was at first when asked for again. */
	slices(t, 1, 0);
	ASSERT_ORDER(t, "memmove", "ngx_parse_header", "Builtins_Call", "node::Parse");
	type(t, "<<<");
	ASSERT_ORDER(t, "ngx_parse_header", "ExecInterpExpr", "memmove", "tcp_sendmsg",
		     "Builtins_Call", "node::Parse", SMALL);
	type(t, "S");
	assert_shows(t, "only in Procs, Funcs, Tree: sort functions");
}

static void a_tree_is_sorted(void **state)
{
	struct typist *t = *state;

	slices(t, 12, 0);
	type(t, "3E");
	ASSERT_ORDER(t, "ngx_worker_process", "main", "Builtins_Call", "kthread");
	type(t, "jjjjj");
	assert_cursor_on(t, "memmove");
	ui_key(t->ui, keys_parse("F6", 2));
	assert_shows(t, "SELF%: samples that ended there");
	type(t, "jjj\n");
	ASSERT_ORDER(t, "ngx_worker_process", "memmove", "ngx_parse_header", "ngx_writev", SMALL,
		     "main", "Builtins_Call", "kthread");
	assert_cursor_on(t, "memmove");
	type(t, "I");
	ASSERT_ORDER(t, "kthread", "Builtins_Call", "main", "ngx_worker_process", "ngx_writev",
		     "ngx_parse_header", "memmove", SMALL);
	assert_cursor_on(t, "memmove");
	/* What is found is found in that order. */
	type(t, "g/kthread|ExecutorRun\n");
	assert_cursor_on(t, "kthread");
	type(t, "n");
	assert_cursor_on(t, "ExecutorRun");
	type(t, ":sort total\n");
	ASSERT_ORDER(t, "ngx_worker_process", "ngx_parse_header", "memmove", "ngx_writev", SMALL,
		     "main", "Builtins_Call", "kthread");
}

/* Without the kernel's frames ngx_writev has samples of its own; the other only has callees. */
static void what_ends_there_comes_first(void **state)
{
	struct typist *t = *state;

	slices(t, 12, 0);
	type(t, "3EK");
	ASSERT_ORDER(t, "ngx_worker_process", "ngx_process_request_line", "ngx_writev", "main");
	type(t, "S");
	assert_shows(t, "SELF%\u25bc");
	ASSERT_ORDER(t, "ngx_worker_process", "ngx_writev", "ngx_process_request_line", "main");
	type(t, "S");
	assert_shows(t, "TOTAL%\u25bc");
	ASSERT_ORDER(t, "ngx_worker_process", "ngx_process_request_line", "ngx_writev", "main");
}

static void what_grew_comes_first(void **state)
{
	struct typist *t = *state;

	slices(t, 12, 0);
	type(t, "zB");
	type(t, "z");
	slices(t, 12, 1);
	type(t, "3EX");
	ASSERT_ORDER(t, "main", "ngx_worker_process");
	type(t, ":sort vs\n");
	ASSERT_ORDER(t, "main", "kthread", "ngx_worker_process");
	type(t, "I");
	ASSERT_ORDER(t, "ngx_worker_process", "kthread", "main");
	type(t, "X"); /* there is nothing to compare: the widest comes first */
	ASSERT_ORDER(t, "main", "Builtins_Call", "ngx_worker_process", "kthread");
}

static void a_click_on_the_header_sorts(void **state)
{
	struct typist *t = *state;
	struct mouse click = {MOUSE_CLICK, 0, 90, false}; /* on MODULE */

	slices(t, 12, 0);
	type(t, "4");
	screen(t);
	for (const char *c = t->text; c < strstr(t->text, "TOTAL%"); c++)
		click.row += *c == '\n';
	ui_mouse(t->ui, t->g, &click);
	ASSERT_ORDER(t, "memmove", "ngx_parse_header", "Builtins_Call");
	ui_mouse(t->ui, t->g, &click);
	ASSERT_ORDER(t, "tcp_sendmsg", "ExecInterpExpr", "Builtins_Call", "memmove");
}

#define ORDER_TEST(function) cmocka_unit_test_setup_teardown(function, tall, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ORDER_TEST(callers_are_sorted),		 ORDER_TEST(a_tree_is_sorted),
		ORDER_TEST(what_ends_there_comes_first), ORDER_TEST(what_grew_comes_first),
		ORDER_TEST(a_click_on_the_header_sorts),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
