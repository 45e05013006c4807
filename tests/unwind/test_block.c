// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lookups in pieces of a block, compared with lookups of each byte in the whole block.
 * Covers: unwind/shards.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/shards.h"
#include "unwind/row.h"

#define GRANULES_MAX 400u

struct made {
	uint32_t words[GRANULES_MAX * (1 + INDEX_ROWS_MAX)];
	struct block block;
	uint32_t truth[GRANULES_MAX * GRANULE_SIZE]; /* rule of each byte */
};

static uint64_t seed = 88172645463325252;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 11) % n;
}

/* percent: the bytes, of a granule with rows, at which a row begins; 100: all but the first. */
static void make(struct made *m, uint32_t ngranules, uint32_t percent)
{
	uint32_t *rows = m->words + ngranules, nrows = 0, rule = 0, first;

	for (uint32_t g = 0; g < ngranules; g++) {
		const uint32_t share = percent == 100 || random_below(3) ? percent : 0;

		first = nrows;
		for (uint32_t at = 0; at < GRANULE_SIZE; at++) {
			if ((!g && !at) ||
			    (random_below(100) < share && nrows - first < INDEX_ROWS_MAX &&
			     (percent < 100 || at))) {
				rule = 1 + random_below(0xfffff);
				rows[nrows++] = ROW_WORD(at, rule);
			}
			m->truth[g * GRANULE_SIZE + at] = rule;
		}
		m->words[g] = INDEX_WORD(first, nrows - first);
	}
	m->block = (struct block){m->words, ngranules, ngranules + nrows};
}

/* The rule of a byte by the text of unwind/row.h, one row after the other. */
static uint32_t rule_at(const uint32_t *words, uint32_t ngranules, uint32_t byte)
{
	const uint32_t word = words[byte / GRANULE_SIZE], *rows = words + ngranules;
	int64_t at = (int64_t)INDEX_FIRST(word) - 1;

	for (uint32_t i = 0; i < INDEX_ROWS(word); i++)
		if (ROW_OFFSET(rows[INDEX_FIRST(word) + i]) <= byte % GRANULE_SIZE)
			at = (int64_t)INDEX_FIRST(word) + i;
	assert_true(at >= 0);
	return ROW_RULE(rows[at]);
}

/* Cuts with random room for each piece; returns the number of pieces, 0 if it cannot be cut. */
static unsigned int check_cuts(const struct made *m, uint32_t least, uint32_t most)
{
	uint32_t *piece = malloc((most + 1) * sizeof(*piece)), from, to, nwords;
	const struct block *b = &m->block;
	unsigned int n = 0;

	assert_non_null(piece);
	for (from = 0; from < b->ngranules; from = to) {
		uint32_t max = least + random_below(most - least + 1);

		to = block_piece_end(b, from, max, &nwords);
		if (to == from) {
			n = 0;
			break;
		}
		assert_in_range(nwords, to - from + 1, max);
		piece[nwords] = 0xdeadbeef;
		block_piece(b, from, to, piece);
		assert_int_equal(piece[nwords], 0xdeadbeef);
		assert_int_equal(ROW_OFFSET(piece[to - from]), 0);
		for (uint32_t at = from * GRANULE_SIZE; at < to * GRANULE_SIZE; at++)
			if (rule_at(piece, to - from, at - from * GRANULE_SIZE) != m->truth[at])
				fail_msg("byte %u of piece %u..%u", at, from, to);
		n++;
	}
	free(piece);
	return n;
}

static void test_pieces(void **state)
{
	static const uint32_t percents[] = {0, 1, 4, 30, 90};
	struct made *m = malloc(sizeof(*m));
	unsigned int n = 0, cuts;

	(void)state;
	assert_non_null(m);
	for (int turn = 0; turn < 200; turn++) {
		make(m, 1 + random_below(GRANULES_MAX), percents[turn % 5]);
		cuts = check_cuts(m, 2 * (GRANULE_SIZE + 1), 2000);
		assert_true(cuts > 0);
		n += cuts;
		/* With room for all, the one piece is the block. */
		assert_int_equal(check_cuts(m, m->block.nwords, m->block.nwords), 1);
	}
	assert_true(n > 500);
	free(m);
}

/* The longest piece that fits: one more granule would not. */
static void test_longest(void **state)
{
	struct made *m = malloc(sizeof(*m));
	uint32_t nwords, more, from, to;

	(void)state;
	assert_non_null(m);
	make(m, GRANULES_MAX, 4);
	for (uint32_t max = 0; max < 3000; max += 7) {
		from = random_below(GRANULES_MAX - 1);
		to = block_piece_end(&m->block, from, max, &nwords);
		if (to == from)
			assert_int_equal(nwords, 0);
		else
			assert_true(nwords <= max);
		if (to < GRANULES_MAX) {
			more = to + 1 - from;
			for (uint32_t g = from; g <= to; g++)
				more += INDEX_ROWS(m->words[g]);
			more += !INDEX_ROWS(m->words[from]) ||
				ROW_OFFSET(m->words[GRANULES_MAX + INDEX_FIRST(m->words[from])]);
			assert_true(more > max);
		}
	}
	free(m);
}

/* Granules with as many rows as possible, none at the first byte, have no place for another. */
static void test_full(void **state)
{
	struct made *m = malloc(sizeof(*m));
	uint32_t nwords;

	(void)state;
	assert_non_null(m);
	make(m, 40, 100);
	assert_int_equal(INDEX_ROWS(m->words[20]), INDEX_ROWS_MAX);
	assert_int_equal(block_piece_end(&m->block, 0, 4096, &nwords), 0);
	assert_int_equal(nwords, 0);
	assert_int_equal(check_cuts(m, m->block.nwords, m->block.nwords), 1);
	/* A granule with one row less is where it is cut. */
	m->words[10]--;
	assert_int_equal(block_piece_end(&m->block, 0, 4096, &nwords), 10);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
