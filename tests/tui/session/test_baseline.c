// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A session as the baseline. The witness is the baseline that is taken live (B): after the same
 * seconds all screens have to be the same, whether these were remembered or read from a file. And
 * who is compared with whom when the processes are others.
 * Covers: tui/session/baseline.c tui/profile/recorded_sum.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/typist.h"
#include "tui/session/baseline.h"
#include "tui/profile/source.h"
#include "tui/profile/frozen_sum.h"
#include "tui/query/query.h"
#include "tui/ui/scrub.h"
#include "tui/session/session_write.h"
#include "tui/app/dispatch.h"

#define PATIENCE 60000 /* ms */

static char path[SCRATCH];

/* The screen shows as much of the path as there is room for: its folder becomes the current one. */
static int make_path(void **state)
{
	char whole[SCRATCH], *name;

	(void)state;
	setlocale(LC_ALL, "C.UTF-8");
	close(scratch_file(whole, "test_baseline"));
	name = strrchr(whole, '/');
	*name++ = '\0';
	snprintf(path, sizeof(path), "%s", name);
	return chdir(whole);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static struct session_writer *writer_new(void)
{
	struct session_writer *w;
	char error[256];

	unlink(path);
	if (session_writer_new(path, &w, error, sizeof(error)))
		fail_msg("%s", error);
	return w;
}

/* The lock is held. */
static void commit(struct profile *p, struct session_writer *w, const struct profile_cell *cells,
		   size_t count, const struct profile_health *health)
{
	assert_int_equal(profile_commit(p, cells, count, health), 0);
	if (!w)
		return;
	assert_int_equal(session_note(w, p, cells, count, health), 0);
	assert_int_equal(session_flush(w), 0);
}

/* --- screens ---------------------------------------------------------------------------------- */

/* One second of the made-up machine, with something that the other kind of second has not. */
static void second_of(struct typist *t, struct session_writer *w, int heavy, const char *event)
{
	struct machine *f = &t->feed;
	uint64_t much = heavy ? 10 : 100;
	struct profile_cell cells[] = {
		{f->nginx, 4121, f->stacks[0], PROFILE_NO_STACK, much, 0, 0},
		{f->nginx, 4133, f->stacks[2], f->stacks[3], much / 2, 0, 0},
		{f->postgres, 5310, f->stacks[4], PROFILE_NO_STACK, heavy ? 240 : 50, 0, 0},
		{heavy ? f->node : f->kswapd, 7781, f->stacks[heavy ? 6 : 5], PROFILE_NO_STACK, 30,
		 0, 0},
	};
	struct profile_health h;

	f->time += MACHINE_SECOND;
	machine_health(f, &h, heavy ? 280 : 180, much / 2, heavy ? 280 : 180);
	strcpy(h.event, event);
	profile_lock(f->p);
	commit(f->p, w, cells, 4, &h);
	profile_unlock(f->p);
	t->ui->now = f->time;
	assert_int_equal(ui_refresh(t->ui), 0);
}

static void second(struct typist *t, struct session_writer *w, int heavy)
{
	second_of(t, w, heavy, "cpu-clock");
}

/* Recorded before, at another event: counts of the two have no sum, so it must not be seen. */
static void other_event(struct typist *t, struct session_writer *w)
{
	struct profile_cell cell = {
		t->feed.node, 7781, t->feed.stacks[6], PROFILE_NO_STACK, 500, 0, 0};
	struct profile_health h;

	machine_health(&t->feed, &h, 500, 0, 500);
	strcpy(h.event, "page-faults");
	profile_lock(t->feed.p);
	assert_int_equal(session_note(w, t->feed.p, &cell, 1, &h), 0);
	profile_unlock(t->feed.p);
	assert_int_equal(session_flush(w), 0);
}

/* From here on it is the time of the clock, which messages have: it may be before that of the feed,
 * and a notice of that time would be in front of them. */
static void wait_baseline(struct typist *t)
{
	t->ui->notice_until = 0;
	for (int waited = 0; t->ui->baseline; waited++) {
		assert_true(waited < PATIENCE);
		usleep(1000);
		t->ui->now = source_now();
		assert_int_equal(ui_refresh(t->ui), 0);
	}
	assert_int_equal(ui_refresh(t->ui), 0);
}

static void type_command(struct typist *t, const char *command)
{
	char keys[128];

	snprintf(keys, sizeof(keys), ":%s\n", command);
	type(t, keys);
}

static void is_as_if_taken_live(void **state)
{
	static const char *const views[] = {"1", "2", "3E", "4", "5"};
	static const char *const marks[] = {"postgres", "\u25b2", "ExecInterpExpr", "", "node"};
	struct session_writer *w = writer_new();
	struct typist *live = typist_new(), *read = typist_new();
	char command[96], *shown;

	(void)state;
	other_event(live, w);
	for (int i = 0; i < 12; i++) {
		second(live, w, 0);
		second(read, NULL, 0);
	}
	session_writer_free(w);
	live->ui->span = SPAN_TOTAL;
	type(live, "B");
	live->ui->span = SPAN_WINDOW;
	snprintf(command, sizeof(command), "baseline %s", path);
	type_command(read, command);
	wait_baseline(read);
	assert_true(read->ui->scrub.diff);
	assert_shows(read, "the difference from test_baseline.");
	read->ui->notice_until = 0;
	assert_shows(read, "only its samples of cpu-clock, from 1.0 s on, are compared");
	type(live, "X");
	snprintf(live->ui->scrub.base_name, sizeof(live->ui->scrub.base_name), "%s",
		 read->ui->scrub.base_name);
	for (int i = 0; i < 10; i++) {
		second(live, NULL, 1);
		second(read, NULL, 1);
	}
	live->ui->notice_until = read->ui->notice_until = 0;
	live->ui->message[0] = read->ui->message[0] = '\0';
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		type(live, views[i]);
		type(read, views[i]);
		ui_key(live->ui, KEYCODE_HOME);
		ui_key(read->ui, KEYCODE_HOME);
		assert_shows(live, marks[i]);
		shown = strdup(screen(live));
		assert_string_equal(shown, screen(read));
		free(shown);
	}
	typist_free(live);
	typist_free(read);
}

