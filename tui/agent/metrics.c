// SPDX-License-Identifier: GPL-2.0-or-later
/* See metrics.h. */
#include "tui/agent/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/text.h"

#define FAMILY_MAX 80 /* bytes of a name */

struct metrics {
	FILE *to;
	char *text;
	size_t size;
	char family[FAMILY_MAX + 1]; /* "": none yet */
	int err;
};

struct metrics *metrics_new(void)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->to = open_memstream(&m->text, &m->size);
	if (m->to)
		return m;
	free(m);
	return NULL;
}

/* The format also allows '_' as the first letter, and ':', which it leaves to rules. */
static bool is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t length = strlen(name);

	return length && length <= FAMILY_MAX && strchr(letters, *name) &&
	       strspn(name, all) == length;
}

static bool ends_in_total(const char *name)
{
	size_t length = strlen(name);

	return length > 6 && !strcmp(name + length - 6, "_total");
}

/* Were it begun before, its second line would be in the text; no value has a line feed. */
static bool is_known(struct metrics *m, const char *name)
{
	char line[FAMILY_MAX + 16];

	snprintf(line, sizeof(line), "\n# TYPE %s ", name);
	return fflush(m->to) || strstr(m->text, line);
}

/* Clean text has no line feeds, which would have to be escaped, too. */
static void put_escaped(struct metrics *m, const char *text, const char *escaped)
{
	char clean[METRICS_VALUE + 1];

	text_clean(clean, sizeof(clean), text, strlen(text));
	for (const char *at = clean; *at; at++) {
		if (strchr(escaped, *at))
			fputc('\\', m->to);
		fputc(*at, m->to);
	}
}

void metrics_family(struct metrics *m, enum metric_type type, const char *name, const char *help)
{
	if (m->err)
		return;
	if (!is_name(name) || ends_in_total(name) != (type == METRIC_COUNTER) ||
	    is_known(m, name)) {
		m->err = -EINVAL;
		return;
	}
	snprintf(m->family, sizeof(m->family), "%s", name);
	fprintf(m->to, "# HELP %s ", name);
	put_escaped(m, help, "\\");
	fprintf(m->to, "\n# TYPE %s %s\n", name, type == METRIC_COUNTER ? "counter" : "gauge");
}

/* False: there is no sample. */
static bool begin(struct metrics *m, const struct metric_label *labels, size_t n)
{
	if (!m->err && !*m->family)
		m->err = -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!is_name(labels[i].name))
			m->err = -EINVAL;
	if (m->err)
		return false;
	fputs(m->family, m->to);
	for (size_t i = 0; i < n; i++) {
		fprintf(m->to, "%s%s=\"", i ? "," : "{", labels[i].name);
		put_escaped(m, labels[i].value, "\\\"");
		fputc('"', m->to);
	}
	fputs(n ? "} " : " ", m->to);
	return true;
}

void metrics_count(struct metrics *m, const struct metric_label *labels, size_t n, uint64_t value)
{
	if (begin(m, labels, n))
		fprintf(m->to, "%" PRIu64 "\n", value);
}

void metrics_value(struct metrics *m, const struct metric_label *labels, size_t n, double value)
{
	if (!begin(m, labels, n))
		return;
	if (isnan(value))
		fputs("NaN\n", m->to);
	else if (isinf(value))
		fputs(value > 0 ? "+Inf\n" : "-Inf\n", m->to);
	else
		fprintf(m->to, "%.15g\n", value);
}

int metrics_finish(struct metrics *m, char **text, size_t *size)
{
	int err = m->err;
	bool lost = ferror(m->to);

	/* What a stream in memory cannot write is memory that it does not get. */
	if (fclose(m->to) || lost)
		err = err ? err : -ENOMEM;
	if (err) {
		free(m->text);
		m->text = NULL;
		m->size = 0;
	}
	*text = m->text;
	*size = m->size;
	free(m);
	return err;
}
