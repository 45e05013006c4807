// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The view of how stacks ended: whole screens of a made-up machine, keys, and that its figures are
 * those that were put in: every sample and every tick is somewhere.
 * Covers: tui/query/query_ends.c tui/views/view_unwind.c tui/profile/reasons.c
 * Covers: tui/views/walk_ends.c tui/views/unwind_reasons.c tui/views/unwind_procs.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/feed.h"
#include "tests/support/typist.h"
#include "tui/profile/reasons.h"
#include "tui/ui/plain_list.h"
#include "tui/views/unwind_tables.h"
#include "tui/app/dispatch.h"

struct put { /* so many samples a second of a stack that ended there */
	const char *frames;
	uint64_t place;
	uint64_t count;
};

enum { NGINX, NODE, NPROCS };

static const struct put ended[NPROCS][7] = {
	[NGINX] = {{"_start@nginx;main@nginx;work@nginx", 0x1c06, 120},
		   {"clone3@libc.so.6;thread@nginx;work@nginx", 0xf2a3, 30},
		   {"!pc not covered;asm_md5@libhash.so.1;work@nginx", 0x84c0, 6},
		   {"!pc not covered;asm_sha@libhash.so.1;work@nginx", 0x9210, 2},
		   {"!stack not readable;work@nginx", 0x62b31, 1},
		   {"!stack lost", 0, 1}},
	[NODE] = {{"_start@node;uv_run@libuv.so.1;Parse@node", 0x2f10, 4},
		  {"!code without CFI or frame pointer;[jit]", 0x7f3c0a914e10, 16}},
};

static void fill_health(struct profile_health *h, uint64_t walks, uint64_t complete)
{
	h->user_walks = walks;
	h->complete_walks = complete;
	h->complete_fp_walks = complete ? 4 : 0;
	h->frames = walks * 23;
	h->samples = walks + 12 + 3; /* 12 of kswapd0 have no user stack, 3 are lost */
	h->taken = h->samples + 5;
	h->filtered = 5;
	h->idle = 170;
	h->ticks = h->taken + h->idle + 9;
	h->loss[LOSS_COUNTS_FULL] = 2;
	h->loss[LOSS_BUSY] = 1;
	h->loss[LOSS_MISSED] = 9;
	h->loss[LOSS_STACK_RING] = 1;
	h->evicted = 1;
	h->evictions = 2;
}

static void slices(struct typist *t, int n, uint64_t node_more)
{
	struct machine *f = &t->feed;

	while (n--) {
		const uint32_t procs[NPROCS] = {f->nginx, f->node};
		struct profile_cell cells[16];
		struct profile_health h;
		uint64_t walks = 0, complete = 0;
		size_t ncells = 0;

		profile_lock(f->p);
		for (int p = 0; p < NPROCS; p++) {
			for (const struct put *put = ended[p]; put->frames; put++) {
				uint32_t id = feed_frames(f->p, put->frames, put->place);
				uint64_t more = p == NODE && *put->frames == '!' ? node_more : 0;

				cells[ncells++] = (struct profile_cell){
					procs[p], 1, id, PROFILE_NO_STACK, put->count + more, 0, 0};
				walks += put->count + more;
				complete += *put->frames == '!' ? 0 : put->count;
			}
		}
		cells[ncells++] = (struct profile_cell){
			f->kswapd, 902, PROFILE_NO_STACK, f->stacks[7], 12, 0, 0};
		f->time += MACHINE_SECOND;
		machine_health(f, &h, walks, 12, complete);
		fill_health(&h, walks, complete);
		assert_int_equal(profile_commit(f->p, cells, ncells, &h), 0);
		for (size_t i = 0; i + 1 < ncells; i++)
			profile_stack_put(f->p, cells[i].ustack);
		profile_unlock(f->p);
	}
	assert_int_equal(ui_refresh(t->ui), 0);
}

static int setup(void **state)
{
	struct typist *t = typist_new();

	slices(t, 12, 0);
	type(t, "7");
	*state = t;
	return 0;
}

