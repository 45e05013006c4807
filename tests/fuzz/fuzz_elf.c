// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=8192 */
/*
 * An ELF image of any shape: every answer stays within it, and all returned bytes can be read.
 * Covers: symbols/elf/elffile.c symbols/base/bytes.c
 */
#include <elf.h>

#include "symbols/base/limits.h"
#include "symbols/elf/elffile.h"
#include "tests/fuzz/fuzz.h"

static uint64_t sum;

static void look_at_section(const struct elf_section *s)
{
	require(s->data || !s->size);
	/* Not each byte: that would be more steps than all measured ones. */
	for (size_t i = 0; i < s->size && i < 1 << 20; i += 64)
		sum += s->data[i];
	if (s->size)
		sum += s->data[s->size - 1];
}

static void look_at_file(const struct elf_file *file)
{
	static const char *const names[] = {".eh_frame", ".debug_frame", ".sframe", ".text", ""};
	struct elf_section section;
	uint8_t id[BUILD_ID_MAX];
	uint64_t left = LIMIT_SECTION;
	size_t count;

	require(elf_file_build_id(file, id) <= sizeof(id));
	elf_file_loads(file, &count);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!elf_file_section(file, names[i], &section))
			look_at_section(&section);
	count = elf_file_section_count(file);
	for (uint32_t i = 0; i <= count && i < 64; i++) {
		elf_file_section_header(file, i, &section);
		if (!elf_file_section_at_within(file, i, &left, &section))
			look_at_section(&section);
	}
	require(elf_file_section_at_within(file, (uint32_t)count, &left, &section) != 0);
	elf_file_section_header(file, UINT32_MAX, &section);
}

static int take_input(const uint8_t *data, size_t size)
{
	uint8_t *image = fuzz_copy(data, size);
	struct elf_file *file;

	if (!elf_file_open_memory(image, size, &file)) {
		look_at_file(file);
		elf_file_free(file);
	}
	free(image);
	return 0;
}

FUZZ_TARGET(take_input, 4u << 20, 512)
