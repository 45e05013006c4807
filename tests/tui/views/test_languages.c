// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interpreted languages on the screen: the stacks of tests/support/languages.h in the three modes,
 * their marks, names and files; Funcs summed by file; a filter by language.
 * Covers: tui/views/view_funcs.c tui/views/tree_draw.c tui/views/treerun.c tui/views/view_flame.c
 * Covers: tui/views/butterfly_draw.c tui/views/procline.c tui/views/annotate.c
 * Covers: tui/ui/names.c tui/ui/filter.c tui/ui/chips.c tui/ui/plain_list.c
 * Covers: tui/ui/header_timeline.c tui/app/user_files.c
 * Covers: tui/ui/framedetails.c tui/app/actions.c tui/app/cmdline.c tui/profile/language.c
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/feed.h"
#include "tests/support/languages.h"
#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/app/user_files.h"
#include "tui/export/folded.h"
#include "tui/ui/names.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/selection.h"

static void second(struct typist *t, const struct profile_cell *cells, size_t n)
{
	struct machine *f = &t->feed;
	struct profile_health h;
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += cells[i].count;
	f->time += MACHINE_SECOND;
	machine_health(f, &h, sum, 0, sum);
	assert_int_equal(profile_commit(f->p, cells, n, &h), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
}

/* Ten times as many samples as there are: 150, of which 20 are in the kernel. */
static int setup(void **state)
{
	struct typist *t = typist_new();
	struct profile_cell cells[LANGUAGES_CELLS];

	languages_cells(t->feed.p, cells);
	for (int i = 0; i < LANGUAGES_CELLS; i++)
		cells[i].count *= 10;
	second(t, cells, LANGUAGES_CELLS);
	languages_put(t->feed.p, cells);
	grid_resize(t->g, 24, 80);
	*state = t;
	return 0;
}

static void check_views(struct typist *t, const char *mode)
{
	static const struct {
		const char *keys, *name;
	} views[] = {
		{"1", "procs"}, {"2", "funcs"}, {"3E", "tree"}, {"4E", "callers"}, {"5", "flame"}};
	char name[64];

	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		type(t, views[i].keys);
		snprintf(name, sizeof(name), "languages-%s-%s", views[i].name, mode);
		compare(t, name);
		assert_no_size_breaks(t);
		grid_resize(t->g, 24, 80);
	}
}

static void modes_are_as_expected(void **state)
{
	struct typist *t = *state;

	type(t, "1"); /* the cursor is on Python */
	check_views(t, "merged");
	type(t, "2Y");
	assert_shows(t, "all frames are shown");
	check_views(t, "all");
	type(t, "2Y");
	check_views(t, "language");
	type(t, "2Y");
	assert_shows(t, "interpreters give way");
	assert_hides(t, "[frames");
}

/* The key, the command and the setting choose the same, and the chip says so. */
static void modes_are_chosen(void **state)
{
	struct typist *t = *state;

	type(t, "2");
	assert_hides(t, "_PyEval_EvalFrameDefault");
	assert_shows(t, "sha256_update");
	type(t, ":frames all\n");
	assert_shows(t, "[frames all]");
	assert_shows(t, "- u   _PyEval_EvalFrameDefau");
	assert_shows(t, "- py  Thing.method");
	type(t, ":set frames language\n");
	assert_shows(t, "[frames language]");
	assert_hides(t, "sha256_update");
	assert_hides(t, "vectorcall");
	assert_shows(t, "helper"); /* of a stack without any language */
	type(t, "6");
	assert_shows(t, "(frames language)");
	type(t, "2r");
	assert_hides(t, "frames language");
	assert_shows(t, "sha256_update");
	type(t, ":frames nonsense\n");
	assert_shows(t, "is not merged, all or language");
	assert_int_equal(t->ui->frames, FRAMES_MERGED);
	type(t, ":frames \t");
	assert_shows(t, "merged all language");
}

static void frozen_views_change_as_well(void **state)
{
	struct typist *t = *state;

	type(t, "2z");
	assert_shows(t, "FROZEN");
	type(t, "YY");
	assert_hides(t, "sha256_update");
	assert_shows(t, "Thing.method");
	type(t, "Y");
	assert_shows(t, "sha256_update");
}

/* The timeline is that of the paths that the filter keeps in this mode. */
static void the_timeline_counts_again(void **state)
{
	struct typist *t = *state;

	type(t, "3\\func:eval_frame\n");
	assert_shows(t, "the filter keeps none");
	assert_hides(t, "█ now");
	type(t, "Y");
	assert_shows(t, "█ now");
	type(t, "Y");
	assert_shows(t, "the filter keeps none");
	assert_hides(t, "█ now");
}

