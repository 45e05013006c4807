// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See ruby_file.h. The API is in .dynsym, but from 3.2 on ruby_current_vm_ptr is not: it is what
 * rb_during_gc reads first, then.
 */
#include "symbols/runtime/ruby_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/limits.h"
#include "symbols/elf/elffile.h"

enum ruby_symbol { WANT_VM, WANT_VERSION, WANT_OBJECT, WANT_GC, WANTED };

static const char *const names[WANTED] = {
	[WANT_VM] = "ruby_current_vm_ptr",
	[WANT_VERSION] = "ruby_version",
	[WANT_OBJECT] = "rb_cObject",
	[WANT_GC] = "rb_during_gc",
};

static void note_symbol(const Elf64_Sym *sym, const struct elf_section *strings,
			uint64_t found[WANTED])
{
	const char *name = (const char *)strings->data + sym->st_name;

	if (sym->st_shndx == SHN_UNDEF || sym->st_name >= strings->size || name[0] != 'r')
		return;
	for (int i = 0; i < WANTED; i++) {
		const size_t size = strlen(names[i]) + 1;

		if (strings->size - sym->st_name >= size && !memcmp(name, names[i], size))
			found[i] = sym->st_value;
	}
}

/* One symbol table, if ruby_version is among its names. */
static void read_table(const struct elf_file *file, const char *name, uint64_t found[WANTED])
{
	uint64_t left = LIMIT_GO;
	struct elf_section table, strings;
	Elf64_Sym sym;

	if (elf_file_section_within(file, name, &left, &table) ||
	    elf_file_section_at_within(file, table.link, &left, &strings) ||
	    !memmem(strings.data, strings.size, names[WANT_VERSION],
		    strlen(names[WANT_VERSION]) + 1))
		return;
	for (size_t at = 0; table.size - at >= sizeof(sym); at += sizeof(sym)) {
		memcpy(&sym, table.data + at, sizeof(sym));
		note_symbol(&sym, &strings, found);
	}
}

/* Bytes of the file at an ELF address; how many there are. */
static size_t read_at(const struct elf_file *file, uint64_t addr, void *to, size_t size)
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

/* "3.1.2". 0: it is none. */
static uint32_t read_version(const struct elf_file *file, uint64_t addr)
{
	char text[16] = "";
	uint32_t version = 0;
	char *at = text;

	if (!read_at(file, addr, text, sizeof(text) - 1))
		return 0;
	for (int i = 0; i < 3; i++) {
		char *end;
		const unsigned long part = strtoul(at, &end, 10);

		if (end == at || part > 255 || *end != (i < 2 ? '.' : '\0'))
			return 0;
		version = version << 8 | (uint32_t)part;
		at = end + 1;
	}
	return version;
}

/*
 * What the first instruction of the function reads, or takes the address of, behind a mark for
 * indirect branches if it has one: x86-64, at a distance from the instruction that follows.
 */
static uint64_t first_read(const struct elf_file *file, uint64_t addr)
{
	static const uint8_t branch[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[11];
	int32_t distance;
	size_t at = 0;

	if (read_at(file, addr, code, sizeof(code)) != sizeof(code))
		return 0;
	if (!memcmp(code, branch, sizeof(branch)))
		at = sizeof(branch);
	if (code[at] != 0x48 || (code[at + 1] != 0x8d && code[at + 1] != 0x8b) ||
	    code[at + 2] != 0x05)
		return 0;
	memcpy(&distance, code + at + 3, sizeof(distance));
	return addr + at + 7 + (uint64_t)(int64_t)distance;
}

bool ruby_file_read(const struct elf_file *file, struct ruby_file *out)
{
	uint64_t found[WANTED] = {0};

	*out = (struct ruby_file){0};
	read_table(file, ".dynsym", found);
	if (!found[WANT_VM])
		read_table(file, ".symtab", found);
	if (!found[WANT_VERSION] || !found[WANT_OBJECT])
		return false;
	out->version = read_version(file, found[WANT_VERSION]);
	out->err = ruby_layout_of(out->version, &out->layout);
	out->vm = found[WANT_VM];
	if (!out->vm && found[WANT_GC])
		out->vm = first_read(file, found[WANT_GC]);
	out->layout.object = found[WANT_OBJECT] - out->vm;
	if (!out->vm)
		out->err = -ENOTSUP;
	return true;
}
