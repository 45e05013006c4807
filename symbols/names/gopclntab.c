// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table may have tens of megabytes, most of it line numbers: only the header and the list of
 * functions are read, and the names that are asked for.
 */
#include "symbols/names/symread.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "symbols/elf/elffile.h"

#define MAGIC_1_2  0xfffffffbu
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

#define WORD 8u /* of the 64-bit machines that we read files of */

struct gopclntab_header {
	uint64_t offset; /* of the section in the file */
	uint64_t size;
	uint64_t count;	    /* of functions */
	uint64_t list;	    /* offset of their list in the section */
	uint64_t list_word; /* bytes of a number in it */
	uint64_t text;	    /* what its addresses count from */
};

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
	for (at = 0; at < count && at < SYMLIST_MAX; at += n) {
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
 * and of files; from 1.18 on the start of text; then offsets of names, units, files, counters, and
 * of functions, which is also where their list is.
 */
static int header_read(const struct elf_file *file, const struct elf_section *section,
		       struct gopclntab_header *h, struct gopclntab *out)
{
	uint8_t head[8];
	uint64_t words[8];
	uint32_t magic;
	unsigned int first;

	if (section->size < sizeof(head) + sizeof(words) ||
	    elf_file_read(file, section->offset, head, sizeof(head)) ||
	    elf_file_read(file, section->offset + sizeof(head), words, sizeof(words)))
		return -EINVAL;
	memcpy(&magic, head, sizeof(magic));
	if (head[4] || head[5] || head[7] != WORD)
		return -EINVAL;
	*h = (struct gopclntab_header){section->offset, section->size, words[0], 0, WORD, 0};
	*out = (struct gopclntab){section->offset, section->offset, section->offset + section->size,
				  WORD};
	switch (magic) {
	case MAGIC_1_2:
		h->list = sizeof(head) + WORD;
		return 0;
	case MAGIC_1_16:
		first = 2;
		break;
	case MAGIC_1_18:
	case MAGIC_1_20:
		first = 3;
		h->list_word = out->field = 4;
		h->text = text_start(file, words[2], section->addr + sizeof(head) + 2 * WORD);
		break;
	default:
		return -EINVAL;
	}
	if (words[first] >= section->size || words[first + 4] >= section->size)
		return -EINVAL;
	out->names += words[first];
	out->funcs += words[first + 4];
	h->list = words[first + 4];
	return 0;
}

/* Pairs of an address and an offset, and an address that ends the last. */
static int list_read(const struct elf_file *file, const struct gopclntab_header *h,
		     struct symlist *list)
{
	struct symlist_item item = {.source = SYMLIST_GO};
	uint64_t pair = 2 * h->list_word, at, n, i, addr = 0, next, func = 0;
	uint8_t chunk[512 * 16];
	int err = 0;

	if (h->count >= SYMLIST_MAX || h->list >= h->size || (h->size - h->list) / pair <= h->count)
		return -EINVAL;
	for (at = 0; at <= h->count && !err; at += n) {
		n = h->count + 1 - at < 512 ? h->count + 1 - at : 512;
		if (elf_file_read(file, h->offset + h->list + at * pair, chunk, n * pair))
			return -EINVAL;
		for (i = 0; i < n && !err; i++) {
			next = 0;
			memcpy(&next, chunk + i * pair, h->list_word);
			next += h->text;
			item.start = addr;
			item.name = (uint32_t)func;
			if (at + i && next > addr)
				err = symlist_add(list, &item, next - addr);
			addr = next;
			func = 0;
			memcpy(&func, chunk + i * pair + h->list_word, h->list_word);
			if (func > UINT32_MAX)
				return -EINVAL;
		}
	}
	return err == -E2BIG ? 0 : err;
}

int gopclntab_read(const struct elf_file *file, struct symlist *list, struct gopclntab *out)
{
	struct elf_section section;
	struct gopclntab_header header;
	int err = section_find(file, &section);

	if (!err)
		err = header_read(file, &section, &header, out);
	return err ? err : list_read(file, &header, list);
}

size_t gopclntab_name(const struct gopclntab *table, const struct bytes *bytes, uint32_t func,
		      char *to, size_t room)
{
	uint32_t name;

	if (bytes_read(bytes, table->funcs + func + table->field, &name, sizeof(name)) ||
	    name > table->end - table->names)
		return 0;
	return bytes_string(bytes, table->names + name, table->end, to, room);
}