/* --- screens ------------------------------------------------------------------------------- */

static void screens_are_as_expected(void **state)
{
	static const char *const keys[] = {"", "jjj\n", "\n"};
	static const char *const names[] = {"unwind", "unwind-process", "unwind-places"};
	struct typist *t = *state;

	for (size_t k = 0; k < 3; k++) {
		type(t, keys[k]);
		for (int ascii = 0; ascii < 2; ascii++) {
			t->ui->ascii = ascii;
			for (size_t i = 0; typist_resize(t, i); i++)
				compare(t, names[k]);
		}
	}
	type(t, "\b\bgj\n");
	t->ui->ascii = false;
	grid_resize(t->g, 30, 100);
	compare(t, "unwind-lost");
}

static void no_size_breaks(void **state)
{
	struct typist *t = *state;
	static const char *const keys[] = {"g", "\n", "\n", "\b\bgj\n"};

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		type(t, keys[k]);
		assert_no_size_breaks(t);
	}
}

static void says_when_there_is_nothing_yet(void **state)
{
	struct typist *t = typist_new();

	(void)state;
	type(t, "7");
	assert_shows(t, "Nothing has been sampled yet.");
	type(t, "jkGg\n\nj<>I\b\b");
	typist_free(t);
}

/* --- figures ------------------------------------------------------------------------------- */

/* Stacks that end alike are one row; where, is told of the one with most samples. */
static void ends_are_put_together(void **state)
{
	static const struct put puts[] = {{"!pc not covered;asm@libhash.so.1;one@nginx", 0x10, 3},
					  {"!pc not covered;asm@libhash.so.1;two@nginx", 0x20, 9},
					  {"!pc not covered;asm@libhash.so.1;three@nginx", 0x30, 5},
					  {"_start@nginx;one@nginx", 0x40, 4},
					  {"_start@nginx;two@nginx", 0x50, 2}};
	const struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct typist *t = typist_new();
	struct machine *f = &t->feed;
	struct profile_cell cells[5];
	struct profile_health h;
	struct end_row *rows;
	size_t count;

	(void)state;
	machine_health(f, &h, 23, 0, 6);
	for (size_t i = 0; i < 5; i++)
		cells[i] = (struct profile_cell){f->nginx,
						 1,
						 feed_frames(f->p, puts[i].frames, puts[i].place),
						 PROFILE_NO_STACK,
						 puts[i].count,
						 0,
						 0};
	assert_int_equal(profile_commit(f->p, cells, 5, &h), 0);
	assert_int_equal(query_ends(f->p, &q, &rows, &count), 0);
	assert_int_equal(count, 2);
	for (size_t i = 0; i < count; i++) {
		const char *last = query_func(f->p, rows[i].last)->name;

		if (rows[i].end == QUERY_NONE) {
			assert_string_equal(last, "_start");
			assert_int_equal(rows[i].samples, 6);
			assert_int_equal(rows[i].place, 0x40);
		} else {
			assert_string_equal(last, "asm");
			assert_int_equal(rows[i].samples, 17);
			assert_int_equal(rows[i].place, 0x20);
		}
	}
	free(rows);
	for (size_t i = 0; i < 5; i++)
		profile_stack_put(f->p, cells[i].ustack);
	typist_free(t);
}

