/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator of the word space against a model that remembers the owner of every word.
 * Covers: unwind/shards.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/shards.h"

#define SHARDS 4u
#define BLOCKS 4096u

struct memory {
	uint32_t *shards[SHARDS];
	unsigned int created[SHARDS]; /* times */
	int fail_create;
	int fail_write;
};

static int create(void *arg, unsigned int i)
{
	struct memory *memory = arg;

	if (memory->fail_create)
		return memory->fail_create;
	assert_true(i < SHARDS);
	assert_null(memory->shards[i]);
	memory->shards[i] = calloc(SHARD_WORDS, sizeof(uint32_t));
	assert_non_null(memory->shards[i]);
	memory->created[i]++;
	return 0;
}

static void destroy(void *arg, unsigned int i)
{
	struct memory *memory = arg;

	assert_true(i < SHARDS);
	assert_non_null(memory->shards[i]);
	free(memory->shards[i]);
	memory->shards[i] = NULL;
}

static int write_words(void *arg, unsigned int i, uint32_t at, const uint32_t *words,
		       uint32_t count)
{
	struct memory *memory = arg;

	if (memory->fail_write)
		return memory->fail_write;
	assert_true(i < SHARDS && memory->shards[i]);
	assert_true(at < SHARD_WORDS && count <= SHARD_WORDS - at);
	memcpy(memory->shards[i] + at, words, count * sizeof(*words));
	return 0;
}

static const struct shards_ops ops = {create, destroy, write_words, false};
static const struct shards_ops keeping = {create, NULL, write_words, false};
static const struct shards_ops in_order = {create, NULL, write_words, true};

struct placed {
	uint32_t word;
	uint32_t count; /* 0: not in use */
	uint32_t stamp;
};

struct model {
	struct memory memory;
	struct shards *shards;
	struct placed blocks[BLOCKS];
	uint8_t *used; /* a byte per word */
	uint32_t *words;
	uint64_t total;
	uint64_t seed;
	uint32_t stamp;
};

static uint64_t next_random(struct model *m)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return m->seed;
}

static struct model *model_new(unsigned int max, const struct shards_ops *with)
{
	struct model *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->shards = shards_new(max, with, &m->memory);
	m->used = calloc(SHARDS, SHARD_WORDS);
	m->words = malloc(SHARD_BYTES);
	m->seed = 88172645463325252;
	assert_true(m->shards && m->used && m->words);
	return m;
}

static void model_free(struct model *m)
{
	shards_free(m->shards);
	for (unsigned int i = 0; i < SHARDS; i++)
		free(m->memory.shards[i]);
	free(m->used);
	free(m->words);
	free(m);
}

/* True if the bitmap has room for `count` words in one shard, or a shard was never made. */
static bool model_fits(const struct model *m, unsigned int max, uint32_t count)
{
	for (unsigned int i = 0; i < max; i++) {
		const uint8_t *used = m->used + (size_t)i * SHARD_WORDS;
		uint32_t run = 0;

		for (uint32_t at = 0; at < SHARD_WORDS; at++) {
			run = used[at] ? 0 : run + 1;
			if (run == count)
				return true;
		}
	}
	return false;
}

static int model_add(struct model *m, uint32_t count)
{
	struct placed *block = m->blocks;
	uint32_t word = 0, i;
	int err;

	while (block < m->blocks + BLOCKS && block->count)
		block++;
	assert_true(block < m->blocks + BLOCKS);
	m->stamp++;
	for (i = 0; i < count && i < SHARD_WORDS; i++)
		m->words[i] = m->stamp ^ i * 2654435761u;
	err = shards_add(m->shards, m->words, count, &word);
	if (err)
		return err;
	assert_int_equal(word >> SHARD_SHIFT, (word + count - 1) >> SHARD_SHIFT);
	assert_true(word >> SHARD_SHIFT < shards_max(m->shards));
	for (i = 0; i < count; i++) {
		if (m->used[word + i])
			fail_msg("word %u given out twice", word + i);
		m->used[word + i] = 1;
	}
	*block = (struct placed){word, count, m->stamp};
	m->total += count;
	return 0;
}

