// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nothing here looks at a name: touching every name once costs more than everything else. Symbols
 * are sorted as 64-bit words of address and number.
 */
#include "symbols/names/symlist.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/search.h"
#include "symbols/elf/elffile.h"
#include "symbols/base/grow.h"
#include "symbols/base/limits.h"

#define INDEX_BITS 24
#define DIGIT_BITS 10 /* of the 40 bits of an address, in a pass */
#define DIGITS	   (1u << DIGIT_BITS)
#define FEW	   16u

_Static_assert(SYMLIST_MAX <= 1u << INDEX_BITS, "a symbol's number fits");
_Static_assert(SYMLIST_REACH >> (64 - INDEX_BITS) == 0, "so does its address");
_Static_assert(sizeof(struct symlist_item) == 24, "millions of them may be held for a moment");

static int range_add(struct symlist *list, uint64_t start, uint64_t size)
{
	if (!size || start + size < start || list->nranges == UINT16_MAX)
		return 0;
	if (GROW(list->ranges, list->nranges, list->ranges_room, UINT16_MAX))
		return -ENOMEM;
	list->ranges[list->nranges++] = (struct symlist_range){start, start + size};
	return 0;
}

/* Sorted, and cut where they overlap in a hostile file. */
static void ranges_sort(struct symlist *list)
{
	uint64_t last = 0;
	size_t i, kept = 0;

	if (list->nranges)
		qsort(list->ranges, list->nranges, sizeof(*list->ranges), compare_u64);
	for (i = 0; i < list->nranges; i++) {
		if (list->ranges[i].start < last)
			list->ranges[i].start = last;
		if (list->ranges[i].start >= list->ranges[i].end)
			continue;
		last = list->ranges[i].end;
		list->ranges[kept++] = list->ranges[i];
	}
	list->nranges = kept;
}

/*
 * Sections tell best where functions may be and where the last one ends. A debug file has them only
 * as NOBITS, hence they are always taken from the file itself.
 */
int symlist_init(struct symlist *list, const struct elf_file *file)
{
	size_t nsections = elf_file_section_count(file), nloads, i;
	const struct elf_load *loads;
	struct elf_section section;
	int err;

	*list = (struct symlist){0};
	for (i = 1; i < nsections; i++) {
		if (elf_file_section_header(file, i, &section) ||
		    (section.flags & (SHF_ALLOC | SHF_EXECINSTR)) != (SHF_ALLOC | SHF_EXECINSTR))
			continue;
		err = range_add(list, section.addr, section.size);
		if (err)
			return err;
	}
	loads = elf_file_loads(file, &nloads);
	for (i = 0; !list->nranges && i < nloads; i++) {
		if (!loads[i].exec)
			continue;
		err = range_add(list, loads[i].vaddr, loads[i].memsz);
		if (err)
			return err;
	}
	ranges_sort(list);
	return 0;
}

void symlist_destroy(struct symlist *list)
{
	free(list->ranges);
	free(list->items);
}

int symlist_range(struct symlist *list, uint64_t addr)
{
	size_t low;

	if (!list->nranges || addr - list->ranges[0].start > SYMLIST_REACH)
		return -1;
	if (addr - list->ranges[list->last].start <
	    list->ranges[list->last].end - list->ranges[list->last].start)
		return (int)list->last;
	low = SEARCH(list->nranges, i, list->ranges[i].start <= addr);
	if (!low || addr >= list->ranges[low - 1].end)
		return -1;
	list->last = low - 1;
	return (int)list->last;
}

int symlist_add(struct symlist *list, struct symlist_item *item, uint64_t size)
{
	int range = symlist_range(list, item->start);
	uint64_t room;

	if (range < 0)
		return 0;
	if (list->count == SYMLIST_MAX || list->count >= LIMIT_SYMBOLS)
		return -E2BIG;
	if (GROW(list->items, list->count, list->room, SIZE_MAX))
		return -ENOMEM;
	room = list->ranges[range].end - item->start;
	item->range = (uint16_t)range;
	item->end = item->start + (size < room ? size : room);
	list->items[list->count++] = *item;
	return 0;
}

