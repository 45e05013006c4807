// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions: what is played is what was recorded. The profile that was recorded is the witness: its
 * reports, slice by slice, are compared with those of the replay.
 * Covers: tui/session/session_write.c tui/session/session_define.c tui/session/session_read.c
 * Covers: tui/session/session_names.c tui/session/player.c
 * Covers: tui/session/feeder.c tui/session/feeder_names.c
 * Covers: tui/profile/profile_get.c
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/recorded.h"
#include "tui/profile/board.h"
#include "tui/profile/source.h"
#include "tui/export/folded.h"
#include "tui/session/player.h"
#include "tui/session/session_read.h"

#define PATIENCE 60000 /* ms */

static const struct player_options batch = {.batch = true, .speed = 1};

static struct source *play(struct profile *p, const struct player_options *options)
{
	struct source *source;
	char error[256] = "";

	if (player_new(p, options, &source, error, sizeof(error)))
		fail_msg("%s", error);
	profile_lock(p); /* a screen that is drawn before the first slice says so */
	assert_non_null(profile_replay(p));
	profile_unlock(p);
	return source;
}

static void wait_slices(struct source *source, uint64_t want)
{
	struct pollfd fd = {.fd = source->event, .events = POLLIN};
	uint64_t n;

	while (source->slices < want) {
		if (poll(&fd, 1, PATIENCE) != 1)
			fail_msg("slice %d did not come", (int)want);
		if (read(fd.fd, &n, sizeof(n)) < 0)
			assert_int_equal(errno, EAGAIN);
	}
}

static void wait_finished(const struct source *source)
{
	for (int waited = 0; !source->finished; waited++) {
		assert_true(waited < PATIENCE);
		usleep(1000);
	}
}

static void threads_are(struct profile *p, const struct recorded *r, uint32_t n)
{
	for (size_t i = 0; i < r->nthreads[n]; i++) {
		const struct named *named = &r->threads[n][i];
		uint32_t id;

		profile_lock(p);
		id = query_find_proc(p, (pid_t)named->pid, named->pid / 2);
		assert_true(id != QUERY_ALL);
		assert_string_equal(query_thread(p, id, named->tid), named->comm);
		profile_unlock(p);
	}
	profile_lock(p);
	for (int i = 0; i < 4; i++)
		if (r->lines[n][i])
			assert_int_equal(line_of(p, i), r->lines[n][i]);
	profile_unlock(p);
}

static void plays_what_was_recorded(void **state)
{
	struct recorded r;
	struct player_options options = batch;
	struct profile *p = profile_new(WINDOW, CELLS);
	struct source *source;
	uint64_t serial = 0;
	struct board_message message;
	int warnings = 0;

	(void)state;
	record(&r, SLICES, 60);
	options.path = path;
	source = play(p, &options);
	for (int n = 0; n < SLICES; n++) {
		char *text, want[256];

		wait_slices(source, (uint64_t)n + 1);
		assert_int_equal(source->slices, n + 1);
		text = report(p);
		assert_string_equal(text, r.reports[n]);
		free(text);
		threads_are(p, &r, (uint32_t)n);
		profile_lock(p);
		assert_true(board_next(profile_board(p), &serial, &message));
		assert_string_equal(message.text,
				    (snprintf(want, sizeof(want), RECORDED_MESSAGE, n), want));
		profile_unlock(p);
		warnings += message.level == MESSAGE_WARNING;
		if (n + 1 < SLICES)
			assert_false(source->finished);
		else
			wait_finished(source);
		source_post(source, SOURCE_NEXT, NULL);
	}
	assert_int_equal(warnings, SLICES);
	source_free(source);
	profile_free(p);
	recorded_free(&r);
}

