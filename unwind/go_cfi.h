/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_GO_CFI_H
#define STACKTOP_UNWIND_GO_CFI_H

/*
 * The functions of Go's runtime with wrong CFI, and rows in place of it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/cfa.h"

struct elf_file;

#define GO_FUNCTIONS_MAX 24u
#define GO_ROWS_MAX	 12u
#define GO_NAME_ROOM	 64u /* for a name that is one of ours, and more */

enum go_kind {
	GO_TRAMPOLINE,	/* signal handlers return to it */
	GO_BOTTOM,	/* has no caller: the stack above it may hold stale data */
	GO_LEAVE,	/* leaves the stack of its caller for good */
	GO_CLONE,	/* returns twice: in a new thread, which has no caller */
	GO_RESUME,	/* jumps to another goroutine */
	GO_CHANGE,	/* changes stacks, and has a frame pointer meanwhile */
	GO_SYSTEMSTACK, /* has one in later releases only, as those below */
	GO_ASMCGOCALL,
	GO_ALIGN, /* aligns the stack pointer */
};

struct go_function {
	uint64_t start; /* ELF address */
	enum go_kind kind;
};

struct go_functions {
	struct go_function at[GO_FUNCTIONS_MAX];
	unsigned int count;
	uint64_t cgocall; /* ELF address of the caller of asmcgocall; 0: not known */
	bool found;	  /* the file is of Go */
};

enum go_rule {
	GO_CFI,	      /* what the CFI says */
	GO_WRONG,     /* not known, and the CFI is wrong */
	GO_OUTERMOST, /* there is no caller */
	GO_FRAME,     /* CFA is by the frame pointer; see go_fp_slot */
	GO_NO_FRAME,  /* the frame pointer is the caller's */
	GO_LINKS,     /* it is, and the goroutine has saved its stack pointer; see links */
	GO_CLONED,    /* rule_cloned (unwind/rule.h) */
};

/*
 * The way to a goroutine that waits for its function on the system's stack, in bytes: from the
 * thread pointer to where `g` is, within g to its m, within m to the m's goroutine, within that to
 * the stack pointer that it has saved. All 0: not known.
 */
struct go_links {
	int32_t g, m, goroutine, sp;
};

struct go_row {
	uint64_t from; /* ELF address */
	enum go_rule rule;
	struct expr cfa; /* for GO_FRAME and GO_NO_FRAME */
	struct go_links links;
};

/* Ascending; each holds up to the next one or the function's end. In front of the first: CFI. */
struct go_rows {
	struct go_row row[GO_ROWS_MAX];
	unsigned int count;
};

/*
 * Finds these functions: none in a file that is not of Go, or without (sound) symbols. Never fails.
 */
void go_functions(const struct elf_file *file, struct go_functions *out);
/* Adds the function that begins at the ELF address, if by its name it is one of these. */
void go_functions_add(struct go_functions *out, const char *name, uint64_t start);
/* The one that begins there; NULL: none of them does. */
const struct go_function *go_function_at(const struct go_functions *all, uint64_t start);

/*
 * The rows of the function up to end, an ELF address, by its code. One GO_WRONG row: the code is
 * not as known releases of the assembler write it.
 */
void go_rows(const struct elf_file *file, const struct go_functions *all,
	     const struct go_function *function, uint64_t end, struct go_rows *out);

#define GO_TEXT_WINDOW 4096u

struct go_text { /* the code of a file, read in ascending order */
	const struct elf_file *file;
	uint64_t addr; /* ELF address */
	uint64_t size;
	uint64_t offset; /* in the file */
	uint64_t at;	 /* ELF address of the window */
	uint32_t filled;
	uint8_t window[GO_TEXT_WINDOW];
};

/* Go's linker has written the CIE. Its CFI does not say where the frame pointer is saved. */
bool go_cie(const struct cfi_cie *cie);

void go_text_open(const struct elf_file *file, struct go_text *out);

/*
 * Where a function saves its caller's frame pointer if SP is CFA - cfa in its body: the distance
 * from the CFA.
 */
int64_t go_fp_slot(int64_t cfa);

/*
 * A function has moved the stack pointer to CFA - cfa right before pc. Returns the address from
 * which on the caller's frame pointer is saved, which Go's assembler does at once if at all; 0: it
 * is not saved here.
 */
uint64_t go_saved(struct go_text *text, uint64_t pc, int64_t cfa);

/* The part of the processor, for functions that are not GO_TRAMPOLINE or GO_BOTTOM. */
void go_code_rows(const struct elf_file *file, const struct go_function *function, uint64_t end,
		  uint64_t cgocall, struct go_rows *out);

#endif
