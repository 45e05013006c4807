/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_EXPORT_H
#define STACKTOP_TUI_EXPORT_EXPORT_H

/*
 * The file formats, in one table. All are made from the same samples (tui/export/export_model.h;
 * text and folded from the same queries), so that they can be compared with each other.
 * docs/FORMATS.md says what each contains. Names are foreign data: each writer escapes what its
 * format requires.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum file_format {
	FORMAT_TEXT,
	FORMAT_FOLDED,
	FORMAT_JSON,
	FORMAT_PERF,
	FORMAT_PPROF,
	FORMAT_SPEEDSCOPE,
	FORMAT_SVG,
	FORMAT_FLAME,
	FORMAT_FIREFOX,
};

struct exporter;
struct profile;
struct query;
struct theme;

struct export_format {
	enum file_format format;
	const char *name;     /* of --format */
	const char *suffixes; /* of file names, separated by blanks; the first one is suggested */
	bool stream; /* a report for each refresh; else one file of all refreshes at the end */
	const char *help;
};

/* For the message about an unknown one. */
#define EXPORT_SUFFIXES                                                                            \
	".svg .flame.svg .pb.gz .json .folded .txt .perf .speedscope.json .firefox.json"

const struct export_format *export_table(size_t *count);
/* NULL: there is none. */
const struct export_format *export_by_name(const char *name);
/* By the longest matching suffix, in any case. NULL: none matches. */
const struct export_format *export_by_file(const char *path);

/*
 * Writes to a stream. theme has the colours of pictures and must outlive the export; NULL: the
 * default's. -ENOMEM.
 */
int export_new(enum file_format format, FILE *to, const struct theme *theme, struct exporter **out);
void export_free(struct exporter *e);
/*
 * Adds the samples that the query asks for; a streaming format is written at once. Takes the
 * profile's lock, but not while it writes. -ENOMEM or the -errno of the write.
 */
int export_add(struct exporter *e, struct profile *p, const struct query *q);
/* Whether it writes a report for each refresh. */
bool export_streams(const struct exporter *e);
/* Writes what is due at the end. Errors as above. */
int export_finish(struct exporter *e);

#endif
