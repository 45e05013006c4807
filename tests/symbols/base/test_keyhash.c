// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hash against the vectors of its authors (SipHash: a fast short-input PRF, appendix A; and
 * vectors.h of their program), and a key that is another one in each run.
 * Covers: symbols/base/keyhash.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/base/keyhash.h"

#include <uthash.h>

static void vectors(void **state)
{
	static const struct {
		size_t size;
		uint64_t hash;
	} want[] = {
		{0, 0x726fdb47dd0e0e31u},
		{1, 0x74f839c593dc67fdu},
		{8, 0x93f5f5799a932462u},
		{15, 0xa129ca6149be45e5u},
	};
	uint8_t key[16], data[16];

	(void)state;
	for (uint8_t i = 0; i < 16; i++)
		key[i] = data[i] = i;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_true(siphash(key, data, want[i].size) == want[i].hash);
}

/* What a run of this program says of eight names, 256 bits in all. */
static void said(char text[128])
{
	char self[4096], command[4200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *in;

	assert_true(n > 0);
	self[n] = '\0';
	snprintf(command, sizeof(command), "'%s' --hash", self);
	in = popen(command, "r");
	assert_non_null(in);
	assert_non_null(fgets(text, 128, in));
	pclose(in);
	assert_int_equal(strlen(text), 64);
}

static void say(void)
{
	for (char name = 'a'; name < 'a' + 8; name++)
		printf("%08x", keyhash(&name, 1));
}

static void key_is_of_the_run(void **state)
{
	char first[128], second[128];

	(void)state;
	assert_int_equal(keyhash("name", 4), keyhash("name", 4));
	said(first);
	said(second);
	assert_string_not_equal(first, second);
}

struct item {
	UT_hash_handle hh;
	char name[16];
};

/* uthash takes it: a table of names finds each by it. */
static void table_uses_it(void **state)
{
	struct item *table = NULL, items[100], *found;

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(items[i].name, sizeof(items[i].name), "name %d", i);
		HASH_ADD_KEYPTR(hh, table, items[i].name, strlen(items[i].name), &items[i]);
		assert_int_equal(items[i].hh.hashv, keyhash(items[i].name, strlen(items[i].name)));
	}
	HASH_FIND(hh, table, "name 42", 7, found);
	assert_ptr_equal(found, &items[42]);
	HASH_CLEAR(hh, table);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
		cmocka_unit_test(key_is_of_the_run),
		cmocka_unit_test(table_uses_it),
	};

	if (argc > 1 && !strcmp(argv[1], "--hash")) {
		say();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
