// SPDX-License-Identifier: GPL-2.0-or-later
/* See disasm.h. Only this file knows capstone, so another library would only be another file. */
#include "symbols/insn/disasm.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<capstone/capstone.h>)
#include <capstone/capstone.h>
#define HAVE_CAPSTONE 1
#else
#define HAVE_CAPSTONE 0
#endif

static void as_data(uint64_t addr, const uint8_t *bytes, size_t size, size_t unit,
		    struct disasm_insn *out)
{
	*out = (struct disasm_insn){.addr = addr, .kind = DISASM_DATA};
	out->size = (uint8_t)(size < unit ? 1 : unit);
	if (out->size == 4)
		snprintf(out->text, sizeof(out->text), ".inst 0x%02x%02x%02x%02x", bytes[3],
			 bytes[2], bytes[1], bytes[0]);
	else
		snprintf(out->text, sizeof(out->text), ".byte 0x%02x", bytes[0]);
}

#if HAVE_CAPSTONE

struct disasm {
	csh handle;
	cs_insn *insn;
	csh att; /* in the other syntax */
	cs_insn *att_insn;
	size_t unit; /* bytes that are not an instruction */
	bool arm64;
};

const char *disasm_missing(void)
{
	return NULL;
}

int disasm_new(unsigned int machine, struct disasm **out)
{
	bool arm64 = machine == EM_AARCH64;
	struct disasm *d;

	*out = NULL;
	if ((!arm64 && machine != EM_X86_64) || !cs_support(arm64 ? CS_ARCH_ARM64 : CS_ARCH_X86))
		return -ENOTSUP; /* or the library was built without it */
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->arm64 = arm64;
	d->unit = arm64 ? 4 : 1;
	*out = d;
	return 0;
}

/*
 * Opens the library when it is first asked: its tables take two megabytes of memory, and most files
 * have no code that needs it. False: no memory.
 */
static bool disasm_open(struct disasm *d)
{
	if (d->insn)
		return true;
	if (cs_open(d->arm64 ? CS_ARCH_ARM64 : CS_ARCH_X86, d->arm64 ? CS_MODE_ARM : CS_MODE_64,
		    &d->handle) != CS_ERR_OK)
		return false;
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->handle);
	if (!d->insn)
		cs_close(&d->handle);
	return d->insn != NULL;
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	if (d->insn) {
		cs_free(d->insn, 1);
		cs_close(&d->handle);
	}
	if (d->att_insn) {
		cs_free(d->att_insn, 1);
		cs_close(&d->att);
	}
	free(d);
}

/* If there are several numbers (a tested bit), the last one is the target. */
static bool target_of(const struct disasm *d, uint64_t *target)
{
	const cs_detail *detail = d->insn->detail;

	if (!d->arm64) {
		const cs_x86 *x = &detail->x86;

		if (!x->op_count || x->operands[0].type != X86_OP_IMM)
			return false;
		*target = (uint64_t)x->operands[0].imm;
		return true;
	}
	for (int i = detail->arm64.op_count; i-- > 0;) {
		if (detail->arm64.operands[i].type != ARM64_OP_IMM)
			continue;
		*target = (uint64_t)detail->arm64.operands[i].imm;
		return true;
	}
	return false;
}

void disasm_one(struct disasm *d, uint64_t addr, const uint8_t *bytes, size_t size,
		struct disasm_insn *out)
{
	const uint8_t *at = bytes;
	uint64_t address = addr;
	size_t left = size;

	if (!disasm_open(d) || !cs_disasm_iter(d->handle, &at, &left, &address, d->insn) ||
	    !d->insn->size || d->insn->size > size) {
		as_data(addr, bytes, size, d->unit, out);
		return;
	}
	*out = (struct disasm_insn){.addr = addr, .size = (uint8_t)d->insn->size};
	out->kind = cs_insn_group(d->handle, d->insn, CS_GRP_CALL)   ? DISASM_CALL
		    : cs_insn_group(d->handle, d->insn, CS_GRP_JUMP) ? DISASM_JUMP
		    : cs_insn_group(d->handle, d->insn, CS_GRP_RET)  ? DISASM_RETURN
								     : DISASM_PLAIN;
	if (out->kind == DISASM_JUMP || out->kind == DISASM_CALL)
		out->has_target = target_of(d, &out->target);
	snprintf(out->text, sizeof(out->text), "%s%s%s", d->insn->mnemonic,
		 d->insn->op_str[0] ? " " : "", d->insn->op_str);
}

