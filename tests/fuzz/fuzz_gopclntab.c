/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz: -max_len=16384 */
/*
 * The input is a section .gopclntab. Around it is an ELF file with 1 MiB of text at 0x401000, so
 * that the fuzzer changes the table and not the file.
 * Covers: symbols/names/gopclntab.c symbols/elf/pclntab.c unwind/go_pcsp.c
 */
#include <elf.h>

#include "symbols/base/work.h"
#include "symbols/elf/elffile.h"
#include "symbols/names/symtab.h"
#include "tests/fuzz/fuzz.h"
#include "unwind/go_cfi.h"
#include "unwind/go_pcsp.h"

#define TEXT	  0x401000u
#define TEXT_SIZE (1u << 20)
#define WORK_MAX  (1u << 16)

static const char names[] = "\0.gopclntab\0.text\0.shstrtab";

struct image {
	Elf64_Ehdr ehdr;
	Elf64_Shdr shdr[4];
	char names[sizeof(names)];
	uint8_t table[];
};

static size_t image_fill(struct image *image, const uint8_t *data, size_t size)
{
	image->ehdr = (Elf64_Ehdr){
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = offsetof(struct image, shdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	};
	image->shdr[0] = (Elf64_Shdr){0};
	image->shdr[1] = (Elf64_Shdr){
		.sh_name = 1,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC,
		.sh_offset = offsetof(struct image, table),
		.sh_size = size,
	};
	image->shdr[2] = (Elf64_Shdr){
		.sh_name = 12,
		.sh_type = SHT_NOBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = TEXT,
		.sh_size = TEXT_SIZE,
	};
	image->shdr[3] = (Elf64_Shdr){
		.sh_name = 18,
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct image, names),
		.sh_size = sizeof(names),
	};
	memcpy(image->names, names, sizeof(names));
	memcpy(image->table, data, size);
	return offsetof(struct image, table) + size;
}

struct rows {
	const struct cfi_fde *fde;
	uint64_t pc; /* behind the last row */
};

static int check_row(void *arg, uint64_t pc, const struct cfa_state *state)
{
	struct rows *rows = arg;

	require(pc >= rows->pc && pc < rows->fde->end && state->cfa.kind == EXPR_REG);
	rows->pc = pc + 1;
	return 0;
}

/* Rows ascend within their function, however many functions share a table. */
static void check_depths(const struct elf_file *file)
{
	struct go_functions functions = {0};
	struct go_pcsp pcsp;
	struct cfi cfi = {0};
	uint64_t end;
	int err;

	work_allow(elf_file_work(file), WORK_MAX);
	err = go_pcsp_read(file, &pcsp, &functions, &cfi);
	require(!err || err == -E2BIG);
	require(functions.count <= GO_FUNCTIONS_MAX);
	for (uint32_t i = 0; !err && i < cfi.nfdes; i++) {
		struct rows rows = {&cfi.fdes[i], cfi.fdes[i].start};

		err = go_pcsp_run(&pcsp, rows.fde, check_row, &rows, &end);
		require(err ? err == -E2BIG : end >= rows.fde->start && end <= rows.fde->end);
	}
	cfi_free(&cfi);
}

static int take_input(const uint8_t *data, size_t size)
{
	struct image *image = malloc(sizeof(*image) + size);
	struct elf_file *file;
	struct symtab *table;
	struct symbol symbol;

	require(image != NULL);
	size = image_fill(image, data, size);
	require(elf_file_open_memory(image, size, &file) == 0);
	require(symtab_new(file, NULL, &table) == 0);
	check_depths(file);
	elf_file_free(file);
	free(image);
	for (uint64_t addr = TEXT - 1; addr <= TEXT + TEXT_SIZE; addr += 61) {
		if (symtab_find(table, addr, &symbol))
			continue;
		require(addr - symbol.start < symbol.size && addr >= TEXT);
		require(strlen(symbol.name) <= 4096 && *symbol.name);
	}
	symtab_free(table);
	return 0;
}

/* Each of 17,190 addresses may have a name as long as the table. */
FUZZ_TARGET(take_input, 4u << 20, 1u << 17)
