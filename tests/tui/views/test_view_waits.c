// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits: the table of what threads waited for, and the pairs of stacks below.
 * Covers: tui/views/view_waits.c tui/ui/names.c tui/ui/selection.c tui/ui/chips.c
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
#include "tui/screen/keymap.h"
#include "tui/ui/ui.h"

static void keys(struct typist *t, const char *text)
{
	for (; *text; text++) {
		const char key[2] = {*text};

		type(t, key);
		assert_int_equal(ui_refresh(t->ui), 0);
	}
}

static int waits_setup(void **state)
{
	struct typist *t = typist_new();

	for (int i = 0; i < 3; i++)
		assert_int_equal(machine_waits(&t->feed), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
	keys(t, "8");
	*state = t;
	return 0;
}

static void screens_are_as_expected(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		for (int ascii = 0; ascii < 2; ascii++) {
			t->ui->ascii = ascii;
			compare(t, "waits");
		}
	}
	t->ui->ascii = false;
	assert_no_size_breaks(t);
}

/* From pair to pair of the row, and round; each row begins with its first. */
static void enter_goes_to_the_next_pair(void **state)
{
	struct typist *t = *state;

	assert_shows(t, " 8.40 s of long waits  1-3 of 3");
	assert_shows(t, " lock 0x7f0000001000 of nginx: pair 1 of 3, 2.70 s, 60 % of it ");
	assert_shows(t, "which was woken by node, pid 7781, in uv_async_send");
	keys(t, "\n");
	assert_shows(t, ": pair 2 of 3, 1.20 s, 27 % of it ");
	assert_shows(t, "ngx_log_error");
	assert_hides(t, "which was woken by");
	keys(t, "\n");
	assert_shows(t, ": pair 3 of 3, 600 ms, 13 % of it ");
	assert_shows(t, "ngx_http_finalize");
	assert_hides(t, "ngx_log_error");
	keys(t, "\n");
	assert_shows(t, ": pair 1 of 3, 2.70 s, 60 % of it ");
	keys(t, "\nj");
	assert_shows(t, " disk of postgres: pair 1 of 1, 2.10 s, 100 % of it ");
	assert_shows(t, "[woken by interrupt]");
	assert_shows(t, "asm_common_interrupt");
	keys(t, "\n");
	assert_shows(t, "all of these waits began and ended at the same places");
	assert_shows(t, ": pair 1 of 1, ");
	keys(t, "G");
	assert_shows(t, " lock 0x7f0000002000 of node: pair 1 of 1, 1.80 s, 100 % of it ");
	assert_shows(t, "(the wait goes on)");
	keys(t, "k");
	assert_shows(t, " disk of postgres: ");
	keys(t, "g");
	assert_shows(t, ": pair 1 of 3, ");
}

/* New waits change the order, not what the cursor is on, nor which pair. */
static void the_cursor_stays_on_its_lock(void **state)
{
	struct typist *t = *state;
	struct machine *m = &t->feed;
	struct profile_health h;
	struct profile_cell cell = {.proc = m->node,
				    .tid = 7781,
				    .ustack = PROFILE_NO_STACK,
				    .count = 1,
				    .weight = 9000000};

	keys(t, "jkj"); /* chosen, so it is kept */
	assert_mark_on(t, "postgres");
	keys(t, "k\n");
	assert_mark_on(t, "nginx");
	assert_shows(t, ": pair 2 of 3, ");
	profile_lock(m->p);
	cell.kstack = machine_stack(m, "k:read@vmlinux;wait:pipe;waker:cat@pid 9;main@cat");
	m->time += MACHINE_SECOND;
	machine_waits_health(m, &h);
	assert_int_equal(profile_commit(m->p, &cell, 1, &h), 0);
	profile_stack_put(m->p, cell.kstack);
	profile_unlock(m->p);
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_mark_on(t, "nginx");
	assert_shows(t, ": pair 2 of 3, ");
	assert_shows(t, "1-4 of 4");
	keys(t, "g");
	assert_mark_on(t, "pipe");
	assert_shows(t, "cat, pid 9, in main");
}

static void frames_can_be_hidden(void **state)
{
	struct typist *t = *state;

	keys(t, "1K8");
	assert_hides(t, "futex_wait");
	assert_hides(t, "futex_wake");
	assert_hides(t, "do_syscall_64");
	assert_shows(t, "[lock]");
	assert_shows(t, "pthread_mutex_unlock");
	keys(t, "1KU8");
	assert_shows(t, "futex_wait");
	assert_hides(t, "pthread_mutex_lock");
}

static void waits_are_found_and_filtered(void **state)
{
	struct typist *t = *state;

	keys(t, "/2000\n");
	assert_mark_on(t, "node");
	keys(t, "/disk\n");
	assert_mark_on(t, "postgres");
	keys(t, "/ngx_shmtx_unlock\n");
	assert_mark_on(t, "nginx");
	/* A function of the waiter, or of the one that ended the wait. */
	keys(t, "\\ngx_slab_free\n");
	assert_shows(t, "pair 1 of 1, 600 ms");
	assert_hides(t, "postgres ");
	keys(t, "\033\\pid:7781\n");
	assert_shows(t, "lock 0x7f0000002000");
	assert_hides(t, "lock 0x7f0000001000");
	keys(t, "\033\\nothing_like_this\n");
	assert_shows(t, "the filter keeps none: Esc clears it, F4 changes it");
	keys(t, "\033");
	assert_shows(t, "lock 0x7f0000001000");
}

/* In a zoom, those of the process. */
static void waits_are_those_of_the_zoom(void **state)
{
	struct typist *t = *state;

	keys(t, "Q1/postgres\n\n8");
	assert_shows(t, "2.10 s of long waits");
	assert_shows(t, "100.0");
	assert_hides(t, "0x7f00");
	keys(t, "\033");
	assert_shows(t, "[1 Procs]");
	keys(t, "8");
	assert_shows(t, "8.40 s of long waits");
}

static void nothing_says_why(void **state)
{
	struct typist *t = typist_new();
	const struct profile_replay replay = {.speed = 1, .length = MACHINE_SECOND * 20};
	struct profile_health h;

	(void)state;
	keys(t, "8");
	assert_shows(t, "waits of threads are not collected: Q turns that on");
	slices(t, 2, 0);
	assert_shows(t, "waits of threads are not collected: Q turns that on");
	keys(t, "\n/x\njkG"); /* no row is there to be moved to */
	profile_lock(t->feed.p);
	machine_waits_health(&t->feed, &h);
	t->feed.time += MACHINE_SECOND;
	h.time = t->feed.time;
	assert_int_equal(profile_commit(t->feed.p, NULL, 0, &h), 0);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_shows(t, "no thread has waited for more than 0.1 ms yet");
	slices(t, 1, 0);
	profile_lock(t->feed.p);
	profile_set_replay(t->feed.p, &replay);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_shows(t, "recorded without waits: -e off-cpu -w FILE records them");
	assert_no_size_breaks(t);
	typist_free(t);
}

#define WAITS_TEST(function) cmocka_unit_test_setup_teardown(function, waits_setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WAITS_TEST(screens_are_as_expected),	  WAITS_TEST(enter_goes_to_the_next_pair),
		WAITS_TEST(the_cursor_stays_on_its_lock), WAITS_TEST(frames_can_be_hidden),
		WAITS_TEST(waits_are_found_and_filtered), WAITS_TEST(waits_are_those_of_the_zoom),
		cmocka_unit_test(nothing_says_why),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
