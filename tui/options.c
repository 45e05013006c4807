/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line, from one table. Values are checked here and completely: behind the parser
 * nobody needs to ask whether a frequency makes sense.
 */
#include "tui/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/text.h"
#include "tui/event.h"

#ifndef STACKTOP_VERSION
#define STACKTOP_VERSION "0.1"
#endif

enum long_option {
	OPTION_COMM = 256,
	OPTION_FORMAT,
	OPTION_MEMORY,
	OPTION_DUMP_UNWIND,
	OPTION_CHECK,
	OPTION_ASCII,
	OPTION_NO_COLOR,
	OPTION_THEME,
	OPTION_VERSION,
	OPTION_HELP,
};

static const struct option_row table[] = {
	{'p', "pid", "LIST", "sample only these processes, by number: 1,22,333"},
	{OPTION_COMM, "comm", "REGEX", "sample only processes whose name matches"},
	{'u', "user", "USER", "sample only processes of this user, by name or number"},
	{'C', "cpu", "LIST", "sample only these CPUs: 0-3,5"},
	{'F', "frequency", "HZ", "samples a second on each CPU, 1 to 9999 (default 99)"},
	{'e', "event", "EVENT", "what drives the sampling (default cpu-clock)"},
	{'d', "delay", "SEC", "seconds between refreshes, 0.1 to 3600 (default 1)"},
	{'K', "no-kernel", NULL, "leave kernel frames out"},
	{'U', "no-user", NULL, "leave user frames out"},
	{'b', "batch", NULL, "no screen: a report to standard output per refresh"},
	{'n', "iterations", "N", "end after so many refreshes"},
	{OPTION_FORMAT, "format", "FORMAT", "of batch reports: text or folded (default text)"},
	{OPTION_MEMORY, "memory", "MIB", "budget of unwind tables, 1 to 4096 (default 64)"},
	{OPTION_ASCII, "ascii", NULL, "draw with ASCII characters only"},
	{OPTION_NO_COLOR, "no-color", NULL, "draw without colours"},
	{OPTION_THEME, "theme", "NAME", "colours of the screen"},
	{OPTION_DUMP_UNWIND, "dump-unwind", "FILE", "print the unwind table of an ELF file"},
	{OPTION_CHECK, "check", NULL, "say what this kernel and this user can do"},
	{OPTION_VERSION, "version", NULL, "print the version"},
	{OPTION_HELP, "help", NULL, "print this help"},
};

#define ROWS (sizeof(table) / sizeof(*table))

const struct option_row *options_table(size_t *count)
{
	*count = ROWS;
	return table;
}

/* The offending argument is quoted as it is, made harmless; it may be long. */
#define SHOWN 128

struct parser {
	struct options *out;
	FILE *err;
};

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

static enum options_result no_memory(struct parser *parser)
{
	fprintf(parser->err, "stacktop: out of memory\n");
	return OPTIONS_FAILED;
}

/* --- values ---------------------------------------------------------------------------------- */

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

