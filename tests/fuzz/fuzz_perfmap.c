/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text as a perf map, in two pieces: memory is bounded, and names can be looked up and are clean.
 * Covers: symbols/names/perfmap.c symbols/names/codemap.c
 */
#include "tests/fuzz/fuzz.h"

#include "symbols/names/codemap.h"
#include "symbols/names/perfmap.h"

#define BYTES 65536u

static void parse(struct codemap *map, const uint8_t *data, size_t size)
{
	uint8_t *text = fuzz_copy(data, size);
	size_t taken;

	require(!perfmap_parse(map, (const char *)text, size, &taken));
	require(taken <= size && (!taken || text[taken - 1] == '\n'));
	free(text);
}

static int take_input(const uint8_t *data, size_t size)
{
	struct codemap *map = codemap_new(BYTES);
	const char *name;

	require(map != NULL);
	for (int i = 0; i < 2; i++) {
		parse(map, data, i ? size : size / 2);
		for (uint64_t addr = 0; addr < 0x3000; addr += 0x80) {
			name = codemap_find(map, addr);
			require(!name || strlen(name) <= CODEMAP_NAME_MAX);
			require(!name || !strpbrk(name, "\033\n\r"));
		}
		require(codemap_bytes(map) <= BYTES);
	}
	codemap_free(map);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 18, 1024)
