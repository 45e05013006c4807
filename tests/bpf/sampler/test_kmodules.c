// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Modules of the kernel whose addresses are used again: what was where at which count of changes,
 * what is true of it when the kernel is asked later, and what is not known.
 * Covers: bpf/sampler/kmodules.c bpf/sampler/ksyms.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/sampler/kmodules.h"
#include "bpf/sampler/ksyms.h"
#include "bpf/prog/layout.h"

static struct module_change change(const char *name, uint64_t start, uint32_t size,
				   uint32_t changes, bool gone)
{
	struct module_change c = {.start = start, .size = size, .changes = changes, .gone = gone};

	snprintf(c.name, sizeof(c.name), "%s", name);
	return c;
}

static void come(struct kmodules *k, const char *name, uint64_t start, uint32_t changes)
{
	struct module_change c = change(name, start, 0x1000, changes, false);

	kmodules_note(k, &c);
}

/* changes: before it went. */
static void go(struct kmodules *k, const char *name, uint64_t start, uint32_t changes)
{
	struct module_change c = change(name, start, 0x1000, changes, true);

	kmodules_note(k, &c);
}

static const char *at(struct kmodules *k, uint32_t changes, uint64_t addr)
{
	static const char *const words[] = {
		[KMODULES_NOTHING] = "nothing", [KMODULES_SAME] = "same",
		[KMODULES_INIT] = "init",	[KMODULES_GONE] = "gone",
		[KMODULES_OTHER] = "other",	[KMODULES_LOST] = "lost",
	};
	static char text[80];
	struct kmodules_code code = {0};
	enum kmodules_then then = kmodules_at(k, changes, addr, &code);

	snprintf(text, sizeof(text), "%s%s%s", words[then], code.name ? " " : "",
		 code.name ? code.name : "");
	return text;
}

/* One goes and another takes its place, then the first again. */
static void test_place_is_taken(void **state)
{
	struct kmodules *k;

	(void)state;
	assert_int_equal(kmodules_new(&k), 0);
	assert_string_equal(at(k, 0, 0x5000), "nothing");
	come(k, "alpha", 0x5000, 1);
	assert_string_equal(at(k, 0, 0x5000), "other");
	assert_string_equal(at(k, 1, 0x5000), "same alpha");
	assert_string_equal(at(k, 1, 0x5fff), "same alpha");
	assert_string_equal(at(k, 1, 0x6000), "nothing");
	assert_string_equal(at(k, 1, 0x4fff), "nothing");
	go(k, "alpha", 0x5000, 1);
	assert_string_equal(at(k, 1, 0x5800), "gone alpha");
	assert_string_equal(at(k, 2, 0x5800), "nothing");
	come(k, "bravo", 0x5800, 3);
	assert_string_equal(at(k, 1, 0x5800), "gone alpha");
	assert_string_equal(at(k, 2, 0x5800), "other");
	assert_string_equal(at(k, 3, 0x5800), "same bravo");
	go(k, "bravo", 0x5800, 3);
	come(k, "alpha", 0x5000, 5);
	assert_string_equal(at(k, 1, 0x5800), "gone alpha");
	assert_string_equal(at(k, 3, 0x5800), "gone bravo");
	assert_string_equal(at(k, 4, 0x5800), "other");
	assert_string_equal(at(k, 5, 0x5800), "same alpha");
	kmodules_free(k);
	kmodules_free(NULL);
}

/* One that was there before the first count. */
static void test_from_before(void **state)
{
	struct kmodules *k;

	(void)state;
	assert_int_equal(kmodules_new(&k), 0);
	come(k, "alpha", 0x1000, 1);
	assert_string_equal(at(k, 0, 0x9000), "nothing");
	go(k, "early", 0x9000, 1);
	assert_string_equal(at(k, 0, 0x9000), "gone early");
	assert_string_equal(at(k, 1, 0x9fff), "gone early");
	assert_string_equal(at(k, 2, 0x9000), "nothing");
	kmodules_free(k);
}

/* Code of the init is given up without a word, and another's code comes there. */
static void test_init(void **state)
{
	struct module_change c = change("alpha", 0x1000, 0x1000, 1, false);
	struct kmodules *k;

	(void)state;
	assert_int_equal(kmodules_new(&k), 0);
	c.init_start = 0x4000;
	c.init_size = 0x1000;
	kmodules_note(k, &c);
	assert_string_equal(at(k, 0, 0x4000), "other");
	assert_string_equal(at(k, 1, 0x4000), "init alpha");
	come(k, "bravo", 0x4800, 2);
	assert_string_equal(at(k, 1, 0x4800), "init alpha");
	assert_string_equal(at(k, 2, 0x4000), "init alpha");
	assert_string_equal(at(k, 2, 0x4800), "same bravo");
	go(k, "alpha", 0x1000, 2);
	assert_string_equal(at(k, 1, 0x4800), "gone alpha");
	assert_string_equal(at(k, 2, 0x4fff), "same bravo");
	assert_string_equal(at(k, 3, 0x4000), "nothing");
	kmodules_free(k);
}