/* A process's reason is the one with most samples, wherever they ended. */
static void reasons_are_summed(void **state)
{
	static const struct put puts[] = {{"!pc not covered;one@libhash.so.1", 0x10, 17},
					  {"!pc not covered;two@libhash.so.1", 0x20, 8},
					  {"!stack not readable;work@nginx", 0x30, 20}};
	const struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct typist *t = typist_new();
	struct machine *f = &t->feed;
	struct profile_cell cells[3];
	struct profile_health h;
	struct walk_ends e = {0};

	(void)state;
	machine_health(f, &h, 45, 0, 0);
	for (size_t i = 0; i < 3; i++)
		cells[i] = (struct profile_cell){f->nginx,
						 1,
						 feed_frames(f->p, puts[i].frames, puts[i].place),
						 PROFILE_NO_STACK,
						 puts[i].count,
						 0,
						 0};
	assert_int_equal(profile_commit(f->p, cells, 3, &h), 0);
	assert_int_equal(walk_ends_load(&e, f->p, &q), 0);
	assert_int_equal(e.nprocs, 1);
	assert_int_equal(e.procs[0].walks, 45);
	assert_int_equal(e.procs[0].complete, 0);
	assert_string_equal(e.procs[0].reason->name, "pc not covered");
	walk_ends_free(&e);
	for (size_t i = 0; i < 3; i++)
		profile_stack_put(f->p, cells[i].ustack);
	typist_free(t);
}

/* Guesses are no complete stacks, whatever place they are of. */
static void guesses_have_a_column(void **state)
{
	static const struct put puts[] = {{"!guessed;main@node;[jit]", 0x10, 10},
					  {"!guessed;uv_run@libuv.so.1;[jit]", 0x20, 7},
					  {"!pc not covered;work@nginx", 0x30, 23},
					  {"_start@nginx;guessed@nginx", 0x40, 20}};
	const struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct typist *t = typist_new();
	struct machine *f = &t->feed;
	struct profile_cell cells[4];
	struct profile_health h;
	struct walk_ends e = {0};

	(void)state;
	profile_lock(f->p);
	profile_zero(f->p);
	machine_health(f, &h, 60, 0, 20);
	for (size_t i = 0; i < 4; i++)
		cells[i] = (struct profile_cell){i < 2 ? f->node : f->nginx,
						 1,
						 feed_frames(f->p, puts[i].frames, puts[i].place),
						 PROFILE_NO_STACK,
						 puts[i].count,
						 0,
						 0};
	assert_int_equal(profile_commit(f->p, cells, 4, &h), 0);
	for (size_t i = 0; i < 4; i++)
		profile_stack_put(f->p, cells[i].ustack);
	assert_int_equal(walk_ends_load(&e, f->p, &q), 0);
	profile_unlock(f->p);
	assert_int_equal(e.nprocs, 2);
	for (size_t i = 0; i < 2; i++) {
		const bool node = e.procs[i].proc.pid == 7781;

		assert_int_equal(e.procs[i].guessed, node ? 17 : 0);
		assert_int_equal(e.procs[i].complete, node ? 0 : 20);
	}
	walk_ends_free(&e);
	ui_refresh(t->ui);
	grid_resize(t->g, 30, 100);
	type(t, "7gjj"); /* by BROKEN, 23 and 17 */
	assert_mark_on(t, "4121");
	type(t, ">gjj");
	assert_shows(t, "GUESSED▼");
	assert_mark_on(t, "7781");
	assert_mark_on(t, " 17 guessed ");
	grid_resize(t->g, 24, 80);
	ui_refresh(t->ui);
	assert_hides(t, "GUESSED");
	typist_free(t);
}

/* Of the ten seconds of the window; the sums are those of `ended`. */
static void every_sample_is_somewhere(void **state)
{
	struct typist *t = *state;

	/* 180 walks, 12 of the kernel's own, 3 lost: 195 and 5 that are filtered, a second */
	assert_shows(t, "samples 2,000 taken = 1,920 shown + 30 lost + 50 filtered");
	assert_shows(t, "20 stack map full  10 sampler busy");
	assert_hides(t, "under way");
	assert_shows(t, "ticks 3,790 due = 2,000 taken + 1,700 idle + 0 throttled + 90 missed");
	assert_shows(t, "10 stacks not handed over");
	/* 154 stacks a second have no reason, and 4 of them end at a zero. */
	assert_shows(
		t, "walks 1,800 = 1,500 complete by proof + 40 by frame pointers + 260 incomplete");
	assert_shows(t, "costs 23.0 frames a walk  4140 frames/s  evicted 1, 2.0/s");
	assert_shows(t, "BPF not timed");
}

