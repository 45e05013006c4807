// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What rows and shares are of: threads apart from each other, one thread, a module, the parent in a
 * tree, groups of processes, a process that becomes another program.
 * Covers: tui/ui/zoom.c tui/views/procrows.c tui/query/query_threads.c
 * Covers: tui/profile/profile_names.c tui/ui/timespan.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/shares.h"
#include "tui/app/dispatch.h"
#include "tui/app/setup.h"

static void threads_are_rows_below_their_process(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		const char *process, *first, *second_one, *other;

		press(t, "H");
		screen(t);
		process = strstr(t->text, "   4121 ");
		first = process ? strstr(process + 8, "   4121 ") : NULL; /* 150 of 201 */
		second_one = strstr(t->text, "   4133 ");
		other = strstr(t->text, "   5310 ");
		assert_non_null(process);
		assert_non_null(first);
		assert_non_null(second_one);
		assert_non_null(other);
		assert_true(process < first && first < second_one && second_one < other);
		press(t, "H");
		assert_hides(t, "   4133 ");
	}
}

/* nginx' second thread has ngx_writev with the kernel above it, and rare_one. */
static void a_thread_is_zoomed_into(void **state)
{
	struct typist *t = *state;
	const int writev = samples(4121, "tcp_sendmsg"), rare = samples(4121, "rare_one");

	for (int frozen = 0; frozen < 2; frozen++) {
		press(t, frozen ? "1z" : "1");
		press(t, "Hgjj");
		assert_shows(t, "thread 4133 nginx: hottest functions");
		assert_share(t, "rare_one", rare, writev + rare);
		press(t, "T");
		assert_shows(t, "4121 nginx > thread 4133");
		assert_share(t, "tcp_sendmsg", writev, writev + rare);
		assert_share(t, "rare_one", rare, writev + rare);
		assert_hides(t, "ngx_parse_header");
		press(t, "3");
		assert_share(t, "ngx_writev", writev, writev + rare);
		press(t, "\033");
		assert_hides(t, "thread 4133");
		assert_share(t, "ngx_writev", writev, samples(4121, NULL));
		press(t, "\033H");
		press(t, frozen ? "z" : "");
	}
}

/* A thread may have a name of its own, as long as its process is there. */
static void threads_have_names(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 50, 200);
	profile_lock(t->feed.p);
	for (uint32_t tid = 9000; tid > 8000; tid--) /* not in order, and many */
		assert_int_equal(profile_thread(t->feed.p, t->feed.nginx, tid, "many"), 0);
	assert_int_equal(profile_thread(t->feed.p, t->feed.nginx, 4133, "nginx"), 0);
	assert_int_equal(profile_thread(t->feed.p, t->feed.nginx, 4133, "cache"), 0);
	assert_int_equal(profile_thread(t->feed.p, t->feed.nginx, 4133, "cache-log"), 0);
	assert_string_equal(query_thread(t->feed.p, t->feed.nginx, 8001), "many");
	assert_string_equal(query_thread(t->feed.p, t->feed.nginx, 9000), "many");
	assert_string_equal(query_thread(t->feed.p, t->feed.nginx, 9001), "nginx");
	assert_int_equal(profile_thread(t->feed.p, 4000000, 1, "x"), -EINVAL);
	profile_unlock(t->feed.p);
	press(t, "Hgjj");
	assert_shows(t, "thread 4133 cache-log: hottest functions");
	assert_non_null(strstr(screen_line(t, "   4133 "), "cache-log"));
	press(t, "T");
	assert_shows(t, "4121 nginx > thread 4133 cache-log");
}

/* The sum of all since the zero has no threads. */
static void threads_need_the_window(void **state)
{
	struct typist *t = *state;

	press(t, "mH");
	assert_shows(t, "only known in the window");
	assert_hides(t, "   4133 ");
	press(t, "mmHm");
	assert_shows(t, "only known in the window");
	assert_shows(t, "   4133 ");
	press(t, "gT");
	assert_shows(t, "which thread?");
}

