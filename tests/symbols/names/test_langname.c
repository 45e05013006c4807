/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of Ada, Fortran, Haskell, OCaml and Pascal: single ones, ones of C that look alike, and
 * hostile ones. test_langname.py compares with compilers.
 * Covers: symbols/names/langname.c symbols/names/demangle.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/names/demangle.h"
#include "symbols/names/langname.h"
#include "symbols/names/symname.h"

#define BOTH (LANGNAME_ADA | LANGNAME_HASKELL)

static void expect_in(const char *name, unsigned int languages, const char *want)
{
	char *got = demangle_in(name, languages);

	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

/* By the name alone. */
static void expect(const char *name, const char *want)
{
	expect_in(name, 0, want);
	expect_in(name, BOTH, want);
}

static void test_ocaml(void **state)
{
	(void)state;
	assert_true(symname_is_marker("camlShapes__code_begin", strlen("camlShapes__code_begin")));
	assert_true(symname_is_marker("camlShapes__code_end", strlen("camlShapes__code_end")));
	assert_false(symname_is_marker("camlShapes__codes_1", strlen("camlShapes__codes_1")));
	expect("camlStdlib__List__map_456", "Stdlib.List.map");
	expect("camlShapes__fun_580", "Shapes.fun");
	expect("camlShapes__entry", "Shapes.entry");
	expect("camlShapes__$2b$2b$2b_84", "Shapes.+++");
	expect("camlShapes__twice$27_89", "Shapes.twice'");
	expect("camlShapes___hidden_12", "Shapes._hidden");
	expect("camlStdlib__List.map_456", "Stdlib.List.map"); /* 5.1 */
	expect("camlShapes__$e9t$e9_3", "Shapes.\xc3\xa9t\xc3\xa9");
	expect("caml_main", "caml_main");
	expect("camlCase", "camlCase");
	expect("camlCase_3", "camlCase_3");
	expect("camlCase__data", "camlCase__data");
}

static void test_haskell(void **state)
{
	(void)state;
	expect_in("base_GHCziBase_map_info", BOTH, "GHC.Base.map");
	expect_in("containerszm0zi6zi7_DataziMapziInternal_insert_info", BOTH,
		  "Data.Map.Internal.insert");
	expect_in("Main_zpzpzp_info", BOTH, "Main.+++");
	expect_in("ghczmprim_GHCziTypes_Izh_con_info", BOTH, "GHC.Types.I#");
	expect_in("ghczmprim_GHCziTuple_Z3T_con_info", BOTH, "GHC.Tuple.(,,)");
	expect_in("base_GHCziException_zdfShowZ2Hzuzdcshow_slow", BOTH,
		  "GHC.Exception.$fShow(#,#)_$cshow");
	expect_in("Main_z3b1U_info", BOTH, "Main.\xce\xb1");
	/* what is not such a name */
	expect_in("stg_ap_pp_info", BOTH, "stg_ap_pp_info");
	expect_in("rLk_info", BOTH, "rLk_info");
	expect_in("Main_zy_info", BOTH, "Main_zy_info");
	expect_in("Main_Z99999999999999999999T_info", BOTH, "Main_Z99999999999999999999T_info");
	expect_in("Main_z999999999999999999999U_info", BOTH, "Main_z999999999999999999999U_info");
	/* of C */
	expect("base_GHCziBase_map", "base_GHCziBase_map");
	expect_in("Widget_get_info", LANGNAME_ADA, "Widget_get_info");
}

static void test_fortran(void **state)
{
	(void)state;
	expect("__heat_eq_MOD_spin_it", "heat_eq::spin_it");
	expect("__heat_eq_MOD_spin_it.constprop.0", "heat_eq::spin_it.constprop.0");
	expect("__heat_MOD___copy_heat_T", "heat::__copy_heat_T");
	expect("__MOD_spin", "__MOD_spin");
	expect("__heat_MOD_", "__heat_MOD_");
	expect("MAIN__", "MAIN__");
}

static void test_pascal(void **state)
{
	(void)state;
	expect("P$SHAPES_$$_ADD$LONGINT$LONGINT$$LONGINT", "SHAPES.ADD");
	expect("SYSTEM_$$_RENAME$file$RAWBYTESTRING", "SYSTEM.RENAME");
	expect("P$SHAPES$_$TTHING_$__$$_SPIN$LONGINT", "SHAPES.TTHING.SPIN");
	expect("P$SHAPES$_$NESTED$ANSISTRING$DOUBLE_$$_INNER", "SHAPES.NESTED.INNER");
	expect("U_$$_", "U_$$_");
	expect("x_$$_y", "x_$$_y");
}

static void test_ada(void **state)
{
	(void)state;
	expect_in("geo__spin__2", BOTH, "geo.spin");
	expect_in("_ada_main_ada", BOTH, "main_ada");
	expect_in("geo__inner_part__Oadd", BOTH, "geo.inner_part.\"+\"");
	expect_in("geo__inner_part__workerTB", BOTH, "geo__inner_part__workerTB");
	expect_in("geo__spin.part.0", BOTH, "geo.spin.part.0");
	/* of C */
	expect_in("my__func", LANGNAME_HASKELL, "my__func");
	expect_in("my__func", 0, "my__func");
}

/* Each comes back unchanged or shorter than the limit. */
static void test_hostile(void **state)
{
	static const char *const heads[] = {"camlA__", "A_", "a_B_", "__a_MOD_",
					    "P$A_$$_", "P$", "a__",  "_ada_"};
	static const char *const parts[] = {"$ff", "ZZ",   "Z64T", "z10ffffU", "_$$_", "$_$A", "__",
					    "zz",  "Oadd", "__2",  ".",	       "_1",   "Z"};
	static const char *const ends[] = {"_1", "_info", "", ".part.0"};
	char *name = malloc(300000), *got;

	(void)state;
	assert_non_null(name);
	for (size_t i = 0; i < 8 * 13 * 4; i++) {
		for (size_t length = 1; length < 20000; length = length * 5 + 1) {
			size_t at = (size_t)sprintf(name, "%s", heads[i % 8]);

			while (at < length)
				at += (size_t)sprintf(name + at, "%s", parts[i / 8 % 13]);
			strcpy(name + at, ends[i / 8 / 13]);
			got = demangle_in(name, BOTH);
			assert_non_null(got);
			assert_true(strlen(got) <= 8192 || !strcmp(got, name));
			free(got);
		}
	}
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ocaml),	cmocka_unit_test(test_haskell),
		cmocka_unit_test(test_fortran), cmocka_unit_test(test_pascal),
		cmocka_unit_test(test_ada),	cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