static bool number_whole(const char *text, unsigned long min, unsigned long max, unsigned int *out)
{
	unsigned long value;

	if (!number(&text, max, &value) || *text || value < min)
		return false;
	*out = (unsigned int)value;
	return true;
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
			return usage(parser, "--pid: `%.*s' is not a list of process numbers",
				     SHOWN, text);
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

/* Marks the CPUs of a list such as 0-3,5; false: it makes no sense. */
static bool cpu_marks(const char *s, bool *marks)
{
	for (;; s++) {
		unsigned long first, last;

		if (!number(&s, OPTIONS_CPU_MAX, &first))
			return false;
		last = first;
		if (*s == '-') {
			s++;
			if (!number(&s, OPTIONS_CPU_MAX, &last) || last < first)
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
	bool *marks = calloc(OPTIONS_CPU_MAX + 1, sizeof(*marks));
	enum options_result result = OPTIONS_RUN;

	if (!marks)
		return no_memory(parser);
	for (size_t i = 0; i < out->ncpus; i++)
		marks[out->cpus[i]] = true;
	free(out->cpus);
	out->ncpus = 0;
	out->cpus = calloc(OPTIONS_CPU_MAX + 1, sizeof(*out->cpus));
	if (!out->cpus)
		result = no_memory(parser);
	else if (!cpu_marks(text, marks))
		result = usage(parser, "--cpu: `%.*s' is not a list of CPUs such as 0-3,5", SHOWN,
			       text);
	for (unsigned int cpu = 0; result == OPTIONS_RUN && cpu <= OPTIONS_CPU_MAX; cpu++) {
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

static enum options_result take_event(struct parser *parser, const char *text)
{
	size_t count;
	const struct event *events = event_table(&count);

	parser->out->event = event_find(text);
	if (parser->out->event)
		return OPTIONS_RUN;
	usage(parser, "--event: `%.*s' is not known", SHOWN, text);
	fprintf(parser->err, "Events:");
	for (size_t i = 0; i < count; i++)
		fprintf(parser->err, " %s", events[i].name);
	fprintf(parser->err, "\n");
	return OPTIONS_USAGE;
}

static enum options_result take_number(struct parser *parser, const char *name, const char *text,
				       unsigned int max, unsigned int *out)
{
	if (number_whole(text, 1, max, out))
		return OPTIONS_RUN;
	return usage(parser, "--%s: `%.*s' is not a number from 1 to %u", name, SHOWN, text, max);
}

static enum options_result take_delay(struct parser *parser, const char *text)
{
	if (decimal(text, OPTIONS_DELAY_MIN, OPTIONS_DELAY_MAX, &parser->out->delay))
		return OPTIONS_RUN;
	return usage(parser, "--delay: `%.*s' is not a number of seconds from 0.1 to 3600", SHOWN,
		     text);
}

static enum options_result take_format(struct parser *parser, const char *text, bool *given)
{
	*given = true;
	if (!strcmp(text, "text"))
		parser->out->format = FORMAT_TEXT;
	else if (!strcmp(text, "folded"))
		parser->out->format = FORMAT_FOLDED;
	else
		return usage(parser, "--format: `%.*s' is neither text nor folded", SHOWN, text);
	return OPTIONS_RUN;
}

/* --- the whole line -------------------------------------------------------------------------- */

static enum options_result take(struct parser *parser, int letter, const char *arg, bool *format)
{
	struct options *out = parser->out;

	switch (letter) {
	case 'p':
		return take_pids(parser, arg);
	case OPTION_COMM:
		return take_comm(parser, arg);
	case 'u':
		return take_user(parser, arg);
	case 'C':
		return take_cpus(parser, arg);
	case 'F':
		return take_number(parser, "frequency", arg, OPTIONS_FREQUENCY_MAX,
				   &out->frequency);
	case 'e':
		return take_event(parser, arg);
	case 'd':
		return take_delay(parser, arg);
	case 'n':
		return take_number(parser, "iterations", arg, OPTIONS_ITERATIONS_MAX,
				   &out->iterations);
	case OPTION_FORMAT:
		return take_format(parser, arg, format);
	case OPTION_MEMORY:
		return take_number(parser, "memory", arg, OPTIONS_MEMORY_MAX, &out->memory);
	case OPTION_DUMP_UNWIND:
		out->dump_unwind = arg;
		return OPTIONS_RUN;
	case OPTION_THEME:
		out->theme = arg;
		return OPTIONS_RUN;
	case OPTION_HELP:
		return OPTIONS_HELP;
	case OPTION_VERSION:
		return OPTIONS_VERSION;
	case 'K':
		out->no_kernel = true;
		return OPTIONS_RUN;
	case 'U':
		out->no_user = true;
		return OPTIONS_RUN;
	case 'b':
		out->batch = true;
		return OPTIONS_RUN;
	case OPTION_CHECK:
		out->check = true;
		return OPTIONS_RUN;
	case OPTION_ASCII:
		out->ascii = true;
		return OPTIONS_RUN;
	default:
		out->no_color = true; /* the only one left; a test walks the table */
		return OPTIONS_RUN;
	}
}

/* What getopt_long wants: "+:" stops at COMMAND and tells a missing value from a wrong option. */
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
		return usage(parser, "option `%.*s' needs a value", SHOWN, last);
	/* getopt_long tells of a known option only because a value was glued to it. */
	for (size_t i = 0; i < ROWS; i++) {
		if (optopt == table[i].letter)
			return usage(parser, "option `%.*s' takes no value", SHOWN, last);
	}
	if (optopt)
		return usage(parser, "there is no option `-%c'", optopt);
	return usage(parser, "there is no option `%.*s', or it is not unique", SHOWN, last);
}

/* What each option allows for itself, but not together. */
static enum options_result together(struct parser *parser, bool format)
{
	const struct options *out = parser->out;

	if (out->no_kernel && out->no_user)
		return usage(parser, "--no-kernel and --no-user together leave nothing");
	if (format && !out->batch)
		return usage(parser, "--format is for reports: add --batch");
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

	*out = (struct options){.frequency = 99, .delay = 1, .memory = 64};
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
	size_t count;
	const struct event *events = event_table(&count);
	int column = 0;

	fprintf(to, "usage: stacktop [options] [-- COMMAND [ARG...]]\n\n"
		    "Shows live which functions of which processes use the CPU. With a COMMAND:\n"
		    "starts it, samples it and its children, and ends with it.\n\n");
	for (size_t i = 0; i < ROWS; i++) {
		char left[40];
		char letter[5] = "    ";

		if (table[i].letter <= UCHAR_MAX)
			snprintf(letter, sizeof(letter), "-%c, ", table[i].letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, table[i].name,
			 table[i].arg ? " " : "", table[i].arg ? table[i].arg : "");
		fprintf(to, "  %-24s %s\n", left, table[i].help);
	}
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
