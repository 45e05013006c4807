// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames of interpreted languages in the three modes, in every answer: the stacks are those of
 * tests/support/languages.h, and what is wanted is written out by hand. And sums by module.
 * Covers: tui/query/query.c tui/query/query_funcs.c tui/query/query_tree.c
 * Covers: tui/query/query_butterfly.c tui/query/query_threads.c tui/query/sample_filter.c
 * Covers: tui/profile/profile_names.c tui/profile/profile_sites.c tui/export/folded.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/languages.h"
#include "tests/support/trees.h"
#include "tui/export/folded.h"
#include "tui/profile/frozen_sum.h"
#include "tui/query/query.h"

static struct query in_mode(enum frames_mode frames)
{
	return (struct query){.span = SPAN_WINDOW, .proc = QUERY_ALL, .frames = frames};
}

static int setup(void **state)
{
	struct profile *p = profile_new(10, 1000);

	languages_feed(p);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	profile_free(*state);
	return 0;
}

static const char *name_of(const struct profile *p, uint32_t func)
{
	return func == QUERY_NONE ? "-" : query_func(p, func)->name;
}

/* --- trees ----------------------------------------------------------------------------------- */

/* "(5 2 sha256_update ...)": total, self, name, children, the one with most samples first. */
static size_t write_node(const struct profile *p, const struct tree *t, uint32_t node, char *to,
			 size_t size)
{
	const struct tree_node *n = &t->nodes[node];
	size_t at = (size_t)snprintf(to, size, "(%d %d %s", (int)n->total, (int)n->self,
				     node ? name_of(p, n->func) : "*");

	for (uint32_t child = n->first_child; child; child = t->nodes[child].next)
		at += write_node(p, t, child, to + at, size - at);
	return at + (size_t)snprintf(to + at, size - at, ")");
}

static void check_tree(const struct profile *p, struct query q, bool callers, const char *want)
{
	struct tree tree;
	char text[4096];

	assert_int_equal(callers ? query_callers(p, &q, &tree) : query_tree(p, &q, &tree), 0);
	write_node(p, &tree, 0, text, sizeof(text));
	assert_string_equal(text, want);
	free(tree.nodes);
}

static void trees_have_the_frames_of_the_mode(void **state)
{
	const struct profile *p = *state;
	struct query q = in_mode(FRAMES_MERGED);

	q.proc = query_pid(p, LANGUAGES_PYTHON);
	check_tree(p, q, false,
		   "(11 0 *(10 0 _start(10 0 main(10 0 Py_RunMain(10 0 <module>(10 3 main"
		   "(7 0 _PyObject_MakeTpCall(7 0 vectorcall(7 0 Thing.method(7 5 sha256_update"
		   "(2 2 sys_getrandom))))))))))(1 0 no table for pc(1 1 main)))");
	q.frames = FRAMES_ALL;
	check_tree(p, q, false,
		   "(11 0 *(10 0 _start(10 0 main(10 0 Py_RunMain(10 0 _PyEval_EvalFrameDefault"
		   "(10 0 <module>(10 3 main(7 0 _PyObject_MakeTpCall(7 0 vectorcall"
		   "(7 0 _PyEval_EvalFrameDefault(7 0 eval_frame(7 0 Thing.method"
		   "(7 5 sha256_update(2 2 sys_getrandom)))))))))))))"
		   "(1 0 no table for pc(1 0 _PyEval_EvalFrameDefault(1 1 main))))");
	q.frames = FRAMES_LANGUAGE;
	check_tree(p, q, false,
		   "(11 0 *(10 0 <module>(10 3 main(7 5 Thing.method(2 2 sys_getrandom))))"
		   "(1 0 no table for pc(1 1 main)))");
	q.hide_kernel = true;
	check_tree(p, q, false,
		   "(11 0 *(10 0 <module>(10 3 main(7 7 Thing.method)))"
		   "(1 0 no table for pc(1 1 main)))");
	/* A stack without a frame of a language stays as it is, its interpreter too. */
	q.proc = query_pid(p, LANGUAGES_NATIVE);
	for (int mode = 0; mode < FRAMES_MODES; mode++) {
		q.frames = (enum frames_mode)mode;
		check_tree(p, q, false, "(4 0 *(4 0 _start(4 0 main(4 0 helper(4 4 lone_eval)))))");
	}
	q.hide_inline = true;
	check_tree(p, q, false, "(4 0 *(4 0 _start(4 0 main(4 4 lone_eval))))");
}

