/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: what is taken, what is refused and how it is said, and that --help and the
 * manual know every option of the table.
 * Covers: tui/arguments.c tui/options.c tui/options_priv.h
 * Covers: tui/options_values.c tui/options_parts.c bpf/sampler/event.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <getopt.h>
#include <linux/perf_event.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/sampler/event.h"
#include "tests/support/scratch.h"
#include "tui/app/dispatch.h"
#include "tui/arguments.h"
#include "tui/collect/collector.h"
#include "tui/options.h"
#include "tui/query/query.h"
#include "tui/session/player.h"

#define ARGS_MAX 16

static struct options options;
static char *message;

/* Arguments as a shell would split them at blanks; "_" stands for an empty one. */
static enum options_result parse(const char *line)
{
	static char copy[512];
	static char *argv[ARGS_MAX + 2];
	int argc = 1;
	size_t size;
	FILE *err;
	enum options_result result;

	options_free(&options);
	free(message);
	message = NULL;
	err = open_memstream(&message, &size);
	snprintf(copy, sizeof(copy), "%s", line);
	argv[0] = (char *)"stacktop";
	for (char *s = strtok(copy, " "); s && argc < ARGS_MAX; s = strtok(NULL, " "))
		argv[argc++] = strcmp(s, "_") ? s : (char *)"";
	argv[argc] = NULL;
	result = options_parse(argc, argv, &options, err);
	fclose(err);
	return result;
}

static void assert_refused(const char *line, const char *part)
{
	assert_int_equal(parse(line), OPTIONS_USAGE);
	if (!strstr(message, part) || !strstr(message, "usage: stacktop"))
		fail_msg("`%s' is answered with: %s", line, message);
	for (const char *s = message; *s; s++)
		assert_true(*s == '\n' || (unsigned char)*s >= ' ');
}

/* What a file says is checked as what is typed, which counts more. */
static void test_file(void **state)
{
	char *argv[] = {(char *)"stacktop", (char *)"-F", (char *)"11", NULL};
	char path[SCRATCH], error[256];
	struct arguments merged;
	FILE *file, *err;
	size_t size;

	(void)state;
	file = fdopen(scratch_file(path, "options"), "w");
	assert_non_null(file);
	fputs("frequency = 49\nevent = cycles\nno-kernel\nmemory = many\n", file);
	fclose(file);
	assert_int_equal(arguments_merge(3, argv, path, &merged, error, sizeof(error)), 0);
	options_free(&options);
	free(message);
	err = open_memstream(&message, &size);
	assert_int_equal(options_parse(merged.argc, merged.argv, &options, err), OPTIONS_USAGE);
	fclose(err);
	assert_non_null(strstr(message, "--memory: `many' is not a number"));
	assert_non_null(strstr(arguments_origin(&merged, optind - 1), ":4"));
	free(message);
	options_free(&options);
	merged.argv[4][9] = '8'; /* --memory=8any */
	merged.argv[4][10] = '\0';
	err = open_memstream(&message, &size);
	assert_int_equal(options_parse(merged.argc, merged.argv, &options, err), OPTIONS_RUN);
	fclose(err);
	assert_int_equal(options.frequency, 11);
	assert_string_equal(options.event->name, "cycles");
	assert_true(options.no_kernel);
	assert_int_equal(options.memory, 8);
	options_free(&options);
	arguments_free(&merged);
	unlink(path);
}

static void test_defaults(void **state)
{
	(void)state;
	assert_int_equal(parse(""), OPTIONS_RUN);
	assert_string_equal(message, "");
	assert_null(options.pids);
	assert_null(options.comm);
	assert_false(options.user_given);
	assert_null(options.cpus);
	assert_int_equal(options.frequency, 99);
	assert_string_equal(options.event->name, "cpu-clock");
	assert_true(options.delay == 1.0);
	assert_int_equal(options.iterations, 0);
	assert_int_equal(options.memory, 0);
	assert_int_equal(options.debug_memory, 0);
	assert_null(options.symbolize);
	assert_int_equal(options.format, FORMAT_TEXT);
	assert_false(options.no_kernel || options.no_user || options.batch || options.check ||
		     options.force || options.ascii || options.no_color);
	assert_null(options.dump_unwind);
	assert_null(options.theme);
	assert_null(options.command);
}