static void change_event(struct typist *t, const char *event)
{
	profile_lock(t->feed.p);
	profile_rewind(t->feed.p); /* as the source does */
	profile_unlock(t->feed.p);
	second_of(t, NULL, 0, event);
}

/* Shares of another event are of other things. */
static void another_event_is_not_compared(void **state)
{
	struct typist *t = typist_new();

	(void)state;
	for (int i = 0; i < 3; i++)
		second(t, NULL, 0);
	type(t, "BX");
	assert_shows(t, "the difference from 10 s to");
	assert_shows(t, "vs BASE");
	change_event(t, "page-faults");
	assert_shows(t, "no difference: the baseline is of cpu-clock, this is page-faults");
	assert_hides(t, "vs BASE");
	t->ui->notice_until = 0;
	second_of(t, NULL, 1, "page-faults");
	assert_hides(t, "no difference"); /* once */
	type(t, "X");
	assert_shows(t, "no difference: the baseline is of cpu-clock");
	assert_false(t->ui->scrub.diff);
	/* Of the event that is back it is the baseline still. */
	change_event(t, "cpu-clock");
	type(t, "X");
	assert_shows(t, "the difference from 10 s to");
	change_event(t, "page-faults");
	type(t, "BX");
	assert_shows(t, "the difference from 10 s to");
	/* So in a view that stands still. */
	type(t, "Xz");
	change_event(t, "cpu-clock");
	type(t, "X");
	assert_true(t->ui->scrub.diff);
	type(t, "z");
	assert_shows(t, "no difference: the baseline is of page-faults, this is cpu-clock");
	typist_free(t);
}

static void what_cannot_be_read_is_said(void **state)
{
	struct typist *t = typist_after(2);
	FILE *file = fopen(path, "w");

	(void)state;
	fputs("no session\n", file);
	fclose(file);
	type_command(t, "baseline /nowhere/file");
	wait_baseline(t);
	assert_shows(t, "no baseline: /nowhere/file: No such file");
	assert_false(t->ui->scrub.diff);
	assert_string_equal(t->ui->scrub.base_name, "");
	type(t, "BX");
	scrub_baseline(t->ui, path);
	wait_baseline(t);
	t->ui->notice_until = 0;
	assert_shows(t, "is not a stacktop session");
	/* What there was stays. */
	assert_true(t->ui->scrub.diff && t->ui->scrub.base_name[0]);
	typist_free(t);
}

/* --- processes -------------------------------------------------------------------------------- */

static uint32_t proc(struct profile *p, pid_t pid, uint64_t image, const char *comm,
		     const char *cmdline, bool exited)
{
	struct profile_proc info = {.pid = pid, .image = image, .exited = exited};

	snprintf(info.comm, sizeof(info.comm), "%s", comm);
	snprintf(info.cmdline, sizeof(info.cmdline), "%s", cmdline);
	return (uint32_t)profile_proc(p, &info);
}

static void slice(struct profile *p, struct session_writer *w, const uint32_t *procs, size_t count)
{
	struct profile_health h = {.time = MACHINE_NOW, .elapsed = MACHINE_SECOND, .frequency = 99};
	uint32_t func = (uint32_t)profile_func(p, FUNC_USER, "f", "libx.so");
	struct profile_stack one = {.nframes = 1, .frames = &func};
	uint32_t stack = (uint32_t)profile_stack_new(p, &one);
	struct profile_cell cells[16];

	/* So many samples as the place says, and ten more: each process is known by them. */
	for (size_t i = 0; i < count; i++)
		cells[i] =
			(struct profile_cell){procs[i], 1, stack, PROFILE_NO_STACK, 10 + i, 0, 0};
	commit(p, w, cells, count, &h);
	profile_stack_put(p, stack);
}

struct counted {
	const struct profile *p;
	uint64_t count;
	uint32_t proc;
};

