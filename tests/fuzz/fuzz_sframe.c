// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=256 */
/*
 * The bytes of a .sframe section beside some CFI. The functions that the section adds never overlap
 * the CFI nor each other, their rows ascend within them and give rules that a table may hold, and
 * the bytes bound their number. The first three bytes make the functions that CFI covers.
 * Covers: unwind/sframe.c
 */
#include <errno.h>

#include "tests/fuzz/rules.h"
#include "unwind/sframe.h"

#define AT    0x10000u
#define HAVE  8u /* functions with CFI, at most */
#define RULES 16 /* rules checked per function */

struct run {
	const struct cfi_fde *fde;
	uint64_t last;
	uint64_t rows;
};

static int on_row(void *arg, uint64_t pc, const struct cfa_state *state)
{
	struct run *r = arg;

	require(pc >= r->fde->start && pc < r->fde->end && (!r->last || pc > r->last));
	r->last = pc;
	if (r->rows++ < RULES)
		rule_check(state, sframe_signal(r->fde));
	return 0;
}

/* The answer that a binary search in the CFI's functions would give. */
static bool covered(const struct cfi *cfi, uint32_t own, uint64_t pc)
{
	const struct cfi_fde *best = NULL;

	for (uint32_t i = 0; i < own; i++)
		if (cfi->fdes[i].start <= pc && (!best || cfi->fdes[i].start > best->start))
			best = &cfi->fdes[i];
	return best && pc < best->end;
}

static void check(const struct sframe *s, const struct cfi *cfi, uint32_t own, size_t size)
{
	uint64_t rows = 0;

	for (uint32_t i = own; i < cfi->nfdes; i++) {
		const struct cfi_fde *fde = &cfi->fdes[i];
		struct run run = {.fde = fde};

		require(fde->cie == SFRAME_CIE && fde->start < fde->end);
		require(i == own || fde->start >= cfi->fdes[i - 1].end);
		require(!covered(cfi, own, fde->start) && !covered(cfi, own, fde->end - 1));
		require(sframe_run(s, fde, on_row, &run) == 0);
		rows += run.rows;
	}
	require(rows <= 2 * (1024 + 4 * size));
}

static int take_input(const uint8_t *data, size_t size)
{
	unsigned int count = fuzz_u8(&data, &size) % (HAVE + 1), first = fuzz_u8(&data, &size);
	unsigned int each = fuzz_u8(&data, &size);
	uint8_t *copy = fuzz_copy(data, size);
	struct sframe s;
	struct cfi cfi = {0};
	int err = sframe_open(copy, size, AT, &s);

	require(err == 0 || err == -EINVAL || err == -ENOTSUP);
	if (!err) {
		cfi.fdes = calloc(HAVE, sizeof(*cfi.fdes));
		require(cfi.fdes != NULL);
		for (; cfi.nfdes < count; cfi.nfdes++) {
			uint64_t start = AT - 0x100u + first * 2 + each * cfi.nfdes;

			cfi.fdes[cfi.nfdes] = (struct cfi_fde){
				.start = start, .end = start + 1 + each / 2, .order = cfi.nfdes};
		}
		require(sframe_add(&s, &cfi) == 0);
		require(cfi.bad_fdes + cfi.empty_fdes <= s.nfdes + cfi.nfdes + HAVE);
		check(&s, &cfi, count, size);
		cfi_free(&cfi);
	}
	free(copy);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 18, 1024)
