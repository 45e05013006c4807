// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=512 */
/*
 * The walk over tables, mappings and memory of any content: it never leaves them, takes a bounded
 * number of turns, ends with a reason, and, run a second time, does the same again. The input gives
 * the words of registers, mappings (half of them near the text, half anywhere), wide rules and
 * tables; the rest is the stack, and, read in turns, also code.
 * Covers: unwind/step.h
 */
#if defined(__clang__)
/* The step reads words where the stack says, aligned or not, as BPF on x86 may. */
#pragma clang attribute push(__attribute__((no_sanitize("alignment"))), apply_to = function)
#endif
#include "tests/unwind/stephost.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include "tests/fuzz/fuzz.h"

#define TEXT	  0x400000u
#define TEXT_SIZE 0x10000u
#define STACK	  0x7ff000000000u
#define ENTRIES	  8u
#define WIDE	  8u
#define WORDS	  128u
#define CANARY	  0x5ca1ab1e0ddba11ull

struct input {
	const uint8_t *at;
	size_t left;
};

static const uint8_t *memory;
static size_t memory_size;

static uint64_t take(struct input *in, unsigned int bytes)
{
	uint64_t value = 0;

	if (in->left < bytes)
		bytes = (unsigned int)in->left;
	memcpy(&value, in->at, bytes);
	in->at += bytes;
	in->left -= bytes;
	return value;
}

static int read_memory(void *to, __u64 size, __u64 from)
{
	uint8_t *bytes = to;
	__u64 at;

	require(size >= 1 && size <= WALK_WINDOW_MAX);
	if (from >= STACK && from - STACK <= memory_size && size <= memory_size - (from - STACK)) {
		memcpy(to, memory + (from - STACK), size);
		return 0;
	}
	if (from < TEXT || from + size > TEXT + TEXT_SIZE || !memory_size)
		return -1;
	at = (from - TEXT) % memory_size;
	while (size) {
		__u64 part = memory_size - at < size ? memory_size - at : size;

		memcpy(bytes, memory + at, part);
		bytes += part;
		size -= part;
		at = 0;
	}
	return 0;
}

/* An address: near the text, near the stack, or anywhere. */
static uint64_t take_address(struct input *in)
{
	unsigned int how = (unsigned int)take(in, 1);

	if (how & 0x80)
		return take(in, 8);
	if (how & 0x40)
		return STACK + (how & 0x3f) * 8;
	return TEXT + (uint64_t)(how & 0x3f) * 64 + take(in, 1);
}

static void take_entry(struct input *in, struct map_entry *e)
{
	unsigned int how = (unsigned int)take(in, 1);

	if (how & 0x80) {
		e->start = take(in, 8);
		e->end = take(in, 8);
		e->frame = take(in, 8);
		e->word = (__u32)take(in, 4);
		e->meta = (__u32)take(in, 4);
		return;
	}
	e->start = TEXT + (how & 7) * GRANULE_SIZE;
	e->end = e->start + (1 + (how >> 3 & 7)) * GRANULE_SIZE;
	e->frame = how & 0x40 ? 0 : FRAME_OF(how, e->start & ~0xffffull);
	e->word = (__u32)take(in, 1) & (WORDS - 1);
	e->meta = MAP_META(how & 0x40 ? MAP_NO_CFI : MAP_CFI, 1 + (how >> 3 & 7));
}

static void take_tables(struct input *in)
{
	unsigned int counts = (unsigned int)take(in, 2);

	for (unsigned int i = 0; i < counts % (ENTRIES + 1); i++)
		take_entry(in, &host.entries[i]);
	for (unsigned int i = 0; i < (counts >> 4) % (WIDE + 1) && in->left >= sizeof(*host.wide);
	     i++) {
		memcpy(&host.wide[i], in->at, sizeof(*host.wide));
		in->at += sizeof(*host.wide);
		in->left -= sizeof(*host.wide);
	}
	for (unsigned int i = 0; i < (counts >> 8) % WORDS; i++) {
		unsigned int how = (unsigned int)take(in, 1);

		/* An index word of few rows, a row of a usual kind, or any word. */
		if (how < 0x60)
			host.shards[0][i] = INDEX_WORD(how >> 3, how & 7);
		else if (how < 0xe0)
			host.shards[0][i] = ROW_WORD(take(in, 1), RULE(how & 7, take(in, 2)));
		else
			host.shards[0][i] = (__u32)take(in, 4);
	}
}

static void clear_tables(void)
{
	memset(host.entries, 0, ENTRIES * sizeof(*host.entries));
	memset(host.wide, 0, WIDE * sizeof(*host.wide));
	memset(host.shards[0], 0, WORDS * sizeof(**host.shards));
}

static int walk_once(struct walk *w, const struct walk *start, int exact)
{
	int reason;

	memcpy(w, start, sizeof(*w));
	walk_begin(w, exact);
	reason = host_walk(w);
	require(reason > WALK_CONTINUE && reason < WALK_REASON_COUNT);
	require(w->nframes <= WALK_FRAMES_MAX && w->window_size <= WALK_WINDOW_MAX);
	require(w->head[0] == CANARY && w->head[1] == ~CANARY);
	require(w->list_at == start->list_at && w->list_count == start->list_count);
	return reason;
}

static void host_new(void)
{
	host.shards[0] = host_alloc(SHARD_BYTES);
	host.entries = host_alloc(MAP_ENTRIES_MAX * sizeof(*host.entries));
	host.wide = host_alloc(WIDE_RULES_MAX * sizeof(*host.wide));
	host.read = read_memory;
}

static int take_input(const uint8_t *data, size_t size)
{
	static struct walk *first, *second, *start;
	struct input in = {data, size};
	unsigned int how = (unsigned int)take(&in, 1);
	uint8_t *stack;
	int reason;

	if (!host.entries) {
		host_new();
		first = malloc(sizeof(*first));
		second = malloc(sizeof(*second));
		start = calloc(1, sizeof(*start));
		require(first && second && start);
	}
	for (unsigned int i = 0; i < DWARF_COUNT; i++)
		start->regs[i] = i == ARCH_SP || i == ARCH_FP || i == ARCH_PC || how & 0x80
					 ? take_address(&in)
					 : STACK + i * 8;
	start->list_at = how & 1 ? (__u32)take(&in, 4) : 0;
	start->list_count = how & 2 ? (__u32)take(&in, 4) : ENTRIES;
	start->window_top = how & 4 ? take_address(&in) : 0;
	start->head[0] = CANARY;
	start->head[1] = ~CANARY;
	take_tables(&in);
	memory = stack = fuzz_copy(in.at, in.left);
	memory_size = in.left;
	reason = walk_once(first, start, how & 8);
	if (how & 0x10) {
		require(reason == walk_once(second, start, how & 8));
		require(!memcmp(&first->hash, &second->hash, sizeof(first->hash)));
		require(first->nframes == second->nframes && first->own == second->own);
	}
	free(stack);
	clear_tables();
	return 0;
}

FUZZ_TARGET(take_input, 1u << 20, 256)
