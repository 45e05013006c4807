// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See cfitext.h. One table has names and operands of the instructions, so that what is printed is
 * what was read. Source: DWARF 5 section 6.4.2 and table 7.29.
 */
#include "unwind/cfitext.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols/base/grow.h"
#include "symbols/base/refcount.h"
#include "symbols/elf/elffile.h"
#include "unwind/arch.h"
#include "unwind/cfifile.h"

enum operand {
	NONE,
	REG,	 /* uleb, a register */
	IN,	 /* likewise, where another is */
	NUMBER,	 /* uleb */
	AT,	 /* uleb times the data alignment, from the CFA */
	SAT,	 /* sleb, likewise */
	NEG_AT,	 /* minus uleb, likewise */
	OFS,	 /* uleb, from a register */
	SOFS,	 /* sleb times the data alignment, from a register */
	SFACTOR, /* sleb times the data alignment */
	BLOCK,	 /* an expression */
	DELTA1,	 /* times the code alignment, and so on */
	DELTA2,
	DELTA4,
	DELTA8,
	ADDRESS,
};

static const struct instruction {
	const char *name; /* NULL: unknown */
	uint8_t operands[2];
} instructions[0x40] = {
	[0x00] = {"nop", {0}},
	[0x01] = {"set_loc", {ADDRESS}},
	[0x02] = {"advance_loc1", {DELTA1}},
	[0x03] = {"advance_loc2", {DELTA2}},
	[0x04] = {"advance_loc4", {DELTA4}},
	[0x05] = {"offset_extended", {REG, AT}},
	[0x06] = {"restore_extended", {REG}},
	[0x07] = {"undefined", {REG}},
	[0x08] = {"same_value", {REG}},
	[0x09] = {"register", {REG, IN}},
	[0x0a] = {"remember_state", {0}},
	[0x0b] = {"restore_state", {0}},
	[0x0c] = {"def_cfa", {REG, OFS}},
	[0x0d] = {"def_cfa_register", {REG}},
	[0x0e] = {"def_cfa_offset", {NUMBER}},
	[0x0f] = {"def_cfa_expression", {BLOCK}},
	[0x10] = {"expression", {REG, BLOCK}},
	[0x11] = {"offset_extended_sf", {REG, SAT}},
	[0x12] = {"def_cfa_sf", {REG, SOFS}},
	[0x13] = {"def_cfa_offset_sf", {SFACTOR}},
	[0x14] = {"val_offset", {REG, AT}},
	[0x15] = {"val_offset_sf", {REG, SAT}},
	[0x16] = {"val_expression", {REG, BLOCK}},
	[0x1d] = {"MIPS_advance_loc8", {DELTA8}},
	[0x2d] = {"GNU_window_save", {0}},
	[0x2e] = {"GNU_args_size", {NUMBER}},
	[0x2f] = {"GNU_negative_offset_extended", {REG, NEG_AT}},
};

struct cfitext_reader {
	struct cfitext *t;
	uint32_t room;
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	struct cfi_cursor c;
	bool program; /* of the FDE */
	uint64_t pc;
	uint16_t machine;
	char text[sizeof(((struct cfitext_line *)0)->text)];
	size_t length;
};

static void say(struct cfitext_reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct cfitext_reader *r, const char *format, ...)
{
	size_t left = sizeof(r->text) - r->length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(r->text + r->length, left, format, args);
	va_end(args);
	if (n > 0)
		r->length += (size_t)n < left ? (size_t)n : left - 1;
}

/* What was said, as a line. */
static int line_end(struct cfitext_reader *r)
{
	struct cfitext *t = r->t;
	struct cfitext_line *line;

	if (GROW(t->lines, t->count, r->room, UINT32_MAX))
		return -ENOMEM;
	line = &t->lines[t->count++];
	*line = (struct cfitext_line){.program = r->program, .pc = r->pc};
	snprintf(line->text, sizeof(line->text), "%s", r->text);
	r->text[0] = '\0';
	r->length = 0;
	return 0;
}

static void say_register(struct cfitext_reader *r, uint64_t reg)
{
	say(r, " r%" PRIu64, reg);
	if (r->machine == ARCH_MACHINE && reg < DWARF_COUNT)
		say(r, " (%s)", arch_reg_name((unsigned int)reg));
}

static void say_at(struct cfitext_reader *r, uint64_t factor)
{
	say(r, " at cfa%+" PRId64, (int64_t)(factor * (uint64_t)r->cie->data_align));
}

static void say_advance(struct cfitext_reader *r, uint64_t delta)
{
	delta *= r->cie->code_align;
	r->pc += delta;
	say(r, " %" PRIu64 " to %016" PRIx64, delta, r->pc);
}

/* As bytes: expressions are rare, and the bytes are enough to look them up. */
static void say_block(struct cfitext_reader *r)
{
	uint64_t size = cursor_uleb(&r->c);
	const uint8_t *bytes = cursor_bytes(&r->c, size);

	say(r, " (%" PRIu64 " bytes:", size);
	for (uint64_t i = 0; bytes && i < size && i < 24; i++)
		say(r, " %02x", bytes[i]);
	say(r, bytes && size > 24 ? " ...)" : ")");
}