static void test_lists(void **state)
{
	static const pid_t pids[] = {1, 7, 42, 99};
	static const unsigned int cpus[] = {0, 1, 2, 3, 5, 7};

	(void)state;
	assert_int_equal(parse("-p 42,7,42 --pid=99,1 -C 0-3,5 --cpu 1-2,7"), OPTIONS_RUN);
	assert_int_equal(options.npids, 4);
	assert_memory_equal(options.pids, pids, sizeof(pids));
	assert_int_equal(options.ncpus, 6);
	assert_memory_equal(options.cpus, cpus, sizeof(cpus));
	assert_int_equal(parse("-p 2147483647 -C 8191"), OPTIONS_RUN);
	assert_int_equal(options.pids[0], 2147483647);
	assert_int_equal(options.cpus[0], 8191);

	assert_refused("-p 0", "--pid: `0'");
	assert_refused("-p -5", "--pid: `-5'");
	assert_refused("-p 1,,2", "--pid: `1,,2'");
	assert_refused("-p 1,", "--pid: `1,'");
	assert_refused("-p 12x", "--pid: `12x'");
	assert_refused("-p _", "--pid: `'");
	assert_refused("-p 2147483648", "--pid: `2147483648'");
	assert_refused("-p 99999999999999999999999", "--pid");
	assert_refused("-C 3-1", "--cpu: `3-1'");
	assert_refused("-C 1-", "--cpu: `1-'");
	assert_refused("-C ,1", "--cpu: `,1'");
	assert_refused("-C 8192", "--cpu: `8192'");
	assert_refused("-C 0-4294967296", "--cpu");
	assert_refused("-C _", "--cpu: `'");
}

static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(parse("-F 1 -n 1 --memory 1 -d 0.1"), OPTIONS_RUN);
	assert_int_equal(options.frequency, 1);
	assert_int_equal(options.iterations, 1);
	assert_int_equal(options.memory, 1);
	assert_true(options.delay > 0.0999 && options.delay < 0.1001);
	assert_int_equal(parse("-F 9999 -n 1000000000 --memory 4096 -d 3600"), OPTIONS_RUN);
	assert_int_equal(options.frequency, 9999);
	assert_int_equal(options.memory, 4096);
	assert_true(options.delay == 3600);
	assert_int_equal(parse("-d 2.25"), OPTIONS_RUN);
	assert_true(options.delay > 2.2499 && options.delay < 2.2501);
	assert_int_equal(parse("-d .5"), OPTIONS_RUN);

	static const char *const wrong[] = {
		"-F 0",
		"-F 10000",
		"-F -1",
		"-F 1e3",
		"-F 0x10",
		"-F +5",
		"-F 9.9",
		"-n 0",
		"-n 5x",
		"-n _",
		"--memory 0",
		"--memory 4097",
		"--debug-memory 0",
		"--debug-memory 65537",
		"-d 0.09",
		"-d 0",
		"-d 3600.1",
		"-d inf",
		"-d nan",
		"-d 1,5",
		"-d 0x1p3",
		"-d -1",
		"-d 1.",
		"-d .",
		"-d 1.2.3",
		"-d 1e1",
		"-F 18446744073709551617",
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_refused(wrong[i], "is not a number");
}

static void test_comm(void **state)
{
	(void)state;
	assert_int_equal(parse("--comm ^(python|perl)[0-9.]*$"), OPTIONS_RUN);
	assert_int_equal(regexec(&options.comm_regex, "python3.11", 0, NULL, 0), 0);
	assert_int_equal(regexec(&options.comm_regex, "xpython", 0, NULL, 0), REG_NOMATCH);
	assert_int_equal(parse("--comm a --comm b"), OPTIONS_RUN);
	assert_int_equal(regexec(&options.comm_regex, "a", 0, NULL, 0), REG_NOMATCH);
	assert_refused("--comm (a", "--comm: `(a': ");
	assert_refused("--comm a --comm [", "--comm: `[': ");
	assert_refused("--comm \033[31m(", "--comm: `?[31m(': ");
}

static void test_user(void **state)
{
	const struct passwd *daemon = getpwnam("daemon");
	uid_t uid = daemon ? daemon->pw_uid : 0; /* the entry is overwritten by the next call */

	(void)state;
	assert_int_equal(parse("-u root"), OPTIONS_RUN);
	assert_true(options.user_given);
	assert_int_equal(options.user, 0);
	assert_int_equal(parse("-u 12345"), OPTIONS_RUN);
	assert_int_equal(options.user, 12345);
	if (daemon) {
		assert_int_equal(parse("--user daemon"), OPTIONS_RUN);
		assert_int_equal(options.user, uid);
	}
	assert_refused("-u no-such-user", "no user `no-such-user'");
	assert_refused("-u 4294967295", "4294967295"); /* (uid_t)-1 is no user's ID */
	assert_refused("-u _", "no user `'");
}

static void test_groups(void **state)
{
	(void)state;
	assert_int_equal(parse("-p 1"), OPTIONS_RUN);
	assert_null(options.cgroup);
	assert_null(options.container);
	assert_int_equal(parse("-G nginx.service --container 3f29"), OPTIONS_RUN);
	assert_string_equal(options.cgroup, "nginx.service");
	assert_string_equal(options.container, "3f29");
	assert_int_equal(parse("--cgroup a --cgroup /b"), OPTIONS_RUN);
	assert_string_equal(options.cgroup, "/b");
	assert_refused("-G _", "--cgroup: nothing to look for");
	assert_refused("--container _", "--container: nothing to look for");
	assert_refused("-r x -G a", "-G");
	assert_refused("-r x --container a", "--container");
}

