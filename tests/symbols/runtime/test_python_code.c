/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts and line tables as the CPythons of this machine have them in memory, and what these say
 * that they mean.
 * Covers: symbols/runtime/python_code.c
 */
#include "tests/symbols/runtime/pythons.h"

#include <stdbool.h>

#include "symbols/base/text.h"
#include "symbols/runtime/python_code.h"
#include "symbols/runtime/python_offsets.h"
#include "tests/symbols/runtime/debug_offsets.h"

/* The layout of a version, with the texts of any build: it is not read from the process. */
static bool layout_of(__u32 version, struct python_layout *l)
{
	unsigned int minor = version >> 16 & 0xff;
	const uint8_t *table = NULL;
	size_t size = 0;

	if (minor >= 13 && minor <= 15) {
		version = debug_offsets[minor - 13].layout.version;
		table = (const uint8_t *)debug_offsets[minor - 13].words;
		size = debug_offsets[minor - 13].size;
	}
	return !python_layout_of(version, table, size, l);
}

static unsigned int digit_of(char c)
{
	return (unsigned int)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Not by sscanf, which looks for the end of the whole text each time. */
static uint8_t *bytes_of(const char *hex, size_t *size)
{
	uint8_t *bytes = malloc(strlen(hex) / 2 + 1);

	assert_non_null(bytes);
	for (*size = 0; hex[0] != '-' && hex[0] && hex[1]; hex += 2)
		bytes[(*size)++] = (uint8_t)(digit_of(hex[0]) << 4 | digit_of(hex[1]));
	return realloc(bytes, *size ? *size : 1);
}

/* --- what interpreters say ------------------------------------------------------------------- */

/* A text in rooms of all sizes, and cut: it is always the beginning of the whole one. */
static void check_text(const struct python_layout *l, char *line)
{
	char expected[2048], got[2048], part[2048];
	char *rest = strchr(line, ' ');
	uint8_t *object, *utf8;
	size_t size, length, n;

	assert_non_null(rest);
	*rest++ = '\0';
	object = bytes_of(line, &size);
	utf8 = bytes_of(rest, &length);
	text_clean(expected, sizeof(expected), (const char *)utf8, length);
	length = python_text(l, object, size, got, sizeof(got));
	assert_string_equal(got, expected);
	assert_int_equal(length, strlen(expected));
	for (size_t room = 1; room <= length + 2; room++) {
		n = python_text(l, object, size, part, room);
		assert_int_equal(n, text_clean(got, room, expected, length));
		assert_string_equal(part, got);
	}
	for (size_t cut = 0; cut < size; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);

		assert_non_null(copy);
		memcpy(copy, object, cut);
		n = python_text(l, copy, cut, part, sizeof(part));
		assert_true(n <= length && !memcmp(part, expected, n) && !part[n]);
		/* text_clean would replace half a character */
		assert_int_equal(text_clean(got, sizeof(got), part, n), n);
		assert_string_equal(part, got);
		free(copy);
	}
	free(object);
	free(utf8);
}

/* Lines of all instructions, of the whole table and of its beginnings. */
static size_t check_table(const struct python_layout *l, char *text)
{
	unsigned int first = (unsigned int)strtoul(text, &text, 10), line, count;
	char *rest = strchr(text + 1, ' ');
	size_t size, checked = 0;
	int32_t at = 0;
	uint8_t *table;

	assert_non_null(rest);
	*rest++ = '\0';
	table = bytes_of(text + 1, &size);
	for (; *rest; rest += *rest == ',') {
		line = (unsigned int)strtoul(rest, &rest, 10);
		assert_int_equal(*rest, 'x');
		count = (unsigned int)strtoul(rest + 1, &rest, 10);
		while (count--) {
			unsigned int got = python_line(l, table, size, size, first, at);
			bool known = true;

			if (got != line)
				fail_msg("%x: first %u: line %u at %d, not %u", l->version, first,
					 got, at, line);
			/* of a part, the same line or none; once none, none of a smaller part */
			for (size_t cut = size; cut > 0 && checked % 64 == 3;) {
				cut -= 1 + cut / 64;
				got = python_line(l, table, cut, size, first, at);
				assert_true(got == (known ? line : 0) || !got);
				known = known && got;
			}
			at += 2;
			checked++;
		}
	}
	assert_int_equal(python_line(l, table, size, size, first, -1), first);
	if (l->version >= 0x030a0000)
		assert_int_equal(python_line(l, table, size, size, first, at), 0);
	free(table);
	return checked;
}

