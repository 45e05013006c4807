// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -fsanitize-coverage=trace-pc symbols/names/codemap.c symbols/dwarf/debugtree.c */
/* build: symbols/dwarf/diereader.c */
/*
 * What hostile debug information and code maps cost, counted in steps and not in time: so many for
 * each byte and no more, where each byte could once cost as much as all others together.
 * Covers: symbols/names/codemap.c symbols/dwarf/debuginfo.c symbols/dwarf/debugtree.c
 * Covers: symbols/dwarf/diereader.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/names/codemap.h"
#include "symbols/dwarf/debuginfo.h"
#include "symbols/elf/elffile.h"
#include "tests/support/steps.h"

#define TEXT	  0x401000u
#define TEXT_SIZE 0x10000u
#define ROOM	  (2u << 20)

/* --- an ELF file of debug sections ------------------------------------------------------------ */

struct part_bytes {
	size_t size;
	uint8_t at[ROOM];
};

enum part { INFO, ABBREV, RANGES, STR, NAMES, PARTS };

static struct part_bytes parts[PARTS];

static void put(enum part part, uint64_t value, size_t size)
{
	struct part_bytes *b = &parts[part];

	assert_true(b->size + size <= ROOM);
	memcpy(b->at + b->size, &value, size); /* little-endian */
	b->size += size;
}

static void put_list(enum part part, const uint8_t *list, size_t size)
{
	for (size_t i = 0; i < size; i++)
		put(part, list[i], 1);
}

static void fill(enum part part, uint8_t value, size_t count)
{
	while (count--)
		put(part, value, 1);
}

/* Of DWARF 4; unit_end fills its length in. */
static size_t unit_begin(void)
{
	size_t at = parts[INFO].size;

	put(INFO, 0, 4);
	put(INFO, 4, 2);
	put(INFO, 0, 4);
	put(INFO, 8, 1);
	return at;
}

static void unit_end(size_t at)
{
	uint32_t length = (uint32_t)(parts[INFO].size - at - 4);

	memcpy(parts[INFO].at + at, &length, sizeof(length));
}

/* Of the code 1, that of abbreviation_unit. */
static void unit_entry(void)
{
	put(INFO, 1, 1);
	put(INFO, TEXT, 8);
	put(INFO, TEXT_SIZE, 4);
}

static void abbreviation_unit(void)
{
	static const uint8_t unit[] = {1,
				       DW_TAG_compile_unit,
				       1,
				       DW_AT_low_pc,
				       DW_FORM_addr,
				       DW_AT_high_pc,
				       DW_FORM_data4,
				       0,
				       0};

	put_list(ABBREV, unit, sizeof(unit));
}

static void begin(void)
{
	for (int i = 0; i < PARTS; i++)
		parts[i].size = 0;
}

static Elf64_Phdr text_segment(void)
{
	return (Elf64_Phdr){.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_vaddr = TEXT,
			    .p_memsz = TEXT_SIZE,
			    .p_align = 1};
}

static struct elf_file *file_new(void)
{
	static const char names[] =
		"\0.debug_info\0.debug_abbrev\0.debug_ranges\0.debug_str\0.shstrtab";
	static struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdr;
		Elf64_Shdr shdr[1 + PARTS];
		uint8_t bytes[PARTS][ROOM];
	} image;
	static const uint8_t at[PARTS] = {1, 13, 27, 41, 52};
	struct elf_file *file;

	image.phdr = text_segment();
	image.ehdr = (Elf64_Ehdr){
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = (size_t)((char *)&image.phdr - (char *)&image),
		.e_shoff = (size_t)((char *)image.shdr - (char *)&image),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 1 + PARTS,
		.e_shstrndx = 1 + NAMES,
	};
	for (size_t i = 0; i < sizeof(names); i++)
		put(NAMES, (uint8_t)names[i], 1);
	for (int i = 0; i < PARTS; i++) {
		image.shdr[1 + i] = (Elf64_Shdr){
			.sh_name = at[i],
			.sh_type = i == NAMES ? SHT_STRTAB : SHT_PROGBITS,
			.sh_offset = (size_t)((char *)image.bytes[i] - (char *)&image),
			.sh_size = parts[i].size,
			.sh_addralign = 1,
		};
		memcpy(image.bytes[i], parts[i].at, parts[i].size);
	}
	assert_int_equal(elf_file_open_memory(&image, sizeof(image), &file), 0);
	return file;
}

static int info_new(struct debuginfo **info)
{
	static const struct debuginfo_options options = {.limit = 64u << 20};

	return debuginfo_new(file_new(), &options, info);
}

/* --- debug information ------------------------------------------------------------------------ */

static void look_up(void *info)
{
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];

	assert_int_equal(debuginfo_find(info, TEXT, frames), 0);
}

/* The whole file, in at most so many steps a byte. */
static void expect_steps(uint64_t each)
{
	size_t size = parts[INFO].size + parts[ABBREV].size + parts[RANGES].size;
	struct debuginfo *info;

	assert_int_equal(info_new(&info), 0);
	assert_true(steps_of(look_up, info, each * size) > 0);
	debuginfo_free(info);
}

/* 60 entries in one another, each of which names its first child as what comes behind it. */
static void test_siblings(void **state)
{
	static const uint8_t abbreviations[] = {2,
						DW_TAG_namespace,
						1,
						DW_AT_sibling,
						DW_FORM_ref4,
						0,
						0, /* with children */
						3,
						DW_TAG_variable,
						0,
						0,
						0,
						0};
	size_t unit;

	(void)state;
	begin();
	abbreviation_unit();
	put_list(ABBREV, abbreviations, sizeof(abbreviations));
	unit = unit_begin();
	unit_entry();
	for (int i = 0; i < 60; i++) {
		put(INFO, 2, 1);
		put(INFO, parts[INFO].size + 4 - unit, 4);
	}
	fill(INFO, 3, 20000);
	fill(INFO, 0, 61);
	unit_end(unit);
	expect_steps(60);
}

