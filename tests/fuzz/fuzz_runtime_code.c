/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz: -max_len=4096 */
/*
 * What is copied from the memory of a Ruby or of a V8, and what V8 and HotSpot write into a perf
 * map: texts are clean, and lines are those of the table. The first byte chooses.
 * Covers: symbols/runtime/ruby_code.c symbols/runtime/v8_code.c symbols/names/madename.c
 */
#include "tests/fuzz/fuzz.h"

#include "symbols/base/text.h"
#include "symbols/names/madename.h"
#include "symbols/runtime/ruby_code.h"
#include "symbols/runtime/v8_code.h"

static void check_clean(const char *text, size_t length, size_t room)
{
	char clean[2 * MADENAME_ROOM];

	require(length < room && room <= sizeof(clean) && strlen(text) == length);
	require(text_clean(clean, sizeof(clean), text, length) == length);
	require(!memcmp(text, clean, length));
}

static void check_strings(const uint8_t *data, size_t size)
{
	char text[256];
	const size_t label = size ? data[0] % size : 0;

	for (size_t room = 1; room <= sizeof(text); room += 51) {
		check_clean(text, v8_text(data, size, size & 1, text, room), room);
		check_clean(text,
			    ruby_label((const char *)data, label, (const char *)data + label,
				       size - label, '#', text, room),
			    room);
	}
}

/* What is left out at the end of a table does not change lines, it only loses them. */
static void check_lines(const uint8_t *data, size_t size)
{
	for (uint32_t place = 0; place < 300; place += 7) {
		const unsigned int line = ruby_line(data, size, place);
		const unsigned int part = ruby_line(data, size / 2, place);

		require(!part || part == line);
	}
	ruby_line(data, size, UINT32_MAX);
}

static void check_madename(const uint8_t *data, size_t size, bool hotspot)
{
	char *text = malloc(size + 1);
	struct madename out;

	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	if (madename_read(text, hotspot, &out)) {
		require(out.language == MADENAME_JS || (hotspot && out.language == MADENAME_JAVA));
		require(*out.name && strnlen(out.name, sizeof(out.name)) < sizeof(out.name));
		require(strnlen(out.file, sizeof(out.file)) < sizeof(out.file));
	}
	free(text);
}

static int take_input(const uint8_t *data, size_t size)
{
	const unsigned int choice = fuzz_u8(&data, &size) % 4;
	uint8_t *copy = fuzz_copy(data, size);

	if (choice == 0)
		check_strings(copy, size);
	else if (choice == 1)
		check_lines(copy, size);
	else
		check_madename(copy, size, choice & 1);
	free(copy);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 18, 4096)
