// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program runs without section headers, since the loader looks at segments only: sstrip,
 * `llvm-objcopy --strip-sections` and packers take them away, and what is appended or cut may leave
 * a table that says nonsense. Then the sections that this program reads are made from what the
 * loader and the unwinder of the program itself use: PT_DYNAMIC (gABI, chapter 5), PT_GNU_EH_FRAME
 * (LSB, "DWARF Extensions") and the segments. Code that asks for a section by its name does not see
 * the difference.
 *
 * .symtab and the sections of debug information are in no segment, so they are lost, as is .plt:
 * nothing tells it from the rest of the code. Nothing leads to the .eh_frame of a static program
 * without PT_GNU_EH_FRAME, whose rows come from its instructions.
 */
#include "symbols/elf/elffile_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/limits.h"

#define PART	       16384u /* bytes of one read */
#define DYNAMIC_MAX    1024u  /* entries; real files have 40 */
#define BUCKETS_MAX    (1u << 24)
#define CHAIN_MAX      65536u /* symbols from the last bucket's first one on */
#define TAGS	       (DT_INIT_ARRAYSZ + 1)
#define PTR_PC_SDATA4  0x1b
#define PTR_PC_SDATA8  0x1c
#define EH_HEADER_SIZE 4u
#define PCLNTAB_ALIGN  32u
#define PCLNTAB_WITHIN ((uint64_t)64 << 20) /* bytes that are searched */

/* Where the bytes of an address are, and how many of them follow; 0: nowhere in the file. */
static uint64_t place(const struct elf_file *file, uint64_t addr, uint64_t *offset)
{
	for (size_t i = 0; i < file->nloads; i++) {
		const struct elf_load *load = &file->loads[i];

		if (addr - load->vaddr >= load->filesz)
			continue;
		*offset = load->offset + (addr - load->vaddr);
		return load->filesz - (addr - load->vaddr);
	}
	return 0;
}

static int add(struct elf_file *file, const char *name, const GElf_Shdr *shdr)
{
	if (file->nmade == MADE_MAX)
		return -ENOSPC;
	file->made[file->nmade++] = (struct elf_made){name, *shdr};
	return 0;
}

/* A section at an address. Nothing is added if the file does not have all of it. */
static void add_at(struct elf_file *file, const char *name, uint64_t addr, GElf_Shdr shdr)
{
	if (!shdr.sh_size || place(file, addr, &shdr.sh_offset) < shdr.sh_size)
		return;
	shdr.sh_addr = addr;
	shdr.sh_flags |= SHF_ALLOC;
	add(file, name, &shdr);
}

/*
 * The bytes up to the zero that ends .eh_frame, or up to a record that leads out of the segment.
 */
static uint64_t eh_frame_size(const struct elf_file *file, uint64_t offset, uint64_t room)
{
	uint8_t part[PART];
	uint64_t at = 0, from = 0, have = 0, length;
	uint32_t word;

	room = room < LIMIT_CFI ? room : LIMIT_CFI;
	while (room - at >= sizeof(word)) {
		if (at - from >= have || have - (at - from) < sizeof(word)) {
			from = at;
			have = room - at < PART ? room - at : PART;
			if (bytes_read(&file->bytes, offset + from, part, have))
				return 0;
		}
		memcpy(&word, part + (at - from), sizeof(word));
		if (!word)
			return at + sizeof(word);
		length = word;
		if (word == UINT32_MAX &&
		    (room - at < 12 || bytes_read(&file->bytes, offset + at + 4, &length, 8)))
			return at;
		length += word == UINT32_MAX ? 12 : 4;
		if (length < 4 || length > room - at)
			return at;
		at += length;
	}
	return at;
}

static void add_eh_frame(struct elf_file *file)
{
	const uint64_t addr = file->eh_header.addr + EH_HEADER_SIZE;
	GElf_Shdr shdr = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC};
	uint8_t head[EH_HEADER_SIZE];
	uint64_t room, offset;
	int64_t to = 0;

	room = place(file, file->eh_header.addr, &offset);
	if (room < sizeof(head) + sizeof(to) ||
	    bytes_read(&file->bytes, offset, head, sizeof(head)) ||
	    bytes_read(&file->bytes, offset + sizeof(head), &to, sizeof(to)) || head[0] != 1)
		return;
	if (head[1] == PTR_PC_SDATA4)
		to = (int32_t)to;
	else if (head[1] != PTR_PC_SDATA8)
		return;
	shdr.sh_addr = addr + (uint64_t)to;
	room = place(file, shdr.sh_addr, &shdr.sh_offset);
	shdr.sh_size = eh_frame_size(file, shdr.sh_offset, room);
	if (shdr.sh_size)
		add(file, ".eh_frame", &shdr);
}

