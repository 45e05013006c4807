// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=1024 */
/*
 * Any bytes as machine code: never a crash, instructions that follow each other without a gap, and
 * states that a row may have. The first byte is the number of functions, the second where the
 * program begins; then come the distances between the functions' starts.
 * Covers: unwind/flow.c unwind/flowcut.c unwind/flowcut.h unwind/arch/x86_64/effect.c
 */
#include <elf.h>

#include "symbols/base/work.h"
#include "symbols/insn/disasm.h"
#include "tests/fuzz/fuzz.h"
#include "unwind/effect.h"
#include "unwind/flow.h"

#define ADDR	   0x401000u
#define STARTS_MAX 8u

static void check(const struct flow *f)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < f->ninsns; i++) {
		const struct flow_insn *insn = &f->insns[i];
		const struct flow_state *s = &insn->state;

		require(insn->at == at && insn->size >= 1 && insn->size <= 15);
		at += insn->size;
		require(s->sp >= 8 || s->sp == FLOW_NONE || s->sp == FLOW_UNKNOWN ||
			s->sp == FLOW_OUTERMOST);
		require(s->fp >= FLOW_FP_OTHER && s->slot >= 0);
		require(s->sp != FLOW_NONE || (!s->fp && !s->slot));
		if (insn->kind == EFFECT_RETURN && s->sp > 0)
			require(s->sp == 8 && s->fp == FLOW_FP_CALLER);
	}
	require(at == f->size);
}

static int take_input(const uint8_t *data, size_t size)
{
	static struct disasm *disasm;
	uint64_t starts[STARTS_MAX];
	struct work work = {0};
	struct flow f = {.addr = ADDR, .work = &work};
	unsigned int nstarts, entry;
	uint8_t *copy;

	if (size < 2 + STARTS_MAX)
		return 0;
	if (!disasm && disasm_new(EM_X86_64, &disasm))
		return 0;
	nstarts = data[0] % (STARTS_MAX + 1);
	entry = data[1];
	for (unsigned int i = 0; i < nstarts; i++)
		starts[i] = (i ? starts[i - 1] : ADDR - 1) + 1 + data[2 + i];
	data += 2 + STARTS_MAX;
	size -= 2 + STARTS_MAX;
	copy = fuzz_copy(data, size);
	f.code = copy;
	f.size = (uint32_t)size;
	f.starts = starts;
	f.nstarts = nstarts;
	f.entry = entry < size ? ADDR + entry : 0;
	f.strict = entry & 1;
	f.disasm = disasm;
	require(flow_run(&f) == 0);
	check(&f);
	require_work(work.done, size, 64);
	flow_free(&f);
	free(copy);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 16, 1u << 14)
