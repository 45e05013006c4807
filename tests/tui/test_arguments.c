/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: alone */
/*
 * Options of a file and of the environment: what becomes of them, and what is refused and how it is
 * said. The table of options is this test's own, so that it has one of each kind; that of the
 * program is what tests/tui/test_options.c parses.
 * Covers: tui/arguments.c tui/util/conflines.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tui/arguments.h"
#include "tui/options.h"

#define OTHER 65534

static const struct option_row table[] = {
	{.letter = 'F', .name = "frequency", .arg = "HZ"},
	{.name = "comm", .arg = "REGEX"},
	{.letter = 'K', .name = "no-kernel"},
	{.name = "by-cpu"},
	{.name = "diff", .arg = "A B"},
	{.name = "push", .arg = "URL"},
	{.name = "push-every", .arg = "SEC"},
	{.name = "label", .arg = "NAME=VALUE"},
	{.name = "config", .arg = "FILE"},
	{.name = "agent"},
	{.letter = 'r', .name = "replay", .arg = "FILE"},
	{.name = "help", .result = OPTIONS_HELP},
};

/* The linker then leaves the program's table out. */
const struct option_row *options_table(size_t *count)
{
	*count = sizeof(table) / sizeof(*table);
	return table;
}

static char folder[SCRATCH];
static char path[SCRATCH + 8];
static struct arguments merged;
static char error[PATH_MAX];

static int begin(void **state)
{
	(void)state;
	scratch_folder(folder, "arguments");
	snprintf(path, sizeof(path), "%s/a.conf", folder);
	return 0;
}

static int forget(void **state)
{
	(void)state;
	arguments_free(&merged);
	unlink(path);
	unsetenv("STACKTOP_FREQUENCY");
	unsetenv("STACKTOP_LABEL");
	unsetenv("STACKTOP_NO_KERNEL");
	unsetenv("STACKTOP_PUSH_EVERY");
	unsetenv("STACKTOP_REPLAY");
	return 0;
}

static void write_bytes(const char *text, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0644), 0);
}

/* Arguments as a shell would split them at blanks. */
static int merge(const char *line, const char *file)
{
	static char copy[512];
	static char *argv[20];
	int argc = 1;

	arguments_free(&merged);
	snprintf(copy, sizeof(copy), "%s", line);
	argv[0] = (char *)"stacktop";
	for (char *s = strtok(copy, " "); s && argc < 19; s = strtok(NULL, " "))
		argv[argc++] = s;
	argv[argc] = NULL;
	return arguments_merge(argc, argv, file, &merged, error, sizeof(error));
}

/* The arguments behind the first one, with " | " between. */
static void assert_merged(const char *line, const char *file, const char *want)
{
	char text[4096] = "";
	size_t length = 0;

	if (merge(line, file))
		fail_msg("`%s': %s", line, error);
	assert_string_equal(error, "");
	assert_string_equal(merged.argv[0], "stacktop");
	for (int i = 1; i < merged.argc; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   i > 1 ? " | " : "", merged.argv[i]);
	assert_null(merged.argv[merged.argc]);
	assert_string_equal(text, want);
}

static void assert_file(const char *text, const char *want)
{
	write_bytes(text, strlen(text));
	assert_merged("", path, want);
}

/* want: behind the name of the file. */
static void assert_wrong(const char *text, size_t length, int err, const char *want)
{
	write_bytes(text, length);
	assert_int_equal(merge("", path), err);
	if (strncmp(error, path, strlen(path)) != 0 || strcmp(error + strlen(path), want) != 0)
		fail_msg("`%s' is answered with: %s", text, error);
	assert_null(merged.argv);
	assert_int_equal(merged.argc, 0);
}

#define ASSERT_WRONG(text, want) assert_wrong(text, sizeof(text) - 1, -EINVAL, want)

/* --- the file -------------------------------------------------------------------------------- */