/* The number of symbols by DT_HASH: a chain has a word for each. */
static uint64_t count_by_hash(const struct elf_file *file, uint64_t addr)
{
	uint32_t head[2];
	uint64_t offset;

	if (place(file, addr, &offset) < sizeof(head) ||
	    bytes_read(&file->bytes, offset, head, sizeof(head)))
		return 0;
	return head[1];
}

/*
 * By DT_GNU_HASH: symbols from the first hashed one on are sorted by bucket, and the chain of the
 * last bucket ends with an odd word.
 */
static uint64_t count_by_gnu_hash(const struct elf_file *file, uint64_t addr)
{
	uint32_t head[4], part[PART / 4], last = 0, n;
	uint64_t offset, room = place(file, addr, &offset), skip, buckets;

	if (room < sizeof(head) || bytes_read(&file->bytes, offset, head, sizeof(head)) ||
	    head[0] > BUCKETS_MAX)
		return 0;
	skip = sizeof(head) + 8 * (uint64_t)head[2];
	buckets = 4 * (uint64_t)head[0];
	if (skip + buckets > room)
		return 0;
	for (uint64_t at = 0; at < buckets; at += n) {
		n = buckets - at < PART ? (uint32_t)(buckets - at) : PART;
		if (bytes_read(&file->bytes, offset + skip + at, part, n))
			return 0;
		for (uint32_t i = 0; i < n / 4; i++)
			last = part[i] > last ? part[i] : last;
	}
	if (last < head[1])
		return head[1]; /* none is hashed: all are imports */
	skip += buckets + 4 * (uint64_t)(last - head[1]);
	for (uint32_t count = 0; count < CHAIN_MAX && skip <= room - 4; count++, skip += 4) {
		if (bytes_read(&file->bytes, offset + skip, &n, sizeof(n)))
			return 0;
		if (n & 1)
			return (uint64_t)last + count + 1;
	}
	return 0;
}

/* What the loader is told, by tag up to DT_INIT_ARRAYSZ; DT_GNU_HASH stands in place of DT_NULL. */
static void read_dynamic(const struct elf_file *file, uint64_t values[TAGS])
{
	uint64_t room, offset;
	Elf64_Dyn entry;

	room = place(file, file->dynamic.addr, &offset);
	if (room > file->dynamic.size)
		room = file->dynamic.size;
	for (size_t i = 0; i < DYNAMIC_MAX && room >= (i + 1) * sizeof(entry); i++) {
		if (bytes_read(&file->bytes, offset + i * sizeof(entry), &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag > 0 && entry.d_tag < TAGS)
			values[entry.d_tag] = entry.d_un.d_val;
		else if (entry.d_tag == DT_GNU_HASH)
			values[DT_NULL] = entry.d_un.d_ptr;
	}
}

static void add_symbols(struct elf_file *file, const uint64_t values[TAGS])
{
	const size_t strings = file->nmade;
	uint64_t count = 0;

	if (values[DT_HASH])
		count = count_by_hash(file, values[DT_HASH]);
	else if (values[DT_NULL])
		count = count_by_gnu_hash(file, values[DT_NULL]);
	add_at(file, ".dynstr", values[DT_STRTAB],
	       (GElf_Shdr){.sh_type = SHT_STRTAB, .sh_size = values[DT_STRSZ]});
	if (file->nmade > strings && count <= UINT32_MAX)
		add_at(file, ".dynsym", values[DT_SYMTAB],
		       (GElf_Shdr){.sh_type = SHT_DYNSYM,
				   .sh_size = count * sizeof(Elf64_Sym),
				   .sh_entsize = sizeof(Elf64_Sym),
				   .sh_link = (uint32_t)(file->nsections + strings)});
}

static void add_dynamic(struct elf_file *file, const uint64_t values[TAGS])
{
	const GElf_Shdr rela = {.sh_type = SHT_RELA, .sh_entsize = sizeof(Elf64_Rela)};
	GElf_Shdr some = rela;

	some.sh_size = values[DT_RELASZ];
	add_at(file, ".rela.dyn", values[DT_RELA], some);
	some.sh_size = values[DT_PLTRELSZ];
	add_at(file, ".rela.plt", values[DT_JMPREL], some);
	/* Its size is not known, and only its address is asked for. */
	add_at(file, ".got.plt", values[DT_PLTGOT],
	       (GElf_Shdr){.sh_type = SHT_PROGBITS, .sh_size = sizeof(Elf64_Addr)});
	add_at(file, ".init_array", values[DT_INIT_ARRAY],
	       (GElf_Shdr){.sh_type = SHT_INIT_ARRAY, .sh_size = values[DT_INIT_ARRAYSZ]});
	add_symbols(file, values);
}

/* The code of a segment. What begins at DT_FINI is a function that nothing else tells. */
static void add_text(struct elf_file *file, const struct elf_load *load, uint64_t fini)
{
	GElf_Shdr shdr = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_EXECINSTR};

	if (fini - load->vaddr >= load->filesz)
		fini = load->vaddr;
	shdr.sh_size = fini - load->vaddr;
	add_at(file, ".text", load->vaddr, shdr);
	shdr.sh_size = load->filesz - shdr.sh_size;
	add_at(file, fini == load->vaddr ? ".text" : ".fini", fini, shdr);
}

