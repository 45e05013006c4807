// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions of what is kept: each slice is in the file once, with the numbers that the profile has
 * for it, whether it was committed before the recording began, while it went on, or right before
 * all counts were zeroed.
 * Covers: tui/session/recording.c tui/session/session_write.c tui/session/session_define.c
 * Covers: tui/session/session.h
 * Covers: tui/profile/profile_history.c
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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/recorded.h"
#include "tui/profile/board.h"
#include "tui/profile/frozen_sum.h"
#include "tui/profile/source.h"
#include "tui/session/player.h"
#include "tui/session/recording.h"
#include "tui/session/session_read.h"

#define PATIENCE 60000 /* ms */
#define KEPT	 ((uint64_t)64 << 20)

static void start_feed(struct recorded *r)
{
	struct timespec now;

	unlink(path);
	clock_gettime(CLOCK_MONOTONIC, &now);
	*r = (struct recorded){
		.p = profile_new(WINDOW, CELLS), .random = 7, .time = (uint64_t)now.tv_sec * NS};
	profile_lock(r->p);
	profile_keep(r->p, 600, KEPT);
	profile_unlock(r->p);
}

static void feed(struct recorded *r, int from, int to)
{
	for (int n = from; n < to; n++) {
		profile_lock(r->p);
		commit(r, NULL, n);
		profile_unlock(r->p);
	}
}

static void wait_done(const struct recording *recording)
{
	for (int waited = 0; !recording_done(recording); waited++) {
		assert_true(waited < PATIENCE);
		usleep(1000);
	}
}

/* The last message of the profile. */
static void told(struct profile *p, enum message_level level, const char *want)
{
	struct board_message message = {0};
	uint64_t serial = 0;

	while (board_next(profile_board(p), &serial, &message))
		;
	if (!strstr(message.text, want))
		fail_msg("'%s' instead of '%s'", message.text, want);
	assert_int_equal(message.level, level);
}

static struct recording *start(struct recorded *r, uint64_t first, uint64_t last, bool goes_on)
{
	struct recording *recording;

	assert_int_equal(recording_start(&recording, r->p, NULL, path, first, last, goes_on), 0);
	assert_string_equal(recording_path(recording), path);
	return recording;
}

/* What the profile has of that slice, with the names of now. */
static char *kept_report(struct recorded *r, uint64_t slice)
{
	struct query moment = {.span = SPAN_MOMENT, .proc = QUERY_ALL}, all = moment;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	profile_lock(r->p);
	assert_int_equal(frozen_sum_slices(r->p, FROZEN_MOMENT, slice, slice), 0);
	profile_unlock(r->p);
	assert_int_equal(batch_folded(to, r->p, &moment), 0);
	all.frames = FRAMES_ALL;
	assert_int_equal(batch_folded(to, r->p, &all), 0);
	profile_lock(r->p);
	report_cpus(to, r->p, SPAN_MOMENT);
	profile_unlock(r->p);
	fclose(to);
	return text;
}

static void wait_slice(struct source *source, uint64_t want)
{
	struct pollfd fd = {.fd = source->event, .events = POLLIN};
	uint64_t n;

	while (source->slices < want) {
		assert_int_equal(poll(&fd, 1, PATIENCE), 1);
		if (read(fd.fd, &n, sizeof(n)) < 0)
			assert_int_equal(errno, EAGAIN);
	}
}

/* The replay of the file has these slices of the profile, and no others. */
static void assert_plays(struct recorded *r, uint64_t first, uint64_t last)
{
	struct player_options options = {.batch = true, .speed = 1, .path = path};
	struct profile *p = profile_new(WINDOW, CELLS);
	struct source *source;
	char error[256] = "";

	if (player_new(p, &options, &source, error, sizeof(error)))
		fail_msg("%s", error);
	for (uint64_t n = first; n <= last; n++) {
		struct profile_health live, played;
		char *text, *want = kept_report(r, n);

		wait_slice(source, n - first + 1);
		text = report(p);
		assert_string_equal(text, want);
		free(text);
		free(want);
		profile_lock(r->p);
		assert_true(query_slice_health(r->p, n, &live));
		profile_unlock(r->p);
		profile_lock(p);
		query_health(p, &played);
		profile_unlock(p);
		assert_int_equal(played.samples, live.samples);
		assert_int_equal(played.elapsed, live.elapsed);
		assert_int_equal(played.clock, live.clock);
		assert_int_equal(played.loss[LOSS_MISSED], live.loss[LOSS_MISSED]);
		if (n < last)
			source_post(source, SOURCE_NEXT, NULL);
	}
	for (int waited = 0; !source->finished; waited++) {
		assert_true(waited < PATIENCE);
		usleep(1000);
	}
	source_free(source);
	profile_free(p);
}

