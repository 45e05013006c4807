/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A byte with a minor version and an ELF image with DWARF of any shape: what comes out is a layout
 * that may be used.
 * Covers: symbols/runtime/python_dwarf.c symbols/dwarf/diereader.c
 */
#include "tests/fuzz/fuzz.h"

#include "symbols/elf/elffile.h"
#include "symbols/runtime/python_offsets.h"
#include "tests/symbols/runtime/debug_offsets.h"

static int take_input(const uint8_t *data, size_t size)
{
	unsigned int minor = 8 + fuzz_u8(&data, &size) % 8;
	uint8_t *image = fuzz_copy(data, size);
	struct python_layout l, before;
	struct elf_file *file;

	if (minor < 13)
		require(!python_layout_of(0x030000f0 | minor << 16, NULL, 0, &l));
	else
		l = debug_offsets[minor - 13].layout;
	before = l;
	if (!elf_file_open_memory(image, size, &file)) {
		if (python_layout_dwarf(file, NULL, &l) < 0)
			require(!memcmp(&l, &before, sizeof(l)));
		require(python_layout_is_sane(&l) && l.version == before.version);
		elf_file_free(file);
	}
	free(image);
	return 0;
}

FUZZ_TARGET(take_input, 16u << 20, 1024)
