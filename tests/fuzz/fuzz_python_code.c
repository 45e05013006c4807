/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz: -max_len=4096 */
/*
 * Memory of a CPython: a str, a table of lines, and from 3.13 on the table in _PyRuntime. The first
 * byte chooses the version, and which of them it is.
 * Covers: symbols/runtime/python_code.c symbols/runtime/python_layout.c
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#include "symbols/base/text.h"
#include "symbols/runtime/python_code.h"
#include "symbols/runtime/python_offsets.h"
#include "tests/symbols/runtime/debug_offsets.h"

#define MINORS 8u

static void layout_of(unsigned int minor, struct python_layout *l)
{
	if (minor < 13)
		require(!python_layout_of(0x030000f0 | minor << 16, NULL, 0, l));
	else
		*l = debug_offsets[minor - 13].layout;
	require(python_layout_is_sane(l));
}

static void check_text(const struct python_layout *l, const uint8_t *data, size_t size)
{
	char text[256], clean[256];

	for (size_t room = 1; room <= sizeof(text); room += 51) {
		size_t length = python_text(l, data, size, text, room);

		require(length < room && !text[length] && strlen(text) == length);
		require(text_clean(clean, sizeof(clean), text, length) == length);
		require(!memcmp(text, clean, length));
	}
}

/* What is left out at the end of a table does not change lines, it only loses them. */
static void check_line(const struct python_layout *l, const uint8_t *data, size_t size)
{
	for (int32_t lasti = -2; lasti < 300; lasti += 7) {
		unsigned int line = python_line(l, data, size, size, 1000, lasti);
		unsigned int part = python_line(l, data, size / 2, size, 1000, lasti);

		require(line <= INT32_MAX && (!part || part == line));
	}
	python_line(l, data, size, size, UINT32_MAX, INT32_MAX);
}

/* The version is in the first words, which the fuzzer need not guess. */
static void check_layout(unsigned int minor, const uint8_t *data, size_t size)
{
	uint8_t *table = fuzz_copy(data, size);
	struct python_layout l;
	int err;

	if (minor >= 13 && size >= 16)
		memcpy(table, debug_offsets[minor - 13].words, 16);
	err = python_layout_of(minor < 13 ? 0x030000f0 | minor << 16
					  : debug_offsets[minor - 13].layout.version,
			       table, size, &l);
	require(!err || err == -EINVAL || err == -ENOTSUP);
	require(err ? !l.version : python_layout_is_sane(&l));
	if (!err) {
		check_text(&l, data, size);
		check_line(&l, data, size);
	}
	free(table);
}

static int take_input(const uint8_t *data, size_t size)
{
	unsigned int choice = fuzz_u8(&data, &size);
	unsigned int minor = 8 + choice % MINORS;
	struct python_layout l;
	uint8_t *copy = fuzz_copy(data, size);

	layout_of(minor, &l);
	switch (choice / MINORS % 3) {
	case 0:
		check_text(&l, copy, size);
		break;
	case 1:
		check_line(&l, copy, size);
		break;
	default:
		check_layout(minor, copy, size);
	}
	free(copy);
	return 0;
}

/* A byte of a table is looked at 90 times at most. */
FUZZ_TARGET(take_input, 1u << 16, 1024)
