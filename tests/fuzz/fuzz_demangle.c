/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any name comes back in bounded time and length, unchanged or demangled.
 * Covers: symbols/names/demangle.c symbols/names/langname.c symbols/base/text.c
 */
#include "symbols/names/demangle.h"
#include "symbols/names/langname.h"
#include "symbols/base/text.h"
#include "tests/fuzz/fuzz.h"

static int take_input(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1), *readable, *clean;

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = '\0';
	readable = demangle_in(name, size & 1 ? LANGNAME_ADA | LANGNAME_HASKELL : 0);
	if (readable) {
		if (strlen(readable) > 8192 && strcmp(readable, name))
			abort();
		clean = text_clean_dup(readable);
		if (clean && (strlen(clean) > strlen(readable) || strchr(clean, '\033')))
			abort();
		free(clean);
	}
	free(readable);
	free(name);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 18, 256)
