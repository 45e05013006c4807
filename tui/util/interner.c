// SPDX-License-Identifier: GPL-2.0-or-later
/* See interner.h. Hashes have the key of this run (keyhash.h), since names are foreign data. */
#include "tui/util/interner.h"

#include "symbols/base/grow.h"
#include "symbols/base/keyhash.h"

void interner_free(struct interner *t)
{
	bytes_free(&t->pool);
	free(t->ends);
	idtable_free(&t->index);
	*t = (struct interner){0};
}

const uint8_t *interner_get(const struct interner *t, uint32_t number, size_t *size)
{
	size_t begin = number ? t->ends[number - 1] : 0;

	*size = t->ends[number] - begin;
	return t->pool.data ? t->pool.data + begin : (const uint8_t *)"";
}

uint32_t interner_add(struct interner *t, const void *data, size_t size)
{
	uint32_t hash = keyhash(size ? data : "", size), id;
	size_t n;

	if (t->failed)
		return 0;
	for (uint32_t at = hash; (id = idtable_next(&t->index, hash, &at)) != IDTABLE_NONE;) {
		const uint8_t *same = interner_get(t, id, &n);

		if (n == size && (!n || !memcmp(same, data, n)))
			return id;
	}
	bytes_put(&t->pool, data, size);
	if (t->pool.failed || GROW(t->ends, t->count, t->room, UINT32_MAX) ||
	    idtable_reserve(&t->index, (size_t)t->count + 1)) {
		t->failed = true;
		return 0;
	}
	t->ends[t->count] = t->pool.size;
	idtable_add(&t->index, hash, t->count);
	return t->count++;
}
