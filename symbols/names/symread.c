// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From .symtab and .dynsym to a list of functions with as little in memory as possible: symbols
 * come in pieces, and strings, which are most of the bytes, stay in the file.
 */
#include "symbols/names/symread.h"

#include <elf.h>
#include <stdlib.h>

#include "symbols/elf/elffile.h"
#include "symbols/names/symname.h"
#include "symbols/base/work.h"

#define CHUNK	    1024u
#define PADDING	    16u /* bytes before a function of a kernel module, __pfx_NAME */
#define GLANCES_FEW 1000u
#define GLANCES_MAX 65536u
#define STRINGS_MAX ((uint64_t)256 << 20)

static bool is_function(const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
	       sym->st_shndx != SHN_COMMON;
}

/*
 * The names of labels and of possible padding decide whether these are functions. They are read one
 * by one, all other names not at all. If there are many, the string table is read as a whole, which
 * takes as long as a thousand reads.
 */
struct symread_glance {
	struct symread_strings from;
	unsigned int count;
	char *memory;
};

static void glance_load(struct symread_glance *g)
{
	size_t size = g->from.end - g->from.offset;

	g->memory = malloc(size + 1);
	if (!g->memory || bytes_read(&g->from.bytes, g->from.offset, g->memory, size))
		return;
	g->from = (struct symread_strings){{-1, (const uint8_t *)g->memory, size}, 0, size};
}

static bool glance_is_marker(struct symread_glance *g, uint32_t name)
{
	char text[sizeof("__pfx_") + 1];
	size_t length;

	if (++g->count == GLANCES_FEW)
		glance_load(g);
	if (g->from.bytes.fd >= 0 && g->count > GLANCES_MAX)
		return true;
	length = bytes_string(&g->from.bytes, g->from.offset + name, g->from.end, text,
			      sizeof(text));
	return symname_is_marker(text, length);
}

static int symbol_add(struct symlist *list, const Elf64_Sym *sym, enum symlist_source source,
		      struct symread_glance *glance)
{
	unsigned int bind = ELF64_ST_BIND(sym->st_info);
	struct symlist_item item = {
		.start = sym->st_value,
		.name = sym->st_name,
		.source = source,
		.binding = bind == STB_LOCAL  ? SYMNAME_LOCAL
			   : bind == STB_WEAK ? SYMNAME_WEAK
					      : SYMNAME_GLOBAL,
		.label = ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE,
	};
	bool padding = item.binding == SYMNAME_LOCAL && sym->st_size == PADDING;

	if (!is_function(sym) || sym->st_name >= glance->from.end - glance->from.offset ||
	    symlist_range(list, sym->st_value) < 0)
		return 0;
	if ((item.label || !sym->st_size || padding) && glance_is_marker(glance, sym->st_name))
		return 0;
	return symlist_add(list, &item, sym->st_size);
}

static size_t entry_size(const struct elf_file *file)
{
	return elf_file_is_narrow(file) ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
}

/* At most CHUNK symbols from the offset on, as 64-bit ones. */
static int chunk_read(const struct elf_file *file, uint64_t offset, Elf64_Sym *to, size_t n)
{
	Elf32_Sym narrow[CHUNK];
	int err;

	if (!elf_file_is_narrow(file))
		return elf_file_read(file, offset, to, n * sizeof(*to));
	err = elf_file_read(file, offset, narrow, n * sizeof(*narrow));
	for (size_t i = 0; i < n && !err; i++)
		to[i] = (Elf64_Sym){.st_name = narrow[i].st_name,
				    .st_value = narrow[i].st_value,
				    .st_size = narrow[i].st_size,
				    .st_info = narrow[i].st_info,
				    .st_other = narrow[i].st_other,
				    .st_shndx = narrow[i].st_shndx};
	return err;
}

/* The section and its string table, if they are usable; else -ENOENT. */
static int headers_read(const struct elf_file *file, enum symlist_source source,
			struct elf_section *symbols, struct symread_strings *out)
{
	struct elf_section strings;
	bool full = source == SYMLIST_SYMTAB;
	uint32_t index = elf_file_section_index(file, full ? ".symtab" : ".dynsym");

	if (!index || elf_file_section_header(file, index, symbols) ||
	    symbols->type != (full ? SHT_SYMTAB : SHT_DYNSYM) ||
	    symbols->entsize != entry_size(file) || symbols->flags & SHF_COMPRESSED ||
	    elf_file_section_header(file, symbols->link, &strings) || strings.type != SHT_STRTAB ||
	    strings.flags & SHF_COMPRESSED || strings.size > STRINGS_MAX ||
	    strings.offset + strings.size < strings.size)
		return -ENOENT;
	*out = (struct symread_strings){elf_file_bytes(file), strings.offset,
					strings.offset + strings.size};
	return 0;
}

int symread_strings(const struct elf_file *file, enum symlist_source source,
		    struct symread_strings *out)
{
	struct elf_section symbols;

	return headers_read(file, source, &symbols, out);
}

/* Bypasses libelf, which would keep the bytes as long as the file is open. */
int symread(const struct elf_file *file, enum symlist_source source, struct symlist *list,
	    struct symread_strings *out)
{
	struct elf_section symbols;
	struct symread_glance glance = {0};
	Elf64_Sym chunk[CHUNK];
	const size_t size = entry_size(file);
	uint64_t count, at, n, i;
	int err;

	err = headers_read(file, source, &symbols, &glance.from);
	if (err)
		return err;
	*out = glance.from;
	count = symbols.size / size;
	for (at = 0; at < count && at < 4ull * SYMLIST_MAX && !err; at += n) {
		n = count - at < CHUNK ? count - at : CHUNK;
		if (chunk_read(file, symbols.offset + at * size, chunk, n))
			break;
		err = work_add(elf_file_work(file), n);
		for (i = 0; i < n && !err; i++)
			err = symbol_add(list, &chunk[i], source, &glance);
	}
	free(glance.memory);
	return err == -E2BIG ? 0 : err;
}

bool symread_is_thin(const struct elf_file *file, const struct elf_file *dynamic)
{
	struct elf_section symbols, other;
	struct symread_strings strings;
	uint64_t count;

	if (headers_read(file, SYMLIST_SYMTAB, &symbols, &strings))
		return true;
	if (headers_read(dynamic, SYMLIST_DYNSYM, &other, &strings))
		return false;
	count = symbols.size / entry_size(file);
	return symbols.info > count || count - symbols.info + 1 < other.size / entry_size(dynamic);
}
