/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_LINEPROGRAM_H
#define STACKTOP_SYMBOLS_DWARF_LINEPROGRAM_H

/* The program of a line table, and the rows that it makes; for linetable.c only. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/dwarf/rangemap.h"

struct linefiles;

struct lineprogram {
	const uint8_t *at, *end;
	uint64_t low, high;	 /* sequences that begin elsewhere are left out */
	struct linefiles *files; /* gets those that are defined; NULL: that is an error */
	unsigned int version, offset_size;
	unsigned int shortest, operations; /* bytes of an instruction; of them in one */
	int line_base;
	unsigned int line_range, opcode_base;
	uint8_t lengths[256]; /* arguments of a standard opcode */
	uint8_t steps[256];   /* of a special opcode; advances, in bytes, and lines likewise */
	uint16_t advances[256];
	int16_t lines[256];
	/* What a run has met: */
	const uint8_t *ended;	 /* behind the last opcode that ends a sequence */
	unsigned int nends;	 /* of those opcodes */
	unsigned int nsequences; /* with rows, ended in whatever way */
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
 * The header at p->at, up to the lists of directories and files, where p->at and p->end are then;
 * p->end is that of the table. *program: where the opcodes begin. -EINVAL.
 */
int lineprogram_open(struct lineprogram *p, const uint8_t **program);
/* True when the opcodes that compilers write have the arguments that they have everywhere. */
bool lineprogram_is_usual(const struct lineprogram *p);
/*
 * Adds the rows of [p->at, p->end). -EINVAL: it breaks off, with the sequences before; -ENOMEM.
 */
int lineprogram_run(struct lineprogram *p, struct linerows *rows);

#endif
