// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the screen says while something is attached, and where the cursor is after that.
 * Covers: tui/ui/attach.c tui/ui/ui.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/profile/board.h"

static void answer(struct typist *t, enum message_level level, const char *text)
{
	board_message(profile_board(t->feed.p), level, "%s", text);
	assert_int_equal(ui_refresh(t->ui), 0);
}

/* The answer is there at once, although the notice would stand for seconds. */
static void an_answer_replaces_the_notice(void **state)
{
	struct typist *t = *state;

	slices(t, 3, 0);
	t->ui->now = 1; /* every message is newer */
	answer(t, MESSAGE_INFO, "an older one");
	for (size_t i = 0; typist_resize(t, i); i++) {
		type(t, "A");
		while (t->ui->prompt.length)
			type(t, "\b");
		type(t, "nosuch\n");
		assert_int_equal(ui_refresh(t->ui), 0);
		assert_shows(t, "attaching to nosuch");
		answer(t, MESSAGE_WARNING, "about something else");
		assert_shows(t, "attaching to nosuch");
		answer(t, MESSAGE_ERROR, "no process of 9 is it");
		assert_hides(t, "attaching to");
		assert_shows(t, "! no process of 9 is it");
	}
	type(t, ":detach nosuch\n");
	assert_shows(t, "detaching nosuch");
	type(t, ":detach\n");
	assert_shows(t, "sampling the whole machine");
	/* A notice that no command is behind stays. */
	type(t, "z");
	assert_int_equal(ui_refresh(t->ui), 0);
	type(t, "i");
	answer(t, MESSAGE_INFO, "another message");
	assert_shows(t, "z resumes first");
}

/* The next refresh says whether the source has attached to it. */
static void attach(struct typist *t, pid_t pid, const char *comm, bool attached)
{
	struct profile_proc proc = {.pid = pid, .image = 1, .nthreads = 1, .attached = attached};

	snprintf(proc.comm, sizeof(proc.comm), "%s", comm);
	snprintf(proc.cmdline, sizeof(proc.cmdline), "%s", comm);
	profile_lock(t->feed.p);
	assert_true(profile_proc(t->feed.p, &proc) >= 0);
	profile_unlock(t->feed.p);
	slices(t, 1, 0);
}

static void the_cursor_goes_to_what_was_attached(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		slices(t, 2, 0);
		type(t, "1gg");
		ui_key(t->ui, KEYCODE_HOME);
		type(t, i % 2 ? ":attach 5310\n" : ":attach ^node\n");
		slices(t, 1, 0); /* not there yet */
		assert_mark_on(t, "4121");
		attach(t, i % 2 ? 5310 : 7781, i % 2 ? "postgres" : "node", true);
		assert_mark_on(t, i % 2 ? "5310" : "7781");
		ui_key(t->ui, KEYCODE_HOME); /* once */
		slices(t, 1, 0);
		assert_mark_on(t, "4121");
		attach(t, i % 2 ? 5310 : 7781, i % 2 ? "postgres" : "node", false);
	}
}

static void the_cursor_stays_with_its_user(void **state)
{
	struct typist *t = *state;

	slices(t, 3, 0);
	type(t, ":attach ^node\n");
	ui_key(t->ui, KEYCODE_DOWN);
	assert_mark_on(t, "5310");
	attach(t, 7781, "node", true);
	assert_mark_on(t, "5310");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(an_answer_replaces_the_notice),
		SCREEN_TEST(the_cursor_goes_to_what_was_attached),
		SCREEN_TEST(the_cursor_stays_with_its_user),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
