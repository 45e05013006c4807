/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF image of any shape: each symbol found covers the address and has a bounded name.
 * Covers: symbols/names/symtab.c symbols/names/symread.c symbols/names/plt.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/elffile.h"
#include "symbols/names/symtab.h"
#include "symbols/base/work.h"
#include "tests/fuzz/fuzz.h"

static void look_up(struct symtab *table, uint64_t addr)
{
	struct symbol symbol;

	if (symtab_find(table, addr, &symbol))
		return;
	if (addr - symbol.start >= symbol.size || strlen(symbol.name) > 4096)
		abort();
}

static void look_around(struct symtab *table, const struct elf_file *file)
{
	const struct elf_load *loads;
	struct elf_section section;
	size_t count, i, step;

	loads = elf_file_loads(file, &count);
	for (i = 0; i < count && i < 16; i++)
		for (step = 0; step < 64; step++)
			look_up(table, loads[i].vaddr + loads[i].memsz / 64 * step);
	for (i = 0; i < elf_file_section_count(file) && i < 64; i++) {
		if (elf_file_section_header(file, i, &section))
			continue;
		for (step = 0; step < 64; step++)
			look_up(table, section.addr + section.size / 64 * step);
	}
	look_up(table, 0);
	look_up(table, UINT64_MAX);
}

static int take_input(const uint8_t *data, size_t size)
{
	struct elf_file *file;
	struct symtab *table;
	void *image = malloc(size ? size : 1);

	if (!image)
		return 0;
	memcpy(image, data, size);
	if (!elf_file_open_memory(image, size, &file)) {
		if (!symtab_new(file, NULL, &table)) {
			look_around(table, file);
			symtab_free(table);
		}
		/* xz may unpack to 1 MiB whatever its size, and a few units more make it up. */
		require_work(elf_file_work(file)->done, size + (1 << 16), 8);
		elf_file_free(file);
	}
	free(image);
	return 0;
}

FUZZ_TARGET(take_input, 8u << 20, 512)
