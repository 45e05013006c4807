// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=512 */
/*
 * The bytes of .eh_frame or .debug_frame, without an ELF file around them: results stay within the
 * section, and each function's program runs within its bounds. The first byte chooses the section.
 * Covers: unwind/ehframe.c
 */
#include "symbols/base/work.h"
#include "tests/fuzz/rules.h"

#define AT 0x8000000u

struct run {
	const struct cfi_fde *fde;
	uint64_t last;
	unsigned int rows;
	bool is_signal;
};

static bool read_word(void *arg, uint64_t addr, uint64_t *value)
{
	(void)arg;
	*value = addr ^ AT;
	return addr & 1;
}

static void check_records(const struct cfi_section *s, const struct cfi *cfi)
{
	uint32_t order = 0;

	for (uint32_t i = 0; i < cfi->ncies; i++) {
		const struct cfi_cie *cie = &cfi->cies[i];

		require(!i || cie->offset > cfi->cies[i - 1].offset);
		require((uint64_t)cie->insns + cie->ninsns <= s->size);
		require(cie->bad || cie->addr_size == 8 || cie->addr_size == 4);
	}
	for (uint32_t i = 0; i < cfi->nfdes; i++) {
		const struct cfi_fde *fde = &cfi->fdes[i];

		require(fde->cie < cfi->ncies && !cfi->cies[fde->cie].bad);
		require((uint64_t)fde->insns + fde->ninsns <= s->size);
		require(fde->start < fde->end && (!i || fde->order > order));
		order = fde->order;
	}
}

static int on_row(void *arg, uint64_t pc, const struct cfa_state *state)
{
	struct run *r = arg;

	require(pc >= r->fde->start && pc < r->fde->end && (!r->rows || pc > r->last));
	r->last = pc;
	r->rows++;
	rule_check(state, r->is_signal);
	return 0;
}

static void run_fde(const struct cfi_section *s, const struct cfi *cfi, const struct cfi_fde *fde)
{
	const struct cfi_cie *cie = &cfi->cies[fde->cie];
	struct run run = {.fde = fde, .is_signal = cie->signal};
	struct cfa_state initial;
	uint64_t end;

	if (cfa_initial(s, cie, 0, &initial) < 0)
		return;
	cfa_run(s, cie, &initial, fde, on_row, &run, &end);
	require(end >= fde->start && end <= fde->end && (!run.rows || run.last < end));
}

static int take_input(const uint8_t *data, size_t size)
{
	unsigned int how = fuzz_u8(&data, &size);
	uint8_t *copy = fuzz_copy(data, size);
	struct cfi_section section = {
		.data = copy,
		.size = size,
		.addr = how & 1 ? 0 : AT,
		.eh_frame = !(how & 1),
		.text = AT / 2,
		.got = AT * 2ull,
		.read = how & 2 ? read_word : NULL,
	};
	struct work work = {0};
	struct cfi cfi;

	section.work = &work;
	if (!cfi_read(&section, &cfi)) {
		check_records(&section, &cfi);
		for (uint32_t i = 0; i < cfi.nfdes && i < 8; i++)
			run_fde(&section, &cfi, &cfi.fdes[i]);
	}
	require_work(work.done, size, 8);
	cfi_free(&cfi);
	free(copy);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 16, 1024)
