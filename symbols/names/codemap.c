/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces come in the order of time and are wanted in the order of addresses. They are collected,
 * and the next lookup lays them over the known ones, by a merge of two sorted, disjoint lists in
 * which one has priority. The new pieces themselves are merged pairwise in the same way, younger
 * over older. So n pieces in any order cost n log n, also in a hostile file. The same merges show
 * which piece covers one with another name.
 */
#include "symbols/names/codemap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/hash.h"
#include "symbols/base/search.h"
#include "symbols/names/demangle.h"
#include "symbols/base/text.h"

#define HASH_ENTRY_BYTES 16u /* of the table of indexes itself, about */
#define SLOTS_MIN	 64u
#define FRESH_MIN	 64u
#define FRESH_EACH	 16u	/* room for a fresh piece is kept for each so many shown */
#define FRESH_MAX	 65536u /* merging them takes four times their size */

struct codemap_name {
	uint32_t hash;
	bool used; /* of the sweep */
	char text[];
};

struct codemap_piece {
	uint64_t start;
	uint64_t end;
	struct codemap_name *name; /* NULL: there was no room for it */
	uint64_t rewritten;	   /* see codemap_rewritten */
};

struct codemap_indexed {
	uint64_t index;
	struct codemap_name *name;
	bool hashed;
	UT_hash_handle hh;
};

struct codemap {
	struct codemap_name **names; /* each once: a function is compiled again and again */
	size_t nnames, nslots;	     /* a slot is the first free one from a name's hash on */
	struct codemap_indexed *indexed;
	struct codemap_piece *shown; /* ascending, disjoint */
	size_t nshown;
	struct codemap_piece *fresh; /* in the order of arrival */
	size_t nfresh, fresh_room;
	size_t names_bytes;
	size_t max_bytes;
	size_t sweep_at; /* no sweep before so many bytes */
	uint64_t round;
	uint64_t cleared, rewritten; /* the last rounds in which that happened */
	bool blind;		     /* code was added without a place: nothing is certain */
};

struct codemap *codemap_new(size_t max_bytes)
{
	struct codemap *map = calloc(1, sizeof(*map));

	if (map)
		map->max_bytes = map->sweep_at = max_bytes;
	return map;
}

void codemap_clear(struct codemap *map)
{
	struct codemap_indexed *at = map->indexed, *next;

	/* The items keep their order when the table is freed. */
	HASH_CLEAR(hh, map->indexed);
	for (; at; at = next) {
		next = at->hh.next;
		free(at);
	}
	for (size_t i = 0; i < map->nslots; i++)
		free(map->names[i]);
	free(map->names);
	free(map->shown);
	free(map->fresh);
	*map = (struct codemap){.max_bytes = map->max_bytes,
				.sweep_at = map->max_bytes,
				.round = map->round,
				.cleared = map->round,
				.rewritten = map->round};
}

void codemap_free(struct codemap *map)
{
	if (!map)
		return;
	codemap_clear(map);
	free(map);
}

size_t codemap_bytes(const struct codemap *map)
{
	return sizeof(*map) + map->names_bytes + map->nslots * sizeof(struct codemap_name *) +
	       (map->nshown + map->fresh_room) * sizeof(struct codemap_piece);
}

/* --- pieces ---------------------------------------------------------------------------------- */

/* A piece is laid over another one. */
static void cover(struct codemap *map, const struct codemap_piece *low, struct codemap_piece *high)
{
	if (low->rewritten > high->rewritten)
		high->rewritten = low->rewritten;
	if (low->name == high->name || !map->round)
		return;
	high->rewritten = map->rewritten = map->round;
}

/*
 * Both lists are ascending and disjoint, and so is the result, of at most nlow + 2 * nhigh pieces.
 */
static size_t overlay(struct codemap *map, const struct codemap_piece *low, size_t nlow,
		      struct codemap_piece *high, size_t nhigh, struct codemap_piece *to)
{
	struct codemap_piece rest = {0}; /* what is left of low[i] */
	size_t n = 0, i = 0, j;

