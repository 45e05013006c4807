/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_CFITEXT_H
#define STACKTOP_UNWIND_CFITEXT_H

/*
 * The CFI of one function as text, a line for each instruction of its CFA program, as readelf
 * prints them. Nothing is interpreted: this is what the file says, to be compared with the compiled
 * row.
 */

#include <stdbool.h>
#include <stdint.h>

#define CFITEXT_LINES_MAX 8192u /* the rest of a longer program is left out */

struct elf_file;

struct cfitext_line {
	char text[120]; /* printable ASCII */
	bool program;	/* an instruction of the FDE, which holds from pc on */
	uint64_t pc;
};

struct cfitext { /* immutable: to read it takes a reference, but no lock */
	unsigned int refs;
	uint64_t start, end; /* of the FDE */
	struct cfitext_line *lines;
	uint32_t count;
};

/* The FDE of an ELF address, with one reference. -ENOENT: there is none; -ENOMEM, -EINVAL. */
int cfitext_new(const struct elf_file *file, uint64_t vaddr, struct cfitext **out);
struct cfitext *cfitext_get(struct cfitext *t);
void cfitext_put(struct cfitext *t); /* NULL is none */
/* The last line that has an effect at the address: an instruction, or the head of the FDE. */
uint32_t cfitext_at(const struct cfitext *t, uint64_t vaddr);

#endif
