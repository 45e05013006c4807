// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line, from one table: its letters, its help, and what does not go together. */
#include "tui/options_priv.h"

#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/event.h"

#ifndef STACKTOP_VERSION
#define STACKTOP_VERSION "0.1"
#endif

#define FREQUENCY	99 /* Hz */
#define AGENT_FREQUENCY 19
#define AGENT_DEBUG	16  /* MiB */
#define LONG		256 /* for getopt_long: the row of a long option + this */

/* --- the table ------------------------------------------------------------------------------- */

/* Where a field of struct options is, which has to be of that type. */
#define AT(type, field)                                                                            \
	(offsetof(struct options, field) +                                                         \
	 0 * sizeof((type *)NULL == &((struct options *)NULL)->field))

static const struct option_row table[] = {
	{'p', "pid", "LIST", "sample only these processes, by number: 1,22,333",
	 .take = options_take_pids},
	{0, "comm", "REGEX", "sample only processes with a matching name",
	 .take = options_take_comm},
	{'u', "user", "USER", "sample only processes of this user, by name or number",
	 .take = options_take_user},
	{'G', "cgroup", "PART", "sample only processes of matching control groups",
	 .take = options_take_group, .at = AT(const char *, cgroup)},
	{0, "container", "ID", "sample only processes of a container, by id or name",
	 .take = options_take_group, .at = AT(const char *, container)},
	{'C', "cpu", "LIST", "sample only these CPUs: 0-3,5", .take = options_take_cpus},
	{0, "by-cpu", NULL, "count the samples of each CPU apart", .at = AT(bool, by_cpu)},
	{'F', "frequency", "HZ", "samples a second on each CPU, 1 to 9999 (default 99)",
	 .take = options_take_number, .max = 9999, .at = AT(unsigned int, frequency)},
	{'e', "event", "EVENT", "event to sample (default cpu-clock), off-cpu or wall",
	 .take = options_take_event},
	{0, "min-block", "USEC", "off-cpu: shorter waits are only summed up (default 1)",
	 .take = options_take_number, .max = 1000000000, .at = AT(unsigned int, min_block)},
	{'d', "delay", "SEC", "seconds between refreshes, 0.1 to 3600 (default 1)",
	 .take = options_take_delay},
	{'K', "no-kernel", NULL, "leave kernel frames out", .at = AT(bool, no_kernel)},
	{'U', "no-user", NULL, "leave user frames out", .at = AT(bool, no_user)},
	{0, "no-inline", NULL, "leave inlined calls out", .at = AT(bool, no_inline)},
	{0, "frames", "MODE", "of interpreted languages: merged, all or language",
	 .take = options_take_frames},
	{0, "debuginfod", NULL, "fetch debug files from $DEBUGINFOD_URLS",
	 .at = AT(bool, debuginfod)},
	{'b', "batch", NULL, "no screen: a report per refresh to standard output",
	 .at = AT(bool, batch)},
	{0, "plain", NULL, "no screen: changes as lines, commands from stdin",
	 .at = AT(bool, plain)},
	{'n', "iterations", "N", "end after so many refreshes", .take = options_take_number,
	 .max = 1000000000, .at = AT(unsigned int, iterations)},
	{0, "format", "FORMAT", "of batch reports (default: text, or by FILE's suffix)",
	 .take = options_take_format},
	{'o', "output", "FILE", "write batch reports there, not to standard output",
	 .at = AT(const char *, output)},
	{'w', "record", "FILE", "record a session for --replay", .at = AT(const char *, record)},
	{'r', "replay", "FILE", "show a session, or a pprof, folded or perf file",
	 .at = AT(const char *, replay)},
	{0, "from", "TIME", "replay from this time on: seconds, or 14:03:20",
	 .take = options_take_moment, .at = AT(struct replay_time, from)},
	{0, "to", "TIME", "replay up to this time", .take = options_take_moment,
	 .at = AT(struct replay_time, to)},
	{0, "speed", "FACTOR", "speed of the replay, 0.1 to 100 (default 1)",
	 .take = options_take_speed},
	{0, "diff", "A B", "compare two sessions, or such other files",
	 .at = AT(const char *, diff[0])},
	{0, "baseline", "FILE", "show differences from such a file",
	 .at = AT(const char *, baseline)},
	{0, "push", "URL", "send profiles to Pyroscope, Parca or OpenTelemetry",
	 .take = options_take_push},
	{0, "push-every", "SEC", "an interval that is sent, 1 to 3600 (default 10)",
	 .take = options_take_every},
	{0, "service", "RULE", "service of a process (default {comm})",
	 .take = options_take_service},
	{0, "label", "K=V", "a label of all that is sent; may be repeated",
	 .take = options_take_label},
	{0, "push-threads", NULL, "send threads apart", .at = AT(bool, push.threads)},
	{0, "push-ca", "FILE", "certificates to trust instead of the system's",
	 .at = AT(const char *, push.ca)},
	{0, "push-secrets", "FILE", "headers, a line each: Authorization: Bearer TOKEN",
	 .at = AT(const char *, push.secrets)},
	{0, "spool", "DIR:SIZE", "keep what the server does not take: /var/x:256M",
	 .take = options_take_spool},
	{0, "agent", NULL, "no screen and no reports: only --push", .at = AT(bool, agent)},
	{0, "config", "FILE", "options of a file (--agent: /etc/stacktop/agent.conf)",
	 .at = AT(const char *, config)},
	{0, "listen", "ADDR", "--agent: serve health and metrics at this port",
	 .take = options_take_listen},
	{0, "memory", "MIB", "budget of unwind tables, 1 to 4096 (default 64)",
	 .take = options_take_number, .max = 4096, .at = AT(unsigned int, memory)},
	{0, "debug-memory", "MIB", "budget of debug information, 1 to 65536 (default 256)",
	 .take = options_take_number, .max = 65536, .at = AT(unsigned int, debug_memory)},
	{0, "ascii", NULL, "draw with ASCII characters only", .at = AT(bool, ascii)},
	{0, "no-color", NULL, "draw without colours", .at = AT(bool, no_color)},
	{0, "no-mouse", NULL, "leave the mouse to the terminal", .at = AT(bool, no_mouse)},
	{0, "theme", "NAME", "colours of the screen", .at = AT(const char *, theme)},
	{0, "screenshot", "FILE", "write the screen as .svg, .ansi or text, and end",
	 .at = AT(const char *, screenshot)},
	{0, "size", "COLSxROWS", "of the screenshot, 20x5 to 400x120 (default 100x30)",
	 .take = options_take_size},
	{0, "keys", "KEYS", "keys to press before it, as F1 names them: \"3 Down\"",
	 .take = options_take_keys},
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
		*(const char **)options_place(parser) = arg;
	else if (row->result == OPTIONS_RUN)
		*(bool *)options_place(parser) = true;
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
		return options_usage(parser, "option `%.*s' needs a value", SHOWN, last);
	/* getopt_long refuses a known option only because a value was glued to it. */
	if (optopt >= LONG)
		return options_usage(parser, "option `%.*s' takes no value", SHOWN, last);
	if (optopt)
		return options_usage(parser, "there is no option `-%c'", optopt);
	return options_usage(parser, "there is no option `%.*s', or it is not unique", SHOWN, last);
}