static void model_remove(struct model *m, struct placed *block)
{
	const uint32_t *words = m->memory.shards[block->word >> SHARD_SHIFT];

	assert_non_null(words);
	words += block->word & SHARD_MASK;
	for (uint32_t i = 0; i < block->count; i++)
		if (words[i] != (block->stamp ^ i * 2654435761u))
			fail_msg("block at %u was overwritten", block->word);
	shards_remove(m->shards, block->word);
	memset(m->used + block->word, 0, block->count);
	m->total -= block->count;
	block->count = 0;
}

static void model_check(struct model *m)
{
	uint32_t used[SHARDS] = {0}, blocks[SHARDS] = {0};
	unsigned int created = 0, want = 0, i;
	struct shard_info info;

	for (i = 0; i < BLOCKS; i++) {
		if (!m->blocks[i].count)
			continue;
		used[m->blocks[i].word >> SHARD_SHIFT] += m->blocks[i].count;
		blocks[m->blocks[i].word >> SHARD_SHIFT]++;
	}
	for (i = 0; i < shards_max(m->shards); i++) {
		shards_info(m->shards, i, &info);
		assert_int_equal(info.created, m->memory.shards[i] != NULL);
		assert_int_equal(info.used, used[i]);
		assert_int_equal(info.blocks, blocks[i]);
		assert_int_equal(info.generation, m->memory.created[i]);
		want += info.created;
	}
	assert_int_equal(shards_used(m->shards, &created), m->total);
	assert_int_equal(created, want);
}

static uint32_t random_count(struct model *m)
{
	switch (next_random(m) % 8) {
	case 0:
		return 1 + next_random(m) % 16;
	case 1:
		return 1 + next_random(m) % SPAN_MAX_WORDS;
	default:
		return 1 + next_random(m) % 4000;
	}
}

/* A random block in use; there must be one. */
static struct placed *next_block(struct model *m)
{
	size_t i = next_random(m) % BLOCKS;

	while (!m->blocks[i].count)
		i = (i + 1) % BLOCKS;
	return &m->blocks[i];
}

static void test_random(void **state)
{
	struct model *m = model_new(SHARDS, &ops);
	unsigned int i, full = 0, live = 0;
	struct placed *block;
	uint32_t count;
	int err;

	(void)state;
	for (i = 0; i < 60000; i++) {
		/* Waves of growth and decay, so that all shards fill up and empty again. */
		if (next_random(m) % 16 < (i / 6000 % 2 ? 1 : 10) && live < BLOCKS) {
			count = random_count(m);
			err = model_add(m, count);
			live += !err;
			if (err) {
				assert_int_equal(err, -ENOSPC);
				if (full++ % 64 == 0)
					assert_false(model_fits(m, SHARDS, count));
			}
		} else {
			block = live ? next_block(m) : NULL;
			if (block) {
				model_remove(m, block);
				live--;
			}
		}
		if (i % 512 == 0)
			model_check(m);
	}
	assert_true(full > 0 && m->memory.created[0] > 1);
	for (i = 0; i < BLOCKS; i++)
		if (m->blocks[i].count)
			model_remove(m, &m->blocks[i]);
	model_check(m);
	for (i = 0; i < SHARDS; i++)
		assert_null(m->memory.shards[i]);
	print_message("%u times full; shards were created %u %u %u %u times\n", full,
		      m->memory.created[0], m->memory.created[1], m->memory.created[2],
		      m->memory.created[3]);
	model_free(m);
}

static void test_full_budget(void **state)
{
	struct model *m = model_new(2, &ops);

	(void)state;
	assert_int_equal(model_add(m, SHARD_WORDS), 0);
	assert_int_equal(model_add(m, SHARD_WORDS - 1), 0);
	assert_int_equal(model_add(m, 2), -ENOSPC);
	assert_int_equal(model_add(m, 1), 0);
	assert_int_equal(model_add(m, 1), -ENOSPC);
	model_check(m);
	assert_int_equal(m->total, 2 * SHARD_WORDS);
	model_remove(m, &m->blocks[0]);
	assert_int_equal(model_add(m, SHARD_WORDS), 0);
	model_check(m);
	model_free(m);
}

/* Neighbours freed in any order leave one gap. */
static void test_gaps_merge(void **state)
{
	static const unsigned int order[] = {1, 3, 2, 0};
	struct model *m = model_new(1, &keeping);

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(model_add(m, SHARD_WORDS / 4), 0);
	for (unsigned int i = 0; i < 4; i++)
		model_remove(m, &m->blocks[order[i]]);
	assert_int_equal(model_add(m, SHARD_WORDS), 0);
	assert_int_equal(m->memory.created[0], 1);
	model_free(m);
}

