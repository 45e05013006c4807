/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_SFRAME_IMAGE_H
#define STACKTOP_TESTS_SUPPORT_SFRAME_IMAGE_H

/*
 * Sections of .sframe of all three versions, written byte by byte as the specification has them,
 * since an assembler writes one version only; and the tables made of them.
 */

#include <setjmp.h>
#include <stdio.h>

#include "tests/support/tables.h"

#define T      IMAGE_TEXT
#define SORTED 1
#define PCREL  4

struct section {
	unsigned int version;
	unsigned int flags;
	int fixed_fp, fixed_ra;
	unsigned int aux; /* bytes of auxiliary header */
	unsigned int nfdes;
	size_t nfdes_bytes, nfres_bytes;
	unsigned char fdes[1 << 16];
	unsigned char fres[1 << 16];
	unsigned char all[1 << 18];
	size_t size;
};

extern const char frame_at_100[];

void section_begin(struct section *s, unsigned int version, unsigned int flags);

/* info2 and block: versions that have them. The rows come next, count of them. */
void func(struct section *s, uint64_t start, uint32_t size, unsigned int count, unsigned int info,
	  unsigned int info2, unsigned int block);

#define ADDR1 0u
#define ADDR2 1u
#define ADDR4 2u
#define MASK  0x10u
#define FLEX  1u
#define SP    1u
#define FP    0u

/* The control word of a flexible row, of version 3. */
#define CONTROL(reg, deref, from_reg) ((reg) << 3 | (deref) << 1 | (from_reg))

/* addr: ADDR1..4; words: their size as a power of two. */
void row(struct section *s, unsigned int addr, uint32_t start, unsigned int base,
	 unsigned int words, unsigned int count, ...);

void section_end(struct section *s);

/* A table of such a section, and of CFI beside it. */
int sframe_setup(void **state);

/* What unwind_table_build says of the section and the CFI. */
int sframe_status(struct fixture *f);

void assert_rows(struct fixture *f, unsigned int bad, const char *expected);

/* The rows of a function that sets up a frame; frame_at_100 is what they say. */
void prologue(struct section *s, unsigned int addr, unsigned int words);

void one_good(struct section *s, unsigned int version);

#define TEST(name) cmocka_unit_test_setup_teardown(name, sframe_setup, tables_teardown)

#endif
