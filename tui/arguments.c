// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See arguments.h. An option is listed in two tables: options_table knows how it is read, and the
 * list below whether a file may have it. What is not in the list cannot come in by accident when
 * options are added.
 */
#include "tui/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/text.h"
#include "tui/complain.h"
#include "tui/options.h"
#include "tui/util/conflines.h"
#include "tui/util/safepath.h"
#include "tui/util/smallfile.h"

#define PREFIX	    "STACKTOP_"
#define VARIABLE    64	/* bytes of a variable's name */
#define SHOWN	    128 /* bytes of a value in a message */
#define OPTIONS_MAX 256

struct argument {
	const struct option_row *row;
	char *text;	   /* --name=value */
	char *origin;	   /* for messages */
	unsigned int line; /* of the file; 0: from the environment */
};

static const char *const allowed[] = {
	/* what is sent, and where to */
	"push", "push-every", "push-ca", "push-secrets", "push-threads", "service", "label",
	"spool", "listen",
	/* what is sampled */
	"pid", "comm", "user", "cgroup", "container", "cpu", "by-cpu", "frequency", "event",
	"min-block", "delay", "no-kernel", "no-user", "no-inline", "frames",
	/* what it may cost */
	"memory", "debug-memory", "debuginfod", "force", NULL};

const char *const *arguments_allowed(void)
{
	return allowed;
}

static bool is_allowed(const char *name)
{
	for (const char *const *at = allowed; *at; at++)
		if (!strcmp(*at, name))
			return true;
	return false;
}

static bool adds_up(const char *name)
{
	return !strcmp(name, "label");
}

