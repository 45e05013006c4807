// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Of how many samples shares are, and what is grey because they are few; which rows of a list are
 * shown. At four sizes of the screen, counted by hand.
 * Covers: tui/ui/zoom.c tui/ui/ui.c tui/ui/plain_list.c tui/screen/list.c
 * Covers: tui/views/view_procs.c tui/views/procs_draw.c tui/views/procs_priv.h
 * Covers: tui/views/view_funcs.c tui/views/view_tree.c
 * Covers: tui/views/tree_draw.c tui/views/tree_priv.h
 * Covers: tui/views/view_flame.c tui/views/tree_plain.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/ui/plain_list.h"

#define MANY 80 /* functions and processes of a crowd */

/* A second of nginx, in which the two functions have so many samples. */
static void second(struct typist *t, uint64_t parse, uint64_t move)
{
	struct machine *f = &t->feed;
	struct profile_cell cells[] = {
		{f->nginx, 4121, f->stacks[0], PROFILE_NO_STACK, parse, 0, 0},
		{f->nginx, 4121, f->stacks[1], PROFILE_NO_STACK, move, 0, 0},
	};
	struct profile_health h;

	f->time += MACHINE_SECOND;
	machine_health(f, &h, parse + move, 0, parse + move);
	profile_lock(f->p);
	assert_int_equal(profile_commit(f->p, cells, move ? 2 : 1, &h), 0);
	profile_unlock(f->p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

/* A second of eighty processes, each in a function of its own. */
static void crowd(struct typist *t)
{
	struct machine *f = &t->feed;
	struct profile_cell cells[MANY];
	struct profile_health h;
	uint64_t sum = 0;

	profile_lock(f->p);
	for (uint32_t i = 0; i < MANY; i++) {
		char name[64];

		snprintf(name, sizeof(name), "member%02u", i);
		cells[i] = (struct profile_cell){
			.proc = machine_proc(f, 6000 + (pid_t)i, "app", name, name, 1),
			.tid = 6000 + i,
			.kstack = PROFILE_NO_STACK,
			.count = 500 - i,
		};
		snprintf(name, sizeof(name), "run@crowd;member%02u@crowd", i);
		cells[i].ustack = machine_stack(f, name);
		sum += cells[i].count;
	}
	f->time += MACHINE_SECOND;
	machine_health(f, &h, sum, 0, sum);
	assert_int_equal(profile_commit(f->p, cells, MANY, &h), 0);
	for (uint32_t i = 0; i < MANY; i++)
		profile_stack_put(f->p, cells[i].ustack);
	profile_unlock(f->p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

/* The number of the only row that has both texts. */
static int row_with(struct typist *t, const char *one, const char *other)
{
	int found = -1, row = 0;
	char *line, *next;

	screen(t);
	for (line = t->text; *line; line = next + 1, row++) {
		next = strchr(line, '\n');
		*next = '\0';
		if (strstr(line, one) && strstr(line, other)) {
			assert_int_equal(found, -1);
			found = row;
		}
		*next = '\n';
	}
	if (found < 0)
		fail_msg("no row has '%s' and '%s':\n%s", one, other, t->text);
	return found;
}

static enum role role_of(struct typist *t, int row, const char *text)
{
	const struct gridcell *cells = &t->g->cells[row * t->g->cols];
	size_t length = strlen(text);

	for (int col = 0; col + (int)length <= t->g->cols; col++) {
		size_t i = 0;

		while (i < length && cells[col + (int)i].ch == (unsigned char)text[i])
			i++;
		if (i == length)
			return (enum role)cells[col].role;
	}
	fail_msg("'%s' is not in row %d:\n%s", text, row, t->text);
	return ROLE_TEXT;
}

#define AT_ALL_SIZES(t) for (size_t s_ = 0; typist_resize(t, s_); s_++)

static void the_rule_says_how_many(void **state)
{
	struct typist *t = *state;

	second(t, 300, 112);
	AT_ALL_SIZES(t)
	{
		static const char *const views = "2345";

		type(t, "1");
		row_with(t, "── 4121 nginx", "412 samples ─");
		assert_int_equal(role_of(t, row_with(t, "── 4121 nginx", " of 5 ─"), "412 s"),
				 ROLE_DIM);
		for (const char *view = views; *view; view++) {
			type(t, (char[]){*view, 0});
			assert_int_equal(role_of(t, row_with(t, " Zoom: ", "412 samples"), "412"),
					 ROLE_DIM);
			assert_hides(t, "only");
		}
	}
}

static void few_are_said_to_be_few(void **state)
{
	struct typist *t = *state;

	second(t, 5, 2);
	AT_ALL_SIZES(t)
	{
		type(t, "1");
		assert_int_equal(
			role_of(t, row_with(t, "── 4121 nginx", "samples"), "only 7 samples"),
			ROLE_WARN);
		for (const char *view = "2345"; *view; view++) {
			type(t, (char[]){*view, 0});
			assert_int_equal(
				role_of(t, row_with(t, " Zoom: ", "samples"), "only 7 samples"),
				ROLE_WARN);
		}
	}
	second(t, 12, 0);
	type(t, "2");
	assert_shows(t, "only 19 samples");
	second(t, 1, 0);
	assert_shows(t, "20 samples");
	assert_hides(t, "only");
	type(t, "0");
	second(t, 1, 0);
	assert_shows(t, "only 1 sample ");
}

/* 20 samples of 1020 are a share, 19 of 1020 are a guess. */
static void shares_of_few_samples_are_grey(void **state)
{
	struct typist *t = *state;

	second(t, 1000, 20);
	AT_ALL_SIZES(t)
	{
		type(t, "1");
		assert_int_equal(role_of(t, row_with(t, " memmove", " 2.0 "), "2.0"), ROLE_HEAT_2);
		type(t, "2g");
		assert_int_equal(role_of(t, row_with(t, " memmove", " 2.0 "), "2.0"), ROLE_HEAT_2);
		type(t, "3Eg");
		assert_int_equal(role_of(t, row_with(t, " memmove", " 2.0 "), "2.0"), ROLE_HEAT_2);
		type(t, "4g");
		assert_int_equal(role_of(t, row_with(t, " memmove", " 2.0 "), "2.0"), ROLE_HEAT_2);
	}
	type(t, "0");
	second(t, 1001, 19);
	AT_ALL_SIZES(t)
	{
		type(t, "1");
		assert_int_equal(role_of(t, row_with(t, " memmove", " 1.9 "), "1.9"), ROLE_DIM);
		type(t, "2g");
		assert_int_equal(role_of(t, row_with(t, " memmove", " 1.9 "), "1.9"), ROLE_DIM);
		type(t, "3Eg");
		assert_int_equal(role_of(t, row_with(t, " memmove", " 1.9 "), "1.9"), ROLE_DIM);
		/* Under the cursor it has the cursor's colour. */
		type(t, "/memmove\n");
		assert_int_equal(role_of(t, row_with(t, " memmove", " 1.9 "), "1.9"), ROLE_CURSOR);
		type(t, "4g");
		assert_int_equal(role_of(t, row_with(t, " memmove", " 1.9 "), "1.9"), ROLE_DIM);
	}
}

/* A box keeps its colour, which says whose it is. */
static void flame_has_grey_shares(void **state)
{
	struct typist *t = *state;

	second(t, 17, 2);
	type(t, "5");
	AT_ALL_SIZES(t)
	{
		int row = row_with(t, "ngx_process_request_line", "100.0%");
		enum role box = role_of(t, row, "ngx_process_request_line");

		assert_int_equal(role_of(t, row, "100.0%"), ROLE_DIM);
		assert_true(box >= ROLE_FLAME_1 && box <= ROLE_FLAME_3);
	}
	type(t, "j");
	assert_int_equal(role_of(t, row_with(t, " of parent ", "total"), "total 100.0% (19)"),
			 ROLE_DIM);
	second(t, 1, 0);
	assert_int_equal(role_of(t, row_with(t, " of parent ", "total"), "total 100.0% (20)"),
			 ROLE_TEXT);
	assert_int_equal(role_of(t, row_with(t, " of parent ", "total"), "self 0.0% (0)"),
			 ROLE_DIM);
	AT_ALL_SIZES(t)
	{
		int row = row_with(t, "ngx_process_request_line", "100.0%");

		assert_int_equal(role_of(t, row, "100.0%"),
				 role_of(t, row, "ngx_process_request_line"));
	}
}

static void words_say_how_few(void **state)
{
	struct typist *t = *state;
	struct plain_list *list = calloc(1, sizeof(*list));

	second(t, 1001, 19);
	for (const char *view = "2345"; *view; view++) {
		bool told = false;

		type(t, (char[]){*view, 0});
		assert_int_equal(plain_list_make(list, t->ui), 0);
		assert_non_null(strstr(list->title, "% of samples"));
		for (size_t i = 0; i < list->count; i++) {
			bool few = list->rows[i].percent < 1.9;

			assert_int_equal(few,
					 strstr(list->rows[i].more, "only 19 samples") != NULL);
			told |= few;
		}
		assert_true(told);
	}
	type(t, "0");
	second(t, 17, 2);
	type(t, "2");
	assert_int_equal(plain_list_make(list, t->ui), 0);
	assert_non_null(strstr(list->title, "% of only a few samples"));
	free(list);
}

/* Rows of the screen from its list's first on, the number of that one, and of how many. */
static void assert_scrolls(struct typist *t, const char *first, const char *range)
{
	int row = row_with(t, first, "▐"), edge = t->g->cols - 1;

	assert_shows(t, range);
	assert_int_not_equal(t->g->cells[(row + 1) * t->g->cols - 1].ch, ' ');
	assert_int_equal(t->g->cells[(row - 1) * t->g->cols + edge].ch, ' ');
}

static void lists_say_which_rows_they_show(void **state)
{
	struct typist *t = *state;

	crowd(t);
	for (size_t s = 0; typist_resize(t, s); s++) {
		char range[32];
		int rows;

		type(t, "2g");
		screen(t);
		for (rows = 0; rows < MANY + 1; rows++) {
			snprintf(range, sizeof(range), "  1-%d of %d", rows, MANY + 1);
			if (strstr(t->text, range))
				break;
		}
		assert_in_range(rows, 5, 40);
		assert_scrolls(t, " member00", range);
		/* As many rows of them are there, and no more. */
		snprintf(range, sizeof(range), " member%02d", rows - 1);
		assert_shows(t, range);
		snprintf(range, sizeof(range), " member%02d", rows);
		assert_hides(t, range);
		type(t, "G");
		snprintf(range, sizeof(range), "  %d-%d of %d", MANY + 2 - rows, MANY + 1,
			 MANY + 1);
		assert_shows(t, range);
		type(t, "3Eg");
		assert_scrolls(t, "[-] 6000 member00", " of 240");
		type(t, "4g");
		assert_scrolls(t, " member00", " of 80");
		type(t, "1g");
		assert_scrolls(t, "6000 ", "80");
		type(t, "G");
		row_with(t, " CPU%", "-80");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(the_rule_says_how_many),
		SCREEN_TEST(few_are_said_to_be_few),
		SCREEN_TEST(shares_of_few_samples_are_grey),
		SCREEN_TEST(flame_has_grey_shares),
		SCREEN_TEST(words_say_how_few),
		SCREEN_TEST(lists_say_which_rows_they_show),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
