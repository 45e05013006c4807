/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which formats there are, and when each is written: for each refresh, or once, at the end. */
#include "tui/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tui/export/batch.h"
#include "tui/export/export_model.h"
#include "tui/export/export_priv.h"
#include "tui/query/query.h"

/* By their number. */
static const struct export_format table[] = {
	{FORMAT_TEXT, "text", "txt", true, "for people"},
	{FORMAT_FOLDED, "folded", "folded collapsed", true, "a stack a line, flamegraph.pl"},
	{FORMAT_JSON, "json", "json ndjson", true, "everything, an object a refresh"},
	{FORMAT_PERF, "perf", "perf script", true, "as perf script prints it"},
	{FORMAT_PPROF, "pprof", "pb.gz pprof", false, "go tool pprof"},
	{FORMAT_SPEEDSCOPE, "speedscope", "speedscope.json speedscope", false, "speedscope.app"},
	{FORMAT_SVG, "svg", "svg", false, "a flame graph for a browser"},
	{FORMAT_FLAME, "flame", "flame.svg", false, "the same, with its root below"},
	{FORMAT_FIREFOX, "firefox", "firefox.json", false, "profiler.firefox.com"},
};

#define FORMATS (sizeof(table) / sizeof(*table))

struct exporter {
	const struct export_format *format;
	FILE *to;
	const struct theme *theme;
	struct export_model model;
};

const struct export_format *export_table(size_t *count)
{
	*count = FORMATS;
	return table;
}

const struct export_format *export_by_name(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/* Length of the suffix of the path behind a dot; 0: none of these. */
static size_t suffix_of(const char *path, const char *suffixes)
{
	size_t length = strlen(path), best = 0, n;

	for (const char *s = suffixes; *s; s += n + (s[n] == ' ')) {
		n = strcspn(s, " ");
		if (n > best && length > n && path[length - n - 1] == '.' &&
		    !strncasecmp(path + length - n, s, n))
			best = n;
	}
	return best;
}

const struct export_format *export_by_file(const char *path)
{
	const struct export_format *found = NULL;
	size_t best = 0;

	for (size_t i = 0; i < FORMATS; i++) {
		size_t n = suffix_of(path, table[i].suffixes);

		if (n > best) {
			best = n;
			found = &table[i];
		}
	}
	return found;
}

int export_new(enum file_format format, FILE *to, const struct theme *theme, struct exporter **out)
{
	struct exporter *e = calloc(1, sizeof(*e));

	*out = e;
	if (!e)
		return -ENOMEM;
	e->to = to;
	e->theme = theme;
	e->format = &table[format];
	return 0;
}

void export_free(struct exporter *e)
{
	if (!e)
		return;
	export_model_free(&e->model);
	free(e);
}

/* The errno of the failed write may be lost by now. */
static int flush(FILE *to)
{
	errno = 0;
	if (!fflush(to) && !ferror(to))
		return 0;
	return errno ? -errno : -EIO;
}

static int write_model(struct exporter *e)
{
	static int (*const writers[])(FILE *, const struct export_model *) = {
		[FORMAT_JSON] = export_json,	   [FORMAT_PERF] = export_perf,
		[FORMAT_PPROF] = export_pprof,	   [FORMAT_SPEEDSCOPE] = export_speedscope,
		[FORMAT_FIREFOX] = export_firefox,
	};
	enum file_format format = e->format->format;
	int err;

	errno = 0;
	if (format == FORMAT_SVG || format == FORMAT_FLAME)
		err = export_svg(e->to, &e->model, e->theme, format == FORMAT_FLAME);
	else
		err = writers[format](e->to, &e->model);
	if (!err && ferror(e->to) && errno)
		err = -errno;
	return err ? err : flush(e->to);
}

int export_add(struct exporter *e, struct profile *p, const struct query *q)
{
	int err;

	if (e->format->format == FORMAT_TEXT)
		return batch_text(e->to, p, q);
	if (e->format->format == FORMAT_FOLDED)
		return batch_folded(e->to, p, q);
	profile_lock(p);
	err = export_model_add(&e->model, p, q);
	profile_unlock(p);
	if (!err && e->format->stream) {
		err = write_model(e);
		export_model_free(&e->model);
	}
	return err;
}

bool export_streams(const struct exporter *e)
{
	return e->format->stream;
}

int export_finish(struct exporter *e)
{
	return e->format->stream ? flush(e->to) : write_model(e);
}
