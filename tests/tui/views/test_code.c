// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the screen of a function's code opens, and in which syntax it is written: a made-up
 * function of 400 instructions, which no screen shows as a whole.
 * Covers: tui/views/annotate.c tui/views/annotate_draw.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/code/listing.h"
#include "tests/support/feed_annotation.h"
#include "tests/support/typist.h"
#include "tui/app/dispatch.h"
#include "tui/profile/annotation.h"
#include "tui/profile/board.h"
#include "tui/ui/plain_list.h"
#include "tui/views/annotate.h"

#define INSNS 400u

static struct listing *long_listing(void)
{
	struct listing *l = calloc(1, sizeof(*l));
	size_t at = 0;

	l->refs = 1;
	l->start = 0x1000;
	l->end = 0x1000 + 4 * INSNS;
	l->ninsns = INSNS;
	l->insns = calloc(INSNS, sizeof(*l->insns));
	l->strings = calloc(INSNS, 40);
	for (uint32_t i = 0; i < INSNS; i++) {
		l->insns[i] = (struct listing_insn){.addr = 0x1000 + 4 * i,
						    .size = 4,
						    .text = (uint32_t)at,
						    .att = LISTING_NONE,
						    .name = LISTING_NONE,
						    .to = LISTING_NONE,
						    .line = LISTING_NONE};
		at += (size_t)sprintf(l->strings + at, "insn %u", i) + 1;
		if (i % 2)
			continue;
		l->insns[i].att = (uint32_t)at;
		at += (size_t)sprintf(l->strings + at, "att %u", i) + 1;
	}
	return l;
}

/* Samples at two instructions. */
static struct annotation *samples(struct listing *l, uint32_t a, uint64_t na, uint32_t b,
				  uint64_t nb)
{
	struct annotation *made = annotation_new(l);

	made->serial = 1;
	made->state = ANNOTATION_READY;
	made->window[a].self = made->all[a].self = na;
	made->window[b].self += nb;
	made->all[b].self += nb;
	made->window_sum.self = made->window_sum.total = na + nb;
	made->all_sum = made->window_sum;
	return made;
}

static uint64_t wish_image(struct typist *t)
{
	struct annotation_wish wish = {0};

	type(t, "a");
	board_annotation_wish(profile_board(t->feed.p), &wish);
	type(t, "\b");
	return wish.image;
}

static void give(struct typist *t, struct annotation *a)
{
	profile_lock(t->feed.p);
	board_set_annotation(profile_board(t->feed.p), a);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

static int setup(void **state)
{
	*state = typist_after(3);
	return 0;
}

/* Rows of code above the mark, and below it. */
static void around_mark(struct typist *t, int *above, int *below)
{
	const char *line = screen(t);
	bool marked = false;

	*above = *below = 0;
	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *end = strchr(line, '\n'), *code = strstr(line, "insn ");

		if (*line == '>') {
			marked = true;
			continue;
		}
		if (!code || (end && code > end))
			continue;
		*(marked ? below : above) += 1;
	}
	assert_true(marked);
}

static void assert_middle(struct typist *t)
{
	int above, below;

	around_mark(t, &above, &below);
	assert_in_range(above - below + 1, 0, 2);
	assert_true(above >= 3);
}

/* Also after another size, until the user moves. */
static void the_hottest_is_in_the_middle(void **state)
{
	struct typist *t = *state;
	struct listing *l = long_listing();
	int above, below;

	for (size_t i = 0; typist_resize(t, i); i++) {
		struct annotation *a = samples(l, 200, 60, 7, 40);

		a->serial = i + 1;
		type(t, "2a");
		give(t, a);
		assert_mark_on(t, "insn 200");
		assert_middle(t);
		grid_resize(t->g, 24, 80);
		assert_middle(t);
		typist_resize(t, i);
		assert_middle(t);
		type(t, "kkk");
		assert_mark_on(t, "insn 197");
		around_mark(t, &above, &below);
		assert_true(below > above);
		type(t, "\b");
	}
	listing_put(l);
}

static void ends_have_no_empty_rows(void **state)
{
	struct typist *t = *state;
	struct listing *l = long_listing();
	int above, below;

	type(t, "2a");
	give(t, samples(l, INSNS - 1, 60, 7, 40));
	assert_mark_on(t, "insn 399");
	around_mark(t, &above, &below);
	assert_int_equal(below, 0);
	assert_true(above > 10);
	listing_put(l);
}

/* The first samples are few; the row is chosen again until there are enough, or a key chose one. */
static void samples_that_come_later_count(void **state)
{
	struct typist *t = *state;
	struct listing *l = long_listing();

	type(t, "2a");
	give(t, samples(l, 0, 0, 0, 0));
	assert_mark_on(t, "insn 0");
	give(t, samples(l, 150, 2, 0, 0));
	assert_mark_on(t, "insn 150");
	assert_middle(t);
	give(t, samples(l, 150, 2, 250, 20));
	assert_mark_on(t, "insn 250");
	assert_middle(t);
	give(t, samples(l, 150, 90, 250, 20));
	assert_mark_on(t, "insn 250");
	listing_put(l);
}

static void a_row_that_was_chosen_stays(void **state)
{
	struct typist *t = *state;
	struct listing *l = long_listing();

	type(t, "2a");
	give(t, samples(l, 0, 0, 0, 0));
	type(t, "jj");
	give(t, samples(l, 150, 30, 0, 0));
	assert_mark_on(t, "insn 2");
	type(t, "/insn 77\n");
	give(t, samples(l, 150, 60, 0, 0));
	assert_mark_on(t, "insn 77");
	listing_put(l);
}

