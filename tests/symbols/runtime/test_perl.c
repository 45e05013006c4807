/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of the Perl of this machine: it agrees with a process that runs, and no other one
 * does.
 * Covers: symbols/runtime/perl_file.c symbols/runtime/perl_check.c symbols/runtime/perl_layout.h
 * Covers: symbols/runtime/runtime_symbols.c
 */
#include "symbols/runtime/perl_check.h"
#include "symbols/runtime/perl_file.h"
#include "tests/support/rights.h"
#include "tests/symbols/runtime/interpreter.h"

#define TRIES  2000
#define ENOUGH (TRIES / 4)
#define SCRIPT                                                                                     \
	"package K; sub m { main::a(2) } package main; "                                           \
	"sub a { my $n = shift; return $n ? a($n - 1) : eval { c() } } "                           \
	"sub c { my $s = 0; $s += $_ for 1 .. 2000; select undef, undef, undef, 0.0002; $s } "     \
	"sub e { my @x = sort { a(1); $a <=> $b } 1, 2; eval 'c()'; K::m() } e() while 1"

static struct interpreter perl;
static struct perl_file found;

static int start(void **state)
{
	static char *argv[] = {"perl", "-e", SCRIPT, NULL};
	static const char *const files[] = {"libperl", "/perl"};

	(void)state;
	interpreter_start(&perl, argv);
	for (int i = 0; i < 200; i++) {
		usleep(20000);
		for (int k = 0; k < 2; k++) {
			struct elf_file *file;
			bool known;

			if (!interpreter_find(&perl, files[k]))
				continue;
			file = interpreter_open(&perl);
			known = perl_file_read(file, &found);
			elf_file_free(file);
			if (known)
				return 0;
		}
	}
	interpreter_stop(&perl);
	perl.pid = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (perl.pid)
		interpreter_stop(&perl);
	return 0;
}

/* How often the layout agrees, at most `enough` times, of so many tries. */
static int agrees(const struct perl_layout *l, int tries, int enough)
{
	const char *why;
	int n = 0;

	for (int i = 0; i < tries && n < enough; i++) {
		n += !perl_check(l, found.first + perl.bias, interpreter_read, &perl, &why);
		usleep(20);
	}
	return n;
}

static void it_agrees_with_a_process(void **state)
{
	int n;

	(void)state;
	if (!perl.pid)
		skip_since("perl is not installed");
	if (found.err) {
		print_message("# %s: %x is not known\n", perl.path, found.layout.version);
		skip();
	}
	assert_true((found.key == 0) == (found.layout.global != 0) && found.first &&
		    found.eval[0][1] > found.eval[0][0]);
	/* It may stand still where it does not agree for as long as it has no CPU. */
	n = agrees(&found.layout, 20 * TRIES, ENOUGH);
	print_message("%s: version %x, agreed %d times\n", perl.path, found.layout.version, n);
	assert_int_equal(n, ENOUGH);
}

/* Each member, moved by what is near: no try may agree. */
static void no_other_layout_does(void **state)
{
	static const int moves[] = {-64, -32, -24, -16, -8, -4, 4, 8, 16, 24, 32, 64};
	const size_t n = sizeof(found.layout) / sizeof(__u32);

	(void)state;
	if (!perl.pid || found.err)
		skip_since("no perl that is known");
	for (size_t i = 1; i < n; i++) {
		for (size_t k = 0; k < sizeof(moves) / sizeof(*moves); k++) {
			struct perl_layout wrong = found.layout;
			__u32 *member = (__u32 *)&wrong + i;
			int got;

			if ((int)*member + moves[k] < 0)
				continue;
			*member += moves[k];
			got = agrees(&wrong, TRIES / 10, 1);
			if (got)
				print_message("member %zu %+d: %d\n", i, moves[k], got);
			assert_int_equal(got, 0);
		}
	}
}

/* What Perl's headers say where they have changed (offsetof). */
static void versions_differ_where_their_headers_do(void **state)
{
	static const struct {
		uint32_t version, cop, catch, context_size, code, stash_last, stash_name;
	} headers[] = {
		{0x052001, 224, 776, 104, 72, 24, 0}, {0x052400, 208, 760, 104, 72, 0, 32},
		{0x052801, 208, 776, 104, 72, 0, 32}, {0x052a03, 208, 776, 104, 72, 0, 32},
		{0x052c00, 208, 776, 104, 72, 0, 32},
	};
	struct perl_layout l;

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		assert_int_equal(perl_layout_of(headers[i].version, &l), 0);
		assert_int_equal(l.version, headers[i].version);
		assert_int_equal(l.interp_cop, headers[i].cop);
		assert_int_equal(l.interp_stack, headers[i].cop + 16);
		assert_int_equal(l.interp_catch, headers[i].catch);
		assert_int_equal(l.interp_start, headers[i].catch + 8);
		assert_int_equal(l.context_size, headers[i].context_size);
		assert_int_equal(l.context_code, headers[i].code);
		assert_int_equal(l.stash_last, headers[i].stash_last);
		assert_int_equal(l.stash_name, headers[i].stash_name);
		assert_int_equal(l.stash_names, headers[i].stash_name + 28);
		assert_int_equal(l.global, 0);
	}
	assert_int_equal(perl_layout_of(0x051e00, &l), 0);
	assert_int_equal(l.context_size, 96);
	assert_int_equal(l.context_code, 64);
}

static void other_versions_are_refused(void **state)
{
	static const uint32_t versions[] = {0, 0x051c00, 0x052500, 0x052d00, 0x052e00, 0x062400};
	struct perl_layout l;

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		assert_int_equal(perl_layout_of(versions[i], &l), -ENOTSUP);
		assert_int_equal(l.version, versions[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_agrees_with_a_process),
		cmocka_unit_test(no_other_layout_does),
		cmocka_unit_test(versions_differ_where_their_headers_do),
		cmocka_unit_test(other_versions_are_refused),
	};

	return cmocka_run_group_tests(tests, start, end);
}
