// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Themes: the shipped ones can be read by people, hostile ones do no harm.
 * Covers: tui/screen/theme.c tui/screen/theme_embedded.c
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tests/support/warnings.h"
#include "tui/screen/theme.h"

#define MAGIC "# stacktop theme 1\n"

static int parse(struct theme **t, const char *text)
{
	warnings_begin();
	return theme_parse(t, text, strlen(text), keep_warning, NULL);
}

/* Relative luminance and contrast as WCAG 2.1 defines them. */
static double channel(uint32_t value)
{
	double c = (double)value / 255;

	return c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(uint32_t rgb)
{
	return 0.2126 * channel(rgb >> 16 & 255) + 0.7152 * channel(rgb >> 8 & 255) +
	       0.0722 * channel(rgb & 255);
}

static double contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a), y = luminance(b);

	return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

/* The palette as xterm(1) has it by default, from 16 on. */
static uint32_t xterm(int index)
{
	static const int cube[] = {0, 0x5f, 0x87, 0xaf, 0xd7, 0xff};
	int grey = 8 + 10 * (index - 232);

	assert_true(index >= 16);
	if (index >= 232)
		return (uint32_t)(grey << 16 | grey << 8 | grey);
	index -= 16;
	return (uint32_t)(cube[index / 36] << 16 | cube[index / 6 % 6] << 8 | cube[index % 6]);
}

static void check_contrast(const char *name, uint32_t text, uint32_t ground)
{
	struct theme *t;

	assert_int_equal(theme_load(&t, name, NULL, keep_warning, NULL), 0);
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct style *s = theme_style(t, VIEW_FRAME, (enum role)role);
		double full = contrast(s->fg.terminal ? text : s->fg.rgb,
				       s->bg.terminal ? ground : s->bg.rgb);
		double indexed = contrast(s->fg.terminal ? text : xterm(s->fg.c256),
					  s->bg.terminal ? ground : xterm(s->bg.c256));

		if (full < 4.5 || indexed < 4.5)
			fail_msg("%s: %s has contrast %.2f, %.2f of 256 colours", name,
				 theme_role_name((enum role)role), full, indexed);
	}
	theme_free(t);
}

static void shipped_themes_have_contrast(void **state)
{
	(void)state;
	check_contrast("default", 0xe5e5e5, 0x000000);
	check_contrast("high-contrast", 0xe5e5e5, 0x000000);
	check_contrast("light", 0x000000, 0xffffff);
	check_contrast("mono", 0xe5e5e5, 0x000000);
	check_contrast("deuteranopia", 0xe5e5e5, 0x000000);
	/* These bring their own ground, so the terminal's does not matter. */
	check_contrast("nord", 0x777777, 0x777777);
	check_contrast("solarized", 0x777777, 0x777777);
}

static bool same_look(const struct style *a, const struct style *b, bool ground, int colors)
{
	const struct color *x = ground ? &a->bg : &a->fg, *y = ground ? &b->bg : &b->fg;

	if (x->terminal || y->terminal)
		return x->terminal == y->terminal && a->attributes == b->attributes;
	return colors == 16    ? x->c16 == y->c16
	       : colors == 256 ? x->c256 == y->c256
			       : x->rgb == y->rgb;
}

/* In the list by its text, in Flame by the ground of the box, with any number of colours. */
static void languages_look_different(void **state)
{
	static const enum role marks[] = {ROLE_USER, ROLE_KERNEL, ROLE_BROKEN};
	static const enum role boxes[] = {ROLE_FLAME_1, ROLE_FLAME_2, ROLE_FLAME_3, ROLE_FLAME_4,
					  ROLE_CURSOR};
	static const int colors[] = {16, 256, 1 << 24};

	(void)state;
	for (const char *const *name = theme_embedded(); *name; name++) {
		struct theme *t;
		const struct style *mark, *box;

		assert_int_equal(theme_load(&t, *name, NULL, keep_warning, NULL), 0);
		mark = theme_style(t, VIEW_FUNCS, ROLE_LANGUAGE);
		box = theme_style(t, VIEW_FLAME, ROLE_LANGUAGE);
		for (size_t c = 0; c < 3; c++) {
			for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
				if (same_look(mark, theme_style(t, VIEW_FUNCS, marks[i]), false,
					      colors[c]))
					fail_msg("%s: language looks like %s", *name,
						 theme_role_name(marks[i]));
			for (size_t i = 0; i < sizeof(boxes) / sizeof(*boxes); i++)
				if (same_look(box, theme_style(t, VIEW_FLAME, boxes[i]), true,
					      colors[c]))
					fail_msg("%s: a box of a language looks like %s", *name,
						 theme_role_name(boxes[i]));
		}
		if (!box->bg.terminal && (contrast(box->fg.rgb, box->bg.rgb) < 4.5 ||
					  contrast(xterm(box->fg.c256), xterm(box->bg.c256)) < 4.5))
			fail_msg("%s: the box of a language has too little contrast", *name);
		/* What is mono is so everywhere, and a box has a ground of its own where any has.
		 */
		assert_int_equal(box->bg.terminal,
				 theme_style(t, VIEW_FLAME, ROLE_FLAME_1)->bg.terminal);
		theme_free(t);
	}
	assert_true(theme_plain(ROLE_LANGUAGE) != theme_plain(ROLE_USER));
	assert_true(theme_plain(ROLE_LANGUAGE) != theme_plain(ROLE_KERNEL));
}

