/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nothing that acts on a terminal gets through; what is harmless does, byte for byte.
 * Covers: symbols/base/text.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "symbols/base/text.h"
#include "tests/support/rights.h"

static void expect(const char *from, const char *want)
{
	char *got = text_clean_dup(from);

	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

static void test_kept(void **state)
{
	(void)state;
	expect("", "");
	expect("std::vector<int>::push_back", "std::vector<int>::push_back");
	expect("na\xc3\xafve", "na\xc3\xafve");
	expect("\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac");
	expect("\xf0\x9f\x90\xa7", "\xf0\x9f\x90\xa7");
	expect("\xc2\xa0\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbd",
	       "\xc2\xa0\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbd");
}

static void test_replaced(void **state)
{
	(void)state;
	expect("a\x1b[31mred\x1b]0;title\x07", "a?[31mred?]0;title?");
	expect("\t\n\r\x7f", "????");
	expect("\xc2\x9b"
	       "31m\xc2\x80\xc2\x9f",
	       "?31m??"); /* C1: CSI as one character */
	expect("\x9b"
	       "31m",
	       "?31m"); /* and as a bare byte */
	expect("\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae", "?????");
	expect("\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "????");
	expect("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "???"); /* marks of direction */
	expect("\xef\xbb\xbf\xf3\xa0\x81\x81", "??");	   /* BOM, a tag character */
}

static void test_broken(void **state)
{
	(void)state;
	expect("\xff\xfe", "??");
	expect("\xc3", "?");
	expect("\xc3(", "?(");
	expect("\xe2\x82", "??");
	expect("\xc0\xaf\xc1\x9b", "????"); /* overlong */
	expect("\xe0\x82\x9b", "???");	    /* overlong C1 */
	expect("\xf0\x80\x80\x9b", "????");
	expect("\xed\xa0\x80", "???");	    /* surrogate */
	expect("\xf4\x90\x80\x80", "????"); /* above U+10FFFF */
	expect("\xf8\x88\x80\x80\x80", "?????");
}

static void test_truncation(void **state)
{
	static const char text[] = "a\xe6\x97\xa5\xf0\x9f\x90\xa7z";
	static const char *const want[] = {"", "a", "a", "a", "a\xe6\x97\xa5"};
	char to[16];

	(void)state;
	for (size_t size = 1; size <= 5; size++) {
		memset(to, 'X', sizeof(to));
		assert_int_equal(text_clean(to, size, text, strlen(text)), strlen(want[size - 1]));
		assert_string_equal(to, want[size - 1]);
		assert_int_equal(to[size], 'X');
	}
	assert_int_equal(text_clean(to, 9, text, strlen(text)), 8);
	assert_int_equal(text_clean(to, 10, text, strlen(text)), 9);
	assert_string_equal(to, text);
	assert_int_equal(text_clean(to, sizeof(to), "a\0b", 3), 3);
	assert_string_equal(to, "a?b");
}

/* Random bytes: the C library must find the result well-formed and free of controls. */
static void test_random(void **state)
{
	char from[64], to[64];
	unsigned int seed = 1;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip_since("no C.UTF-8");
	for (int i = 0; i < 200000; i++) {
		size_t length = rand_r(&seed) % sizeof(from), size = 1 + rand_r(&seed) % 64, n, at;
		mbstate_t shift = {0};
		wchar_t c;

		for (at = 0; at < length; at++)
			from[at] = rand_r(&seed) % 4 ? 0x80 + rand_r(&seed) % 128 : rand_r(&seed);
		n = text_clean(to, size, from, length);
		assert_true(n < size && to[n] == '\0' && n <= length);
		for (at = 0; at < n;) {
			size_t step = mbrtowc(&c, to + at, n - at, &shift);

			assert_true(step > 0 && step <= 4);
			assert_true(c >= 0x20 && (c < 0x7f || c >= 0xa0));
			assert_false((c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069));
			at += step;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),   cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_broken), cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