static void test_event(void **state)
{
	size_t count;
	const struct event *events = event_table(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		char line[64];

		snprintf(line, sizeof(line), "-e %s", events[i].name);
		assert_int_equal(parse(line), OPTIONS_RUN);
		assert_ptr_equal(options.event, &events[i]);
		if (events[i].alias)
			assert_ptr_equal(event_find(events[i].alias), &events[i]);
	}
	assert_int_equal(parse("-e cycles"), OPTIONS_RUN);
	assert_int_equal(options.event->type, PERF_TYPE_HARDWARE);
	/* perf_event_open(2): id | op << 8 | result << 16; LL is 2, READ 0, MISS 1. */
	assert_int_equal(event_find("LLC-load-misses")->config, 2 | 0 << 8 | 1 << 16);
	assert_int_equal(event_find("cs")->type, PERF_TYPE_SOFTWARE);
	assert_refused("-e nonsense", "--event: `nonsense'");
	assert_non_null(strstr(message, "cache-misses"));
}

static void test_batch_and_command(void **state)
{
	(void)state;
	assert_int_equal(parse("-b -d 5 -n 1 --format folded -K"), OPTIONS_RUN);
	assert_true(options.batch && options.no_kernel && !options.no_user);
	assert_int_equal(options.format, FORMAT_FOLDED);
	assert_int_equal(parse("-b -o dir.json/x.pb.gz"), OPTIONS_RUN);
	assert_string_equal(options.output, "dir.json/x.pb.gz");
	assert_int_equal(options.format, FORMAT_PPROF);
	assert_int_equal(parse("-b --format json -o x.pb.gz"), OPTIONS_RUN);
	assert_int_equal(options.format, FORMAT_JSON);
	assert_int_equal(parse("-b --output=report"), OPTIONS_RUN);
	assert_int_equal(options.format, FORMAT_TEXT);
	assert_int_equal(parse("-n 3"), OPTIONS_RUN);
	assert_false(options.batch);
	assert_null(options.output);
	assert_int_equal(parse("-U -- sleep -b 5"), OPTIONS_RUN);
	assert_true(options.no_user && !options.batch);
	assert_string_equal(options.command[0], "sleep");
	assert_string_equal(options.command[1], "-b");
	assert_string_equal(options.command[2], "5");
	assert_null(options.command[3]);
	assert_int_equal(parse("--"), OPTIONS_RUN);
	assert_null(options.command);
	assert_int_equal(
		parse("--dump-unwind /bin/ls --check --force --ascii --no-color --theme nord"),
		OPTIONS_RUN);
	assert_string_equal(options.dump_unwind, "/bin/ls");
	assert_string_equal(options.theme, "nord");
	assert_true(options.check && options.force && options.ascii && options.no_color);

	assert_refused("--format xml -b", "--format: `xml'");
	assert_refused("-o x.json", "--batch");
	assert_refused("-b -o", "needs a value");
	assert_refused("--diff a", "--diff needs two files");
	assert_refused("--diff a b --format json", "--diff is written as");
	assert_refused("-b --baseline a", "--baseline is for the screen");
	assert_refused("--diff a b --baseline c", "--baseline is for the screen");
	assert_int_equal(parse("--baseline a"), OPTIONS_RUN);
	assert_string_equal(options.baseline, "a");
	options_free(&options);
	assert_int_equal(parse("--diff a b -o x.flame.svg"), OPTIONS_RUN);
	assert_string_equal(options.diff[0], "a");
	assert_string_equal(options.diff[1], "b");
	assert_int_equal(options.format, FORMAT_FLAME);
	assert_refused("--format text", "--batch");
	assert_refused("-K -U", "leave nothing");
	assert_refused("1234", "`1234' is not an option");
	assert_refused("sleep 5", "`sleep'");
	assert_refused("-x", "no option `-x'");
	assert_refused("-\033", "no option `-?'");
	assert_refused("--nonsense", "no option `--nonsense'");
	assert_refused("--no", "`--no'"); /* --no-kernel, --no-user, --no-color */
	assert_refused("-p", "`-p' needs a value");
	assert_refused("--theme", "`--theme' needs a value");
	assert_refused("--batch=5", "`--batch=5' takes no value");
}

static void test_help_and_version(void **state)
{
	(void)state;
	assert_int_equal(parse("--help -F 0"), OPTIONS_HELP);
	assert_int_equal(parse("--version"), OPTIONS_VERSION);
	assert_int_equal(parse("-F 0 --help"), OPTIONS_USAGE);
}

