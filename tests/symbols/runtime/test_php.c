/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of the PHP of this machine: it agrees with a process that runs, and no other one does.
 * Covers: symbols/runtime/php_file.c symbols/runtime/php_check.c symbols/runtime/php_layout.h
 * Covers: symbols/runtime/runtime_symbols.c
 */
#include "symbols/runtime/php_check.h"
#include "symbols/runtime/php_file.h"
#include "tests/support/rights.h"
#include "tests/symbols/runtime/interpreter.h"

#define TRIES  2000
#define ENOUGH (TRIES / 4)
#define SCRIPT                                                                                     \
	"function a($n) { return $n ? a($n - 1) : c(); } function b() { yield a(2); }"             \
	"function d() { yield from b(); } class K { static function m() { return a(2); } }"        \
	"function c() { $s = 0; for ($i = 0; $i < 2000; $i++) $s += $i; usleep(200); return $s; }" \
	"function e() { foreach (d() as $x) K::m(); foreach (b() as $x); } while (1) e();"

static struct interpreter php;
static struct php_file found;

static int start(void **state)
{
	static char *argv[] = {"php", "-n", "-r", SCRIPT, NULL};

	(void)state;
	interpreter_start(&php, argv);
	for (int i = 0; i < 200; i++) {
		struct elf_file *file;

		usleep(20000);
		if (!interpreter_find(&php, "php"))
			continue;
		file = interpreter_open(&php);
		assert_true(php_file_read(file, &found));
		elf_file_free(file);
		return 0;
	}
	interpreter_stop(&php);
	php.pid = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (php.pid)
		interpreter_stop(&php);
	return 0;
}

/* How often the layout agrees, at most `enough` times, of so many tries. */
static int agrees(const struct php_layout *l, int tries, int enough)
{
	const char *why;
	int n = 0;

	for (int i = 0; i < tries && n < enough; i++) {
		n += !php_check(l, found.globals + php.bias, interpreter_read, &php, &why);
		usleep(20);
	}
	return n;
}

static void it_agrees_with_a_process(void **state)
{
	int n;

	(void)state;
	if (!php.pid)
		skip_since("php is not installed");
	if (found.err) {
		print_message("# %s: not known\n", php.path);
		skip();
	}
	assert_true(found.globals && found.eval[0][1] > found.eval[0][0]);
	/* It may stand still where it does not agree for as long as it has no CPU. */
	n = agrees(&found.layout, 20 * TRIES, ENOUGH);
	print_message("%s: version %x, agreed %d times\n", php.path, found.layout.version, n);
	assert_int_equal(n, ENOUGH);
}

/* Each member, moved by what is near: no try may agree. */
static void no_other_layout_does(void **state)
{
	static const int moves[] = {-64, -32, -24, -16, -8, -4, 4, 8, 16, 24, 32, 64};
	const size_t n = sizeof(found.layout) / sizeof(__u32);

	(void)state;
	if (!php.pid || found.err)
		skip_since("no php that is known");
	for (size_t i = 1; i < n; i++) {
		for (size_t k = 0; k < sizeof(moves) / sizeof(*moves); k++) {
			struct php_layout wrong = found.layout;
			__u32 *member = (__u32 *)&wrong + i;
			int got;

			if (!*member || (int)*member + moves[k] < 0)
				continue;
			*member += moves[k];
			got = agrees(&wrong, TRIES / 10, 1);
			if (got)
				print_message("member %zu %+d: %d\n", i, moves[k], got);
			assert_int_equal(got, 0);
		}
	}
}

/* Known versions differ from each other where it can be seen. */
static void no_other_version_does(void **state)
{
	static const char *const builds[] = {"API420200930,NTS", "API420220829,NTS",
					     "API420230831,NTS", "API420240924,NTS",
					     "API420250925,NTS", "API420260924,NTS"};
	struct php_layout other;

	(void)state;
	if (!php.pid || found.err)
		skip_since("no php that is known");
	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		assert_int_equal(php_layout_of(builds[i], &other), 0);
		if (other.function_file != found.layout.function_file ||
		    other.function_last != found.layout.function_last)
			assert_int_equal(agrees(&other, TRIES / 10, 1), 0);
	}
}

static void other_builds_are_refused(void **state)
{
	struct php_layout l;

	(void)state;
	assert_int_equal(php_layout_of("API420220829,NTS", &l), 0);
	assert_int_equal(l.version, 0x0802);
	assert_int_equal(php_layout_of("API420220829,TS", &l), -ENOTSUP);
	assert_int_equal(l.version, 0x0802);
	assert_int_equal(php_layout_of("API420220829,NTS,debug", &l), -ENOTSUP);
	assert_int_equal(php_layout_of("API420220830,NTS", &l), -ENOTSUP);
	assert_int_equal(l.version, 0);
	assert_int_equal(php_layout_of("API320190902,NTS", &l), -ENOTSUP);
	assert_int_equal(php_layout_of("", &l), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_agrees_with_a_process),
		cmocka_unit_test(no_other_layout_does),
		cmocka_unit_test(no_other_version_does),
		cmocka_unit_test(other_builds_are_refused),
	};

	return cmocka_run_group_tests(tests, start, end);
}
