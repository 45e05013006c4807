/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz: -max_len=4096 -only_ascii=1 */
/*
 * A text as any file that is no perf.data: it is folded stacks unless it looks like something else.
 * Covers: tui/import/import_folded.c tui/import/import.c
 */
#include "tests/fuzz/import_checks.h"

static int take_input(const uint8_t *data, size_t size)
{
	return import_check(data, size, import_memory);
}

/* A large count is split into cells of 32 bits. */
FUZZ_TARGET(take_input, 1u << 23, 1u << 17)