static void history_is_saved(void **state)
{
	struct recorded r;
	struct recording *recording;
	struct stat st;

	(void)state;
	start_feed(&r);
	feed(&r, 0, SLICES);
	recording = start(&r, 0, 0, false);
	wait_done(recording);
	recording_free(recording);
	told(r.p, MESSAGE_INFO, "saved to ");
	told(r.p, MESSAGE_INFO, "(1m00s, ");
	assert_plays(&r, 1, SLICES);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	recorded_free(&r);
}

static void range_is_saved(void **state)
{
	struct recorded r;
	struct recording *recording;

	(void)state;
	start_feed(&r);
	feed(&r, 0, SLICES);
	recording = start(&r, 21, 30, false);
	wait_done(recording);
	recording_free(recording);
	told(r.p, MESSAGE_INFO, "(10s, ");
	assert_plays(&r, 21, 30);
	recorded_free(&r);
}

/* Waits until the file has so many slices. */
static void wait_file(int want)
{
	uint32_t n = 0;

	for (int waited = 0; n < (uint32_t)want; waited++) {
		struct session *s;
		char error[256];

		assert_true(waited < PATIENCE / 5);
		usleep(5000);
		if (session_open(path, &s, error, sizeof(error)))
			continue;
		n = session_slices(s);
		session_free(s);
	}
	assert_int_equal(n, want);
}

/* Slices 0..n - 1 of the feed, each once, with all of their samples. */
static void assert_holds(const struct recorded *again, int n)
{
	struct session *s;
	char error[256];

	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	assert_null(session_flaw(s));
	assert_int_equal(session_slices(s), n);
	for (uint32_t i = 0; i < (uint32_t)n; i++) {
		struct session_slice slice;
		struct profile_health health;
		uint64_t sum = 0;

		assert_int_equal(session_time(s, i), (i + 1) * NS);
		assert_int_equal(session_read(s, i, &slice), 0);
		for (size_t c = 0; c < slice.ncells; c++)
			sum += slice.cells[c].count;
		assert_true(query_slice_health(again->p, i + 1, &health));
		assert_int_equal(sum, health.samples);
		assert_int_equal(slice.health.samples, health.samples);
	}
	session_free(s);
}

/* Also over zeroed counts and another event, which drop the slices. */
static void recording_goes_on(void **state)
{
	struct recorded r, again;
	struct recording *recording;

	(void)state;
	start_feed(&again);
	feed(&again, 0, SLICES);
	start_feed(&r);
	feed(&r, 0, 30);
	recording = start(&r, 0, 0, true);
	feed(&r, 30, 40);
	wait_file(40);
	profile_lock(r.p);
	commit(&r, NULL, 40);
	profile_zero(r.p);
	commit(&r, NULL, 41);
	profile_rewind(r.p);
	profile_unlock(r.p);
	feed(&r, 42, 50);
	wait_file(50);
	feed(&r, 50, SLICES);
	assert_false(recording_done(recording));
	recording_stop(recording);
	wait_done(recording);
	told(r.p, MESSAGE_INFO, "saved to ");
	told(r.p, MESSAGE_INFO, "(1m00s, ");
	recording_free(recording);
	assert_holds(&again, SLICES);
	/* The hook is gone with it. */
	profile_lock(r.p);
	profile_zero(r.p);
	profile_unlock(r.p);
	recorded_free(&r);
	recorded_free(&again);
}

/* The end of the program completes it. */
static void end_completes(void **state)
{
	struct recorded r;
	struct recording *recording;

	(void)state;
	start_feed(&r);
	feed(&r, 0, 20);
	recording = start(&r, 0, 0, true);
	recording_free(recording);
	assert_holds(&r, 20);
	recorded_free(&r);
}

/* What is still kept is saved, and the rest is missed. */
static void lost_slices_are_told(void **state)
{
	struct recorded r;
	struct recording *recording;

	(void)state;
	start_feed(&r);
	feed(&r, 0, 20);
	profile_lock(r.p);
	profile_zero(r.p);
	profile_unlock(r.p);
	feed(&r, 20, 30);
	recording = start(&r, 15, 28, false);
	wait_done(recording);
	recording_free(recording);
	told(r.p, MESSAGE_WARNING, "; 6 refreshes were gone before)");
	assert_plays(&r, 21, 28);
	recorded_free(&r);
}

