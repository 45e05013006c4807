/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_VERIFY_LIBDW_H
#define STACKTOP_TESTS_VERIFY_LIBDW_H

/*
 * The other side of verify_unwind: the result of elfutils' interpreter at a pc, evaluated for given
 * registers and made-up memory, and the functions that elfutils finds in the sections.
 */

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/arch.h"

#define STACK_MAX 64

struct frame { /* of a caller */
	uint64_t cfa, sp, fp, ra;
	bool outermost, signal;
};

struct libdw {
	Elf *elf;
	Elf *bytes;	    /* a second one, for data that libdw does not decompress */
	Dwarf *dwarf;	    /* only if there is a .debug_frame */
	Dwarf_CFI *cfis[2]; /* of .eh_frame, of .debug_frame, or NULL */
	Elf_Data *data[2];  /* the sections' bytes, or NULL */
	uint64_t addr[2];
};

static inline uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
	return x ^ x >> 32;
}

/* Made-up memory: every address has a value. */
static inline uint64_t memory(uint64_t addr)
{
	return mix(addr + 0x1234567);
}

/* --- expressions --------------------------------------------------------------------------- */

struct machine {
	uint64_t stack[STACK_MAX];
	unsigned int depth;
	bool unknown;
	bool is_value; /* DW_OP_stack_value */
	int in_reg;    /* DW_OP_regN, or -1 */
};

static inline void push(struct machine *m, uint64_t value)
{
	if (m->depth < STACK_MAX)
		m->stack[m->depth++] = value;
	else
		m->unknown = true;
}

static inline uint64_t pop(struct machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	m->unknown = true;
	return 0;
}

static inline uint64_t reg_value(const uint64_t *regs, struct machine *m, uint64_t reg)
{
	if (reg < DWARF_COUNT)
		return regs[reg];
	m->unknown = true;
	return 0;
}

static inline void op_binary(struct machine *m, uint8_t atom)
{
	uint64_t b = pop(m), a = pop(m);

	switch (atom) {
	case DW_OP_plus:
		push(m, a + b);
		break;
	case DW_OP_minus:
		push(m, a - b);
		break;
	case DW_OP_mul:
		push(m, a * b);
		break;
	case DW_OP_and:
		push(m, a & b);
		break;
	case DW_OP_or:
		push(m, a | b);
		break;
	case DW_OP_shl:
		push(m, b < 64 ? a << b : 0);
		break;
	case DW_OP_shr:
		push(m, b < 64 ? a >> b : 0);
		break;
	case DW_OP_ge:
		push(m, (int64_t)a >= (int64_t)b);
		break;
	case DW_OP_swap:
		push(m, b);
		push(m, a);
		break;
	default:
		m->unknown = true;
		break;
	}
}

static inline void op_run(const uint64_t *regs, struct machine *m, const Dwarf_Op *op, uint64_t cfa)
{
	uint8_t atom = op->atom;

	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		push(m, reg_value(regs, m, atom - DW_OP_breg0) + op->number);
	} else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		m->in_reg = atom - DW_OP_reg0;
	} else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		push(m, atom - DW_OP_lit0);
	} else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
		push(m, op->number);
	} else {
		switch (atom) {
		case DW_OP_addr:
			push(m, op->number);
			break;
		case DW_OP_bregx:
			push(m, reg_value(regs, m, op->number) + op->number2);
			break;
		case DW_OP_regx:
			m->in_reg = (int)op->number;
			break;
		case DW_OP_call_frame_cfa:
			push(m, cfa);
			break;
		case DW_OP_plus_uconst:
			push(m, pop(m) + op->number);
			break;
		case DW_OP_deref:
			push(m, memory(pop(m)));
			break;
		case DW_OP_stack_value:
			m->is_value = true;
			break;
		case DW_OP_nop:
			break;
		default:
			op_binary(m, atom);
			break;
		}
	}
}

static inline struct machine ops_run(const uint64_t *regs, const Dwarf_Op *ops, size_t n,
				     uint64_t cfa)
{
	struct machine m = {.in_reg = -1};

	for (size_t i = 0; i < n && !m.unknown; i++)
		op_run(regs, &m, &ops[i], cfa);
	return m;
}