static void processes_are_as_they_were(void **state)
{
	struct recorded r;
	struct session *s;
	struct profile_proc proc;
	char error[256];

	(void)state;
	record(&r, 20, CELLS);
	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	assert_null(session_flaw(s));
	assert_int_equal(session_slices(s), 20);
	assert_true(session_names_counts(session_all_names(s)).procs > 3);
	/* Process 100 ends with slice 9; before and after that one can go back and forth. */
	for (int round = 0; round < 2; round++)
		for (uint32_t id = 0; id < session_names_counts(session_all_names(s)).procs; id++) {
			if (!session_names_proc(session_all_names(s), id, 19, &proc) ||
			    proc.pid != 100)
				continue;
			assert_true(proc.exited);
			assert_string_equal(proc.comm, "gone");
			assert_true(session_names_proc(session_all_names(s), id, 8, &proc));
			assert_false(proc.exited);
			assert_string_equal(proc.comm, "work;100");
			assert_string_equal(proc.cmdline, "/bin/work;100 -x");
			assert_int_equal(proc.image, 50);
		}
	session_free(s);
	recorded_free(&r);
}

/* A process may be moved to another container or unit while it runs, and lack frames or not. */
static void groups_are_as_they_were(void **state)
{
	static const char *const groups[] = {"a.service", "b.service", "b.service"};
	static const enum func_kind mutes[] = {FUNC_USER, FUNC_RUBY, FUNC_USER};
	struct profile *p = profile_new(WINDOW, CELLS);
	struct profile_health health = {.elapsed = NS, .ncpus = 2, .frequency = 99, .samples = 5};
	struct profile_proc proc = {.pid = 7, .image = 1, .comm = "work", .nthreads = 1};
	struct profile_cell cell = {.tid = 9, .kstack = PROFILE_NO_STACK, .count = 5};
	struct session_slice slice;
	struct session_writer *w;
	struct session *s;
	char error[256];

	(void)state;
	assert_int_equal(session_writer_new(path, &w, error, sizeof(error)), 0);
	cell.ustack = feed_names(p, false, "main;work");
	for (int i = 0; i < 3; i++) {
		strcpy(proc.group, groups[i]);
		proc.mute = mutes[i];
		strcpy(proc.why, mutes[i] ? "Ruby 3.1: shy" : "");
		cell.proc = (uint32_t)profile_proc(p, &proc);
		health.time += NS;
		assert_int_equal(profile_commit(p, &cell, 1, &health), 0);
		assert_int_equal(session_note(w, p, &cell, 1, &health), 0);
		assert_int_equal(session_flush(w), 0);
	}
	profile_stack_put(p, cell.ustack);
	session_writer_free(w);
	profile_free(p);
	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	assert_int_equal(session_slices(s), 3);
	assert_int_equal(session_names_counts(session_all_names(s)).procs, 1);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(session_names_proc(session_all_names(s), 0, i, &proc));
		assert_string_equal(proc.group, groups[i]);
		assert_int_equal(proc.mute, mutes[i]);
		assert_string_equal(proc.why, mutes[i] ? "Ruby 3.1: shy" : "");
		assert_int_equal(session_read(s, i, &slice), 0);
		assert_int_equal(slice.ncells, 1);
		assert_int_equal(slice.cells[0].tid, cell.tid);
	}
	session_free(s);
}

/* How many stacks were complete, and by what, is kept for each slice. */
static void completeness_is_as_it_was(void **state)
{
	struct profile *p = profile_new(WINDOW, CELLS);
	struct profile_health health = {.elapsed = NS, .ncpus = 2, .frequency = 99, .samples = 50};
	struct session_slice slice;
	struct session_writer *w;
	struct session *s;
	char error[256];

	(void)state;
	assert_int_equal(session_writer_new(path, &w, error, sizeof(error)), 0);
	for (uint64_t i = 0; i < 3; i++) {
		health.time += NS;
		health.user_walks = 40 + i;
		health.complete_walks = 30 + i;
		health.complete_fp_walks = 3 * i;
		health.loss[LOSS_COUNTS_FULL] = 7;
		assert_int_equal(profile_commit(p, NULL, 0, &health), 0);
		assert_int_equal(session_note(w, p, NULL, 0, &health), 0);
		assert_int_equal(session_flush(w), 0);
	}
	session_writer_free(w);
	profile_free(p);
	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	assert_int_equal(session_slices(s), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(session_read(s, i, &slice), 0);
		assert_int_equal(slice.health.user_walks, 40 + i);
		assert_int_equal(slice.health.complete_walks, 30 + i);
		assert_int_equal(slice.health.complete_fp_walks, 3 * i);
		assert_int_equal(slice.health.loss[LOSS_COUNTS_FULL], 7);
	}
	session_free(s);
}

