// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An FDE is a function, or the cold part of one. Eight bytes for each are kept, sorted by start;
 * what lies beyond 4 GiB of the first is left out. Where FDEs overlap, an address belongs to the
 * one that begins last at or before it, as in the unwind table.
 */
#include "unwind/funcs.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols/base/search.h"
#include "unwind/cfifile.h"
#include "unwind/sframe.h"

struct funcs_range {
	uint32_t start; /* from base */
	uint32_t size;
};

struct funcs {
	uint64_t base;
	size_t n;
	struct funcs_range func[];
};

static int compare(const void *left, const void *right)
{
	const struct funcs_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

int funcs_new(const struct elf_file *file, struct funcs **out)
{
	struct cfi_section sections[CFI_SECTIONS];
	struct sframe sframe;
	struct funcs *f = NULL;
	struct cfi cfi;
	int err = cfi_file_read(file, sections, &cfi);

	*out = NULL;
	if (!err)
		err = sframe_read(file, &sframe, &cfi);
	if (!err) {
		f = calloc(1, sizeof(*f) + cfi.nfdes * sizeof(f->func[0]));
		err = f ? 0 : -ENOMEM;
	}
	if (f && cfi.nfdes)
		f->base = cfi_from(&cfi.fdes[0]);
	for (uint32_t i = 0; f && i < cfi.nfdes; i++)
		if (cfi_from(&cfi.fdes[i]) < f->base)
			f->base = cfi_from(&cfi.fdes[i]);
	for (uint32_t i = 0; f && i < cfi.nfdes; i++) {
		uint64_t start = cfi_from(&cfi.fdes[i]) - f->base;
		uint64_t size = cfi.fdes[i].end - cfi_from(&cfi.fdes[i]);

		if (start <= UINT32_MAX && size <= UINT32_MAX)
			f->func[f->n++] = (struct funcs_range){start, size};
	}
	cfi_free(&cfi);
	if (f)
		qsort(f->func, f->n, sizeof(f->func[0]), compare);
	*out = f;
	return err;
}

void funcs_free(struct funcs *f)
{
	free(f);
}

size_t funcs_bytes(const struct funcs *f)
{
	return f ? sizeof(*f) + f->n * sizeof(f->func[0]) : 0;
}

/* How many functions begin at or before the address. */
static size_t begun(const struct funcs *f, uint64_t vaddr)
{
	return vaddr < f->base ? 0 : SEARCH(f->n, i, f->func[i].start <= vaddr - f->base);
}

bool funcs_find(const struct funcs *f, uint64_t vaddr, uint64_t *start)
{
	size_t low = begun(f, vaddr);

	if (!low || vaddr - f->base - f->func[low - 1].start >= f->func[low - 1].size)
		return false;
	*start = f->base + f->func[low - 1].start;
	return true;
}

bool funcs_reaches(const struct funcs *f, uint64_t start, uint64_t vaddr)
{
	uint64_t own;

	return begun(f, start) == begun(f, vaddr) &&
	       (!funcs_find(f, start, &own) || funcs_find(f, vaddr, &own));
}

void funcs_gap(const struct funcs *f, uint64_t gap[2])
{
	uint64_t end = f->n ? f->func[0].start : 0;

	gap[0] = gap[1] = 0;
	for (size_t i = 0; i < f->n; i++) {
		const uint64_t start = f->func[i].start, behind = start + f->func[i].size;

		if (start > end && start - end > gap[1] - gap[0]) {
			gap[0] = f->base + end;
			gap[1] = f->base + start;
		}
		end = behind > end ? behind : end;
	}
}
