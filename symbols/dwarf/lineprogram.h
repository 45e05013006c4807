/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_LINEPROGRAM_H
#define STACKTOP_SYMBOLS_DWARF_LINEPROGRAM_H

/* The program of a line table, and the rows that it makes; for linetable.c only. */

#include <stdbool.h>

#include "symbols/dwarf/rangemap.h"

struct linefiles;

struct lineprogram {
	const uint8_t *at, *end;
	uint64_t low, high;	 /* sequences that begin elsewhere are left out */
	struct linefiles *files; /* gets the files that are defined; NULL: that is an error */
	unsigned int version, offset_size;
	unsigned int shortest, operations; /* bytes of an instruction; of them in one */
	int line_base;
	unsigned int line_range, opcode_base;
	uint8_t lengths[256]; /* arguments of a standard opcode */
	uint8_t steps[256]; /* of a special opcode: operations, bytes and lines that it advances */
	uint16_t advances[256];
	int16_t lines[256];
	/* Set by a run: */
	const uint8_t *ended;	 /* behind the last opcode that ends a sequence */
	unsigned int nends;	 /* of those opcodes */
	unsigned int nsequences; /* with rows, with or without an end */
};

struct linerow {
	uint64_t address;
	uint32_t line;
	uint32_t file;
};

struct linerows { /* a zeroed struct has none */
	struct linerow *rows;
	size_t nrows, room;
	uint32_t *firsts; /* of each sequence, its first row */
	size_t nsequences, firsts_room;
	struct rangemap sequences; /* that were added, by number */
};

/*
 * Reads the header at p->at, up to the lists of directories and files. Then p->at is there, and
 * p->end is the end of the table. *program: the first opcode. -EINVAL.
 */
int lineprogram_open(struct lineprogram *p, const uint8_t **program);
/* True if the opcodes that compilers write have their usual arguments. */
bool lineprogram_is_usual(const struct lineprogram *p);
/*
 * Adds the rows of [p->at, p->end). -EINVAL: it is broken off, and the sequences before were added;
 * -ENOMEM.
 */
int lineprogram_run(struct lineprogram *p, struct linerows *rows);

#endif