/* Equal frames with another lock are another stack, also in a file. */
static void locks_are_as_they_were(void **state)
{
	static const char *const stacks[STACK_LOCKS] = {
		"=0;main;py:work@w.py", "=1;main;py:work@w.py", "=2;main;py:work@w.py",
		"=3;main;py:work@w.py"};
	struct profile *p = profile_new(WINDOW, CELLS);
	struct profile_health health = {.elapsed = NS, .time = NS, .samples = STACK_LOCKS};
	struct profile_cell cells[STACK_LOCKS];
	struct session_slice slice;
	struct session_writer *w;
	struct session *s;
	char error[256];

	(void)state;
	assert_int_equal(session_writer_new(path, &w, error, sizeof(error)), 0);
	for (int i = 0; i < STACK_LOCKS; i++) {
		cells[i] = (struct profile_cell){.proc = feed_proc(p, 7, 1, "python3", false),
						 .tid = 7,
						 .ustack = feed_frames(p, stacks[i], 0),
						 .kstack = PROFILE_NO_STACK,
						 .count = (uint64_t)i + 1};
		for (int k = 0; k < i; k++)
			assert_int_not_equal(cells[k].ustack, cells[i].ustack);
	}
	assert_int_equal(profile_commit(p, cells, STACK_LOCKS, &health), 0);
	assert_int_equal(session_note(w, p, cells, STACK_LOCKS, &health), 0);
	assert_int_equal(session_flush(w), 0);
	session_writer_free(w);
	for (int i = 0; i < STACK_LOCKS; i++)
		profile_stack_put(p, cells[i].ustack);
	profile_free(p);
	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	assert_int_equal(session_read(s, 0, &slice), 0);
	assert_int_equal(slice.ncells, STACK_LOCKS);
	for (uint32_t i = 0; i < slice.ncells; i++) {
		const struct profile_stack stack =
			session_names_stack(session_all_names(s), slice.cells[i].ustack);

		assert_int_equal(stack.lock, slice.cells[i].count - 1);
		assert_true(stack.complete);
	}
	session_free(s);
}

/* --- jumps ------------------------------------------------------------------------------------ */

static char *state_of(struct profile *p, enum span span)
{
	struct query q = {.span = span, .proc = QUERY_ALL};
	struct profile_health sum;
	struct folded lines;
	char *text = NULL;
	float use[256];
	size_t size;
	FILE *to = open_memstream(&text, &size);

	profile_lock(p);
	assert_int_equal(folded_read(&lines, p, &q), 0);
	query_health_sum(p, span, &sum);
	for (size_t n = query_timeline(p, use, 256), i = 0; i < n; i++)
		fprintf(to, "%.3f ", use[i]);
	profile_unlock(p);
	fprintf(to, "\n%llu samples in %llu s, %llu missed\n", (unsigned long long)sum.samples,
		(unsigned long long)(sum.elapsed / NS), (unsigned long long)sum.loss[LOSS_MISSED]);
	for (size_t i = 0; i < lines.count; i++)
		fprintf(to, "%.*s %llu\n", (int)lines.lines[i].length,
			lines.text + lines.lines[i].at, (unsigned long long)lines.lines[i].count);
	folded_free(&lines);
	if (span == SPAN_WINDOW) {
		profile_lock(p);
		report_cpus(to, p, span);
		profile_unlock(p);
	}
	fclose(to);
	return text;
}