static void test_lines(void **state)
{
	(void)state;
	assert_file("", "");
	assert_file("\n  \n# frequency = 1\n\t# x\n", "");
	assert_file("frequency = 49", "--frequency=49");
	assert_file("frequency=49\n", "--frequency=49");
	assert_file("\t frequency\t= \t49 \t\n", "--frequency=49");
	assert_file("frequency = 49 # Hz\n", "--frequency=49");
	assert_file("push = http://host/#a\n", "--push=http://host/#a");
	assert_file("comm = a b  c \n", "--comm=a b  c");
	assert_file("comm = a=b\n", "--comm=a=b");
	assert_file("comm = a\"b\"\n", "--comm=a\"b\"");
	assert_file("comm = \" a # b \"  # why\n", "--comm= a # b ");
	assert_file("comm = \"\\\"\\\\d\"\n", "--comm=\"\\d");
	assert_file("comm = --help\n", "--comm=--help");
	assert_file("comm = Müller\n", "--comm=Müller");
	assert_file("frequency = 49\nlabel = env=prod\nlabel = rack=4\n",
		    "--frequency=49 | --label=env=prod | --label=rack=4");
}

static void test_flags(void **state)
{
	(void)state;
	assert_file("no-kernel\n", "--no-kernel");
	assert_file("no-kernel # why\n", "--no-kernel");
	assert_file("no-kernel = yes\nby-cpu = no\n", "--no-kernel");
	ASSERT_WRONG("no-kernel = 1\n", ":1: `1' is neither yes nor no");
	ASSERT_WRONG("no-kernel =\n", ":1: `' is neither yes nor no");
}

static void test_wrong_lines(void **state)
{
	static char text[5000];

	(void)state;
	ASSERT_WRONG("# a\n\nfrequncy = 1\n", ":3: there is no option `frequncy'");
	ASSERT_WRONG("F = 1\n", ":1: there is no option `F'");
	ASSERT_WRONG("--frequency = 1\n", ":1: there is no option `--frequency'");
	ASSERT_WRONG("freq = 1\n", ":1: there is no option `freq'");
	ASSERT_WRONG("frequency\n", ":1: `frequency' needs a value");
	ASSERT_WRONG("frequency = \n", ":1: `frequency' needs a value");
	ASSERT_WRONG("frequency = \"\"\n", ":1: `frequency' needs a value");
	ASSERT_WRONG("frequency = # 1\n", ":1: `frequency' needs a value");
	ASSERT_WRONG("frequency = 1\n\nfrequency = 2\n", ":3: `frequency' is in line 1 already");
	ASSERT_WRONG("replay = x\n", ":1: `replay' is for the command line only");
	ASSERT_WRONG("config = x\n", ":1: `config' is for the command line only");
	ASSERT_WRONG("agent\n", ":1: `agent' is for the command line only");
	ASSERT_WRONG("help\n", ":1: `help' is for the command line only");
	ASSERT_WRONG("diff = x\n", ":1: `diff' is for the command line only");
	ASSERT_WRONG("frequency 49\n", ":1: a line is `name = value', or a comment behind #");
	ASSERT_WRONG("no-kernel#\n", ":1: a line is `name = value', or a comment behind #");
	ASSERT_WRONG("= 49\n", ":1: a line is `name = value', or a comment behind #");
	ASSERT_WRONG("[agent]\n", ":1: a line is `name = value', or a comment behind #");
	ASSERT_WRONG("comm = \"a\n", ":1: the closing quote is missing");
	ASSERT_WRONG("comm = \"a\\", ":1: within quotes, \\ may only stand before \" or \\");
	ASSERT_WRONG("comm = \"\\n\"", ":1: within quotes, \\ may only stand before \" or \\");
	ASSERT_WRONG("comm = \"a\" b\n", ":1: there is something behind the closing quote");
	ASSERT_WRONG("comm = a\033[31m\n",
		     ":1: there are control characters, or bytes that are not UTF-8");
	ASSERT_WRONG("comm = a\0b\n",
		     ":1: there are control characters, or bytes that are not UTF-8");
	ASSERT_WRONG("# \xff\n", ":1: there are control characters, or bytes that are not UTF-8");
	ASSERT_WRONG("frequency = 1\r\n",
		     ":1: the line ends as on Windows; only a line feed may end it");
	memset(text, 'x', sizeof(text));
	memcpy(text, "comm = ", 7);
	assert_wrong(text, 4097, -EINVAL, ":1: the line is longer than 4096 bytes");
	write_bytes(text, 4096);
	assert_int_equal(merge("", path), 0);
	assert_int_equal(strlen(merged.argv[1]), 4096 - 7 + 7);
}

