/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz: -max_len=8192 */
/*
 * An ELF image with links to debug files, in any state: .gnu_debuglink gives at most a bounded name
 * without a slash, an empty folder has no debug file, and .gnu_debugdata gives an image within its
 * bounds or none.
 * Covers: symbols/elf/debugfile.c
 */
#include <limits.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/elffile.h"
#include "tests/fuzz/fuzz.h"

static int take_input(const uint8_t *data, size_t size)
{
	static struct debug_link link;
	const struct debug_place place = {.root = -1, .folder = "/nonexistent"};
	uint8_t *image = fuzz_copy(data, size);
	struct elf_file *file, *other;

	if (!elf_file_open_memory(image, size, &file)) {
		debug_link_read(file, &link);
		require(link.id_length <= BUILD_ID_MAX);
		require(memchr(link.name, '\0', sizeof(link.name)) && !strchr(link.name, '/'));
		require(!link.has_crc || *link.name);
		require(link.has_crc || !*link.name);
		/* An image has no folder, so that there is only the build-id's. */
		require(!*link.dir && !debug_link_present(&link, &place));
		require(debug_link_open(&link, &place, NULL, &other) < 0);
		if (!debugfile_open_alt(file, &place, &other))
			elf_file_free(other);
		if (!minidebug_open(file, &other))
			elf_file_free(other);
		elf_file_free(file);
	}
	free(image);
	return 0;
}

FUZZ_TARGET(take_input, 4u << 20, 256)
