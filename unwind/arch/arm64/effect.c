// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No rows are derived for this processor (ARCH_DERIVES): code without CFI keeps frame records, and
 * where it has none yet, its next instructions tell the walk (unwind/arch/arm64/step.h).
 */
#include "unwind/effect.h"

bool arch_may_begin(struct disasm *disasm, const uint8_t *code, size_t at, size_t size)
{
	(void)disasm;
	(void)code;
	(void)at;
	(void)size;
	return false;
}

void arch_effect(struct disasm *disasm, const uint8_t *code, size_t size, struct effect *out)
{
	(void)disasm;
	(void)code;
	*out = (struct effect){.size = size < 4 ? 1 : 4, .kind = EFFECT_BAD};
}
