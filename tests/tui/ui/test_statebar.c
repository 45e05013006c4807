// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bars of where time went: in colours or letters, whose parts add up, with words and a legend; as a
 * column of Procs, and as the timeline of the header.
 * Covers: tui/ui/statebar.c tui/ui/header_timeline.c tui/ui/header.c tui/ui/header_meters.c
 * Covers: tui/views/procline.c tui/views/procrows.c tui/views/procs_draw.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/query/query.h"
#include "tui/ui/names.h"
#include "tui/ui/statebar.h"
#include "tui/ui/ui.h"

/* --- bars ------------------------------------------------------------------------------------ */

static struct time_row row_of(const uint64_t us[WAIT_CAUSES])
{
	struct time_row row = {0};

	for (int i = 0; i < WAIT_CAUSES; i++) {
		row.us[i] = us[i];
		row.all += us[i];
	}
	return row;
}

/* In letters; every other cell of the row stays as it is. */
static const char *bar(struct typist *t, const uint64_t us[WAIT_CAUSES], int cells)
{
	static char text[256];
	const struct time_row row = row_of(us);
	int n = 0;

	t->ui->no_color = true;
	grid_blank(t->g, 3, 0, t->g->cols, ROLE_TEXT);
	statebar_draw(t->ui, t->g, 3, 7, cells, &row);
	for (int col = 0; col < t->g->cols; col++) {
		const uint32_t ch = t->g->cells[(size_t)3 * t->g->cols + col].ch;

		if (col < 7 || col >= 7 + cells)
			assert_int_equal(ch, ' ');
		else
			text[n++] = (char)ch;
	}
	text[n] = '\0';
	return text;
}