static void the_syntax_changes_on_its_row(void **state)
{
	struct typist *t = *state;
	struct plain_list lines = {0};

	for (size_t i = 0; typist_resize(t, i); i++) {
		struct annotation *a = feed_annotation(i + 1);

		type(t, "2a");
		give(t, a);
		assert_mark_on(t, "movzx eax, byte ptr [rdi]");
		type(t, "s");
		assert_mark_on(t, "movzbl (%rdi), %eax");
		assert_shows(t, "AT&T syntax");
		assert_shows(t, "je 0x621c8");
		assert_hides(t, "byte ptr");
		type(t, "/%rbx\n"); /* what is shown is searched */
		assert_mark_on(t, "%rbx");
		assert_int_equal(plain_list_make(&lines, t->ui), 0);
		assert_non_null(strstr(lines.rows[0].name, "movzbl (%rdi), %eax"));
		type(t, "s");
		assert_shows(t, "Intel syntax");
		assert_mark_on(t, "rbx");
		assert_hides(t, "%rbx,");
		type(t, "\b");
	}
}

static void the_syntax_is_a_setting(void **state)
{
	struct typist *t = *state;

	type(t, "2a");
	give(t, feed_annotation(1));
	type(t, ":syntax att\n");
	assert_mark_on(t, "movzbl (%rdi), %eax");
	type(t, ":set syntax intel\n");
	assert_mark_on(t, "movzx eax, byte ptr [rdi]");
	type(t, ":syntax\n"); /* as the key */
	assert_mark_on(t, "movzbl (%rdi), %eax");
	type(t, ":syntax masm\n");
	assert_shows(t, "syntax: 'masm' is not intel or att");
	type(t, ":set syntax \t");
	assert_shows(t, "intel att");
	type(t, "\n\b1");
	type(t, ":syntax\n");
	assert_shows(t, "syntax has no meaning in this view");
}

static const struct profile_func kernel_func = {
	.name = "read_zero", .module = "vmlinux", .kind = FUNC_KERNEL};
static const struct profile_func made_func = {
	.name = "JS:*render", .module = "[jit]", .kind = FUNC_JIT};

/* Addresses of the kernel leave room for the code, also on a narrow screen. */
static void the_kernel_is_asked_for(void **state)
{
	struct typist *t = *state;
	struct annotation_wish wish;

	for (size_t i = 0; typist_resize(t, i); i++) {
		struct listing *l = long_listing();

		for (uint32_t k = 0; k < INSNS; k++)
			l->insns[k].addr += 0xffffffff81000000;
		l->start += 0xffffffff81000000;
		l->end += 0xffffffff81000000;
		annotate_open(t->ui, &kernel_func, 0, 0);
		assert_true(board_annotation_wish(profile_board(t->feed.p), &wish));
		assert_int_equal(wish.kind, FUNC_KERNEL);
		struct annotation *a = samples(l, 200, 60, 7, 40);

		a->serial = wish.serial;
		give(t, a);
		assert_mark_on(t, "insn 200");
		assert_mark_on(t, screen_sizes[i][1] < 72 ? " 81001320 " : " ffffffff81001320 ");
		type(t, "x");
		assert_shows(t, "It is in no file, so it has no FDE.");
		type(t, "\b");
		listing_put(l);
	}
}

/* What is shown may not be there any more. */
static void made_code_that_is_gone_says_so(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		struct annotation *a = feed_annotation(i + 1);

		annotate_open(t->ui, &made_func, 0, 0);
		give(t, a);
		assert_hides(t, "other code");
		a = feed_annotation(i + 1);
		a->replaced = true;
		give(t, a);
		assert_shows(t, "other code is there now; 657 samples");
		a = feed_annotation(i + 1);
		a->exited = true;
		give(t, a);
		assert_shows(t, "its process has exited; 657 samples");
		type(t, "\b");
	}
	type(t, "1");
	grid_resize(t->g, 24, 80);
	annotate_open(t->ui, &made_func, 4121, wish_image(t));
	give(t, feed_annotation(t->ui->annotations));
	assert_hides(t, "its process has exited");
	typist_exits(t);
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_shows(t, "its process has exited; 657 samples");
	assert_mark_on(t, "movzx eax");
}

/* Whole, however narrow the screen is. */
static void a_long_remedy_is_told_whole(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		struct annotation *a = annotation_new(NULL);

		a->serial = i + 1;
		a->state = ANNOTATION_FAILED;
		strcpy(a->trouble, "the kernel has no /proc/kcore (CONFIG_PROC_KCORE), and lets no "
				   "BPF program read its code (Linux 5.14, without "
				   "lockdown=confidentiality)");
		annotate_open(t->ui, &kernel_func, 0, 0);
		give(t, a);
		assert_shows(t, "the kernel has no /proc/kcore");
		assert_shows(t, "BPF program");
		assert_shows(t, "lockdown=confidentiality)");
		assert_no_size_breaks(t);
		type(t, "\b");
	}
}

#define CODE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CODE_TEST(the_hottest_is_in_the_middle),  CODE_TEST(ends_have_no_empty_rows),
		CODE_TEST(samples_that_come_later_count), CODE_TEST(a_row_that_was_chosen_stays),
		CODE_TEST(the_syntax_changes_on_its_row), CODE_TEST(the_syntax_is_a_setting),
		CODE_TEST(the_kernel_is_asked_for),	  CODE_TEST(made_code_that_is_gone_says_so),
		CODE_TEST(a_long_remedy_is_told_whole),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
