// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each block is written as the gap before it, which is small and never negative, since blocks are
 * in order and do not overlap; so a file cannot claim otherwise. Times are ages.
 */
#include "tui/session/session_inventory.h"

#include <errno.h>
#include <string.h>

#include "bpf/tracker/inventory.h"
#include "symbols/base/text.h"
#include "tui/util/bytes.h"

#define OBJECT_BYTES 10 /* of an object in the file, at least */
#define BLOCK_BYTES  3
#define PINNED	     0x80u

/* --- writing --------------------------------------------------------------------------------- */

/* One more than that; 0: there is none. */
static void put_age(struct outbytes *to, const struct inventory *inv, uint64_t time)
{
	bytes_put_number(to, !time ? 0 : time < inv->time ? inv->time - time + 1 : 1);
}

static void put_shard(struct outbytes *to, const struct inventory *inv, unsigned int i)
{
	const struct inventory_shard *shard = &inv->shards[i];

	put_age(to, inv, shard->created ? shard->since : 0);
	bytes_put_number(to, shard->generation);
	bytes_put_number(to, shard->evictions);
}

static void put_object(struct outbytes *to, const struct inventory *inv, uint32_t i)
{
	const struct inventory_object *o = &inv->objects[i];
	char name[sizeof(o->name)];

	text_clean(name, sizeof(name), o->name, strnlen(o->name, sizeof(o->name)));
	bytes_put_number(to, o->id);
	bytes_put_text(to, name);
	bytes_put_number(to, (unsigned int)o->state | (o->pinned ? PINNED : 0));
	bytes_put_number(to, o->words);
	bytes_put_number(to, o->cfi_bytes);
	bytes_put_number(to, o->rows);
	bytes_put_number(to, o->processes);
	put_age(to, inv, o->sampled);
	bytes_put_number(to, o->missed);
	bytes_put_number(to, o->build_id_size);
	bytes_put(to, o->build_id, o->build_id_size);
}

void session_inventory_put(struct outbytes *to, const struct inventory *inv)
{
	uint32_t at = 0;

	bytes_put_number(to, inv->left_out);
	bytes_put_number(to, inv->nshards);
	bytes_put_number(to, inv->nobjects);
	bytes_put_number(to, inv->nblocks);
	for (unsigned int i = 0; i < inv->nshards; i++)
		put_shard(to, inv, i);
	for (uint32_t i = 0; i < inv->nobjects; i++)
		put_object(to, inv, i);
	for (uint32_t i = 0; i < inv->nblocks; i++) {
		const struct inventory_block *block = &inv->blocks[i];

		bytes_put_number(to, block->word - at);
		bytes_put_number(to, block->words);
		bytes_put_number(to, block->object);
		at = block->word + block->words;
	}
}

/* --- reading --------------------------------------------------------------------------------- */

static uint64_t take_time(struct cursor *c, uint64_t now)
{
	uint64_t age = cursor_number(c);

	c->bad |= age > now;
	return age ? now - (age - 1) : 0;
}

static void take_object(struct cursor *c, struct inventory *inv, struct inventory_object *o)
{
	const char *name;
	uint32_t state;
	size_t length;

	o->id = cursor_number(c);
	cursor_clean(c, o->name, sizeof(o->name));
	state = cursor_number32(c, PINNED | INVENTORY_REFUSED);
	o->pinned = state & PINNED;
	state &= ~PINNED;
	c->bad |= state > INVENTORY_REFUSED;
	o->state = c->bad ? INVENTORY_FAILED : (enum inventory_state)state;
	o->words = cursor_number32(c, UINT32_MAX);
	o->cfi_bytes = cursor_number(c);
	o->rows = cursor_number32(c, UINT32_MAX);
	o->processes = cursor_number32(c, UINT32_MAX);
	o->sampled = take_time(c, inv->time);
	o->missed = cursor_number32(c, UINT32_MAX);
	name = cursor_text(c, &length);
	c->bad |= length > sizeof(o->build_id);
	if (c->bad)
		return;
	memcpy(o->build_id, name, length);
	o->build_id_size = (uint8_t)length;
}

static void take_block(struct cursor *c, const struct inventory *inv, uint64_t *at,
		       struct inventory_block *block)
{
	uint64_t word = *at + cursor_number32(c, UINT32_MAX);
	uint32_t words = cursor_number32(c, SHARD_WORDS);

	block->object = cursor_number32(c, UINT32_MAX);
	c->bad |= !words || block->object >= inv->nobjects ||
		  word >= (uint64_t)inv->nshards << SHARD_SHIFT ||
		  (word & SHARD_MASK) + words > SHARD_WORDS;
	block->word = c->bad ? 0 : (uint32_t)word;
	block->words = words;
	*at = word + words;
}

static int take_all(struct cursor *c, struct inventory *inv)
{
	uint64_t at = 0;

	for (unsigned int i = 0; i < inv->nshards && !c->bad; i++) {
		struct inventory_shard *shard = &inv->shards[i];

		shard->since = take_time(c, inv->time);
		shard->created = shard->since;
		shard->generation = cursor_number32(c, UINT32_MAX);
		shard->evictions = cursor_number32(c, UINT32_MAX);
	}
	for (uint32_t i = 0; i < inv->nobjects && !c->bad; i++)
		take_object(c, inv, &inv->objects[i]);
	for (uint32_t i = 0; i < inv->nblocks && !c->bad; i++)
		take_block(c, inv, &at, &inv->blocks[i]);
	return c->bad ? -EBADMSG : 0;
}

int session_inventory_take(struct cursor *c, uint64_t now, struct inventory **out)
{
	uint64_t left_out = cursor_number(c);
	uint32_t nshards = cursor_number32(c, UINT32_MAX >> SHARD_SHIFT);
	uint32_t nobjects = cursor_number32(c, INVENTORY_OBJECTS_MAX);
	uint32_t nblocks = cursor_number32(c, INVENTORY_BLOCKS_MAX);
	size_t left = (size_t)(c->end - c->at);
	struct inventory *inv;
	int err;

	*out = NULL;
	if (c->bad || nobjects > left / OBJECT_BYTES || nblocks > left / BLOCK_BYTES)
		return -EBADMSG;
	inv = inventory_new(nshards, nobjects, nblocks);
	if (!inv)
		return -ENOMEM;
	inv->time = now;
	inv->left_out = left_out;
	err = take_all(c, inv);
	if (err) {
		inventory_put(inv);
		return err;
	}
	inventory_settle(inv);
	*out = inv;
	return 0;
}