static bool att_open(struct disasm *d)
{
	if (d->att_insn)
		return true;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->att) != CS_ERR_OK)
		return false;
	/* A library without that syntax refuses. */
	if (cs_option(d->att, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT) == CS_ERR_OK)
		d->att_insn = cs_malloc(d->att);
	if (!d->att_insn)
		cs_close(&d->att);
	return d->att_insn != NULL;
}

bool disasm_att(struct disasm *d, const struct disasm_insn *insn, const uint8_t *bytes,
		char text[DISASM_TEXT])
{
	const uint8_t *at = bytes;
	uint64_t address = insn->addr;
	size_t left = insn->size;

	if (d->arm64 || insn->kind == DISASM_DATA || !att_open(d) ||
	    !cs_disasm_iter(d->att, &at, &left, &address, d->att_insn))
		return false;
	snprintf(text, DISASM_TEXT, "%s%s%s", d->att_insn->mnemonic,
		 d->att_insn->op_str[0] ? " " : "", d->att_insn->op_str);
	return strcmp(text, insn->text) != 0;
}

static unsigned int writes(unsigned int reg)
{
	switch (reg) {
	case X86_REG_RSP:
	case X86_REG_ESP:
	case X86_REG_SP:
	case X86_REG_SPL:
		return DISASM_WRITES_SP;
	case X86_REG_RBP:
	case X86_REG_EBP:
	case X86_REG_BP:
	case X86_REG_BPL:
		return DISASM_WRITES_FP;
	default:
		return 0;
	}
}

size_t disasm_effect(struct disasm *d, const uint8_t *bytes, size_t size, unsigned int *does)
{
	const uint8_t *at = bytes;
	uint64_t address = 0;
	size_t left = size;
	cs_regs read, written;
	uint8_t nread, nwritten;

	*does = 0;
	if (d->arm64 || !disasm_open(d) ||
	    !cs_disasm_iter(d->handle, &at, &left, &address, d->insn) || !d->insn->size ||
	    d->insn->size > size)
		return 0;
	if (cs_insn_group(d->handle, d->insn, CS_GRP_CALL) ||
	    cs_insn_group(d->handle, d->insn, CS_GRP_JUMP) ||
	    cs_insn_group(d->handle, d->insn, CS_GRP_RET) ||
	    cs_insn_group(d->handle, d->insn, CS_GRP_IRET))
		*does |= DISASM_FLOW;
	if (cs_regs_access(d->handle, d->insn, read, &nread, written, &nwritten) != CS_ERR_OK)
		*does |= DISASM_WRITES_SP | DISASM_WRITES_FP;
	else
		for (uint8_t i = 0; i < nwritten; i++)
			*does |= writes(written[i]);
	return d->insn->size;
}

#else

struct disasm {
	char none;
};

const char *disasm_missing(void)
{
	return "this stacktop was built without a disassembler: install libcapstone-dev (Debian; "
	       "elsewhere capstone-devel) and build it again";
}

int disasm_new(unsigned int machine, struct disasm **out)
{
	(void)machine;
	*out = NULL;
	return -ENOTSUP;
}

void disasm_free(struct disasm *d)
{
	(void)d;
}

void disasm_one(struct disasm *d, uint64_t addr, const uint8_t *bytes, size_t size,
		struct disasm_insn *out)
{
	(void)d;
	as_data(addr, bytes, size, 1, out);
}

bool disasm_att(struct disasm *d, const struct disasm_insn *insn, const uint8_t *bytes,
		char text[DISASM_TEXT])
{
	(void)d;
	(void)insn;
	(void)bytes;
	text[0] = '\0';
	return false;
}

size_t disasm_effect(struct disasm *d, const uint8_t *bytes, size_t size, unsigned int *does)
{
	(void)d;
	(void)bytes;
	(void)size;
	*does = 0;
	return 0;
}

#endif
