// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Half of the inlined calls have such a list. libdw looks up section, unit and base again for each
 * range of one, and reads on in a list of bases without any range: entries that share a list of n
 * bases take n steps each.
 */
#include "symbols/dwarf/rangelist.h"

#include <dwarf.h>

#include "symbols/base/leb128.h"

bool rangelist_open(struct rangelist *list, const uint8_t *section, size_t size, uint64_t offset,
		    unsigned int version, uint64_t base)
{
	if (offset >= size)
		return false;
	*list = (struct rangelist){section + offset, section + size, base, version};
	return true;
}

static enum rangelist_next next_old(struct rangelist *l, uint64_t *start, uint64_t *end)
{
	while (fixed_read(&l->at, l->end, 8, start) && fixed_read(&l->at, l->end, 8, end)) {
		if (*start == UINT64_MAX) {
			l->base = *end;
			continue;
		}
		if (!*start && !*end)
			break;
		*start += l->base;
		*end += l->base;
		return RANGELIST_RANGE;
	}
	return RANGELIST_END;
}

static bool address_read(struct rangelist *l, uint64_t *address)
{
	return fixed_read(&l->at, l->end, 8, address);
}

static enum rangelist_next next_new(struct rangelist *l, uint64_t *start, uint64_t *end)
{
	bool ok = true;

	while (ok && l->at < l->end) {
		switch (*l->at++) {
		case DW_RLE_end_of_list:
			return RANGELIST_END;
		case DW_RLE_base_address:
			ok = address_read(l, &l->base);
			continue;
		case DW_RLE_offset_pair:
			ok = leb128_read(&l->at, l->end, start) && leb128_read(&l->at, l->end, end);
			*start += l->base;
			*end += l->base;
			break;
		case DW_RLE_start_end:
			ok = address_read(l, start) && address_read(l, end);
			break;
		case DW_RLE_start_length:
			ok = address_read(l, start) && leb128_read(&l->at, l->end, end);
			*end += *start;
			break;
		default:
			return RANGELIST_OTHER;
		}
		if (ok)
			return RANGELIST_RANGE;
	}
	return RANGELIST_END;
}

enum rangelist_next rangelist_next(struct rangelist *list, uint64_t *start, uint64_t *end)
{
	*start = *end = 0;
	return list->version < 5 ? next_old(list, start, end) : next_new(list, start, end);
}