static void cells_are_shares(void **state)
{
	static const struct {
		uint64_t us[WAIT_CAUSES];
		int cells;
		const char *want;
	} cases[] = {
		{{0}, 5, "....."}, /* nothing is known */
		{{[WAIT_NONE] = 3}, 5, "#####"},
		{{[WAIT_NONE] = 1, [WAIT_LOCK] = 1}, 4, "##LL"},
		{{[WAIT_NONE] = 1, [WAIT_RUNNABLE] = 1, [WAIT_LOCK] = 2}, 8, "##rrLLLL"},
		{{[WAIT_NONE] = 250000, [WAIT_RUNNABLE] = 150000, [WAIT_LOCK] = 600000},
		 20,
		 "#####rrrLLLLLLLLLLLL"},
		/* All in their order. */
		{{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 12, "#rLspinDfcTo"},
		/* A part of less than half a cell may have none. */
		{{[WAIT_NONE] = 100, [WAIT_DISK] = 4, [WAIT_OTHER] = 96}, 10, "#####ooooo"},
		{{[WAIT_SLEEP] = 7}, 1, "s"},
		{{[WAIT_SLEEP] = 7}, 0, ""},
		{{[WAIT_NONE] = UINT64_MAX / 4, [WAIT_CHILD] = UINT64_MAX / 4}, 6, "###ccc"},
	};
	struct typist *t = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(bar(t, cases[i].us, cases[i].cells), cases[i].want);
}

/* Of every share in each width: no part is wrong by a cell. */
static void parts_add_up(void **state)
{
	struct typist *t = *state;

	for (int cells = 1; cells <= 40; cells++)
		for (uint64_t disk = 0; disk <= 100; disk++) {
			const uint64_t us[WAIT_CAUSES] = {[WAIT_NONE] = (100 - disk) / 2,
							  [WAIT_DISK] = disk,
							  [WAIT_STOPPED] =
								  100 - disk - (100 - disk) / 2};
			const char *text = bar(t, us, cells);
			int found[3] = {0};

			assert_int_equal(strlen(text), cells);
			for (const char *c = text; *c; c++)
				found[*c == '#' ? 0 : *c == 'D' ? 1 : 2]++;
			for (int k = 0; k < 3; k++) {
				const uint64_t part = us[k == 0	  ? WAIT_NONE
							 : k == 1 ? WAIT_DISK
								  : WAIT_STOPPED];
				const double exact = (double)part * cells / 100;

				assert_true(found[k] > exact - 1 && found[k] < exact + 1);
			}
		}
}

static void colours_or_letters(void **state)
{
	const uint64_t us[WAIT_CAUSES] = {[WAIT_NONE] = 1, [WAIT_DISK] = 1};
	const struct time_row row = row_of(us);
	struct typist *t = *state;
	const struct gridcell *cell = &t->g->cells[(size_t)3 * t->g->cols];

	for (int way = 0; way < 4; way++) {
		t->g->ascii = way == 1;
		t->ui->no_color = way == 2;
		strcpy(t->ui->config.theme, way == 3 ? "mono" : "default");
		statebar_draw(t->ui, t->g, 3, 0, 2, &row);
		assert_int_equal(cell[0].ch, way ? '#' : 0x2588);
		assert_int_equal(cell[1].ch, way ? 'D' : 0x2588);
		assert_int_equal(cell[0].role, ROLE_WAIT_ON);
		assert_int_equal(cell[1].role, ROLE_WAIT_DISK);
	}
	/* The roles are in the order of the causes. */
	assert_int_equal(names_wait_role(WAIT_NONE), ROLE_WAIT_ON);
	assert_int_equal(names_wait_role(WAIT_RUNNABLE), ROLE_WAIT_RUNNABLE);
	assert_int_equal(names_wait_role(WAIT_LOCK), ROLE_WAIT_LOCK);
	assert_int_equal(names_wait_role(WAIT_SLEEP), ROLE_WAIT_SLEEP);
	assert_int_equal(names_wait_role(WAIT_POLL), ROLE_WAIT_POLL);
	assert_int_equal(names_wait_role(WAIT_PIPE), ROLE_WAIT_PIPE);
	assert_int_equal(names_wait_role(WAIT_SOCKET), ROLE_WAIT_SOCKET);
	assert_int_equal(names_wait_role(WAIT_DISK), ROLE_WAIT_DISK);
	assert_int_equal(names_wait_role(WAIT_FAULT), ROLE_WAIT_FAULT);
	assert_int_equal(names_wait_role(WAIT_CHILD), ROLE_WAIT_CHILD);
	assert_int_equal(names_wait_role(WAIT_STOPPED), ROLE_WAIT_STOPPED);
	assert_int_equal(names_wait_role(WAIT_OTHER), ROLE_WAIT_OTHER);
}

static void words_are_told(void **state)
{
	const uint64_t us[WAIT_CAUSES] = {[WAIT_NONE] = 12, [WAIT_LOCK] = 60, [WAIT_SLEEP] = 28};
	const uint64_t none[WAIT_CAUSES] = {0};
	struct time_row row = row_of(us);
	char text[64];

	(void)state;
	statebar_words(&row, text, sizeof(text));
	assert_string_equal(text, "on 12 %, lock 60 %, sleep 28 %");
	statebar_words(&row, text, 12);
	assert_string_equal(text, "on 12 %, lo");
	row = row_of(none);
	statebar_words(&row, text, sizeof(text));
	assert_string_equal(text, "");
}

static const char *legend(struct typist *t, int end, const struct time_row *row, int *last)
{
	static char text[1024];
	int n = 0;

	grid_blank(t->g, 3, 0, t->g->cols, ROLE_TEXT);
	*last = statebar_legend(t->ui, t->g, 3, 0, end, row);
	for (int col = 0; col < t->g->cols; col++)
		text[n++] = (char)t->g->cells[(size_t)3 * t->g->cols + col].ch;
	while (n && text[n - 1] == ' ')
		n--;
	text[n] = '\0';
	return text;
}

static void legends_have_room(void **state)
{
	const uint64_t us[WAIT_CAUSES] = {[WAIT_NONE] = 1, [WAIT_LOCK] = 9, [WAIT_OTHER] = 2};
	const struct time_row row = row_of(us);
	struct typist *t = *state;
	int last;

	t->ui->no_color = true;
	grid_resize(t->g, 10, 120);
	assert_string_equal(legend(t, 120, NULL, &last),
			    "# on r runnable L lock s sleep p poll i pipe n socket D disk f fault "
			    "c child T stopped o other");
	assert_int_equal(last, 95);
	assert_string_equal(legend(t, 120, &row, &last), "# on L lock o other");
	/* Exactly, and one less: what comes later may still have room. */
	assert_string_equal(legend(t, 19, &row, &last), "# on L lock o other");
	assert_string_equal(legend(t, 18, &row, &last), "# on L lock");
	assert_string_equal(legend(t, 9, NULL, &last), "# on");
	assert_string_equal(legend(t, 11, NULL, &last), "# on L lock");
	assert_string_equal(legend(t, 3, NULL, &last), "");
}

/* --- Procs ----------------------------------------------------------------------------------- */

static struct typist *after_waits(void **state, const char *keys)
{
	struct typist *t = *state;

	for (int i = 0; i < 3; i++)
		assert_int_equal(machine_waits(&t->feed), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
	t->ui->no_color = true;
	for (; *keys; keys++) {
		const char key[2] = {*keys};

		type(t, key);
		assert_int_equal(ui_refresh(t->ui), 0);
	}
	return t;
}

static void procs_has_states(void **state)
{
	static const char *const measures[] = {"procs-waits-cpu", "procs-waits-off",
					       "procs-waits-wall", "procs-waits-threads"};
	struct typist *t = after_waits(state, "");

	for (int i = 0; i < 4; i++) {
		if (i)
			type(t, i < 3 ? "Q" : "H");
		assert_int_equal(ui_refresh(t->ui), 0);
		t->ui->notice[0] = '\0';
		for (size_t k = 0; typist_resize(t, k); k++)
			compare(t, measures[i]);
	}
	t->ui->ascii = true;
	compare(t, "procs-waits-threads");
	assert_no_size_breaks(t);
}

/* Without waits there are neither the columns nor anything else of them. */
static void others_have_none(void **state)
{
	struct typist *t = *state;

	slices(t, 3, 0);
	grid_resize(t->g, 50, 200);
	assert_hides(t, "STATE");
	assert_hides(t, "WAITS FOR");
	assert_hides(t, "  waits ");
	assert_hides(t, "runnable");
}

/* --- the header ------------------------------------------------------------------------------ */

static uint32_t cell_at(const struct typist *t, int row, int back)
{
	return t->g->cells[(size_t)row * t->g->cols + t->g->cols - 6 - back].ch;
}

/* From the bottom up, of 4 s: 0.7 on CPUs, 0.15 runnable, 2.1 lock, 0.35 poll, 0.7 disk. */
static void timelines_are_of_states(void **state)
{
	struct typist *t = after_waits(state, "Q");

	grid_resize(t->g, 40, 140);
	screen(t);
	/* Without the 0.7: borders at 5, 68, 79 and 100 %. */
	assert_int_equal(cell_at(t, 6, 0), 'L');
	assert_int_equal(cell_at(t, 5, 0), 'L');
	assert_int_equal(cell_at(t, 4, 0), 'L');
	assert_int_equal(cell_at(t, 3, 0), 'D');
	assert_int_equal(cell_at(t, 3, 2), 'D');
	assert_int_equal(cell_at(t, 3, 3), ' '); /* there was no slice */
	assert_shows(t, "# on r runnable L lock s sleep");
	assert_shows(t, " state ");
	type(t, "Q");
	assert_int_equal(ui_refresh(t->ui), 0);
	screen(t);
	/* Borders at 17, 21, 74, 82 and 100 %. */
	assert_int_equal(cell_at(t, 6, 0), '#');
	assert_int_equal(cell_at(t, 5, 0), 'L');
	assert_int_equal(cell_at(t, 4, 0), 'L');
	assert_int_equal(cell_at(t, 3, 0), 'D');
	/* In view is the process that is zoomed into: postgres, 30 % on CPUs. */
	type(t, "jj\n2");
	assert_int_equal(ui_refresh(t->ui), 0);
	screen(t);
	assert_int_equal(cell_at(t, 6, 0), '#');
	assert_int_equal(cell_at(t, 5, 0), 'D');
	assert_int_equal(cell_at(t, 3, 0), 'D');
	/* Samples again: no states, and no legend. */
	type(t, "Q");
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_hides(t, "runnable");
	assert_hides(t, " state ");
	assert_no_size_breaks(t);
}

static void costs_are_in_the_header(void **state)
{
	struct typist *t = after_waits(state, "");
	struct profile_health h;

	grid_resize(t->g, 40, 140);
	assert_shows(t, "  waits 0.3%  procs");
	machine_waits_health(&t->feed, &h);
	h.wait_thinned = 26; /* of 200 */
	assert_int_equal(machine_waits_with(&t->feed, &h), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_shows(t, "  waits 0.3%, thinned  procs");
	assert_hides(t, "waits cost");
	h.wait_ns = 25000000;
	assert_int_equal(machine_waits_with(&t->feed, &h), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_shows(t, "  waits 2.5%, thinned  procs");
	assert_hides(t, "waits cost"); /* That is of no interest while waits are not shown. */
	type(t, "Q");
	ui_key(t->ui, KEYCODE_DOWN); /* Another key takes the answer to the first one away. */
	assert_shows(
		t, "waits cost 2.5% of a CPU; 13% of their stacks, of short ones, are thinned out: "
		   "--min-block, F9");
	h.wait_lost = 12;
	assert_int_equal(machine_waits_with(&t->feed, &h), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_shows(
		t, "12 waits lost: their time is counted, their stacks are not; --min-block makes "
		   "them fewer");
	assert_no_size_breaks(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(cells_are_shares),	      SCREEN_TEST(parts_add_up),
		SCREEN_TEST(colours_or_letters),      cmocka_unit_test(words_are_told),
		SCREEN_TEST(legends_have_room),	      SCREEN_TEST(procs_has_states),
		SCREEN_TEST(others_have_none),	      SCREEN_TEST(timelines_are_of_states),
		SCREEN_TEST(costs_are_in_the_header),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
