// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of a file that was made to cost much. Sections that take no space on the disk, or claim
 * to be large when decompressed, are refused before they are read; programs that would run again
 * and again, before they run; and a build can be ended from outside. All of it is measured by
 * counted work, not by time.
 * Covers: unwind/table.c unwind/cfifile.c unwind/cfa.c unwind/sframe.c symbols/elf/elfsection.c
 * Covers: symbols/base/limits.h symbols/base/work.h
 */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/elf/elffile.h"
#include "symbols/base/limits.h"
#include "symbols/base/work.h"
#include "tests/support/scratch.h"
#include "tests/support/tables.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define MIB   ((uint64_t)1 << 20)
#define NAMES 3u

/* A section of a file that this test makes. */
struct made {
	const char *name;
	uint64_t size;	/* of the hole after `head` */
	uint64_t flags; /* SHF_COMPRESSED: begins with chdr */
	Elf64_Chdr chdr;
	const char *head; /* else begins with this text; may be NULL */
	size_t nhead;
};

static size_t head_of(const struct made *m, const void **head)
{
	*head = m->flags & SHF_COMPRESSED ? (const void *)&m->chdr : m->head;
	return m->flags & SHF_COMPRESSED ? sizeof(m->chdr) : m->nhead;
}

/* Opens a sparse file of these sections and an executable segment. */
static struct elf_file *make_file(const struct made *made, size_t count)
{
	Elf64_Ehdr ehdr = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_ehsize = sizeof(ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phoff = sizeof(ehdr),
			   .e_phnum = 1,
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shoff = 4096,
			   .e_shnum = (uint16_t)(count + 2),
			   .e_shstrndx = 1};
	Elf64_Phdr text = {.p_type = PT_LOAD,
			   .p_flags = PF_R | PF_X,
			   .p_vaddr = IMAGE_TEXT,
			   .p_filesz = 4096,
			   .p_memsz = 4096};
	Elf64_Shdr sections[NAMES + 2] = {{0}};
	char path[SCRATCH], names[256] = "";
	size_t used = 1, at = 16384;
	struct elf_file *file;
	const void *head;
	int fd = scratch_file(path, "limits");

	assert_true(count <= NAMES);
	for (size_t i = 0; i < count; i++) {
		size_t size = head_of(&made[i], &head);

		sections[i + 2] = (Elf64_Shdr){.sh_name = (uint32_t)used,
					       .sh_type = SHT_PROGBITS,
					       .sh_flags = made[i].flags,
					       .sh_addr = IMAGE_CFI + at,
					       .sh_offset = at,
					       .sh_size = size + made[i].size};
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s", made[i].name) +
			1;
		assert_int_equal(pwrite(fd, head, size, (off_t)at), size);
		at += size + made[i].size;
	}
	sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = 8192, .sh_size = used};
	assert_int_equal(pwrite(fd, &ehdr, sizeof(ehdr), 0), sizeof(ehdr));
	assert_int_equal(pwrite(fd, &text, sizeof(text), sizeof(ehdr)), sizeof(text));
	assert_int_equal(pwrite(fd, sections, sizeof(sections), 4096), sizeof(sections));
	assert_int_equal(pwrite(fd, names, used, 8192), used);
	assert_int_equal(ftruncate(fd, (off_t)at), 0);
	assert_int_equal(elf_file_open_fd(fd, &file), 0);
	close(fd);
	unlink(path);
	return file;
}

/* The result of building the table of such a file; *work: the counted units. */
static int build_made(const struct made *made, size_t count, uint64_t *work)
{
	struct wide_rules *wide = wide_rules_new();
	struct elf_file *file = make_file(made, count);
	struct unwind_table *table;
	int err;

	assert_non_null(wide);
	err = unwind_table_build(file, wide, &table);
	*work = elf_file_work(file)->done;
	if (!err)
		unwind_table_free(table);
	elf_file_free(file);
	wide_rules_free(wide);
	return err;
}

/* Reading a section counts a unit per 64 bytes: these are not read. */
static void sparse_sections_are_not_read(void **state)
{
	static const char *const names[] = {".eh_frame", ".debug_frame", ".sframe"};
	struct made all[NAMES] = {{0}};
	uint64_t work;

	(void)state;
	for (size_t i = 0; i < NAMES; i++) {
		struct made one = {.name = names[i], .size = 1023 * MIB};

		assert_int_equal(build_made(&one, 1, &work), -E2BIG);
		assert_true(work < 1024);
		all[i] = (struct made){.name = names[i], .size = 12 * MIB};
	}
	/* 36 MiB: the third section is one too many, whichever it is. */
	assert_int_equal(build_made(all, 3, &work), -E2BIG);
	assert_in_range(work, 24 * MIB / 64, 32 * MIB / 64);
	/* Holes are no records, so two of them give no error. */
	assert_int_equal(build_made(all, 2, &work), 0);
}

