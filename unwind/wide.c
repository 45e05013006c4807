// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A few thousand rules stand for what 24 bits cannot say in the files of a whole distribution, so
 * they are kept once and found by a hash. Half-full open addressing with 16-bit slots: the set is
 * bounded and nothing is ever removed, for running BPF programs hold the indices.
 */
#include "unwind/wide.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/refcount.h"

#define SLOTS (2 * WIDE_RULES_MAX)

_Static_assert((SLOTS & (SLOTS - 1)) == 0, "slots are found by a mask");
_Static_assert(WIDE_RULES_MAX < UINT16_MAX, "slots hold the index + 1");

struct store {		      /* the set itself, shared by its views */
	pthread_mutex_t lock; /* of count and slots; a rule below count never changes */
	unsigned int users;
	unsigned int count;
	uint16_t slots[SLOTS]; /* index + 1; 0: free */
	struct wide_rule rules[WIDE_RULES_MAX];
};

struct wide_rules {
	struct store *store;
	unsigned int left; /* rules that the present file may add */
};

static struct wide_rules *view_new(struct store *store)
{
	struct wide_rules *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	*set = (struct wide_rules){store, WIDE_RULES_MAX};
	refcount_get(&store->users);
	return set;
}

struct wide_rules *wide_rules_new(void)
{
	struct store *store = calloc(1, sizeof(*store));
	struct wide_rules *set;

	if (!store)
		return NULL;
	pthread_mutex_init(&store->lock, NULL);
	set = view_new(store);
	if (!set) {
		pthread_mutex_destroy(&store->lock);
		free(store);
	}
	return set;
}

struct wide_rules *wide_rules_join(struct wide_rules *set)
{
	return view_new(set->store);
}

void wide_rules_share(struct wide_rules *set)
{
	set->left = WIDE_SHARE;
}

void wide_rules_free(struct wide_rules *set)
{
	if (!set)
		return;
	if (refcount_put(&set->store->users)) {
		pthread_mutex_destroy(&set->store->lock);
		free(set->store);
	}
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

static int find_or_add(struct store *store, const struct wide_rule *rule, unsigned int *left)
{
	uint32_t slot = rule_hash(rule) & (SLOTS - 1);

	for (; store->slots[slot]; slot = (slot + 1) & (SLOTS - 1))
		if (!memcmp(&store->rules[store->slots[slot] - 1], rule, sizeof(*rule)))
			return store->slots[slot] - 1;
	if (store->count == WIDE_RULES_MAX || !*left)
		return -ENOSPC;
	--*left;
	store->rules[store->count++] = *rule;
	store->slots[slot] = (uint16_t)store->count;
	return (int)store->count - 1;
}

int wide_rules_index(struct wide_rules *set, const struct wide_rule *rule)
{
	int index;

	pthread_mutex_lock(&set->store->lock);
	index = find_or_add(set->store, rule, &set->left);
	pthread_mutex_unlock(&set->store->lock);
	return index;
}

const struct wide_rule *wide_rules_all(const struct wide_rules *set, unsigned int *count)
{
	pthread_mutex_lock(&set->store->lock);
	*count = set->store->count;
	pthread_mutex_unlock(&set->store->lock);
	return set->store->rules;
}
