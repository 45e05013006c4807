/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layouts of the CPythons of this machine, as a program prints them that is compiled with the
 * headers of each; and of tables that lie.
 * Covers: symbols/runtime/python_layout.c
 */
#include "tests/symbols/runtime/pythons.h"

#include <errno.h>

#include "symbols/runtime/python_offsets.h"
#include "tests/support/scratch.h"
#include "tests/symbols/runtime/debug_offsets.h"
#include "tests/symbols/runtime/layouts.h"

static char folder[SCRATCH];

static bool headers_read(const char *include, __u32 version, struct python_layout *out)
{
	char command[4 * PATH_MAX];

	snprintf(command, sizeof(command), "%s/internal/pycore_pystate.h", include);
	if (access(command, R_OK) != 0)
		return false;
	snprintf(command, sizeof(command),
		 "${CC:-cc} -w -x c -I%s/.. -I%s -I%s/internal -o %s/probe "
		 "tests/symbols/runtime/layout_probe.h && %s/probe",
		 include, include, include, folder, folder);
	layouts_print(command, version, out);
	return true;
}

/* 1: its layout is the one of its headers. */
static size_t check_python(const char *path)
{
	static struct facts facts;
	struct python_layout got, expected;

	facts_read(path, &facts);
	if (facts.version < 0x03080000) {
		assert_int_equal(
			python_layout_of(facts.version, facts.table, sizeof(facts.table), &got),
			-ENOTSUP);
		return 0;
	}
	if (facts.version >> 16 > 0x030f || (facts.version & 0xf0) != 0xf0 ||
	    !headers_read(facts.include, facts.version, &expected))
		return 0;
	assert_int_equal(
		python_layout_of(facts.version, facts.table, PYTHON_DEBUG_OFFSETS_SIZE, &got), 0);
	layouts_same(&got, &expected);
	print_message("%s: %x\n", path, facts.version);
	return 1;
}

static void offsets_are_those_of_the_headers(void **state)
{
	(void)state;
	pythons_each(check_python);
}

static void recorded_tables_give_the_layouts_of_their_headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(debug_offsets) / sizeof(*debug_offsets); i++) {
		const struct python_layout *expected = &debug_offsets[i].layout;
		const uint8_t *table = (const uint8_t *)debug_offsets[i].words;
		struct python_layout got;

		assert_true(debug_offsets[i].size <= PYTHON_DEBUG_OFFSETS_SIZE);
		assert_int_equal(
			python_layout_of(expected->version, table, debug_offsets[i].size, &got), 0);
		layouts_same(&got, expected);
	}
}

static void other_versions_are_refused(void **state)
{
	static const __u32 versions[] = {
		0,	    0x02071200, 0x020712f0, 0x030710f0, 0x030800c1, 0x030b00a7, 0x030b00f1,
		0x030c00b4, 0x030f00b1, 0x031000f0, 0x040b02f0, 0xff0b02f0, 0xffffffff,
	};
	const uint8_t *table = (const uint8_t *)debug_offsets[0].words;
	const struct python_layout none = {0};
	struct python_layout got;

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		got.version = 1;
		assert_int_equal(python_layout_of(versions[i], table, debug_offsets[0].size, &got),
				 -ENOTSUP);
		assert_memory_equal(&got, &none, sizeof(got));
	}
	assert_int_equal(python_layout_of(0x030b02f0, NULL, 0, &got), 0);
}

/* Each word of a table as it might lie: whatever comes out is a layout that may be used. */
static void tables_that_lie_are_refused(void **state)
{
	static const uint64_t lies[] = {0,	    1,		4,	    511,
					513,	    4095,	4096,	    1u << 20,
					0xfffffff8, 1ull << 32, 1ull << 63, UINT64_MAX - 7,
					UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(debug_offsets) / sizeof(*debug_offsets); i++) {
		size_t count = debug_offsets[i].size / sizeof(uint64_t), refused = 0;
		__u32 version = debug_offsets[i].layout.version;

		for (size_t word = 0; word < count; word++)
			for (size_t lie = 0; lie < sizeof(lies) / sizeof(*lies); lie++) {
				struct python_layout got;
				uint64_t words[128];
				int err;

				memcpy(words, debug_offsets[i].words, debug_offsets[i].size);
				words[word] = lies[lie];
				err = python_layout_of(version, (const uint8_t *)words,
						       debug_offsets[i].size, &got);
				assert_true(!err || err == -EINVAL || err == -ENOTSUP);
				assert_int_equal(err == -ENOTSUP, word == 2 && lies[lie] == 1);
				assert_true(err || python_layout_is_sane(&got));
				refused +=
					err == -EINVAL && lie + 1 == sizeof(lies) / sizeof(*lies);
			}
		/* cookie, version, free_threaded, 9 sizes, 26 or 27 offsets */
		assert_int_equal(refused, 3 + 9 + (version >> 16 == 0x030f ? 27 : 26));
	}
}

static void short_tables_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(debug_offsets) / sizeof(*debug_offsets); i++) {
		__u32 version = debug_offsets[i].layout.version;
		size_t last = version >> 16 == 0x030d ? 71 : version >> 16 == 0x030e ? 81 : 94;
		struct python_layout got;

		for (size_t size = 0; size <= debug_offsets[i].size; size++) {
			uint8_t *table = malloc(size ? size : 1);

			assert_non_null(table);
			memcpy(table, debug_offsets[i].words, size);
			assert_int_equal(python_layout_of(version, table, size, &got),
					 size < last * sizeof(uint64_t) ? -EINVAL : 0);
			free(table);
		}
	}
}

static void insane_layouts_are_found_out(void **state)
{
	struct python_layout l;

	(void)state;
	for (__u32 minor = 8; minor <= 15; minor++) {
		const uint8_t *table = NULL;
		size_t size = 0;

		if (minor >= 13) {
			table = (const uint8_t *)debug_offsets[minor - 13].words;
			size = debug_offsets[minor - 13].size;
		}
		for (size_t i = 0; i < LAYOUT_FIELDS; i++) {
			static const __u32 lies[] = {1u << 20, 0xfffffffc, UINT32_MAX};
			__u32 version = minor >= 13 ? debug_offsets[minor - 13].layout.version
						    : 0x030000f0 | minor << 16;

			for (size_t lie = 0; lie < sizeof(lies) / sizeof(*lies); lie++) {
				assert_int_equal(python_layout_of(version, table, size, &l), 0);
				assert_true(python_layout_is_sane(&l));
				memcpy((__u32 *)&l + i, &lies[lie], sizeof(__u32));
				if (python_layout_is_sane(&l))
					fail_msg("3.%u: %s may be %x", minor, layout_names[i],
						 lies[lie]);
			}
		}
	}
	l = (struct python_layout){0};
	assert_false(python_layout_is_sane(&l));
}

static int setup(void **state)
{
	(void)state;
	scratch_folder(folder, "layout");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_those_of_the_headers),
		cmocka_unit_test(recorded_tables_give_the_layouts_of_their_headers),
		cmocka_unit_test(other_versions_are_refused),
		cmocka_unit_test(tables_that_lie_are_refused),
		cmocka_unit_test(short_tables_are_refused),
		cmocka_unit_test(insane_layouts_are_found_out),
	};

	return cmocka_run_group_tests(tests, setup, scratch_remove);
}
