// SPDX-License-Identifier: GPL-2.0-or-later
/* See bareset.h. */
#include "bpf/tracker/bareset.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/prog/layout.h"

#define WAYS	   16u /* places of one hash */
#define SURE	   4u  /* times, after which there may be more to say */
#define WRONG	   3u  /* readings: while one is on its way, the rows of the last are wrong still */
#define LONG_AGO   64u /* readings, after which other code may have been put there */
#define TIMES_MAX  64u
#define GAP_MAX	   (4u << 20)
#define PLACES_MIN 6u
#define TIMES_MIN  24u
#define SHARE_MIN  16u /* 1/n of the places at least; functions have frames of all sizes */

static uint32_t nearest(uint64_t words)
{
	return words ? (uint32_t)__builtin_ctzll(words) : 64;
}

/*
 * The nearest word is usually the same each time; a stale one, left by an earlier call, is rare. If
 * another word is seen half as often, other code has been put there.
 */
static void see_again(struct bare_seen *s, const struct bare_place *place, uint32_t readings)
{
	if (place->pc & BARE_STALE && s->read != readings) {
		if (readings - s->read > LONG_AGO)
			s->stale = 0;
		s->stale += s->stale < WRONG;
		s->read = readings;
	}
	if (s->times == TIMES_MAX) { /* what was long ago counts less */
		s->times /= 2;
		s->others /= 2;
	}
	if (nearest(place->words) != nearest(s->words)) {
		s->others++;
		if (2 * s->others <= s->times)
			return;
		s->times = s->others = 0;
	}
	s->times += s->times < TIMES_MAX;
	s->words = place->words;
	s->ra = place->ra;
}

bool bareset_add(struct bareset *set, const struct bare_place *place)
{
	const uint64_t key = place->pc & ~BARE_STALE;
	struct bare_seen *ways =
		set->seen + (key * 0x9e3779b97f4a7c15ull >> 32) % (CODE_BARE_MAX / WAYS) * WAYS;
	bool fresh;

	for (uint32_t i = 0; i < WAYS; i++)
		if (ways[i].place == key) {
			see_again(&ways[i], place, set->readings);
			fresh = place->pc & BARE_STALE ||
				(ways[i].words && !(ways[i].times % SURE));
			ways[i].fresh |= fresh;
			return fresh;
		}
	memmove(ways + 1, ways, (WAYS - 1) * sizeof(*ways));
	ways[0] = (struct bare_seen){
		.place = key, .words = place->words, .ra = place->ra, .times = 1, .fresh = 1};
	return true;
}

static uint32_t write_places(struct bareset *set, bool all, uint64_t *to)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < CODE_BARE_MAX; i++) {
		struct bare_seen *s = &set->seen[i];
		const bool wrong = s->stale == WRONG && set->readings - s->read <= LONG_AGO;

		if (s->place && (all || s->fresh))
			to[n++] = s->place | (wrong ? BARE_STALE : 0);
		s->fresh = 0;
	}
	return n;
}

uint32_t bareset_places(struct bareset *set, uint64_t *to)
{
	return write_places(set, true, to);
}

uint32_t bareset_fresh(struct bareset *set, uint64_t *to)
{
	return write_places(set, false, to);
}

/* --- code in one frame ----------------------------------------------------------------------- */

static uint64_t addr_of(const struct bare_seen *s)
{
	return (s->place & ~BARE_EXACT) - (s->place & BARE_EXACT ? 0 : 1);
}

static int compare_seen(const void *left, const void *right)
{
	struct bare_seen *const *a = left, *const *b = right;
	const uint64_t x = addr_of(*a), y = addr_of(*b);

	return x < y ? -1 : x > y;
}

/* Places near each other, by their nearest word. */
struct frames {
	uint32_t places[64], times[64];
	uint32_t all; /* places */
};

/* The end of the places from `from` on that have no large gap between them. */
static uint32_t count_frames(struct bare_seen *const *all, uint32_t n, uint32_t from,
			     struct frames *f)
{
	uint32_t i = from;

	*f = (struct frames){0};
	do {
		f->all++;
		if (all[i]->words) {
			f->places[nearest(all[i]->words)]++;
			f->times[nearest(all[i]->words)] += all[i]->times;
		}
		i++;
	} while (i < n && addr_of(all[i]) - addr_of(all[i - 1]) <= GAP_MAX);
	return i;
}

/* The return addresses of n places, each once, as long as there is room. */
static void add_callers(struct bare_seen *const *places, uint32_t n, struct code_constant *to)
{
	uint32_t count = 0, k;

	for (uint32_t i = 0; i < n && count < CODE_CALLERS_MAX; i++) {
		for (k = 0; k < count && to->ras[k] != places[i]->ra;)
			k++;
		if (k == count)
			to->ras[count++] = places[i]->ra;
	}
}

/* Where many places agree, the code between those that do is in that frame, too. */
static uint32_t add_constants(struct bare_seen *const *all, uint32_t n, struct code_constant *to,
			      uint32_t count, uint32_t room)
{
	struct frames f;
	uint32_t end, next;

	for (uint32_t i = 0; i < n && count < room; i = end) {
		end = count_frames(all, n, i, &f);
		for (uint32_t k = i; k < end && count < room; k = next) {
			const uint64_t words = all[k]->words;
			const uint32_t word = words ? nearest(all[k]->words) : 0;

			for (next = k + 1;
			     next < end && all[next]->words && nearest(all[next]->words) == word;)
				next++;
			if (words && f.places[word] >= PLACES_MIN && f.times[word] >= TIMES_MIN &&
			    f.places[word] * SHARE_MIN >= f.all) {
				to[count] =
					(struct code_constant){.start = addr_of(all[k]),
							       .end = addr_of(all[next - 1]) + 1,
							       .word = word};
				add_callers(all + k, next - k, &to[count++]);
			}
		}
	}
	return count;
}

uint32_t bareset_constants(struct bareset *set, struct code_constant *to)
{
	struct bare_seen **all = calloc(CODE_BARE_MAX, sizeof(struct bare_seen *));
	uint32_t n = 0, count;

	for (uint32_t i = 0; all && i < CODE_BARE_MAX; i++)
		if (set->seen[i].place)
			all[n++] = &set->seen[i];
	if (n)
		qsort(all, n, sizeof(struct bare_seen *), compare_seen);
	count = add_constants(all, n, to, 0, CODE_CONSTANTS_MAX);
	free(all);
	return count;
}
