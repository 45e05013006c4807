/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces that several formats write. Names are clean already (text_clean), and are cleaned once
 * more: a name that slipped through could exploit the program that reads the file.
 */
#include "tui/export/export_priv.h"

#include <inttypes.h>
#include <string.h>

#include "symbols/base/text.h"
#include "tui/export/export_model.h"

#define TEXT_MAX 2048 /* bytes of a name or a command line, and NUL */

void json_string(FILE *to, const char *before, const char *text)
{
	char clean[TEXT_MAX];

	text_clean(clean, sizeof(clean), text, strlen(text));
	fprintf(to, "%s\"", before);
	for (const char *s = clean; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', to);
		/* So that it can be part of an HTML page's script, too. */
		if (*s == '<')
			fputs("\\u003c", to);
		else
			fputc(*s, to);
	}
	fputc('"', to);
}

void xml_text(FILE *to, const char *text)
{
	char clean[TEXT_MAX];

	text_clean(clean, sizeof(clean), text, strlen(text));
	for (const char *s = clean; *s; s++) {
		switch (*s) {
		case '&':
			fputs("&amp;", to);
			break;
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		case '\'':
			fputs("&#39;", to);
			break;
		default:
			fputc(*s, to);
		}
	}
}

const char *export_name(char *to, const struct export_model *c, uint32_t func)
{
	const struct export_model_func *f = &c->funcs[func];
	bool end = f->kind == FUNC_END || f->kind == FUNC_WAIT;
	const char *name = export_model_text(c, f->name);

	snprintf(to, EXPORT_NAME_MAX, "%s%s%s", end ? "[" : "", *name ? name : "?", end ? "]" : "");
	return to;
}

const char *export_span(char *to, size_t size, uint64_t us)
{
	if (us < 1000)
		snprintf(to, size, "%" PRIu64 " us", us);
	else if (us < 999950)
		snprintf(to, size, "%.1f ms", (double)us / 1e3);
	else
		snprintf(to, size, "%.2f s", (double)us / 1e6);
	return to;
}

const char *export_counted(const struct export_model *c)
{
	if (c->measure != MEASURE_CPU)
		return measure_name(c->measure);
	return *c->health.event ? c->health.event : "samples";
}

const char *export_events(const struct export_model *c)
{
	return c->measure == MEASURE_CPU   ? "samples"
	       : c->measure == MEASURE_OFF ? "waits"
					   : "waits and samples";
}

uint64_t export_period(const struct export_model *c)
{
	const char *event = c->health.event;

	if (!c->health.frequency || (strcmp(event, "cpu-clock") && strcmp(event, "task-clock")))
		return 0;
	return 1000000000u / c->health.frequency;
}