/* It runs for months beside others: what is not given is what costs least. */
static void suit_agent(struct options *out)
{
	out->batch = true;
	/* A slice is an interval. */
	if (!out->delay_given)
		out->delay = out->push.every;
	if (!out->frequency)
		out->frequency = AGENT_FREQUENCY;
	if (!out->debug_memory)
		out->debug_memory = AGENT_DEBUG;
}

/* What each option allows for itself, but not together. */
static enum options_result together(struct parser *parser)
{
	struct options *out = parser->out;
	const struct export_format *named = out->output ? export_by_file(out->output) : NULL;

	if (!out->push.url && (out->push.nlabels || out->push.spool || out->push.ca ||
			       out->push.secrets || out->push.threads))
		return options_usage(parser, "--label, --spool, --push-ca, --push-secrets and "
					     "--push-threads are for --push");
	if (out->agent && !out->push.url)
		return options_usage(parser, "--agent only sends profiles: add --push URL");
	if (out->listen && !out->agent)
		return options_usage(parser, "--listen is for --agent");
	if (out->agent && (out->batch || out->plain || out->screenshot || out->replay ||
			   out->output || out->command))
		return options_usage(parser, "--agent samples this machine, and only sends that");
	if ((out->screenshot || out->plain) && out->push.url)
		return options_usage(parser, "--push is for the screen, --batch and --agent");
	if (out->push.url && out->replay && !out->batch)
		return options_usage(parser, "--push of a recording needs --batch");
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
	if (parser->format && !out->batch && !out->diff[0])
		return options_usage(parser, "--format is for reports: add --batch");
	if (out->output && !out->batch && !out->diff[0])
		return options_usage(parser, "--output is for reports: add --batch");
	if (named && !parser->format)
		out->format = named->format;
	if (out->diff[0] && out->format != FORMAT_TEXT && out->format != FORMAT_FOLDED &&
	    out->format != FORMAT_SVG && out->format != FORMAT_FLAME)
		return options_usage(parser, "--diff is written as text, folded, svg or flame");
	out->push.no_kernel = out->no_kernel;
	out->push.no_user = out->no_user;
	out->push.no_inline = out->no_inline;
	out->push.frames = out->frames;
	out->push.cpu = out->measure != MEASURE_OFF;
	out->push.off = out->measure != MEASURE_CPU;
	if (out->agent)
		suit_agent(out);
	if (!out->frequency)
		out->frequency = FREQUENCY;
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
	struct parser parser = {.out = out, .err = err};
	struct option longs[ROWS + 1];
	char letters[2 * ROWS + 3];
	enum options_result result = OPTIONS_RUN;
	int letter;

	*out = (struct options){.delay = 1,
				.speed = 1,
				.min_block = 1,
				.push = {.every = PUSH_EVERY, .service = "{comm}"}};
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