/* Two CPUs raise the count before either of them reads it. */
static void test_at_once(void **state)
{
	struct kmodules *k;

	(void)state;
	assert_int_equal(kmodules_new(&k), 0);
	come(k, "bravo", 0x3000, 2);
	come(k, "alpha", 0x1000, 2);
	assert_string_equal(at(k, 2, 0x1000), "same alpha");
	assert_string_equal(at(k, 2, 0x3000), "same bravo");
	go(k, "alpha", 0x1000, 2);
	go(k, "bravo", 0x3000, 2);
	come(k, "delta", 0x1000, 5);
	assert_string_equal(at(k, 2, 0x1000), "gone alpha");
	assert_string_equal(at(k, 2, 0x3000), "gone bravo");
	assert_string_equal(at(k, 4, 0x1000), "other");
	assert_string_equal(at(k, 5, 0x1000), "same delta");
	kmodules_free(k);
}

/* Of changes that were lost nothing is made up; what is known afterwards is. */
static void test_lost(void **state)
{
	struct kmodules *k;
	uint64_t before;

	(void)state;
	assert_int_equal(kmodules_new(&k), 0);
	come(k, "alpha", 0x1000, 1);
	before = kmodules_read(k);
	kmodules_note_lost(k, 9);
	assert_true(kmodules_read(k) != before);
	assert_string_equal(at(k, 1, 0x1000), "lost");
	assert_string_equal(at(k, 8, 0x77), "lost");
	assert_string_equal(at(k, 9, 0x1000), "nothing");
	go(k, "alpha", 0x1000, 9);
	assert_string_equal(at(k, 9, 0x1000), "gone alpha");
	assert_string_equal(at(k, 8, 0x1000), "lost");
	kmodules_free(k);
}

/* Sizes that lead nowhere, a name without an end, and more than is kept. */
static void test_bounds(void **state)
{
	struct module_change c = change("over", UINT64_MAX - 10, 100, 1, false);
	struct kmodules *k;

	(void)state;
	assert_int_equal(kmodules_new(&k), 0);
	kmodules_note(k, &c);
	assert_string_equal(at(k, 1, UINT64_MAX - 5), "nothing");
	c = change("", 0x1000, 0x10, 2, false);
	memset(c.name, 'x', sizeof(c.name));
	kmodules_note(k, &c);
	/* "same " and a name of 55 */
	assert_int_equal(strlen(at(k, 2, 0x1000)), 5 + 55);
	c.gone = true;
	kmodules_note(k, &c);
	assert_int_equal(strlen(at(k, 2, 0x1000)), 5 + 55);
	/* from here on: one that stays, and 2,000 that go */
	come(k, "stays", 0x2000, 10);
	for (uint32_t i = 0; i < 2000; i++) {
		come(k, "passes", 0x100000, 11 + 2 * i);
		go(k, "passes", 0x100000, 11 + 2 * i);
	}
	assert_string_equal(at(k, 11 + 2 * 1999, 0x100000), "gone passes");
	assert_string_equal(at(k, 11 + 2 * 1999, 0x2000), "same stays");
	assert_string_equal(at(k, 11, 0x100000), "lost");
	assert_string_equal(at(k, 11, 0x2000), "lost");
	kmodules_free(k);
}

/* More that are still there than are kept: of what came last nothing is told, nor made up. */
static void test_too_many(void **state)
{
	struct kmodules *k;
	char name[16];

	(void)state;
	assert_int_equal(kmodules_new(&k), 0);
	for (uint32_t i = 0; i < 1100; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		come(k, name, 0x100000 + i * 0x1000, i + 1);
	}
	assert_string_equal(at(k, 1100, 0x100000), "same m0");
	assert_string_equal(at(k, 1100, 0x100000 + 1099 * 0x1000), "nothing");
	assert_string_equal(at(k, 1099, 0x100000 + 1099 * 0x1000), "lost");
	kmodules_free(k);
}

static const char *named(struct ksyms *s, uint64_t addr, uint64_t changes, const char **module)
{
	struct ksym one = {.addr = addr, .leaf = 1};

	ksyms_resolve(s, &one, 1, changes << 32);
	*module = one.module;
	return one.name;
}

/* An address that is in no function, and one of the kernel's own, which modules here cannot have.
 */
static void test_labels(void **state)
{
	const uint64_t nowhere =
		0xffffffffff000000ull; /* above modules, below fixed mappings' end */
	struct module_change c = change("alpha", nowhere, 0x1000, 1, false);
	const char *module;
	struct kmodules *k;
	struct ksyms *s;

	(void)state;
	assert_int_equal(kmodules_new(&k), 0);
	assert_int_equal(ksyms_new(&s), 0);
	assert_null(ksyms_trouble(s));
	ksyms_set_modules(s, k);
	assert_string_equal(named(s, nowhere, 0, &module), "[kernel]");
	c.init_start = nowhere + 0x4000;
	c.init_size = 0x1000;
	kmodules_note(k, &c);
	assert_string_equal(named(s, nowhere, 0, &module), "[unloaded module]");
	assert_string_equal(named(s, nowhere, 1, &module), "[alpha]");
	assert_string_equal(module, "alpha");
	assert_string_equal(named(s, nowhere + 0x4000, 1, &module), "[init of alpha]");
	assert_string_equal(module, "alpha");
	c.gone = true;
	kmodules_note(k, &c);
	assert_string_equal(named(s, nowhere, 1, &module), "[unloaded alpha]");
	assert_string_equal(module, "alpha");
	assert_string_equal(named(s, nowhere, 2, &module), "[kernel]");
	assert_string_equal(module, "vmlinux");
	ksyms_set_modules(s, NULL);
	assert_non_null(ksyms_trouble(s));
	ksyms_free(s);
	kmodules_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place_is_taken), cmocka_unit_test(test_from_before),
		cmocka_unit_test(test_init),	       cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_lost),	       cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_too_many),       cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
