// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `y` takes from each view, and that it is base64 as RFC 4648 has it.
 * Covers: tui/app/actions.c tui/screen/terminal.c tui/util/base64.c
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/typist.h"
#include "tui/app/dispatch.h"
#include "tui/screen/terminal.h"
#include "tui/ui/view.h"
#include "tui/util/base64.h"

static int setup(void **state)
{
	*state = typist_after(3);
	return 0;
}

static void assert_copied(struct typist *t, const char *keys, const char *want)
{
	t->ui->copied[0] = '\0';
	type(t, keys);
	assert_int_equal(ui_refresh(t->ui), 0);
	screen(t); /* a cursor goes to its item when that is drawn */
	assert_int_equal(ui_key(t->ui, 'y'), UI_REDRAW | UI_COPY);
	assert_string_equal(t->ui->copied, want);
}

/* The made-up machine's calls are in tests/support/machine.c. */
static void a_path_from_the_outermost_function_in(void **state)
{
	struct typist *t = *state;

	assert_copied(t, "3gjjj",
		      "ngx_worker_process_cycle;ngx_process_events_and_timers;"
		      "ngx_process_request_line;ngx_parse_header");
	assert_shows(t, "copied ngx_worker_process_cycle;");
	/* A row of several frames is about the last of them, in Callers the outermost. */
	assert_copied(t, "4g+j",
		      "ngx_worker_process_cycle;ngx_process_events_and_timers;"
		      "ngx_process_request_line;ngx_parse_header");
	assert_copied(t, "lg", "ngx_parse_header");
	assert_copied(t, "j", "ngx_process_request_line;ngx_parse_header");
	type(t, "5");
	assert_int_equal(ui_refresh(t->ui), 0);
	screen(t);
	/* The cursor is on the function that was chosen there. */
	assert_copied(t, "gjjj", "ngx_worker_process_cycle;ngx_process_events_and_timers");
}

static void the_name_where_there_is_no_path(void **state)
{
	struct typist *t = *state;

	assert_copied(t, "2g", "ngx_parse_header");
}

static void nothing_is_said_to_be_so(void **state)
{
	struct typist *t = *state;

	type(t, "5g");
	assert_int_equal(ui_refresh(t->ui), 0);
	screen(t);
	assert_int_equal(ui_key(t->ui, 'y'), UI_REDRAW);
	assert_shows(t, "there is nothing under the cursor");
}

static void too_long_a_path_keeps_its_inner_end(void **state)
{
	struct typist *t = *state;
	const struct view_ops *tree = t->ui->views[VIEW_TREE];
	char to[64];

	type(t, "3gjjj");
	assert_int_equal(ui_refresh(t->ui), 0);
	screen(t);
	tree->copy(t->ui, to, sizeof("ngx_process_request_line;ngx_parse_header"));
	assert_string_equal(to, "ngx_process_request_line;ngx_parse_header");
	tree->copy(t->ui, to, sizeof("ngx_process_request_line;ngx_parse_header") - 1);
	assert_string_equal(to, "ngx_parse_header");
	tree->copy(t->ui, to, 3);
	assert_string_equal(to, "");
}

/* RFC 4648, section 10. */
static void base64_of_the_rfc(void **state)
{
	static const char *const vectors[][2] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
	};
	char to[16];

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		assert_int_equal(
			base64_encode(vectors[i][0], strlen(vectors[i][0]), to, sizeof(to)),
			strlen(vectors[i][1]));
		assert_string_equal(to, vectors[i][1]);
	}
	assert_int_equal(base64_encode("\xff\xfe\xfd", 3, to, sizeof(to)), 4);
	assert_string_equal(to, "//79");
	assert_int_equal(base64_encode("foobar", 6, to, 8), 4);
	assert_string_equal(to, "Zm9v");
	assert_int_equal(base64_encode("foobar", 6, to, 0), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_path_from_the_outermost_function_in),
		CASE(the_name_where_there_is_no_path),
		CASE(nothing_is_said_to_be_so),
		CASE(too_long_a_path_keeps_its_inner_end),
		cmocka_unit_test(base64_of_the_rfc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
