// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line, from one table: its letters, its help, and what does not go together. */
#include "tui/options_priv.h"

#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/event.h"
#include "tui/export/export.h"

#ifndef STACKTOP_VERSION
#define STACKTOP_VERSION "0.1"
#endif

enum long_option {
	OPTION_COMM = 256,
	OPTION_CONTAINER,
	OPTION_FORMAT,
	OPTION_PLAIN,
	OPTION_FROM,
	OPTION_TO,
	OPTION_SPEED,
	OPTION_MEMORY,
	OPTION_DEBUG_MEMORY,
	OPTION_NO_INLINE,
	OPTION_BY_CPU,
	OPTION_DEBUGINFOD,
	OPTION_SYMBOLIZE,
	OPTION_DIFF,
	OPTION_BASELINE,
	OPTION_DUMP_UNWIND,
	OPTION_CHECK,
	OPTION_FORCE,
	OPTION_ASCII,
	OPTION_NO_COLOR,
	OPTION_NO_MOUSE,
	OPTION_THEME,
	OPTION_SCREENSHOT,
	OPTION_SIZE,
	OPTION_KEYS,
	OPTION_VERSION,
	OPTION_HELP,
};

/* Where a field of struct options is, which has to be of that type. */
#define AT(type, field)                                                                            \
	(offsetof(struct options, field) +                                                         \
	 0 * sizeof((type *)NULL == &((struct options *)NULL)->field))

static const struct option_row table[] = {
	{'p', "pid", "LIST", "sample only these processes, by number: 1,22,333", 0},
	{OPTION_COMM, "comm", "REGEX", "sample only processes with a matching name", 0},
	{'u', "user", "USER", "sample only processes of this user, by name or number", 0},
	{'G', "cgroup", "PART", "sample only processes of matching control groups", 0},
	{OPTION_CONTAINER, "container", "ID", "sample only processes of a container, by id or name",
	 0},
	{'C', "cpu", "LIST", "sample only these CPUs: 0-3,5", 0},
	{OPTION_BY_CPU, "by-cpu", NULL, "count the samples of each CPU apart", AT(bool, by_cpu)},
	{'F', "frequency", "HZ", "samples a second on each CPU, 1 to 9999 (default 99)", 0},
	{'e', "event", "EVENT", "event to sample (default cpu-clock)", 0},
	{'d', "delay", "SEC", "seconds between refreshes, 0.1 to 3600 (default 1)", 0},
	{'K', "no-kernel", NULL, "leave kernel frames out", AT(bool, no_kernel)},
	{'U', "no-user", NULL, "leave user frames out", AT(bool, no_user)},
	{OPTION_NO_INLINE, "no-inline", NULL, "leave inlined calls out", AT(bool, no_inline)},
	{OPTION_DEBUGINFOD, "debuginfod", NULL, "fetch debug files from $DEBUGINFOD_URLS",
	 AT(bool, debuginfod)},
	{'b', "batch", NULL, "no screen: a report per refresh to standard output", AT(bool, batch)},
	{OPTION_PLAIN, "plain", NULL, "no screen: changes as lines, commands from stdin",
	 AT(bool, plain)},
	{'n', "iterations", "N", "end after so many refreshes", 0},
	{OPTION_FORMAT, "format", "FORMAT", "of batch reports (default: text, or by FILE's suffix)",
	 0},
	{'o', "output", "FILE", "write batch reports there, not to standard output",
	 AT(const char *, output)},
	{'w', "record", "FILE", "record a session for --replay", AT(const char *, record)},
	{'r', "replay", "FILE", "show a session instead of this machine", AT(const char *, replay)},
	{OPTION_FROM, "from", "TIME", "replay from this time on: seconds, or 14:03:20", 0},
	{OPTION_TO, "to", "TIME", "replay up to this time", 0},
	{OPTION_SPEED, "speed", "FACTOR", "speed of the replay, 0.1 to 100 (default 1)", 0},
	{OPTION_DIFF, "diff", "A B", "compare two sessions or files of folded stacks",
	 AT(const char *, diff[0])},
	{OPTION_BASELINE, "baseline", "FILE", "show differences from a session",
	 AT(const char *, baseline)},
	{OPTION_MEMORY, "memory", "MIB", "budget of unwind tables, 1 to 4096 (default 64)", 0},
	{OPTION_DEBUG_MEMORY, "debug-memory", "MIB",
	 "budget of debug information, 1 to 65536 (default 256)", 0},
	{OPTION_ASCII, "ascii", NULL, "draw with ASCII characters only", AT(bool, ascii)},
	{OPTION_NO_COLOR, "no-color", NULL, "draw without colours", AT(bool, no_color)},
	{OPTION_NO_MOUSE, "no-mouse", NULL, "leave the mouse to the terminal", AT(bool, no_mouse)},
	{OPTION_THEME, "theme", "NAME", "colours of the screen", AT(const char *, theme)},
	{OPTION_SCREENSHOT, "screenshot", "FILE",
	 "write the screen as .svg, .ansi or text, and end", AT(const char *, screenshot)},
	{OPTION_SIZE, "size", "COLSxROWS", "of the screenshot, 20x5 to 400x120 (default 100x30)",
	 0},
	{OPTION_KEYS, "keys", "KEYS", "keys to press before it, as F1 names them: \"3 Down\"", 0},
	{OPTION_DUMP_UNWIND, "dump-unwind", "FILE", "print the unwind table of an ELF file",
	 AT(const char *, dump_unwind)},
	{OPTION_SYMBOLIZE, "symbolize", "FILE", "name ELF addresses read from standard input",
	 AT(const char *, symbolize)},
	{OPTION_CHECK, "check", NULL, "say what this kernel and this user can do", AT(bool, check)},
	{OPTION_FORCE, "force", NULL, "sample although it may hang this kernel", AT(bool, force)},
	{OPTION_VERSION, "version", NULL, "print the version", 0},
	{OPTION_HELP, "help", NULL, "print this help", 0},
};