static void test_bounds(void **state)
{
	static char text[ARGUMENTS_FILE_MAX + 2];

	(void)state;
	memset(text, '\n', sizeof(text));
	assert_wrong(text, ARGUMENTS_FILE_MAX + 1, -EFBIG, ": larger than 64 KiB");
	write_bytes(text, ARGUMENTS_FILE_MAX);
	assert_int_equal(merge("", path), 0);
	for (size_t i = 0; i < ARGUMENTS_MAX + 1; i++)
		memcpy(text + 10 * i, "label = x\n", 10);
	assert_wrong(text, 10 * (ARGUMENTS_MAX + 1), -EINVAL,
		     ":1025: there are more than 1024 options");
	write_bytes(text, 10 * (size_t)ARGUMENTS_MAX);
	assert_int_equal(merge("", path), 0);
	assert_int_equal(merged.argc, 1 + ARGUMENTS_MAX);
}

static void test_files_refused(void **state)
{
	char other[SCRATCH + 16];

	(void)state;
	assert_int_equal(merge("", path), -ENOENT);
	assert_non_null(strstr(error, "a.conf: No such file or directory"));
	assert_int_equal(merge("", folder), -EINVAL);
	assert_non_null(strstr(error, ": not a regular file"));
	assert_int_equal(merge("", "/proc/version"), -EINVAL);
	if (geteuid()) {
		print_message("not root: files of other users cannot be tested\n");
		return;
	}
	write_bytes("frequency = 1\n", 14);
	assert_int_equal(chmod(path, 0664), 0);
	assert_int_equal(merge("", path), -EPERM);
	assert_non_null(strstr(error, ": other users may write this file, so root does not use it: "
				      "chmod go-w"));
	assert_int_equal(chmod(path, 0646), 0);
	assert_int_equal(merge("", path), -EPERM);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(merge("", path), 0);
	assert_int_equal(chown(path, OTHER, OTHER), 0);
	assert_int_equal(merge("", path), -EPERM);
	assert_non_null(strstr(error, "; the file has to be root's"));
	/* A link of root's counts where other users cannot replace it. */
	assert_int_equal(chown(path, 0, 0), 0);
	snprintf(other, sizeof(other), "%s/link.conf", folder);
	assert_int_equal(symlink("a.conf", other), 0);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(merge("", other), -EPERM);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_int_equal(merge("", other), 0);
	assert_int_equal(merged.argc, 2);
	/* Another user's link to it is not followed. */
	assert_int_equal(lchown(other, OTHER, OTHER), 0);
	assert_int_equal(merge("", other), -EPERM);
	assert_int_equal(chmod(folder, 0700), 0);
	unlink(other);
}

/* --- which file ------------------------------------------------------------------------------ */

static void assert_read(const char *before, const char *behind, bool read)
{
	char line[512];

	snprintf(line, sizeof(line), "%s%s%s", before, path, behind);
	if (merge(line, NULL))
		fail_msg("`%s': %s", line, error);
	if (read != (merged.file != NULL) || read != !strcmp(merged.argv[1], "--frequency=49"))
		fail_msg("`%s' has %s first", line, merged.argv[1]);
	if (read)
		assert_string_equal(merged.file, path);
}

static void test_file_by_command_line(void **state)
{
	(void)state;
	write_bytes("frequency = 49\n", 15);
	assert_read("--config ", "", true);
	assert_read("--config=", "", true);
	assert_read("--conf=", "", true); /* getopt_long takes the beginning of a name */
	assert_read("--agent --config ", "", true);
	assert_read("-K --diff a b --config ", "", true);
	assert_read("-KF3 --config ", "", true);
	assert_read("--wrong --config ", "", true); /* options_parse refuses it */
	assert_read("--config /nowhere --config ", "", true);
	assert_read("-- --config ", "", false);
	assert_read("--comm --config ", "", false);
	assert_read("-F --config ", "", false);
	assert_read("ls --config ", "", false);
	assert_read("--config ", " --help", false);
	assert_merged("-K --comm x -- ls -K", path,
		      "--frequency=49 | -K | --comm | x | -- | ls | -K");
	assert_int_equal(merge("--config /nowhere/a.conf", NULL), -ENOENT);
	assert_string_equal(error, "/nowhere/a.conf: No such file or directory");
	assert_int_equal(merge("--config", NULL), 0);
}