static void trees_of_callers_do_as_well(void **state)
{
	const struct profile *p = *state;
	struct query q = in_mode(FRAMES_MERGED);

	q.proc = query_pid(p, LANGUAGES_PYTHON);
	q.hide_kernel = true;
	check_tree(
		p, q, true,
		"(11 0 *(7 0 sha256_update(7 0 Thing.method(7 0 vectorcall"
		"(7 0 _PyObject_MakeTpCall(7 0 main(7 0 <module>(7 0 Py_RunMain(7 0 main"
		"(7 7 _start)))))))))(4 0 main(3 0 <module>(3 0 Py_RunMain(3 0 main(3 3 _start))))"
		"(1 1 no table for pc)))");
	q.frames = FRAMES_LANGUAGE;
	check_tree(p, q, true,
		   "(11 0 *(7 0 Thing.method(7 0 main(7 7 <module>)))(4 0 main(3 3 <module>)"
		   "(1 1 no table for pc)))");
	q.frames = FRAMES_ALL;
	q.hide_inline = true;
	check_tree(p, q, true,
		   "(11 0 *(7 0 sha256_update(7 0 Thing.method(7 0 _PyEval_EvalFrameDefault"
		   "(7 0 _PyObject_MakeTpCall(7 0 main(7 0 <module>(7 0 _PyEval_EvalFrameDefault"
		   "(7 0 Py_RunMain(7 0 main(7 7 _start))))))))))(4 0 main(3 0 <module>"
		   "(3 0 _PyEval_EvalFrameDefault(3 0 Py_RunMain(3 0 main(3 3 _start)))))"
		   "(1 0 _PyEval_EvalFrameDefault(1 1 no table for pc))))");
}

/* --- the flat profile ------------------------------------------------------------------------ */

struct flat_want {
	const char *module, *name; /* name NULL: any */
	uint64_t self, total;
	const char *caller; /* NULL: none */
};

/* Rows of modules are compared by their module, and so are their callers. */
static void check_funcs(const struct profile *p, struct query q, const struct flat_want *want,
			size_t n)
{
	struct func_row *rows;
	size_t count;

	assert_int_equal(query_funcs(p, &q, &rows, &count), 0);
	for (size_t k = 0; k < n; k++) {
		size_t i = 0;

		while (i < count &&
		       (strcmp(query_func(p, rows[i].func)->module, want[k].module) != 0 ||
			(want[k].name && strcmp(name_of(p, rows[i].func), want[k].name) != 0)))
			i++;
		if (i == count)
			fail_msg("no row of %s %s", want[k].module, want[k].name);
		if (rows[i].self != want[k].self || rows[i].total != want[k].total)
			fail_msg("%s %s has self %d, total %d", want[k].module, want[k].name,
				 (int)rows[i].self, (int)rows[i].total);
		if (!want[k].caller)
			assert_int_equal(rows[i].caller, QUERY_NONE);
		else
			assert_string_equal(q.by_module ? query_func(p, rows[i].caller)->module
							: name_of(p, rows[i].caller),
					    want[k].caller);
	}
	if (count != n)
		fail_msg("%zu rows instead of %zu", count, n);
	free(rows);
}

#define CHECK_FUNCS(p, q, want) check_funcs(p, q, want, sizeof(want) / sizeof(*(want)))

