// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line, from one table: its letters, its help, and what does not go together. */
#include "tui/options.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/event.h"
#include "symbols/base/text.h"
#include "tui/collect/collector.h"
#include "tui/screen/keys.h"

#ifndef STACKTOP_VERSION
#define STACKTOP_VERSION "0.1"
#endif

#define SHOWN	128   /* bytes of an argument in a message */
#define CPU_MAX 8191u /* the highest CPU number that -C takes */
#define LONG	256   /* for getopt_long: the row of a long option + this */

struct parser {
	struct options *out;
	FILE *err;
	const struct option_row *row; /* of the option that is read */
	bool format;		      /* --format was given */
};

/* Prints what is wrong and how to get help. */
__attribute__((format(printf, 2, 3))) static enum options_result usage(struct parser *parser,
								       const char *format, ...)
{
	char message[512], clean[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	text_clean(clean, sizeof(clean), message, strlen(message));
	fprintf(parser->err,
		"stacktop: %s\n"
		"usage: stacktop [options] [-- COMMAND [ARG...]]\n"
		"`stacktop --help` lists the options.\n",
		clean);
	return OPTIONS_USAGE;
}

/* The same of the value of the option, which is quoted as it is, made harmless; it may be long. */
static enum options_result refuse(struct parser *parser, const char *text, const char *why)
{
	return usage(parser, "--%s: `%.*s' %s", parser->row->name, SHOWN, text, why);
}

/* Where the option's value goes. */
static void *place(const struct parser *parser)
{
	return (char *)parser->out + parser->row->at;
}

/* --- values ---------------------------------------------------------------------------------- */

/*
 * They are checked here and completely: code behind the parser need not ask whether a frequency
 * makes sense. Texts are not copied.
 */

static enum options_result no_memory(struct parser *parser)
{
	fprintf(parser->err, "stacktop: out of memory\n");
	return OPTIONS_FAILED;
}

/* Digits only: no sign, no blanks, no other base. Moves *text behind them. */
static bool number(const char **text, unsigned long max, unsigned long *out)
{
	const char *s = *text;
	unsigned long value = 0;

	if (!isdigit((unsigned char)*s))
		return false;
	for (; isdigit((unsigned char)*s); s++) {
		unsigned long digit = (unsigned long)(*s - '0');

		if (value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*text = s;
	*out = value;
	return value <= max;
}

/* Not strtod: it takes "inf", "0x1p3", and in some locales a comma instead of the point. */
static bool decimal(const char *text, double min, double max, double *out)
{
	unsigned long whole = 0;
	double value, unit = 1;

	if (*text != '.' && !number(&text, 1000000, &whole))
		return false;
	value = (double)whole;
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return false;
		for (; isdigit((unsigned char)*text); text++)
			value += (unit /= 10) * (*text - '0');
	}
	if (*text || value < min || value > max)
		return false;
	*out = value;
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static enum options_result take_pids(struct parser *parser, const char *text)
{
	struct options *out = parser->out;
	const char *s = text;
	size_t kept = 0;

	for (;; s++) {
		unsigned long pid;
		pid_t *grown;

		if (!number(&s, INT_MAX, &pid) || !pid || (*s && *s != ','))
			return refuse(parser, text, "is not a list of process numbers");
		grown = reallocarray(out->pids, out->npids + 1, sizeof(*grown));
		if (!grown)
			return no_memory(parser);
		out->pids = grown;
		out->pids[out->npids++] = (pid_t)pid;
		if (!*s)
			break;
	}
	qsort(out->pids, out->npids, sizeof(*out->pids), by_pid);
	for (size_t i = 0; i < out->npids; i++) {
		if (!kept || out->pids[kept - 1] != out->pids[i])
			out->pids[kept++] = out->pids[i];
	}
	out->npids = kept;
	return OPTIONS_RUN;
}

/* Marks the CPUs of a list such as 0-3,5; false: it is not one. */
static bool cpu_marks(const char *s, bool *marks)
{
	for (;; s++) {
		unsigned long first, last;

		if (!number(&s, CPU_MAX, &first))
			return false;
		last = first;
		if (*s == '-') {
			s++;
			if (!number(&s, CPU_MAX, &last) || last < first)
				return false;
		}
		for (unsigned long cpu = first; cpu <= last; cpu++)
			marks[cpu] = true;
		if (!*s)
			return true;
		if (*s != ',')
			return false;
	}
}

static enum options_result take_cpus(struct parser *parser, const char *text)
{
	struct options *out = parser->out;
	bool *marks = calloc(CPU_MAX + 1, sizeof(*marks));
	enum options_result result = OPTIONS_RUN;

	if (!marks)
		return no_memory(parser);
	for (size_t i = 0; i < out->ncpus; i++)
		marks[out->cpus[i]] = true;
	free(out->cpus);
	out->ncpus = 0;
	out->cpus = calloc(CPU_MAX + 1, sizeof(*out->cpus));
	if (!out->cpus)
		result = no_memory(parser);
	else if (!cpu_marks(text, marks))
		result = refuse(parser, text, "is not a list of CPUs such as 0-3,5");
	for (unsigned int cpu = 0; result == OPTIONS_RUN && cpu <= CPU_MAX; cpu++) {
		if (marks[cpu])
			out->cpus[out->ncpus++] = cpu;
	}
	free(marks);
	return result;
}

static enum options_result take_comm(struct parser *parser, const char *text)
{
	struct options *out = parser->out;
	char message[160];
	int err;

	if (out->comm)
		regfree(&out->comm_regex);
	out->comm = NULL;
	err = regcomp(&out->comm_regex, text, REG_EXTENDED | REG_NOSUB);
	if (err == REG_ESPACE)
		return no_memory(parser);
	if (err) {
		regerror(err, &out->comm_regex, message, sizeof(message));
		return usage(parser, "--comm: `%.*s': %s", SHOWN, text, message);
	}
	out->comm = text;
	return OPTIONS_RUN;
}

static enum options_result take_user(struct parser *parser, const char *text)
{
	const struct passwd *entry;
	const char *s = text;
	unsigned long uid;

	/* A name of digits is a name first, as with chown(1). */
	entry = getpwnam(text);
	if (entry)
		uid = entry->pw_uid;
	else if (!number(&s, UINT32_MAX - 1ul, &uid) || *s)
		return usage(parser, "--user: there is no user `%.*s'", SHOWN, text);
	parser->out->user = (uid_t)uid;
	parser->out->user_given = true;
	return OPTIONS_RUN;
}

/* What the name of a control group or container is to be compared with. */
static enum options_result take_group(struct parser *parser, const char *text)
{
	if (!text[0])
		return usage(parser, "--%s: nothing to look for", parser->row->name);
	*(const char **)place(parser) = text;
	return OPTIONS_RUN;
}

static enum options_result take_event(struct parser *parser, const char *text)
{
	size_t count;
	const struct event *events = event_table(&count);

	for (int measure = MEASURE_OFF; measure < MEASURES_SHOWN; measure++)
		if (strcmp(text, measure_name((enum measure)measure)) == 0) {
			parser->out->measure = (enum measure)measure;
			parser->out->event = event_find("cpu-clock");
			return OPTIONS_RUN;
		}
	parser->out->measure = MEASURE_CPU;
	parser->out->event = event_find(text);
	if (parser->out->event)
		return OPTIONS_RUN;
	refuse(parser, text, "is not known");
	fprintf(parser->err, "Events:");
	for (size_t i = 0; i < count; i++)
		fprintf(parser->err, " %s", events[i].name);
	fprintf(parser->err, " off-cpu wall\n");
	return OPTIONS_USAGE;
}

static enum options_result take_number(struct parser *parser, const char *text)
{
	const char *s = text;
	unsigned long value;

	if (!number(&s, parser->row->max, &value) || *s || !value)
		return usage(parser, "--%s: `%.*s' is not a number from 1 to %u", parser->row->name,
			     SHOWN, text, parser->row->max);
	*(unsigned int *)place(parser) = (unsigned int)value;
	return OPTIONS_RUN;
}

static enum options_result take_delay(struct parser *parser, const char *text)
{
	parser->out->delay_given = true;
	if (decimal(text, COLLECTOR_DELAY_MIN, COLLECTOR_DELAY_MAX, &parser->out->delay))
		return OPTIONS_RUN;
	return refuse(parser, text, "is not a number of seconds from 0.1 to 3600");
}

static enum options_result take_moment(struct parser *parser, const char *text)
{
	if (replay_time_parse(text, place(parser)))
		return OPTIONS_RUN;
	return refuse(parser, text, "is neither seconds nor a time such as 14:03:20");
}

static enum options_result take_speed(struct parser *parser, const char *text)
{
	if (decimal(text, 0.1, 100, &parser->out->speed))
		return OPTIONS_RUN;
	return refuse(parser, text, "is not a number from 0.1 to 100");
}

static enum options_result take_format(struct parser *parser, const char *text)
{
	const struct export_format *format = export_by_name(text);
	size_t count;
	const struct export_format *formats = export_table(&count);

	parser->format = true;
	if (format) {
		parser->out->format = format->format;
		return OPTIONS_RUN;
	}
	refuse(parser, text, "is not known");
	fprintf(parser->err, "Formats:");
	for (size_t i = 0; i < count; i++)
		fprintf(parser->err, " %s", formats[i].name);
	fprintf(parser->err, "\n");
	return OPTIONS_USAGE;
}

static enum options_result take_frames(struct parser *parser, const char *text)
{
	parser->out->frames_given = true;
	if (query_frames_parse(text, &parser->out->frames))
		return OPTIONS_RUN;
	return refuse(parser, text, "is not merged, all or language");
}

static enum options_result take_size(struct parser *parser, const char *text)
{
	unsigned long cols, rows;
	const char *s = text;

	if (!number(&s, 400, &cols) || *s++ != 'x' || !number(&s, 120, &rows) || *s || cols < 20 ||
	    rows < 5)
		return refuse(parser, text, "is not a size from 20x5 to 400x120");
	parser->out->cols = (unsigned int)cols;
	parser->out->rows = (unsigned int)rows;
	return OPTIONS_RUN;
}

static enum options_result take_keys(struct parser *parser, const char *text)
{
	for (const char *at = text; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");

		if (length && keys_parse(at, length) == KEYCODE_NONE)
			return usage(parser, "--keys: there is no key `%.*s'", (int)length, at);
		at += length;
	}
	parser->out->keys = text;
	return OPTIONS_RUN;
}

/* --- the table ------------------------------------------------------------------------------- */

/* Where a field of struct options is, which has to be of that type. */
#define AT(type, field)                                                                            \
	(offsetof(struct options, field) +                                                         \
	 0 * sizeof((type *)NULL == &((struct options *)NULL)->field))

static const struct option_row table[] = {
	{'p', "pid", "LIST", "sample only these processes, by number: 1,22,333", .take = take_pids},
	{0, "comm", "REGEX", "sample only processes with a matching name", .take = take_comm},
	{'u', "user", "USER", "sample only processes of this user, by name or number",
	 .take = take_user},
	{'G', "cgroup", "PART", "sample only processes of matching control groups",
	 .take = take_group, .at = AT(const char *, cgroup)},
	{0, "container", "ID", "sample only processes of a container, by id or name",
	 .take = take_group, .at = AT(const char *, container)},
	{'C', "cpu", "LIST", "sample only these CPUs: 0-3,5", .take = take_cpus},
	{0, "by-cpu", NULL, "count the samples of each CPU apart", .at = AT(bool, by_cpu)},
	{'F', "frequency", "HZ", "samples a second on each CPU, 1 to 9999 (default 99)",
	 .take = take_number, .max = 9999, .at = AT(unsigned int, frequency)},
	{'e', "event", "EVENT", "event to sample (default cpu-clock), off-cpu or wall",
	 .take = take_event},
	{0, "min-block", "USEC", "off-cpu: shorter waits are only summed up (default 1)",
	 .take = take_number, .max = 1000000000, .at = AT(unsigned int, min_block)},
	{'d', "delay", "SEC", "seconds between refreshes, 0.1 to 3600 (default 1)",
	 .take = take_delay},
	{'K', "no-kernel", NULL, "leave kernel frames out", .at = AT(bool, no_kernel)},
	{'U', "no-user", NULL, "leave user frames out", .at = AT(bool, no_user)},
	{0, "no-inline", NULL, "leave inlined calls out", .at = AT(bool, no_inline)},
	{0, "frames", "MODE", "of interpreted languages: merged, all or language",
	 .take = take_frames},
	{0, "debuginfod", NULL, "fetch debug files from $DEBUGINFOD_URLS",
	 .at = AT(bool, debuginfod)},
	{'b', "batch", NULL, "no screen: a report per refresh to standard output",
	 .at = AT(bool, batch)},
	{0, "plain", NULL, "no screen: changes as lines, commands from stdin",
	 .at = AT(bool, plain)},
	{'n', "iterations", "N", "end after so many refreshes", .take = take_number,
	 .max = 1000000000, .at = AT(unsigned int, iterations)},
	{0, "format", "FORMAT", "of batch reports (default: text, or by FILE's suffix)",
	 .take = take_format},
	{'o', "output", "FILE", "write batch reports there, not to standard output",
	 .at = AT(const char *, output)},
	{'w', "record", "FILE", "record a session for --replay", .at = AT(const char *, record)},
	{'r', "replay", "FILE", "show a session instead of this machine",
	 .at = AT(const char *, replay)},
	{0, "from", "TIME", "replay from this time on: seconds, or 14:03:20", .take = take_moment,
	 .at = AT(struct replay_time, from)},
	{0, "to", "TIME", "replay up to this time", .take = take_moment,
	 .at = AT(struct replay_time, to)},
	{0, "speed", "FACTOR", "speed of the replay, 0.1 to 100 (default 1)", .take = take_speed},
	{0, "diff", "A B", "compare two sessions or files of folded stacks",
	 .at = AT(const char *, diff[0])},
	{0, "baseline", "FILE", "show differences from a session",
	 .at = AT(const char *, baseline)},
	{0, "memory", "MIB", "budget of unwind tables, 1 to 4096 (default 64)", .take = take_number,
	 .max = 4096, .at = AT(unsigned int, memory)},
	{0, "debug-memory", "MIB", "budget of debug information, 1 to 65536 (default 256)",
	 .take = take_number, .max = 65536, .at = AT(unsigned int, debug_memory)},
	{0, "ascii", NULL, "draw with ASCII characters only", .at = AT(bool, ascii)},
	{0, "no-color", NULL, "draw without colours", .at = AT(bool, no_color)},
	{0, "no-mouse", NULL, "leave the mouse to the terminal", .at = AT(bool, no_mouse)},
	{0, "theme", "NAME", "colours of the screen", .at = AT(const char *, theme)},
	{0, "screenshot", "FILE", "write the screen as .svg, .ansi or text, and end",
	 .at = AT(const char *, screenshot)},
	{0, "size", "COLSxROWS", "of the screenshot, 20x5 to 400x120 (default 100x30)",
	 .take = take_size},
	{0, "keys", "KEYS", "keys to press before it, as F1 names them: \"3 Down\"",
	 .take = take_keys},
	{0, "dump-unwind", "FILE", "print the unwind table of an ELF file",
	 .at = AT(const char *, dump_unwind)},
	{0, "symbolize", "FILE", "name ELF addresses read from standard input",
	 .at = AT(const char *, symbolize)},
	{0, "check", NULL, "say what this kernel and this user can do", .at = AT(bool, check)},
	{0, "force", NULL, "sample although it may hang this kernel", .at = AT(bool, force)},
	{0, "version", NULL, "print the version", .result = OPTIONS_VERSION},
	{0, "help", NULL, "print this help", .result = OPTIONS_HELP},
};

#define ROWS (sizeof(table) / sizeof(*table))

const struct option_row *options_table(size_t *count)
{
	*count = ROWS;
	return table;
}

static enum options_result take(struct parser *parser, int letter, const char *arg)
{
	const struct option_row *row = table;

	if (letter >= LONG)
		row = &table[letter - LONG];
	while (letter < LONG && row->letter != letter)
		row++;
	parser->row = row;
	if (row->take)
		return row->take(parser, arg);
	if (row->arg)
		*(const char **)place(parser) = arg;
	else if (row->result == OPTIONS_RUN)
		*(bool *)place(parser) = true;
	return row->result;
}

/* For getopt_long: "+:" stops at COMMAND and tells a missing value from a wrong option. */
static void getopt_tables(char *letters, struct option *longs)
{
	*letters++ = '+';
	*letters++ = ':';
	for (size_t i = 0; i < ROWS; i++) {
		longs[i] = (struct option){table[i].name,
					   table[i].arg ? required_argument : no_argument, NULL,
					   LONG + (int)i};
		if (!table[i].letter)
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
		return usage(parser, "option `%.*s' needs a value", SHOWN, last);
	/* getopt_long refuses a known option only because a value was glued to it. */
	if (optopt >= LONG)
		return usage(parser, "option `%.*s' takes no value", SHOWN, last);
	if (optopt)
		return usage(parser, "there is no option `-%c'", optopt);
	return usage(parser, "there is no option `%.*s', or it is not unique", SHOWN, last);
}

/* What each option allows for itself, but not together. */
static enum options_result together(struct parser *parser)
{
	struct options *out = parser->out;
	const struct export_format *named = out->output ? export_by_file(out->output) : NULL;

	if (out->no_kernel && out->no_user)
		return usage(parser, "--no-kernel and --no-user together leave nothing");
	if (out->screenshot && out->batch)
		return usage(parser, "--screenshot is of the screen, which --batch does without");
	if (out->plain && (out->batch || out->screenshot))
		return usage(parser, "--plain goes on in lines, which --%s does without",
			     out->batch ? "batch" : "screenshot");
	if (out->baseline && (out->batch || out->diff[0]))
		return usage(parser,
			     "--baseline is for the screen; --diff A B compares two sessions");
	if (!out->screenshot && (out->cols || out->keys))
		return usage(parser, "--size and --keys are for --screenshot");
	if (parser->format && !out->batch && !out->diff[0])
		return usage(parser, "--format is for reports: add --batch");
	if (out->output && !out->batch && !out->diff[0])
		return usage(parser, "--output is for reports: add --batch");
	if (named && !parser->format)
		out->format = named->format;
	if (out->diff[0] && out->format != FORMAT_TEXT && out->format != FORMAT_FOLDED &&
	    out->format != FORMAT_SVG && out->format != FORMAT_FLAME)
		return usage(parser, "--diff is written as text, folded, svg or flame");
	out->at_end = out->batch && out->command && !out->delay_given && !out->iterations;
	if (!out->replay && (out->from.given || out->to.given || out->speed != 1))
		return usage(parser, "--from, --to and --speed are for --replay");
	if (out->replay && (out->pids || out->comm || out->user_given || out->cgroup ||
			    out->container || out->cpus))
		return usage(parser, "--replay shows what was recorded: -p, --comm, -u, -G, "
				     "--container and -C choose what is sampled");
	if (out->replay && (out->record || out->command))
		return usage(parser, "--replay samples nothing: there is nothing to %s",
			     out->record ? "record" : "start");
	return OPTIONS_RUN;
}

enum options_result options_parse(int argc, char **argv, struct options *out, FILE *err)
{
	struct parser parser = {.out = out, .err = err};
	struct option longs[ROWS + 1];
	char letters[2 * ROWS + 3];
	enum options_result result = OPTIONS_RUN;
	int letter;

	*out = (struct options){.frequency = 99, .delay = 1, .speed = 1, .min_block = 1};
	out->event = event_find("cpu-clock");
	getopt_tables(letters, longs);
	opterr = 0;
	optind = 0; /* glibc: start afresh */
	while (result == OPTIONS_RUN &&
	       (letter = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (letter == '?' || letter == ':')
			result = wrong(&parser, letter, argv);
		else
			result = take(&parser, letter, optarg);
		if (result == OPTIONS_RUN && parser.row->at == offsetof(struct options, diff)) {
			if (optind == argc)
				return usage(&parser, "--diff needs two files");
			out->diff[1] = argv[optind++];
		}
	}
	if (result != OPTIONS_RUN)
		return result;
	if (optind < argc) {
		/* Root does not start programs because a number was meant for -p. */
		if (strcmp(argv[optind - 1], "--"))
			return usage(&parser, "`%.*s' is not an option; a command follows `--'",
				     SHOWN, argv[optind]);
		out->command = argv + optind;
	}
	return together(&parser);
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

		if (table[i].letter)
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
	fprintf(to, "\n  off-cpu (waits of threads) wall (these, and the time on CPUs)\n");
}

void options_version(FILE *to)
{
	fprintf(to, "stacktop " STACKTOP_VERSION "\n");
}