/* At one address: functions before labels, sizes before none, outer before inner, then by name. */
static int compare_shapes(const void *left, const void *right)
{
	const struct symlist_item *a = left, *b = right;

	if (a->label != b->label)
		return a->label ? 1 : -1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	if (a->binding != b->binding)
		return (int)a->binding - (int)b->binding;
	if (a->source != b->source)
		return (int)a->source - (int)b->source;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* Items at one address, mostly two: qsort would allocate memory for each pair. */
static void sort_shapes(struct symlist_item *items, size_t count)
{
	size_t i, at;

	if (count > FEW) {
		qsort(items, count, sizeof(*items), compare_shapes);
		return;
	}
	for (i = 1; i < count; i++) {
		struct symlist_item item = items[i];

		for (at = i; at && compare_shapes(&items[at - 1], &item) > 0; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* By address, a digit a pass, least significant first; keys are swapped with spare. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *spare, size_t count)
{
	size_t counts[DIGITS], sum, n, i;
	uint64_t *swap;
	unsigned int shift;

	for (shift = INDEX_BITS; shift < 64; shift += DIGIT_BITS) {
		memset(counts, 0, sizeof(counts));
		for (i = 0; i < count; i++)
			counts[keys[i] >> shift & (DIGITS - 1)]++;
		if (counts[keys[0] >> shift & (DIGITS - 1)] == count)
			continue;
		for (i = sum = 0; i < DIGITS; i++) {
			n = counts[i];
			counts[i] = sum;
			sum += n;
		}
		for (i = 0; i < count; i++)
			spare[counts[keys[i] >> shift & (DIGITS - 1)]++] = keys[i];
		swap = keys;
		keys = spare;
		spare = swap;
	}
	return keys;
}

static int items_sort(struct symlist *list)
{
	struct symlist_item *sorted = reallocarray(NULL, list->count, sizeof(*sorted));
	uint64_t *room = reallocarray(NULL, list->count, 2 * sizeof(*room)), *keys;
	uint64_t base = list->ranges[0].start;
	size_t i, first;

	if (!sorted || !room) {
		free(sorted);
		free(room);
		return -ENOMEM;
	}
	for (i = 0; i < list->count; i++)
		room[i] = (list->items[i].start - base) << INDEX_BITS | i;
	keys = sort_keys(room, room + list->count, list->count);
	for (i = 0; i < list->count; i++)
		sorted[i] = list->items[keys[i] & ((1u << INDEX_BITS) - 1)];
	free(room);
	free(list->items);
	list->items = sorted;
	list->room = list->count;
	for (i = first = 0; i < list->count; i++) {
		if (i + 1 < list->count && sorted[i + 1].start == sorted[i].start)
			continue;
		if (i > first)
			sort_shapes(sorted + first, i + 1 - first);
		first = i + 1;
	}
	return 0;
}

/* Where an item without a size ends; covered: end of the functions before it. */
static uint64_t unsized_end(const struct symlist *list, size_t i, uint64_t covered)
{
	uint64_t start = list->items[i].start, end = list->ranges[list->items[i].range].end;
	size_t next = i + 1;

	while (next < list->count && list->items[next].start == start)
		next++;
	if (next < list->count && list->items[next].start < end)
		end = list->items[next].start;
	return start < covered && covered < end ? covered : end;
}

/* A further item of the address where last is, or of the one that last stands for. */
static bool is_alias(const struct symlist_item *item, const struct symlist_item *last, bool unsized)
{
	return (unsized ? item->end == item->start : item->end == last->end) &&
	       item->label == last->label && item->binding == last->binding &&
	       item->source == last->source && item->name != last->name &&
	       item->source <= SYMLIST_DYNSYM;
}

int symlist_settle(struct symlist *list)
{
	uint64_t covered = 0; /* end of what the functions kept so far cover */
	struct symlist_item *item, *last = NULL;
	size_t i, kept = 0, aliases = 0;
	bool unsized = false; /* last was */
	int err;

	if (!list->count)
		return 0;
	err = items_sort(list);
	if (err)
		return err;
	for (i = 0; i < list->count; i++) {
		item = &list->items[i];
		if (last && item->start == last->start && aliases < SYMLIST_ALIASES &&
		    is_alias(item, last, unsized)) {
			list->items[kept] = *item;
			list->items[kept].end = last->end;
			list->items[kept++].alias = 1;
			aliases++;
			continue;
		}
		if (last && item->start == last->start &&
		    (item->label || item->end == item->start || item->end == last->end))
			continue;
		if (item->label && item->start < covered)
			continue;
		unsized = item->end == item->start;
		item->guessed = unsized;
		if (unsized)
			item->end = unsized_end(list, i, covered);
		if (!item->label && item->end > covered)
			covered = item->end;
		list->items[kept] = *item;
		last = &list->items[kept++];
		aliases = 0;
	}
	list->count = kept;
	return 0;
}
