// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See memcode.h. Instructions of x86-64 have no alignment: reading from a wrong byte gives others,
 * but after a few of them both readings agree. So of the first bytes that one is the beginning from
 * which most of the known instructions are met.
 */
#include "symbols/code/memcode.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/code/listing.h"
#include "symbols/elf/arch.h"

#define INSN_MAX  16u /* bytes; one more than the longest has */
#define ZEROS_MAX 8u  /* that may belong to an instruction */

static bool is_zero(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return !word;
}

/* How many of the marks are instructions if the first one begins at the offset. */
static size_t count_met(struct disasm *d, const struct memcode_request *r, size_t from)
{
	struct disasm_insn insn;
	size_t met = 0;

	for (size_t at = from; at < r->size; at += insn.size) {
		for (size_t i = 0; i < r->nmarks; i++)
			met += r->marks[i] == r->start + at;
		disasm_one(d, r->start + at, r->bytes + at, r->size - at, &insn);
	}
	return met;
}

static int find_begin(const struct memcode_request *r, size_t *begin)
{
	size_t best = 0;
	struct disasm *d;
	int err;

	*begin = 0;
	if (!r->nmarks)
		return 0;
	err = disasm_new(ARCH_ELF_MACHINE, &d);
	if (err)
		return err;
	for (size_t from = 0; from < INSN_MAX && from < r->size; from++) {
		size_t met = count_met(d, r, from);

		if (met > best) {
			best = met;
			*begin = from;
		}
	}
	disasm_free(d);
	return 0;
}

/* Nothing was written there yet: zeros are instructions, too. */
static void leave_out_zeros(struct memcode_request *r)
{
	uint64_t first = r->marks[0], last = r->marks[0];
	size_t from = 0;

	for (size_t i = 1; i < r->nmarks; i++) {
		first = r->marks[i] < first ? r->marks[i] : first;
		last = r->marks[i] > last ? r->marks[i] : last;
	}
	while (r->size > ZEROS_MAX && r->start + r->size - ZEROS_MAX > last &&
	       is_zero(r->bytes + r->size - ZEROS_MAX))
		r->size--;
	while (from + ZEROS_MAX < r->size && r->start + from < first && !r->bytes[from])
		from++;
	memmove(r->bytes, r->bytes + from, r->size - from);
	r->start += from;
	r->size -= from;
	r->end = r->start + r->size;
}

int memcode_list(const struct memcode_request *request, struct listing **out)
{
	struct memcode_request whole = *request, *r = &whole;
	struct listing_code code = {
		.machine = ARCH_ELF_MACHINE,
		.no_lines = "it was made at run time",
		.cancel = r->cancel,
	};
	size_t begin;
	int err = r->size ? 0 : -EFAULT;

	*out = NULL;
	if (!err && r->nmarks)
		leave_out_zeros(r);
	if (!err)
		err = find_begin(r, &begin);
	if (err) {
		free(r->bytes);
		return err;
	}
	code.start = r->start + begin;
	code.end = r->end;
	code.bytes = r->bytes;
	code.size = r->size - begin;
	memmove(code.bytes, code.bytes + begin, code.size);
	if (code.size > r->end - code.start)
		code.size = r->end - code.start;
	return listing_of_code(&code, out);
}
