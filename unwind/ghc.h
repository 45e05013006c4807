/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_GHC_H
#define STACKTOP_UNWIND_GHC_H

/*
 * Haskell code of GHC's native code generator: its frame on the C stack, which no CFI describes.
 */

#include <stdbool.h>
#include <stddef.h>

#include "unwind/cfa.h"

struct elf_file;

#define GHC_CIE		 (UINT32_MAX - 2) /* cfi_fde.cie of Haskell code without CFI */
#define GHC_RETURN_BYTES 64u
#define GHC_WINDOW	 4096u

struct ghc {
	const struct elf_file *file;
	uint64_t addr; /* ELF address of .text */
	uint64_t size;
	uint64_t offset; /* in the file */
	bool found;	 /* the file has Haskell code */
	int64_t cfa;	 /* CFA - SP of StgRun's frame in Haskell code */
	int64_t fp;	 /* the saved frame pointer, from the CFA */
	uint64_t bytes;	 /* of Haskell code without CFI */
};

struct ghc_call { /* a call of C code: [from, to), where the stack pointer is lower */
	uint64_t from;
	uint64_t to;
	uint32_t moved; /* bytes */
};

struct ghc_scan {      /* of code for calls, in ascending order */
	uint64_t addr; /* ELF address of the window */
	size_t at;     /* in it */
	size_t filled;
	uint64_t sub; /* ELF address behind the last instruction that lowered SP; 0: none since */
	uint32_t moved;
	uint64_t end; /* of the code */
	uint8_t window[GHC_WINDOW];
};

/*
 * Appends to cfi->fdes the Haskell code that no FDE covers, as FDEs with cie GHC_CIE. Nothing in a
 * file without Haskell code or without symbols. -ENOMEM; or as work_add.
 */
int ghc_read(const struct elf_file *file, struct ghc *out, struct cfi *cfi);

/* The rows of such a FDE, called for as cfa_run does. The first error of a call is returned. */
int ghc_run(const struct ghc *ghc, const struct cfi_fde *fde, cfa_row_fn *row, void *arg);

/*
 * The CFI of `ghc -g` has its CFA on Haskell's stack, and says that the stack pointer does not
 * change, which calls of C code do. ghc_row is to be called by cfa_run with such rows, and calls
 * `row` for each and for each change; ghc_rows_end, for the changes behind the last row.
 */
struct ghc_rows {
	const struct ghc *ghc;
	cfa_row_fn *row;
	void *arg;
	bool begun;
	struct cfa_state state; /* of the last row */
	bool has_call;
	struct ghc_call call; /* the next one that is not over */
	struct ghc_scan scan;
};

bool ghc_cie(const struct ghc *ghc, const struct cfa_state *initial);
void ghc_rows_begin(struct ghc_rows *rows, const struct ghc *ghc, const struct cfi_fde *fde,
		    cfa_row_fn *row, void *arg);
int ghc_row(void *rows, uint64_t pc, const struct cfa_state *state);
int ghc_rows_end(struct ghc_rows *rows, uint64_t end);

/* The part of the processor: the frame of StgRun, by the code of StgReturn; false: another code. */
bool ghc_stg_return(const uint8_t code[GHC_RETURN_BYTES], int64_t *cfa, int64_t *fp);
/* The next call in the window; false: none ends in it. */
bool ghc_next_call(struct ghc_scan *scan, const uint8_t *code, size_t size, struct ghc_call *out);

#endif
