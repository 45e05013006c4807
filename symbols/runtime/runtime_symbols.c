// SPDX-License-Identifier: GPL-2.0-or-later
/* See runtime_symbols.h. Most files have no runtime: their tables are not looked through. */
#include "symbols/runtime/runtime_symbols.h"

#include <elf.h>
#include <string.h>

#include "symbols/base/limits.h"
#include "symbols/elf/elffile.h"

static void note_symbol(const Elf64_Sym *sym, const struct elf_section *strings,
			const char *const *names, size_t n, struct runtime_symbol *out)
{
	if (sym->st_shndx == SHN_UNDEF || sym->st_name >= strings->size)
		return;
	for (size_t i = 0; i < n; i++) {
		const char *name = (const char *)strings->data + sym->st_name;
		const size_t size = strlen(names[i]) + 1;

		if (*name == *names[i] && strings->size - sym->st_name >= size &&
		    !memcmp(name, names[i], size))
			out[i] = (struct runtime_symbol){sym->st_value, sym->st_size};
	}
}

static void read_table(const struct elf_file *file, const char *section, const char *const *names,
		       size_t n, struct runtime_symbol *out)
{
	uint64_t left = LIMIT_GO;
	struct elf_section table, strings;
	Elf64_Sym sym;

	if (elf_file_section_within(file, section, &left, &table) ||
	    elf_file_section_at_within(file, table.link, &left, &strings) ||
	    !memmem(strings.data, strings.size, names[0], strlen(names[0]) + 1))
		return;
	for (size_t at = 0; table.size - at >= sizeof(sym); at += sizeof(sym)) {
		memcpy(&sym, table.data + at, sizeof(sym));
		note_symbol(&sym, &strings, names, n, out);
	}
}

void runtime_symbols_find(const struct elf_file *file, const char *const *names, size_t n,
			  struct runtime_symbol *out)
{
	memset(out, 0, n * sizeof(*out));
	read_table(file, ".dynsym", names, n, out);
	if (out[0].addr || !elf_file_section_index(file, ".dynsym"))
		read_table(file, ".symtab", names, n, out);
}

size_t runtime_symbols_data(const struct elf_file *file, uint64_t addr, void *to, size_t size)
{
	const struct elf_load *loads;
	size_t n;

	loads = elf_file_loads(file, &n);
	for (size_t i = 0; i < n; i++) {
		const uint64_t in = addr - loads[i].vaddr;

		if (addr < loads[i].vaddr || in >= loads[i].filesz)
			continue;
		if (size > loads[i].filesz - in)
			size = loads[i].filesz - in;
		return elf_file_read(file, loads[i].offset + in, to, size) ? 0 : size;
	}
	return 0;
}
