/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of real files against c++filt's answers; the rest are single cases and hostile names.
 * Covers: symbols/names/demangle.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbols/names/demangle.h"
#include "tests/support/scratch.h"

static void expect(const char *name, const char *want)
{
	char *got = demangle(name);

	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

static void test_names(void **state)
{
	(void)state;
	expect("", "");
	expect("main", "main");
	expect("_start", "_start");
	expect("_Z", "_Z");
	expect("_R", "_R");
	expect("_Zebra", "_Zebra");
	expect("_Z3foov", "foo");
	expect("_ZN3fooclEi", "foo::operator()");
	expect("_ZNK1AcvbEv", "A::operator bool");
	expect("_ZN1A3addIiEEiT_", "A::add<int>");
	expect("_ZNSt6vectorIiSaIiEE9push_backERKi",
	       "std::vector<int, std::allocator<int> >::push_back");
	expect("_ZN12_GLOBAL__N_13barEv", "(anonymous namespace)::bar");
	expect("_ZN1AD2Ev", "A::~A");
	/* what is thunked to is shown in full */
	expect("_ZTv0_n24_N1A1fEv", "virtual thunk to A::f()");
}

static void test_marks(void **state)
{
	(void)state;
	expect("_Z3foov.cold", "foo.cold");
	expect("_Z3foov.part.0.constprop.12.isra.3", "foo.part.0.constprop.12.isra.3");
	expect("_Z3foov.llvm.1234567890", "foo");
	expect("main.cold", "main.cold");
	expect("_Z3foov.lto_priv.0.cold", "foo.lto_priv.0.cold");
}

static void test_rust(void **state)
{
	(void)state;
	expect("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	expect("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.77",
	       "core::fmt::Formatter::pad");
	/* too few different digits for libiberty's test, still a hash */
	expect("_ZN4core3fmt9Formatter3pad17h0000000000000001E", "core::fmt::Formatter::pad");
	expect("_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h"
	       "0123456789abcdefE",
	       "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop");
	expect("_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example");
	expect("_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>");
}

/* What c++filt -s dlang says, without parameters; names are libphobos' own. */
static void test_d(void **state)
{
	char name[512] = "_D4test3fooFHiiHQeQg";

	(void)state;
	expect("_Dmain", "D main");
	expect("_D4test3fooFiZv", "test.foo");
	expect("_D4core6thread11threadgroup11ThreadGroup6createMFPFZvZv",
	       "core.thread.threadgroup.ThreadGroup.create");
	expect("_D3std8typecons__T5TupleTkTmZQl6toHashMxFNbNeZm",
	       "std.typecons.Tuple!(uint, ulong).Tuple.toHash");
	expect("_D4test__T3fooTiZQhFiZv", "test.foo!(int).foo");
	expect("_D4test3fooFiZ3barMFZv", "test.foo(int).bar");
	expect("_Dnothing", "_Dnothing");
	expect("_D", "_D");
	/* Each type is an array of the one before, indexed by itself: 2^30 ints. */
	for (int i = 0; i < 30; i++)
		strcat(name, "HQgQi");
	strcat(name, "Zv");
	expect(name, name);
}

/* A C++ name of n pairs of the pair before: S_ is f, S0_ is P, S1_ is P<int, int>. */
static void pairs(char *name, unsigned int n)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	name += sprintf(name, "_Z1fI1PIiiE");
	for (unsigned int i = 1; i <= n; i++)
		name += sprintf(name, "S0_IS%c_S%c_E", digits[i], digits[i]);
	strcpy(name, "Evv");
}

/* The same in Rust v0: tuples of back references, which are positions behind _R in base 62. */
static void tuples(char *name, unsigned int n)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *at = name + sprintf(name, "_RINvC1a1f"), *last = at, ref[8];
	unsigned int pos;

	at += sprintf(at, "TllE");
	while (n--) {
		pos = last - name - 2 - 1;
		if (pos < 62)
			sprintf(ref, "B%c_", digits[pos]);
		else
			sprintf(ref, "B%c%c_", digits[pos / 62], digits[pos % 62]);
		last = at;
		at += sprintf(at, "T%s%sE", ref, ref);
	}
	strcpy(at, "E");
}

/* Short names that stand for 2^n pieces of text: let through while small, refused when not. */
static void test_explosion(void **state)
{
	static void (*const make[])(char *, unsigned int) = {pairs, tuples};
	static const char *const end[] = {"P<int, int> > >", "(i32, i32)))>"};
	clock_t start = clock();
	char name[1024], *got;

	(void)state;
	for (int i = 0; i < 2; i++) {
		make[i](name, 2);
		got = demangle(name);
		assert_non_null(got);
		assert_non_null(strstr(got, end[i]));
		free(got);
		make[i](name, 32);
		expect(name, name);
	}
	assert_true(clock() - start < CLOCKS_PER_SEC);
}

static void test_deep(void **state)
{
	static const char *const pieces[] = {"P", "N", "I",  "T",  "RK", "F",
					     "L", "X", "S_", "Dp", "1aI"};
	char *name = malloc(300000), *got;

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		for (size_t length = 500; length < 250000; length = length * 3) {
			strcpy(name, i % 2 ? "_Z1f" : "_RINvC1a1f");
			for (size_t at = strlen(name); at < length; at += strlen(pieces[i]))
				strcpy(name + at, pieces[i]);
			got = demangle(name);
			assert_non_null(got);
			free(got);
		}
	}
	memset(name, 'a', 299999);
	name[0] = '_';
	name[1] = 'Z';
	name[299999] = '\0';
	expect(name, name);
	free(name);
}

