// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes whose stacks have no frames of the language that they run: the mark before their
 * hottest function, and why, in the last line.
 * Covers: tui/views/procline.c tui/views/procs_draw.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/typist.h"
#include "tui/screen/grid.h"

#define WHY "Perl 5.99: its layout is not known"

/* hottest: of the native code of an interpreter, or a function of its language. */
static void feed(struct typist *t, enum func_kind mute, const char *stack)
{
	struct profile *p = t->feed.p;
	struct profile_proc proc = {
		.pid = 9, .image = 1, .comm = "tool", .cmdline = "tool", .mute = mute, .why = WHY};
	struct profile_cell cell = {.kstack = PROFILE_NO_STACK, .count = 5, .tid = 9};

	grid_resize(t->g, 24, 160);
	profile_lock(p);
	cell.proc = (uint32_t)profile_proc(p, &proc);
	cell.ustack = feed_frames(p, stack, 0);
	assert_int_equal(feed_commit(p, &cell, 1), 0);
	profile_stack_put(p, cell.ustack);
	profile_unlock(p);
	type(t, "g");
}

static void a_mute_process_is_marked_with_its_language(void **state)
{
	struct typist *t = typist_new();

	(void)state;
	feed(t, FUNC_PERL, "main;Perl_runops_standard;Perl_pp_add");
	assert_shows(t, "pl? Perl_pp_add");
	assert_shows(t, "pl? no frames of " WHY);
	typist_free(t);
}

static void the_mark_gives_way_to_a_frame(void **state)
{
	struct typist *t = typist_new();

	(void)state;
	feed(t, FUNC_PERL, "main;pl:work@w.pl");
	assert_shows(t, "pl work");
	assert_hides(t, "pl? work");
	typist_free(t);
}

static void other_processes_have_none(void **state)
{
	struct typist *t = typist_new();

	(void)state;
	feed(t, FUNC_USER, "main;Perl_runops_standard;Perl_pp_add");
	assert_hides(t, "pl?");
	assert_hides(t, "no frames of");
	typist_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mute_process_is_marked_with_its_language),
		cmocka_unit_test(the_mark_gives_way_to_a_frame),
		cmocka_unit_test(other_processes_have_none),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests_name("view_mutes", tests, NULL, NULL);
}