/* Instructions that were compared; 0: no version that is known. */
static size_t check_python(const char *path)
{
	FILE *f = pythons_run(path, "code.py");
	struct python_layout layout;
	size_t instructions = 0, texts = 0, room = 0;
	char *line = NULL;
	bool known = false;

	while (getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "version ", 8))
			known = layout_of((__u32)strtoul(line + 8, NULL, 16), &layout);
		else if (!known)
			continue;
		else if (!strncmp(line, "text ", 5)) {
			check_text(&layout, line + 5);
			texts++;
		} else if (!strncmp(line, "table ", 6))
			instructions += check_table(&layout, line + 6);
	}
	free(line);
	assert_int_equal(pclose(f), 0);
	if (!known)
		return 0;
	print_message("%s: %zu texts, %zu instructions\n", path, texts, instructions);
	assert_true(texts > 15 && instructions > 20000);
	return instructions;
}

static void texts_and_lines_are_those_of_the_interpreter(void **state)
{
	(void)state;
	pythons_each(check_python);
}

/* --- what no interpreter has ----------------------------------------------------------------- */

#define ROOM 256

struct object { /* of up to 3.11; later ones lack wstr and wstr_length */
	uint64_t count, type, length, hash;
	uint32_t state, padding;
	uint8_t rest[ROOM];
};

static size_t text_of(__u32 version, uint64_t length, uint32_t state, const void *characters,
		      size_t size, char to[ROOM])
{
	struct object object = {1, 2, length, 3, state, 0, {0}};
	struct python_layout l;
	size_t start;

	assert_true(layout_of(version, &l));
	start = state & 0x40 ? l.text_ascii : l.text_compact;
	if (version >= 0x030e0000 && !(state & 0xfffc))
		start = state & 0x40 << 14 ? l.text_ascii : l.text_compact;
	memcpy((uint8_t *)&object + start, characters, size);
	return python_text(&l, (const uint8_t *)&object, start + size, to, ROOM);
}

#define STATE(kind, compact, ascii) ((kind) << 2 | (compact) << 5 | (ascii) << 6)

static void only_compact_strings_are_read(void **state)
{
	static const __u32 versions[] = {0x030812f0, 0x030b02f0, 0x030c01f0,
					 0x030d00f0, 0x030e00f0, 0x030f00f0};
	char got[ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		__u32 v = versions[i];

		assert_int_equal(text_of(v, 4, STATE(1, 1, 1) | 3, "abcd", 4, got), 4);
		assert_string_equal(got, "abcd");
		/* a length beyond what is there, or before its beginning */
		assert_int_equal(text_of(v, UINT64_MAX >> 1, STATE(1, 1, 1), "abcd", 4, got), 4);
		assert_int_equal(text_of(v, UINT64_MAX, STATE(1, 1, 1), "abcd", 4, got), 0);
		assert_int_equal(text_of(v, 1ull << 63, STATE(2, 1, 0), "abcd", 4, got), 0);
		assert_int_equal(text_of(v, 0, STATE(1, 1, 1), "abcd", 4, got), 0);
		/* kinds that there are not, characters elsewhere, wide ASCII */
		for (uint32_t kind = 0; kind < 8; kind++) {
			bool real = kind == 1 || kind == 2 || kind == 4;

			assert_int_equal(text_of(v, 1, STATE(kind, 1, 0), "a\0\0\0", 4, got), real);
			assert_int_equal(text_of(v, 1, STATE(kind, 0, 0), "a\0\0\0", 4, got), 0);
			assert_int_equal(text_of(v, 1, STATE(kind, 1, 1), "a\0\0\0", 4, got),
					 kind == 1);
			assert_true(!*got == (kind != 1));
		}
	}
}

