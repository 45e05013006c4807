// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file of settings: what lines mean, what stays when it is written, and what is refused.
 * Covers: tui/ui/config.c tui/ui/config_file.c tui/screen/keymap.c
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/scratch.h"
#include "tests/support/warnings.h"
#include "tui/ui/config.h"

static void parse(struct config *c, const char *text)
{
	warnings_begin();
	config_parse(c, text, strlen(text), keep_warning, NULL);
}

static void lines_mean_what_they_say(void **state)
{
	struct config c;

	(void)state;
	parse(&c, "# mine\n\nrefresh = 2.5   # slow line\nwindow=total\ntheme = nord\nascii = yes\n"
		  "mouse = no\nunits = machine\nframes = language\nhide.procs = user, CONTAINER\n"
		  "key F5 = flip\nkey # = zero\nkey = = quit\nkey x = none\n");
	assert_string_equal(warnings, "");
	assert_true(c.refresh > 2.49 && c.refresh < 2.51);
	assert_true(c.total);
	assert_string_equal(c.theme, "nord");
	assert_true(c.ascii);
	assert_true(c.no_mouse);
	assert_int_equal(c.units, UNITS_MACHINE);
	assert_int_equal(c.frames, FRAMES_LANGUAGE);
	assert_true(config_hides(&c, VIEW_PROCS, "USER"));
	assert_true(config_hides(&c, VIEW_PROCS, "CONTAINER, UNIT"));
	assert_false(config_hides(&c, VIEW_PROCS, "THR"));
	assert_false(config_hides(&c, VIEW_PROCS, "USERS"));
	assert_int_equal(keymap_action(&c.keys, KEYCODE_F0 + 5, VIEW_TREE), ACTION_FLIP);
	assert_int_equal(keymap_action(&c.keys, '#', VIEW_TREE), ACTION_ZERO);
	assert_int_equal(keymap_action(&c.keys, '=', VIEW_PROCS), ACTION_QUIT);
	assert_int_equal(keymap_action(&c.keys, 'x', VIEW_PROCS), ACTION_NONE);
	assert_int_equal(keymap_action(&c.keys, 'q', VIEW_PROCS), ACTION_QUIT);
}

static void wrong_lines_are_named_with_their_number(void **state)
{
	struct config c;

	(void)state;
	parse(&c, "refresh = 0\nrefresh = inf\nrefresh = 1e3\ncolour = red\ntheme = ../x\n"
		  "just words\nkey F99 = flip\nkey F5 = fly\n");
	assert_non_null(strstr(warnings, "line 1: refresh: '0' is not a number from 0.1"));
	assert_non_null(strstr(warnings, "line 2: refresh: 'inf'"));
	assert_non_null(strstr(warnings, "line 3: refresh: '1e3'"));
	assert_non_null(strstr(warnings, "line 4: unknown setting 'colour'"));
	assert_non_null(strstr(warnings, "line 5: theme: '../x' is not the name of a theme"));
	assert_non_null(strstr(warnings, "line 6: expected: name = value"));
	assert_non_null(strstr(warnings, "line 7: there is no key 'F99'"));
	assert_non_null(strstr(warnings, "line 8: there is no action 'fly'"));
	assert_int_equal(nwarnings, 8);
	assert_true(c.refresh == 0);
	assert_string_equal(c.theme, "");
	parse(&c, "frames = none\n");
	assert_non_null(strstr(warnings, "line 1: frames: 'none' is not merged, all or language"));
	assert_int_equal(c.frames, FRAMES_MERGED);
	parse(&c, "theme = x/../y\n");
	assert_non_null(strstr(warnings, "line 1: theme: 'x/../y' is not the name of a theme"));
}

/* Two actions that share a view cannot share a key; what shares none may. */
static void conflicts_are_told(void **state)
{
	struct config c;

	(void)state;
	parse(&c, "key x = zero\nkey x = quit\nkey y = turn\nkey y = open\nkey x = zero\n");
	assert_string_equal(warnings, "line 2: key x is bound to zero already, by line 1\n");
	assert_int_equal(keymap_action(&c.keys, 'x', VIEW_PROCS), ACTION_ZERO);
	assert_int_equal(keymap_action(&c.keys, 'y', VIEW_FLAME), ACTION_FLAME_TURN);
	assert_int_equal(keymap_action(&c.keys, 'y', VIEW_TREE), ACTION_TREE_OPEN);
}