/* The claimed size counts with the compressed one, and so does the ratio of both. */
static void compressed_sections_are_not_believed(void **state)
{
	struct made zlib = {.name = ".debug_frame",
			    .size = 4000,
			    .flags = SHF_COMPRESSED,
			    .chdr = {.ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 1}};
	struct made gnu = {.name = ".zdebug_frame",
			   .size = 4000,
			   .head = "ZLIB\0\0\0\0\x04\0\0\0", /* 64 MiB, in 4012 bytes */
			   .nhead = 12};
	static const struct {
		uint64_t claimed, packed;
		int err;
	} cases[] = {
		{(uint64_t)1 << 50, 4000, -E2BIG},
		{16 * MIB, 4000, -E2BIG},
		{16 * MIB, 15 * MIB, -EINVAL},
		{16 * MIB, 17 * MIB, -E2BIG},
		{MIB, 4000, -EINVAL},
		{33 * MIB, 2 * MIB, -E2BIG},
	};
	uint64_t work;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		zlib.chdr.ch_size = cases[i].claimed;
		zlib.size = cases[i].packed;
		/* Within the limits, zlib finds that the data is no stream. */
		assert_int_equal(build_made(&zlib, 1, &work), cases[i].err);
		if (cases[i].err == -E2BIG)
			assert_true(work < 1024);
	}
	assert_int_equal(build_made(&gnu, 1, &work), -E2BIG);
	assert_true(work < 1024);
}

/* A .debug_frame with one function of `insns` rows over all functions of .eh_frame. */
static size_t long_function(uint8_t *to, uint32_t insns)
{
	/* version 1, "", code 1, data -8, RA 16; CFA = rsp + 8, RA at c-8 */
	static const uint8_t cie[] = {0xff, 0xff, 0xff, 0xff, 1, 0,    1,
				      0x78, 16,	  0x0c, 7,    8, 0x90, 1};
	uint32_t length = sizeof(cie), zero = 0;
	uint64_t range[2] = {IMAGE_TEXT, insns};
	size_t at = 0;

	memcpy(to, &length, 4);
	memcpy(to + 4, cie, sizeof(cie));
	at = 4 + sizeof(cie);
	length = 4 + sizeof(range) + insns;
	memcpy(to + at, &length, 4);
	memcpy(to + at + 4, &zero, 4);
	memcpy(to + at + 8, range, sizeof(range));
	memset(to + at + 8 + sizeof(range), 0x41, insns); /* DW_CFA_advance_loc 1 */
	return at + 8 + sizeof(range) + insns;
}

/*
 * Every other byte is a function of .eh_frame, so that the .debug_frame counts in n / 2 parts, and
 * each part runs its program from the beginning: n * n / 2 instructions for some 17 n bytes.
 */
static void build_parts(struct fixture *f, uint32_t n, uint8_t *frame)
{
	f->cfi.size = 0;
	cfi_cie(&f->cfi, "zR");
	for (uint32_t i = 0; i < n; i += 2)
		cfi_fde(&f->cfi, IMAGE_TEXT + i, 1, NULL, 0);
	f->options.sframe = frame;
	f->options.sframe_size = long_function(frame, n);
	f->options.sframe_is_debug = 1;
}

static void programs_are_not_run_without_end(void **state)
{
	uint8_t *frame = malloc(65536);
	struct fixture *f = *state;

	assert_non_null(frame);
	/* 100 parts are accepted: 5,000 instructions. */
	build_parts(f, 100, frame);
	assert_int_equal(build_status(f), 0);
	assert_int_equal(f->table->bad_fdes, 0);
	/* 200 million instructions, from 20,000 bytes and 10,000 functions */
	build_parts(f, 20000, frame);
	assert_int_equal(build_status(f), -E2BIG);
	assert_true(elf_file_work(f->file)->done <
		    2 * LIMIT_WORK(f->cfi.size + f->options.sframe_size));
	f->options.sframe = NULL;
	free(frame);
}

static void cancelled_is_cancelled(void **state)
{
	atomic_bool cancel = true;
	struct wide_rules *wide = wide_rules_new();
	struct unwind_table *table = NULL;
	struct elf_file *file;

	(void)state;
	assert_non_null(wide);
	assert_int_equal(elf_file_open("/proc/self/exe", &file), 0);
	elf_file_work(file)->cancel = &cancel;
	assert_int_equal(unwind_table_build(file, wide, &table), -ECANCELED);
	assert_null(table);
	atomic_store(&cancel, false);
	assert_int_equal(unwind_table_build(file, wide, &table), 0);
	assert_true(table->nrows > 0);
	unwind_table_free(table);
	elf_file_free(file);
	wide_rules_free(wide);
}

/* Real files stay far below the limit: a quarter of it is enough for them. */
static void real_files_have_room(void **state)
{
	static const char *const paths[] = {"/proc/self/exe", "/bin/ls",
					    "/lib/x86_64-linux-gnu/libc.so.6",
					    "/lib64/ld-linux-x86-64.so.2"};
	struct wide_rules *wide = wide_rules_new();

	(void)state;
	assert_non_null(wide);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct unwind_table *table;
		struct elf_file *file;

		if (elf_file_open(paths[i], &file))
			continue;
		assert_int_equal(unwind_table_build(file, wide, &table), 0);
		assert_true(elf_file_work(file)->done >= table->nrows);
		assert_true(elf_file_work(file)->done < LIMIT_WORK(table->cfi_bytes) / 4);
		unwind_table_free(table);
		elf_file_free(file);
	}
	wide_rules_free(wide);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sparse_sections_are_not_read),
		cmocka_unit_test(compressed_sections_are_not_believed),
		cmocka_unit_test_setup_teardown(programs_are_not_run_without_end, tables_setup,
						tables_teardown),
		cmocka_unit_test(cancelled_is_cancelled),
		cmocka_unit_test(real_files_have_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
