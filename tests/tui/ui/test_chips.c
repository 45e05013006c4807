// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whatever changes what numbers mean stands in the header, in each view and at each size, until it
 * is taken back by a click or a key.
 * Covers: tui/ui/chips.c tui/ui/header.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/feed.h"
#include "tests/support/shares.h"
#include "tui/app/dispatch.h"
#include "tui/screen/mouse.h"
#include "tui/ui/chips.h"
#include "tui/ui/selection.h"

static const char *const views[] = {"1", "2", "3", "4", "5", "6", "7"};

/* Of what the keys choose: the chip where it counts, the views in which it does not ("67"), and
 * the key press that takes it back is "r". */
struct chip_case {
	const char *keys, *chip, *idle_in;
};

static const struct chip_case chosen[] = {
	{"1K", "-kernel", "67"},
	{"1U", "-user", "67"},
	{"1J", "-inline", "67"},
	{"1g\n", "zoom 4121 nginx", "16"},
	{"1g j ", "tagged 2", "167"},
	{"1H", "threads", "234567"},
	{"1m", "all since zero", "6"},
	{"1mm", "decay 5 s", "6"},
	{"1z", "frozen -0s", ""},
	{"1z,,", "frozen -2s", ""},
	{"1BX", "vs 10 s to 14:03:21", "67"},
	{"1\\nginx\n", "filter nginx", ""},
	{"1\\!comm:nginx\n", "filter !comm:nginx", "6"},
	{"1\\reason:no table\n", "filter reason:no table", "67"},
};

static const int widths[] = {60, 80, 100, 200};
static const int heights[] = {15, 24, 30, 50};

/* With the brackets that say whether it counts. */
static void assert_chip(struct typist *t, const struct chip_case *c, const char *view)
{
	bool idle = strstr(c->idle_in, view) != NULL;
	char want[64];

	snprintf(want, sizeof(want), "%c%s%c", idle ? '(' : '[', c->chip, idle ? ')' : ']');
	assert_shows(t, want);
}

static void each_stands_in_each_view_until_it_is_taken_back(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++) {
		const struct chip_case *c = &chosen[i];

		press(t, c->keys);
		for (size_t s = 0; s < sizeof(widths) / sizeof(widths[0]); s++) {
			grid_resize(t->g, heights[s], widths[s]);
			for (size_t v = 0; v < sizeof(views) / sizeof(views[0]); v++) {
				press(t, views[v]);
				t->ui->notice_until = 0;
				assert_chip(t, c, views[v]);
			}
			t->ui->ascii = true;
			assert_chip(t, c, views[6]);
			t->ui->ascii = false;
		}
		press(t, "1r");
		t->ui->notice_until = 0;
		assert_hides(t, c->chip);
	}
}

/* The label of a chip where a mouse can click on it. */
static void click_on(struct typist *t, const char *text)
{
	struct mouse mouse = {.kind = MOUSE_CLICK};
	const char *at = strstr(screen(t), text), *line = t->text;

	assert_non_null(at);
	for (const char *end; (end = strchr(line, '\n')) && end < at; line = end + 1)
		mouse.row++;
	for (const char *c = line; c < at; c++)
		mouse.col += ((unsigned char)*c & 0xc0) != 0x80;
	ui_mouse(t->ui, t->g, &mouse);
}

static void a_click_takes_it_back(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++) {
		for (size_t s = 0; s < sizeof(widths) / sizeof(widths[0]); s++) {
			grid_resize(t->g, heights[s], widths[s]);
			press(t, chosen[i].keys);
			t->ui->notice_until = 0;
			click_on(t, chosen[i].chip);
			t->ui->notice_until = 0;
			assert_hides(t, chosen[i].chip);
			press(t, "1");
		}
	}
}

/* The last one first, and each says how to have it again. */
static void the_key_walks_through_them(void **state)
{
	static const char *const told[] = {"live again; F8 freezes", "F4 and Up bring it back",
					   "Y shows others",	     "J hides them again",
					   "K hides them again",     "nothing to take back"};
	struct typist *t = *state;

	press(t, "2KJY\\nginx\nz");
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		press(t, "r");
		assert_shows(t, told[i]);
	}
	assert_false(t->ui->hide_kernel || t->ui->hide_inline || t->ui->frozen);
	assert_int_equal(t->ui->frames, FRAMES_MERGED);
	assert_false(t->ui->selection->filter.set);
}

/* Of a zoomed process, one thread and one module. */
static void parts_of_a_zoom_are_chips(void **state)
{
	struct typist *t = *state;

	press(t, "1gHjT");
	assert_shows(t, "[zoom 4121 nginx] [thread 4121 nginx] (threads)");
	press(t, "2gd");
	assert_shows(t, "[thread 4121 nginx] [module nginx] (threads)");
	press(t, "rr");
	assert_hides(t, "[module");
	press(t, "r");
	assert_hides(t, "[thread 4121");
	assert_shows(t, "[zoom 4121 nginx]");
}