/* What w writes has the frames of the screen. */
static void files_have_the_mode(void **state)
{
	struct typist *t = *state;
	struct profile *copy;
	struct folded folded;
	struct query q;

	type(t, "2YY");
	assert_int_equal(user_files_copy(t->ui, &copy, &q), 0);
	assert_int_equal(q.frames, FRAMES_LANGUAGE);
	profile_lock(copy);
	assert_int_equal(folded_read(&folded, copy, &q), 0);
	profile_unlock(copy);
	assert_int_equal(folded.lines[0].count, 50);
	assert_int_equal(folded.lines[0].length,
			 strlen("python3;<module>_[py];main_[py];Thing.method_[py]"));
	folded_free(&folded);
	profile_free(copy);
}

static void each_language_has_a_mark(void **state)
{
	static const struct {
		const char *frame, *row;
	} languages[] = {
		{"php:Kernel::handle@/www/src/Kernel.php", "php Kernel::handle"},
		{"pl:main::work@/opt/w.pl", "pl  main::work"},
		{"rb:Foo::Bar#baz@/srv/foo.rb", "rb  Foo::Bar#baz"},
		{"js:Server.listen@/srv/s.js", "js  Server.listen"},
		{"java:com.foo.Bar.baz@/src/Bar.java", "java com.foo.Bar.baz"},
	};
	struct typist *t = *state;
	struct profile *p = t->feed.p;
	struct profile_cell cell = {.proc = feed_proc(p, 900, 1, "mix", false),
				    .tid = 900,
				    .kstack = PROFILE_NO_STACK,
				    .count = 1000};

	type(t, "2");
	/* The column is as wide as its longest mark. */
	assert_shows(t, "k/u FUNCTION");
	for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++) {
		const char *at = strchr(languages[i].frame, '@');

		cell.ustack = feed_frames(p, languages[i].frame, 0);
		cell.count *= 2;
		second(t, &cell, 1);
		profile_stack_put(p, cell.ustack);
		assert_shows(t, languages[i].row);
		grid_resize(t->g, 24, 120);
		assert_shows(t, strrchr(at, '/') + 1);
		grid_resize(t->g, 24, 80);
	}
	assert_shows(t, "k/u  FUNCTION");
	assert_shows(t, "java com.foo.Bar.baz");
	assert_shows(t, "php  Kernel::handle");
	assert_shows(t, "u    sha256_update");
	/* The row below has the whole path. */
	type(t, "g");
	assert_shows(t, "com.foo.Bar.baz  self");
	assert_shows(t, "/src/Bar.java");
	type(t, "f");
	assert_shows(t, "k/u  CALLERS AND CALLEES");
	type(t, "\x1b"
		"a");
	assert_shows(t, "\u2500 java com.foo.Bar.baz  /src/Bar.java");
}

/* A run of frames has a mark if all of them have that. */
static void runs_have_the_mark_of_all(void **state)
{
	static const struct {
		const char *frames, *row;
	} runs[] = {
		{"py:aa@/a.py;py:bb@/b.py;py:cc@/c.py", " py aa › bb › cc"},
		{"aa@x;py:bb@/b.py;py:cc@/c.py", "─── aa › bb › cc"},
		{"py:aa@/a.py;bb@x;py:cc@/c.py", "─── aa › bb › cc"},
		{"py:aa@/a.py;js:bb@x;py:cc@/c.py", "─── aa › bb › cc"},
		{"inline:aa@x;inline:bb@x;inline:cc@x", "─── aa › bb › cc"},
	};

	typist_free(*state);
	*state = NULL;
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct typist *t = typist_new();
		struct profile *p = t->feed.p;
		struct profile_cell cell = {feed_proc(p, 900, 1, "mix", false),
					    900,
					    feed_frames(p, runs[i].frames, 0),
					    PROFILE_NO_STACK,
					    100,
					    0,
					    0};

		second(t, &cell, 1);
		profile_stack_put(p, cell.ustack);
		type(t, "3");
		assert_shows(t, runs[i].row);
		typist_free(t);
	}
	*state = typist_new();
}

/* Where it does not fit, the name of a language keeps its end, in the butterfly, too. */
static void names_keep_their_end(void **state)
{
	struct typist *t = *state;
	struct profile *p = t->feed.p;
	struct profile_cell cell = {
		feed_proc(p, 900, 1, "mix", false),
		900,
		feed_frames(p,
			    "py:a_module_function.<locals>.and_another_one_in_it.<locals>."
			    "what_matters@/a.py",
			    0),
		PROFILE_NO_STACK,
		5000,
		0,
		0};

	second(t, &cell, 1);
	profile_stack_put(p, cell.ustack);
	grid_resize(t->g, 24, 80);
	type(t, "2");
	assert_mark_on(t, "….<locals>.what_matters");
	type(t, "3");
	assert_shows(t, "….<locals>.what_matters");
	type(t, "2f");
	assert_shows(t, "….<locals>.what_matters");
}