static void functions_count_in_the_mode(void **state)
{
	static const char python[] = "python3.11", script[] = "/app/t.py",
			  hash[] = "_hashlib.cpython-311.so";
	static const struct flat_want merged[] = {
		{python, "_start", 0, 10, NULL},
		{python, "main", 0, 10, NULL},
		{python, "Py_RunMain", 0, 10, NULL},
		{script, "<module>", 0, 10, NULL},
		{script, "main", 4, 11, "<module>"},
		{python, "_PyObject_MakeTpCall", 0, 7, NULL},
		{python, "vectorcall", 0, 7, NULL},
		{script, "Thing.method", 0, 7, NULL},
		{hash, "sha256_update", 5, 7, "Thing.method"},
		{"vmlinux", "sys_getrandom", 2, 2, "sha256_update"},
		{"", "no table for pc", 0, 1, NULL},
	};
	static const struct flat_want language[] = {
		{script, "<module>", 0, 10, NULL},
		{script, "main", 4, 11, "<module>"},
		{script, "Thing.method", 5, 7, "main"},
		{"vmlinux", "sys_getrandom", 2, 2, "Thing.method"},
		{"", "no table for pc", 0, 1, NULL},
	};
	static const struct flat_want all[] = {
		{python, "_start", 0, 10, NULL},
		{python, "main", 0, 10, NULL},
		{python, "Py_RunMain", 0, 10, NULL},
		{python, "_PyEval_EvalFrameDefault", 0, 11, NULL},
		{python, "eval_frame", 0, 7, NULL},
		{script, "<module>", 0, 10, NULL},
		{script, "main", 4, 11, "<module>"},
		{python, "_PyObject_MakeTpCall", 0, 7, NULL},
		{python, "vectorcall", 0, 7, NULL},
		{script, "Thing.method", 0, 7, NULL},
		{hash, "sha256_update", 5, 7, "Thing.method"},
		{"vmlinux", "sys_getrandom", 2, 2, "sha256_update"},
		{"", "no table for pc", 0, 1, NULL},
	};
	const struct profile *p = *state;
	struct query q = in_mode(FRAMES_MERGED);

	q.proc = query_pid(p, LANGUAGES_PYTHON);
	CHECK_FUNCS(p, q, merged);
	q.frames = FRAMES_ALL;
	CHECK_FUNCS(p, q, all);
	q.frames = FRAMES_LANGUAGE;
	CHECK_FUNCS(p, q, language);
}

static void modules_count_once(void **state)
{
	static const char python[] = "python3.11", script[] = "/app/t.py",
			  hash[] = "_hashlib.cpython-311.so";
	/* The broken stack has Python's interpreter, but nothing else of it. */
	static const struct flat_want merged[] = {
		{python, NULL, 0, 10, NULL},
		{script, NULL, 4, 11, "python3.11"},
		{hash, NULL, 5, 7, "/app/t.py"},
		{"vmlinux", NULL, 2, 2, "_hashlib.cpython-311.so"},
		{"", "no table for pc", 0, 1, NULL},
		{"tool", NULL, 4, 4, NULL},
	};
	static const struct flat_want all[] = {
		{python, NULL, 0, 11, NULL},
		{script, NULL, 4, 11, "python3.11"},
		{hash, NULL, 5, 7, "/app/t.py"},
		{"vmlinux", NULL, 2, 2, "_hashlib.cpython-311.so"},
		{"", "no table for pc", 0, 1, NULL},
		{"tool", NULL, 4, 4, NULL},
	};
	/* The broken one is all that has something else before the script. */
	static const struct flat_want language[] = {
		{script, NULL, 9, 11, ""},
		{"vmlinux", NULL, 2, 2, "/app/t.py"},
		{"", "no table for pc", 0, 1, NULL},
		{"tool", NULL, 4, 4, NULL},
	};
	const struct profile *p = *state;
	struct query q = in_mode(FRAMES_MERGED);

	q.by_module = true;
	CHECK_FUNCS(p, q, merged);
	q.frames = FRAMES_ALL;
	CHECK_FUNCS(p, q, all);
	q.frames = FRAMES_LANGUAGE;
	CHECK_FUNCS(p, q, language);
}