static const struct option_row *find(const char *name)
{
	size_t count;
	const struct option_row *rows = options_table(&count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

/* --- what goes wrong ------------------------------------------------------------------------- */

struct merge {
	struct arguments *out;
	const char *file;
	unsigned int line;
	const char *variable; /* NULL: the file is read */
	char *error;
	size_t size;
};

__attribute__((format(printf, 3, 4))) static int fail(struct merge *m, int err, const char *format,
						      ...)
{
	char text[PATH_MAX + 512];
	int length = 0;
	va_list args;

	if (m->variable)
		length = snprintf(text, sizeof(text), "%s: ", m->variable);
	else if (m->line)
		length = snprintf(text, sizeof(text), "%.*s:%u: ", PATH_MAX, m->file, m->line);
	else if (m->file)
		length = snprintf(text, sizeof(text), "%.*s: ", PATH_MAX, m->file);
	va_start(args, format);
	vsnprintf(text + length, sizeof(text) - (size_t)length, format, args);
	va_end(args);
	text_clean(m->error, m->size, text, strlen(text));
	return err;
}

static int no_memory(struct merge *m)
{
	return fail(m, -ENOMEM, "out of memory");
}

/* --- arguments ------------------------------------------------------------------------------- */

static void drop(struct arguments *a, size_t i)
{
	free(a->given[i].text);
	free(a->given[i].origin);
	memmove(a->given + i, a->given + i + 1, (--a->count - i) * sizeof(*a->given));
}

static char *origin(const struct merge *m)
{
	char *text = NULL, *clean = NULL;

	if (m->variable)
		return strdup(m->variable);
	if (asprintf(&text, "%s:%u", m->file, m->line) < 0)
		return NULL;
	clean = text_clean_dup(text);
	free(text);
	return clean;
}

static int add(struct merge *m, const struct option_row *row, const char *value, size_t length)
{
	struct arguments *a = m->out;
	struct argument *new;

	if (a->count == ARGUMENTS_MAX)
		return fail(m, -EINVAL, "there are more than %d options", ARGUMENTS_MAX);
	new = &a->given[a->count];
	*new = (struct argument){.row = row, .line = m->line, .origin = origin(m)};
	if (asprintf(&new->text, "--%s%s%.*s", row->name, value ? "=" : "", (int)length,
		     value ? value : "") < 0)
		new->text = NULL;
	if (new->text != NULL &&new->origin != NULL) {
		a->count++;
		return 0;
	}
	free(new->text);
	free(new->origin);
	return no_memory(m);
}

/* "no" for a flag removes what the file said of it. */
static int add_flag(struct merge *m, const struct option_row *row, const char *value)
{
	if (!value || !strcmp(value, "yes"))
		return add(m, row, NULL, 0);
	if (strcmp(value, "no") != 0)
		return fail(m, -EINVAL, "`%.*s' is neither yes nor no", SHOWN, value);
	for (size_t i = m->out->count; i--;)
		if (m->out->given[i].row == row)
			drop(m->out, i);
	return 0;
}

static int add_option(struct merge *m, const struct option_row *row, const char *value)
{
	if (!row->arg)
		return add_flag(m, row, value);
	if (!value || !*value)
		return fail(m, -EINVAL, "`%s' needs a value", row->name);
	return add(m, row, value, strlen(value));
}

/* --- the file -------------------------------------------------------------------------------- */

static int add_line(struct merge *m, const struct conflines *lines, unsigned int *seen)
{
	const struct option_row *row = find(lines->name), *first;
	size_t count;

	if (!row)
		return fail(m, -EINVAL, "there is no option `%.*s'", SHOWN, lines->name);
	if (!is_allowed(row->name))
		return fail(m, -EINVAL, "`%s' is for the command line only", row->name);
	first = options_table(&count);
	if (seen[row - first] && !adds_up(row->name))
		return fail(m, -EINVAL, "`%s' is in line %u already", row->name, seen[row - first]);
	seen[row - first] = m->line;
	return add_option(m, row, lines->value);
}

/* Finds out once more why root does not trust the file. */
static int distrust(struct merge *m)
{
	struct safepath at;
	int err = safepath_open(&at, m->file, 0);
	bool other = !err && at.held >= 0 && at.status.st_uid != 0;

	if (other)
		safepath_refuse(&at);
	if (!err)
		safepath_close(&at);
	if (err == -EPERM || other)
		return fail(m, -EPERM, "%s; the file has to be root's", at.why);
	return fail(m, -EPERM,
		    "other users may write this file, so root does not use it: chmod go-w");
}

/* *text: NULL: the file is not there, and need not be. */
static int read_file(struct merge *m, bool needed, char **text, size_t *length)
{
	int err = smallfile_read(m->file, ARGUMENTS_FILE_MAX, SMALLFILE_SOLE, text, length);

	switch (err) {
	case 0:
		return 0;
	case -ENOENT:
	case -ENOTDIR:
		return needed ? fail(m, err, "%s", strerror(-err)) : 0;
	case -EINVAL:
		return fail(m, err, "not a regular file");
	case -EFBIG:
		return fail(m, err, "larger than %d KiB", ARGUMENTS_FILE_MAX / 1024);
	case -EPERM:
		return distrust(m);
	default:
		return fail(m, err, "%s", strerror(-err));
	}
}

static int merge_file(struct merge *m, bool needed)
{
	unsigned int seen[OPTIONS_MAX] = {0};
	struct conflines lines;
	size_t length;
	char *text = NULL;
	int err = read_file(m, needed, &text, &length), more = 1;

	if (err || !text)
		return err;
	m->out->file = strdup(m->file);
	if (!m->out->file)
		err = no_memory(m);
	conflines_begin(&lines, text, length);
	while (!err && more > 0) {
		more = conflines_next(&lines);
		m->line = lines.line;
		if (more < 0)
			err = fail(m, more, "%s", lines.wrong);
		else if (more)
			err = add_line(m, &lines, seen);
	}
	m->line = 0;
	free(text);
	return err;
}

/* --- the environment ------------------------------------------------------------------------- */

static int add_variable(struct merge *m, const struct option_row *row, const char *value)
{
	int err = 0;

	if (strlen(value) > CONFLINES_LENGTH)
		return fail(m, -EINVAL, "longer than %d bytes", CONFLINES_LENGTH);
	for (const char *at = value; *at; at++)
		if (iscntrl((unsigned char)*at))
			return fail(m, -EINVAL, "there are control characters");
	if (!adds_up(row->name))
		return add_option(m, row, value);
	while (!err && *value) {
		size_t length = strcspn(value, ",");

		if (length)
			err = add(m, row, value, length);
		value += length + (value[length] == ',');
	}
	return err;
}

static int merge_environment(struct merge *m)
{
	int err = 0;

	for (const char *const *name = allowed; *name && !err; name++) {
		const struct option_row *row = find(*name);
		char variable[VARIABLE];
		const char *value;

		snprintf(variable, sizeof(variable), PREFIX "%s", *name);
		for (char *at = variable; *at; at++)
			*at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
		value = row ? getenv(variable) : NULL;
		if (!value || !*value)
			continue;
		m->variable = variable;
		err = add_variable(m, row, value);
		m->variable = NULL;
	}
	return err;
}

/* --- the command line ------------------------------------------------------------------------ */

struct typed {
	const char *config; /* NULL: none */
	bool agent, push;
	bool ends; /* --help, --version */
};

static void take(struct typed *typed, const struct option_row *row, const char *value)
{
	if (!strcmp(row->name, "config"))
		typed->config = value;
	else if (!strcmp(row->name, "agent"))
		typed->agent = true;
	else if (!strcmp(row->name, "push"))
		typed->push = true;
	else if (!strcmp(row->name, "diff"))
		optind++; /* has two values, of which getopt_long knows one */
	else if (row->result != OPTIONS_RUN)
		typed->ends = true;
}

/* As options_parse reads it, which will also say what is wrong. */
static struct typed look(int argc, char **argv)
{
	char letters[2 * OPTIONS_MAX + 3] = "+:", *letter = letters + 2;
	struct option longs[OPTIONS_MAX + 1] = {0};
	struct typed typed = {0};
	size_t count;
	const struct option_row *rows = options_table(&count);
	int found;

	for (size_t i = 0; i < count; i++) {
		longs[i] =
			(struct option){rows[i].name, rows[i].arg ? required_argument : no_argument,
					NULL, UCHAR_MAX + 1 + (int)i};
		if (!rows[i].letter)
			continue;
		*letter++ = (char)rows[i].letter;
		if (rows[i].arg)
			*letter++ = ':';
	}
	opterr = 0;
	optind = 0; /* glibc: start afresh */
	while (optind <= argc && (found = getopt_long(argc, argv, letters, longs, NULL)) != -1)
		if (found > UCHAR_MAX)
			take(&typed, &rows[found - UCHAR_MAX - 1], optarg);
	return typed;
}

/* --- all three ------------------------------------------------------------------------------- */

static int join(struct merge *m, int argc, char **argv)
{
	struct argument *given;
	struct arguments *a = m->out;
	size_t typed = argc > 1 ? (size_t)argc - 1 : 0;

	/* An agent that reads its configuration again keeps all that it has read. */
	given = reallocarray(a->given, a->count + 1, sizeof(*given));
	if (!given)
		return no_memory(m);
	a->given = given;
	a->argv = calloc(1 + a->count + typed + 1, sizeof(*a->argv));
	if (!a->argv)
		return no_memory(m);
	a->argv[0] = argc ? argv[0] : (char *)"stacktop";
	for (size_t i = 0; i < a->count; i++)
		a->argv[1 + i] = a->given[i].text;
	for (size_t i = 0; i < typed; i++)
		a->argv[1 + a->count + i] = argv[1 + i];
	a->argc = (int)(1 + a->count + typed);
	return 0;
}

int arguments_merge(int argc, char **argv, const char *file, struct arguments *out, char *error,
		    size_t size)
{
	const struct typed typed = look(argc, argv);
	struct merge m = {.out = out, .file = file, .error = error, .size = size};
	bool needed = true;
	int err = 0;

	*error = '\0';
	*out = (struct arguments){.given = calloc(ARGUMENTS_MAX, sizeof(*out->given))};
	if (!out->given)
		err = no_memory(&m);
	if (!m.file)
		m.file = typed.config;
	if (!m.file && typed.agent) {
		m.file = ARGUMENTS_FILE;
		needed = false;
	}
	if (!err && m.file && !typed.ends)
		err = merge_file(&m, needed);
	if (!err && (m.file || typed.push) && !typed.ends)
		err = merge_environment(&m);
	if (!err)
		err = join(&m, argc, argv);
	if (err)
		arguments_free(out);
	return err;
}

void arguments_free(struct arguments *a)
{
	while (a->count)
		drop(a, a->count - 1);
	free(a->given);
	free(a->argv);
	free(a->file);
	*a = (struct arguments){0};
}

const char *arguments_origin(const struct arguments *a, int i)
{
	return i >= 1 && (size_t)i <= a->count ? a->given[i - 1].origin : NULL;
}

void arguments_blame(const struct arguments *a)
{
	const char *origin = arguments_origin(a, optind - 1);
	char text[512];

	snprintf(text, sizeof(text), "that is from %s", origin ? origin : "");
	if (origin)
		complain(text);
}