/* 4,000 functions of one list, of which 4,000 entries change the base and none is a range. */
static void test_bases(void **state)
{
	static const uint8_t abbreviations[] = {
		2, DW_TAG_subprogram, 0, DW_AT_ranges, DW_FORM_sec_offset, 0, 0, 0};
	size_t unit;

	(void)state;
	begin();
	abbreviation_unit();
	put_list(ABBREV, abbreviations, sizeof(abbreviations));
	unit = unit_begin();
	unit_entry();
	for (int i = 0; i < 4000; i++) {
		put(INFO, 2, 1);
		put(INFO, 0, 4);
		put(RANGES, UINT64_MAX, 8);
		put(RANGES, TEXT, 8);
	}
	put(RANGES, 0, 8);
	put(RANGES, 0, 8);
	put(INFO, 0, 1);
	unit_end(unit);
	expect_steps(60);
}

/* 400 units of one table of 2,000 abbreviations; that of their entries is the first, or the last.
 */
static int units_of_one_table(bool last)
{
	struct debuginfo *info;
	int err;

	begin();
	for (uint32_t code = 1; code <= 2000; code++) {
		put(ABBREV, 0x80 | (code & 0x7f), 1);
		put(ABBREV, code >> 7, 1);
		put(ABBREV, DW_TAG_compile_unit, 1);
		put(ABBREV, 0, 3);
	}
	put(ABBREV, 0, 1);
	for (int i = 0; i < 400; i++) {
		size_t unit = unit_begin();

		put(INFO, 0x80 | (last ? 2000 & 0x7f : 1), 1);
		put(INFO, last ? 2000 >> 7 : 0, 1);
		unit_end(unit);
	}
	err = info_new(&info);
	if (!err)
		debuginfo_free(info);
	return err;
}

/* 12,000 bytes for each of 400 units are more than 4 for each of 25,000, and 65,536. */
static void test_abbreviations(void **state)
{
	(void)state;
	assert_int_equal(units_of_one_table(false), 0);
	assert_int_equal(units_of_one_table(true), -EFBIG);
}

/* Of n functions with the name, a text of so many bytes, the first ones have it, which are looked
 * for first. */
static void expect_names(size_t length, uint64_t n, uint64_t known)
{
	static const uint8_t abbreviations[] = {2,
						DW_TAG_subprogram,
						0,
						DW_AT_name,
						DW_FORM_strp,
						DW_AT_low_pc,
						DW_FORM_addr,
						DW_AT_high_pc,
						DW_FORM_data4,
						0,
						0,
						0};
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];
	struct debuginfo *info;
	size_t unit;

	begin();
	abbreviation_unit();
	put_list(ABBREV, abbreviations, sizeof(abbreviations));
	fill(STR, 'a', length);
	put(STR, 0, 1);
	unit = unit_begin();
	unit_entry();
	for (uint64_t i = 0; i < n; i++) {
		put(INFO, 2, 1);
		put(INFO, 0, 4);
		put(INFO, TEXT + 16 * i, 8);
		put(INFO, 16, 4);
	}
	put(INFO, 0, 1);
	unit_end(unit);
	assert_int_equal(info_new(&info), 0);
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(debuginfo_find(info, TEXT + 16 * i, frames), 1);
		if (i < known) {
			assert_non_null(frames[0].name);
			assert_int_equal(strlen(frames[0].name), length);
		} else {
			assert_null(frames[0].name);
		}
	}
	debuginfo_free(info);
}

static void test_texts(void **state)
{
	(void)state;
	expect_names(1, 4, 4);
	expect_names(60000, 4, 4);
	/* 64 MiB are looked at of long ones. */
	expect_names(1 << 20, 66, 64);
}

/* --- code maps -------------------------------------------------------------------------------- */

#define MAP_BYTES (2u << 20)
#define ADDS	  20000u

static int add(struct codemap *map, uint64_t start)
{
	return codemap_add(map, CODEMAP_NO_INDEX, start, 8, "f", 1);
}

/* The same piece over and over. */
static void add_many(void *map)
{
	for (uint32_t i = 0; i < ADDS; i++) {
		int err = add(map, 0x1000);

		assert_true(!err || err == -ENOSPC);
	}
}

/*
 * A map whose pieces leave only room bytes free. Each lookup merges all pieces, so there
 * are few before the last ones.
 */
static void expect_adds(size_t room)
{
	struct codemap *map = codemap_new(MAP_BYTES);
	size_t size = 0, each;

	assert_non_null(map);
	for (uint64_t at = 0x1000; codemap_bytes(map) + room < MAP_BYTES; at += 16, size++) {
		if (add(map, at))
			break;
		each = codemap_bytes(map) + room + 400000 < MAP_BYTES ? 4096 : 64;
		if (size % each == each - 1)
			assert_non_null(codemap_find(map, 0x1000));
	}
	assert_non_null(codemap_find(map, 0x1000));
	assert_true(steps_of(add_many, map, 300ull * ADDS) > 0);
	codemap_free(map);
}

static void test_a_full_map(void **state)
{
	static const size_t rooms[] = {2000, 4400, 7400, 20000, 140000, 400000};

	(void)state;
	for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++)
		expect_adds(rooms[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siblings),      cmocka_unit_test(test_bases),
		cmocka_unit_test(test_abbreviations), cmocka_unit_test(test_texts),
		cmocka_unit_test(test_a_full_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