static void attached_is_taken_back_by_detaching(void **state)
{
	struct typist *t = *state;
	struct profile_health h;

	machine_health(&t->feed, &h, 10, 0, 10);
	h.time = t->feed.time += MACHINE_SECOND;
	h.filtering = true;
	h.nattached = 1;
	h.nprocs = 95;
	profile_lock(t->feed.p);
	assert_int_equal(profile_commit(t->feed.p, NULL, 0, &h), 0);
	profile_unlock(t->feed.p);
	ui_refresh(t->ui);
	for (size_t s = 0; s < sizeof(widths) / sizeof(widths[0]); s++) {
		grid_resize(t->g, heights[s], widths[s]);
		assert_shows(t, "[attached 1/95]");
	}
	press(t, "r");
	assert_int_equal(posted, SOURCE_DETACH_ALL);
	assert_shows(t, "detaching: the whole machine is sampled; F9 attaches again");
	/* Of a recording it cannot be. */
	t->ui->header.replayed = true;
	nposted = 0;
	press(t, "r");
	assert_int_equal(nposted, 0);
	assert_shows(t, "nothing to take back");
	t->ui->header.replayed = false;
}

static void a_part_of_a_session_is_one(void **state)
{
	struct typist *t = *state;
	struct profile_replay replay = {.speed = 1,
					.position = 20 * MACHINE_SECOND,
					.from = 10 * MACHINE_SECOND,
					.length = 90 * MACHINE_SECOND,
					.cut = true};

	profile_lock(t->feed.p);
	profile_set_replay(t->feed.p, &replay);
	profile_unlock(t->feed.p);
	ui_refresh(t->ui);
	for (size_t s = 0; s < sizeof(widths) / sizeof(widths[0]); s++) {
		grid_resize(t->g, heights[s], widths[s]);
		assert_shows(t, "[cut 0:10-1:30]");
	}
	click_on(t, "cut 0:10");
	assert_shows(t, "only this part is replayed");
}

static void a_recording_is_one(void **state)
{
	struct typist *t = *state;

	t->ui->recording = true;
	for (size_t s = 0; s < sizeof(widths) / sizeof(widths[0]); s++) {
		grid_resize(t->g, heights[s], widths[s]);
		assert_shows(t, "[REC]");
	}
	atomic_store(&t->source.records, true);
	/* --record goes on to the end: the key takes back what can be taken back. */
	press(t, "K");
	assert_shows(t, "[-kernel]");
	press(t, "r");
	assert_hides(t, "[-kernel]");
	assert_shows(t, "[REC]");
	click_on(t, "[REC]");
	assert_shows(t, "--record goes on to the end");
	t->ui->recording = false;
	assert_hides(t, "[REC]");
}

/* Long ones are shortened, and where even that is not enough their number is told. */
static void none_is_dropped_without_a_word(void **state)
{
	struct typist *t = *state;

	press(t, "1KUJ\\comm:a-name-that-is-longer-than-any-screen-that-it-has-to-be-shown-on-"
		 "however-wide-that-may-be\nz");
	grid_resize(t->g, 15, 60);
	assert_shows(t, "[-kernel] [-user] [-inline] [filter com");
	assert_shows(t, "…] [frozen -0s]");
	grid_resize(t->g, 15, 20);
	assert_shows(t, " [+4] [frozen -0s]");
	grid_resize(t->g, 15, 30);
	assert_shows(t, " [+3] [filter …] [frozen …]");
	assert_no_size_breaks(t);
}

static void all_is_said_in_words(void **state)
{
	struct typist *t = *state;
	char words[256];

	press(t, "1K\\nginx\n");
	chips_words(t->ui, words, sizeof(words));
	assert_string_equal(words, "[-kernel] [filter nginx]");
	press(t, "6");
	chips_words(t->ui, words, sizeof(words));
	assert_string_equal(words, "(-kernel) [filter nginx]");
	chips_words(t->ui, words, 12);
	assert_string_equal(words, "(-kernel) [");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARES_TEST(each_stands_in_each_view_until_it_is_taken_back),
		SHARES_TEST(a_click_takes_it_back),
		SHARES_TEST(the_key_walks_through_them),
		SHARES_TEST(parts_of_a_zoom_are_chips),
		SHARES_TEST(attached_is_taken_back_by_detaching),
		SHARES_TEST(a_part_of_a_session_is_one),
		SHARES_TEST(a_recording_is_one),
		SHARES_TEST(none_is_dropped_without_a_word),
		SHARES_TEST(all_is_said_in_words),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
