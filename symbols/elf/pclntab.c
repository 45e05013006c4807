// SPDX-License-Identifier: GPL-2.0-or-later
/* The table may have tens of megabytes, most of it line numbers: only its header is read here. */
#include "symbols/elf/pclntab.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "symbols/elf/elffile.h"

#define MAGIC_1_2  0xfffffffbu
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

#define WORD		8u /* of the 64-bit machines that we read files of */
#define RELOCATIONS_MAX (1u << 22)

static int section_find(const struct elf_file *file, struct elf_section *out)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	uint32_t index;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		index = elf_file_section_index(file, names[i]);
		if (index && !elf_file_section_header(file, index, out))
			return out->type == SHT_NOBITS || out->flags & SHF_COMPRESSED ? -ENOENT : 0;
	}
	return -ENOENT;
}

/* The value that the loader writes at addr, by the relative relocations; fallback if none does. */
static uint64_t relocated(const struct elf_file *file, uint64_t addr, uint64_t fallback)
{
	uint32_t index = elf_file_section_index(file, ".rela.dyn");
	struct elf_section section;
	Elf64_Rela chunk[512];
	uint64_t count, at, n, i;

	if (!index || elf_file_section_header(file, index, &section))
		return fallback;
	count = section.size / sizeof(*chunk);
	for (at = 0; at < count && at < RELOCATIONS_MAX; at += n) {
		n = count - at < 512 ? count - at : 512;
		if (elf_file_read(file, section.offset + at * sizeof(*chunk), chunk,
				  n * sizeof(*chunk)))
			break;
		for (i = 0; i < n; i++)
			if (chunk[i].r_offset == addr)
				return (uint64_t)chunk[i].r_addend;
	}
	return fallback;
}

/* The start of text: from the header, else from a relocation, else the section's. */
static uint64_t text_start(const struct elf_file *file, uint64_t said, uint64_t addr)
{
	struct elf_section text;
	uint32_t index;

	if (said)
		return said;
	index = elf_file_section_index(file, ".text");
	if (!index || elf_file_section_header(file, index, &text))
		return 0;
	return relocated(file, addr, text.addr);
}

/*
 * Words behind the eight bytes of magic, zeros, quantum and pointer size: the number of functions
 * and of files; from 1.18 on the start of text; then offsets of names, units, files, tables by pc,
 * and of functions, which is also where their list is. In the format of 1.2 the list follows the
 * first, and all offsets count from the section.
 */
int pclntab_open(const struct elf_file *file, struct pclntab *out)
{
	struct elf_section section;
	uint64_t words[8];
	uint8_t head[8];
	uint32_t magic;
	unsigned int first;
	int err = section_find(file, &section);

	if (err)
		return err;
	if (section.size < sizeof(head) + sizeof(words) ||
	    elf_file_read(file, section.offset, head, sizeof(head)) ||
	    elf_file_read(file, section.offset + sizeof(head), words, sizeof(words)))
		return -EINVAL;
	memcpy(&magic, head, sizeof(magic));
	if (head[4] || head[5] || head[7] != WORD)
		return -EINVAL;
	*out = (struct pclntab){
		.list = section.offset + sizeof(head) + WORD,
		.count = words[0],
		.funcs = section.offset,
		.names = section.offset,
		.pcs = section.offset,
		.end = section.offset + section.size,
		.word = WORD,
		.field = WORD,
		.quantum = head[6],
	};
	switch (magic) {
	case MAGIC_1_2:
		first = 0;
		break;
	case MAGIC_1_16:
		first = 2;
		break;
	case MAGIC_1_18:
	case MAGIC_1_20:
		first = 3;
		out->word = out->field = 4;
		out->text = text_start(file, words[2], section.addr + sizeof(head) + 2 * WORD);
		break;
	default:
		return -EINVAL;
	}
	if (first) {
		if (words[first] >= section.size || words[first + 3] >= section.size ||
		    words[first + 4] >= section.size)
			return -EINVAL;
		out->names += words[first];
		out->pcs += words[first + 3];
		out->list = out->funcs += words[first + 4];
	}
	return (out->end - out->list) / (2 * (uint64_t)out->word) > out->count ? 0 : -EINVAL;
}

size_t pclntab_name(const struct pclntab *table, const struct bytes *bytes, uint32_t func, char *to,
		    size_t room)
{
	uint32_t name;

	if (bytes_read(bytes, table->funcs + func + table->field, &name, sizeof(name)) ||
	    name > table->end - table->names)
		return 0;
	return bytes_string(bytes, table->names + name, table->end, to, room);
}