/* Value of the caller's register; *undefined when libdw says that it has none. */
static inline bool libdw_register(const uint64_t *regs, Dwarf_Frame *frame, int reg, uint64_t cfa,
				  uint64_t *value, bool *undefined)
{
	Dwarf_Op memory_ops[3], *ops;
	struct machine m;
	size_t n;

	*undefined = false;
	if (dwarf_frame_register(frame, reg, memory_ops, &ops, &n) < 0)
		return false;
	if (!n) {
		*undefined = ops != NULL;
		*value = regs[reg];
		return true;
	}
	m = ops_run(regs, ops, n, cfa);
	if (m.in_reg >= 0)
		*value = reg_value(regs, &m, (uint64_t)m.in_reg);
	else if (m.is_value)
		*value = pop(&m);
	else
		*value = memory(pop(&m));
	return !m.unknown;
}

/* --- frames -------------------------------------------------------------------------------- */

/* .eh_frame first, .debug_frame where it has nothing: the order of libdwfl. */
static inline bool libdw_addrframe(const struct libdw *l, uint64_t pc, Dwarf_Frame **frame)
{
	for (int i = 0; i < 2; i++)
		if (l->cfis[i] && dwarf_cfi_addrframe(l->cfis[i], pc, frame) == 0)
			return true;
	return false;
}

/* 1: filled in, 0: libdw has no rule, -1: libdw has a rule that cannot be evaluated here. */
static inline int libdw_frame(const struct libdw *l, const uint64_t *regs, uint64_t pc,
			      struct frame *f, uint64_t *start, uint64_t *end)
{
	Dwarf_Frame *frame;
	struct machine m;
	Dwarf_Op *ops;
	bool undefined;
	int ra, found = -1;
	size_t n;

	if (!libdw_addrframe(l, pc, &frame))
		return 0;
	ra = dwarf_frame_info(frame, start, end, &f->signal);
	if (ra < 0 || ra >= DWARF_COUNT || dwarf_frame_cfa(frame, &ops, &n) < 0 || !n)
		goto out;
	m = ops_run(regs, ops, n, 0);
	f->cfa = pop(&m);
	if (m.unknown)
		goto out;
	if (!libdw_register(regs, frame, ARCH_SP, f->cfa, &f->sp, &undefined) ||
	    !libdw_register(regs, frame, ra, f->cfa, &f->ra, &f->outermost) ||
	    !libdw_register(regs, frame, ARCH_FP, f->cfa, &f->fp, &undefined))
		goto out;
	found = 1;
out:
	free(frame);
	return found;
}

/* --- functions ----------------------------------------------------------------------------- */

struct cie {
	uint64_t offset;
	uint8_t encoding;
};

static inline uint8_t cie_encoding(const Dwarf_CIE *cie)
{
	const uint8_t *data = cie->augmentation_data;
	const char *c = cie->augmentation;

	if (!c || *c != 'z')
		return DW_EH_PE_absptr;
	for (c++; *c; c++) {
		if (*c == 'R')
			return *data;
		if (*c == 'L') {
			data++;
		} else if (*c == 'P') {
			uint8_t encoding = *data++ & 0x0f;

			data += encoding == DW_EH_PE_sdata4 || encoding == DW_EH_PE_udata4 ? 4 : 8;
		}
	}
	return DW_EH_PE_absptr;
}