static char *help_text(void)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	options_help(to);
	fclose(to);
	return text;
}

/* How the manual begins the paragraph of an option, without the backslashes before hyphens. */
static void manual_line(const struct option_row *row, char *to, size_t size)
{
	char letter[32] = "", arg[32] = "";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	if (row->arg)
		snprintf(arg, sizeof(arg), " \\fI%s\\fR", row->arg);
	snprintf(to, size, ".B \"%s--%s%s\"\n", letter, row->name, arg);
}

/* Every option is in --help, in the manual (\-\-no\-kernel is how troff spells it), and taken. */
static void test_documented(void **state)
{
	FILE *file = fopen("docs/stacktop.1", "r");
	static char manual[100000];
	char *help = help_text();
	size_t count, size, n = 0;
	const struct option_row *rows = options_table(&count);

	(void)state;
	assert_non_null(file);
	size = fread(manual, 1, sizeof(manual) - 1, file);
	fclose(file);
	for (size_t i = 0; i < size; i++) {
		if (manual[i] != '\\' || manual[i + 1] != '-')
			manual[n++] = manual[i];
	}
	manual[n] = 0;
	for (size_t i = 0; i < count; i++) {
		char want[80];

		snprintf(want, sizeof(want), "--%s %s", rows[i].name,
			 rows[i].arg ? rows[i].arg : "");
		if (!strstr(help, want) || !strstr(help, rows[i].help))
			fail_msg("%s is not in --help", want);
		manual_line(&rows[i], want, sizeof(want));
		if (!strstr(manual, want))
			fail_msg("`%s' is not in the manual", want);
		for (size_t j = 0; j < i; j++) {
			assert_true(!rows[i].letter || rows[i].letter != rows[j].letter);
			assert_string_not_equal(rows[i].name, rows[j].name);
		}
	}
	for (const char *s = help; *s;) {
		const char *end = strchr(s, '\n');

		assert_true(end - s <= 80);
		s = end + 1;
	}
	free(help);
}

/* Nothing in the manual's list of options but what the table has. */
static void test_manual_invents_nothing(void **state)
{
	FILE *file = fopen("docs/stacktop.1", "r");
	size_t count, found = 0;
	char line[512];

	(void)state;
	assert_non_null(file);
	options_table(&count);
	while (fgets(line, sizeof(line), file)) {
		/* the key "-" is not an option */
		if (!strncmp(line, ".B \"\\-", 6) && line[6] != '"')
			found++;
	}
	fclose(file);
	assert_int_equal(found, count);
}

/* Each part of the program gets what the line says to it. */
static void test_parts(void **state)
{
	struct collector_options collector;
	struct player_options player;
	struct ui_options ui;

	(void)state;
	assert_int_equal(parse("--comm nginx -C 0,2 -d 2 -n 3 --no-inline -K"), OPTIONS_RUN);
	collector = options_collector(&options);
	assert_ptr_equal(collector.comm, &options.comm_regex);
	assert_int_equal(collector.ncpus, 2);
	assert_true(collector.no_kernel && collector.no_inline && !collector.no_user);
	assert_int_equal(collector.iterations, 3);
	assert_true(collector.delay == 2);
	ui = options_ui(&options);
	assert_true(ui.ends && ui.delay_given && ui.no_kernel && ui.no_inline && !ui.no_user);
	assert_true(options_query(&options).hide_kernel);
	assert_int_equal(options_query(&options).frames, FRAMES_MERGED);
	assert_false(ui.frames_given);

	assert_int_equal(parse("--frames language"), OPTIONS_RUN);
	ui = options_ui(&options);
	assert_true(ui.frames_given);
	assert_int_equal(ui.frames, FRAMES_LANGUAGE);
	assert_int_equal(options_query(&options).frames, FRAMES_LANGUAGE);
	assert_int_equal(parse("--frames all -b"), OPTIONS_RUN);
	assert_int_equal(options_query(&options).frames, FRAMES_ALL);
	assert_int_equal(parse("--frames some"), OPTIONS_USAGE);
	assert_int_equal(parse("--frames"), OPTIONS_USAGE);

	assert_int_equal(parse("-r file --from 10 --speed 2 --baseline old"), OPTIONS_RUN);
	player = options_player(&options);
	assert_string_equal(player.path, "file");
	assert_true(player.from.given && !player.to.given && player.speed == 2);
	ui = options_ui(&options);
	assert_string_equal(ui.baseline, "old");
	assert_true(ui.ends && !ui.baseline_first && !ui.delay_given);
	assert_null(options_collector(&options).comm);
}

static int teardown(void **state)
{
	(void)state;
	options_free(&options);
	free(message);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_comm),
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_batch_and_command),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_documented),
		cmocka_unit_test(test_manual_invents_nothing),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
