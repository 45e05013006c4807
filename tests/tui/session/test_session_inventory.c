// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What stands in the shards, recorded and replayed: field by field what was put in, at the moment
 * when it stood there, and nothing but an error from what is cut off or changed.
 * Covers: tui/session/session_states.c tui/profile/board.c tui/util/bytes.h
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "bpf/tracker/inventory.h"
#include "tests/support/feed_inventory.h"
#include "tests/support/moments.h"
#include "tests/support/scratch.h"
#include "tests/support/typist.h"
#include "tui/profile/board.h"
#include "tui/util/bytes.h"
#include "tui/session/session_states.h"

#define MOMENT ((uint64_t)1 << 62)

static struct inventory *take(const uint8_t *data, size_t size, int *err)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct cursor c = {.at = copy, .end = copy + size};
	struct inventory *inv;

	memcpy(copy, data, size);
	*err = session_inventory_take(&c, MOMENT, &inv);
	free(copy);
	return inv;
}

static void same_age(const struct inventory *a, uint64_t x, const struct inventory *b, uint64_t y)
{
	assert_int_equal(!x, !y);
	if (x)
		assert_int_equal(a->time - x, b->time - y);
}

static void same(const struct inventory *a, const struct inventory *b)
{
	assert_int_equal(a->left_out, b->left_out);
	assert_int_equal(a->nshards, b->nshards);
	assert_int_equal(a->nobjects, b->nobjects);
	assert_int_equal(a->nblocks, b->nblocks);
	assert_memory_equal(a->blocks, b->blocks, a->nblocks * sizeof(*a->blocks));
	for (unsigned int i = 0; i < a->nshards; i++) {
		const struct inventory_shard *x = &a->shards[i], *y = &b->shards[i];

		assert_int_equal(x->created, y->created);
		same_age(a, x->since, b, y->since);
		assert_int_equal(x->generation, y->generation);
		assert_int_equal(x->evictions, y->evictions);
		assert_int_equal(x->words, y->words);
		assert_int_equal(x->objects, y->objects);
		assert_int_equal(x->largest, y->largest);
	}
	for (uint32_t i = 0; i < a->nobjects; i++) {
		const struct inventory_object *x = &a->objects[i], *y = &b->objects[i];

		assert_int_equal(x->id, y->id);
		assert_string_equal(x->name, y->name);
		assert_int_equal(x->state, y->state);
		assert_int_equal(x->pinned, y->pinned);
		assert_int_equal(x->words, y->words);
		assert_int_equal(x->cfi_bytes, y->cfi_bytes);
		assert_int_equal(x->rows, y->rows);
		assert_int_equal(x->processes, y->processes);
		assert_int_equal(x->missed, y->missed);
		same_age(a, x->sampled, b, y->sampled);
		assert_int_equal(x->build_id_size, y->build_id_size);
		assert_memory_equal(x->build_id, y->build_id, x->build_id_size);
	}
}

static void is_what_was_put(void **state)
{
	struct inventory *inv = feed_inventory(20000 * MACHINE_SECOND), *back;
	struct outbytes to = {0};
	int err;

	(void)state;
	inv->left_out = 3;
	/* It was sampled after the inventory had been taken. */
	inv->objects[1].sampled = inv->time;
	session_inventory_put(&to, inv);
	assert_false(to.failed);
	back = take(to.data, to.size, &err);
	assert_int_equal(err, 0);
	same(inv, back);
	inventory_put(inv);
	inventory_put(back);
	bytes_free(&to);
}

/* Ends, and everything that one byte can do, under whatever watches memory. */
static void refuses_what_makes_no_sense(void **state)
{
	struct inventory *inv = feed_inventory(20000 * MACHINE_SECOND), *back;
	struct outbytes to = {0};
	int err, refused = 0;

	(void)state;
	session_inventory_put(&to, inv);
	for (size_t size = 0; size < to.size; size++) {
		back = take(to.data, size, &err);
		assert_int_equal(err, -EBADMSG);
		assert_null(back);
	}
	for (size_t at = 0; at < to.size; at++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			to.data[at] ^= (uint8_t)(1u << bit);
			back = take(to.data, to.size, &err);
			refused += err != 0;
			for (uint32_t i = 0; back && i < back->nblocks; i++) {
				const struct inventory_block *b = &back->blocks[i];

				assert_true(b->object < back->nobjects);
				assert_true((b->word & SHARD_MASK) + b->words <= SHARD_WORDS);
				assert_true(b->word >> SHARD_SHIFT < back->nshards);
			}
			inventory_put(back);
			to.data[at] ^= (uint8_t)(1u << bit);
		}
	assert_true(refused > 100);
	inventory_put(inv);
	bytes_free(&to);
}

/* --- in a session ----------------------------------------------------------------------------- */

/* One at 5, one at 6, which is too soon, and one at 20, in which one has gone. */
static void give(struct machine *f, struct session_writer *w, int n)
{
	if (n == 5 || n == 6 || n == 20) {
		struct inventory *inv = feed_inventory(f->time);

		inv->left_out = (uint64_t)n;
		board_set_inventory(profile_board(f->p), inv);
	}
	/* Ten seconds after the last. */
	assert_int_equal(session_wants_inventory(w, f->time),
			 n < 6 || (n >= 15 && n < 21) || n >= 30);
}

static uint64_t has(struct profile *p)
{
	struct inventory *inv;
	uint64_t left_out;

	profile_lock(p);
	inv = board_inventory(profile_board(p));
	profile_unlock(p);
	left_out = inv ? inv->left_out : 0;
	inventory_put(inv);
	return left_out;
}

static void stands_there_at_its_time(void **state)
{
	static const struct moment_place places[] = {{5, 0},   {6, 5}, {20, 5}, {21, 20},
						     {40, 20}, {7, 5}, {3, 0},	{30, 20}};
	char path[SCRATCH];

	(void)state;
	close(scratch_file(path, "inventory"));
	record_moments(path, 40, give);
	assert_moments(path, places, sizeof(places) / sizeof(places[0]), has);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_was_put),
		cmocka_unit_test(refuses_what_makes_no_sense),
		cmocka_unit_test(stands_there_at_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
