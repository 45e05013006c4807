// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/tablerule.h"

#include "symbols/base/search.h"
#include "unwind/table.h"

uint32_t unwind_table_rule(const struct unwind_table *table, uint64_t vaddr)
{
	size_t low = SEARCH(table->nspans, i, table->spans[i].end <= vaddr);
	const struct unwind_span *span = &table->spans[low];
	const uint32_t *index, *rows;
	uint32_t first, offset, n;

	if (low == table->nspans || vaddr < span->start)
		return RULE(ROW_END, 0);
	index = table->words + span->first;
	rows = index + span->ngranules;
	index += (vaddr - span->start) >> GRANULE_SHIFT;
	first = INDEX_FIRST(*index);
	offset = vaddr & (GRANULE_SIZE - 1);
	for (n = INDEX_ROWS(*index); n && ROW_OFFSET(rows[first + n - 1]) > offset;)
		n--;
	/* n == 0: the row before the granule's first; a span's first granule has one at offset 0.
	 */
	return ROW_RULE(rows[first + n - 1]);
}
