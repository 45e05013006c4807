/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_ELFIMAGE_H
#define STACKTOP_TESTS_SUPPORT_ELFIMAGE_H

/*
 * A minimal ELF file in memory around bytes of CFI, for tests and fuzzers of the table: one
 * executable segment, whose bytes the file does not have, and one CFI section at IMAGE_CFI.
 */

#include <stdint.h>
#include <string.h>

#define IMAGE_TEXT   0x10000u	/* address of the segment */
#define IMAGE_CFI    0x8000000u /* address of the section */
#define IMAGE_SFRAME 0xc000000u /* address of the .sframe, if there is one */

struct image_options {
	uint64_t text_size; /* of the segment */
	uint64_t plt;	    /* address of a .plt of 256 bytes; 0: none */
	int debug_frame;    /* the section is .debug_frame */
	const void *sframe; /* contents of a .sframe; NULL: there is none */
	size_t sframe_size;
	int sframe_by_type;  /* which has another name, but SHT_GNU_SFRAME */
	int sframe_is_debug; /* it is not .sframe, but a .debug_frame beside .eh_frame */
};

/* Malloc'd; *size: its size. */
unsigned char *image_new(const void *cfi, size_t cfi_size, const struct image_options *o,
			 size_t *size);

/*
 * Writes CFI records. Lengths are filled in by cfi_end; FDEs have augmentation "zR" with absolute
 * 8-byte addresses unless the CIE is written by hand.
 */
struct cfi_bytes {
	unsigned char data[1 << 20];
	size_t size;
	size_t record; /* offset of the record at hand */
	size_t cie;
};

void cfi_put(struct cfi_bytes *b, const void *bytes, size_t n);

void cfi_u8(struct cfi_bytes *b, unsigned int value);

void cfi_u32(struct cfi_bytes *b, uint32_t value);

void cfi_u64(struct cfi_bytes *b, uint64_t value);

void cfi_uleb(struct cfi_bytes *b, uint64_t value);

void cfi_begin(struct cfi_bytes *b);

void cfi_end(struct cfi_bytes *b);

/* A CIE as GCC writes it: CFA = rsp + 8, RA at c-8; data alignment -8. */
void cfi_cie(struct cfi_bytes *b, const char *augmentation);

void cfi_fde_begin(struct cfi_bytes *b, uint64_t start, uint64_t range);

void cfi_fde(struct cfi_bytes *b, uint64_t start, uint64_t range, const void *insns, size_t n);

#endif