static void keys_are_shown_as_they_are_bound(void **state)
{
	struct config c;
	char keys[48];

	(void)state;
	parse(&c, "key x = quit\nkey F10 = zero\n");
	keymap_keys(&c.keys, ACTION_QUIT, keys, sizeof(keys));
	assert_string_equal(keys, "x q");
	keymap_keys(&c.keys, ACTION_ZERO, keys, sizeof(keys));
	assert_string_equal(keys, "F10 0");
	keymap_keys(NULL, ACTION_QUIT, keys, sizeof(keys));
	assert_string_equal(keys, "F10 q");
	keymap_reset(&c.keys, ACTION_ZERO);
	keymap_keys(&c.keys, ACTION_QUIT, keys, sizeof(keys));
	assert_string_equal(keys, "x F10 q");
	/* of several keys in a row none is left */
	parse(&c, "key a = zero\nkey b = zero\nkey x = quit\n");
	keymap_reset(&c.keys, ACTION_ZERO);
	keymap_keys(&c.keys, ACTION_ZERO, keys, sizeof(keys));
	assert_string_equal(keys, "0");
	keymap_keys(&c.keys, ACTION_QUIT, keys, sizeof(keys));
	assert_string_equal(keys, "x F10 q");
}

static void every_key_has_the_name_it_is_read_by(void **state)
{
	char name[KEYMAP_NAME];

	(void)state;
	for (int key = 1; key < 0x7f; key++) {
		if (key > 26 && key < ' ' && key != KEYCODE_ESCAPE)
			continue;
		assert_true(keymap_name(key, name, sizeof(name)));
		assert_int_equal(keys_parse(name, strlen(name)), key);
	}
	for (int key = KEYCODE_UP; key <= KEYCODE_LAST; key++) {
		if (key == KEYCODE_F0)
			continue;
		assert_true(keymap_name(key, name, sizeof(name)));
		assert_int_equal(keys_parse(name, strlen(name)), key);
	}
	assert_false(keymap_name(0x20ac, name, sizeof(name)));
	assert_false(keymap_name(KEYCODE_MOUSE, name, sizeof(name)));
}

static void hostile_text_is_bounded(void **state)
{
	static char big[CONFIG_FILE_MAX];
	struct config c;
	size_t n = 0;

	(void)state;
	memset(big, 'a', sizeof(big));
	nwarnings = 0;
	warnings[0] = '\0';
	config_parse(&c, big, sizeof(big), keep_warning, NULL);
	assert_string_equal(warnings, "line 1: the line is too long or not text\n");
	memset(big, '\0', sizeof(big));
	config_parse(&c, big, sizeof(big), keep_warning, NULL);
	assert_int_equal(nwarnings, 2);
	memset(big, '=', sizeof(big));
	for (size_t i = 1; i < sizeof(big); i += 2)
		big[i] = '\n';
	nwarnings = 0;
	config_parse(&c, big, sizeof(big), keep_warning, NULL);
	assert_int_equal(nwarnings, 9);
	/* More keys than there is room for. */
	for (int key = '!'; key < 0x7f; key++)
		n += (size_t)snprintf(big + n, sizeof(big) - n,
				      "key %c = turn\nkey %c = open\nkey %c = pin\n", key, key,
				      key);
	nwarnings = 0;
	config_parse(&c, big, n, keep_warning, NULL);
	assert_int_equal(c.keys.count, KEYMAP_MAX);
	assert_int_equal(nwarnings, 9);
	parse(&c, "\x1b[2J = \x1b]0;x\x07\nkey \x1b[A = quit\n");
	assert_int_equal(nwarnings, 2);
	assert_null(strchr(warnings, 0x1b));
	assert_null(strchr(warnings, 0x07));
}

