/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_EHFRAME_H
#define STACKTOP_UNWIND_EHFRAME_H

/*
 * The records of .eh_frame and .debug_frame: the CFA program of each function.
 * Sources: DWARF 5 section 6.4.1; LSB core 5.0, sections 10.5 and 10.6 (.eh_frame, pointer
 * encodings); GCC's unwind-dw2-fde.c for what the LSB leaves open.
 */

#include "unwind/cursor.h"

/* DW_EH_PE_*: how a pointer is encoded. Format in bits 0..3, what it is relative to in 4..6. */
enum ptr_encoding {
	PTR_ABSOLUTE = 0x00,
	PTR_ULEB = 0x01,
	PTR_U16 = 0x02,
	PTR_U32 = 0x03,
	PTR_U64 = 0x04,
	PTR_SIGNED = 0x08, /* a signed address, like 0x0c */
	PTR_SLEB = 0x09,
	PTR_S16 = 0x0a,
	PTR_S32 = 0x0b,
	PTR_S64 = 0x0c,
	PTR_FORMAT = 0x0f,
	PTR_PCREL = 0x10,
	PTR_TEXTREL = 0x20,
	PTR_DATAREL = 0x30,
	PTR_FUNCREL = 0x40,
	PTR_ALIGNED = 0x50,
	PTR_BASE = 0x70,
	PTR_INDIRECT = 0x80,
	PTR_OMIT = 0xff,
};

struct work;

struct cfi_section {
	const uint8_t *data; /* must outlive everything that was read from it */
	size_t size;	     /* below 4 GiB */
	uint64_t addr;	     /* ELF address of data[0] */
	bool eh_frame;	     /* .eh_frame, not .debug_frame */
	uint64_t text;	     /* base of PTR_TEXTREL */
	uint64_t got;	     /* base of PTR_DATAREL */
	/* Reads the 8 bytes at an ELF address, for PTR_INDIRECT. NULL: such pointers are refused.
	 */
	bool (*read)(void *arg, uint64_t addr, uint64_t *value);
	void *arg;
	struct work *work; /* counts records and instructions; NULL: it is not asked for */
};

struct cfi_cie {
	uint32_t offset; /* in the section */
	uint32_t insns;	 /* offset of the initial instructions */
	uint32_t ninsns; /* bytes */
	uint32_t ra_reg; /* DWARF column of the return address */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of a FDE's addresses */
	uint8_t addr_size;
	uint8_t section; /* for a list made of several; 0 here */
	bool sized;	 /* augmentation 'z': FDEs have augmentation data */
	bool signal;	 /* augmentation 'S' */
	bool bad;	 /* malformed, and so is every FDE that refers to it */
};

struct cfi_fde {
	uint64_t start; /* ELF addresses */
	uint64_t end;	/* exclusive, above start */
	uint64_t skip;	/* bytes at the start that it does not count for */
	uint32_t insns; /* offset in the section */
	uint32_t ninsns;
	uint32_t cie;	/* index */
	uint32_t order; /* of its record in the section, so that sorting is stable */
};

struct cfi {
	struct cfi_cie *cies; /* ascending by offset */
	uint32_t ncies, cies_room;
	struct cfi_fde *fdes; /* in the order of the section, until cfi_sort */
	uint32_t nfdes, fdes_room;
	uint64_t bytes;	     /* what its sections took of LIMIT_CFI; cfifile.c's */
	uint32_t bad_fdes;   /* malformed: not among fdes */
	uint32_t empty_fdes; /* of no length, or of a function that the linker removed */
};

/*
 * Reads all records. Malformed ones are counted and left out; a record that does not end within the
 * section ends the reading. A zero terminator does not: linkers put crtend.o's in the middle when
 * objects follow it, and what comes after is found through .eh_frame_hdr as well.
 * -ENOMEM, or -EINVAL when there is no CIE but something else, or the section is 4 GiB and more;
 * -E2BIG when it has more records than any real one, or as work_add, and -ECANCELED.
 * The caller frees with cfi_free, also after an error.
 */
int cfi_read(const struct cfi_section *section, struct cfi *out);
void cfi_free(struct cfi *cfi);

/* Adds a FDE to the list. -ENOMEM. */
int cfi_append(struct cfi *cfi, const struct cfi_fde *fde);

/* Where a FDE begins to count. */
static inline uint64_t cfi_from(const struct cfi_fde *fde)
{
	return fde->start + fde->skip;
}

/* Sorts the FDEs by cfi_from; those that have the same stay in the order of the section. */
void cfi_sort(struct cfi *cfi);

/*
 * Reads an encoded pointer at the cursor, which must walk section->data. func: base of PTR_FUNCREL.
 * PTR_OMIT reads nothing and gives 0. What cannot be read fails the cursor.
 */
uint64_t cfi_pointer(const struct cfi_section *section, struct cfi_cursor *c, uint8_t encoding,
		     uint8_t addr_size, uint64_t func);

#endif
