// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See gdbjit.h. An image of LLVM is a copy of the object file as the compiler wrote it: only its
 * section headers know the addresses. Its .eh_frame was loaded for the C++ runtime, too, and is
 * relocated there, so it is taken from there.
 */
#include "bpf/tracker/gdbjit.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/tracker/codedraft.h"
#include "bpf/tracker/codereader.h"
#include "symbols/base/limits.h"
#include "symbols/elf/elffile.h"

#define ENTRIES_MAX 65536u
#define IMAGE_MAX   LIMIT_MIB(16)
#define HEAD_WORDS  32u /* of a small image: with the place of its text */

struct jit_descriptor {
	uint32_t version;
	uint32_t action;
	uint64_t relevant;
	uint64_t first;
};

struct jit_entry {
	uint64_t next, prev;
	uint64_t image, size;
};

/* The address of the first entry; 0: none. */
static int first_entry(struct code_memory *m, uint64_t descriptor, uint64_t *first)
{
	struct jit_descriptor d;
	int err = codereader_memory(m, descriptor, &d, sizeof(d));

	*first = !err && d.version == 1 ? d.first : 0;
	return err;
}

/* Another image may have the address and the size of one that was freed. */
static uint64_t mark_image(struct code_memory *m, const struct jit_entry *entry, uint64_t mark)
{
	uint64_t head[HEAD_WORDS];
	size_t n =
		entry->size / sizeof(*head) < HEAD_WORDS ? entry->size / sizeof(*head) : HEAD_WORDS;

	if (codereader_memory(m, entry->image, head, n * sizeof(*head)))
		return mark;
	while (n)
		mark = code_mark(mark, head[--n]);
	return mark;
}

int gdbjit_mark(struct code_memory *m, uint64_t descriptor, uint64_t *mark)
{
	struct jit_entry entry;
	uint64_t at;
	int err = first_entry(m, descriptor, &at);

	for (unsigned int n = 0; !err && at && n < ENTRIES_MAX; n++, at = entry.next) {
		if (codereader_memory(m, at, &entry, sizeof(entry)))
			break; /* it is being changed */
		*mark = code_mark(code_mark(*mark, at), code_mark(entry.image, entry.size));
		*mark = mark_image(m, &entry, *mark);
	}
	return err;
}

/* Replaces sections that the image has not relocated by what was loaded of them. */
static void use_loaded(struct code_memory *m, uint8_t *image, uint64_t size)
{
	Elf64_Ehdr ehdr;
	Elf64_Shdr shdr;

	if (size < sizeof(ehdr))
		return;
	memcpy(&ehdr, image, sizeof(ehdr));
	if (ehdr.e_type != ET_REL || ehdr.e_shentsize != sizeof(shdr) || ehdr.e_shoff > size)
		return;
	for (uint64_t i = 0, at = ehdr.e_shoff; i < ehdr.e_shnum && size - at >= sizeof(shdr);
	     i++, at += sizeof(shdr)) {
		memcpy(&shdr, image + at, sizeof(shdr));
		if ((shdr.sh_type != SHT_PROGBITS && shdr.sh_type != SHT_X86_64_UNWIND) ||
		    !(shdr.sh_flags & SHF_ALLOC) || shdr.sh_flags & (SHF_EXECINSTR | SHF_WRITE) ||
		    !shdr.sh_addr || shdr.sh_offset > size || shdr.sh_size > size - shdr.sh_offset)
			continue;
		codereader_memory(m, shdr.sh_addr, image + shdr.sh_offset, shdr.sh_size);
	}
}

static int read_image(struct code_memory *m, const struct jit_entry *entry, struct code_draft *d)
{
	struct elf_file *file;
	uint8_t *image;
	int err;

	if (!entry->size || entry->size > IMAGE_MAX)
		return 0;
	image = malloc(entry->size);
	if (!image)
		return -ENOMEM;
	err = codereader_memory(m, entry->image, image, entry->size);
	if (err) {
		free(image);
		return err == -E2BIG ? err : 0;
	}
	use_loaded(m, image, entry->size);
	err = elf_file_open_block(image, entry->size, &file);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = codedraft_elf(d, file);
	elf_file_free(file);
	return err;
}

int gdbjit_read(struct code_memory *m, uint64_t descriptor, struct code_draft *d)
{
	struct jit_entry entry;
	uint64_t at;
	int err = first_entry(m, descriptor, &at);

	if (err && err != -E2BIG)
		return 0;
	for (unsigned int n = 0; !err && at && n < ENTRIES_MAX; n++, at = entry.next) {
		err = codereader_memory(m, at, &entry, sizeof(entry));
		if (!err)
			err = read_image(m, &entry, d);
	}
	return err == -ENOMEM || err == -E2BIG ? err : 0;
}
