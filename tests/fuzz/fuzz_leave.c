// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=1024 */
/*
 * Any bytes as code made at run time, from any place in it: never a crash, and rows that a walk can
 * use, inside of the code. The first byte says whether the place is a return address, the next two
 * where it is.
 * Covers: unwind/leave.c unwind/arch/x86_64/effect.c
 */
#include <stdbool.h>

#include "symbols/base/work.h"
#include "symbols/insn/disasm.h"
#include "tests/fuzz/fuzz.h"
#include "unwind/arch.h"
#include "unwind/derive.h"
#include "unwind/leave.h"
#include "unwind/row.h"

#define ADDR 0x401000u

/*
 * size: of the code, behind which the last instruction may end, if it is cut off. Rows ascend until
 * one that ends a piece; pieces overlap where the same bytes are reached as two instructions.
 */
static void check(const struct derived *d, size_t size)
{
	for (size_t i = 0; i < d->nrows; i++) {
		const uint32_t rule = d->rows[i].rule, kind = RULE_KIND(rule);

		require(d->rows[i].pc >= ADDR && d->rows[i].pc < ADDR + size + 15);
		require(!i || !d->rows[i - 1].rule || d->rows[i].pc > d->rows[i - 1].pc);
		if (kind == ROW_END) {
			require(!rule);
			continue;
		}
		require(d->rows[i].pc < ADDR + size);
		require(rule & RULE_DERIVED && (kind == ROW_SP || kind == ROW_FP));
		require(RULE_CFA(rule) >= 8 && RULE_FP_DEPTH(rule) != 8);
	}
	require(!d->nrows || RULE_KIND(d->rows[d->nrows - 1].rule) == ROW_END);
}

static int take_input(const uint8_t *data, size_t size)
{
	static struct disasm *disasm;
	struct leave_code code = {.addr = ADDR};
	struct derived d = {0};
	struct work work = {0};
	bool behind_call;
	uint64_t place;
	uint8_t *copy;

	if (size < 4)
		return 0;
	if (!disasm && disasm_new(ARCH_MACHINE, &disasm))
		return 0;
	behind_call = data[0] & 1;
	place = data[1] | (unsigned int)data[2] << 8;
	data += 3;
	size -= 3;
	copy = fuzz_copy(data, size);
	code.bytes = copy;
	code.size = size;
	require(leave_rows(&code, ADDR + place % (size + 1), behind_call, disasm, &work, &d) == 0);
	check(&d, size);
	require_work(work.done, size, 1024);
	derived_free(&d);
	free(copy);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 16, 1u << 14)
