// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables in shards that are full of holes, made on purpose: what is said to fit does, cut in pieces
 * or not, and says afterwards of each byte what it said before. Nothing of it runs in the kernel.
 * Covers: bpf/tracker/evict.c bpf/tracker/garbage.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/tracker/evict.h"
#include "bpf/tracker/tracker_priv.h"
#include "unwind/shards.h"
#include "unwind/row.h"
#include "unwind/table.h"

#define SHARDS	   3u
#define OBJECTS	   900u
#define SPAN_START 0x10000000ull

struct world {
	struct tracker tracker;
	uint32_t *shards[SHARDS];
	struct object objects[OBJECTS];
	uint64_t free; /* words */
	uint64_t seed;
};

static int create(void *arg, unsigned int i)
{
	struct world *w = arg;

	w->shards[i] = calloc(SHARD_WORDS, sizeof(uint32_t));
	return w->shards[i] ? 0 : -ENOMEM;
}

static void destroy(void *arg, unsigned int i)
{
	struct world *w = arg;

	free(w->shards[i]);
	w->shards[i] = NULL;
}

static int write_words(void *arg, unsigned int i, uint32_t at, const uint32_t *words,
		       uint32_t count)
{
	struct world *w = arg;

	memcpy(w->shards[i] + at, words, count * sizeof(*words));
	return 0;
}

static const struct shards_ops ops = {create, destroy, write_words, false};

static uint32_t random_below(struct world *w, uint32_t n)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return (uint32_t)(w->seed >> 11) % n;
}

static struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->seed = 88172645463325252;
	w->tracker.shards = shards_new(SHARDS, &ops, w);
	assert_non_null(w->tracker.shards);
	tracker_connect(&w->tracker);
	pthread_cond_init(&w->tracker.builders.wake, NULL);
	for (unsigned int i = 0; i < OBJECTS; i++) {
		struct object *o = &w->objects[i];

		o->key.inode = i + 1;
		o->refs = 1;
		o->id = i + 1;
		HASH_ADD(hh, w->tracker.objects.all, id, sizeof(o->id), o);
	}
	return w;
}

/* As when all running programs have left. */
static void flush(struct world *w)
{
	struct garbage *g = &w->tracker.garbage;

	for (size_t i = 0; i < g->n; i++)
		shards_remove(g->blocks[i].from, g->blocks[i].word);
	g->n = 0;
}

static void world_free(struct world *w)
{
	for (unsigned int i = 0; i < OBJECTS; i++)
		object_drop_spans(&w->tracker.objects, &w->objects[i]);
	flush(w);
	for (unsigned int i = 0; i < SHARDS; i++)
		assert_null(w->shards[i]);
	HASH_CLEAR(hh, w->tracker.objects.all);
	shards_free(w->tracker.shards);
	pthread_cond_destroy(&w->tracker.builders.wake);
	free(w->tracker.garbage.blocks);
	free(w);
}

/*
 * One row in each granule, at a byte and with a rule that follow from its number: so a table of any
 * size can be made and checked without keeping it.
 */
static uint32_t row_of(uint32_t object, uint64_t granule)
{
	return ROW_WORD(granule ? granule * 37 % GRANULE_SIZE : 0,
			1 + (object * 7919u + granule * 31) % 0xffff);
}

static struct unwind_table *table_make(uint32_t object, uint32_t nspans, uint32_t ngranules)
{
	struct unwind_table *table = calloc(1, sizeof(*table));

	assert_non_null(table);
	table->words = malloc(2 * (size_t)nspans * ngranules * sizeof(uint32_t));
	table->spans = calloc(nspans, sizeof(*table->spans));
	assert_true(table->words && table->spans);
	table->nspans = nspans;
	for (uint32_t s = 0; s < nspans; s++) {
		uint32_t *words = table->words + table->nwords;

		table->spans[s] = (struct unwind_span){
			.start = SPAN_START * (s + 1),
			.end = SPAN_START * (s + 1) + (uint64_t)ngranules * GRANULE_SIZE,
			.first = table->nwords,
			.nwords = 2 * ngranules,
			.ngranules = ngranules,
		};
		for (uint32_t g = 0; g < ngranules; g++) {
			words[g] = INDEX_WORD(g, 1);
			words[ngranules + g] = row_of(object, g);
		}
		table->nwords += 2 * ngranules;
	}
	return table;
}