	if (nlow)
		rest = low[0];
	for (j = 0; j < nhigh; j++) {
		while (i < nlow && rest.start < high[j].end) {
			if (rest.start < high[j].start) {
				to[n] = rest;
				if (rest.end > high[j].start)
					to[n].end = high[j].start;
				n++;
			}
			if (rest.end > high[j].start)
				cover(map, &rest, &high[j]);
			if (rest.end > high[j].end) {
				rest.start = high[j].end;
				break;
			}
			if (++i < nlow)
				rest = low[i];
		}
		to[n++] = high[j];
	}
	while (i < nlow) {
		to[n++] = rest;
		if (++i < nlow)
			rest = low[i];
	}
	return n;
}

/*
 * The fresh pieces as a list, in one of the two scratch lists of 2 * nfresh each: n pieces cut the
 * address space at 2n places at most. bounds has room for nfresh + 1.
 */
static struct codemap_piece *sort_fresh(struct codemap *map, struct codemap_piece *from,
					struct codemap_piece *to, size_t *bounds, size_t *count)
{
	size_t nruns = 0, n, i, runs;
	struct codemap_piece *swap;

	memcpy(from, map->fresh, map->nfresh * sizeof(*from));
	bounds[0] = 0;
	for (i = 1; i <= map->nfresh; i++)
		if (i == map->nfresh || from[i].start < from[i - 1].end)
			bounds[++nruns] = i;
	while (nruns > 1) {
		n = 0;
		runs = 0;
		for (i = 0; i + 1 < nruns; i += 2) {
			size_t low = bounds[i], high = bounds[i + 1], end = bounds[i + 2];

			bounds[runs++] = n;
			n += overlay(map, from + low, high - low, from + high, end - high, to + n);
		}
		if (i < nruns) {
			size_t left = bounds[i + 1] - bounds[i];

			memcpy(to + n, from + bounds[i], left * sizeof(*to));
			bounds[runs++] = n;
			n += left;
		}
		bounds[runs] = n;
		nruns = runs;
		swap = from;
		from = to;
		to = swap;
	}
	*count = bounds[1];
	return from;
}

/* Lays the fresh pieces over the shown ones. -ENOMEM: they stay fresh. */
static int settle(struct codemap *map)
{
	size_t n = map->nfresh, count;
	struct codemap_piece *a, *b, *sorted, *shown = NULL;
	size_t *bounds;

	if (!n)
		return 0;
	a = malloc(2 * n * sizeof(*a));
	b = malloc(2 * n * sizeof(*b));
	bounds = malloc((n + 1) * sizeof(*bounds));
	if (a && b && bounds) {
		sorted = sort_fresh(map, a, b, bounds, &count);
		shown = malloc((map->nshown + 2 * count) * sizeof(*shown));
		if (shown)
			count = overlay(map, map->shown, map->nshown, sorted, count, shown);
	}
	free(a);
	free(b);
	free(bounds);
	if (!shown)
		return -ENOMEM;
	free(map->shown);
	map->shown = shown;
	map->nshown = count;
	/* realloc(shown, 0) would free it. */
	shown = count ? realloc(shown, count * sizeof(*shown)) : NULL;
	if (shown)
		map->shown = shown;
	free(map->fresh);
	map->fresh = NULL;
	map->nfresh = map->fresh_room = 0;
	return 0;
}

void codemap_set_round(struct codemap *map, uint64_t round)
{
	/* Without memory, fresh pieces count as of the new round. */
	if (round != map->round)
		settle(map);
	map->round = round;
}

static const struct codemap_piece *code_at(struct codemap *map, uint64_t addr)
{
	size_t low;

	/* Without memory, only what was known before is found. */
	settle(map);
	low = SEARCH(map->nshown, i, map->shown[i].end <= addr);
	return low < map->nshown && map->shown[low].start <= addr ? &map->shown[low] : NULL;
}

const char *codemap_find(struct codemap *map, uint64_t addr)
{
	const struct codemap_piece *code = map->blind ? NULL : code_at(map, addr);

	return code && code->name ? code->name->text : NULL;
}

const char *codemap_extent(struct codemap *map, uint64_t addr, uint64_t *start, uint64_t *end)
{
	const struct codemap_piece *code = map->blind ? NULL : code_at(map, addr);

	if (!code || !code->name)
		return NULL;
	*start = code->start;
	*end = code->end;
	return code->name->text;
}

uint64_t codemap_rewritten(struct codemap *map, uint64_t addr)
{
	const struct codemap_piece *code = code_at(map, addr);

	return code ? code->rewritten : 0;
}