/* Of 1,800 stacks of the window 40 end at a zero, and 1,500 by proof. */
static void words_tell_what_is_proved(void **state)
{
	struct typist *t = *state;
	struct plain_list list;
	int found = 0;

	assert_int_equal(plain_list_make(&list, t->ui), 0);
	for (size_t i = 0; i < list.count; i++) {
		const struct plain_row *row = &list.rows[i];

		if (strcmp(row->name, "complete by proof, of all stacks") == 0)
			found += row->percent > 83.3 && row->percent < 83.4;
		if (strcmp(row->name, "complete by frame pointers, of all stacks") == 0)
			found += row->percent > 2.2 && row->percent < 2.3;
	}
	assert_int_equal(found, 2);
}

/* What the kernel measures only if it is told to. */
static void run_time_is_told(void **state)
{
	struct typist *t = *state;
	struct profile_health h;

	machine_health(&t->feed, &h, 1000, 0, 1000);
	h.run_ns = 5500000;
	h.runs = 1000;
	h.taken = 1007; /* some stand in the counters before their slice */
	h.idle = 400;
	h.ticks = 1405;
	t->ui->span = SPAN_TOTAL;
	profile_lock(t->feed.p);
	profile_zero(t->feed.p);
	assert_int_equal(profile_commit(t->feed.p, NULL, 0, &h), 0);
	profile_unlock(t->feed.p);
	ui_refresh(t->ui);
	assert_shows(t, "BPF 5.5 us a sample, 0.55%");
	assert_shows(t, "1,007 taken = 1,000 shown + 0 lost + 7 under way");
	assert_shows(t,
		     "1,405 due = 1,007 taken + 400 idle + 0 throttled + 0 missed - 2 of before");
}

static void reasons_are_told_with_what_helps(void **state)
{
	struct typist *t = *state;

	/* The process with most of them is the first below the two sums. */
	type(t, "jj");
	assert_mark_on(t, "7781");
	assert_mark_on(t, "! 20.0%");
	assert_mark_on(t, "160");
	assert_shows(t, " 160    80.0    16.0 ");
	assert_shows(t, "--interpreted-frames-native-stack");
	type(t, "j");
	assert_mark_on(t, "4121");
	assert_shows(t, " 1,500    93.8   150.0 ");
	assert_shows(t, "-fasynchronous-unwind-tables");
	type(t, "\n"); /* to what needs words most */
	assert_mark_on(t, "pc not covered");
	assert_shows(t, "Last frames of those that ended: pc not covered");
	assert_shows(t, "asm_md5");
	assert_shows(t, "0x84c0");
	type(t, "j");
	assert_mark_on(t, "stack not readable");
	assert_shows(t, "what the rule reads is not in memory");
	type(t, "G");
	assert_shows(t, "no frame");
}

static void zoom_is_that_of_the_other_views(void **state)
{
	struct typist *t = *state;

	type(t, "jj\n");
	assert_shows(t, "Zoom: all > 7781 node");
	type(t, "2");
	assert_shows(t, "Zoom: all > 7781 node");
	type(t, "7\b");
	assert_shows(t, "all processes");
	assert_mark_on(t, "7781");
	type(t, "2");
	assert_shows(t, "Zoom: all processes");
	/* Zoomed there, it is so here. */
	type(t, "1g\n7");
	assert_shows(t, "Zoom: all > 4121 nginx");
	assert_shows(t, "pc not covered");
	type(t, "2\b7");
	assert_hides(t, "Zoom:");
	type(t, "\b");
	assert_shows(t, "[1 Procs]");
}

