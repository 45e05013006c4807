/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever the text, mappings come in ascending order and with a proper name.
 * Covers: symbols/files/procmaps.c
 */
#include "symbols/files/procmaps.h"
#include "tests/fuzz/fuzz.h"

static int check(const struct procmap *map, void *arg)
{
	uint64_t *last = arg;

	if (map->start < *last || map->start >= map->end || !map->exec || strlen(map->name) > 20000)
		abort();
	*last = map->end;
	return 0;
}

static int take_input(const uint8_t *data, size_t size)
{
	uint64_t last = 0;
	char *text = malloc(size ? size : 1); /* so that one byte too many is detected */

	if (!text)
		return 0;
	memcpy(text, data, size);
	procmaps_parse(text, size, true, check, &last);
	free(text);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 14, 64)
