// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -fno-sanitize=alignment */
/*
 * The step on random bytes for all its input: memory, tables, lists and registers. It must end
 * with a valid reason, within its own memory.
 *
 * The step reads words where the stack says, aligned or not, as BPF on x86 may.
 * Covers: unwind/step.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unwind/stepfake.h"

#define ROUNDS 100000

static uint64_t seed;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Numbers that are useful addresses more often than by chance. */
static uint64_t random_address(void)
{
	switch (random64() % 16) {
	case 0:
		return random64();
	case 1:
		return STACK + random64() % STACK_SIZE;
	case 2:
	case 3:
		return (STACK + random64() % STACK_SIZE) & ~7ull;
	case 4:
		return 0;
	default:
		return TEXT + random64() % TEXT_SIZE;
	}
}

static int read_random(void *to, __u64 size, __u64 from)
{
	const unsigned char *window = fake.walk->window, *at = to;
	uint64_t word = 0;

	assert_in_range(size, 1, WALK_WINDOW_MAX);
	assert_true(size == 8 || size == 16 || size == 8 * SIGCONTEXT_COUNT ||
		    (at >= window && at + size <= window + WALK_WINDOW_MAX));
	if (from >= 1ull << 47 || random64() % 16 == 0)
		return -1;
	for (__u64 i = 0; i < size; i += 8) {
		word = random_address();
		memcpy((char *)to + i, &word, size - i < 8 ? size - i : 8);
	}
	return 0;
}

static void randomize_words(uint32_t *words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		words[i] = (uint32_t)random64();
}

/* Most words are rows of kinds that go on, with small frames. */
static void randomize_rows(uint32_t *words, uint32_t n)
{
	static const uint8_t kinds[16] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 0};

	for (uint32_t i = 0; i < n; i++) {
		uint64_t r = random64();

		words[i] = r & 0xf00000000 ? (uint32_t)(r & 0xff0f0fff) |
						     (uint32_t)kinds[r >> 36 & 15] << 20
					   : (uint32_t)r;
		if (r >> 40 & 1)
			words[i] &= 0xfff003ff;
	}
}

/* Everything that user space or a hostile process can write. */
static void randomize_tables(void)
{
	uint64_t at = TEXT;

	for (uint32_t i = 0; i < 64; i++) {
		struct map_entry *e = &host.entries[i];
		uint64_t r = random64();

		e->start = r % 4096 ? at : random_address();
		at += 1 + random64() % 4096;
		e->end = r % 4096 != 1 ? at : random_address();
		e->frame = 0;
		/* small numbers, the ends of shards, shards that do not exist */
		if (r & 0xf000)
			e->word = (uint32_t)random64() % 1024;
		else if (r & 0x10000)
			e->word = (uint32_t)random64() % (3 * SHARD_WORDS);
		else
			e->word = (uint32_t)(1 + random64() % 9) * SHARD_WORDS - random64() % 8;
		e->meta = r & 0xf00000 ? MAP_META(MAP_CFI, random64() % 64)
				       : MAP_META(random64() % 4, random64() & 0xffffff);
		randomize_rows(host.shards[0] + i * 64, 64);
	}
	for (uint32_t i = 0; i < 64; i++) {
		struct wide_rule *r = &host.wide[random64() % 1024];

		r->cfa_kind = random64() % 4;
		r->fp_kind = r->ra_kind = random64() % 6;
		r->cfa_reg = r->fp_reg = r->ra_reg = random64() % 20;
		r->flags = random64() % 4;
		r->cfa_off = (int32_t)(random64() % 256);
	}
}

static struct walk *begin_random(void)
{
	struct walk *w =
		begin(random_address(), random_address(), random_address(), (int)(random64() & 1));
	uint64_t r = random64();

	for (unsigned int i = 0; i < DWARF_RBP; i++)
		w->regs[i] = random_address();
	if (r & 0xf000) { /* a useful address */
		w->pc = TEXT + random64() % TEXT_SIZE;
		w->sp = STACK + random64() % STACK_SIZE;
		w->fp = w->sp + random64() % 0x100;
	}
	w->window_top = r & 1 ? 0 : random_address();
	w->list_at = r & 30 ? 0 : (uint32_t)random64();
	w->list_count = r & 480 ? 64 : (uint32_t)random64();
	return w;
}

static void test_anything(void **state)
{
	unsigned int ends[WALK_REASON_COUNT] = {0};
	unsigned long frames = 0;

	(void)state;
	seed = 0x57ac4709;
	host.read = read_random;
	randomize_rows(host.shards[0], SHARD_WORDS);
	randomize_rows(host.shards[1], SHARD_WORDS);
	randomize_words((uint32_t *)host.wide, WIDE_RULES_MAX * sizeof(*host.wide) / 4);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct walk *w;
		uint64_t pc, head[3], sp;
		unsigned int steps = 0, downs = 0;
		int reason;

		if (round % 50 == 0)
			randomize_tables();
		w = begin_random();
		pc = FRAME_ADDRESS(w->pc) | (w->exact ? FRAME_EXACT : 0);
		memcpy(head, w->head, sizeof(head));
		do {
			sp = w->sp;
			reason = walk_step(w);
			/* Only a signal frame may lead down, or a few changes of stacks. */
			if (reason == WALK_CONTINUE && !w->exact && w->sp < sp)
				assert_in_range(++downs, 1, WALK_SWITCHES_MAX);
		} while (reason == WALK_CONTINUE && ++steps <= WALK_FRAMES_MAX);
		assert_in_range(reason, WALK_BOTTOM, WALK_REASON_COUNT - 1);
		assert_in_range(w->nframes, 1, WALK_FRAMES_MAX);
		assert_int_equal(w->nframes, steps + (reason != WALK_DEPTH));
		assert_int_equal(w->frames[0], pc);
		assert_memory_equal(head, w->head, sizeof(head));
		ends[reason]++;
		frames += w->nframes;
	}
	for (int i = 0; i < WALK_REASON_COUNT; i++)
		if (ends[i])
			print_message("%6u ended as %d\n", ends[i], i);
	print_message("%lu frames\n", frames);
	/* Random input must still get far: every result of a step must have come up. */
	for (int i = WALK_NO_MAPPING; i < WALK_DEPTH; i++)
		assert_true(ends[i]);
	assert_true(ends[WALK_BOTTOM] && frames > ROUNDS * 3 / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_anything, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
