// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The help screen: the keys of the view come first, every column has its meaning, and it can be
 * searched.
 * Covers: tui/app/help.c tui/app/helptext.c tui/app/glossary.c tui/screen/keysections.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/shares.h"
#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/app/glossary.h"
#include "tui/app/help.h"
#include "tui/screen/keysections.h"
#include "tui/ui/view.h"

static void assert_order(struct typist *t, const char *first, const char *second)
{
	const char *a = strstr(screen(t), first), *b = strstr(t->text, second);

	if (!a || !b || a > b)
		fail_msg("'%s' is not before '%s':\n%s", first, second, t->text);
}

static void the_keys_of_the_view_come_first(void **state)
{
	static const struct {
		const char *keys, *title, *own;
	} views[] = {
		{"1", "This view: Procs", "zoom into the process"},
		{"2", "This view: Funcs", "the function's machine code"},
		{"3", "This view: Tree", "open or close the node"},
		{"4", "This view: Callers", "open or close the node"},
		{"5", "This view: Flame", "zoom into the frame"},
		{"6", "This view: Shards", "go to the objects of the shard"},
		{"7", "This view: Unwind", "zoom in: the process"},
	};
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		for (size_t k = 0; k < sizeof(views) / sizeof(views[0]); k++) {
			press(t, views[k].keys);
			press(t, "?");
			assert_order(t, views[k].title, views[k].own);
			if (i == 0) { /* at all sizes */
				assert_no_size_breaks(t);
				typist_resize(t, i);
			}
			press(t, "x");
			assert_hides(t, "This view");
		}
	}
	/* As they are bound. */
	press(t, ":bind z in\n");
	press(t, "3?");
	assert_shows(t, " z Right l ");
}

static void a_wide_screen_has_two_columns(void **state)
{
	struct typist *t = *state;
	const char *row;

	press(t, "1");
	grid_resize(t->g, 50, 99);
	press(t, "?");
	row = screen_line(t, "This view: Procs");
	assert_string_equal(row, " This view: Procs");
	grid_resize(t->g, 47, 100);
	row = screen_line(t, "This view: Procs");
	assert_true(strlen(row) > 50);
	grid_resize(t->g, 200, 200);
	assert_shows(t, "any other key goes back");
	assert_hides(t, "1 to ");
	press(t, "j");
	assert_shows(t, "This view: Procs"); /* there is nothing to scroll */
}

/* Each action has one place, whatever the view. */
static void each_key_stands_once(void **state)
{
	struct typist *t = *state;
	size_t count;
	const struct key_row *rows = keys_table(&count);

	for (const char *view = "1234567"; *view; view++) {
		const char keys[] = {*view, '?', '\0'};

		grid_resize(t->g, 250, 300);
		press(t, keys);
		screen(t);
		for (size_t i = 0; i < count; i++) {
			char want[200];
			const char *at;

			snprintf(want, sizeof(want), " %s", rows[i].help);
			at = strstr(t->text, want);
			if (!at)
				fail_msg("%s is not there", rows[i].name);
		}
		press(t, "x");
	}
	for (int i = 0; i < KEYSECTION_COUNT; i++) {
		bool any = false;

		for (size_t k = 0; k < count; k++)
			any |= keysections_of(rows[k].action) == (enum keysection)i;
		assert_true(any);
		assert_non_null(keysections_title((enum keysection)i));
	}
}

/* --- columns ---------------------------------------------------------------------------------- */

static void assert_told(const struct column *columns, int count, enum ui_view view)
{
	for (int i = 0; i < count; i++) {
		const char *title = columns[i].title;

		if (title && title[0] && !glossary_find(title, view))
			fail_msg("the glossary does not tell what %s means in view %d", title,
				 view);
	}
}

static void every_column_is_told(void **state)
{
	struct typist *t = *state;
	struct ui *ui = t->ui;
	size_t entries;
	const struct glossary_entry *all = glossary_table(&entries);

	for (int i = VIEW_FRAME + 1; i < VIEW_COUNT; i++) {
		const struct view_ops *view = ui->views[i];
		const struct column *columns;
		int count, sorted;

		ui->view = (enum ui_view)i;
		for (int diff = 0; diff < 2; diff++) {
			ui->scrub.diff = diff;
			columns = view->columns ? view->columns(&count, ui, &sorted) : NULL;
			if (columns)
				assert_told(columns, count, ui->view);
		}
		ui->scrub.diff = false;
		for (int k = 0; view->table && (columns = view->table(k, &count)); k++)
			assert_told(columns, count, ui->view);
	}
	for (size_t i = 0; i < entries; i++) {
		assert_true(strlen(all[i].meaning) > 5);
		for (size_t k = 0; k < i; k++)
			assert_false(strcmp(all[i].title, all[k].title) == 0 &&
				     all[i].views & all[k].views);
	}
	assert_null(glossary_find("NOTHING", VIEW_PROCS));
	ui->view = VIEW_PROCS;
	press(t, "?");
	grid_resize(t->g, 250, 90);
	assert_order(t, "Columns of Procs", "Columns of other views");
	assert_shows(t, " HOTTEST FUNCTION\n");
	assert_shows(t, "where most of its samples ended");
}

/* --- searching -------------------------------------------------------------------------------- */

static void help_is_searched(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		press(t, "1?");
		screen(t); /* its width is known now */
		press(t, "/clipb");
		assert_shows(t, "clipboard");
		assert_shows(t, "Search help: clipb");
		press(t, "zz");
		assert_shows(t, "not found");
		press(t, "\033");
		assert_shows(t, "This view: Procs");
		assert_hides(t, "Search help");
		/* A word that stands where a line is broken. */
		press(t, "/complete, if a frame pointer of zero is what\n");
		assert_shows(t, "GUESSED");
		press(t, "/flame graph\nn");
		assert_shows(t, "flame graph");
		press(t, "N/(");
		assert_shows(t, "the last one stays");
		press(t, "\033q");
		assert_hides(t, "This view");
		assert_false(t->ui->search.set); /* that of the view is another one */
	}
}

static bool marked(struct typist *t, enum role role)
{
	ui_draw(t->ui, t->g);
	for (int i = 0; i < t->g->rows * t->g->cols; i++)
		if (t->g->cells[i].role == role)
			return true;
	return false;
}

static void matches_are_marked(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 30, 100);
	press(t, "1?");
	assert_false(marked(t, ROLE_MATCH));
	press(t, "/process\n");
	assert_true(marked(t, ROLE_MATCH));
	assert_true(marked(t, ROLE_MATCH_CURRENT));
	press(t, "/");
	press(t, "\n"); /* an empty one ends it */
	assert_false(marked(t, ROLE_MATCH));
	press(t, "n");
	assert_shows(t, "nothing to search for");
}

/* Help is asked for over a view as well. */
static void the_butterfly_has_help(void **state)
{
	struct typist *t = *state;

	slices(t, 12, 0);
	type(t, "2f?");
	assert_shows(t, "This view: Butterfly");
	for (int i = 0; i < 30 && !strstr(screen(t), "CALLERS AND CALLEES"); i++)
		ui_key(t->ui, KEYCODE_PAGE_DOWN);
	assert_shows(t, "CALLERS AND CALLEES");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARES_TEST(the_keys_of_the_view_come_first),
		SHARES_TEST(a_wide_screen_has_two_columns),
		SHARES_TEST(each_key_stands_once),
		SHARES_TEST(every_column_is_told),
		SHARES_TEST(the_butterfly_has_help),
		SHARES_TEST(help_is_searched),
		SHARES_TEST(matches_are_marked),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
