// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of keys: every key can be typed, means one thing in a view, and is documented.
 * Covers: tui/screen/keys.c tui/app/help.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/rights.h"
#include "tui/screen/grid.h"
#include "tui/app/help.h"
#include "tui/screen/keys.h"
#include "tui/profile/profile.h"
#include "tui/query/query.h"

static void names_are_keys(void **state)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		char keys[64], *save, *key;

		snprintf(keys, sizeof(keys), "%s", rows[i].keys);
		for (key = strtok_r(keys, " ", &save); key; key = strtok_r(NULL, " ", &save))
			if (keys_parse(key, strlen(key)) == KEYCODE_NONE)
				fail_msg("%s: %s is no key", rows[i].name, key);
	}
	assert_int_equal(keys_parse("k", 1), 'k');
	assert_int_equal(keys_parse("^L", 2), 12);
	assert_int_equal(keys_parse("F10", 3), KEYCODE_F0 + 10);
	assert_int_equal(keys_parse("F13", 3), KEYCODE_NONE);
	assert_int_equal(keys_parse("Space", 5), ' ');
	assert_int_equal(keys_parse("nothing", 7), KEYCODE_NONE);
}

/* A row whose key is taken by an earlier one in all its views could never be reached. */
static void no_key_means_two_things(void **state)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		char keys[64], *save, *key;

		snprintf(keys, sizeof(keys), "%s", rows[i].keys);
		for (key = strtok_r(keys, " ", &save); key; key = strtok_r(NULL, " ", &save))
			for (int view = VIEW_FRAME; view < VIEW_KEYS_COUNT; view++) {
				if (!(rows[i].views & VIEW_BIT(view)))
					continue;
				if (keys_action(keys_parse(key, strlen(key)), (enum ui_view)view) !=
				    rows[i].action)
					fail_msg("%s of %s is taken in view %d", key, rows[i].name,
						 view);
			}
	}
	assert_int_equal(keys_action(KEYCODE_NONE, VIEW_PROCS), ACTION_NONE);
	assert_int_equal(keys_action('E', VIEW_PROCS), ACTION_NONE);
}

static void names_are_unique(void **state)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);

	(void)state;
	assert_int_equal(count, ACTION_COUNT - 1);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(rows[i].name, rows[k].name);
}

static void help_shows_every_action(void **state)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);
	const struct profile_health last = {
		.locked = 3 << 20, .shards_created = 2, .shards_max = 16};
	const struct history kept = {.seconds = 312.4, .bytes = 5 << 20, .bytes_max = 64 << 20};
	const struct help_subject subject = {VIEW_TREE, NULL, &last, &kept};
	struct grid *g = grid_new(250, 99);
	char *text;

	(void)state;
	assert_int_equal(help_draw(g, 0, &subject), 0);
	text = grid_text(g);
	for (size_t i = 0; i < count; i++) {
		assert_non_null(strstr(text, rows[i].keys));
		assert_non_null(strstr(text, rows[i].help));
	}
	free(text);
	/* On a small screen the last line is reached by scrolling. */
	grid_resize(g, 15, 60);
	help_draw(g, help_draw(g, 0, &subject), &subject);
	text = grid_text(g);
	assert_non_null(strstr(text, "5.0 of 64 MiB of memory for the history: 312 of 600 s"));
	/* 4 MiB a shard */
	assert_non_null(strstr(text, "11.0 MiB of locked memory: 3.0 of BPF maps, 8 of 64"));
	assert_non_null(strstr(text, "act at each key"));
	free(text);
	grid_free(g);
}

static void manual_has_every_action(void **state)
{
	size_t count, length;
	char *want = NULL, manual[65536], *keys, *item;
	FILE *f = fopen("docs/stacktop.1", "r"), *to = open_memstream(&want, &length);

	(void)state;
	keys_table(&count);
	assert_non_null(to);
	keys_write_table(to);
	fclose(to);
	for (size_t i = 0, n = 0; i < count; i++) {
		item = strstr(want + n, ".TP\n");
		assert_non_null(item);
		n = (size_t)(item - want) + 1;
	}
	if (!f) {
		free(want);
		skip_since("docs/stacktop.1 is not there");
	}
	manual[fread(manual, 1, sizeof(manual) - 1, f)] = '\0';
	fclose(f);
	keys = strstr(manual, ".SH KEYS");
	assert_non_null(keys);
	/* `build/tests/tui/test_keys --manual` prints what must stand there. */
	if (!strstr(keys, want))
		fail_msg("the KEYS section of docs/stacktop.1 is not that of the table");
	free(want);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_keys),
		cmocka_unit_test(no_key_means_two_things),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(help_shows_every_action),
		cmocka_unit_test(manual_has_every_action),
	};

	if (argc == 2 && strcmp(argv[1], "--manual") == 0) {
		keys_write_table(stdout);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