static void shipped_themes_have_no_faults(void **state)
{
	size_t n = 0;

	(void)state;
	for (const char *const *name = theme_embedded(); *name; name++, n++) {
		struct theme *t;

		warnings[0] = '\0';
		nwarnings = 0;
		assert_int_equal(theme_load(&t, *name, NULL, keep_warning, NULL), 0);
		assert_string_equal(warnings, "");
		theme_free(t);
	}
	assert_int_equal(n, 7);
}

static void lines_mean_what_they_say(void **state)
{
	struct theme *t;
	const struct style *s;

	(void)state;
	assert_int_equal(parse(&t, MAGIC "[palette]\nfrost = #88c0d0 110 cyan # a comment\n"
					 "[roles]\ncursor = black frost bold\n"
					 "heat.5 = #ff5f5f default bold underline\n"
					 "tree/cursor = - - underline\n"),
			 0);
	assert_string_equal(warnings, "");
	s = theme_style(t, VIEW_PROCS, ROLE_CURSOR);
	assert_int_equal(s->bg.rgb, 0x88c0d0);
	assert_int_equal(s->bg.c256, 110);
	assert_int_equal(s->bg.c16, 6);
	assert_int_equal(s->fg.c16, 0);
	assert_int_equal(s->attributes, ATTR_BOLD);
	s = theme_style(t, VIEW_TREE, ROLE_CURSOR);
	assert_int_equal(s->bg.rgb, 0x88c0d0);
	assert_int_equal(s->attributes, ATTR_UNDERLINE);
	s = theme_style(t, VIEW_FRAME, ROLE_HEAT_5);
	assert_int_equal(s->fg.rgb, 0xff5f5f);
	assert_int_equal(s->fg.c256, 203); /* #ff5f5f is colour 203 of the cube */
	assert_true(s->bg.terminal);
	assert_int_equal(s->attributes, ATTR_BOLD | ATTR_UNDERLINE);
	theme_free(t);
}

static void base_is_inherited(void **state)
{
	struct theme *t, *base;

	(void)state;
	assert_int_equal(theme_load(&base, "default", NULL, NULL, NULL), 0);
	assert_int_equal(parse(&t, MAGIC "base = default\n[roles]\ntitle = red default\n"), 0);
	assert_int_equal(theme_style(t, VIEW_FRAME, ROLE_TITLE)->fg.c16, 1);
	assert_int_equal(theme_style(t, VIEW_FRAME, ROLE_CURSOR)->bg.rgb,
			 theme_style(base, VIEW_FRAME, ROLE_CURSOR)->bg.rgb);
	theme_free(t);
	theme_free(base);
}

static void unknown_things_are_named_with_their_line(void **state)
{
	struct theme *t;

	(void)state;
	assert_int_equal(parse(&t,
			       MAGIC "[roles]\n\ncursr = red blue\ntitle = red blue\n"
				     "nowhere/title = red\nwarn = mauve\nerror = red red fat\n"),
			 0);
	assert_non_null(strstr(warnings, "line 4: unknown role 'cursr'"));
	assert_non_null(strstr(warnings, "line 6: unknown view in 'nowhere/title'"));
	assert_non_null(strstr(warnings, "line 7: unknown colour 'mauve'"));
	assert_non_null(strstr(warnings, "line 8: unknown attribute 'fat'"));
	assert_int_equal(nwarnings, 4);
	assert_int_equal(theme_style(t, VIEW_FRAME, ROLE_TITLE)->fg.c16, 1);
	theme_free(t);
}

