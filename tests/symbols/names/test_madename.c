// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of code made at run time, as node 8 to 24, JDK 17 and agents write them, and those of stubs
 * and builtins.
 * Covers: symbols/names/madename.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/names/madename.h"

static void expect_js(const char *text, const char *name, const char *file, uint32_t line)
{
	struct madename got;

	for (int hotspot = 0; hotspot < 2; hotspot++) {
		assert_true(madename_read(text, hotspot, &got));
		assert_int_equal(got.language, MADENAME_JS);
		assert_string_equal(got.name, name);
		assert_string_equal(got.file, file);
		assert_int_equal(got.line, line);
	}
}

static void expect_java(const char *text, const char *name)
{
	struct madename got;

	assert_false(madename_read(text, false, &got));
	assert_int_equal(got.language, MADENAME_OTHER);
	assert_true(madename_read(text, true, &got));
	assert_int_equal(got.language, MADENAME_JAVA);
	assert_string_equal(got.name, name);
	assert_string_equal(got.file, "");
	assert_int_equal(got.line, 0);
}

static void expect_other(const char *text)
{
	struct madename got;

	for (int hotspot = 0; hotspot < 2; hotspot++) {
		assert_false(madename_read(text, hotspot, &got));
		assert_int_equal(got.language, MADENAME_OTHER);
	}
}

static void test_js(void **state)
{
	(void)state;
	expect_js("JS:*inner /tmp/g/t.js:2:15", "inner", "/tmp/g/t.js", 2);
	expect_js("JS:~main /tmp/g/t.js:6:14", "main", "/tmp/g/t.js", 6);
	expect_js("JS:^größe /tmp/g/t.js:5:24", "größe", "/tmp/g/t.js", 5);
	expect_js("JS:+'Thing /tmp/g/t.js:1:1", "Thing", "/tmp/g/t.js", 1);
	expect_js("JS:*'inner /tmp/g/t.js:2:15", "inner", "/tmp/g/t.js", 2);
	expect_js("JS:+ /tmp/g/t.js:4:42", MADENAME_NONE, "/tmp/g/t.js", 4);
	expect_js("Eval:~ /tmp/g/t.js:1:1", MADENAME_NONE, "/tmp/g/t.js", 1);
	expect_js("JS:^get prop /tmp/g/t.js:1:58", "get prop", "/tmp/g/t.js", 1);
	expect_js("JS:~get /tmp/with space/t.js:7:1", "get", "/tmp/with space/t.js", 7);
	expect_js("JS:*[Symbol.iterator] /a.js:1:2", "[Symbol.iterator]", "/a.js", 1);
	expect_js("JS:*f node:internal/timers:9:1", "f", "node:internal/timers", 9);
	expect_js("JS:*f file:///tmp/m.mjs:3:10", "f", "/tmp/m.mjs", 3);
	expect_js("JS:~ evalmachine.<anonymous>:1:1", MADENAME_NONE, "evalmachine.<anonymous>", 1);
	expect_js("Script:~ [eval]:1:1", MADENAME_NONE, "[eval]", 1);
	expect_js("JS:*f my own.js:1:2", "f", "my own.js", 1);
}

static void test_older_js(void **state)
{
	(void)state;
	expect_js("LazyCompile:*foo /a/b.js:10", "foo", "/a/b.js", 10);
	expect_js("LazyCompile:~foo /a/b.js:10:3", "foo", "/a/b.js", 10);
	expect_js("LazyCompile:foo native array.js:10", "foo", "native array.js", 10);
	expect_js("Function:~Module._load module.js:276", "Module._load", "module.js", 276);
	expect_js("Script:~/a/b.js", MADENAME_NONE, "/a/b.js", 0);
	expect_js("JS:*foo", "foo", "?", 0);
	expect_js("JS:*foo :4:2", "foo", "?", 4);
	expect_js("JS:", MADENAME_NONE, "?", 0);
	expect_js("JS:~f /a.js:99999999999999999999:1", "f", "/a.js", 0);
	expect_js("JS:~f /a.js:1x:2", "f", "/a.js:1x", 2);
}

static void test_java(void **state)
{
	(void)state;
	expect_java("java.lang.String.hashCode", "java.lang.String.hashCode");
	expect_java("Spin.main", "Spin.main");
	expect_java("int Spin.leaf(int)", "Spin.leaf");
	expect_java("void java.util.List.sort(java.util.Comparator, int)", "java.util.List.sort");
	expect_java("boolean Foo$$Lambda$14/0x0000000800c03000.test(java.lang.Object)",
		    "Foo$$Lambda$14/0x0000000800c03000.test");
	expect_java("java.lang.Object.<init>()", "java.lang.Object.<init>");
	expect_java("Lcom/foo/Bar;::baz", "com.foo.Bar.baz");
	expect_java("com.foo.Bar::baz", "com.foo.Bar.baz");
	expect_java("com.foo.Bar::baz(int)", "com.foo.Bar.baz");
}

static void test_other(void **state)
{
	(void)state;
	expect_other("");
	expect_other("Builtin:InterpreterEntryTrampoline");
	expect_other("BytecodeHandler:Star0");
	expect_other("RegExp:a.b");
	expect_other("StubRoutines (initial stubs)");
	expect_other("I2C/C2I adapters(0xbbb)");
	expect_other("RuntimeStub - _new_instance_Java");
	expect_other("Interpreter");
	expect_other("nmethod");
	expect_other("vtable chunks");
	expect_other("::f");
	expect_other("L;::f");
	expect_other("Stub v1.2");
	expect_other(".f");
	expect_other("a.");
	expect_other("1.5(x)");
}

/* Names in the process may be as long as any list keeps. */
static void test_long(void **state)
{
	static char text[4096];
	struct madename got;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "JS:*", 4);
	assert_true(madename_read(text, false, &got));
	assert_int_equal(strlen(got.name), MADENAME_ROOM - 1);
	text[2000] = ' ';
	assert_true(madename_read(text, false, &got));
	assert_int_equal(strlen(got.file), MADENAME_ROOM - 1);
	memcpy(text, "a.xx", 4);
	text[2000] = 'x';
	assert_true(madename_read(text, true, &got));
	assert_int_equal(strlen(got.name), MADENAME_ROOM - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_js),   cmocka_unit_test(test_older_js),
		cmocka_unit_test(test_java), cmocka_unit_test(test_other),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
