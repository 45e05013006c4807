// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The view of the shards with made-up ones: whole screens against the files of expected/
 * (STACKTOP_EXPECTED=write makes them anew, to be read before they are kept), and keys.
 * Covers: tui/views/view_shards.c tui/views/objtable.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "bpf/tracker/inventory.h"
#include "tests/support/feed_inventory.h"
#include "tests/support/typist.h"
#include "tui/profile/board.h"
#include "tui/app/dispatch.h"

static void give(struct typist *f, struct inventory *inv)
{
	profile_lock(f->feed.p);
	board_set_inventory(profile_board(f->feed.p), inv);
	profile_unlock(f->feed.p);
	assert_int_equal(ui_refresh(f->ui), 0);
}

static int setup(void **state)
{
	struct typist *f = typist_after(12);

	type(f, "6");
	*state = f;
	return 0;
}

/* --- screens ------------------------------------------------------------------------------- */

static void screens_are_as_expected(void **state)
{
	static const int sizes[][2] = {{15, 60}, {24, 80}, {30, 100}, {50, 160}};
	struct typist *f = *state;

	give(f, feed_inventory(MACHINE_NOW));
	type(f, "jj");
	for (int ascii = 0; ascii < 2; ascii++) {
		f->ui->ascii = ascii;
		for (size_t i = 0; i < 4; i++) {
			grid_resize(f->g, sizes[i][0], sizes[i][1]);
			compare(f, "shards");
		}
	}
	type(f, "\nj");
	grid_resize(f->g, 30, 100);
	f->ui->ascii = false;
	compare(f, "shards-inside");
	type(f, "\bG\n");
	compare(f, "shards-homeless");
}

static void says_when_there_is_nothing_yet(void **state)
{
	struct typist *f = *state;

	assert_shows(f, "being read");
	type(f, "jkGg\n!p<>I");
	type(f, "z");
	assert_shows(f, "not read before the view was frozen");
	type(f, "Rall\n");
	assert_int_equal(posted, SOURCE_RESET_SHARDS);
}

static void no_size_breaks(void **state)
{
	struct typist *f = *state;
	static const char *const keys[] = {"g", "jj\n", "\bG", "\n"};

	give(f, feed_inventory(MACHINE_NOW));
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		type(f, keys[k]);
		assert_no_size_breaks(f);
	}
}

/* 100 columns are 82 cells of 12,787 words; each says what most of it is. */
static void layout_is_true(void **state)
{
	struct typist *f = *state;
	struct inventory *inv = inventory_new(1, 3, 3);

	for (unsigned int i = 0; i < 3; i++)
		inv->objects[i].id = i + 1;
	inv->shards[0].created = true;
	/* The first cell has 6,000 of one and 500 of another: just half of it. */
	inv->blocks[0] = (struct inventory_block){0, 6000, 0};
	inv->blocks[1] = (struct inventory_block){6000, 500, 1};
	/* Cells 10 to 19, to the word. */
	inv->blocks[2] =
		(struct inventory_block){SHARD_WORDS / 82 * 10 + 8, SHARD_WORDS / 82 * 10, 2};
	inventory_settle(inv);
	give(f, inv);
	assert_shows(f, "     0│a#########cccccccccc.....");
	f->ui->ascii = true;
	assert_shows(f, "     0|a#########cccccccccc.....");
}

static void hostile_names_are_harmless(void **state)
{
	struct typist *f = *state;
	struct inventory *inv = feed_inventory(MACHINE_NOW);

	strcpy(inv->objects[FEED_NODE].name, "\x1b[2J\x07\xc2\x9b\xff\xe2\x80\xae");
	give(f, inv);
	assert_null(strchr(screen(f), 0x1b));
	assert_null(strchr(f->text, 0x07));
	assert_null(strstr(f->text, "\xc2\x9b"));
	assert_null(strstr(f->text, "\xe2\x80\xae"));
}

/* --- keys ---------------------------------------------------------------------------------- */

static void cursors_stay(void **state)
{
	struct typist *f = *state;
	struct inventory *inv;

	give(f, feed_inventory(MACHINE_NOW));
	type(f, "jj\njj");
	assert_mark_on(f, "postgres");
	/* Something comes before it, and shard 0 goes away. */
	inv = feed_inventory(MACHINE_NOW);
	inv->shards[0].created = false;
	inv->blocks[0] = (struct inventory_block){2 * SHARD_WORDS + 541206, 10, FEED_BROKEN};
	inventory_settle(inv);
	give(f, inv);
	assert_mark_on(f, "postgres");
	assert_shows(f, "Layout of shard 2");
	type(f, ">"); /* by WORDS: nginx, crypto, postgres */
	assert_mark_on(f, "postgres");
	type(f, "k");
	assert_mark_on(f, "libcrypto");
	type(f, "I");
	assert_mark_on(f, "libcrypto");
	type(f, "\bk");
	assert_shows(f, "Layout of shard 1");
	/* It is gone, too: the rows 0 to 1 are one now. */
	inv = feed_inventory(MACHINE_NOW);
	inv->shards[0].created = inv->shards[1].created = false;
	give(f, inv);
	assert_mark_on(f, "0-1");
	assert_shows(f, "Not created");
	type(f, "\n!");
	assert_int_equal(nposted, 0);
}