static void hostile_files_are_bounded(void **state)
{
	char *big = malloc(200000);
	struct theme *t;

	(void)state;
	assert_int_equal(parse(&t, "GIF89a"), -EINVAL);
	assert_int_equal(parse(&t, ""), -EINVAL);
	assert_int_equal(parse(&t, "# stacktop theme 12\n"), -EINVAL);
	memset(big, 'a', 200000);
	memcpy(big, MAGIC, strlen(MAGIC));
	assert_int_equal(theme_parse(&t, big, 200000, keep_warning, NULL), -EFBIG);
	assert_int_equal(theme_parse(&t, big, 60000, keep_warning, NULL), 0);
	theme_free(t);
	/* 1,000 colours, and a warning for each that did not fit. */
	strcpy(big, MAGIC "[palette]\n");
	for (int i = 0; i < 1000; i++)
		sprintf(big + strlen(big), "c%d = #000000\n", i);
	assert_int_equal(parse(&t, big), 0);
	assert_true(nwarnings > 0 && nwarnings < 20);
	theme_free(t);
	assert_int_equal(parse(&t, MAGIC "\x1b[2J = \x1b]0;x\x07\n[roles]\n\x1b[31m = red\n"), 0);
	assert_null(strchr(warnings, 0x1b));
	assert_null(strchr(warnings, 0x07));
	theme_free(t);
	free(big);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void files_of_the_user_come_first(void **state)
{
	char dir[SCRATCH], path[96], many[2048];
	const char *dirs[] = {dir, NULL};
	struct theme *t;

	(void)state;
	scratch_folder(dir, "theme");
	snprintf(path, sizeof(path), "%s/default.theme", dir);
	write_file(path, MAGIC "[roles]\ntitle = magenta default\n");
	assert_int_equal(theme_load(&t, "default", dirs, keep_warning, NULL), 0);
	assert_int_equal(theme_style(t, VIEW_FRAME, ROLE_TITLE)->fg.c16, 5);
	theme_free(t);
	/* A theme that is its own base ends. */
	write_file(path, MAGIC "base = default\n[roles]\ntitle = magenta default\n");
	assert_int_equal(theme_load(&t, "default", dirs, keep_warning, NULL), 0);
	theme_free(t);
	unlink(path);
	/* So does one that is its own base many times: 24 lines once took three seconds. */
	strcpy(many, MAGIC);
	for (int i = 0; i < 100; i++)
		strcat(many, "base = default\n");
	write_file(path, many);
	nwarnings = 0;
	warnings[0] = '\0';
	assert_int_equal(theme_load(&t, "default", dirs, keep_warning, NULL), 0);
	assert_non_null(strstr(warnings, "line 3: a theme has one base"));
	theme_free(t);
	unlink(path);
	/* A pipe is no theme, and opening it does not wait for a writer. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(theme_load(&t, "default", dirs, keep_warning, NULL), -EINVAL);
	unlink(path);
	assert_int_equal(theme_load(&t, "../../etc/passwd", dirs, keep_warning, NULL), -ENOENT);
	assert_int_equal(theme_load(&t, "", dirs, keep_warning, NULL), -ENOENT);
	assert_int_equal(theme_load(&t, "nosuch", dirs, keep_warning, NULL), -ENOENT);
	rmdir(dir);
}

/* What is embedded is what lies in themes/. */
static void embedded_is_the_file(void **state)
{
	(void)state;
	for (const char *const *name = theme_embedded(); *name; name++) {
		char path[64], file[8192];
		size_t length, n;
		const char *text = theme_embedded_text(*name, &length);
		FILE *f;

		snprintf(path, sizeof(path), "themes/%s.theme", *name);
		f = fopen(path, "r");
		if (!f)
			skip_since("themes/ is not here");
		n = fread(file, 1, sizeof(file), f);
		fclose(f);
		assert_int_equal(n, length);
		assert_memory_equal(file, text, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shipped_themes_have_contrast),
		cmocka_unit_test(languages_look_different),
		cmocka_unit_test(shipped_themes_have_no_faults),
		cmocka_unit_test(lines_mean_what_they_say),
		cmocka_unit_test(base_is_inherited),
		cmocka_unit_test(unknown_things_are_named_with_their_line),
		cmocka_unit_test(hostile_files_are_bounded),
		cmocka_unit_test(files_of_the_user_come_first),
		cmocka_unit_test(embedded_is_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