static void names_say_what_they_are(void **state)
{
	struct profile_func func = {.name = "f", .module = "/a/b.py", .kind = FUNC_PYTHON};
	char text[128];

	(void)state;
	assert_string_equal(names_module(&func), "b.py");
	assert_int_equal(names_mark_role(&func), ROLE_LANGUAGE);
	plain_func(&func, text, sizeof(text));
	assert_string_equal(text, "f, Python, in /a/b.py");
	func.module = "<string>";
	assert_string_equal(names_module(&func), "<string>");
	func.module = "/a/";
	assert_string_equal(names_module(&func), "/a/");
	func.kind = FUNC_EVAL;
	func.module = "/a/b.so";
	assert_string_equal(names_module(&func), "/a/b.so");
	assert_string_equal(names_mark(&func), "u");
	assert_int_equal(names_mark_role(&func), ROLE_USER);
	assert_int_equal(names_role(&func, ROLE_TEXT), ROLE_DIM);
	plain_func(&func, text, sizeof(text));
	assert_string_equal(text, "f, interpreter, in /a/b.so");
}

static void funcs_sum_by_file(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 24, 100);
	type(t, "2c");
	compare(t, "languages-files");
	assert_shows(t, "[by file]");
	assert_shows(t, "SOURCE FILE, OBJECT");
	type(t, "3");
	assert_shows(t, "(by file)");
	type(t, "2/t.py\n");
	assert_mark_on(t, "/app/t.py");
	type(t, "f");
	assert_shows(t, "Enter shows those of the file");
	type(t, "a");
	assert_shows(t, "Enter shows those of the file");
	/* Its functions, and back to the files, with the cursor where it was. */
	type(t, "\n");
	assert_shows(t, "[module /app/t.py]");
	assert_shows(t, "(by file)");
	assert_shows(t, "- py  main ");
	assert_shows(t, "py  Thing.method");
	assert_hides(t, "python3.11");
	type(t, "\x1b");
	assert_mark_on(t, "/app/t.py");
	assert_shows(t, "[by file]");
	type(t, ":sum function\n");
	assert_hides(t, "[by file]");
	assert_shows(t, "py  Thing.method");
	type(t, "1:sum file\n");
	assert_shows(t, "[by file]");
	assert_shows(t, "_hashlib.cpython-311.so");
	type(t, "r");
	assert_hides(t, "[by file]");
	type(t, ":sum nothing\n");
	assert_shows(t, "sum by what?");
}

static void filters_know_languages(void **state)
{
	struct typist *t = *state;

	type(t, "2\\lang:py\n");
	assert_shows(t, "Thing.method");
	assert_shows(t, "<module>");
	assert_hides(t, "sha256_update");
	assert_hides(t, "helper");
	type(t, "3E");
	assert_shows(t, "Thing.method"); /* paths with such a frame, native ones on them as well */
	assert_shows(t, "sha256_update");
	assert_hides(t, "helper");
	selection_filter(t->ui, "!lang:py"); /* to type, ! is Del */
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_shows(t, "helper");
	assert_hides(t, "Thing.method");
	type(t, "2:filter lang:native\n");
	assert_shows(t, "sha256_update");
	assert_hides(t, "py  ");
	type(t, ":filter lang:js\n");
	assert_shows(t, "the filter keeps none");
	type(t, ":filter lang:python\n");
	assert_shows(t, "languages are py, php, pl, rb, js, java, and native");
	assert_shows(t, "[filter lang:js]");
}

static void lists_say_the_mode(void **state)
{
	struct typist *t = *state;
	struct plain_list *list = calloc(1, sizeof(*list));

	type(t, "2Y");
	assert_int_equal(plain_list_make(list, t->ui), 0);
	assert_non_null(strstr(list->title, ", interpreters as well,"));
	assert_string_equal(list->rows[0].name, "sha256_update, in _hashlib.cpython-311.so");
	type(t, "Yc");
	assert_int_equal(plain_list_make(list, t->ui), 0);
	assert_non_null(strstr(list->title, "Source files and objects of"));
	assert_non_null(strstr(list->title, ", only frames of languages,"));
	assert_string_equal(list->rows[0].name, "/app/t.py, Python");
	free(list);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(modes_are_as_expected),	   CASE(modes_are_chosen),
		CASE(frozen_views_change_as_well), CASE(each_language_has_a_mark),
		CASE(the_timeline_counts_again),   CASE(files_have_the_mode),
		CASE(names_say_what_they_are),	   CASE(runs_have_the_mark_of_all),
		CASE(names_keep_their_end),	   CASE(funcs_sum_by_file),
		CASE(filters_know_languages),	   CASE(lists_say_the_mode),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