/* The rule of each granule's first and last byte, as the walk would find it. */
static void check_placed(const struct world *w, uint32_t object, uint32_t nspans,
			 uint32_t ngranules)
{
	const struct object *o = &w->objects[object];
	uint64_t next = 0;

	for (uint32_t i = 0; i < o->nspans; i++) {
		const struct placed_span *s = &o->spans[i];
		const uint32_t *words = w->shards[s->word >> SHARD_SHIFT] + (s->word & SHARD_MASK);

		if (!next || next % SPAN_START == (uint64_t)ngranules * GRANULE_SIZE)
			next = (next / SPAN_START + 1) * SPAN_START;
		assert_int_equal(s->start, next);
		next = s->end;
		assert_int_equal((s->word & SHARD_MASK) + s->nwords <= SHARD_WORDS, 1);
		for (uint32_t g = 0; g < s->ngranules; g++) {
			uint64_t number = (s->start % SPAN_START) / GRANULE_SIZE + g;
			uint32_t own = row_of(object, number), before = own;
			const uint32_t *rows = words + s->ngranules + INDEX_FIRST(words[g]);

			if (ROW_OFFSET(own))
				before = row_of(object, number - 1);
			if (INDEX_ROWS(words[g]) && !ROW_OFFSET(rows[0]))
				assert_int_equal(ROW_RULE(rows[0]), ROW_RULE(before));
			else
				assert_int_equal(ROW_RULE(rows[-1]), ROW_RULE(before));
			assert_int_equal(ROW_RULE(rows[INDEX_ROWS(words[g]) - 1]), ROW_RULE(own));
		}
	}
	assert_int_equal(next, nspans * SPAN_START + (uint64_t)ngranules * GRANULE_SIZE);
}

static int place(struct world *w, uint32_t object, uint32_t nspans, uint32_t ngranules)
{
	struct unwind_table *table = table_make(object, nspans, ngranules);
	int err = placement_add(&w->tracker.objects, &w->objects[object], table);

	unwind_table_free(table);
	if (!err)
		check_placed(w, object, nspans, ngranules);
	return err;
}

static bool fits(struct world *w, enum evict_extent when, uint64_t nwords)
{
	struct shards_room room;

	assert_int_equal(evict_measure(&w->tracker.evictor, when, &room), 0);
	return placement_fits(&room, nwords);
}

/* Every second of many tables goes: much room, and no gap that would take a block of the next. */
static void test_holes(void **state)
{
	const uint32_t granules = 5000, nspans = 4, large = 60000;
	struct world *w = world_new();
	uint64_t words = 0;
	uint32_t n = 0;

	(void)state;
	while (n < OBJECTS - 1 && !place(w, n, 1, granules))
		n++;
	assert_in_range(n, SHARDS * SHARD_WORDS / (2 * granules) * 9 / 10, OBJECTS - 2);
	assert_false(fits(w, EVICT_NONE, 2ull * nspans * large));
	for (uint32_t i = 0; i < n; i += 2)
		object_drop_spans(&w->tracker.objects, &w->objects[i]);
	/* It is room, but not before running programs have left. */
	assert_false(fits(w, EVICT_NONE, 2ull * nspans * large));
	assert_true(fits(w, EVICT_UNUSED, 2ull * nspans * large));
	flush(w);
	assert_true(fits(w, EVICT_NONE, 2ull * nspans * large));
	assert_int_equal(place(w, OBJECTS - 1, nspans, large), 0);
	assert_true(w->objects[OBJECTS - 1].nspans > nspans);
	for (uint32_t i = 1; i < n; i += 2)
		check_placed(w, i, 1, granules);
	/* What does not fit leaves nothing. */
	assert_false(fits(w, EVICT_NONE, SHARDS * (uint64_t)SHARD_WORDS / 2));
	assert_int_equal(place(w, 0, 16, large), -ENOSPC);
	assert_int_equal(w->objects[0].nspans, 0);
	flush(w);
	for (uint32_t i = 0; i < OBJECTS; i++)
		words += w->objects[i].nwords;
	assert_int_equal(words, shards_used(w->tracker.shards, NULL));
	world_free(w);
}

