// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Layouts of V8 by the constants of four versions, and of constants that are missing or cannot be
 * used; the `node` of this machine, if it has one; strings; the check of a process.
 * Covers: symbols/runtime/v8_file.c symbols/runtime/v8_code.c symbols/runtime/v8_check.c
 * Covers: symbols/elf/arch.h symbols/elf/arch/x86_64.h symbols/elf/arch/arm64.h
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/elf/arch.h"
#include "symbols/elf/elffile.h"
#include "symbols/runtime/v8_check.h"
#include "symbols/runtime/v8_code.h"
#include "symbols/runtime/v8_file.h"
#include "tests/support/rights.h"
#include "tests/symbols/runtime/v8_constants.h"

#define COUNT (sizeof(v8_constants) / sizeof(v8_constants[0]))

/* The layout of a version; of those constants that begin with `other`, the value is another. */
static int layout_of(int version, const char *other, int32_t value, struct v8_layout *out,
		     const char **missing)
{
	struct v8_constants *c = v8_constants_new();
	int err;

	assert_non_null(c);
	for (size_t i = 0; i < COUNT; i++) {
		int32_t v = v8_constants[i].value[version];

		if (v != NONE && other && !strncmp(v8_constants[i].name, other, strlen(other)))
			v = value;
		if (v != NONE)
			v8_constants_note(c, v8_constants[i].name, v);
	}
	v8_constants_note(c, "class_Map__instance_type__uint16_t", 99); /* not V8's */
	v8_constants_note(c, "v8dbg_class_Map__instance_types", 98);
	err = v8_constants_layout(c, out, missing);
	v8_constants_free(c);
	return err;
}

/* The members of SharedFunctionInfo, from its name on. */
#define SHARED(at)                                                                                 \
	.shared_name = (at), .shared_script = (at) + 16, .shared_counts = (at) + 24,               \
	.shared_id = (at) + 36, .shared_size = (at) + 44

static const struct v8_layout expected[V8_VERSIONS] = {
	{SHARED(16), .function_first = 2065, .function_last = 2081, .context_first = 207,
	 .context_last = 216, .shared_type = 257, .script_type = 170, .scope_type = 256,
	 .function_shared = 24, .scope_vars = 3, .scope_start = 0},
	{SHARED(16), .function_first = 2066, .function_last = 2082, .context_first = 205,
	 .context_last = 214, .shared_type = 262, .script_type = 167, .scope_type = 261,
	 .function_shared = 24, .scope_vars = 3, .scope_start = 0},
	{SHARED(16), .function_first = 2066, .function_last = 2082, .context_first = 190,
	 .context_last = 199, .shared_type = 274, .script_type = 167, .scope_type = 272,
	 .function_shared = 32, .scope_vars = 3, .scope_start = 0},
	{SHARED(24), .function_first = 2065, .function_last = 2081, .context_first = 220,
	 .context_last = 229, .shared_type = 282, .script_type = 167, .scope_type = 280,
	 .function_shared = 32, .scope_vars = 5, .scope_start = 3},
};