static void cursors_stay(void **state)
{
	struct typist *t = *state;

	type(t, "jjj");
	assert_mark_on(t, "nginx: worker");
	assert_shows(t, "BROKEN▼");
	type(t, "<");
	assert_shows(t, "COMPLETE▲"); /* the least complete first */
	type(t, ">>>");
	assert_mark_on(t, "nginx: worker");
	assert_shows(t, "MOSTLY▲");
	type(t, "I");
	assert_mark_on(t, "nginx: worker");
	assert_shows(t, "MOSTLY▼");
	type(t, "\ngj");
	assert_mark_on(t, "pc not covered");
	slices(t, 5, 100);
	assert_mark_on(t, "pc not covered");
	type(t, "I");
	assert_mark_on(t, "pc not covered");
	type(t, "\nj");
	assert_mark_on(t, "asm_");
	/* A frozen view is that of this moment. */
	type(t, "\b\bz");
	assert_shows(t, "FROZEN");
	slices(t, 12, 1000);
	assert_shows(t, "walks 2,300");
	type(t, "z");
	assert_shows(t, "walks 11,800");
}

static void search_finds(void **state)
{
	struct typist *t = *state;

	type(t, "/server.js\n");
	assert_mark_on(t, "7781");
	type(t, "/nginx\n\n/readable\n");
	assert_mark_on(t, "stack not readable");
	type(t, "/covered\n\n/sha\n");
	assert_mark_on(t, "asm_sha");
	type(t, "/nowhere\n");
	assert_shows(t, "not found: nowhere");
	ui_key(t->ui, KEYCODE_F0 + 6);
	assert_shows(t, "LAST FRAME by name");
}

/* A reason without words, or with those of another one, would be of no use. */
static void every_cause_has_words(void **state)
{
	(void)state;
	for (unsigned int i = 1; i < WALK_REASON_COUNT; i++) {
		assert_true(reasons_end(i)->meaning[0]);
		assert_ptr_equal(reasons_find(reasons_end(i)->name), reasons_end(i));
	}
	assert_string_equal(reasons_end(WALK_BOTTOM)->name, "reached bottom");
	assert_string_equal(reasons_end(WALK_REASON_COUNT)->name, "?");
	assert_string_equal(reasons_find("\x1b[2J")->name, "?");
	for (int i = 0; i < LOSS_COUNT; i++)
		assert_true(reasons_loss((enum loss)i)->name[0] &&
			    reasons_loss((enum loss)i)->remedy[0]);
}

static void hostile_names_are_harmless(void **state)
{
	struct typist *t = *state;
	struct profile_cell cell = {t->feed.nginx, 1, 0, PROFILE_NO_STACK, 100000, 0, 0};
	struct profile_health h;

	profile_lock(t->feed.p);
	cell.ustack = feed_frames(t->feed.p, "!\x1b[2J\xc2\x9b;\x07\x1b]0;x@\x1bm", 1);
	machine_health(&t->feed, &h, 100000, 0, 0);
	assert_int_equal(profile_commit(t->feed.p, &cell, 1, &h), 0);
	profile_stack_put(t->feed.p, cell.ustack);
	profile_unlock(t->feed.p);
	ui_refresh(t->ui);
	for (int depth = 0; depth < 3; depth++) {
		assert_null(strchr(screen(t), 0x1b));
		assert_null(strchr(t->text, 0x07));
		assert_null(strstr(t->text, "\xc2\x9b"));
		type(t, "\n");
	}
}

#define UNWIND_TEST(name) cmocka_unit_test_setup_teardown(name, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNWIND_TEST(screens_are_as_expected),
		UNWIND_TEST(no_size_breaks),
		cmocka_unit_test(says_when_there_is_nothing_yet),
		cmocka_unit_test(ends_are_put_together),
		cmocka_unit_test(reasons_are_summed),
		cmocka_unit_test(guesses_have_a_column),
		UNWIND_TEST(every_sample_is_somewhere),
		UNWIND_TEST(words_tell_what_is_proved),
		UNWIND_TEST(run_time_is_told),
		UNWIND_TEST(reasons_are_told_with_what_helps),
		UNWIND_TEST(zoom_is_that_of_the_other_views),
		UNWIND_TEST(cursors_stay),
		UNWIND_TEST(search_finds),
		cmocka_unit_test(every_cause_has_words),
		UNWIND_TEST(hostile_names_are_harmless),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