/* Many small ones whose gaps are too small for a piece: they are no room for a large one. */
static void test_crumbs(void **state)
{
	const uint32_t granules = BLOCK_PIECE_MIN / 2 - 8;
	struct world *w = world_new();
	uint32_t n = 0;

	(void)state;
	while (n < OBJECTS - 1 && !place(w, n, 1, granules))
		n++;
	assert_in_range(n, 700, OBJECTS - 2);
	for (uint32_t i = 0; i < n; i += 2)
		object_drop_spans(&w->tracker.objects, &w->objects[i]);
	flush(w);
	assert_false(fits(w, EVICT_NONE, 10ull * BLOCK_PIECE_MIN));
	assert_int_equal(place(w, OBJECTS - 1, 1, 5 * BLOCK_PIECE_MIN), -ENOSPC);
	assert_true(fits(w, EVICT_NONE, 2ull * granules));
	assert_int_equal(place(w, 0, 1, granules), 0);
	world_free(w);
}

/* Whenever something is said to fit, it does. */
static void test_promise(void **state)
{
	struct world *w = world_new();
	uint32_t nspans[OBJECTS], granules[OBJECTS];
	unsigned int fitted = 0, refused = 0, cut = 0;

	(void)state;
	for (int turn = 0; turn < 6000; turn++) {
		uint32_t i = random_below(w, OBJECTS), size = random_below(w, 4);
		struct object *o = &w->objects[i];

		if (o->nspans) {
			check_placed(w, i, nspans[i], granules[i]);
			object_drop_spans(&w->tracker.objects, o);
			if (random_below(w, 2))
				flush(w);
			continue;
		}
		nspans[i] = 1 + random_below(w, size == 3 ? 30 : 3);
		granules[i] = 1 + random_below(w, size == 0 ? 60000 : size == 1 ? 9000 : 300);
		if (fits(w, EVICT_NONE, 2ull * nspans[i] * granules[i])) {
			assert_int_equal(place(w, i, nspans[i], granules[i]), 0);
			fitted++;
			cut += o->nspans > nspans[i];
		} else {
			refused++;
		}
	}
	print_message("%u fitted, %u of them cut; %u refused\n", fitted, cut, refused);
	assert_true(fitted > 1000 && cut > 50 && refused > 100);
	world_free(w);
}

/* Whose room counts when. */
static void test_when(void **state)
{
	struct world *w = world_new();
	struct tracker *t = &w->tracker;
	uint64_t all = SHARDS * (uint64_t)SHARD_WORDS - SHARDS * BLOCK_PIECE_MIN;

	(void)state;
	assert_true(fits(w, EVICT_NONE, all) && placement_fits_empty(t->shards, all));
	assert_true(placement_fits_empty(t->shards, SHARD_WORDS));
	assert_false(placement_fits_empty(t->shards, all + 1));
	for (uint32_t i = 0; i < SHARDS; i++)
		assert_int_equal(place(w, i, 1, SHARD_WORDS / 2), 0);
	for (uint32_t i = 0; i < SHARDS; i++)
		w->objects[i].placed = w->objects[i].sampled = clock_now();
	assert_false(fits(w, EVICT_NONE, 1));
	assert_false(fits(w, EVICT_FOR_SAMPLED, 1));
	assert_true(fits(w, EVICT_NOT_PINNED, all));
	w->objects[0].pinned = true;
	assert_true(fits(w, EVICT_NOT_PINNED, SHARD_WORDS));
	assert_false(fits(w, EVICT_NOT_PINNED, all));
	/* Not sampled for long: gives way, but only to what is. */
	w->objects[0].sampled = w->objects[1].sampled = 0;
	assert_true(fits(w, EVICT_FOR_SAMPLED, SHARD_WORDS));
	assert_false(fits(w, EVICT_FOR_SAMPLED, SHARD_WORDS + 1));
	assert_false(fits(w, EVICT_UNUSED, 1));
	w->objects[2].refs = 0;
	assert_true(fits(w, EVICT_UNUSED, SHARD_WORDS));
	w->objects[2].in_queue = true;
	assert_false(fits(w, EVICT_UNUSED, 1));
	assert_int_equal(shards_used(t->shards, NULL), SHARDS * SHARD_WORDS);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_crumbs),
		cmocka_unit_test(test_promise),
		cmocka_unit_test(test_when),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