static void edit_keeps_what_it_does_not_know(void **state)
{
	static const char text[] = "# my settings\n"
				   "refresh = 1     # as it was\n"
				   "shiny = yes\n"
				   "\n"
				   "theme = nord\n"
				   "key F5 = flip\n"
				   "key x = fly\n"
				   "  # the end";
	struct config c;
	enum action other;
	char *out;

	(void)state;
	parse(&c, text);
	assert_int_equal(config_edit(&c, text, strlen(text), &out), 0);
	/* Nothing was changed but the missing end of the last line. */
	assert_memory_equal(out, text, strlen(text));
	assert_string_equal(out + strlen(text), "\n");
	free(out);
	snprintf(c.theme, sizeof(c.theme), "light");
	c.no_mouse = true;
	keymap_bind(&c.keys, KEYCODE_F0 + 5, ACTION_ZERO, true, &other);
	assert_int_equal(config_edit(&c, text, strlen(text), &out), 0);
	assert_string_equal(out, "# my settings\n"
				 "refresh = 1     # as it was\n"
				 "shiny = yes\n"
				 "\n"
				 "theme = light\n"
				 "key x = fly\n"
				 "  # the end\n"
				 "mouse = no\n"
				 "key F5 = zero\n");
	free(out);
}

static void assert_edited(const struct config *c, const char *text, const char *want)
{
	struct config again;
	char *out;

	assert_int_equal(config_edit(c, text, strlen(text), &out), 0);
	assert_string_equal(out, want);
	/* It means the same as what was to be written. */
	parse(&again, out);
	assert_string_equal(again.theme, c->theme);
	assert_true(again.refresh == c->refresh);
	assert_int_equal(again.keys.count, c->keys.count);
	assert_memory_equal(again.keys.binds, c->keys.binds,
			    c->keys.count * sizeof(c->keys.binds[0]));
	free(out);
}

/* Of two lines about the same the one that has no effect is told and kept, and gets none. */
static void edit_keeps_what_is_there_twice(void **state)
{
	static const char text[] = "key x = zero\n"
				   "key x = quit   # or rather this\n"
				   "key x = zero\n"
				   "key y = none\n"
				   "key y = zero\n"
				   "theme = nord\n"
				   "theme = light\n"
				   "refresh = soon\n";
	struct config c;
	enum action other;

	(void)state;
	parse(&c, text);
	assert_string_equal(warnings, "line 2: key x is bound to zero already, by line 1\n"
				      "line 5: key y is bound to none already, by line 4\n"
				      "line 7: theme is set by line 6, too; the later one counts\n"
				      "line 8: refresh: 'soon' is not a number from 0.1 to 3600\n");
	assert_string_equal(c.theme, "light");
	assert_edited(&c, text, text);
	snprintf(c.theme, sizeof(c.theme), "mono");
	keymap_reset(&c.keys, ACTION_ZERO);
	assert_edited(&c, text,
		      "# key x = quit   # or rather this\n"
		      "key y = none\n"
		      "key y = zero\n"
		      "theme = nord\n"
		      "theme = mono\n"
		      "refresh = soon\n");
	/* What is chosen now is what the second line says. */
	keymap_bind(&c.keys, 'x', ACTION_QUIT, true, &other);
	c.refresh = 2;
	assert_edited(&c, text,
		      "# key x = quit   # or rather this\n"
		      "key y = none\n"
		      "key y = zero\n"
		      "theme = nord\n"
		      "theme = mono\n"
		      "refresh = soon\n"
		      "refresh = 2\n"
		      "key x = quit\n");
}

/* What is written is read as the same again. */
static void settings_survive(void **state)
{
	struct config c, again;
	char *out;

	(void)state;
	parse(&c, "refresh = 0.2\nwindow = total\nascii = yes\nunits = machine\n"
		  "hide.tree = MODULE\nkey ^X = quit\nkey Space = zero\nkey S-Tab = none\n");
	config_hide(&c, VIEW_PROCS, "USER", true);
	config_hide(&c, VIEW_PROCS, "THR", true);
	config_hide(&c, VIEW_PROCS, "USER", false);
	assert_string_equal(c.hide[VIEW_PROCS], "THR");
	assert_int_equal(config_edit(&c, "", 0, &out), 0);
	parse(&again, out);
	assert_string_equal(warnings, "");
	assert_memory_equal(&again, &c, sizeof(c));
	free(out);
}

