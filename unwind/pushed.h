/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_PUSHED_H
#define STACKTOP_UNWIND_PUSHED_H

/*
 * Where compiled code has more on the stack than its frame: between a push and the pop that takes
 * it back. HotSpot's compiler does so around the comparison of strings, and says only how large the
 * frame is.
 */

#include <stdint.h>

struct disasm;
struct work;

#define PUSHED_START   1u /* an instruction begins here */
#define PUSHED_MAX     8u /* words more */
#define PUSHED_UNKNOWN (PUSHED_START + PUSHED_MAX + 1)

/*
 * Fills at[from..size) of code without a frame of its own in that range: 0 where no instruction
 * begins, else PUSHED_START plus the words on the stack that are not in the frame, or
 * PUSHED_UNKNOWN where they are too many, or paths differ. -ENOMEM, or as
 * work_add; work: NULL to count nothing.
 */
int pushed_find(const uint8_t *code, uint32_t size, uint32_t from, struct disasm *disasm,
		struct work *work, uint8_t *at);

#endif
