/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz: -max_len=2048 */
/*
 * Bytes as a pprof profile, unpacked.
 * Covers: tui/import/pprof_read.c tui/import/pprof_value.c tui/import/import_pprof.c
 * Covers: tui/import/import_build.c tui/import/import_names.c tui/util/protoread.h
 */
#include "tests/fuzz/import_checks.h"

static int take_input(const uint8_t *data, size_t size)
{
	return import_check(data, size, import_pprof);
}

/* A location of many inlined calls is named by two bytes. */
FUZZ_TARGET(take_input, 1u << 20, 1u << 17)