/* Blanks behind the commas make a list longer than it was. */
static void a_full_list_stays_within_its_room(void **state)
{
	char text[CONFIG_HIDE_MAX + 32] = "hide.procs = ";
	struct config c;

	(void)state;
	for (int i = 0; i < (CONFIG_HIDE_MAX - 1) / 2; i++)
		strcat(text, "a,");
	strcat(text, "a\n");
	parse(&c, text);
	assert_string_equal(warnings, "");
	assert_int_equal(strlen(c.hide[VIEW_PROCS]), CONFIG_HIDE_MAX - 1);
	config_hide(&c, VIEW_PROCS, "USER", true);
	assert_true(strlen(c.hide[VIEW_PROCS]) > CONFIG_HIDE_MAX - 5);
	assert_true(strlen(c.hide[VIEW_PROCS]) < CONFIG_HIDE_MAX);
	assert_true(config_hides(&c, VIEW_PROCS, "a"));
	config_hide(&c, VIEW_PROCS, "a", false);
	assert_string_equal(c.hide[VIEW_PROCS], "");
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_file(const char *path, const char *want)
{
	char text[256];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(text, want);
}

static void files_are_written_as_a_whole(void **state)
{
	char dir[SCRATCH], path[128], other[128], path_of_env[256];
	struct config c;

	(void)state;
	scratch_folder(dir, "config");
	setenv("XDG_CONFIG_HOME", dir, 1);
	assert_true(config_path(path_of_env, sizeof(path_of_env)));
	snprintf(path, sizeof(path), "%s/stacktop/config", dir);
	assert_string_equal(path_of_env, path);
	setenv("XDG_CONFIG_HOME", "relative", 1);
	setenv("HOME", "/nowhere", 1);
	assert_true(config_path(path_of_env, sizeof(path_of_env)));
	assert_string_equal(path_of_env, "/nowhere/.config/stacktop/config");
	/* None is there, and no directory. */
	assert_int_equal(config_read(&c, path, keep_warning, NULL), 0);
	c.total = true;
	assert_int_equal(config_write(&c, path), 0);
	assert_file(path, "window = total\n");
	/* A link of one's own leads to the file, which is replaced, not the link. */
	snprintf(other, sizeof(other), "%s/elsewhere", dir);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	c.ascii = true;
	assert_int_equal(config_write(&c, path), 0);
	assert_file(other, "window = total\nascii = yes\n");
	unlink(path);
	/* A FIFO is not waited for, neither to read nor to write. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(config_read(&c, path, keep_warning, NULL), -EINVAL);
	assert_false(c.total);
	assert_int_equal(config_write(&c, path), -EINVAL);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(config_read(&c, path, keep_warning, NULL), -EINVAL);
	rmdir(path);
	write_file(path, "");
	assert_int_equal(truncate(path, CONFIG_FILE_MAX + 1), 0);
	assert_int_equal(config_read(&c, path, keep_warning, NULL), -EFBIG);
	assert_int_equal(config_write(&c, path), -EFBIG);
	if (geteuid() == 0) {
		write_file(path, "window = total\n");
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(config_read(&c, path, keep_warning, NULL), -EPERM);
		assert_false(c.total);
		unlink(path);
		assert_int_equal(symlink(other, path), 0);
		assert_int_equal(lchown(path, 65534, 65534), 0);
		assert_int_equal(config_read(&c, path, keep_warning, NULL), -EPERM);
		assert_int_equal(config_write(&c, path), -EPERM);
		assert_file(other, "window = total\nascii = yes\n");
	}
	unlink(path);
	unlink(other);
	snprintf(path, sizeof(path), "%s/stacktop", dir);
	assert_int_equal(rmdir(path), 0); /* nothing else was left behind */
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_mean_what_they_say),
		cmocka_unit_test(wrong_lines_are_named_with_their_number),
		cmocka_unit_test(conflicts_are_told),
		cmocka_unit_test(keys_are_shown_as_they_are_bound),
		cmocka_unit_test(every_key_has_the_name_it_is_read_by),
		cmocka_unit_test(hostile_text_is_bounded),
		cmocka_unit_test(edit_keeps_what_it_does_not_know),
		cmocka_unit_test(edit_keeps_what_is_there_twice),
		cmocka_unit_test(settings_survive),
		cmocka_unit_test(a_full_list_stays_within_its_room),
		cmocka_unit_test(files_are_written_as_a_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
