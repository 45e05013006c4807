// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The screen of a function's machine code, made up: whole screens, keys, jumps, and what is said
 * where there is nothing to show. That samples are where they belong is for
 * tests/live/test_annotate.py.
 * Covers: tui/views/annotate.c tui/views/annotate_draw.c tui/views/annotate_priv.h
 * Covers: tui/profile/annotation.c
 * Covers: tui/views/coderows.c tui/collect/stack_ring.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "tests/support/feed_annotation.h"
#include "tests/support/typist.h"
#include "tui/app/dispatch.h"
#include "tui/profile/board.h"
#include "tui/views/annotate.h"
#include "tui/views/annotate_priv.h"
#include "tui/collect/stack_ring.h"
#include "tui/screen/mouse.h"
#include "tui/ui/plain_list.h"

static void give(struct typist *t, struct annotation *a)
{
	profile_lock(t->feed.p);
	board_set_annotation(profile_board(t->feed.p), a);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

static struct annotation_wish wish_of(struct typist *t)
{
	struct annotation_wish wish = {0};

	board_annotation_wish(profile_board(t->feed.p), &wish);
	return wish;
}

static int setup(void **state)
{
	*state = typist_after(3);
	return 0;
}

static void screens_are_as_expected(void **state)
{
	struct typist *t = *state;

	type(t, "2a");
	give(t, feed_annotation(1));
	for (int ascii = 0; ascii < 2; ascii++) {
		t->ui->ascii = ascii;
		for (size_t i = 0; typist_resize(t, i); i++) {
			compare(t, "annotate");
			type(t, "x");
			compare(t, "annotate-cfi");
			type(t, "x");
		}
	}
}

static int times(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* Without sources the long path is there once, and each line's number. */
static void a_path_is_told_once(void **state)
{
	static const char path[] = "/build/nginx/src/http/ngx_http_parse.c";
	struct typist *t = *state;
	struct annotation *a = feed_annotation(1);

	for (uint32_t i = 0; i < a->listing->nlines; i++)
		a->listing->lines[i].text = LISTING_NONE;
	type(t, "2a");
	give(t, a);
	assert_int_equal(times(screen(t), path), 1);
	assert_true(times(t->text, " ngx_http_parse.c:9") > 5);
	/* Behind one that has text it is told again. */
	a->listing->lines[1].text = a->listing->insns[0].text;
	assert_int_equal(times(screen(t), path), 2);
}

static void no_size_breaks(void **state)
{
	struct typist *t = *state;

	type(t, "a");
	assert_no_size_breaks(t);
	give(t, feed_annotation(1));
	assert_no_size_breaks(t);
	type(t, "llG");
	assert_no_size_breaks(t);
	type(t, "x");
	assert_no_size_breaks(t);
}

static void the_function_under_the_cursor_is_asked_for(void **state)
{
	struct typist *t = *state;
	struct annotation_wish wish;

	assert_int_equal(wish_of(t).serial, 0);
	type(t, "a"); /* Procs: of the process */
	wish = wish_of(t);
	assert_int_equal(wish.serial, 1);
	assert_string_equal(wish.name, "ngx_parse_header");
	assert_string_equal(wish.module, "nginx");
	assert_int_equal(wish.pid, 4121);
	assert_false(wish.all);
	assert_shows(t, "Looks for samples");
	type(t, "\b");
	assert_int_equal(wish_of(t).serial, 0);
	assert_hides(t, "Looks for samples");
	type(t, "2a"); /* Funcs: of all processes */
	assert_true(wish_of(t).all);
	assert_int_equal(wish_of(t).serial, 2);
	type(t, "1"); /* another view closes it */
	assert_int_equal(wish_of(t).serial, 0);
	assert_shows(t, "[1 Procs]");
	type(t, "\n3/parse_header\na");
	assert_string_equal(wish_of(t).name, "ngx_parse_header");
	assert_int_equal(wish_of(t).pid, 4121);
	type(t, "4a");
	assert_int_equal(wish_of(t).serial, 4);
	type(t, "5/parse_header\na");
	assert_string_equal(wish_of(t).name, "ngx_parse_header");
	assert_int_equal(wish_of(t).serial, 5);
}

/* Enter opens what there is in a function, as it opens a process and a frame elsewhere. */
static void a_function_is_opened(void **state)
{
	struct typist *t = *state;
	struct mouse mouse = {MOUSE_CLICK, 0, 20, true};

	type(t, "2j\n");
	assert_string_equal(wish_of(t).name, "ExecInterpExpr");
	type(t, "\b");
	assert_shows(t, "[2 Funcs]");
	assert_int_equal(wish_of(t).serial, 0);
	for (const char *c = t->text; c < strstr(t->text, " memmove"); c++)
		mouse.row += *c == '\n';
	ui_mouse(t->ui, t->g, &mouse);
	assert_string_equal(wish_of(t).name, "memmove");
	type(t, "\b\\no such\n\n");
	assert_shows(t, "there is no function under the cursor");
}

/* Not as if it ended there. */
static void a_reason_that_is_cut_says_so(void **state)
{
	struct typist *t = *state;
	struct annotation *a = feed_annotation(1);

	a->listing->lines_missing = "the debug information has no line of this function";
	type(t, "2a");
	give(t, a);
	assert_shows(t, "; no lines: the debug information has no line");
	assert_hides(t, "of this function");
	assert_shows(t, "\u2026\n");
}

static void what_has_no_code_is_told(void **state)
{
	static const struct profile_func none[] = {
		{.name = "[kernel]", .module = "vmlinux", .kind = FUNC_KERNEL},
		{.name = "[unloaded nf_tables]", .module = "nf_tables", .kind = FUNC_KERNEL},
		{.name = "[rewritten code]", .module = "[jit]", .kind = FUNC_JIT},
		{.name = "read fault", .module = "", .kind = FUNC_END},
	};
	static const char *const says[] = {"set kernel.kptr_restrict", "its module was unloaded",
					   "it was replaced while", "why walks ended"};
	static const struct profile_func user = {.name = "f", .module = "m"};
	struct typist *t = *state;
	struct annotation *a;

	for (size_t i = 0; i < 4; i++) {
		annotate_open(t->ui, &none[i], 1, 1);
		assert_null(t->ui->overlay.ops);
		assert_shows(t, says[i]);
	}
	t->ui->header.replayed = true;
	annotate_open(t->ui, &user, 1, 1);
	assert_null(t->ui->overlay.ops);
	assert_shows(t, "a session holds functions");
	t->ui->header.replayed = false;
	annotate_open(t->ui, &user, 1, 1);
	assert_true(ui_waits(t->ui));
	a = annotation_new(NULL);
	a->serial = 1;
	a->state = ANNOTATION_FAILED;
	strcpy(a->trouble, "the file is gone");
	give(t, a);
	assert_false(ui_waits(t->ui));
	assert_shows(t, "the file is gone");
	/* Keys that need code do no harm. */
	type(t, "ajG\nnhl");
	assert_shows(t, "the file is gone");
}

static void keys_lead_about(void **state)
{
	struct typist *t = *state;
	struct annotation *a;

	type(t, "2a");
	give(t, feed_annotation(1));
	/* It begins at the hottest, and shares are of the function's 657 samples. */
	assert_mark_on(t, "movzx eax");
	assert_mark_on(t, "58.8");
	assert_shows(t, "657 samples, 635 at its own code");
	assert_shows(t, "call 0x22010  <memcmp@plt>");
	type(t, "aa");
	assert_mark_on(t, "cmp al");
	type(t, "a");
	assert_mark_on(t, "add rdi");
	type(t, "kk");
	type(t, "a"); /* from the start again */
	assert_mark_on(t, "movzx eax");
	for (int i = 0; i < 9; i++) /* and round: nine have samples */
		type(t, "a");
	assert_mark_on(t, "movzx eax");
	type(t, "/jmp\n");
	assert_mark_on(t, "jmp 0x621a8");
	type(t, "\n");
	assert_mark_on(t, "test rsi");
	type(t, "\n");
	assert_shows(t, "no jump within");
	type(t, "/line 922\n");
	assert_mark_on(t, "line 922 of the source");
	type(t, "/memcmp\n");
	assert_mark_on(t, "<memcmp@plt>");
	type(t, "m");
	assert_shows(t, "1314 samples, 1270 at its own code, of 34 s");
	/* News keep the cursor where it is. */
	give(t, feed_annotation(1));
	assert_mark_on(t, "<memcmp@plt>");
	/* Of another wish: it was asked for before. */
	give(t, feed_annotation(9));
	assert_mark_on(t, "<memcmp@plt>");
	type(t, "0");
	assert_int_equal(wish_of(t).serial, 2);
	assert_int_equal(wish_of(t).after, t->ui->now);
	/* Until it is read again there are no rows for keys to go to. */
	a = annotation_new(NULL);
	a->serial = 2;
	give(t, a);
	assert_shows(t, "There is none yet");
	type(t, "/line\nnNaG\nxjx");
	assert_shows(t, "There is none yet");
	give(t, feed_annotation(2));
	assert_mark_on(t, "movzx eax");
	type(t, "\b");
	assert_hides(t, "memcmp@plt");
}

/* The view stops waiting when the process exits, since no sample of it can come. */
static void one_that_exits_is_not_waited_for(void **state)
{
	struct typist *t = *state;
	struct annotation *looks = annotation_new(NULL);
	struct plain_list lines = {0};

	type(t, "a");
	looks->serial = 1;
	give(t, looks);
	assert_shows(t, "There is none yet");
	assert_true(ui_waits(t->ui));
	typist_exits(t);
	assert_shows(t, "Process 4121 has ended");
	assert_shows(t, "no sample of it will come any more. Esc goes back.");
	assert_hides(t, "There is none yet");
	assert_false(ui_waits(t->ui));
	assert_int_equal(plain_list_make(&lines, t->ui), 0); /* without a screen */
	assert_string_equal(lines.empty, "Its process has ended: no sample of it will come.");
	assert_no_size_breaks(t);
	give(t, feed_annotation(1)); /* what was there before its end */
	assert_hides(t, "has ended");
	assert_mark_on(t, "movzx eax");
}

/* What is in force at the instruction under the cursor. */
static void raw_cfi_is_shown(void **state)
{
	struct typist *t = *state;
	struct annotation *a;

	type(t, "2ax");
	assert_shows(t, "Looks for samples");
	give(t, feed_annotation(1));
	assert_shows(t, "At 0x621b0 all up to => is in force.");
	assert_mark_on(t, "=>   DW_CFA_offset: r3 (rbx) at cfa-16");
	type(t, "k");
	assert_mark_on(t, "DW_CFA_def_cfa_offset: 16");
	type(t, "/offset: 8\n");
	assert_mark_on(t, "DW_CFA_def_cfa_offset: 8");
	type(t, "xg");
	assert_mark_on(t, "line 912");
	type(t, "x");
	assert_mark_on(t, "=> FDE pc=00000000000621a0");
	a = feed_annotation(1);
	cfitext_put(a->cfi);
	a->cfi = NULL;
	give(t, a);
	assert_shows(t, "no FDE for it");
	type(t, "jG\nna");
	assert_shows(t, "no FDE for it");
	/* Without a disassembler there is still the CFI. */
	a = annotation_new(NULL);
	a->serial = 1;
	a->state = ANNOTATION_FAILED;
	a->cfi = feed_cfi();
	a->at = FEED_START + 44;
	give(t, a);
	assert_shows(t, "At 0x621cc all up to");
}

/* An address that a walk was caught at, sampled or not. */
static void the_cursor_is_where_a_frame_is(void **state)
{
	static const struct profile_func func = {.name = "f", .module = "m"};
	struct typist *t = *state;
	struct annotation *a = feed_annotation(1);

	annotate_frame(t->ui, &func, 7, 8, 0x1234, false);
	assert_int_equal(wish_of(t).frame, 0x1234);
	assert_int_equal(wish_of(t).pid, 7);
	assert_int_equal(wish_of(t).image, 8);
	a->at = FEED_START + 9 * 4 + 3;
	give(t, a);
	assert_mark_on(t, "jmp 0x621a8");
}

/* Where no sample was at an instruction, the call below which most were is the hottest. */
static void calls_are_hot_where_nothing_else_is(void **state)
{
	struct typist *t = *state;
	struct annotation *a = feed_annotation(1);

	for (uint32_t i = 0; i < FEED_INSNS; i++)
		a->window[i].self = 0;
	type(t, "2a");
	give(t, a);
	assert_mark_on(t, "<memcmp@plt>");
	type(t, "ga");
	assert_mark_on(t, "<memcmp@plt>");
	assert_hides(t, "no sample was at");
}

static void a_frozen_screen_stands_still(void **state)
{
	struct typist *t = *state;
	struct annotation *a = feed_annotation(1);

	type(t, "2az");
	give(t, feed_annotation(1));
	a->window_sum.total = 12345;
	give(t, a);
	assert_hides(t, "12345");
	type(t, "z");
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_shows(t, "12345");
	type(t, "1z2a");
	assert_shows(t, "a frozen view has no addresses");
}

/* Every jump is one unbroken line: up or down from its source to its head. */
static void jumps_are_whole(void **state)
{
	struct listing *l = feed_listing();
	struct coderows rows = {0};
	unsigned int drawn = 0;

	(void)state;
	assert_int_equal(coderows_make(&rows, l), 0);
	for (uint32_t i = 0; i < l->ninsns; i++) {
		uint32_t to = l->insns[i].to, from = rows.of_insn[i], at;
		int step;

		if (to == LISTING_NONE)
			continue;
		to = rows.of_insn[to];
		step = to > from ? 1 : -1;
		for (int lane = 0; lane < CODEROWS_LANES; lane++) {
			uint8_t bit = (uint8_t)(1u << lane);

			if (!(rows.row[from].source & bit))
				continue;
			assert_true((step > 0 ? rows.row[from].down : rows.row[from].up) & bit);
			for (at = from + (uint32_t)step; at != to; at += (uint32_t)step)
				assert_true(rows.row[at].pass & bit);
			assert_true((step > 0 ? rows.row[to].up : rows.row[to].down) & bit);
			assert_true(rows.row[to].head & bit);
			drawn++;
		}
	}
	assert_int_equal(drawn, 3);
	coderows_free(&rows);
	listing_put(l);
}

static void the_oldest_hits_go_first(void **state)
{
	struct stack_ring *h = stack_ring_new();

	(void)state;
	assert_int_equal(stack_ring_count(h), 0);
	stack_ring_forget(h, UINT64_MAX);
	for (uint64_t i = 0; i < STACK_RING_MAX + 100; i++) {
		struct stack_hit hit = {.time = i, .hash = 3 * i, .count = 1};

		stack_ring_add(h, &hit);
	}
	assert_int_equal(stack_ring_count(h), STACK_RING_MAX);
	for (size_t i = 0; i < STACK_RING_MAX; i++) {
		assert_int_equal(stack_ring_at(h, i)->time, i + 100);
		assert_int_equal(stack_ring_at(h, i)->hash, 3 * (i + 100));
	}
	stack_ring_forget(h, 5000);
	assert_int_equal(stack_ring_at(h, 0)->time, 5000);
	assert_int_equal(stack_ring_count(h), STACK_RING_MAX - 4900);
	stack_ring_free(h);
}

#define ANNOTATE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ANNOTATE_TEST(screens_are_as_expected),
		ANNOTATE_TEST(a_path_is_told_once),
		ANNOTATE_TEST(no_size_breaks),
		ANNOTATE_TEST(the_function_under_the_cursor_is_asked_for),
		ANNOTATE_TEST(a_function_is_opened),
		ANNOTATE_TEST(a_reason_that_is_cut_says_so),
		ANNOTATE_TEST(what_has_no_code_is_told),
		ANNOTATE_TEST(keys_lead_about),
		ANNOTATE_TEST(one_that_exits_is_not_waited_for),
		ANNOTATE_TEST(raw_cfi_is_shown),
		ANNOTATE_TEST(the_cursor_is_where_a_frame_is),
		ANNOTATE_TEST(calls_are_hot_where_nothing_else_is),
		ANNOTATE_TEST(a_frozen_screen_stands_still),
		cmocka_unit_test(jumps_are_whole),
		cmocka_unit_test(the_oldest_hits_go_first),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