/* Releases of 3.14 differ in how wide the first member of the state is. */
static void interned_may_be_wide_in_3_14(void **state)
{
	char got[ROOM];

	(void)state;
	for (uint32_t interned = 0; interned < 4; interned++) {
		uint32_t wide = STATE(1, 1, 1) << 14 | interned;

		assert_int_equal(text_of(0x030e00f0, 3, wide, "abc", 3, got), 3);
		assert_string_equal(got, "abc");
		wide = STATE(2, 1, 0) << 14 | interned;
		assert_int_equal(text_of(0x030e00f0, 3, wide, u"äbc", 6, got), 4);
		assert_string_equal(got, "äbc");
		assert_int_equal(text_of(0x030d00f0, 3, wide, u"äbc", 6, got), 0);
		/* padding of the narrow form may be anything */
		wide = STATE(1, 1, 1) | interned | 0xffffff00;
		assert_int_equal(text_of(0x030e00f0, 3, wide, "abc", 3, got), 3);
	}
}

static void what_is_no_character_is_replaced(void **state)
{
	static const uint32_t bad[] = {0xd800, 0xdfff, 0x110000, UINT32_MAX, 0x1b, 0x202e, 'x'};
	char got[ROOM];

	(void)state;
	assert_int_equal(text_of(0x030b02f0, 7, STATE(4, 1, 0), bad, sizeof(bad), got), 7);
	assert_string_equal(got, "??????x");
	assert_int_equal(text_of(0x030b02f0, 3, STATE(1, 1, 1), "\x80\x1b\x41", 3, got), 3);
	assert_string_equal(got, "??A");
}

static unsigned int line_of(__u32 version, const char *bytes, size_t size, int32_t lasti)
{
	struct python_layout l;

	assert_true(layout_of(version, &l));
	return python_line(&l, (const uint8_t *)bytes, size, size, 10, lasti);
}

static void broken_tables_give_no_line(void **state)
{
	(void)state;
	/* before line 1; half an entry; nothing */
	assert_int_equal(line_of(0x030900f0, "\x02\x80", 2, 4), 0);
	assert_int_equal(line_of(0x030900f0, "\x02\x01\x02", 3, 4), 11);
	assert_int_equal(line_of(0x030900f0, "", 0, 4), 10);
	assert_int_equal(line_of(0x030a00f0, "\x08\xf6", 2, 4), 0);
	assert_int_equal(line_of(0x030a00f0, "\x08\x81", 2, 4), 0);
	assert_int_equal(line_of(0x030a00f0, "\x08\x80\x02\x01", 4, 4), 0);
	assert_int_equal(line_of(0x030a00f0, "\x08\x80\x02\x01", 4, 8), 11);
	assert_int_equal(line_of(0x030a00f0, "\x08", 1, 4), 0);
	/* 0xef: no columns, 8 units; the change ends with the table, with an entry, or never */
	assert_int_equal(line_of(0x030b00f0, "\xef", 1, 4), 0);
	assert_int_equal(line_of(0x030b00f0, "\xef\x42", 2, 4), 0);
	assert_int_equal(line_of(0x030b00f0, "\xef\x42\xef", 3, 4), 0);
	assert_int_equal(line_of(0x030b00f0, "\xef\x02", 2, 4), 11);
	assert_int_equal(line_of(0x030b00f0, "\xef\x42\x41\x40\x40\x40\x40\x40\x40\x00", 10, 4),
			 43);
	assert_int_equal(line_of(0x030b00f0, "\xef\x23", 2, 4), 0);
	/* bytes in front of the first entry */
	assert_int_equal(line_of(0x030b00f0, "\x01\x7f\xef\x02", 4, 4), 11);
	assert_int_equal(line_of(0x030b00f0, "\x01\x7f", 2, 4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_and_lines_are_those_of_the_interpreter),
		cmocka_unit_test(only_compact_strings_are_read),
		cmocka_unit_test(interned_may_be_wide_in_3_14),
		cmocka_unit_test(what_is_no_character_is_replaced),
		cmocka_unit_test(broken_tables_give_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
