// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions of Go's runtime that change stacks (unwind/go_cfi.h): where their code does it. Their
 * frame record is right below their frame, on the stack of their caller. From Go 1.21 on they leave
 * x29 at it; up to Go 1.20 they load that of the other stack, and nothing leads back.
 */
#include "unwind/go_cfi.h"

#include <string.h>

#include "symbols/elf/elffile.h"
#include "unwind/arch.h"

#define WORDS_MAX 1024u /* instructions of a function */
#define NEAR	  4u	/* instructions behind a change of stacks in which x29 is loaded */

#define SAVE_FP 0xf81f83fdu /* stur x29, [sp, #-8] */

struct code {
	uint32_t text[WORDS_MAX];
	uint32_t count;
	uint64_t start;
	struct go_rows *rows;
};

void go_text_open(const struct elf_file *file, struct go_text *out)
{
	struct elf_section section;

	memset(out, 0, sizeof(*out));
	out->file = file;
	if (elf_file_section_header(file, elf_file_section_index(file, ".text"), &section) < 0)
		return;
	out->addr = section.addr;
	out->size = section.size;
	out->offset = section.offset;
}

/* The instruction at the address; 0: it is not there. */
static uint32_t text_at(struct go_text *text, uint64_t addr)
{
	uint64_t left = text->size - (addr - text->addr);
	uint32_t insn;

	if (addr < text->addr || addr - text->addr > text->size || left < sizeof(insn))
		return 0;
	if (addr < text->at || addr - text->at > text->filled ||
	    sizeof(insn) > text->filled - (addr - text->at)) {
		text->at = addr;
		text->filled = left < sizeof(text->window) ? (uint32_t)left : sizeof(text->window);
		if (elf_file_read(text->file, text->offset + (addr - text->addr), text->window,
				  text->filled)) {
			text->filled = 0;
			return 0;
		}
	}
	memcpy(&insn, text->window + (addr - text->at), sizeof(insn));
	return insn;
}

int64_t go_fp_slot(int64_t cfa)
{
	return -cfa - 8;
}

/*
 *	str x30, [sp, #-n]!; stur x29, [sp, #-8]
 *	sub x20, sp, #n; stp x29, x30, [x20, #-8]; mov sp, x20
 */
uint64_t go_saved(struct go_text *text, uint64_t pc, int64_t cfa)
{
	(void)cfa;
	if (text_at(text, pc) == SAVE_FP)
		return pc + 4;
	return text_at(text, pc - 4) == 0x9100029f && text_at(text, pc - 8) == 0xa93ffa9d ? pc : 0;
}

static bool read_code(const struct elf_file *file, uint64_t start, uint64_t end, struct code *c)
{
	struct elf_section section;

	c->start = start;
	c->count = 0;
	if (elf_file_section_header(file, elf_file_section_index(file, ".text"), &section) < 0 ||
	    start < section.addr || end <= start || end - section.addr > section.size ||
	    end - start > sizeof(c->text) || start % 4 ||
	    elf_file_read(file, section.offset + (start - section.addr), c->text, end - start))
		return false;
	c->count = (uint32_t)((end - start) / 4);
	return true;
}

static void add(struct code *c, uint32_t at, enum go_rule rule, int64_t cfa)
{
	if (c->rows->count == GO_ROWS_MAX)
		c->rows->count = 0; /* not as known: the caller sees that there are none */
	else
		c->rows->row[c->rows->count++] = (struct go_row){
			.from = c->start + 4 * (uint64_t)at,
			.rule = rule,
			.cfa = {.kind = EXPR_REG, .reg = ARCH_FP, .add = cfa},
		};
}

/* Index right behind the next `mov sp, xn` from there on; 0: none. */
static uint32_t behind_switch(const struct code *c, uint32_t from)
{
	for (uint32_t i = from; i < c->count; i++)
		if ((c->text[i] & 0xfffffc1f) == 0x9100001f && (c->text[i] >> 5 & 31) < 29)
			return i + 1;
	return 0;
}

/* The same behind the next call: before it, SP is only aligned. */
static uint32_t behind_switch_back(const struct code *c, uint32_t from)
{
	for (uint32_t i = from; i < c->count; i++)
		if (arch_calls(c->text[i]))
			return behind_switch(c, i);
	return 0;
}

static bool loads_fp(const struct code *c, uint32_t at)
{
	for (uint32_t i = at; i < c->count && i < at + NEAR; i++)
		if ((c->text[i] & 0xffc0001f) == 0xf940001d)
			return true;
	return false;
}

/* Bytes of the frame: that of `str x30, [sp, #-n]!` with the record below; 0: there is none. */
static int64_t frame(const struct code *c)
{
	for (uint32_t i = 0; i + 1 < c->count && i < 8; i++)
		if ((c->text[i] & 0xffe00fff) == 0xf8000ffe && c->text[i + 1] == SAVE_FP)
			return -(int64_t)((int32_t)(c->text[i] << 11) >> 23);
	return 0;
}

/*
 * The result of the system call tells the parent from the child, to which a branch leads:
 *
 *	svc #0; cmp x0, xzr; b.eq child
 */
static void cloned(struct code *c)
{
	for (uint32_t i = 0; i + 3 <= c->count; i++) {
		const uint32_t branch = c->text[i + 2], child = i + 2 + (branch >> 5 & 0x7ffff);

		if (c->text[i] != 0xd4000001 || c->text[i + 1] != 0xeb1f001f ||
		    (branch & 0xff00001f) != 0x54000000 || child <= i + 2 || child >= c->count)
			continue;
		add(c, i + 1, GO_CLONED, 0);
		add(c, child, GO_OUTERMOST, 0);
		return;
	}
}

/* To another stack and back, by turns. */
static void changes(struct code *c)
{
	const int64_t size = frame(c);
	uint32_t there, back;

	for (uint32_t at = 0; (there = behind_switch(c, at)); at = back) {
		if (size > 0 && !loads_fp(c, there))
			add(c, there, GO_FRAME, size + 8);
		else
			add(c, there, GO_WRONG, 0);
		back = behind_switch_back(c, there);
		if (!back || !c->rows->count)
			return;
		add(c, back, GO_CFI, 0);
		if (!c->rows->count)
			return;
	}
}

void go_code_rows(const struct elf_file *file, const struct go_function *function, uint64_t end,
		  uint64_t cgocall, struct go_rows *out)
{
	struct code c = {.rows = out};
	uint32_t there;

	(void)cgocall;
	out->count = 0;
	if (read_code(file, function->start, end, &c)) {
		if (function->kind == GO_CLONE) {
			cloned(&c);
			return;
		}
		there = behind_switch(&c, 0);
		/* A wrapper for another calling convention, or C code, may have the name, too. */
		if (!there)
			return;
		if (function->kind == GO_LEAVE)
			add(&c, there, GO_OUTERMOST, 0);
		else if (function->kind == GO_RESUME)
			add(&c, there, GO_WRONG, 0);
		else
			changes(&c);
		if (out->count)
			return;
	}
	out->count = 0;
	add(&c, 0, GO_WRONG, 0);
}