/* So has one thread, also when threads are together again, and the setup asks for the total. */
static void a_zoomed_thread_needs_the_window(void **state)
{
	struct typist *t = *state;
	const int writev = samples(4121, "tcp_sendmsg"), rare = samples(4121, "rare_one");

	press(t, "HgjjT");
	assert_shows(t, "4121 nginx > thread 4133");
	press(t, "H");
	t->ui->config.total = true;
	setup_apply(t->ui, "window");
	ui_refresh(t->ui);
	assert_shows(t, "threads are only known in the window");
	assert_shows(t, "last 10 s");
	assert_share(t, "rare_one", rare, writev + rare);
	press(t, "m");
	assert_shows(t, "H and Esc join them");
}

/* Who leaves a thread by another way than the one that led to it has left it. */
static void threads_that_were_left_are_forgotten(void **state)
{
	struct typist *t = *state;

	press(t, "HgjjT");
	assert_shows(t, "thread 4133");
	press(t, "m");
	assert_shows(t, "only known in the window");
	press(t, "1\033Hm");
	assert_shows(t, "[all since zero]");
	press(t, "mmHgjjTHm");
	assert_shows(t, "thread 4133");
	assert_shows(t, "only known in the window");
	press(t, "7\033");
	press(t, "m");
	assert_shows(t, "[all since zero]");
}

static void a_module_is_zoomed_into(void **state)
{
	struct typist *t = *state;
	const int memmove_only = samples(0, "memmove");

	press(t, "2");
	filter(t, "memmove");
	press(t, "d\033");
	assert_shows(t, "libc.so.6");
	assert_share(t, "memmove", 1, 1);
	assert_hides(t, "ngx_parse_header");
	press(t, "3E");
	/* Who calls the module is on the path, and 100 % is what went there. */
	assert_share(t, "ngx_process_request_line", memmove_only, memmove_only);
	assert_hides(t, "ngx_writev");
	press(t, "\033");
	assert_shows(t, "ngx_writev");
	press(t, "2");
	assert_share(t, "ngx_parse_header", samples(0, "ngx_parse_header"), samples(0, NULL));
}

static void shares_of_the_parent(void **state)
{
	struct typist *t = *state;
	const int line = samples(0, "ngx_parse_header") + samples(0, "memmove");

	grid_resize(t->g, 50, 200);
	press(t, "3");
	assert_share(t, "ngx_parse_header", samples(0, "ngx_parse_header"), samples(0, NULL));
	press(t, "%");
	assert_shows(t, "PARENT%");
	assert_share(t, "ngx_parse_header", samples(0, "ngx_parse_header"), line);
	assert_share(t, "ngx_process_request_line", line, samples(4121, NULL));
	press(t, "%");
	assert_hides(t, "PARENT%");
}

static void the_limit_is_asked(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 50, 200);
	press(t, "3");
	assert_hides(t, "rare_one"); /* 1 of 298 */
	press(t, "L0.1\n");
	assert_shows(t, "rare_one");
	press(t, "L20\n");
	assert_shows(t, "under 20.0%");
	assert_hides(t, "memmove");
	press(t, "Lmuch\n");
	assert_shows(t, "'much' is not a number");
	assert_shows(t, "under 20.0%");
}

