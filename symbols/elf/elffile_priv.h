/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_ELFFILE_PRIV_H
#define STACKTOP_SYMBOLS_ELF_ELFFILE_PRIV_H

/* What elffile.c, which opens a file, and elfsection.c, which reads its sections, share. */

#include <gelf.h>

#include "symbols/base/bytes.h"
#include "symbols/elf/elffile.h"
#include "symbols/base/work.h"

#define ELFNOTE_PLACES 16u
#define ELFNOTE_BYTES  65536u

struct elfnote_place { /* a PT_NOTE or an SHT_NOTE */
	uint64_t offset;
	uint64_t size;
	uint64_t align; /* p_align: names and descriptions begin at multiples of 8, if it is 8 */
};

struct elf_part { /* of the file in memory; size 0: there is none */
	uint64_t addr;
	uint64_t size;
};

/* See headerless.c: a section that no section header describes. */
struct elf_made {
	const char *name;
	GElf_Shdr shdr;
};

#define MADE_MAX 32u

struct elf_plain { /* a section that was decompressed without libelf */
	struct elf_plain *next;
	uint32_t index;
	size_t size;
	uint8_t bytes[];
};

struct elf_plains {
	struct elf_plain *first;
};

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* glibc before 2.37 */
#endif

struct elf_file {
	struct bytes bytes; /* its descriptor is ours */
	void *block;	    /* the image, if it is ours */
	Elf *elf;
	GElf_Ehdr ehdr;
	bool narrow; /* of 32 bits */
	size_t nsections;
	size_t names; /* section index of the section names; 0: none */
	struct elf_load *loads;
	size_t nloads;
	struct elfnote_place notes[ELFNOTE_PLACES]; /* the first PT_NOTE */
	unsigned int nnotes;
	struct elf_part dynamic, eh_header; /* PT_DYNAMIC, PT_GNU_EH_FRAME */
	struct elf_made made[MADE_MAX];	    /* with numbers from nsections on */
	size_t nmade;
	struct work counted;
	struct elf_plains kept;
	struct work *work;	  /* &counted; readers have the file const */
	struct elf_plains *plain; /* &kept */
};

/*
 * Makes sections of the segments if the section headers are missing, or do not say what the
 * segments say; these headers are forgotten.
 */
void elf_file_make_sections(struct elf_file *file);

/* The error of libelf's last call. Its own codes are private; only -ENOMEM is told apart. */
int elffile_error(void);

#endif
