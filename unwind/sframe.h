/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_SFRAME_H
#define STACKTOP_UNWIND_SFRAME_H

/*
 * .sframe, the short form of CFI, for text without any other.
 * Sources: The SFrame Format, versions 1 (binutils 2.40), 2 (2.41, with the errata of 2.45) and 3
 * (2.46); include/sframe.h of the same. Only the processor's own ABI is read (ARCH_SFRAME_ABI).
 */

#include "unwind/cfa.h"

struct elf_file;
struct cfi;
struct cfi_fde;
struct work;

#define SFRAME_CIE (UINT32_MAX - 1) /* cfi_fde.cie of what comes from .sframe */

struct sframe {
	const uint8_t *data; /* of the section; must outlive this */
	size_t size;
	uint64_t addr; /* ELF address of data[0] */
	uint8_t version;
	bool start_at_field; /* functions are found relative to the field, not to the section */
	int8_t fixed_fp;     /* offset from the CFA; 0: each row says it */
	int8_t fixed_ra;
	uint32_t nfdes;
	size_t fdes; /* offsets in the section */
	size_t fres;
	size_t fres_end;
	struct work *work; /* counts functions; NULL: it is not asked for */
};

/*
 * Reads the header of a section. -EINVAL when it is malformed or leads out of the section,
 * -ENOTSUP for another byte order, machine or version.
 */
int sframe_open(const void *data, size_t size, uint64_t addr, struct sframe *out);

/*
 * Appends to cfi->fdes the functions in text that no FDE of cfi covers, as FDEs with cie
 * SFRAME_CIE: one for each function, or more where CFI covers its middle. A function that is
 * malformed in any part is left out and counted in cfi->bad_fdes. -ENOMEM.
 */
int sframe_add(const struct sframe *sframe, struct cfi *cfi);

/*
 * Finds the file's section, by name or by type, and does both. A file without one leaves *out
 * zeroed; so does one whose section adds nothing. What it says of .plt.sec and .plt.got is not
 * believed. A section that cannot be used is an error, as above, only if cfi has no FDE, else a
 * malformed FDE; -E2BIG and -ECANCELED are, as cfi_file_read has them. The section lives as long as
 * the file.
 */
int sframe_read(const struct elf_file *file, struct sframe *out, struct cfi *cfi);

/* A signal frame: the caller's pc is exact (version 3). fde: one that sframe_add made. */
bool sframe_signal(const struct cfi_fde *fde);

/* The rows of such a FDE, called for as cfa_run does. The first error of a call is returned. */
int sframe_run(const struct sframe *sframe, const struct cfi_fde *fde, cfa_row_fn *row, void *arg);

#endif
