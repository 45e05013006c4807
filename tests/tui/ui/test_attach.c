// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attaching at the screen: what the question offers, and what the source is told of the answer.
 * Covers: tui/ui/attach.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "symbols/files/cgroup.h"
#include "tests/support/screens.h"
#include "tui/app/dispatch.h"

static void attach_is_asked_and_posted(void **state)
{
	struct typist *f = *state;

	slices(f, 12, 0);
	type(f, "2A^ngx\n");
	assert_int_equal(posted, SOURCE_ATTACH);
	assert_string_equal(posted_arg, "^ngx");
	type(f, "A-77\n");
	assert_int_equal(posted, SOURCE_DETACH);
	assert_string_equal(posted_arg, "77");
	type(f, "A\n");
	assert_int_equal(posted, SOURCE_DETACH_ALL);
	type(f, "1jA");
	assert_shows(f, "Attach (-X detaches; empty: all): 5310");
	type(f, "\n");
	assert_string_equal(posted_arg, "5310");
	type(f, "A42\n"); /* instead of the PID that is offered */
	assert_string_equal(posted_arg, "42");
	assert_int_equal(nposted, 5);
	type(f, "A");
	ui_key(f->ui, KEYCODE_ESCAPE);
	assert_int_equal(nposted, 5);
}

/* Where groups are rows and the filter keeps none, there is nothing to offer, but a question. */
static void attach_asks_without_a_row(void **state)
{
	struct typist *f = *state;

	slices(f, 3, 0);
	f->ui->grouping = GROUP_USER;
	type(f, "1\\no-such-name\n");
	assert_shows(f, "The filter keeps no process");
	type(f, "A");
	grid_resize(f->g, 24, 80);
	assert_shows(f, "empty: all):");
	type(f, "77\n");
	assert_int_equal(posted, SOURCE_ATTACH);
	assert_string_equal(posted_arg, "77");
	type(f, "A");
	grid_resize(f->g, 24, 60);
	assert_shows(f, "Attach (-X detaches; empty: all):");
	grid_resize(f->g, 24, 30); /* room for the answer is kept */
	assert_shows(f, "Attach (-X detaches…");
}

/* Of a container whose name is longer than what is shown of it the word is one that fits, too. */
static void attach_is_offered_what_fits(void **state)
{
	static const char *const paths[] = {
		"0::/lxc.payload.web/init.scope\n",
		"0::/lxc.payload.a-name-that-a-person-made-of-all-that-it-is-about/init.scope\n",
		"0::/machine.slice/machine-\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4.scope\n",
		"0::/system.slice/a-unit-that-has-a-name-of-more-than-forty-bytes.service\n",
	};
	struct typist *f = *state;
	struct profile_proc proc = {
		.pid = 5310, .image = 1, .comm = "postgres", .cmdline = "postgres: SELECT"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		size_t length = strlen(paths[i]);

		cgroup_name(paths[i], length, proc.group, sizeof(proc.group));
		profile_lock(f->feed.p);
		assert_true(profile_proc(f->feed.p, &proc) >= 0);
		profile_unlock(f->feed.p);
		slices(f, 1, 0);
		f->ui->grouping = GROUP_CGROUP;
		type(f, "1");
		ui_key(f->ui, KEYCODE_HOME);
		posted_arg[0] = '\0';
		type(f, "jA\n");
		if (!strncmp(posted_arg, "container:", 10))
			assert_true(cgroup_fits_container(paths[i], length, posted_arg + 10));
		else if (!strncmp(posted_arg, "cgroup:", 7))
			assert_true(cgroup_fits(paths[i], length, posted_arg + 7));
		else
			fail_msg("'%s' for %s", posted_arg, paths[i]);
		assert_int_equal(!i, !strcmp(posted_arg, "container:web"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(attach_is_asked_and_posted),
		SCREEN_TEST(attach_is_offered_what_fits),
		SCREEN_TEST(attach_asks_without_a_row),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
