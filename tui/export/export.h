/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_EXPORT_H
#define STACKTOP_TUI_EXPORT_EXPORT_H

/*
 * The file formats, in one table. All are made of the same samples (tui/export/export_model.h; text
 * and folded of the same queries), so that one can be compared with another. docs/FORMATS.md says
 * what each holds. What stands in names is data of others: each writer escapes what its format asks
 * for.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum file_format {
	FORMAT_TEXT,
	FORMAT_FOLDED,
	FORMAT_JSON,
	FORMAT_PERF,
	FORMAT_PPROF,
	FORMAT_SPEEDSCOPE,
	FORMAT_FIREFOX,
	FORMAT_SVG,
	FORMAT_ICICLE,
};

struct export_model;
struct exporter;
struct profile;
struct query;
struct theme;

struct export_format {
	enum file_format format;
	const char *name;     /* of --format */
	const char *suffixes; /* of file names, separated by blanks; the first one is proposed */
	/* A report for each refresh, one after another; else one file of all refreshes at the end.
	 */
	bool stream;
	bool binary;
	const char *help;
};

/* For a person who typed another one. */
#define EXPORT_SUFFIXES                                                                            \
	".svg .icicle.svg .pb.gz .json .folded .txt .perf .speedscope.json .firefox.json"

const struct export_format *export_table(size_t *count);
/* NULL: there is none. */
const struct export_format *export_by_name(const char *name);
/* By the longest suffix that matches, with letters of any case. NULL: none does. */
const struct export_format *export_by_file(const char *path);

/*
 * Writes to a stream. theme gives the colours of pictures and outlives the export; NULL: the
 * default's. -ENOMEM.
 */
int export_new(enum file_format format, FILE *to, const struct theme *theme, struct exporter **out);
void export_free(struct exporter *e);
/*
 * Takes the samples that the query asks for; a streaming format is written at once. Takes the
 * profile's lock and does not hold it while it writes. -ENOMEM or the -errno of the write.
 */
int export_add(struct exporter *e, struct profile *p, const struct query *q);
/* Writes what is due at the end. As above. */
int export_finish(struct exporter *e);

#endif