uint64_t codemap_last_rewritten(const struct codemap *map)
{
	return map->rewritten;
}

bool codemap_was_cleared(const struct codemap *map)
{
	return map->cleared != 0;
}

/* --- the table of names ---------------------------------------------------------------------- */

/* The slot of the name, or the free one where it belongs. */
static struct codemap_name **slot_of(const struct codemap *map, uint32_t hash, const char *text)
{
	size_t i = hash & (map->nslots - 1);

	while (map->names[i] && (map->names[i]->hash != hash || strcmp(map->names[i]->text, text)))
		i = (i + 1) & (map->nslots - 1);
	return &map->names[i];
}

static size_t name_bytes(const char *text)
{
	return sizeof(struct codemap_name) + strlen(text) + 1;
}

/* Puts the names into a table of so many slots, a power of two: all, or those in use. */
static int names_move(struct codemap *map, size_t nslots, bool all)
{
	struct codemap_name **before = map->names,
			    **names = calloc(nslots, sizeof(struct codemap_name *));
	const size_t n = map->nslots;

	if (!names)
		return -ENOMEM;
	map->names = names;
	map->nslots = nslots;
	for (size_t i = 0; i < n; i++) {
		struct codemap_name *name = before[i];

		if (name && (all || name->used)) {
			*slot_of(map, name->hash, name->text) = name;
		} else if (name) {
			map->names_bytes -= name_bytes(name->text);
			map->nnames--;
			free(name);
		}
	}
	free(before);
	return 0;
}

/* --- memory ---------------------------------------------------------------------------------- */

/* Forgets names that no shown piece has, and indexes of pieces that are gone. */
static void sweep(struct codemap *map)
{
	struct codemap_indexed *at, *next_at;
	size_t i;

	if (settle(map))
		return;
	for (i = 0; i < map->nslots; i++)
		if (map->names[i])
			map->names[i]->used = false;
	for (i = 0; i < map->nshown; i++)
		if (map->shown[i].name)
			map->shown[i].name->used = true;
	/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the tables are freed, not the items */
	HASH_ITER(hh, map->indexed, at, next_at) {
		if (at->name->used)
			continue;
		map->names_bytes -= sizeof(*at) + HASH_ENTRY_BYTES;
		HASH_DEL(map->indexed, at);
		free(at);
	}
	/* NOLINTEND(clang-analyzer-unix.Malloc) */
	if (map->nslots && names_move(map, map->nslots, false))
		return;
	/* So that many sweeps that find little cannot take all the time. */
	map->sweep_at = codemap_bytes(map) + map->max_bytes / 8;
}

/* True if there is room for so many bytes more. */
static bool make_room(struct codemap *map, size_t bytes)
{
	if (codemap_bytes(map) + bytes <= map->max_bytes)
		return true;
	if (codemap_bytes(map) + bytes >= map->sweep_at)
		sweep(map);
	return codemap_bytes(map) + bytes <= map->max_bytes;
}

/* --- names ----------------------------------------------------------------------------------- */

/* Into to, of CODEMAP_NAME_MAX + 1 bytes. */
static int name_text(char *to, const char *name, size_t length)
{
	char raw[CODEMAP_NAME_MAX + 1], *plain;

	if (length > CODEMAP_NAME_MAX)
		length = CODEMAP_NAME_MAX;
	if (length < 2 || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R')) {
		text_clean(to, CODEMAP_NAME_MAX + 1, name, length);
		return 0;
	}
	snprintf(raw, sizeof(raw), "%.*s", (int)length, name);
	plain = demangle(raw);
	if (!plain)
		return -ENOMEM;
	text_clean(to, CODEMAP_NAME_MAX + 1, plain, strlen(plain));
	free(plain);
	return 0;
}