static void modules_are_compared(void **state)
{
	struct profile *p = *state;
	struct query q = in_mode(FRAMES_MERGED);
	struct func_row *rows;
	size_t count, found = 0;

	assert_int_equal(frozen_sum_slices(p, FROZEN_BASELINE, 1, 1), 0);
	q.by_module = q.baseline = true;
	assert_int_equal(query_funcs(p, &q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++)
		if (strcmp(query_func(p, rows[i].func)->module, "/app/t.py") == 0) {
			assert_int_equal(rows[i].before, 4);
			assert_int_equal(rows[i].before_of, LANGUAGES_SAMPLES);
			found++;
		}
	assert_int_equal(found, 1);
	free(rows);
}

/* --- butterfly, leaves, filters -------------------------------------------------------------- */

static const char *wanted;

static bool has_name(const struct profile_func *func, void *arg)
{
	(void)arg;
	return strcmp(func->name, wanted) == 0;
}

static void check_wings(const struct profile *p, enum frames_mode mode, const char *want)
{
	struct query q = in_mode(mode);
	struct match_cache middle = {0};
	struct butterfly b;
	char text[512];
	size_t at;

	wanted = "Thing.method";
	assert_int_equal(query_judge_funcs(p, &middle, has_name, NULL), 0);
	assert_int_equal(query_butterfly(p, &q, &middle, &b), 0);
	at = (size_t)snprintf(text, sizeof(text), "%d/%d:", (int)b.self, (int)b.total);
	for (size_t i = 0; i < b.ncallers; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %s %d",
				       name_of(p, b.callers[i].func), (int)b.callers[i].samples);
	at += (size_t)snprintf(text + at, sizeof(text) - at, " |");
	for (size_t i = 0; i < b.ncallees; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %s %d",
				       name_of(p, b.callees[i].func), (int)b.callees[i].samples);
	assert_string_equal(text, want);
	butterfly_free(&b);
	match_cache_free(&middle);
}

static void callers_are_those_of_the_mode(void **state)
{
	const struct profile *p = *state;

	check_wings(p, FRAMES_MERGED, "0/7: vectorcall 7 | sha256_update 7");
	check_wings(p, FRAMES_ALL, "0/7: eval_frame 7 | sha256_update 7");
	check_wings(p, FRAMES_LANGUAGE, "5/7: main 7 | - 5 sys_getrandom 2");
}

static void check_hottest(const struct profile *p, enum frames_mode mode, const char *want)
{
	for (int threads = 0; threads < 2; threads++) {
		struct query q = in_mode(mode);
		struct proc_row *rows;
		size_t count;

		q.proc = query_pid(p, LANGUAGES_PYTHON);
		q.threads = threads;
		assert_int_equal(query_procs(p, &q, &rows, &count), 0);
		assert_int_equal(count, 1);
		assert_int_equal(rows[0].samples, 11);
		assert_string_equal(name_of(p, rows[0].hottest), want);
		free(rows);
	}
}

static void hottest_is_that_of_the_mode(void **state)
{
	check_hottest(*state, FRAMES_MERGED, "sha256_update");
	check_hottest(*state, FRAMES_ALL, "sha256_update");
	check_hottest(*state, FRAMES_LANGUAGE, "Thing.method");
}

static void check_filter(const struct profile *p, const char *name, const int want[FRAMES_MODES])
{
	struct match_cache funcs = {0};
	struct sample_filter filter = {0};

	wanted = name;
	assert_int_equal(query_judge_funcs(p, &funcs, has_name, NULL), 0);
	filter.funcs = funcs.pass;
	filter.nfuncs = funcs.count;
	for (int mode = 0; mode < FRAMES_MODES; mode++) {
		struct query q = in_mode((enum frames_mode)mode);

		q.filter = &filter;
		assert_int_equal(query_samples(p, &q, NULL), want[mode]);
	}
	match_cache_free(&funcs);
}

/* What is hidden is not found. */
static void filters_see_what_is_shown(void **state)
{
	const struct profile *p = *state;

	check_filter(p, "_PyEval_EvalFrameDefault", (const int[]){0, 11, 0});
	check_filter(p, "eval_frame", (const int[]){0, 7, 0});
	check_filter(p, "vectorcall", (const int[]){7, 7, 0});
	check_filter(p, "sha256_update", (const int[]){7, 7, 0});
	check_filter(p, "Thing.method", (const int[]){7, 7, 7});
	check_filter(p, "sys_getrandom", (const int[]){2, 2, 2});
	check_filter(p, "no table for pc", (const int[]){1, 1, 1});
	check_filter(p, "lone_eval", (const int[]){4, 4, 4});
}

/* --- folded stacks --------------------------------------------------------------------------- */

static void check_folded(const struct profile *p, struct query q, const char *want)
{
	struct folded folded;
	char text[2048] = "";
	size_t at = 0;

	assert_int_equal(folded_read(&folded, p, &q), 0);
	for (size_t i = 0; i < folded.count; i++)
		at += (size_t)snprintf(
			text + at, sizeof(text) - at, "%.*s %d\n", (int)folded.lines[i].length,
			folded.text + folded.lines[i].at, (int)folded.lines[i].count);
	folded_free(&folded);
	assert_string_equal(text, want);
}

static void folded_stacks_name_the_language(void **state)
{
	const struct profile *p = *state;
	struct query q = in_mode(FRAMES_MERGED);

	q.proc = query_pid(p, LANGUAGES_PYTHON);
	check_folded(p, q,
		     "python3;_start;main;Py_RunMain;<module>_[py];main_[py];_PyObject_MakeTpCall;"
		     "vectorcall_[i];Thing.method_[py];sha256_update 5\n"
		     "python3;_start;main;Py_RunMain;<module>_[py];main_[py] 3\n"
		     "python3;_start;main;Py_RunMain;<module>_[py];main_[py];_PyObject_MakeTpCall;"
		     "vectorcall_[i];Thing.method_[py];sha256_update;sys_getrandom_[k] 2\n"
		     "python3;[no table for pc];main_[py] 1\n");
	q.frames = FRAMES_LANGUAGE;
	check_folded(p, q,
		     "python3;<module>_[py];main_[py];Thing.method_[py] 5\n"
		     "python3;<module>_[py];main_[py] 3\n"
		     "python3;<module>_[py];main_[py];Thing.method_[py];sys_getrandom_[k] 2\n"
		     "python3;[no table for pc];main_[py] 1\n");
	q.frames = FRAMES_ALL;
	q.hide_inline = true;
	check_folded(p, q,
		     "python3;_start;main;Py_RunMain;_PyEval_EvalFrameDefault;<module>_[py];"
		     "main_[py];_PyObject_MakeTpCall;_PyEval_EvalFrameDefault;Thing.method_[py];"
		     "sha256_update 5\n"
		     "python3;_start;main;Py_RunMain;_PyEval_EvalFrameDefault;<module>_[py];"
		     "main_[py] 3\n"
		     "python3;_start;main;Py_RunMain;_PyEval_EvalFrameDefault;<module>_[py];"
		     "main_[py];_PyObject_MakeTpCall;_PyEval_EvalFrameDefault;Thing.method_[py];"
		     "sha256_update;sys_getrandom_[k] 2\n"
		     "python3;[no table for pc];_PyEval_EvalFrameDefault;main_[py] 1\n");
}

/* Each language has its suffix, and no name can look as if it had one. */
static void suffixes_are_unambiguous(void **state)
{
	static const struct {
		enum func_kind kind;
		const char *name, *want;
	} cases[] = {
		{FUNC_PYTHON, "f", "f_[py]"},
		{FUNC_PHP, "f", "f_[php]"},
		{FUNC_PERL, "f", "f_[pl]"},
		{FUNC_RUBY, "f", "f_[rb]"},
		{FUNC_JS, "f", "f_[js]"},
		{FUNC_JAVA, "f", "f_[java]"},
		{FUNC_EVAL, "f", "f"},
		{FUNC_USER, "f_[py]", "f_[py?"},
		{FUNC_USER, "f_[php]", "f_[php?"},
		{FUNC_JIT, "f_[pl]", "f_[pl?"},
		{FUNC_EVAL, "f_[rb]", "f_[rb?"},
		{FUNC_USER, "f_[js]", "f_[js?"},
		{FUNC_USER, "_[java]", "_[java?"},
		{FUNC_USER, "[java]", "[java]"},
		{FUNC_PYTHON, "outer.<locals>.inner", "outer.<locals>.inner_[py]"},
		{FUNC_PHP, "a;b", "a:b_[php]"},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(folded_label(text, sizeof(text), cases[i].kind, cases[i].name),
				 strlen(cases[i].want));
		assert_string_equal(text, cases[i].want);
	}
	/* Room for the longest suffix and one character. */
	assert_int_equal(folded_label(text, 10, FUNC_JAVA, "name"), 9);
	assert_string_equal(text, "na_[java]");
}

/* --- other sums and changes ------------------------------------------------------------------ */

static void frozen_sums_have_all_modes(void **state)
{
	struct profile *p = *state;
	struct query q = in_mode(FRAMES_LANGUAGE);

	assert_int_equal(frozen_sum_slices(p, FROZEN_MOMENT, 1, 1), 0);
	profile_zero(p);
	q.span = SPAN_MOMENT;
	q.proc = query_pid(p, LANGUAGES_PYTHON);
	q.hide_kernel = true;
	check_tree(p, q, false,
		   "(11 0 *(10 0 <module>(10 3 main(7 7 Thing.method)))"
		   "(1 0 no table for pc(1 1 main)))");
}

static int one_call(uint32_t site, const char *name, const char *module, uint32_t *outer,
		    uint32_t inlined[PROFILE_INLINED_MAX], void *arg)
{
	(void)name;
	(void)module;
	(void)outer;
	assert_int_equal(site, 5);
	inlined[0] = *(uint32_t *)arg;
	return 1;
}

/* Calls inlined into an interpreter become known after its stack, and are hidden with it. */
static void inlined_calls_come_later(void **state)
{
	struct profile *p = *state;
	uint32_t frames[] = {feed_func(p, FUNC_USER, "main"), feed_func(p, FUNC_EVAL, "eval"),
			     feed_func(p, FUNC_RUBY, "run")};
	const uint32_t sites[] = {0, 5, 0};
	uint32_t inlined;
	struct profile_stack stack = {
		.complete = true, .nframes = 3, .frames = frames, .sites = sites};
	struct profile_cell cell = {feed_proc(p, 900, 1, "ruby", false),
				    900,
				    (uint32_t)profile_stack_new(p, &stack),
				    PROFILE_NO_STACK,
				    6,
				    0,
				    0};
	struct query q = in_mode(FRAMES_MERGED);

	assert_int_equal(feed_commit(p, &cell, 1), 0);
	profile_stack_put(p, cell.ustack);
	q.proc = cell.proc;
	check_folded(p, q, "ruby;main;run_[rb] 6\n");
	inlined = feed_func(p, FUNC_INLINE, "dispatch");
	assert_int_equal(profile_settle(p, one_call, &inlined), 0);
	check_folded(p, q, "ruby;main;run_[rb] 6\n");
	q.frames = FRAMES_ALL;
	check_folded(p, q, "ruby;main;eval;dispatch_[i];run_[rb] 6\n");
	q.frames = FRAMES_LANGUAGE;
	check_folded(p, q, "ruby;run_[rb] 6\n");
}

static void modes_have_names(void **state)
{
	enum frames_mode mode = FRAMES_ALL;

	(void)state;
	assert_true(query_frames_parse("language", &mode));
	assert_int_equal(mode, FRAMES_LANGUAGE);
	assert_true(query_frames_parse("merged", &mode));
	assert_int_equal(mode, FRAMES_MERGED);
	assert_false(query_frames_parse("none", &mode));
	assert_false(query_frames_parse("", &mode));
	assert_string_equal(query_frames_name(FRAMES_ALL), "all");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(trees_have_the_frames_of_the_mode),
		CASE(trees_of_callers_do_as_well),
		CASE(functions_count_in_the_mode),
		CASE(modules_count_once),
		CASE(modules_are_compared),
		CASE(callers_are_those_of_the_mode),
		CASE(hottest_is_that_of_the_mode),
		CASE(filters_see_what_is_shown),
		CASE(folded_stacks_name_the_language),
		CASE(suffixes_are_unambiguous),
		CASE(frozen_sums_have_all_modes),
		CASE(inlined_calls_come_later),
		CASE(modes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
