// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See python_file.h. Names are those of CPython's own symbols; stripped builds keep them in
 * .dynsym, since extension modules link to them. Only the cold part of the eval function is in
 * .symtab alone.
 */
#include "symbols/runtime/python_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/limits.h"
#include "symbols/elf/elffile.h"
#include "symbols/runtime/python_offsets.h"

enum wanted { WANT_RUNTIME, WANT_TYPE, WANT_VERSION, WANT_EVAL, WANT_COLD, WANTED };

static const char *const names[WANTED] = {
	[WANT_RUNTIME] = "_PyRuntime",
	[WANT_TYPE] = "PyCode_Type",
	[WANT_VERSION] = "Py_Version", /* from 3.11 on */
	[WANT_EVAL] = "_PyEval_EvalFrameDefault",
	[WANT_COLD] = "_PyEval_EvalFrameDefault.cold",
};

struct found {
	uint64_t addr[WANTED]; /* 0: not found */
	uint64_t size[WANTED];
};

static void note_symbol(const Elf64_Sym *sym, const struct elf_section *strings,
			struct found *found)
{
	const char *name = (const char *)strings->data + sym->st_name;

	if (sym->st_shndx == SHN_UNDEF || sym->st_name >= strings->size ||
	    (name[0] != '_' && name[0] != 'P'))
		return;
	for (int i = 0; i < WANTED; i++) {
		const size_t size = strlen(names[i]) + 1;

		if (strings->size - sym->st_name < size || memcmp(name, names[i], size) != 0)
			continue;
		found->addr[i] = sym->st_value;
		found->size[i] = sym->st_size;
	}
}

/* One symbol table, if _PyRuntime is among its names. */
static void read_table(const struct elf_file *file, const char *name, struct found *found)
{
	uint64_t left = LIMIT_GO;
	struct elf_section table, strings;
	Elf64_Sym sym;

	if (elf_file_section_within(file, name, &left, &table) ||
	    elf_file_section_at_within(file, table.link, &left, &strings) ||
	    !memmem(strings.data, strings.size, names[WANT_RUNTIME],
		    strlen(names[WANT_RUNTIME]) + 1))
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

/* "libpython3.10.so.1.0" or "python3.9": a final release of that version. 0: neither. */
static uint32_t version_of_name(const char *name)
{
	const char *at = strstr(name, "python3.");
	unsigned long minor;

	if (!at)
		return 0;
	minor = strtoul(at + strlen("python3."), NULL, 10);
	return minor && minor <= 10 ? 0x030000f0u | (uint32_t)minor << 16 : 0;
}

bool python_file_read(const struct elf_file *file, const char *name, struct python_file *out)
{
	uint8_t debug[PYTHON_DEBUG_OFFSETS_SIZE];
	struct found found = {0};
	size_t size;

	*out = (struct python_file){0};
	read_table(file, ".dynsym", &found);
	if (found.addr[WANT_RUNTIME] || !elf_file_section_index(file, ".dynsym"))
		read_table(file, ".symtab", &found);
	if (!found.addr[WANT_RUNTIME] || !found.addr[WANT_TYPE])
		return false;
	out->runtime = found.addr[WANT_RUNTIME];
	out->type = found.addr[WANT_TYPE];
	for (int i = 0; i < 2; i++) {
		const uint64_t start = found.addr[WANT_EVAL + i],
			       end = start + found.size[WANT_EVAL + i];

		if (start && end > start) {
			out->eval[i][0] = start;
			out->eval[i][1] = end;
		}
	}
	if (!found.addr[WANT_VERSION])
		out->version = version_of_name(name);
	else if (read_at(file, found.addr[WANT_VERSION], &out->version, sizeof(out->version)) !=
		 sizeof(out->version))
		out->version = 0;
	size = read_at(file, out->runtime, debug, sizeof(debug));
	out->err = python_layout_of(out->version, debug, size, &out->layout);
	/* From 3.13 on the runtime itself has told it. Without debug information the table holds.
	 */
	if (!out->err && (out->version >> 16 & 0xff) < 13)
		(void)python_layout_dwarf(file, NULL, &out->layout);
	return true;
}
