// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A few thousand rules stand for what 24 bits cannot say in the files of a whole distribution, so
 * they are kept once and found by a hash. Half-full open addressing with 16-bit slots: the set is
 * bounded and nothing is ever removed, for running BPF programs hold the indices.
 */
#include "unwind/wide.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (2 * WIDE_RULES_MAX)

_Static_assert((SLOTS & (SLOTS - 1)) == 0, "slots are found by a mask");
_Static_assert(WIDE_RULES_MAX < UINT16_MAX, "slots hold the index + 1");

struct wide_rules {
	struct wide_rule *rules;
	unsigned int count;
	unsigned int room;
	unsigned int end;      /* of what the present file may add */
	uint16_t slots[SLOTS]; /* index + 1; 0: free */
};

struct wide_rules *wide_rules_new(void)
{
	struct wide_rules *set = calloc(1, sizeof(*set));

	if (set)
		set->end = WIDE_RULES_MAX;
	return set;
}

void wide_rules_share(struct wide_rules *set)
{
	set->end =
		set->count + WIDE_SHARE < WIDE_RULES_MAX ? set->count + WIDE_SHARE : WIDE_RULES_MAX;
}

void wide_rules_free(struct wide_rules *set)
{
	if (!set)
		return;
	free(set->rules);
	free(set);
}

static uint32_t rule_hash(const struct wide_rule *rule)
{
	const unsigned char *bytes = (const unsigned char *)rule;
	uint64_t hash = 0, part;

	_Static_assert(sizeof(*rule) % sizeof(part) == 0, "hashed in whole parts");
	for (size_t i = 0; i < sizeof(*rule); i += sizeof(part)) {
		memcpy(&part, bytes + i, sizeof(part));
		hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return (uint32_t)hash;
}

static int wide_rules_grow(struct wide_rules *set)
{
	unsigned int room = set->room ? 2 * set->room : 64;
	struct wide_rule *rules = realloc(set->rules, room * sizeof(*rules));

	if (!rules)
		return -ENOMEM;
	set->rules = rules;
	set->room = room;
	return 0;
}

int wide_rules_index(struct wide_rules *set, const struct wide_rule *rule)
{
	uint32_t slot = rule_hash(rule) & (SLOTS - 1);

	for (; set->slots[slot]; slot = (slot + 1) & (SLOTS - 1))
		if (!memcmp(&set->rules[set->slots[slot] - 1], rule, sizeof(*rule)))
			return set->slots[slot] - 1;
	if (set->count == set->end)
		return -ENOSPC;
	if (set->count == set->room) {
		int err = wide_rules_grow(set);

		if (err)
			return err;
	}
	set->rules[set->count++] = *rule;
	set->slots[slot] = (uint16_t)set->count;
	return (int)set->count - 1;
}

const struct wide_rule *wide_rules_all(const struct wide_rules *set, unsigned int *count)
{
	*count = set->count;
	return set->rules;
}