static uint64_t position(struct profile *p)
{
	uint64_t at;

	profile_lock(p);
	at = profile_replay(p) ? profile_replay(p)->position : 0;
	profile_unlock(p);
	return at;
}

/* Waits until slice n is the last one that was fed. */
static void comes_to(struct profile *p, const struct session *s, uint32_t n)
{
	for (int waited = 0; position(p) != session_time(s, n) && waited < PATIENCE; waited++)
		usleep(1000);
	assert_int_equal(position(p), session_time(s, n));
}

static void jump_to(struct profile *p, struct source *source, const struct session *s, uint32_t n)
{
	char to[32];

	snprintf(to, sizeof(to), "%.6f", (double)session_time(s, n) / 1e9 + 0.000001);
	source_post(source, SOURCE_JUMP, to);
	comes_to(p, s, n);
	profile_lock(p);
	assert_int_equal(profile_replay(p)->interval, NS);
	profile_unlock(p);
}

static void jumps_as_played(int border)
{
	static const uint32_t places[] = {58, 3, 40, 41, 39, 0, 59, 30, 29, 55};
	struct player_options options = {.speed = 1, .path = path};
	struct profile *p = profile_new(WINDOW, CELLS);
	char *window[SLICES], *total[SLICES], error[256];
	struct recorded r, straight;
	struct source *source;
	struct session *s;

	record_events(&r, SLICES, CELLS, border);
	straight = (struct recorded){
		.p = profile_new(WINDOW, CELLS), .random = 7, .time = r.time, .border = border};
	for (int n = 0; n < SLICES; n++) {
		profile_lock(straight.p);
		commit(&straight, NULL, n);
		profile_unlock(straight.p);
		window[n] = state_of(straight.p, SPAN_WINDOW);
		total[n] = state_of(straight.p, SPAN_TOTAL);
	}
	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	source = play(p, &options);
	wait_slices(source, 1);
	source_post(source, SOURCE_PLAY, NULL);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char *text;

		jump_to(p, source, s, places[i]);
		threads_are(p, &r, places[i]);
		text = state_of(p, SPAN_WINDOW);
		/* A jump forward has one point of the timeline for many seconds. */
		assert_string_equal(strchr(text, '\n'), strchr(window[places[i]], '\n'));
		free(text);
		text = state_of(p, SPAN_TOTAL);
		assert_string_equal(strchr(text, '\n'), strchr(total[places[i]], '\n'));
		free(text);
	}
	/* Slices of a second each, off by a little: a jump goes to the end that is nearest. */
	source_post(source, SOURCE_STEP, "-5");
	comes_to(p, s, 50);
	source_post(source, SOURCE_JUMP, "-10");
	comes_to(p, s, 40);
	source_post(source, SOURCE_JUMP, "+5");
	comes_to(p, s, 45);
	source_post(source, SOURCE_JUMP, "-9.6");
	comes_to(p, s, 35);
	source_post(source, SOURCE_JUMP, "+4.6");
	comes_to(p, s, 40);
	source_post(source, SOURCE_JUMP, "-1000");
	comes_to(p, s, 0);
	source_free(source);
	session_free(s);
	for (int n = 0; n < SLICES; n++) {
		free(window[n]);
		free(total[n]);
	}
	profile_free(p);
	profile_free(straight.p);
	recorded_free(&r);
}

/* After a jump everything is as if the slices had been played. */
static void jumps_lead_to_the_same(void **state)
{
	(void)state;
	jumps_as_played(0);
}

/* A border is in what is one slice after a jump, in what is fed slice by slice, and just there;
 * and the first event comes back. */
static void another_event_begins_anew(void **state)
{
	static const int borders[] = {2, 10, 29, 30, 31, 40, 50, 59};

	(void)state;
	for (size_t i = 0; i < sizeof(borders) / sizeof(*borders); i++)
		jumps_as_played(borders[i]);
}

