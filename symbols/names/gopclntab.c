// SPDX-License-Identifier: GPL-2.0-or-later
/* Of Go's table only the list of functions is read here, and the names that are asked for. */
#include "symbols/names/symread.h"

#include <errno.h>
#include <string.h>

#include "symbols/elf/elffile.h"
#include "symbols/elf/pclntab.h"

/* Pairs of an address and an offset, and an address that ends the last. */
static int list_read(const struct elf_file *file, const struct pclntab *h, struct symlist *list)
{
	struct symlist_item item = {.source = SYMLIST_GO};
	uint64_t pair = 2 * (uint64_t)h->word, at, n, i, addr = 0, next, func = 0;
	uint8_t chunk[512 * 16];
	int err = 0;

	if (h->count >= SYMLIST_MAX)
		return -EINVAL;
	for (at = 0; at <= h->count && !err; at += n) {
		n = h->count + 1 - at < 512 ? h->count + 1 - at : 512;
		if (elf_file_read(file, h->list + at * pair, chunk, n * pair))
			return -EINVAL;
		for (i = 0; i < n && !err; i++) {
			next = 0;
			memcpy(&next, chunk + i * pair, h->word);
			next += h->text;
			item.start = addr;
			item.name = (uint32_t)func;
			if (at + i && next > addr)
				err = symlist_add(list, &item, next - addr);
			addr = next;
			func = 0;
			memcpy(&func, chunk + i * pair + h->word, h->word);
			if (func > UINT32_MAX)
				return -EINVAL;
		}
	}
	return err == -E2BIG ? 0 : err;
}

int gopclntab_read(const struct elf_file *file, struct symlist *list, struct pclntab *out)
{
	int err = pclntab_open(file, out);

	return err ? err : list_read(file, out, list);
}
