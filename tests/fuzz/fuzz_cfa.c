// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=128 */
/*
 * CFA programs, straight into the interpreter. The first bytes make the CIE: alignments, the column
 * of the return address, the encoding of addresses, the number of initial instructions, and the
 * function's length; the rest are instructions. Rows ascend and stay inside the function, and every
 * state gives a rule that a table may hold. Some programs run twice and must give the same rows.
 * Covers: unwind/cfa.c
 */
#include "tests/fuzz/rules.h"

#define START 0x401000u

struct run {
	const struct cfi_fde *fde;
	uint64_t last;
	uint64_t hash; /* of all rows */
	unsigned int rows;
	bool is_signal;
};

static void mix(struct run *r, uint64_t value)
{
	r->hash = (r->hash ^ value) * 0x9e3779b97f4a7c15u;
	r->hash ^= r->hash >> 29;
}

static void mix_rule(struct run *r, const struct reg_rule *rule)
{
	mix(r, rule->how);
	mix(r, (uint64_t)rule->off + rule->reg);
}

static int on_row(void *arg, uint64_t pc, const struct cfa_state *state)
{
	struct run *r = arg;

	require(pc >= r->fde->start && pc < r->fde->end && (!r->rows || pc > r->last));
	require(r->rows || pc == r->fde->start);
	require(state->cfa.kind <= EXPR_PLT);
	r->last = pc;
	r->rows++;
	mix(r, pc);
	mix(r, state->cfa.kind + (uint64_t)state->cfa.add + (uint64_t)state->cfa.off);
	mix_rule(r, &state->sp);
	mix_rule(r, &state->fp);
	mix_rule(r, &state->ra);
	rule_check(state, r->is_signal);
	return 0;
}

static uint64_t run_once(const struct cfi_section *s, const struct cfi_cie *cie,
			 const struct cfi_fde *fde, uint32_t kept)
{
	struct run run = {.fde = fde, .is_signal = cie->signal};
	struct cfa_state initial;
	uint64_t end;
	int err;

	memset(&initial, 0xa5, sizeof(initial));
	if (cfa_initial(s, cie, kept, &initial) < 0)
		return 1;
	err = cfa_run(s, cie, &initial, fde, on_row, &run, &end);
	require(err == 0 || err == -22);
	require(end >= fde->start && end <= fde->end && (err || end == fde->end));
	require(!run.rows || run.last < end);
	mix(&run, end);
	return run.hash;
}

static int take_input(const uint8_t *data, size_t size)
{
	static const uint8_t encodings[] = {
		PTR_ABSOLUTE, PTR_PCREL | PTR_S32,     PTR_FUNCREL | PTR_U16,
		PTR_OMIT,     PTR_INDIRECT | PTR_ULEB, PTR_ALIGNED};
	unsigned int aligns = fuzz_u8(&data, &size), how = fuzz_u8(&data, &size);
	unsigned int initial = fuzz_u8(&data, &size), length = fuzz_u8(&data, &size);
	struct cfi_section section = {.addr = 0x8000000, .eh_frame = true};
	struct cfi_cie cie = {.code_align = aligns & 15, .addr_size = 8};
	struct cfi_fde fde = {.start = START};
	uint32_t kept = how & 0x80 ? 3 : 0;
	uint8_t *copy = fuzz_copy(data, size);
	uint64_t hash;

	section.data = copy;
	section.size = size;
	cie.data_align = aligns & 0x80 ? -8 : (int64_t)(aligns >> 4) - 4;
	cie.ra_reg = how & 1 ? 16 : how >> 4 & 7;
	cie.signal = how & 2;
	cie.encoding = encodings[(how >> 2 & 3) + (how & 1)];
	cie.ninsns = (uint32_t)(initial < size ? initial : size);
	fde.insns = cie.ninsns;
	fde.ninsns = (uint32_t)size - cie.ninsns;
	fde.end = fde.start + 1 + (length < 128 ? length : 1ull << (length & 63));
	if (fde.end <= fde.start)
		fde.end = UINT64_MAX;
	hash = run_once(&section, &cie, &fde, kept);
	if (how & 0x40)
		require(hash == run_once(&section, &cie, &fde, kept));
	free(copy);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 14, 256)