static int name_get(struct codemap *map, const char *from, size_t length, struct codemap_name **out)
{
	char text[CODEMAP_NAME_MAX + 1];
	struct codemap_name *name;
	size_t more = 0;
	uint32_t hash;
	int err = name_text(text, from, length);

	if (err)
		return err;
	length = strlen(text);
	hash = keyhash(text, length);
	*out = map->nslots ? *slot_of(map, hash, text) : NULL;
	if (*out)
		return 0;
	/* Twice the slots that there are, if three quarters of these are used. */
	if (map->nnames >= map->nslots / 4 * 3)
		more = map->nslots ? map->nslots : SLOTS_MIN;
	if (!make_room(map, name_bytes(text) + sizeof(struct codemap_piece) +
				    more * sizeof(struct codemap_name *)))
		return -ENOSPC;
	name = malloc(name_bytes(text));
	if (!name || (more && names_move(map, map->nslots + more, true))) {
		free(name);
		return -ENOMEM;
	}
	name->hash = hash;
	memcpy(name->text, text, length + 1);
	*slot_of(map, hash, text) = name;
	map->nnames++;
	map->names_bytes += name_bytes(text);
	*out = name;
	return 0;
}

static int index_set(struct codemap *map, uint64_t index, struct codemap_name *name)
{
	struct codemap_indexed *at;

	if (index == CODEMAP_NO_INDEX)
		return 0;
	HASH_FIND(hh, map->indexed, &index, sizeof(index), at);
	if (at) {
		at->name = name;
		return 0;
	}
	at = malloc(sizeof(*at));
	if (!at)
		return -ENOMEM;
	*at = (struct codemap_indexed){.index = index, .name = name, .hashed = true};
	HASH_ADD(hh, map->indexed, index, sizeof(at->index), at);
	if (!at->hashed) {
		free(at);
		return -ENOMEM;
	}
	map->names_bytes += sizeof(*at) + HASH_ENTRY_BYTES;
	return 0;
}

/*
 * Bytes to keep for fresh pieces. Each merge takes time for all shown pieces, so merging a few at a
 * time would make each line of a nearly full map cost as much as the map holds.
 */
static size_t fresh_bytes(const struct codemap *map)
{
	size_t least = map->nshown / FRESH_EACH;

	if (least > FRESH_MAX)
		least = FRESH_MAX;
	least = least > map->fresh_room ? least - map->fresh_room : 0;
	return (FRESH_MIN + least) * sizeof(struct codemap_piece);
}

static int fresh_add(struct codemap *map, uint64_t start, uint64_t size, struct codemap_name *name)
{
	if (map->nfresh == map->fresh_room && map->nfresh &&
	    (map->nfresh >= FRESH_MAX ||
	     codemap_bytes(map) + map->nfresh * sizeof(*map->fresh) > map->max_bytes) &&
	    settle(map))
		return -ENOMEM;
	if (GROW(map->fresh, map->nfresh, map->fresh_room, SIZE_MAX))
		return -ENOMEM;
	map->fresh[map->nfresh] = (struct codemap_piece){start, start + size, name, 0};
	if (map->cleared && map->round && map->round <= map->cleared + 1)
		map->fresh[map->nfresh].rewritten = map->rewritten = map->round;
	map->nfresh++;
	return 0;
}

/*
 * There is no room for the name of the code that is there now; the name of the old code would be
 * wrong.
 */
static void hide(struct codemap *map, uint64_t start, uint64_t size)
{
	if (codemap_bytes(map) > map->max_bytes + map->max_bytes / 4 ||
	    fresh_add(map, start, size, NULL))
		map->blind = true;
}

int codemap_add(struct codemap *map, uint64_t index, uint64_t start, uint64_t size,
		const char *text, size_t length)
{
	struct codemap_name *name;
	int err;

	if (!size || start + size < start)
		return 0;
	/* Done here, because a sweep would drop a name that no piece shows yet. */
	err = make_room(map, fresh_bytes(map) + sizeof(struct codemap_indexed)) ? 0 : -ENOSPC;
	if (!err)
		err = name_get(map, text, length, &name);
	if (!err)
		err = fresh_add(map, start, size, name);
	if (err)
		hide(map, start, size);
	return err ? err : index_set(map, index, name);
}

int codemap_move(struct codemap *map, uint64_t index, uint64_t start, uint64_t size)
{
	struct codemap_indexed *at;

	if (!size || start + size < start)
		return 0;
	if (!make_room(map, fresh_bytes(map))) {
		hide(map, start, size);
		return -ENOSPC;
	}
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the sweep frees others */
	HASH_FIND(hh, map->indexed, &index, sizeof(index), at);
	if (at)
		return fresh_add(map, start, size, at->name);
	hide(map, start, size); /* what was there is unknown */
	return -ENOENT;
}
