// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why a walk does not come: the process sleeps, is stopped, is a kernel thread, is not attached.
 * Covers: tui/views/inspector_waits.c tui/profile/procstate.h
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/profile/board.h"
#include "tui/profile/procstate.h"

/* The columns and rows at which each text has to be there. */
/* Lines are broken at blanks, so the text is looked for word by word. */
static void assert_says(struct typist *t, const char *want)
{
	char words[300];

	for (size_t i = 0; typist_resize(t, i); i++) {
		snprintf(words, sizeof(words), "%s", want);
		for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
			assert_shows(t, word);
	}
}

static void waits(struct typist *t, char state, const char *where, int seconds)
{
	struct procstate s = {.pid = 4121, .state = state};

	snprintf(s.where, sizeof(s.where), "%s", where);
	board_set_procstate(profile_board(t->feed.p), &s);
	t->ui->now += (uint64_t)seconds * MACHINE_SECOND;
	assert_int_equal(ui_refresh(t->ui), 0);
}

static void an_idle_process_is_named(void **state)
{
	struct typist *t = *state;

	slices(t, 3, 0);
	type(t, "i");
	assert_says(t, "Waiting for a walk of process 4121.");
	waits(t, 'S', "do_epoll_wait", 0);
	assert_hides(t, "idle"); /* a busy process sleeps now and then */
	waits(t, 'S', "do_epoll_wait", 20);
	assert_says(t, "4121 nginx is idle: it has had no sample for 20 s, sleeping in "
		       "do_epoll_wait. Its walk is caught as soon as it runs.");
	assert_true(ui_waits(t->ui));
	waits(t, 'D', "", 5);
	assert_says(t, "for 25 s, waiting in the kernel.");
	waits(t, 'T', "do_signal_stop", 0);
	assert_says(t, "4121 nginx is stopped: its walk is caught when it goes on.");
	waits(t, 'R', "", 0);
	assert_says(t, "There is none yet: it is caught at its next sample.");
	assert_hides(t, "idle");
	assert_no_size_breaks(t);
}

static void kernel_threads_have_nothing_to_walk(void **state)
{
	struct profile_proc proc = {.pid = 902, .image = 1, .nthreads = 1, .kthread = true};
	struct typist *t = *state;

	strcpy(proc.comm, "kswapd0");
	strcpy(proc.cmdline, "[kswapd0]");
	profile_lock(t->feed.p);
	assert_true(profile_proc(t->feed.p, &proc) >= 0);
	profile_unlock(t->feed.p);
	slices(t, 3, 0);
	type(t, ":inspect 902\n");
	assert_says(t, "902 kswapd0 is a kernel thread: it has no user stack to walk.");
	assert_hides(t, "Waiting for a walk");
	assert_false(ui_waits(t->ui));
}

static void one_that_is_not_attached_is_not_sampled(void **state)
{
	struct profile_health h;
	struct typist *t = *state;

	slices(t, 3, 0);
	machine_health(&t->feed, &h, 0, 0, 0);
	h.filtering = true;
	profile_lock(t->feed.p);
	assert_int_equal(profile_commit(t->feed.p, NULL, 0, &h), 0);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
	type(t, "i");
	assert_says(t, "4121 nginx is not sampled, since it is not attached:");
	assert_shows(t, "attaches it.");
}

static void another_event_may_be_rare(void **state)
{
	struct profile_health h;
	struct typist *t = *state;

	slices(t, 3, 0);
	machine_health(&t->feed, &h, 0, 0, 0);
	strcpy(h.event, "page-faults");
	profile_lock(t->feed.p);
	assert_int_equal(profile_commit(t->feed.p, NULL, 0, &h), 0);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
	type(t, "i");
	waits(t, 'R', "", 4);
	assert_says(t, "samples are of page-faults, and it may have few.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(an_idle_process_is_named),
		SCREEN_TEST(kernel_threads_have_nothing_to_walk),
		SCREEN_TEST(one_that_is_not_attached_is_not_sampled),
		SCREEN_TEST(another_event_may_be_rare),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