/* Start and size in the encoding; false for encodings that no known tool writes. */
static inline bool fde_range(const Dwarf_FDE *fde, uint8_t encoding, uint64_t at, uint64_t *start,
			     uint64_t *size)
{
	unsigned int base = encoding & 0x70, format = encoding & 0x0f;
	bool is_signed = format & 0x08;

	*start = *size = 0;
	if ((base && base != DW_EH_PE_pcrel) || encoding & DW_EH_PE_indirect)
		return false;
	if (format == DW_EH_PE_udata4 || format == DW_EH_PE_sdata4) {
		uint32_t words[2];

		memcpy(words, fde->start, sizeof(words));
		*start = is_signed ? (uint64_t)(int64_t)(int32_t)words[0] : words[0];
		*size = words[1];
	} else if (format == DW_EH_PE_absptr || format == DW_EH_PE_udata8 ||
		   format == DW_EH_PE_sdata8) {
		memcpy(start, fde->start, 8);
		memcpy(size, fde->start + 8, 8);
	} else {
		return false;
	}
	if (base && *start)
		*start += at;
	return true;
}

typedef void libdw_fde_fn(void *arg, uint64_t start, uint64_t size);

/*
 * Calls back for every function of a section, as libdw reads its records; returns the number of
 * functions that could not be enumerated.
 */
static inline uint64_t libdw_fdes(const struct libdw *l, int section, libdw_fde_fn *call, void *arg)
{
	Elf_Data *data = l->data[section];
	struct cie *cies = NULL;
	size_t ncies = 0, room = 0;
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry entry;
	const unsigned char *ident = (const unsigned char *)elf_getident(l->bytes, NULL);
	uint64_t unknown = 0, start, size;
	int more;

	for (; (more = dwarf_next_cfi(ident, data, !section, at, &next, &entry)) <= 0; at = next) {
		size_t i = ncies;

		if (more < 0 && next == at)
			break;
		if (more < 0)
			continue;
		if (entry.CIE_id == LIBDW_CIE_ID) {
			if (ncies == room) {
				room = room ? 2 * room : 64;
				cies = realloc(cies, room * sizeof(*cies));
				if (!cies)
					abort();
			}
			cies[ncies++] = (struct cie){at, cie_encoding(&entry.cie)};
			continue;
		}
		while (i && cies[i - 1].offset != entry.fde.CIE_pointer)
			i--;
		if (!i || !fde_range(&entry.fde, cies[i - 1].encoding,
				     l->addr[section] +
					     (uint64_t)(entry.fde.start - (uint8_t *)data->d_buf),
				     &start, &size))
			unknown++;
		else if (start && size)
			call(arg, start, size);
	}
	free(cies);
	return unknown;
}

/* --- the file ------------------------------------------------------------------------------ */

/* The bytes of a section, decompressed. */
static inline Elf_Data *section_data(Elf *elf, const char *name, uint64_t *addr)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *found;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, names, shdr.sh_name);
		if (!found || strcmp(found, name) != 0)
			continue;
		*addr = shdr.sh_addr;
		if (shdr.sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0)
			return NULL;
		if (!strncmp(name, ".z", 2))
			elf_compress_gnu(scn, 0, 0);
		return elf_rawdata(scn, NULL);
	}
	return NULL;
}

/* Returns false when libdw finds neither section. */
static inline bool libdw_open(struct libdw *l, int fd)
{
	memset(l, 0, sizeof(*l));
	if (elf_version(EV_CURRENT) == EV_NONE)
		return false;
	l->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	l->bytes = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (!l->elf || !l->bytes)
		return false;
	l->data[1] = section_data(l->bytes, ".debug_frame", &l->addr[1]);
	if (!l->data[1])
		l->data[1] = section_data(l->bytes, ".zdebug_frame", &l->addr[1]);
	l->data[0] = section_data(l->bytes, ".eh_frame", &l->addr[0]);
	if (l->data[0] && l->data[0]->d_size > 4)
		l->cfis[0] = dwarf_getcfi_elf(l->elf);
	if (l->data[1])
		l->dwarf = dwarf_begin_elf(l->elf, DWARF_C_READ, NULL);
	if (l->dwarf)
		l->cfis[1] = dwarf_getcfi(l->dwarf);
	return l->cfis[0] || l->cfis[1];
}

static inline void libdw_close(struct libdw *l)
{
	if (l->cfis[0])
		dwarf_cfi_end(l->cfis[0]);
	if (l->dwarf)
		dwarf_end(l->dwarf);
	elf_end(l->elf);
	elf_end(l->bytes);
}

#endif
