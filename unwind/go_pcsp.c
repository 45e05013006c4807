// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Go's linker makes its CFI from a table of stack depths by pc (funcspdelta of runtime/symtab.go),
 * which its own unwinder uses, so a stripped program has lost nothing. The table is a list of
 * pairs: the change of the depth, from -1 on, as a zigzag number, and for how many bytes of code it
 * holds. A change of zero ends it.
 *
 * The tables of a large program have tens of megabytes: they are read through small windows, in the
 * order of the functions, which is about the order of the tables.
 */
#include "unwind/go_pcsp.h"

#include <string.h>

#include "symbols/base/limits.h"
#include "symbols/base/search.h"
#include "symbols/base/work.h"
#include "symbols/elf/elffile.h"
#include "unwind/arch.h"
#include "unwind/go_cfi.h"

#define PAIR_MAX  10u /* bytes: two numbers of 32 bits */
#define DATA_SIZE 40u /* of a function, about */

/* What the window has from the offset on: `size` bytes or more, but no more than up to end. */
static struct cfi_cursor window_at(struct go_pcsp_window *w, const struct go_pcsp *pcsp,
				   uint64_t offset, size_t size)
{
	uint64_t left = offset < pcsp->table.end ? pcsp->table.end - offset : 0;

	if (size > left)
		size = left;
	if (offset < w->at || offset - w->at > w->filled ||
	    w->filled - (size_t)(offset - w->at) < size) {
		w->at = offset;
		w->filled = left < sizeof(w->bytes) ? (size_t)left : sizeof(w->bytes);
		if (elf_file_read(pcsp->file, offset, w->bytes, w->filled))
			w->filled = 0;
	}
	return cursor_new(w->bytes + (offset - w->at), w->filled - (size_t)(offset - w->at));
}

/* A pair of the list: where a function begins, and where its data are. */
static bool list_at(struct go_pcsp *pcsp, uint64_t i, uint64_t *start, uint64_t *data)
{
	const struct pclntab *table = &pcsp->table;
	const uint64_t pair = 2 * (uint64_t)table->word;
	struct cfi_cursor c = window_at(&pcsp->list, pcsp, table->list + i * pair, pair);

	*start = cursor_fixed(&c, table->word) + table->text;
	*data = cursor_fixed(&c, table->word);
	return !c.failed;
}

/* The offset of a function's table of depths; 0: it has none. */
static uint32_t depths_of(struct go_pcsp *pcsp, uint64_t data)
{
	const struct pclntab *table = &pcsp->table;
	struct cfi_cursor c;

	if (data > UINT32_MAX || data >= table->end - table->funcs)
		return 0;
	c = window_at(&pcsp->data, pcsp, table->funcs + data + table->field + 12, 4);
	return (uint32_t)cursor_fixed(&c, 4);
}

static bool is_covered(const struct cfi *cfi, uint32_t nfdes, uint64_t addr)
{
	size_t below = SEARCH(nfdes, i, cfi_from(&cfi->fdes[i]) <= addr);

	return below && cfi->fdes[below - 1].end > addr;
}

int go_pcsp_read(const struct elf_file *file, struct go_pcsp *out, struct go_functions *functions,
		 struct cfi *cfi)
{
	const struct bytes bytes = elf_file_bytes(file);
	struct cfi_fde fde = {.cie = GO_CIE};
	uint64_t start, end, data, next_data;
	char name[GO_NAME_ROOM];
	uint32_t nfdes;
	int err = 0;

	memset(out, 0, sizeof(*out));
	out->file = file;
	if (pclntab_open(file, &out->table) || out->table.count > LIMIT_FDES ||
	    !list_at(out, 0, &start, &data))
		return 0;
	cfi_sort(cfi);
	nfdes = cfi->nfdes;
	for (uint64_t i = 0; i < out->table.count && !err; i++, start = end, data = next_data) {
		err = work_add(elf_file_work(file), 1);
		if (err || !list_at(out, i + 1, &end, &next_data))
			break;
		fde.start = start;
		fde.end = end;
		if (end <= start || is_covered(cfi, nfdes, start))
			continue;
		fde.insns = depths_of(out, data);
		if (!fde.insns)
			continue;
		out->bytes += DATA_SIZE;
		err = cfi_append(cfi, &fde);
		if (pclntab_name(&out->table, &bytes, (uint32_t)data, name, sizeof(name)))
			go_functions_add(functions, name, start);
	}
	return err;
}

int go_pcsp_run(struct go_pcsp *pcsp, const struct cfi_fde *fde, cfa_row_fn *row, void *arg,
		uint64_t *end)
{
	struct cfa_state state = {
		.cfa = {.kind = EXPR_REG, .reg = ARCH_SP},
		.cfa_set = true,
		.fp = {.how = REG_SAME},
		.ra = {.how = REG_AT_CFA, .off = ARCH_RA_AT},
	};
	uint64_t at = pcsp->table.pcs + fde->insns, pc = fde->start, change, size;
	int64_t depth = -1;
	int err = 0;

	while (!err && pc < fde->end) {
		struct cfi_cursor c = window_at(&pcsp->data, pcsp, at, PAIR_MAX);
		const uint8_t *pair = c.at;

		change = cursor_uleb(&c);
		size = cursor_uleb(&c) * pcsp->table.quantum;
		if (c.failed || !change || change > UINT32_MAX || !size || size > fde->end - pc)
			break;
		depth += change & 1 ? -1 - (int64_t)(change >> 1) : (int64_t)(change >> 1);
		state.cfa.add = depth - ARCH_RA_AT;
		if (ARCH_HAS_LINK && depth)
			state.ra = (struct reg_rule){.how = REG_AT_CFA, .off = -depth};
		else if (ARCH_HAS_LINK)
			state.ra = (struct reg_rule){.how = REG_SAME};
		err = work_add(elf_file_work(pcsp->file), 1);
		if (!err)
			err = row(arg, pc, &state);
		pc += size;
		at += (uint64_t)(c.at - pair);
	}
	*end = pc;
	return err;
}
