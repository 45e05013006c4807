// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The screen of a captured walk, made up: whole screens, keys, and the words of comparisons. That
 * real walks are shown truly is for tests/live/test_inspect.c.
 * Covers: tui/views/inspector.c tui/views/inspector_words.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "bpf/report/trace.h"
#include "tests/support/feed_inspection.h"
#include "tests/support/typist.h"
#include "tui/app/dispatch.h"
#include "tui/profile/annotation.h"
#include "tui/profile/board.h"
#include "tui/views/inspector.h"
#include "tui/ui/view.h"

static void give(struct typist *t, struct inspection *i)
{
	profile_lock(t->feed.p);
	board_set_inspection(profile_board(t->feed.p), i);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

static int setup(void **state)
{
	*state = typist_after(3);
	return 0;
}

static void screens_are_as_expected(void **state)
{
	struct typist *t = *state;

	type(t, "i");
	give(t, feed_inspection(4121));
	type(t, "j");
	for (int ascii = 0; ascii < 2; ascii++) {
		t->ui->ascii = ascii;
		for (size_t i = 0; typist_resize(t, i); i++)
			compare(t, "inspector");
	}
	t->ui->ascii = false;
	grid_resize(t->g, 30, 100);
	type(t, "G");
	compare(t, "inspector-end");
}

static void no_size_breaks(void **state)
{
	struct typist *t = *state;

	type(t, "i");
	assert_no_size_breaks(t);
	give(t, feed_inspection(4121));
	for (int i = 0; i < 4; i++) {
		assert_no_size_breaks(t);
		type(t, "j");
	}
}

static void asks_for_the_process_and_the_reason(void **state)
{
	struct typist *t = *state;

	type(t, "zi");
	assert_int_equal(nposted, 0);
	assert_shows(t, "z resumes first");
	type(t, "zi");
	assert_int_equal(posted, SOURCE_INSPECT);
	assert_string_equal(posted_arg, "4121 0");
	assert_shows(t, "[7 Unwind]");
	assert_shows(t, "Waiting for a walk of process 4121.");
	t->ui->now += 4 * MACHINE_SECOND;
	assert_shows(t, "There is none yet: it is caught at its next sample.");
	/* Of another process: it was asked for before. */
	give(t, feed_inspection(4000));
	assert_shows(t, "Waiting for a walk of process 4121.");
	give(t, feed_inspection(4121));
	assert_shows(t, "ngx_http_parse_header_line+0x92");
	type(t, "i");
	assert_int_equal(nposted, 2);
	type(t, "\b");
	assert_shows(t, "all processes");
	type(t, "i");
	assert_shows(t, "the walk of which process?");
	type(t, "/server\n\ni");
	assert_int_equal(nposted, 3);
	assert_string_equal(posted_arg, "7781 5"); /* WALK_NO_TABLE */
	assert_shows(t, "that ends: no table for pc");
}

/* `i` asks for no walk of a process that has exited, since none can come. */
static void exited_processes_are_not_caught(void **state)
{
	struct typist *t = *state;

	typist_exits(t);
	type(t, "i");
	assert_int_equal(nposted, 0);
	assert_shows(t, "4121 has exited: no walk of it will come");
	assert_shows(t, "[1 Procs]");
}

static void one_that_exits_meanwhile_is_not_waited_for(void **state)
{
	struct typist *t = *state;

	type(t, "i");
	assert_int_equal(nposted, 1);
	assert_true(ui_waits(t->ui));
	t->ui->now += 4 * MACHINE_SECOND;
	typist_exits(t);
	assert_shows(t, "Process 4121 has exited: no walk of it will come.");
	assert_hides(t, "There is none yet: it is caught at its next sample.");
	assert_false(ui_waits(t->ui));
	assert_no_size_breaks(t);
	type(t, "\b");
	assert_hides(t, "no walk of it will come");
}

static void a_recording_has_what_was_captured(void **state)
{
	const struct profile_replay replay = {.paused = true, .speed = 1};
	struct typist *t = *state;

	profile_lock(t->feed.p);
	profile_set_replay(t->feed.p, &replay);
	profile_unlock(t->feed.p);
	ui_refresh(t->ui);
	type(t, "i");
	assert_shows(t, "no walk had been captured by then");
	assert_hides(t, "Waiting for a walk");
	/* Of another process than that under the cursor. */
	give(t, feed_inspection(5310));
	type(t, "1i");
	assert_shows(t, "pid 5310 nginx");
	assert_shows(t, "ngx_http_parse_header_line");
	assert_int_equal(nposted, 0);
}

static void asks_for_what_is_zoomed_into(void **state)
{
	struct typist *t = *state;

	type(t, "4i6i");
	assert_int_equal(nposted, 0);
	assert_shows(t, "the walk of which process?");
	type(t, "1j\n3i");
	assert_int_equal(nposted, 1);
	assert_string_equal(posted_arg, "5310 0");
	assert_shows(t, "Waiting for a walk of process 5310.");
}

static void steps_are_gone_through(void **state)
{
	struct typist *t = *state;

	type(t, "i");
	give(t, feed_inspection(4121));
	assert_mark_on(t, "  0 55d0c0a22232");
	assert_shows(t, "Who called frame 0?");
	assert_shows(t, "which was executing");
	assert_shows(t, "CFA = rsp + 32");
	assert_shows(t, "7ffd1c3a9e00 + 0x20 = 7ffd1c3a9e20");
	assert_shows(t, "[7ffd1c3a9e18] = 55d0c0a2b31c");
	assert_shows(t, "ngx_http_process_request_line+0x13c");
	type(t, "\n");
	assert_shows(t, "Who called frame 1?");
	assert_shows(t, "pc-1 is looked up");
	assert_shows(t, "before the granule to 55d0c0a2b340");
	assert_shows(t, "nginx, 0x6b31b of that file");
	type(t, "G");
	assert_shows(t, "RA is undefined");
	assert_shows(t, "end     reached bottom");
	type(t, "/request_line\n");
	assert_shows(t, "Who called frame 1?");
	/* A new one is not shown before it was asked for; the cursor stays till then. */
	ui_refresh(t->ui);
	assert_shows(t, "Who called frame 1?");
	give(t, feed_inspection(4121));
	assert_shows(t, "Who called frame 0?");
	assert_shows(t, "These steps give the very frames that the program gave.");
}

/* What is too long for a row goes on in the next one, or loses what matters least. */
static void texts_are_not_cut(void **state)
{
	struct typist *t = *state;
	struct inspection *i = feed_inspection(4121);
	enum action other;

	snprintf(i->frames[0].module, sizeof(i->frames[0].module), "%s",
		 "_json.cpython-311-x86_64-linux-gnu.so");
	snprintf(i->frames[1].name, sizeof(i->frames[1].name), "%s",
		 "std::vector<std::pair<int, std::string>>::_M_realloc_insert");
	type(t, "i");
	give(t, i);
	assert_shows(t, "_json.cpython-311-x86_64-linux-gnu.so,");
	assert_shows(t, " of that file");
	assert_shows(t, "std::vector<std::pair<in…+0x13c│");
	assert_shows(t, "Enter its caller  a code  x raw CFI  i another walk  Esc back");
	grid_resize(t->g, 24, 80);
	assert_shows(t, "0x55d0c1f0a2c0: it points to no stack).");
	assert_shows(t, "Enter its caller  a code  x raw CFI  i another walk  Esc back");
	grid_resize(t->g, 15, 60);
	assert_shows(t, "reached bottom");
	assert_shows(t, "Enter its caller  a code ──");
	/* A long reason leaves room for whose walk it is. */
	i->trace->capture.reason = WALK_NO_TABLE;
	grid_resize(t->g, 15, 36);
	assert_shows(t, " pid 4121 nginx  no table for pc\n");
	grid_resize(t->g, 15, 30);
	assert_shows(t, " pid 4121  no table for pc\n");
	grid_resize(t->g, 15, 60);
	/* Keys are those of the person. */
	assert_int_equal(keymap_bind(&t->ui->config.keys, 'e', ACTION_ANNOTATE, true, &other), 0);
	assert_int_equal(keymap_bind(&t->ui->config.keys, KEYCODE_ENTER, ACTION_NONE, true, &other),
			 0);
	assert_shows(t, "─ e code  x raw CFI ──");
}

/* Keys a and x ask for the function that the frame under the cursor is in. */
static void code_and_cfi_are_asked_for(void **state)
{
	struct annotation_wish wish;
	struct typist *t = *state;
	struct inspection *i = feed_inspection(4121);
	uint64_t frames[2] = {i->trace->steps[0].frame, i->trace->steps[1].frame};

	type(t, "ix");
	assert_false(board_annotation_wish(profile_board(t->feed.p), &wish));
	give(t, i);
	for (int n = 0; n < 2; n++) {
		type(t, n ? "ja" : "x");
		assert_true(board_annotation_wish(profile_board(t->feed.p), &wish));
		assert_int_equal(wish.frame, frames[n]);
		assert_int_equal(wish.pid, 4121);
		assert_string_equal(wish.module, "nginx");
		assert_shows(t, wish.name);
		type(t, "\b");
		assert_shows(t, n ? "Who called frame 1?" : "Who called frame 0?");
	}
	i->frames[1].vaddr = 0;
	type(t, "a");
	assert_shows(t, "in no file");
	snprintf(i->frames[1].module, sizeof(i->frames[1].module), "[jit]");
	type(t, "a");
	assert_true(board_annotation_wish(profile_board(t->feed.p), &wish));
	assert_int_equal(wish.kind, FUNC_JIT);
}

/* Chains by frame pointers, and what must be said of them. */
static void frame_pointers_are_compared(void **state)
{
	static const struct {
		uint32_t frames[4], count; /* of the steps, by frame pointers; 9: none of them */
		uint32_t first;
		const char *says;
		uint32_t steps; /* of a walk that is not complete; 0: it is */
	} cases[] = {
		{{0}, 1, 1, "keeps no frame pointer, so rbp is a number like any other", 0},
		{{0, 2, 3},
		 3,
		 1,
		 "would go from frame 0 to frame 2 and never show ngx_http_proc",
		 0},
		{{0, 1, 2, 3}, 4, 4, "would have shown all 4 frames", 0},
		{{0, 1, 2}, 3, 3, "the caller of main has left another number in rbp", 0},
		{{0, 9}, 2, 1, "which is not on the call path", 0},
		{{0, 1}, 2, 2, "show what is above and end there, too", 2},
		{{0, 1, 3}, 3, 2, "and then 1 more, which nothing", 2},
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct inspection *i = feed_inspection(1);
		struct trace *trace = i->trace;
		uint32_t first;
		char text[512];

		trace->fp_frames = realloc(trace->fp_frames, 4 * sizeof(*trace->fp_frames));
		trace->nfp = cases[c].count;
		for (uint32_t n = 0; n < cases[c].count; n++)
			trace->fp_frames[n] = cases[c].frames[n] < 4
						      ? trace->steps[cases[c].frames[n]].pc
						      : 0xdeadbeef;
		if (cases[c].steps) {
			trace->nsteps = cases[c].steps;
			trace->capture.reason = WALK_NOT_COVERED;
		}
		inspection_compare(i, &first, text, sizeof(text));
		assert_int_equal(first, cases[c].first);
		if (!strstr(text, cases[c].says))
			fail_msg("not '%s' but: %s", cases[c].says, text);
		inspection_put(i);
	}
}

/* Where the kernel was asked for something, not interrupted, its caller's address is the next one.
 */
static void a_system_call_is_told(void **state)
{
	struct inspection *i = feed_inspection(1);
	char lines[INSPECTOR_LINES][INSPECTOR_WIDTH];

	(void)state;
	assert_true(inspector_words(i, 0, lines) > 1);
	assert_non_null(strstr(lines[0], "which was executing"));
	i->trace->steps[0].exact = false;
	assert_true(inspector_words(i, 0, lines) > 1);
	assert_non_null(strstr(lines[0], "behind a system call"));
	assert_true(inspector_words(i, 1, lines) > 1);
	assert_non_null(strstr(lines[0], "a return address"));
	inspection_put(i);
}

/* What clone returns to is two frames in one place: the parent's and the child's. */
static void a_clone_is_told(void **state)
{
	struct inspection *i = feed_inspection(1);
	char lines[INSPECTOR_LINES][INSPECTOR_WIDTH];
	struct trace_step *s = &i->trace->steps[0];

	(void)state;
	s->rule = RULE(ROW_WIDE, 0);
	s->wide = true;
	for (int cloned = 0; cloned < 2; cloned++) {
		int n, told = 0;

		s->wide_rule = (struct wide_rule){
			.cfa_reg = DWARF_RSP,
			.cfa_off = 8,
			.ra_kind = WIDE_AT_CFA,
			.ra_off = -8,
			.fp_kind = WIDE_SAME,
			.flags = cloned ? WIDE_CLONED : 0,
		};
		n = inspector_words(i, 0, lines);
		for (int line = 0; line < n; line++)
			told += strstr(lines[line], "rax = 0: a child") != NULL;
		assert_int_equal(told, cloned);
	}
	inspection_put(i);
}

static void a_derived_row_is_told(void **state)
{
	struct inspection *i = feed_inspection(1);
	char lines[INSPECTOR_LINES][INSPECTOR_WIDTH];
	struct trace_step *s = &i->trace->steps[0];

	(void)state;
	for (int derived = 0; derived < 2; derived++) {
		int n, told = 0, frame = 0;

		s->has_row = true;
		s->rule = RULE_FRAME(ROW_SP, 16, 0) | (derived ? RULE_DERIVED : 0);
		n = inspector_words(i, 0, lines);
		for (int line = 0; line < n; line++) {
			told += strstr(lines[line], "derived from the machine code") != NULL;
			frame += strstr(lines[line], "CFA = rsp + 16") != NULL;
		}
		assert_int_equal(told, derived);
		assert_int_equal(frame, 1);
	}
	inspection_put(i);
}

#define INSPECTOR_TEST(name) cmocka_unit_test_setup_teardown(name, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		INSPECTOR_TEST(screens_are_as_expected),
		INSPECTOR_TEST(no_size_breaks),
		INSPECTOR_TEST(asks_for_the_process_and_the_reason),
		INSPECTOR_TEST(exited_processes_are_not_caught),
		INSPECTOR_TEST(one_that_exits_meanwhile_is_not_waited_for),
		INSPECTOR_TEST(a_recording_has_what_was_captured),
		INSPECTOR_TEST(asks_for_what_is_zoomed_into),
		INSPECTOR_TEST(steps_are_gone_through),
		INSPECTOR_TEST(texts_are_not_cut),
		INSPECTOR_TEST(code_and_cfi_are_asked_for),
		cmocka_unit_test(frame_pointers_are_compared),
		cmocka_unit_test(a_system_call_is_told),
		cmocka_unit_test(a_clone_is_told),
		cmocka_unit_test(a_derived_row_is_told),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
