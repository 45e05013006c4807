/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_UNWIND_STEPFAKE_H
#define STACKTOP_TESTS_UNWIND_STEPFAKE_H

/* A made-up process for the step, after cmocka.h: memory, tables and registers. */

#include <stdint.h>
#include <string.h>

#include "tests/unwind/stephost.h"

/* The made-up memory: a stack of 64 KiB, and 64 KiB of text. No other address can be read. */
#define STACK	   0x7ffd00000000ull
#define STACK_SIZE 0x10000u
#define TEXT	   0x400000ull
#define TEXT_SIZE  0x10000u
/* Unless stored to, the word at STACK + offset is MARK + offset: its value tells its address. */
#define MARK 0x0000600000000000ull
#define SP   (STACK + 0x1000)
#define FP   (STACK + 0x3000)

struct range {
	uint64_t from, size;
	int failed;
};

static struct {
	unsigned char stack[STACK_SIZE];
	unsigned char text[TEXT_SIZE];
	struct range holes[4]; /* cannot be read */
	struct range log[64];  /* the reads that the step requested */
	unsigned int nlog;
	uint32_t nentries;
	struct walk *walk;
} fake;

static inline int readable(uint64_t from, uint64_t size)
{
	for (int i = 0; i < 4; i++)
		if (from < fake.holes[i].from + fake.holes[i].size &&
		    from + size > fake.holes[i].from)
			return 0;
	return 1;
}

static inline int read_fake(void *to, __u64 size, __u64 from)
{
	struct range *log = &fake.log[fake.nlog < 63 ? fake.nlog : 63];
	unsigned char *at = NULL;

	assert_in_range(size, 1, WALK_WINDOW_MAX);
	if (from >= STACK && from - STACK <= STACK_SIZE - size)
		at = fake.stack + (from - STACK);
	else if (from >= TEXT && from - TEXT <= TEXT_SIZE - size)
		at = fake.text + (from - TEXT);
	*log = (struct range){from, size, !at || !readable(from, size)};
	fake.nlog++;
	if (log->failed)
		return -1;
	memcpy(to, at, size);
	return 0;
}

static inline void store(uint64_t addr, uint64_t value)
{
	memcpy(fake.stack + (addr - STACK), &value, 8);
}

static inline int setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	memset(fake.text, 0x90, TEXT_SIZE);
	for (uint64_t i = 0; i < STACK_SIZE; i += 8)
		store(STACK + i, MARK + i);
	host.shards[0] = host_alloc(SHARD_BYTES);
	host.shards[1] = host_alloc(SHARD_BYTES);
	host.entries = host_alloc(MAP_ENTRIES_MAX * sizeof(*host.entries));
	host.wide = host_alloc(WIDE_RULES_MAX * sizeof(*host.wide));
	host.read = read_fake;
	fake.walk = calloc(1, sizeof(*fake.walk));
	return fake.walk ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	free(fake.walk);
	host_free();
	return 0;
}

/* --- made-up tables -------------------------------------------------------------------- */

struct row {
	uint32_t pc; /* offset in the span */
	uint32_t rule;
};

/* Writes a block as unwind/row.h describes it; returns its size in words. */
static inline uint32_t put_block(uint32_t word, uint32_t ngranules, const struct row *rows,
				 uint32_t n)
{
	uint32_t *block = host.shards[word >> SHARD_SHIFT] + (word & SHARD_MASK);
	uint32_t next = 0, first;

	for (uint32_t g = 0; g < ngranules; g++) {
		for (first = next; next < n && rows[next].pc / GRANULE_SIZE == g; next++)
			block[ngranules + next] = (rows[next].pc % GRANULE_SIZE) >> ARCH_PC_SHIFT
											    << 24 |
						  rows[next].rule;
		block[g] = first << 8 | (next - first);
	}
	assert_int_equal(next, n);
	return ngranules + n;
}

/* base, word: of the span's first granule; the mapping may begin after it. */
static inline void add_map(uint64_t start, uint64_t end, uint64_t base, uint32_t word,
			   uint32_t meta)
{
	struct map_entry e = map_entry_rows(start, end, base, 0, word, MAP_GRANULES(meta));

	if (MAP_KIND(meta) != MAP_CFI)
		e = (struct map_entry){.start = start, .end = end, .meta = meta};
	host.entries[fake.nentries++] = e;
}

/* Makes the text one granule with a single rule. */
static inline void put_rule(uint32_t rule)
{
	const struct row row = {0, rule};

	put_block(0, 1, &row, 1);
	fake.nentries = 0;
	add_map(TEXT, TEXT + GRANULE_SIZE, TEXT, 0, MAP_META(MAP_CFI, 1));
}

#if !ARCH_HAS_LINK
/* Puts a call before the address; target: 0: by a register. Returns the address. */
static inline uint64_t put_call(uint64_t ra, uint64_t target)
{
	unsigned char *at = fake.text + (ra - TEXT);
	const uint32_t distance = (uint32_t)(target - ra);

	memset(at - 5, 0x90, 5);
	if (target) {
		at[-5] = 0xe8;
		memcpy(at - 4, &distance, 4);
	} else {
		at[-2] = 0xff;
		at[-1] = 0xd0;
	}
	return ra;
}
#endif

static inline struct walk *begin(uint64_t pc, uint64_t sp, uint64_t fp, int exact)
{
	struct walk *w = fake.walk;

	/* Not zeroes: a walk must not use what it did not set. */
	memset(w, 0xa5, sizeof(*w));
	for (unsigned int i = 0; i < DWARF_COUNT; i++)
		w->regs[i] = 0xdead000000000000ull + i;
	w->regs[ARCH_PC] = pc;
	w->regs[ARCH_SP] = sp;
	w->regs[ARCH_FP] = fp;
	w->list_at = 0;
	w->list_count = fake.nentries;
	w->code_count = 0;
	w->window_top = w->start_stack = 0;
	walk_begin(w, exact);
	fake.nlog = 0;
	return w;
}

#define assert_state(w, pc_, sp_, fp_)                                                             \
	do {                                                                                       \
		assert_int_equal((w)->pc, pc_);                                                    \
		assert_int_equal((w)->sp, sp_);                                                    \
		assert_int_equal((w)->fp, fp_);                                                    \
	} while (0)

/* The present frame is noted for every reason, and no other part of it changes. */
static inline void check_end(struct walk *w, int reason)
{
	uint64_t pc = w->pc, sp = w->sp, fp = w->fp;
	uint32_t n = w->nframes;

	assert_int_equal(walk_step(w), reason);
	assert_int_equal(w->nframes, n + 1);
	assert_int_equal(w->frames[n] | FRAME_EXACT, FRAME_ADDRESS(pc) | FRAME_EXACT);
	assert_state(w, pc, sp, fp);
}

#endif