/* As after a jump in a replay: the samples of a minute, then their time without samples. */
static void sums_are_joined(void **state)
{
	struct recorded r;
	struct recording *recording;
	struct profile_health health = {.ncpus = 2, .frequency = 99};
	struct profile_cell cells[700];
	struct session_slice slice;
	struct session *s;
	uint64_t sum = 0;
	char error[256];

	(void)state;
	start_feed(&r);
	profile_lock(r.p);
	for (int i = 0; i < 700; i++) {
		char names[32];

		snprintf(names, sizeof(names), "main;work%d", i);
		cells[i] = (struct profile_cell){.proc = feed_proc(r.p, 7, 1, "work", false),
						 .ustack = feed_names(r.p, false, names),
						 .kstack = PROFILE_NO_STACK,
						 .count = 3};
	}
	assert_int_equal(profile_commit(r.p, cells, 700, &health), 0);
	for (int i = 0; i < 700; i++)
		profile_stack_put(r.p, cells[i].ustack);
	health = (struct profile_health){.elapsed = NS, .samples = 700, .frequency = 99};
	for (int i = 0; i < 4; i++) {
		health.time = (uint64_t)(i + 3) * NS;
		health.clock = 1700000000 * NS + health.time;
		assert_int_equal(profile_commit(r.p, NULL, 0, &health), 0);
	}
	profile_unlock(r.p);
	recording = start(&r, 0, 0, false);
	wait_done(recording);
	recording_free(recording);
	told(r.p, MESSAGE_INFO, "(4s, ");
	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	assert_null(session_flaw(s));
	assert_int_equal(session_slices(s), 4);
	assert_int_equal(session_info(s)->clock, 1700000002 * NS);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(session_read(s, i, &slice), 0);
		assert_int_equal(session_time(s, i), (i + 1) * NS);
		assert_int_equal(slice.health.clock, 1700000003 * NS + i * NS);
		for (size_t c = 0; c < slice.ncells; c++)
			sum += slice.cells[c].count;
	}
	assert_int_equal(sum, 2100);
	session_free(s);
	recorded_free(&r);
}

/* In a slice from before its end a process runs. */
static void ends_are_where_they_were(void **state)
{
	struct recorded r;
	struct recording *recording;
	struct profile_proc proc = {.pid = 7, .image = 1, .comm = "short", .nthreads = 1};
	struct profile_health health = {.elapsed = NS, .ncpus = 2, .frequency = 99, .samples = 5};
	struct profile_cell cell = {.tid = 7, .kstack = PROFILE_NO_STACK, .count = 5};
	struct session *s;
	char error[256];

	(void)state;
	start_feed(&r);
	profile_lock(r.p);
	cell.ustack = feed_names(r.p, false, "main;work");
	cell.proc = (uint32_t)profile_proc(r.p, &proc);
	for (int i = 0; i < 4; i++) {
		health.time = r.time += NS;
		if (i == 2) {
			proc.exited = true;
			proc.exit_time = r.time;
			cell.proc = (uint32_t)profile_proc(r.p, &proc);
		}
		assert_int_equal(profile_commit(r.p, &cell, 1, &health), 0);
	}
	profile_stack_put(r.p, cell.ustack);
	profile_unlock(r.p);
	recording = start(&r, 0, 0, false);
	wait_done(recording);
	recording_free(recording);
	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	assert_int_equal(session_names_counts(session_all_names(s)).procs, 1);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(session_names_proc(session_all_names(s), 0, i, &proc));
		assert_int_equal(proc.exited, i >= 2);
	}
	session_free(s);
	recorded_free(&r);
}

/* No file is overwritten, no link is followed, and nothing is left of what failed. */
static void files_are_safe(void **state)
{
	struct recorded r;
	struct recording *recording;
	char text[16] = "";
	FILE *file;

	(void)state;
	for (int goes_on = 0; goes_on < 2; goes_on++) {
		start_feed(&r);
		recording = start(&r, 0, 0, false);
		wait_done(recording);
		recording_free(recording);
		told(r.p, MESSAGE_WARNING, "no samples have come yet");
		assert_int_equal(access(path, F_OK), -1);
		feed(&r, 0, 3);
		file = fopen(path, "we");
		assert_non_null(file);
		assert_true(fputs("mine", file) >= 0);
		fclose(file);
		recording = start(&r, 0, 0, goes_on);
		wait_done(recording);
		recording_free(recording);
		told(r.p, MESSAGE_ERROR, "File exists");
		file = fopen(path, "re");
		assert_non_null(file);
		assert_non_null(fgets(text, sizeof(text), file));
		fclose(file);
		assert_string_equal(text, "mine");
		unlink(path);
		unlink(other);
		assert_int_equal(symlink(other, path), 0);
		recording = start(&r, 0, 0, goes_on);
		wait_done(recording);
		recording_free(recording);
		assert_int_equal(access(other, F_OK), -1);
		unlink(path);
		recorded_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(history_is_saved),	    cmocka_unit_test(range_is_saved),
		cmocka_unit_test(recording_goes_on),	    cmocka_unit_test(end_completes),
		cmocka_unit_test(lost_slices_are_told),	    cmocka_unit_test(files_are_safe),
		cmocka_unit_test(ends_are_where_they_were), cmocka_unit_test(sums_are_joined),
	};

	return cmocka_run_group_tests_name("recording", tests, make_folder, remove_folder);
}
