// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compilation units, functions and inlined calls pose the same question at three sizes. A tree of
 * intervals would answer it as well, but pieces take half of the memory and one binary search.
 */
#include "symbols/dwarf/rangemap.h"

#include <stdlib.h>

#include "symbols/base/grow.h"
#include "symbols/base/search.h"

int rangemap_add(struct rangemap *map, uint64_t start, uint64_t end, uint32_t value)
{
	if (start >= end)
		return 0;
	if (GROW(map->ranges, map->nranges, map->room, UINT32_MAX))
		return -ENOMEM;
	map->ranges[map->nranges] =
		(struct rangemap_range){start, end, value, (uint32_t)map->nranges};
	map->nranges++;
	return 0;
}

/* Sorted so that of the ranges at an address the last one wins, as rangemap_build says. */
static int compare_ranges(const void *left, const void *right)
{
	const struct rangemap_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->serial < b->serial ? -1 : a->serial > b->serial;
}

/* Compilers mostly describe code in its order. */
static void ranges_sort(struct rangemap *map)
{
	size_t i = 1;

	while (i < map->nranges && compare_ranges(&map->ranges[i - 1], &map->ranges[i]) < 0)
		i++;
	if (i < map->nranges)
		qsort(map->ranges, map->nranges, sizeof(*map->ranges), compare_ranges);
}

static void piece_add(struct rangemap *map, uint64_t start, uint32_t value)
{
	struct rangemap_piece *last = map->npieces ? &map->pieces[map->npieces - 1] : NULL;

	if (last && last->start == start) {
		last->value = value;
		return;
	}
	if (last ? last->value == value : value == RANGEMAP_NONE)
		return;
	map->pieces[map->npieces++] = (struct rangemap_piece){start, value};
}

/* Closes the ranges that end up to there; those below become visible again. */
static size_t close_ranges(struct rangemap *map, const struct rangemap_range **open, size_t depth,
			   uint64_t upto)
{
	while (depth && open[depth - 1]->end <= upto) {
		uint64_t end = open[depth - 1]->end;

		while (depth && open[depth - 1]->end <= end)
			depth--;
		piece_add(map, end, depth ? open[depth - 1]->value : RANGEMAP_NONE);
	}
	return depth;
}

int rangemap_build(struct rangemap *map)
{
	const struct rangemap_range **open;
	struct rangemap_piece *less;
	size_t depth = 0;

	if (!map->nranges)
		return 0;
	open = calloc(map->nranges, sizeof(struct rangemap_range *));
	map->pieces = calloc(2 * map->nranges, sizeof(*map->pieces));
	if (!open || !map->pieces) {
		free(open);
		return -ENOMEM;
	}
	ranges_sort(map);
	for (size_t i = 0; i < map->nranges; i++) {
		const struct rangemap_range *range = &map->ranges[i];

		depth = close_ranges(map, open, depth, range->start);
		piece_add(map, range->start, range->value);
		open[depth++] = range;
	}
	close_ranges(map, open, depth, UINT64_MAX);
	free(open);
	free(map->ranges);
	map->ranges = NULL;
	map->nranges = map->room = 0;
	less = reallocarray(map->pieces, map->npieces, sizeof(*less));
	if (less)
		map->pieces = less;
	return 0;
}

void rangemap_free(struct rangemap *map)
{
	free(map->ranges);
	free(map->pieces);
	*map = (struct rangemap){0};
}

uint32_t rangemap_find(const struct rangemap *map, uint64_t address)
{
	size_t low = SEARCH(map->npieces, i, map->pieces[i].start <= address);

	return low ? map->pieces[low - 1].value : RANGEMAP_NONE;
}

size_t rangemap_bytes(const struct rangemap *map)
{
	return map->room * sizeof(*map->ranges) + map->npieces * sizeof(*map->pieces);
}