static void objects_are_dropped_and_pinned(void **state)
{
	struct typist *f = *state;

	give(f, feed_inventory(MACHINE_NOW));
	type(f, "!");
	assert_int_equal(nposted, 0);
	assert_shows(f, "which object?");
	type(f, "jj\nj!");
	assert_int_equal(nposted, 1);
	assert_int_equal(posted, SOURCE_DROP);
	assert_string_equal(posted_arg, "101");
	type(f, "kp");
	assert_int_equal(nposted, 2);
	assert_int_equal(posted, SOURCE_PIN);
	assert_string_equal(posted_arg, "100");
}

static void reset_offers_the_shard(void **state)
{
	struct typist *f = *state;

	give(f, feed_inventory(MACHINE_NOW));
	type(f, "jjR");
	assert_shows(f, "cancels): 2");
	type(f, "\n");
	assert_int_equal(posted, SOURCE_RESET_SHARD);
	assert_string_equal(posted_arg, "2");
	type(f, "GR");
	assert_shows(f, "cancels): all");
	type(f, "\n");
	assert_int_equal(posted, SOURCE_RESET_SHARDS);
	assert_int_equal(nposted, 2);
}

static void search_goes_through_all_shards(void **state)
{
	struct typist *f = *state;

	give(f, feed_inventory(MACHINE_NOW));
	type(f, "/SSL\n");
	assert_shows(f, "Layout of shard 2");
	assert_mark_on(f, "libssl.so.3");
	type(f, "/chrome\n");
	assert_shows(f, "Layout of shard 3");
	type(f, "n"); /* round */
	assert_shows(f, "Layout of shard 1");
	assert_mark_on(f, "chrome");
	type(f, "N");
	assert_shows(f, "Layout of shard 3");
	type(f, "/jemalloc\n");
	assert_shows(f, "Without a table");
	assert_mark_on(f, "libjemalloc.so.2");
	type(f, "/7f7f7f\n"); /* a build id */
	assert_mark_on(f, "postgres");
	type(f, "/nowhere\n");
	assert_shows(f, "not found: nowhere");
	assert_shows(f, "Layout of shard 2");
	type(f, "\\nowhere\n");
	assert_shows(f, "the filter keeps none");
	assert_hides(f, "it has no objects");
}

static void columns_sort(void **state)
{
	static const char *const firsts[] = {"nginx",	"libc.so",   "nginx",
					     "libc.so", "libc.so",   "postgres",
					     "nginx",	"libcrypto", "libc.so"};
	/* What was used last has the least age, and "l" comes before "p". */
	static const char *const marks[] = {"WORDS▼", "PROCS▼", "USED▲",   "STATE▼", "MISS s▼",
					    "B/CFI▼", "ROWS▼",	"DERIV%▼", "OBJECT▲"};
	struct typist *f = *state;

	give(f, feed_inventory(MACHINE_NOW));
	type(f, "jj\ng");
	assert_mark_on(f, "nginx");
	assert_shows(f, "KEY▲");
	/* The first by each column, from WORDS to OBJECT. */
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
		type(f, ">g");
		assert_mark_on(f, firsts[i]);
		assert_shows(f, marks[i]);
	}
	type(f, "Ig");
	assert_mark_on(f, "postgres");
	assert_shows(f, "OBJECT▼");
	ui_key(f->ui, KEYCODE_F0 + 6);
	assert_shows(f, "MISS: s without table");
	type(f, "jjj\n");
}

static void is_taken_only_while_shown(void **state)
{
	struct typist *f = *state;
	struct profile *p = f->feed.p;

	assert_true(board_inventory_wanted(profile_board(p)));
	assert_false(board_inventory_wanted(profile_board(p)));
	give(f, feed_inventory(MACHINE_NOW));
	assert_false(board_inventory_wanted(profile_board(p))); /* fresh */
	f->ui->now += MACHINE_SECOND;
	ui_refresh(f->ui);
	assert_true(board_inventory_wanted(profile_board(p)));
	type(f, "1");
	ui_refresh(f->ui);
	assert_false(board_inventory_wanted(profile_board(p)));
	type(f, "6z");
	board_inventory_wanted(profile_board(p));
	give(f, inventory_new(1, 0, 0));
	assert_false(board_inventory_wanted(profile_board(p)));
	assert_shows(f, "4-7");
	type(f, "z");
	assert_hides(f, "4-7");
}

#define SHARDS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARDS_TEST(screens_are_as_expected),
		SHARDS_TEST(says_when_there_is_nothing_yet),
		SHARDS_TEST(no_size_breaks),
		SHARDS_TEST(layout_is_true),
		SHARDS_TEST(hostile_names_are_harmless),
		SHARDS_TEST(cursors_stay),
		SHARDS_TEST(objects_are_dropped_and_pinned),
		SHARDS_TEST(reset_offers_the_shard),
		SHARDS_TEST(search_goes_through_all_shards),
		SHARDS_TEST(columns_sort),
		SHARDS_TEST(is_taken_only_while_shown),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