static void test_best_fit(void **state)
{
	struct model *m = model_new(1, &ops);
	uint32_t word;

	(void)state;
	assert_int_equal(model_add(m, 1000), 0);
	assert_int_equal(model_add(m, 10), 0);
	assert_int_equal(model_add(m, 100), 0);
	assert_int_equal(model_add(m, 10), 0);
	word = m->blocks[2].word;
	model_remove(m, &m->blocks[0]);
	model_remove(m, &m->blocks[2]);
	assert_int_equal(model_add(m, 90), 0);
	assert_int_equal(m->blocks[0].word, word);
	model_free(m);
}

/* Small blocks go after all others, and into a gap when there is no more room there. */
static void test_many(void **state)
{
	struct model *m = model_new(1, &in_order);
	uint32_t word, last = 0;

	(void)state;
	assert_int_equal(model_add(m, 1000), 0);
	assert_int_equal(model_add(m, 10), 0);
	word = m->blocks[0].word;
	model_remove(m, &m->blocks[0]);
	for (uint32_t used = 1010; used < SHARD_WORDS; used += 1000) {
		const uint32_t left = SHARD_WORDS - used, count = left < 1000 ? left : 1000;
		uint32_t at;

		assert_int_equal(shards_add(m->shards, m->words, count, &at), 0);
		assert_true(at > last);
		assert_int_equal(at, used);
		last = at;
	}
	assert_int_equal(shards_add(m->shards, m->words, 1000, &last), 0);
	assert_int_equal(last, word);
	assert_int_equal(shards_add(m->shards, m->words, 1, &last), -ENOSPC);
	model_free(m);
}

static void test_failing_callbacks(void **state)
{
	struct model *m = model_new(SHARDS, &ops);
	struct shard_info info;

	(void)state;
	m->memory.fail_create = -EPERM;
	assert_int_equal(model_add(m, 100), -EPERM);
	model_check(m);
	m->memory.fail_create = 0;
	m->memory.fail_write = -EIO;
	assert_int_equal(model_add(m, 100), -EIO);
	model_check(m);
	shards_info(m->shards, 0, &info);
	assert_false(info.created);
	m->memory.fail_write = 0;
	assert_int_equal(model_add(m, SHARD_WORDS - 50), 0);
	model_check(m);
	/* A failure in a shard in use leaves its blocks alone. */
	m->memory.fail_write = -EIO;
	assert_int_equal(model_add(m, 50), -EIO);
	model_check(m);
	m->memory.fail_create = -ENOMEM;
	assert_int_equal(model_add(m, 100), -ENOMEM);
	model_check(m);
	m->memory.fail_write = m->memory.fail_create = 0;
	assert_int_equal(model_add(m, 50), 0);
	shards_info(m->shards, 1, &info);
	assert_false(info.created);
	model_check(m);
	model_free(m);
}

static void test_nonsense(void **state)
{
	struct model *m = model_new(SHARDS, &ops);
	struct shards *none = shards_new(0, &ops, &m->memory);
	struct shards *many = shards_new(100000, &ops, &m->memory);
	struct shard_info info;
	uint32_t word;

	(void)state;
	assert_int_equal(shards_add(m->shards, m->words, 0, &word), -EINVAL);
	assert_int_equal(shards_add(m->shards, m->words, SHARD_WORDS + 1, &word), -EINVAL);
	assert_int_equal(shards_add(none, m->words, 1, &word), -ENOSPC);
	assert_int_equal(shards_max(many), SHARDS_MAX);
	assert_int_equal(model_add(m, 100), 0);
	shards_remove(m->shards, m->blocks[0].word + 1);
	shards_remove(m->shards, UINT32_MAX);
	shards_remove(m->shards, 3 << SHARD_SHIFT);
	model_check(m);
	shards_info(m->shards, 4000, &info);
	assert_false(info.created);
	shards_free(NULL);
	shards_free(none);
	shards_free(many);
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_budget), cmocka_unit_test(test_gaps_merge),
		cmocka_unit_test(test_best_fit),    cmocka_unit_test(test_failing_callbacks),
		cmocka_unit_test(test_nonsense),    cmocka_unit_test(test_random),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
