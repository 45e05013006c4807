// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What was already seen is saved: `w NAME.session`, the range of a frozen view, and :record, which
 * goes on until it is stopped.
 * Covers: tui/ui/record.c tui/app/cmdline.c tui/app/user_files.c
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "tests/support/feed.h"
#include "tests/support/scratch.h"
#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/app/user_files.h"
#include "tui/export/writer.h"
#include "tui/session/recording.h"
#include "tui/session/session_read.h"
#include "tui/ui/record.h"
#include "tui/ui/ui.h"

#define PATIENCE 60000 /* ms */
#define NAME	 "seen.session"

static int make_folder(void **state)
{
	static char folder[SCRATCH];

	(void)state;
	scratch_folder(folder, "record");
	return chdir(folder);
}

/* Until the message of the file has come. */
static void wait_saved(struct typist *f)
{
	for (int waited = 0; f->ui->kept || f->ui->record; waited++) {
		assert_true(waited < PATIENCE);
		usleep(1000);
		record_look(f->ui);
	}
	f->ui->now = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(ui_refresh(f->ui), 0);
}

static void assert_slices(uint32_t want)
{
	struct session *s;
	char error[256];

	assert_int_equal(session_open(NAME, &s, error, sizeof(error)), 0);
	assert_null(session_flaw(s));
	assert_int_equal(session_slices(s), want);
	session_free(s);
}

static unsigned int command(struct typist *f, const char *word)
{
	char text[160];

	snprintf(text, sizeof(text), ":%s " NAME, word);
	type(f, text);
	return ui_key(f->ui, KEYCODE_ENTER);
}

/* As the owner of the screen does. */
static void write_named(struct typist *f)
{
	struct writer *writer = NULL;

	assert_true(command(f, "write") & UI_WRITE);
	user_files_write(f->ui, &writer, NULL);
	assert_null(writer);
}

static void history_is_written(void **state)
{
	struct typist *f = *state;

	slices(f, 25, 0);
	for (size_t i = 0; typist_resize(f, i); i++) {
		unlink(NAME);
		write_named(f);
		assert_shows(f, "saving the history to " NAME);
		wait_saved(f);
		assert_shows(f, "saved to " NAME " (");
		assert_shows(f, "(25s, ");
		assert_slices(25);
	}
	/* It is not overwritten. */
	write_named(f);
	wait_saved(f);
	assert_shows(f, "File exists");
	assert_slices(25);
	unlink(NAME);
}

static void marked_range_is_written(void **state)
{
	struct typist *f = *state;

	unlink(NAME);
	slices(f, 25, 0);
	type(f, "z,,M,,,,");
	write_named(f);
	assert_shows(f, "saving the range to " NAME);
	wait_saved(f);
	assert_shows(f, "saved to " NAME " (");
	assert_slices(5);
	unlink(NAME);
	/* Without a range all is meant, although a window is shown. */
	type(f, "M");
	write_named(f);
	assert_shows(f, "saving the history to " NAME);
	wait_saved(f);
	assert_slices(25);
	unlink(NAME);
}

static void recording_is_started_and_stopped(void **state)
{
	struct typist *f = *state;

	for (size_t i = 0; typist_resize(f, i); i++) {
		unlink(NAME);
		type(f, "0");
		slices(f, 5, 0);
		assert_false(f->ui->recording);
		command(f, "record");
		assert_true(f->ui->recording);
		assert_shows(f, "recording to " NAME);
		slices(f, 4, 0);
		assert_true(f->ui->recording);
		command(f, "record");
		assert_shows(f, "recording to " NAME " already");
		type(f, ":record\n");
		assert_shows(f, "completing " NAME);
		wait_saved(f);
		assert_false(f->ui->recording);
		assert_shows(f, "saved to " NAME " (");
		assert_slices(9);
	}
	type(f, ":record\n");
	assert_shows(f, "nothing is being recorded; :record FILE does it");
	unlink(NAME);
}

/* What --record does is shown as well, and not stopped. */
static void recording_of_an_option_is_shown(void **state)
{
	struct typist *f = *state;

	slices(f, 5, 0);
	f->source.records = true;
	slices(f, 1, 0);
	assert_true(f->ui->recording);
	type(f, ":record\n");
	assert_shows(f, "--record goes on to the end");
	f->source.records = false;
	slices(f, 1, 0);
	assert_false(f->ui->recording);
}

static void replay_is_saved_but_not_recorded(void **state)
{
	const struct profile_replay replay = {.length = 90 * NS, .position = 5 * NS, .speed = 1};
	struct typist *f = *state;

	unlink(NAME);
	profile_lock(f->feed.p);
	profile_set_replay(f->feed.p, &replay);
	profile_unlock(f->feed.p);
	slices(f, 5, 0);
	command(f, "record");
	assert_shows(f, "this is a recording: w NAME.session saves");
	assert_false(f->ui->recording);
	write_named(f);
	wait_saved(f);
	assert_slices(5);
	unlink(NAME);
}

static void names_are_told_apart(void **state)
{
	(void)state;
	assert_true(record_is_session("a.session"));
	assert_true(record_is_session("/tmp/a.SESSION"));
	assert_false(record_is_session(".session"));
	assert_false(record_is_session("/tmp/.session"));
	assert_false(record_is_session("a.session.svg"));
	assert_false(record_is_session("session"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(history_is_written),
		SCREEN_TEST(marked_range_is_written),
		SCREEN_TEST(recording_is_started_and_stopped),
		SCREEN_TEST(recording_of_an_option_is_shown),
		SCREEN_TEST(replay_is_saved_but_not_recorded),
		cmocka_unit_test(names_are_told_apart),
	};

	return cmocka_run_group_tests_name("record", tests, make_folder, scratch_remove);
}
