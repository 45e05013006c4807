// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Annotate for a function of an interpreted language, made up: whole screens with and without the
 * text of the lines, keys, and lists. That samples are at the lines that ran is for
 * tests/live/test_annotate_source.py.
 * Covers: tui/views/annotate.c tui/views/annotate_draw.c tui/profile/annotation.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/code/listing.h"
#include "symbols/code/sourcelist.h"
#include "tests/support/feed_annotation.h"
#include "tests/support/typist.h"
#include "tui/app/dispatch.h"
#include "tui/profile/annotation.h"
#include "tui/profile/board.h"
#include "tui/ui/plain_list.h"
#include "tui/views/annotate.h"

#define GONE "its process has no file of that name now"

static const struct profile_func answer = {
	.name = "Shop.answer", .module = "/srv/shop/prices.py", .kind = FUNC_PYTHON};

static void give(struct typist *t, struct annotation *a)
{
	profile_lock(t->feed.p);
	board_set_annotation(profile_board(t->feed.p), a);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

static int setup(void **state)
{
	struct typist *t = typist_after(3);

	annotate_open(t->ui, &answer, 0, 0);
	*state = t;
	return 0;
}

static void check_sizes(struct typist *t, const char *name)
{
	static const int sizes[][2] = {{15, 60}, {24, 80}, {30, 100}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		grid_resize(t->g, sizes[i][0], sizes[i][1]);
		compare(t, name);
	}
}

static void screens_are_as_expected(void **state)
{
	struct typist *t = *state;

	give(t, feed_source(1, NULL));
	check_sizes(t, "annotate-source");
	t->ui->ascii = 1;
	check_sizes(t, "annotate-source");
	assert_no_size_breaks(t);
}

static void lines_are_there_without_text(void **state)
{
	struct typist *t = *state;

	give(t, feed_source(1, GONE));
	check_sizes(t, "annotate-nosource");
	assert_shows(t, "SOURCE: " GONE);
	assert_no_size_breaks(t);
}

static void the_function_is_asked_for(void **state)
{
	struct typist *t = *state;
	struct annotation_wish wish = {0};

	assert_true(board_annotation_wish(profile_board(t->feed.p), &wish));
	assert_int_equal(wish.kind, FUNC_PYTHON);
	assert_string_equal(wish.name, answer.name);
	assert_string_equal(wish.module, answer.module);
	assert_true(wish.all);
}

/* A line that calls is as hot as what it calls: it begins there. */
static void keys_lead_about(void **state)
{
	struct typist *t = *state;

	give(t, feed_source(1, NULL));
	assert_mark_on(t, "total += self.price(item)");
	assert_mark_on(t, "4.8   77.5");
	assert_shows(t, "400 samples, 86 at its own lines and native code");
	type(t, "aa");
	assert_mark_on(t, "for item in order");
	type(t, "a");
	assert_mark_on(t, "json.loads");
	type(t, "aa"); /* five lines have samples, and round */
	assert_mark_on(t, "total = 0");
	type(t, "a");
	assert_mark_on(t, "self.price(item)");
	type(t, "/offer\n");
	assert_mark_on(t, "for offer in self.offers");
	type(t, "n");
	assert_mark_on(t, "offer.cents < best");
	type(t, "g");
	assert_mark_on(t, "Prices of a shop");
	type(t, "G");
	assert_mark_on(t, "shop.answer(input())");
	type(t, "l");
	assert_mark_on(t, "  26  shop.answer"); /* scrolled by eight */
	type(t, "h\n");
	assert_shows(t, "a line of a source has no jumps");
	type(t, "x");
	assert_shows(t, "neither machine code nor CFI");
	type(t, "s");
	assert_shows(t, "neither machine code nor CFI");
	assert_mark_on(t, "shop.answer(input())");
	type(t, "m");
	assert_shows(t, "800 samples, 172 at its own lines and native code, of 34 s");
	type(t, "\b");
	assert_null(t->ui->overlay.ops);
}

static void what_is_in_doubt_is_told(void **state)
{
	struct typist *t = *state;
	struct annotation *a = feed_source(1, NULL);

	grid_resize(t->g, 24, 160);
	a->processes = 3;
	a->window_sum.stray = 17;
	a->listing->newer = true;
	a->listing->cut = true;
	give(t, a);
	assert_shows(t, ", of 3 processes");
	assert_shows(t, "; the file was changed after its process began");
	assert_shows(t, "; 17 at no line of it");
	assert_shows(t, " cut ");
}

/* Where the text is missing, lines come when they are sampled first; the cursor stays. */
static void lines_come_later(void **state)
{
	static const uint32_t few[] = {12}, more[] = {8, 12, 13};
	struct typist *t = *state;
	struct annotation *a;
	struct listing *l;

	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(sourcelist_bare(turn ? more : few, turn ? 3 : 1, GONE, &l), 0);
		a = annotation_new(l);
		listing_put(l);
		a->serial = 1;
		a->state = ANNOTATION_READY;
		a->window[turn].self = a->window_sum.self = a->window_sum.total = 30;
		a->all_sum.total = 30;
		give(t, a);
		assert_mark_on(t, "  12");
	}
	assert_shows(t, "  13");
	type(t, "a/x\na");
	assert_mark_on(t, "  12");
}