#define ROWS (sizeof(table) / sizeof(*table))

const struct option_row *options_table(size_t *count)
{
	*count = ROWS;
	return table;
}

static enum options_result take(struct parser *parser, int letter, const char *arg, bool *format)
{
	struct options *out = parser->out;
	const struct option_row *row = table;

	switch (letter) {
	case 'p':
		return options_take_pids(parser, arg);
	case OPTION_COMM:
		return options_take_comm(parser, arg);
	case 'u':
		return options_take_user(parser, arg);
	case 'G':
		return options_take_group(parser, "cgroup", arg, &out->cgroup);
	case OPTION_CONTAINER:
		return options_take_group(parser, "container", arg, &out->container);
	case 'C':
		return options_take_cpus(parser, arg);
	case 'F':
		return options_take_number(parser, "frequency", arg, OPTIONS_FREQUENCY_MAX,
					   &out->frequency);
	case 'e':
		return options_take_event(parser, arg);
	case 'd':
		return options_take_delay(parser, arg);
	case 'n':
		return options_take_number(parser, "iterations", arg, OPTIONS_ITERATIONS_MAX,
					   &out->iterations);
	case OPTION_FORMAT:
		return options_take_format(parser, arg, format);
	case OPTION_FROM:
		return options_take_moment(parser, "from", arg, &out->from);
	case OPTION_TO:
		return options_take_moment(parser, "to", arg, &out->to);
	case OPTION_SPEED:
		return options_take_speed(parser, arg);
	case OPTION_MEMORY:
		out->memory_given = true;
		return options_take_number(parser, "memory", arg, OPTIONS_MEMORY_MAX, &out->memory);
	case OPTION_DEBUG_MEMORY:
		out->debug_memory_given = true;
		return options_take_number(parser, "debug-memory", arg, OPTIONS_DEBUG_MEMORY_MAX,
					   &out->debug_memory);
	case OPTION_SIZE:
		return options_take_size(parser, arg);
	case OPTION_KEYS:
		return options_take_keys(parser, arg);
	case OPTION_HELP:
		return OPTIONS_HELP;
	case OPTION_VERSION:
		return OPTIONS_VERSION;
	default:
		while (row->letter != letter)
			row++;
		if (row->arg)
			*(const char **)(void *)((char *)out + row->at) = arg;
		else
			*(bool *)(void *)((char *)out + row->at) = true;
		return OPTIONS_RUN;
	}
}

/* For getopt_long: "+:" stops at COMMAND and tells a missing value from a wrong option. */
static void getopt_tables(char *letters, struct option *longs)
{
	*letters++ = '+';
	*letters++ = ':';
	for (size_t i = 0; i < ROWS; i++) {
		longs[i] = (struct option){table[i].name,
					   table[i].arg ? required_argument : no_argument, NULL,
					   table[i].letter};
		if (table[i].letter > UCHAR_MAX)
			continue;
		*letters++ = (char)table[i].letter;
		if (table[i].arg)
			*letters++ = ':';
	}
	*letters = 0;
	longs[ROWS] = (struct option){0};
}

static enum options_result wrong(struct parser *parser, int letter, char **argv)
{
	const char *last = argv[optind - 1];

	if (letter == ':')
		return options_usage(parser, "option `%.*s' needs a value", SHOWN, last);
	/* getopt_long refuses a known option only because a value was glued to it. */
	for (size_t i = 0; i < ROWS; i++) {
		if (optopt == table[i].letter)
			return options_usage(parser, "option `%.*s' takes no value", SHOWN, last);
	}
	if (optopt)
		return options_usage(parser, "there is no option `-%c'", optopt);
	return options_usage(parser, "there is no option `%.*s', or it is not unique", SHOWN, last);
}

/* What each option allows for itself, but not together. */
static enum options_result together(struct parser *parser, bool format)
{
	struct options *out = parser->out;
	const struct export_format *named = out->output ? export_by_file(out->output) : NULL;

