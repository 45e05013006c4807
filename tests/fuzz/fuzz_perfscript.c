/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz: -max_len=4096 -only_ascii=1 */
/*
 * A text as the output of perf script.
 * Covers: tui/import/import_script.c tui/import/script_line.c
 */
#include "tests/fuzz/import_checks.h"

static int take_text(const uint8_t *data, size_t size, struct import_to *to)
{
	return import_script((struct import_text){(const char *)data, size}, to);
}

static int take_input(const uint8_t *data, size_t size)
{
	return import_check(data, size, take_text);
}

/* Between two records there are up to 60 empty slices. */
FUZZ_TARGET(take_input, 1u << 21, 1u << 16)