static void test_layouts(void **state)
{
	(void)state;
	for (int i = 0; i < V8_VERSIONS; i++) {
		struct v8_layout want = expected[i], got;
		const char *missing;

		/* These are the same in all. */
		want.map_type = 12;
		want.scope_locals = 2;
		want.script_size = 32;
		want.script_source = 8;
		want.script_name = 16;
		want.script_line = 24;
		want.string_length = 12;
		want.string_chars = 16;
		want.cons_first = 16;
		want.cons_second = 24;
		want.thin_actual = 16;
		want.sliced_parent = 16;
		want.sliced_offset = 24;
		want.external_data = 24;
		assert_int_equal(layout_of(i, NULL, 0, &got, &missing), 0);
		assert_null(missing);
		assert_memory_equal(&got, &want, sizeof(want));
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *name;
		int32_t value;
		const char *missing;
	} cases[] = {
		{"v8dbg_class_JSFunction__shared__", NONE, "class_JSFunction__shared__"},
		{"v8dbg_class_JSFunction__shared__", 0, "class_JSFunction__shared__"},
		{"v8dbg_class_JSFunction__shared__", -8, "class_JSFunction__shared__"},
		{"v8dbg_class_JSFunction__shared__", 264, "class_JSFunction__shared__"},
		{"v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE", NONE, "type_ScopeInfo__SCOPE_INFO_TYPE"},
		{"v8dbg_TaggedSize", 4, "TaggedSize"}, /* compressed pointers */
		{"v8dbg_SmiShiftSize", 0, "SmiShiftSize"},
		{"v8dbg_off_fp_function", -24, "off_fp_function"},
		{"v8dbg_HeapObjectTag", NONE, "HeapObjectTag"},
		{"v8dbg_class_SeqTwoByteString__chars__", 24, "class_SeqTwoByteString__chars__"},
		{"v8dbg_LastJSFunctionType", 3000, "LastJSFunctionType"},
		{"v8dbg_LastJSFunctionType", 2000, "LastJSFunctionType"},
		{"v8dbg_LastContextType", 100, "LastContextType"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct v8_layout none = {0};
		struct v8_layout got;
		const char *missing;

		assert_int_equal(layout_of(3, cases[i].name, cases[i].value, &got, &missing),
				 -ENOTSUP);
		assert_string_equal(missing, cases[i].missing);
		assert_memory_equal(&got, &none, sizeof(none));
	}
}

/* The file of this machine is read as a whole. */
static void test_file(void **state)
{
	struct elf_file *file;
	struct v8_file v8;

	(void)state;
	assert_int_equal(elf_file_open("/proc/self/exe", &file), 0);
	assert_false(v8_file_read(file, &v8));
	elf_file_free(file);
	if (access("/usr/bin/node", R_OK) != 0 || elf_file_open("/usr/bin/node", &file))
		skip_since("node is not installed");
	if (!v8_file_read(file, &v8)) { /* it is in libnode.so */
		elf_file_free(file);
		skip_since("V8 is not in /usr/bin/node");
	}
	assert_int_equal(v8.err, 0);
	assert_null(v8.missing);
	assert_true(v8.major && v8.minor);
	assert_in_range(v8.layout.version >> 16, 10, 99);
	assert_true(v8.code[1] > v8.code[0]);
	assert_in_range(v8.code[1] - v8.code[0], 1 << 20, 16 << 20);
	elf_file_free(file);
}

/* --- strings --------------------------------------------------------------------------------- */

static void expect_text(const void *from, size_t size, bool wide, const char *want)
{
	char to[64];

	assert_int_equal(v8_text(from, size, wide, to, sizeof(to)), strlen(want));
	assert_string_equal(to, want);
}

static void test_text(void **state)
{
	static const uint16_t wide[] = {0x65e5, 0x672c, 'x', 0xd83d, 0xde00, 0xd83d, 'y', 0xde00};
	char many[400], to[400];

	(void)state;
	expect_text("leaf", 4, false, "leaf");
	expect_text("gr\xf6\xdf"
		    "e",
		    5, false, "größe");
	expect_text("a\x1b[m\n", 5, false, "a?[m?");
	expect_text("", 0, false, "");
	expect_text(wide, 6, true, "日本x");
	expect_text(wide, 10, true, "日本x😀");
	expect_text(wide, 8, true, "日本x?"); /* cut in the middle of a pair */
	expect_text(wide, 7, true, "日本x");
	expect_text(wide, sizeof(wide), true, "日本x😀?y?");
	memset(many, 0xe9, sizeof(many)); /* two bytes each */
	assert_int_equal(v8_text((uint8_t *)many, sizeof(many), false, to, sizeof(to)), 398);
	assert_int_equal(v8_text((uint8_t *)many, sizeof(many), false, to, 1), 0);
	assert_string_equal(to, "");
}

/* --- a process ------------------------------------------------------------------------------- */

static int32_t memory[2];
static int fails;

static int read_memory(void *arg, uint64_t addr, void *to, size_t size)
{
	(void)arg;
	if (fails)
		return -EFAULT;
	assert_int_equal(size, sizeof(int32_t));
	memcpy(to, &memory[addr == 0x2000], size);
	return 0;
}

static void test_check(void **state)
{
	const struct v8_layout layout = {.version = 13 << 16 | 6};
	struct v8_place place = {0x1000, 0x2000};
	const char *why;

	(void)state;
	memory[0] = 13;
	memory[1] = 6;
	assert_int_equal(v8_check(&layout, &place, read_memory, NULL, &why), 0);
	assert_null(why);
	memory[1] = 7;
	assert_int_equal(v8_check(&layout, &place, read_memory, NULL, &why), -EINVAL);
	assert_string_equal(why, "it is another version");
	memory[0] = 12;
	memory[1] = 6;
	assert_int_equal(v8_check(&layout, &place, read_memory, NULL, &why), -EINVAL);
	fails = 1;
	assert_int_equal(v8_check(&layout, &place, read_memory, NULL, &why), -EFAULT);
	place.minor = 0;
	assert_int_equal(v8_check(&layout, &place, read_memory, NULL, &why), -EINVAL);
	assert_string_equal(why, "it does not say which version it is");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_file),	cmocka_unit_test(test_text),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