/* The process was old and is new from now on, which has 500 samples. */
static void execs(struct typist *t, struct profile_proc *old, struct profile_proc *new,
		  uint32_t stack)
{
	struct profile_cell cell = {0, 5310, stack, PROFILE_NO_STACK, 500, 0, 0};
	struct profile_health h;

	old->image = new->image++;
	machine_health(&t->feed, &h, 500, 0, 500);
	profile_lock(t->feed.p);
	assert_true(profile_proc(t->feed.p, old) >= 0);
	cell.proc = (uint32_t)profile_proc(t->feed.p, new);
	assert_int_equal(profile_commit(t->feed.p, &cell, 1, &h), 0);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

/* The cursor's process becomes another program, and the old one is one that has exited. */
static void a_process_is_followed_through_exec(void **state)
{
	struct typist *t = *state;
	struct profile_proc old = {.pid = 5310, .comm = "postgres", .exited = true};
	struct profile_proc new = {.pid = 5310, .image = 1, .comm = "vacuum"};

	strcpy(old.cmdline, "postgres: SELECT");
	strcpy(new.cmdline, "/bin/vacuum");
	for (int follow = 0; follow < 2; follow++) {
		press(t, follow ? "gF" : "j");
		if (follow) {
			type(t, "/vacuum\n");
			assert_mark_on(t, "/bin/vacuum");
			strcpy(new.cmdline, "/bin/analyze");
			strcpy(old.cmdline, "/bin/vacuum");
		}
		execs(t, &old, &new, t->feed.stacks[4]);
		if (follow)
			assert_mark_on(t, "/bin/analyze");
		else
			assert_shows(t, "  5310 ");
	}
	press(t, "\n");
	assert_shows(t, "5310 vacuum");
	assert_share(t, "ExecInterpExpr", 1, 1);
	/* What is zoomed into is followed, too, with what the new program does. */
	execs(t, &old, &new, t->feed.stacks[0]);
	assert_shows(t, "5310 vacuum");
	assert_share(t, "ngx_parse_header", 1, 1);
	assert_hides(t, "ExecInterpExpr");
}

/* Two processes of one user, and all of a container, in rows of their sums. */
static void processes_are_grouped(void **state)
{
	struct typist *t = *state;
	struct profile_proc nginx = {.pid = 4121, .image = 1, .comm = "nginx", .user = "www"};
	struct profile_proc node = {.pid = 7781, .image = 1, .comm = "node", .user = "www"};
	const int whole = samples(4121, NULL) + samples(7781, NULL);
	char cpu[32];

	strcpy(nginx.group, "docker 12ab");
	strcpy(node.group, "docker 12ab");
	profile_lock(t->feed.p);
	assert_true(profile_proc(t->feed.p, &nginx) >= 0 && profile_proc(t->feed.p, &node) >= 0);
	profile_unlock(t->feed.p);
	/* 99 samples a second are a CPU. */
	snprintf(cpu, sizeof(cpu), " %.1f ", 100.0 * whole / WINDOW / 99);
	for (size_t i = 0; typist_resize(t, i); i++) {
		press(t, "ccg");
		assert_non_null(strstr(screen_line(t, "docker 12ab"), cpu));
		assert_shows(t, "no contain");
		assert_shows(t, " docker 12ab: ");
		assert_share(t, "memmove", samples(0, "memmove"), whole);
		press(t, "c");
		assert_shows(t, " www: hottest functions");
		assert_shows(t, cpu);
		assert_shows(t, "postgres");
		press(t, "t");
		assert_shows(t, "this is a group");
		press(t, "\n");
		assert_shows(t, "user:^www$");
		assert_shows(t, " 4121 ");
		assert_shows(t, " 7781 ");
		assert_hides(t, " 5310 ");
		press(t, "\033");
		grid_resize(t->g, 30, 100);
	}
}

/* What the filter leaves out of a group's row is not among the group's functions either. */
static void groups_are_filtered(void **state)
{
	struct typist *t = *state;
	struct profile_proc nginx = {.pid = 4121, .image = 1, .comm = "nginx", .user = "www"};
	struct profile_proc node = {.pid = 7781, .image = 1, .comm = "node", .user = "app"};
	const int whole = samples(4121, NULL) + samples(7781, NULL);

	strcpy(nginx.group, "docker 12ab");
	strcpy(node.group, "docker 12ab");
	profile_lock(t->feed.p);
	assert_true(profile_proc(t->feed.p, &nginx) >= 0 && profile_proc(t->feed.p, &node) >= 0);
	profile_unlock(t->feed.p);
	press(t, "ccg");
	assert_shows(t, " docker 12ab: ");
	assert_share(t, " Builtins_Call", samples(7781, "Builtins_Call"), whole);
	filter(t, "user:www");
	assert_shows(t, " docker 12ab: ");
	assert_share(t, "memmove", samples(0, "memmove"), whole);
	assert_hides(t, "Builtins_Call");
	filter(t, "!func:Builtins");
	assert_share(t, "node::Parse", samples(0, "node::Parse"), whole);
	assert_hides(t, "Builtins_Call");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARES_TEST(threads_are_rows_below_their_process),
		SHARES_TEST(a_thread_is_zoomed_into),
		SHARES_TEST(threads_have_names),
		SHARES_TEST(a_zoomed_thread_needs_the_window),
		SHARES_TEST(threads_need_the_window),
		SHARES_TEST(threads_that_were_left_are_forgotten),
		SHARES_TEST(a_module_is_zoomed_into),
		SHARES_TEST(shares_of_the_parent),
		SHARES_TEST(the_limit_is_asked),
		SHARES_TEST(a_process_is_followed_through_exec),
		SHARES_TEST(processes_are_grouped),
		SHARES_TEST(groups_are_filtered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