/*
 * Go's own table of functions (symbols/elf/pclntab.h), by its first bytes: one of four numbers, two
 * zeros, the quantum of an instruction and the size of a word. Linkers align it to 32 bytes.
 */
static bool is_pclntab(const uint8_t *at)
{
	static const uint8_t numbers[] = {0xf0, 0xf1, 0xfa, 0xfb};

	return memchr(numbers, at[0], sizeof(numbers)) && !memcmp(at + 1, "\xff\xff\xff\0\0", 5) &&
	       (at[6] == 1 || at[6] == 4) && at[7] == sizeof(Elf64_Addr);
}

/*
 * Looks through the bytes of a segment that are behind *seen in the file, which they move: segments
 * may have the same bytes.
 */
static void add_pclntab(struct elf_file *file, const struct elf_load *load, uint64_t *seen)
{
	const uint64_t from = *seen > load->offset ? *seen - load->offset : 0;
	uint64_t at = from + (-(load->vaddr + from) % PCLNTAB_ALIGN), n;
	uint64_t size = load->filesz < PCLNTAB_WITHIN ? load->filesz : PCLNTAB_WITHIN;
	uint8_t part[PART];

	for (; at < size; at += n) {
		n = size - at < PART ? size - at : PART;
		if (bytes_read(&file->bytes, load->offset + at, part, n))
			return;
		*seen = load->offset + at + n;
		for (uint64_t i = 0; i + PCLNTAB_ALIGN <= n; i += PCLNTAB_ALIGN)
			if (is_pclntab(part + i)) {
				add_at(file, ".gopclntab", load->vaddr + at + i,
				       (GElf_Shdr){.sh_type = SHT_PROGBITS,
						   .sh_size = load->filesz - at - i});
				return;
			}
	}
}

static bool is_named(const struct elf_file *file, const char *name, const struct elf_part *part)
{
	struct elf_section section;

	return !part->size ||
	       (!elf_file_section_header(file, elf_file_section_index(file, name), &section) &&
		section.addr == part->addr);
}

/*
 * Is it where a segment has its address? A debug file has it without bytes, a copy of debug
 * information has no segments, and without the two segments there is nothing to replace it by.
 */
static bool is_placed(const struct elf_file *file, const char *name)
{
	struct elf_section section;
	uint64_t offset = 0;

	return (!file->dynamic.size && !file->eh_header.size) ||
	       elf_file_section_header(file, elf_file_section_index(file, name), &section) ||
	       section.type == SHT_NOBITS || !section.size || !file->nloads ||
	       (place(file, section.addr, &offset) >= section.size && offset == section.offset);
}

/* Is the file shorter than its segments? Then it lacks more than section headers. */
static bool is_cut(const struct elf_file *file)
{
	const struct elf_load *load;
	uint8_t last;

	for (size_t i = 0; i < file->nloads; i++) {
		load = &file->loads[i];
		if (load->filesz &&
		    bytes_read(&file->bytes, load->offset + (load->filesz - 1), &last, 1))
			return true;
	}
	return false;
}

void elf_file_make_sections(struct elf_file *file)
{
	uint64_t values[TAGS] = {0}, seen = 0;

	if (file->narrow || (file->ehdr.e_type != ET_EXEC && file->ehdr.e_type != ET_DYN) ||
	    (file->names && is_named(file, ".dynamic", &file->dynamic) &&
	     is_named(file, ".eh_frame_hdr", &file->eh_header) && is_placed(file, ".eh_frame") &&
	     is_placed(file, ".dynsym")) ||
	    is_cut(file))
		return;
	file->names = 0;
	file->nsections = 1; /* the one that is none */
	read_dynamic(file, values);
	for (size_t i = 0; i < file->nloads && file->nmade < MADE_MAX / 2; i++)
		if (file->loads[i].exec)
			add_text(file, &file->loads[i], values[DT_FINI]);
	add_eh_frame(file);
	add_dynamic(file, values);
	for (size_t i = 0; i < file->nloads && file->nmade < MADE_MAX; i++)
		if (!file->loads[i].exec && seen < PCLNTAB_WITHIN)
			add_pclntab(file, &file->loads[i], &seen);
}
