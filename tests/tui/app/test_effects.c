// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every key that the help lists for a view does something there: after at least one of some ways to
 * come to it the screen looks different (an answer to the key counts), the source is asked, or the
 * owner of the screen is.
 * Covers: tui/screen/keys.c tui/app/actions.c tui/app/help.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "tests/support/feed_annotation.h"
#include "tests/support/feed_inspection.h"
#include "tests/support/feed_inventory.h"
#include "tests/support/typist.h"
#include "tui/profile/annotation.h"
#include "tui/profile/board.h"
#include "tui/app/dispatch.h"

#define ROWS 40
#define COLS 130

/* Where the cursor is, what is open, scrolled, sorted, searched, frozen. */
static const char *const ways[] = {"",	 "j",  "jj",  "ll",	    ">>",	 "E",  "EG", "C",
				   "jC", "\n", "jjj", "/memmove\n", "\\nginx\n", "z,", "K"};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void give(struct typist *t)
{
	struct annotation_wish wish;
	bool wished;

	profile_lock(t->feed.p);
	board_set_inventory(profile_board(t->feed.p), feed_inventory(t->ui->now));
	wished = board_annotation_wish(profile_board(t->feed.p), &wish);
	if (wished)
		board_set_annotation(profile_board(t->feed.p), feed_annotation(wish.serial));
	if (nposted && posted == SOURCE_INSPECT)
		board_set_inspection(profile_board(t->feed.p),
				     feed_inspection((pid_t)atoi(posted_arg)));
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

/* NULL: that way leads out of the view. */
static struct typist *open_view(int view, const char *way, bool inspector)
{
	struct typist *t = typist_after(12);
	const char number[2] = {(char)('0' + view)};

	if (view == VIEW_WAITS)
		assert_int_equal(machine_waits(&t->feed), 0);
	grid_resize(t->g, ROWS, COLS);
	give(t);
	type(t, view == VIEW_FRAME ? "2a" : number);
	if (inspector)
		type(t, "i");
	give(t);
	screen(t);
	for (const char *c = way; *c; c++) {
		const char key[2] = {*c};

		type(t, key);
		screen(t);
	}
	if ((int)ui_keys(t->ui) == view && !t->ui->prompt.question && !t->ui->menu.title)
		return t;
	typist_free(t);
	return NULL;
}

static bool has_effect(struct typist *t, int key)
{
	static struct gridcell before[ROWS * COLS];
	unsigned int flags;

	t->ui->notice[0] = '\0';
	screen(t);
	memcpy(before, t->g->cells, sizeof(before));
	nposted = 0;
	flags = ui_key(t->ui, key);
	screen(t);
	return nposted || flags & ~(unsigned int)UI_REDRAW ||
	       memcmp(before, t->g->cells, sizeof(before)) != 0;
}

static bool works(const struct key_row *row, int view)
{
	int key = keys_parse(row->keys, strcspn(row->keys, " "));

	for (size_t i = 0; i < WAYS * 2; i++) {
		struct typist *t = open_view(view, ways[i / 2], view == VIEW_UNWIND && i % 2);
		bool effect = t && has_effect(t, key);

		if (t)
			typist_free(t);
		if (effect)
			return true;
	}
	return false;
}

static void every_key_has_an_effect(void **state)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);
	int dead = 0;

	(void)state;
	for (int view = VIEW_FRAME; view < VIEW_COUNT; view++)
		for (size_t i = 0; i < count; i++) {
			/* The key of a view leads there from all others. */
			bool own = view && (int)rows[i].action == ACTION_VIEW_1 + view - 1;

			if (!(rows[i].views & VIEW_BIT(view)) || own || works(&rows[i], view))
				continue;
			print_message("%s (%s) does nothing in view %d\n", rows[i].keys,
				      rows[i].name, view);
			dead++;
		}
	assert_int_equal(dead, 0);
}

/* One that others have a use for says which. */
static void keys_of_other_views_name_them(void **state)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);

	(void)state;
	for (int view = VIEW_FRAME; view < VIEW_COUNT; view++) {
		struct typist *t = open_view(view, "", false);

		assert_non_null(t);
		for (size_t i = 0; i < count; i++) {
			int key = keys_parse(rows[i].keys, strcspn(rows[i].keys, " "));

			if (keymap_action(NULL, key, (enum ui_view)view) != ACTION_NONE)
				continue;
			t->ui->notice[0] = '\0';
			ui_key(t->ui, key);
			assert_true(strncmp(t->ui->notice, "only in ", 8) == 0 ||
				    strncmp(t->ui->notice, "not in ", 7) == 0);
			assert_non_null(strchr(t->ui->notice, ':'));
		}
		typist_free(t);
	}
}

static void help_goes_by_pages(void **state)
{
	struct typist *t = typist_after(2);

	(void)state;
	grid_resize(t->g, 24, 80);
	type(t, "?");
	assert_shows(t, "1 to 22 of");
	type(t, "\x06"); /* ^F */
	assert_shows(t, "23 to 44 of");
	type(t, "\x04"); /* ^D */
	assert_shows(t, "34 to 55 of");
	type(t, "\x15\x15"); /* ^U */
	assert_shows(t, "12 to 33 of");
	type(t, "\x02"); /* ^B */
	assert_shows(t, "1 to 22 of");
	type(t, "k");
	assert_shows(t, "1 to 22 of");
	typist_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_has_an_effect),
		cmocka_unit_test(keys_of_other_views_name_them),
		cmocka_unit_test(help_goes_by_pages),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