	if (out->no_kernel && out->no_user)
		return options_usage(parser, "--no-kernel and --no-user together leave nothing");
	if (out->screenshot && out->batch)
		return options_usage(parser,
				     "--screenshot is of the screen, which --batch does without");
	if (out->plain && (out->batch || out->screenshot))
		return options_usage(parser, "--plain goes on in lines, which --%s does without",
				     out->batch ? "batch" : "screenshot");
	if (out->baseline && (out->batch || out->diff[0]))
		return options_usage(
			parser, "--baseline is for the screen; --diff A B compares two sessions");
	if (!out->screenshot && (out->cols || out->keys))
		return options_usage(parser, "--size and --keys are for --screenshot");
	if (format && !out->batch && !out->diff[0])
		return options_usage(parser, "--format is for reports: add --batch");
	if (out->output && !out->batch && !out->diff[0])
		return options_usage(parser, "--output is for reports: add --batch");
	if (named && !format)
		out->format = named->format;
	if (out->diff[0] && out->format != FORMAT_TEXT && out->format != FORMAT_FOLDED &&
	    out->format != FORMAT_SVG && out->format != FORMAT_ICICLE)
		return options_usage(parser, "--diff is written as text, folded, svg or icicle");
	out->at_end = out->batch && out->command && !out->delay_given && !out->iterations;
	if (!out->replay && (out->from.given || out->to.given || out->speed != 1))
		return options_usage(parser, "--from, --to and --speed are for --replay");
	if (out->replay && (out->pids || out->comm || out->user_given || out->cgroup ||
			    out->container || out->cpus))
		return options_usage(parser,
				     "--replay shows what was recorded: -p, --comm, -u, -G, "
				     "--container and -C choose what is sampled");
	if (out->replay && (out->record || out->command))
		return options_usage(parser, "--replay samples nothing: there is nothing to %s",
				     out->record ? "record" : "start");
	return OPTIONS_RUN;
}

enum options_result options_parse(int argc, char **argv, struct options *out, FILE *err)
{
	struct parser parser = {out, err};
	struct option longs[ROWS + 1];
	char letters[2 * ROWS + 3];
	enum options_result result = OPTIONS_RUN;
	bool format = false;
	int letter;

	*out = (struct options){
		.frequency = 99, .delay = 1, .speed = 1, .memory = 64, .debug_memory = 256};
	out->event = event_find("cpu-clock");
	getopt_tables(letters, longs);
	opterr = 0;
	optind = 0; /* glibc: start afresh */
	while (result == OPTIONS_RUN &&
	       (letter = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (letter == '?' || letter == ':')
			result = wrong(&parser, letter, argv);
		else
			result = take(&parser, letter, optarg, &format);
		if (letter == OPTION_DIFF && result == OPTIONS_RUN) {
			if (optind == argc)
				return options_usage(&parser, "--diff needs two files");
			out->diff[1] = argv[optind++];
		}
	}
	if (result != OPTIONS_RUN)
		return result;
	if (optind < argc) {
		/* Root does not start programs because a number was meant for -p. */
		if (strcmp(argv[optind - 1], "--"))
			return options_usage(&parser,
					     "`%.*s' is not an option; a command follows `--'",
					     SHOWN, argv[optind]);
		out->command = argv + optind;
	}
	return together(&parser, format);
}

void options_free(struct options *options)
{
	free(options->pids);
	free(options->cpus);
	if (options->comm)
		regfree(&options->comm_regex);
	*options = (struct options){0};
}

void options_help(FILE *to)
{
	size_t count, nformats;
	const struct event *events = event_table(&count);
	const struct export_format *formats = export_table(&nformats);
	int column = 0;

	fprintf(to, "usage: stacktop [options] [-- COMMAND [ARG...]]\n\n"
		    "Shows live which functions of which processes use the CPU. With a COMMAND it\n"
		    "starts that, samples it and its children, and ends with it.\n\n");
	for (size_t i = 0; i < ROWS; i++) {
		char left[40];
		char letter[5] = "    ";

		if (table[i].letter <= UCHAR_MAX)
			snprintf(letter, sizeof(letter), "-%c, ", table[i].letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, table[i].name,
			 table[i].arg ? " " : "", table[i].arg ? table[i].arg : "");
		fprintf(to, "  %-24s %s\n", left, table[i].help);
	}
	for (size_t i = 0; i < nformats; i++)
		fprintf(to, "%s  %-12s %-32s .%.*s\n", i ? "" : "\nFormats:\n", formats[i].name,
			formats[i].help, (int)strcspn(formats[i].suffixes, " "),
			formats[i].suffixes);
	fprintf(to, "\nEvents:");
	for (size_t i = 0; i < count; i++) {
		if (column + (int)strlen(events[i].name) > 76)
			column = 0;
		column += fprintf(to, "%s%s", column ? " " : "\n  ", events[i].name);
	}
	fprintf(to, "\n");
}

void options_version(FILE *to)
{
	fprintf(to, "stacktop " STACKTOP_VERSION "\n");
}
