/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines of functions: which line leads, from addresses of this program, whose lines the
 * compiler tells by itself, and on the screen.
 * Covers: tui/symbolize/inline_cache.c tui/profile/profile_lines.c tui/profile/profile_get.c
 * Covers: tui/ui/zoom.c
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/typist.h"
#include "tui/ui/names.h"
#include "tui/query/query.h"
#include "tui/symbolize/inline_cache.h"
#include "tui/app/dispatch.h"

static uint32_t func(struct profile *p, enum func_kind kind, const char *name)
{
	int64_t id = profile_func(p, kind, name, "prog");

	assert_true(id >= 0);
	return (uint32_t)id;
}

static void count(struct profile *p, uint32_t f, const char *file, unsigned int line, uint64_t n)
{
	assert_int_equal(profile_line(p, f, file, line, n), 0);
}

static void assert_line(const struct profile *p, uint32_t f, const char *want)
{
	char text[256];

	sourcename(query_func(p, f), text, sizeof(text));
	assert_string_equal(text, want);
}

static void the_hottest_line_leads(void **state)
{
	struct profile *p = profile_new(10, 1000);
	uint32_t f, other;

	(void)state;
	profile_lock(p);
	f = func(p, FUNC_USER, "f");
	other = func(p, FUNC_USER, "g");
	assert_line(p, f, "");
	assert_null(query_func(p, f)->file);
	count(p, f, "/src/a.c", 10, 3);
	count(p, f, "/src/a.c", 11, 2);
	assert_line(p, f, "a.c:10");
	assert_string_equal(query_func(p, f)->file, "/src/a.c");
	/* As many are not more. */
	count(p, f, "/src/a.c", 11, 1);
	assert_line(p, f, "a.c:10");
	count(p, f, "/src/a.c", 11, 1);
	assert_line(p, f, "a.c:11");
	/* The same number of another file is another line. */
	count(p, f, "/src/b.h", 10, 5);
	assert_line(p, f, "b.h:10");
	assert_line(p, other, "");
	assert_int_equal(profile_line(p, 12345, "a", 1, 1), -EINVAL);
	profile_unlock(p);
	profile_free(p);
}

/* A line with a third of the samples is found among hundreds that come and go, and one that was hot
 * long ago gives way. */
static void one_of_many_lines_leads(void **state)
{
	struct profile *p = profile_new(10, 1000);
	uint32_t f;

	(void)state;
	profile_lock(p);
	f = func(p, FUNC_USER, "f");
	for (unsigned int i = 0; i < 3000; i++)
		count(p, f, "x.c", i % 3 ? 1000 + i : 77, 1);
	assert_line(p, f, "x.c:77");
	for (unsigned int i = 0; i < 6000; i++)
		count(p, f, "x.c", 78, 1);
	assert_line(p, f, "x.c:78");
	/* No count, however large, is for ever. */
	count(p, f, "x.c", 79, UINT64_MAX);
	for (unsigned int i = 0; i < 20000; i++)
		count(p, f, "x.c", 80, 1);
	assert_line(p, f, "x.c:80");
	profile_unlock(p);
	profile_free(p);
}

/* A function that is forgotten takes its lines along; names that were copied keep their file. */
static void lines_go_with_their_function(void **state)
{
	struct profile *p = profile_new(10, 1000);
	struct profile_health health = {.elapsed = 1000000000};
	struct names *names = names_new();
	const struct profile_func *copy;
	uint32_t f;

	(void)state;
	profile_lock(p);
	f = func(p, FUNC_USER, "f");
	count(p, f, "/src/a.c", 10, 3);
	copy = names_get(names, p, f);
	assert_int_equal(profile_commit(p, NULL, 0, &health), 0);
	assert_int_equal(profile_commit(p, NULL, 0, &health), 0);
	assert_null(query_func(p, f));
	f = func(p, FUNC_USER, "f");
	assert_line(p, f, "");
	profile_unlock(p);
	assert_string_equal(copy->file, "/src/a.c");
	names_free(names);
	profile_free(p);
}

/* What hostile debug information can have is bounded: files that do not fit are not counted. */
static void files_are_bounded(void **state)
{
	struct profile *p = profile_new(10, 1000);
	char path[4001], name[16];
	unsigned int known = 0;

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	profile_lock(p);
	for (unsigned int i = 0; i < 5000; i++) {
		uint32_t f;

		snprintf(name, sizeof(name), "%u", i);
		memcpy(path, name, strlen(name));
		f = func(p, FUNC_USER, name);
		count(p, f, path, 1, 1);
		known += query_func(p, f)->file != NULL;
	}
	/* 8 MiB of paths of 4,000 bytes. */
	assert_in_range(known, 2000, 2100);
	profile_unlock(p);
	profile_free(p);
}

/* --- from addresses -------------------------------------------------------------------------- */

static uintptr_t caught;
static unsigned int line_of_call, line_of_inlined;

