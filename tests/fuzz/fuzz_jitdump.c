/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes as a jitdump, read in pieces of the first byte's size, each from where the last one ended.
 * Covers: symbols/names/jitdump.c symbols/names/codemap.c
 */
#include "tests/fuzz/fuzz.h"

#include "symbols/names/codemap.h"
#include "symbols/names/jitdump.h"

#define BYTES 65536u

static int take_input(const uint8_t *data, size_t size)
{
	size_t piece = 16 * (1 + fuzz_u8(&data, &size)), at = 0;
	struct codemap *map = codemap_new(BYTES);
	struct jitdump *jd = jitdump_new_empty();
	uint64_t taken = 1;
	const char *name;
	uint8_t *copy;
	int err = 0;

	require(map && jd);
	while (err >= 0 && at < size && taken) {
		size_t n = size - at < piece ? size - at : piece;

		copy = fuzz_copy(data + at, n);
		err = jitdump_parse(jd, map, copy, n, &taken);
		free(copy);
		at = taken < size - at ? at + taken : size;
	}
	for (uint64_t addr = 0; addr < 0x6000; addr += 0x80) {
		name = codemap_find(map, addr);
		require(!name || strlen(name) <= CODEMAP_NAME_MAX);
	}
	require(codemap_bytes(map) <= BYTES);
	codemap_free(map);
	jitdump_free(jd);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 18, 1024)