static void say_operand(struct cfitext_reader *r, enum operand operand)
{
	struct cfi_cursor *c = &r->c;

	switch (operand) {
	case NONE:
		return;
	case REG:
		say_register(r, cursor_uleb(c));
		return;
	case IN:
		say(r, " in");
		say_register(r, cursor_uleb(c));
		return;
	case NUMBER:
		say(r, " %" PRIu64, cursor_uleb(c));
		return;
	case AT:
		say_at(r, cursor_uleb(c));
		return;
	case SAT:
		say_at(r, (uint64_t)cursor_sleb(c));
		return;
	case NEG_AT:
		say_at(r, -cursor_uleb(c));
		return;
	case OFS:
		say(r, " ofs %" PRIu64, cursor_uleb(c));
		return;
	case SOFS:
	case SFACTOR:
		say(r, operand == SOFS ? " ofs %" PRId64 : " %" PRId64,
		    (int64_t)((uint64_t)cursor_sleb(c) * (uint64_t)r->cie->data_align));
		return;
	case BLOCK:
		say_block(r);
		return;
	case DELTA1:
	case DELTA2:
	case DELTA4:
	case DELTA8:
		say_advance(r, cursor_fixed(c, 1u << (operand - DELTA1)));
		return;
	case ADDRESS:
		r->pc = cfi_pointer(r->section, c, r->cie->encoding, r->cie->addr_size, r->pc);
		say(r, " %016" PRIx64, r->pc);
		return;
	}
}

static void say_instruction(struct cfitext_reader *r)
{
	uint8_t op = cursor_u8(&r->c), low = op & 0x3f;
	const struct instruction *i = &instructions[low];

	switch (op & 0xc0) {
	case 0x40:
		say(r, "  DW_CFA_advance_loc:");
		say_advance(r, low);
		return;
	case 0x80:
		say(r, "  DW_CFA_offset:");
		say_register(r, low);
		say_at(r, cursor_uleb(&r->c));
		return;
	case 0xc0:
		say(r, "  DW_CFA_restore:");
		say_register(r, low);
		return;
	default:
		break;
	}
	if (!i->name) {
		say(r, "  0x%02x, which is no instruction: the rest cannot be read", op);
		cursor_fail(&r->c);
		return;
	}
	say(r, "  DW_CFA_%s%s", i->name, i->operands[0] ? ":" : "");
	say_operand(r, (enum operand)i->operands[0]);
	say_operand(r, (enum operand)i->operands[1]);
}

/* Padding is left out. */
static int read_program(struct cfitext_reader *r, uint32_t at, uint32_t size)
{
	int err = 0;

	r->c = cursor_new(r->section->data + at, size);
	while (!err && cursor_left(&r->c) && r->t->count < CFITEXT_LINES_MAX) {
		if (*r->c.at == 0) {
			r->c.at++;
			continue;
		}
		say_instruction(r);
		if (r->c.failed)
			say(r, " (malformed)");
		err = line_end(r);
	}
	return err;
}

static int read_cie(struct cfitext_reader *r)
{
	const struct cfi_cie *cie = r->cie;
	int err;

	say(r, "CIE at 0x%x of %s, code alignment %" PRIu64 ", data alignment %" PRId64,
	    cie->offset, r->section->eh_frame ? ".eh_frame" : ".debug_frame", cie->code_align,
	    cie->data_align);
	err = line_end(r);
	if (err)
		return err;
	say(r, "  return address in column");
	say_register(r, cie->ra_reg);
	say(r, "%s", cie->signal ? ", a signal's frame" : "");
	err = line_end(r);
	return err ? err : read_program(r, cie->insns, cie->ninsns);
}

/* That which begins last at or before it, as in the unwind table. */
static const struct cfi_fde *find(const struct cfi *cfi, uint64_t vaddr)
{
	const struct cfi_fde *best = NULL;

	for (uint32_t i = 0; i < cfi->nfdes; i++) {
		const struct cfi_fde *f = &cfi->fdes[i];

		if (vaddr >= cfi_from(f) && vaddr < f->end &&
		    (!best || cfi_from(f) > cfi_from(best)))
			best = f;
	}
	return best;
}

int cfitext_new(const struct elf_file *file, uint64_t vaddr, struct cfitext **out)
{
	struct cfi_section sections[CFI_SECTIONS];
	struct cfitext_reader r = {.machine = elf_file_machine(file)};
	const struct cfi_fde *fde;
	struct cfi cfi;
	int err = cfi_file_read(file, sections, &cfi);

	*out = NULL;
	fde = err ? NULL : find(&cfi, vaddr);
	if (!err && !fde)
		err = -ENOENT;
	if (!err) {
		r.t = calloc(1, sizeof(*r.t));
		err = r.t ? 0 : -ENOMEM;
	}
	if (!err) {
		*r.t = (struct cfitext){.refs = 1, .start = fde->start, .end = fde->end};
		r.cie = &cfi.cies[fde->cie];
		r.section = &sections[r.cie->section];
		err = read_cie(&r);
		r.program = true;
		r.pc = fde->start;
		say(&r, "FDE pc=%016" PRIx64 "..%016" PRIx64, fde->start, fde->end);
		if (!err)
			err = line_end(&r);
		if (!err)
			err = read_program(&r, fde->insns, fde->ninsns);
	}
	cfi_free(&cfi);
	if (err)
		cfitext_put(r.t);
	else
		*out = r.t;
	return err;
}

struct cfitext *cfitext_get(struct cfitext *t)
{
	refcount_get(&t->refs);
	return t;
}

void cfitext_put(struct cfitext *t)
{
	if (!t || !refcount_put(&t->refs))
		return;
	free(t->lines);
	free(t);
}

uint32_t cfitext_at(const struct cfitext *t, uint64_t vaddr)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < t->count; i++)
		if (!at || (t->lines[i].program && t->lines[i].pc <= vaddr))
			at = i;
	return at;
}