__attribute__((noinline)) static void catch_caller(void)
{
	caught = (uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) void inlined(void)
{
	line_of_call = __LINE__ + 1;
	catch_caller();
	__asm__ volatile("" ::: "memory"); /* a call, not a jump */
}

__attribute__((noinline)) static void outer(void)
{
	line_of_inlined = __LINE__ + 1;
	inlined();
	__asm__ volatile("" ::: "memory");
}

static uint64_t vaddr_of(uintptr_t address)
{
	Dl_info info;

	assert_true(dladdr((void *)address, &info));
	return (uintptr_t)info.dli_fbase == 0x400000 ? address
						     : address - (uintptr_t)info.dli_fbase;
}

static void addresses_lead_to_lines(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct profile *p = profile_new(10, 1000);
	uint32_t frames[4], of[3] = {0}, stack, early;
	struct profile_stack s = {.frames = frames};
	const struct inline_chain *calls;
	struct inline_cache *sites;
	char text[64];

	(void)state;
	outer();
	assert_int_equal(inline_cache_new((size_t)256 << 20, NULL, &sites), 0);
	of[1] = inline_cache_find(sites, 1, fd, 0, vaddr_of(caught - 1), 0, &calls);
	assert_int_not_equal(of[1], 0);
	profile_lock(p);
	frames[0] = func(p, FUNC_END, "no table for pc");
	frames[1] = func(p, FUNC_USER, "start");
	frames[2] = func(p, FUNC_USER, "outer");
	s.nframes = 3;
	early = (uint32_t)profile_stack_new(p, &s);
	frames[3] = func(p, FUNC_INLINE, "inlined");
	s.nframes = 4;
	stack = (uint32_t)profile_stack_new(p, &s);
	/* Not known yet. */
	assert_int_equal(inline_cache_count_lines(sites, p, stack, of, 2, 5), 0);
	assert_line(p, frames[2], "");
	inline_cache_wait(sites, 30000000000);
	assert_true(inline_cache_update(sites));
	/* Known, but the stack was not settled. */
	assert_int_equal(inline_cache_count_lines(sites, p, early, of, 2, 1), 0);
	snprintf(text, sizeof(text), "test_line_counts.c:%u", line_of_inlined);
	assert_line(p, frames[2], text);
	assert_line(p, frames[3], "");
	assert_int_equal(inline_cache_count_lines(sites, p, stack, of, 2, 5), 0);
	assert_line(p, frames[2], text);
	snprintf(text, sizeof(text), "test_line_counts.c:%u", line_of_call);
	assert_line(p, frames[3], text);
	assert_line(p, frames[1], "");
	assert_line(p, frames[0], "");
	/* More places than frames, and a stack that is not there. */
	assert_int_equal(inline_cache_count_lines(sites, p, stack, of, 3, 5), 0);
	assert_int_equal(inline_cache_count_lines(sites, p, 999, of, 3, 5), -EINVAL);
	profile_stack_put(p, stack);
	profile_stack_put(p, early);
	profile_unlock(p);
	inline_cache_free(sites);
	profile_free(p);
	close(fd);
}

/* --- on the screen --------------------------------------------------------------------------- */

static void screens_show_lines(void **state)
{
	static const int sizes[][2] = {{15, 60}, {24, 80}, {30, 100}, {30, 140}, {50, 200}};
	static const char *const keys[] = {"2", "3jj", "4"};
	static const char *const names[] = {"lines-funcs", "lines-tree", "lines-callers"};
	struct typist *t = typist_new();
	struct profile *p = t->feed.p;

	(void)state;
	profile_lock(p);
	count(p, (uint32_t)profile_func(p, FUNC_USER, "ngx_parse_header", "nginx"),
	      "/usr/src/nginx-1.22.1/src/http/ngx_http_parse.c", 1042, 9);
	count(p, (uint32_t)profile_func(p, FUNC_USER, "ngx_process_request_line", "nginx"),
	      "/usr/src/nginx-1.22.1/src/http/ngx_http_request.c", 1132, 9);
	count(p, (uint32_t)profile_func(p, FUNC_USER, "ExecInterpExpr", "postgres"),
	      "execExprInterp_with_a_name_that_is_long.c", 731, 2);
	profile_unlock(p);
	for (int i = 0; i < 12; i++)
		assert_int_equal(machine_slice(&t->feed, 0), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		type(t, keys[k]);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			grid_resize(t->g, sizes[i][0], sizes[i][1]);
			compare(t, names[k]);
		}
	}
	/* Where there is no room for the words, or for the path, or for anything. */
	type(t, "2");
	for (int cols = 1; cols < 130; cols++) {
		grid_resize(t->g, 20, cols);
		screen(t);
	}
	grid_resize(t->g, 20, 72);
	assert_hides(t, "hottest line");
	assert_shows(t, "   2980 samples ");
	typist_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hottest_line_leads),
		cmocka_unit_test(one_of_many_lines_leads),
		cmocka_unit_test(lines_go_with_their_function),
		cmocka_unit_test(files_are_bounded),
		cmocka_unit_test(addresses_lead_to_lines),
		cmocka_unit_test(screens_show_lines),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
