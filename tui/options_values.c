// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The values of options are checked here and completely: code behind the parser need not ask
 * whether a frequency makes sense. Texts are not copied.
 */
#include <ctype.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/event.h"
#include "symbols/base/text.h"
#include "tui/agent/listen.h"
#include "tui/collect/collector.h"
#include "tui/options_priv.h"
#include "tui/screen/keys.h"

#define CPU_MAX 8191u /* the highest CPU number that -C takes */

enum options_result options_usage(struct parser *parser, const char *format, ...)
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
	return options_usage(parser, "--%s: `%.*s' %s", parser->row->name, SHOWN, text, why);
}

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

enum options_result options_take_pids(struct parser *parser, const char *text)
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

enum options_result options_take_cpus(struct parser *parser, const char *text)
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

enum options_result options_take_comm(struct parser *parser, const char *text)
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
		return options_usage(parser, "--comm: `%.*s': %s", SHOWN, text, message);
	}
	out->comm = text;
	return OPTIONS_RUN;
}

enum options_result options_take_user(struct parser *parser, const char *text)
{
	const struct passwd *entry;
	const char *s = text;
	unsigned long uid;

	/* A name of digits is a name first, as with chown(1). */
	entry = getpwnam(text);
	if (entry)
		uid = entry->pw_uid;
	else if (!number(&s, UINT32_MAX - 1ul, &uid) || *s)
		return options_usage(parser, "--user: there is no user `%.*s'", SHOWN, text);
	parser->out->user = (uid_t)uid;
	parser->out->user_given = true;
	return OPTIONS_RUN;
}

/* What the name of a control group or container is to be compared with. */
enum options_result options_take_group(struct parser *parser, const char *text)
{
	if (!text[0])
		return options_usage(parser, "--%s: nothing to look for", parser->row->name);
	*(const char **)options_place(parser) = text;
	return OPTIONS_RUN;
}

enum options_result options_take_event(struct parser *parser, const char *text)
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

enum options_result options_take_number(struct parser *parser, const char *text)
{
	const char *s = text;
	unsigned long value;

	if (!number(&s, parser->row->max, &value) || *s || !value)
		return options_usage(parser, "--%s: `%.*s' is not a number from 1 to %u",
				     parser->row->name, SHOWN, text, parser->row->max);
	*(unsigned int *)options_place(parser) = (unsigned int)value;
	return OPTIONS_RUN;
}

enum options_result options_take_delay(struct parser *parser, const char *text)
{
	parser->out->delay_given = true;
	if (decimal(text, COLLECTOR_DELAY_MIN, COLLECTOR_DELAY_MAX, &parser->out->delay))
		return OPTIONS_RUN;
	return refuse(parser, text, "is not a number of seconds from 0.1 to 3600");
}

enum options_result options_take_moment(struct parser *parser, const char *text)
{
	if (replay_time_parse(text, options_place(parser)))
		return OPTIONS_RUN;
	return refuse(parser, text, "is neither seconds nor a time such as 14:03:20");
}

enum options_result options_take_speed(struct parser *parser, const char *text)
{
	if (decimal(text, 0.1, 100, &parser->out->speed))
		return OPTIONS_RUN;
	return refuse(parser, text, "is not a number from 0.1 to 100");
}

enum options_result options_take_format(struct parser *parser, const char *text)
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

enum options_result options_take_frames(struct parser *parser, const char *text)
{
	parser->out->frames_given = true;
	if (query_frames_parse(text, &parser->out->frames))
		return OPTIONS_RUN;
	return refuse(parser, text, "is not merged, all or language");
}

enum options_result options_take_size(struct parser *parser, const char *text)
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

enum options_result options_take_keys(struct parser *parser, const char *text)
{
	for (const char *at = text; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");

		if (length && keys_parse(at, length) == KEYCODE_NONE)
			return options_usage(parser, "--keys: there is no key `%.*s'", (int)length,
					     at);
		at += length;
	}
	parser->out->keys = text;
	return OPTIONS_RUN;
}

/* --- of --push ------------------------------------------------------------------------------- */

enum options_result options_take_push(struct parser *parser, const char *text)
{
	struct push_target target;
	char why[256];

	/* What a message quotes may hold a password, so the URL is not quoted. */
	if (!push_target_parse(text, &target, why, sizeof(why)))
		return options_usage(parser, "--push: the URL %s", why);
	parser->out->push.url = text;
	return OPTIONS_RUN;
}

enum options_result options_take_every(struct parser *parser, const char *text)
{
	if (decimal(text, 1, 3600, &parser->out->push.every))
		return OPTIONS_RUN;
	return refuse(parser, text, "is not a number of seconds from 1 to 3600");
}

enum options_result options_take_service(struct parser *parser, const char *text)
{
	char name[PUSH_TEXT_MAX];

	if (!push_service(text, NULL, name))
		return refuse(parser, text,
			      "is not a name with {comm}, {user}, {cgroup}, {host} or {pid} in it");
	parser->out->push.service = text;
	return OPTIONS_RUN;
}

enum options_result options_take_label(struct parser *parser, const char *text)
{
	struct push_options *push = &parser->out->push;

	if (push->nlabels == PUSH_LABELS_MAX)
		return options_usage(parser, "--label: there are more than %d", PUSH_LABELS_MAX);
	if (!push_label_parse(text, &push->labels[push->nlabels]))
		return refuse(parser, text, "is not KEY=VALUE with a key of letters, digits and _");
	push->nlabels++;
	return OPTIONS_RUN;
}

enum options_result options_take_spool(struct parser *parser, const char *text)
{
	if (push_spool_parse(text, &parser->out->push))
		return OPTIONS_RUN;
	return refuse(parser, text, "is not DIR:SIZE with a size of at least 1M, such as 256M");
}

enum options_result options_take_listen(struct parser *parser, const char *text)
{
	struct sockaddr_storage address;
	socklen_t length;

	if (!listen_parse(text, &address, &length))
		return refuse(parser, text, "is not a port, or an address such as 0.0.0.0:9137");
	parser->out->listen = text;
	return OPTIONS_RUN;
}
