/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_BPF_TRACKER_JITIMAGE_H
#define STACKTOP_TESTS_BPF_TRACKER_JITIMAGE_H

/*
 * An ELF image of one function made at run time, as LuaJIT and PHP write it for debuggers: text
 * that is elsewhere, CFI relative to the text, one symbol. Written by hand from the specifications.
 */

#include <elf.h>
#include <stdint.h>
#include <string.h>

struct jitimage {
	Elf64_Ehdr ehdr;
	Elf64_Shdr sections[6];
	Elf64_Sym symbols[2];
	char names[64];
	char strings[64];
	uint8_t frame[56];
};

/* cfa: bytes from the stack pointer to the CFA in all of the function, below 128. */
static inline void jitimage_make(struct jitimage *image, uint64_t text, uint64_t size, uint8_t cfa,
				 const char *name)
{
	static const char names[] = "\0.text\0.eh_frame\0.shstrtab\0.strtab\0.symtab";
	const uint8_t frame[] = {
		20,
		0,
		0,
		0,
		0,
		0,
		0,
		0, /* length, CIE */
		1,
		'z',
		'R',
		0,
		1,
		0x78,
		16,
		1,
		0x23, /* -8; text-relative, 4 bytes */
		0x0c,
		7,
		8,
		0x90,
		1,
		0,
		0, /* CFA = rsp + 8; RA at CFA - 8 */
		20,
		0,
		0,
		0,
		28,
		0,
		0,
		0, /* length, distance of the CIE */
		0,
		0,
		0,
		0,
		(uint8_t)size,
		(uint8_t)(size >> 8),
		0,
		0,
		0, /* start, size */
		0x0e,
		cfa,
		0,
		0,
		0,
		0,
		0, /* CFA = rsp + cfa */
		0,
		0,
		0,
		0,
	};
#define PLACE(member) offsetof(struct jitimage, member), sizeof(image->member)
	memset(image, 0, sizeof(*image));
	memcpy(image->names, names, sizeof(names));
	memcpy(image->frame, frame, sizeof(frame));
	strncpy(image->strings + 1, name, sizeof(image->strings) - 2);
	image->symbols[1] = (Elf64_Sym){1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, size};
	image->sections[1] =
		(Elf64_Shdr){1, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, text, 0, size, 0, 0, 16, 0};
	image->sections[2] = (Elf64_Shdr){7, SHT_PROGBITS, SHF_ALLOC, 0, PLACE(frame), 0, 0, 8, 0};
	image->sections[3] = (Elf64_Shdr){17, SHT_STRTAB, 0, 0, PLACE(names), 0, 0, 1, 0};
	image->sections[4] = (Elf64_Shdr){27, SHT_STRTAB, 0, 0, PLACE(strings), 0, 0, 1, 0};
	image->sections[5] =
		(Elf64_Shdr){35, SHT_SYMTAB, 0, 0, PLACE(symbols), 4, 1, 8, sizeof(Elf64_Sym)};
#undef PLACE
	memcpy(image->ehdr.e_ident, ELFMAG, SELFMAG);
	image->ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	image->ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	image->ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	image->ehdr.e_type = ET_REL;
	image->ehdr.e_machine = EM_X86_64;
	image->ehdr.e_version = EV_CURRENT;
	image->ehdr.e_shoff = offsetof(struct jitimage, sections);
	image->ehdr.e_ehsize = sizeof(Elf64_Ehdr);
	image->ehdr.e_shentsize = sizeof(Elf64_Shdr);
	image->ehdr.e_shnum = 6;
	image->ehdr.e_shstrndx = 3;
}

/* GDB's JIT interface, gdb manual, "JIT Compilation Interface". */
struct jit_code_entry {
	struct jit_code_entry *next, *prev;
	const char *symfile;
	uint64_t size;
};

struct jit_descriptor_of_gdb {
	uint32_t version, action;
	struct jit_code_entry *relevant, *first;
};

#endif