/* What took a second comes a hundred times as soon, or never within this test's patience. */
static void speed_is_followed(void **state)
{
	struct player_options options = {.speed = 100, .path = path};
	struct profile *p = profile_new(WINDOW, CELLS);
	struct source *source;
	struct recorded r;

	(void)state;
	record(&r, 20, CELLS);
	options.path = path;
	source = play(p, &options);
	wait_slices(source, 20);
	profile_lock(p);
	assert_true(profile_replay(p)->speed == 100);
	profile_unlock(p);
	source_free(source);
	profile_free(p);
	recorded_free(&r);
}

static void parts_by_time(void **state)
{
	struct player_options options = batch;
	struct profile *p = profile_new(WINDOW, CELLS);
	struct source *source;
	struct recorded r;
	char error[256], *text;
	uint64_t began;
	struct session *s;

	(void)state;
	record(&r, 20, CELLS);
	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	began = session_time(s, 0);
	session_free(s);
	options.path = path;
	/* Slices end at began, began + 1 s ... */
	options.from = (struct replay_time){.given = true, .seconds = (double)began / 1e9 + 4.5};
	options.to = (struct replay_time){.given = true, .seconds = (double)began / 1e9 + 7.5};
	source = play(p, &options);
	for (int n = 5; n <= 7; n++) {
		wait_slices(source, (uint64_t)n - 4);
		text = report(p);
		assert_string_equal(text, r.reports[n]);
		free(text);
		if (n < 7)
			assert_false(source->finished);
		else
			wait_finished(source);
		source_post(source, SOURCE_NEXT, NULL);
	}
	source_free(source);
	options.from.seconds += 10000;
	assert_int_equal(player_new(p, &options, &source, error, sizeof(error)), -ERANGE);
	assert_null(source);
	profile_free(p);
	recorded_free(&r);
}

static void moments(void **state)
{
	static const char *const wrong[] = {"",	    "-1",  "1:2:3:4",	 "12:",	  "a",
					    "1.",   "inf", "1e9",	 "25:00", "12:30.5",
					    "0x10", "1 ",  "99999999999"};
	struct replay_time m;
	/* Noon of some day, wherever this runs. */
	struct tm noon = {.tm_year = 120, .tm_mday = 10, .tm_hour = 12, .tm_isdst = -1};
	uint64_t start = (uint64_t)mktime(&noon) * NS;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (replay_time_parse(wrong[i], &m))
			fail_msg("'%s' is no moment", wrong[i]);
	assert_true(replay_time_parse("90", &m));
	assert_int_equal(replay_time_offset(&m, start), 90 * NS);
	assert_true(replay_time_parse("1.5", &m));
	assert_int_equal(replay_time_offset(&m, start), NS * 3 / 2);
	assert_true(replay_time_parse("12:01", &m));
	assert_int_equal(replay_time_offset(&m, start), 60 * NS);
	assert_true(replay_time_parse("12:00:02.5", &m));
	assert_int_equal(replay_time_offset(&m, start), NS * 5 / 2);
	assert_true(replay_time_parse("11:00", &m));
	assert_int_equal(replay_time_offset(&m, start), 0);
	noon.tm_hour = 23;
	start = (uint64_t)mktime(&noon) * NS;
	assert_true(replay_time_parse("01:00", &m));
	assert_int_equal(replay_time_offset(&m, start), 2 * 3600 * NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plays_what_was_recorded),
		cmocka_unit_test(processes_are_as_they_were),
		cmocka_unit_test(groups_are_as_they_were),
		cmocka_unit_test(completeness_is_as_it_was),
		cmocka_unit_test(locks_are_as_they_were),
		cmocka_unit_test(jumps_lead_to_the_same),
		cmocka_unit_test(another_event_begins_anew),
		cmocka_unit_test(speed_is_followed),
		cmocka_unit_test(parts_by_time),
		cmocka_unit_test(moments),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