/* Every mangled name without marks of two files, against `c++filt -p -i`. */
static void compare_with_filt(const char *path, const char *option)
{
	char command[512], list[SCRATCH], *line = NULL, *name = NULL, *got;
	size_t size = 0, room = 0, count = 0;
	FILE *names, *wants;

	close(scratch_file(list, "demangle"));
	snprintf(
		command, sizeof(command),
		"nm %s --defined-only %s 2>/dev/null | awk '$3 ~ /^_[ZR]/ {sub(/@.*/, \"\", $3); print $3}'"
		"| grep -v '[.]' | awk 'length($0) < 1000' | sort -u > %s",
		option, path, list);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "cat %s", list);
	names = popen(command, "r");
	snprintf(command, sizeof(command), "c++filt -p -i < %s", list);
	wants = popen(command, "r");
	assert_true(names && wants);
	while (getline(&name, &room, names) > 0) {
		assert_true(getline(&line, &size, wants) > 0);
		name[strcspn(name, "\n")] = line[strcspn(line, "\n")] = '\0';
		got = demangle(name);
		assert_non_null(got);
		assert_string_equal(got, line);
		free(got);
		count++;
	}
	pclose(names);
	pclose(wants);
	free(line);
	free(name);
	unlink(list);
	print_message("%s: %zu names as c++filt has them\n", path, count);
}

static void test_filt(void **state)
{
	(void)state;
	compare_with_filt("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "-D");
	compare_with_filt("/usr/bin/node", "");
}

/*
 * In a child that has 20 s of a CPU for a name, of which each would take centuries: 62^8 lifetimes
 * of a binder, 2^40 and more readings of a template's arguments. They come back as they are.
 */
static void expect_untouched(const char *name)
{
	const struct rlimit limit = {20, 20};
	pid_t child = fork();
	int status;
	char *got;

	assert_true(child >= 0);
	if (!child) {
		setrlimit(RLIMIT_CPU, &limit);
		got = demangle(name);
		_exit(!got || strcmp(got, name) != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The text `head`, n times `part`, `tail`, n times `end`, and "v". */
static void expect_repeated(const char *head, const char *part, const char *tail, const char *end,
			    unsigned int n)
{
	char name[2048];
	size_t at = (size_t)snprintf(name, sizeof(name), "%s", head);

	for (unsigned int i = 0; i < n; i++)
		at += (size_t)snprintf(name + at, sizeof(name) - at, "%s", part);
	at += (size_t)snprintf(name + at, sizeof(name) - at, "%s", tail);
	for (unsigned int i = 0; i < n; i++)
		at += (size_t)snprintf(name + at, sizeof(name) - at, "%s", end);
	at += (size_t)snprintf(name + at, sizeof(name) - at, "v");
	assert_true(at < 1024);
	expect_untouched(name);
}

/*
 * A pack that is looked for in n types, of which each names the one before it twice: A<i, i>,
 * A<that, that> and so on. S0_ is the template A, S1_ the innermost type.
 */
static void expand(char *name, size_t size, unsigned int n)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t at = (size_t)snprintf(name, size, "_Z1fIDp1AI");

	for (unsigned int i = 1; i < n; i++)
		at += (size_t)snprintf(name + at, size - at, "S0_I");
	at += (size_t)snprintf(name + at, size - at, "S0_IiiE");
	for (unsigned int i = 1; i <= n; i++) {
		assert_true(i < 36);
		at += (size_t)snprintf(name + at, size - at, "S%c_E", digits[i]);
	}
	snprintf(name + at, size - at, "Evv");
}

static void test_packs(void **state)
{
	char name[1024];

	(void)state;
	expand(name, sizeof(name), 1);
	expect(name, "f<(A<A<int, int>, A<int, int> >)...>");
	expand(name, sizeof(name), 35);
	expect_untouched(name);
}

static void test_endless(void **state)
{
	(void)state;
	expect_untouched("_RMIC1aFGzzzzzzzz_EuEu");
	expect_untouched("_RNvMIC1aFGzzzzzzzz_EuEu1f");
	expect_untouched("_RNvMIC1aDGzzzzzzzz_EL_Eu1f");
	expect_untouched("_RNvMIC1aFGzzzzzzzzzzzzzzzzzzzzzzzz_EuEu1f");
	/* 62^2 of them: as many as this in each line of a perf map take minutes. */
	expect_untouched("_RMIC1aFGZZ_EuEu");
	expect_repeated("_Zcv", "T_I", "i", "E", 100);
	expect_repeated("_Zcv", "T0_I", "i", "E", 80);
	expect_repeated("_ZN1Acv", "PT_I", "i", "EE", 60);
	expect_repeated("_Zcv", "T_IL_Zcv", "i", "Ev", 60);
	/* Those of compilers have one, and names may look as if they had. */
	expect("_ZN1acvT_IiEEv", "a::operator int<int>");
	expect("_RNvC1a9GADGETS_X", "a::GADGETS_X");
	expect("_RNvNtCs1_1a3mod9GADGETS_X", "a::mod::GADGETS_X");
	/* Here it is a binder, behind what looks like an identifier's length. */
	expect_untouched("_RNvMsC9_C1aFGZZ_EuEu1f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_marks),
		cmocka_unit_test(test_rust),  cmocka_unit_test(test_explosion),
		cmocka_unit_test(test_deep),  cmocka_unit_test(test_filt),
		cmocka_unit_test(test_d),     cmocka_unit_test(test_endless),
		cmocka_unit_test(test_packs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