static void states_are_told(void **state)
{
	struct typist *t = *state;
	struct annotation *a = annotation_new(NULL);
	struct plain_list *list = calloc(1, sizeof(*list));

	a->serial = 1;
	a->state = ANNOTATION_READS;
	give(t, a);
	assert_shows(t, "py Shop.answer");
	assert_shows(t, "Reads its source ...");
	assert_int_equal(plain_list_make(list, t->ui), 0);
	assert_string_equal(list->empty, "The code is being read.");
	a = annotation_new(NULL);
	a->serial = 1;
	a->state = ANNOTATION_FAILED;
	strcpy(a->trouble, "no memory");
	give(t, a);
	assert_shows(t, "Its source is not shown:");
	free(list);
}

static void lists_have_the_hottest_lines(void **state)
{
	struct typist *t = *state;
	struct plain_list *list = calloc(1, sizeof(*list));

	give(t, feed_source(1, NULL));
	assert_int_equal(plain_list_make(list, t->ui), 0);
	assert_non_null(strstr(list->title, "Lines of Shop.answer in /srv/shop/prices.py"));
	assert_int_equal(list->count, 5);
	assert_string_equal(list->rows[0].name, "line 12: total += self.price(item)");
	assert_string_equal(list->rows[0].more, "77.5 in what it calls");
	assert_true(list->rows[0].percent > 82.2 && list->rows[0].percent < 82.3);
	assert_string_equal(list->rows[1].brief, "line 10");
	give(t, feed_source(1, GONE));
	assert_int_equal(plain_list_make(list, t->ui), 0);
	assert_non_null(strstr(list->title, "; no text: " GONE));
	assert_string_equal(list->rows[0].name, "line 12");
	free(list);
}

static void a_session_has_the_hottest_line(void **state)
{
	struct profile_func func = answer;
	struct typist *t = *state;

	ui_close_overlay(t->ui);
	t->ui->header.replayed = true;
	annotate_open(t->ui, &func, 0, 0);
	assert_null(t->ui->overlay.ops);
	assert_shows(t, "a session holds the hottest line of a function only");
	func.file = "/srv/shop/prices.py";
	func.line = 12;
	annotate_open(t->ui, &func, 0, 0);
	assert_shows(t, "of a function only: line 12 of prices.py");
}

static void a_frozen_view_has_no_lines(void **state)
{
	struct typist *t = *state;

	ui_close_overlay(t->ui);
	type(t, "z");
	annotate_open(t->ui, &answer, 0, 0);
	assert_shows(t, "shows samples of now: a frozen view has no lines");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(screens_are_as_expected),
		CASE(lines_are_there_without_text),
		CASE(the_function_is_asked_for),
		CASE(keys_lead_about),
		CASE(what_is_in_doubt_is_told),
		CASE(lines_come_later),
		CASE(states_are_told),
		CASE(lists_have_the_hottest_lines),
		CASE(a_session_has_the_hottest_line),
		CASE(a_frozen_view_has_no_lines),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