static void test_default_file(void **state)
{
	(void)state;
	if (!access(ARGUMENTS_FILE, F_OK)) {
		print_message("%s exists\n", ARGUMENTS_FILE);
		return;
	}
	assert_merged("--agent", NULL, "--agent");
	assert_null(merged.file);
}

/* --- the environment ------------------------------------------------------------------------- */

static void test_environment(void **state)
{
	(void)state;
	setenv("STACKTOP_FREQUENCY", "99", 1);
	setenv("STACKTOP_LABEL", "a=1,,b=2,", 1);
	setenv("STACKTOP_NO_KERNEL", "yes", 1);
	setenv("STACKTOP_PUSH_EVERY", "", 1);
	setenv("STACKTOP_REPLAY", "x", 1);
	write_bytes("frequency = 49\nlabel = c=3\n", 27);
	assert_merged("--frequency 11", path,
		      "--frequency=49 | --label=c=3 | --label=a=1 | --label=b=2 | "
		      "--frequency=99 | --no-kernel | --frequency | 11");
	assert_merged("--push x", NULL,
		      "--label=a=1 | --label=b=2 | --frequency=99 | --no-kernel | --push | x");
	assert_merged("-K", NULL, "-K");
	assert_merged("--help --push x", NULL, "--help | --push | x");
	setenv("STACKTOP_FREQUENCY", "1\n2", 1);
	assert_int_equal(merge("--push x", NULL), -EINVAL);
	assert_string_equal(error, "STACKTOP_FREQUENCY: there are control characters");
	unsetenv("STACKTOP_FREQUENCY");
	setenv("STACKTOP_NO_KERNEL", "1", 1);
	assert_int_equal(merge("--push x", NULL), -EINVAL);
	assert_string_equal(error, "STACKTOP_NO_KERNEL: `1' is neither yes nor no");
	assert_merged("-K", NULL, "-K");
}

static void test_flag_taken_back(void **state)
{
	(void)state;
	setenv("STACKTOP_NO_KERNEL", "no", 1);
	assert_file("by-cpu\nno-kernel\nfrequency = 1\n", "--by-cpu | --frequency=1");
}

static void test_origins(void **state)
{
	char want[sizeof(path) + 8];

	(void)state;
	setenv("STACKTOP_PUSH_EVERY", "10", 1);
	write_bytes("\nfrequency = 49\n", 16);
	assert_merged("-K", path, "--frequency=49 | --push-every=10 | -K");
	snprintf(want, sizeof(want), "%s:2", path);
	assert_null(arguments_origin(&merged, 0));
	assert_string_equal(arguments_origin(&merged, 1), want);
	assert_string_equal(arguments_origin(&merged, 2), "STACKTOP_PUSH_EVERY");
	assert_null(arguments_origin(&merged, 3));
	assert_null(arguments_origin(&merged, 4));
	assert_null(arguments_origin(&merged, -1));
}

/* As after SIGHUP: what was read before stays as it was. */
static void test_again(void **state)
{
	struct arguments first;

	(void)state;
	write_bytes("frequency = 49\n", 15);
	assert_int_equal(merge("--agent", path), 0);
	first = merged;
	merged = (struct arguments){0};
	write_bytes("frequency = 50\n", 15);
	assert_merged("--agent", path, "--frequency=50 | --agent");
	assert_string_equal(first.argv[1], "--frequency=49");
	write_bytes("frequency\n", 10);
	assert_int_equal(merge("--agent", path), -EINVAL);
	assert_string_equal(first.argv[1], "--frequency=49");
	arguments_free(&first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_lines, forget),
		cmocka_unit_test_teardown(test_flags, forget),
		cmocka_unit_test_teardown(test_wrong_lines, forget),
		cmocka_unit_test_teardown(test_bounds, forget),
		cmocka_unit_test_teardown(test_files_refused, forget),
		cmocka_unit_test_teardown(test_file_by_command_line, forget),
		cmocka_unit_test_teardown(test_default_file, forget),
		cmocka_unit_test_teardown(test_environment, forget),
		cmocka_unit_test_teardown(test_flag_taken_back, forget),
		cmocka_unit_test_teardown(test_origins, forget),
		cmocka_unit_test_teardown(test_again, forget),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, scratch_remove);
}