static int count_cell(const struct profile_cell *cell, void *arg)
{
	struct counted *c = arg;

	if (cell->proc == c->proc)
		c->count += cell->count;
	return 0;
}

static uint64_t of(const struct profile *p, uint32_t id)
{
	struct query q = {.span = SPAN_BASELINE, .proc = QUERY_ALL};
	struct counted c = {p, 0, id};

	assert_int_equal(query_cells(p, &q, count_cell, &c), 0);
	return c.count;
}

static void record_old(void)
{
	struct session_writer *w = writer_new();
	struct profile *p = profile_new(10, 1000);
	uint32_t old[6];

	profile_lock(p);
	old[0] = proc(p, 10, 1, "web", "web: worker 0", false); /* 10 samples */
	old[1] = proc(p, 11, 1, "web", "web: worker 1", false); /* 11 */
	old[2] = proc(p, 12, 1, "gone", "gone", false);		/* 12 */
	old[3] = proc(p, 13, 7, "stays", "stays", false);	/* 13 */
	old[4] = proc(p, 14, 1, "batch", "batch -1", false);	/* 14 */
	old[5] = proc(p, 15, 1, "batch", "batch -2", true);	/* 15 */
	/* A build-id is written when a function is of the module. */
	assert_int_equal(profile_module(p, "libx.so", "bb22"), 0);
	slice(p, w, old, 6);
	profile_unlock(p);
	session_writer_free(w);
	profile_free(p);
}

static void load(struct profile *p)
{
	struct baseline *b;
	bool loaded = false;

	assert_int_equal(baseline_start(&b, p, path), 0);
	baseline_wait(b);
	assert_true(baseline_done(b, &loaded) && loaded);
	baseline_free(b);
}

static void processes_are_found_by_what_they_do(void **state)
{
	struct profile *p = profile_new(10, 1000);
	uint32_t now[5], old, late;

	(void)state;
	record_old();
	profile_lock(p);
	/* In the other order, with other numbers; one is the same as then. */
	now[0] = proc(p, 501, 3, "web", "web: worker 1", false);
	now[1] = proc(p, 500, 3, "web", "web: worker 7", false);
	now[2] = proc(p, 13, 7, "stays", "stays -x", false);
	now[3] = proc(p, 99, 9, "stays", "stays", false);
	now[4] = proc(p, 77, 9, "batch", "batch -3", false);
	slice(p, NULL, now, 5);
	assert_int_equal(profile_module(p, "libx.so", "aa11"), 0);
	profile_unlock(p);
	load(p);
	profile_lock(p);
	/* The session knows another build of it, which is not the one of now. */
	assert_string_equal(query_build(p, "libx.so"), "aa11");
	old = query_find_proc(p, 12, 1 | PROFILE_RECORDED);
	assert_true(old != QUERY_ALL && query_proc(p, old)->exited);
	assert_int_equal(of(p, query_find_proc(p, 10, 1 | PROFILE_RECORDED)), 10);
	assert_int_equal(frozen_sum_match(p), 0);
	assert_int_equal(of(p, now[0]), 11);
	assert_int_equal(of(p, now[1]), 10);
	assert_int_equal(of(p, now[2]), 13);
	assert_int_equal(of(p, now[3]), 0);
	assert_int_equal(of(p, now[4]), 14 + 15);
	assert_int_equal(of(p, old), 12);
	/* It comes back, and who is there now goes and comes back as another. */
	late = proc(p, 600, 4, "gone", "gone", false);
	proc(p, 501, 3, "web", "web: worker 1", true);
	now[0] = proc(p, 502, 3, "web", "web: worker 2", false);
	slice(p, NULL, (uint32_t[]){late, now[0]}, 2);
	assert_int_equal(frozen_sum_match(p), 0);
	assert_int_equal(of(p, late), 12);
	assert_int_equal(of(p, now[0]), 11);
	assert_int_equal(of(p, now[1]), 10);
	profile_unlock(p);
	profile_free(p);
}

/* One that is taken live stays with the processes that it is of. */
static void a_live_one_does_not_move(void **state)
{
	struct profile *p = profile_new(10, 1000);
	uint32_t old, now;

	(void)state;
	profile_lock(p);
	old = proc(p, 10, 1, "web", "web", false);
	slice(p, NULL, &old, 1);
	assert_int_equal(frozen_sum_span(p, FROZEN_BASELINE, SPAN_TOTAL), 0);
	proc(p, 10, 1, "web", "web", true);
	now = proc(p, 11, 1, "web", "web", false);
	assert_int_equal(frozen_sum_match(p), 0);
	assert_int_equal(of(p, old), 10);
	assert_int_equal(of(p, now), 0);
	profile_unlock(p);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_as_if_taken_live),
		cmocka_unit_test(another_event_is_not_compared),
		cmocka_unit_test(what_cannot_be_read_is_said),
		cmocka_unit_test(processes_are_found_by_what_they_do),
		cmocka_unit_test(a_live_one_does_not_move),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
