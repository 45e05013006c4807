// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pyroscope and Parca take profiles of pprof, each with labels. A profile here is one service; what
 * tells its processes apart are labels of samples, which both make labels of series of. So names
 * are sent once for a service, not once for a process. Messages by the numbers of their fields in
 * grafana/pyroscope api/push/v1/push.proto and parca-dev/parca proto/parca/profilestore/v1alpha1.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/export/export_priv.h"
#include "tui/push/request.h"
#include "tui/util/base64.h"
#include "tui/util/proto.h"

enum {
	PUSH_SERIES = 1,   /* of PushRequest */
	WRITE_SERIES = 2,  /* of WriteRawRequest */
	SERIES_LABELS = 1, /* of either's RawProfileSeries */
	SERIES_SAMPLES = 2,
	LABEL_SET = 1, /* of Parca: labels are one level deeper */
	PAIR_NAME = 1,
	PAIR_VALUE = 2,
	SAMPLE_PROFILE = 1,
	SAMPLE_ID = 2, /* of Pyroscope */
};

/* The profile of samples first..end-1, gzipped; the caller frees it. */
static int make_profile(const struct push_piece *piece, size_t first, size_t end, char **data,
			size_t *size)
{
	struct export_model part;
	FILE *to;
	int err = export_model_part(piece->c, piece->c->samples + first, end - first, &part);

	*data = NULL;
	if (err)
		return err;
	to = open_memstream(data, size);
	err = to ? export_pprof_push(to, &part) : -ENOMEM;
	if (to && fclose(to) && !err)
		err = -ENOMEM;
	export_model_free(&part);
	return err;
}

/* --- labels ---------------------------------------------------------------------------------- */

/* Prometheus has no dots in names. */
static void label_key(const struct push_label *label, char to[PUSH_TEXT_MAX])
{
	snprintf(to, PUSH_TEXT_MAX, "%.*s", (int)label->key_length, label->key);
	for (char *s = to; *s; s++)
		if (*s == '.')
			*s = '_';
}

/* What the user calls that; NULL: nothing. Of two labels of one name the last one counts, since
 * receivers refuse series that have a label twice. */
static const char *users_label(const struct push_options *options, const char *name)
{
	const char *value = NULL;
	char key[PUSH_TEXT_MAX];

	for (size_t i = 0; i < options->nlabels; i++) {
		label_key(&options->labels[i], key);
		if (!strcmp(key, name))
			value = options->labels[i].value;
	}
	return value;
}

/* Calls put for each label of the service. */
static void each_label(const struct push_options *options, const struct push_piece *piece,
		       size_t first, void (*put)(void *arg, const char *name, const char *value),
		       void *arg)
{
	const struct export_model *c = piece->c;
	const char *service = users_label(options, "service_name");
	const char *host = users_label(options, "host");
	char key[PUSH_TEXT_MAX];

	put(arg, "__name__", push_profile_name(c));
	put(arg, "service_name",
	    service ? service : export_model_text(c, c->procs[c->samples[first].proc].service));
	if (host || *piece->host)
		put(arg, "host", host ? host : piece->host);
	for (size_t i = 0; i < options->nlabels; i++) {
		label_key(&options->labels[i], key);
		if (strcmp(key, "__name__") != 0 && strcmp(key, "service_name") != 0 &&
		    strcmp(key, "host") != 0 &&
		    users_label(options, key) == options->labels[i].value)
			put(arg, key, options->labels[i].value);
	}
}

/* --- as messages ------------------------------------------------------------------------------ */

struct series {
	struct outbytes series, labels, pair;
	bool nested; /* labels are in a message of their own */
};

static void put_pair(void *arg, const char *name, const char *value)
{
	struct series *s = arg;

	proto_text(&s->pair, PAIR_NAME, name);
	proto_text(&s->pair, PAIR_VALUE, value);
	proto_part(s->nested ? &s->labels : &s->series, s->nested ? LABEL_SET : SERIES_LABELS,
		   &s->pair);
}

/* As UUIDs are written. */
static void uuid_text(const uint8_t id[PUSH_ID], char to[40])
{
	char *end = to;

	for (int i = 0; i < PUSH_ID; i++)
		end += sprintf(end, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			       id[i]);
}

static int put_series(struct outbytes *out, enum push_protocol protocol,
		      const struct push_options *options, const struct push_piece *piece,
		      size_t first, size_t end)
{
	struct series s = {.nested = protocol != PUSH_PYROSCOPE};
	uint8_t id[PUSH_ID];
	char uuid[40], *profile;
	size_t size;
	int err = make_profile(piece, first, end, &profile, &size);

	if (!err) {
		each_label(options, piece, first, put_pair, &s);
		if (s.nested)
			proto_part(&s.series, SERIES_LABELS, &s.labels);
		proto_bytes(&s.pair, SAMPLE_PROFILE, profile, size);
		if (!s.nested) {
			push_part_id(piece, first, id);
			uuid_text(id, uuid);
			proto_text(&s.pair, SAMPLE_ID, uuid);
		}
		proto_part(&s.series, SERIES_SAMPLES, &s.pair);
		proto_part(out, s.nested ? WRITE_SERIES : PUSH_SERIES, &s.series);
	}
	bytes_free(&s.series);
	bytes_free(&s.labels);
	bytes_free(&s.pair);
	free(profile);
	return err;
}

/* --- as JSON ---------------------------------------------------------------------------------- */

struct json_labels {
	FILE *to;
	bool more;
};

static void put_json_label(void *arg, const char *name, const char *value)
{
	struct json_labels *labels = arg;

	json_string(labels->to, labels->more ? ",{\"name\":" : "{\"name\":", name);
	json_string(labels->to, ",\"value\":", value);
	fputc('}', labels->to);
	labels->more = true;
}

static int put_json(FILE *to, const struct push_options *options, const struct push_piece *piece,
		    size_t first, size_t end)
{
	struct json_labels labels = {.to = to};
	char *profile, *coded = NULL;
	size_t size, room;
	int err = make_profile(piece, first, end, &profile, &size);

	room = err ? 0 : (size + 2) / 3 * 4 + 8;
	if (!err)
		coded = malloc(room);
	if (coded) {
		base64_encode(profile, size, coded, room);
		fprintf(to, "%s{\"labels\":{\"labels\":[", first == piece->first ? "" : ",");
		each_label(options, piece, first, put_json_label, &labels);
		fprintf(to, "]},\"samples\":[{\"rawProfile\":\"%s\"}]}", coded);
	} else if (!err) {
		err = -ENOMEM;
	}
	free(coded);
	free(profile);
	return err;
}

static int series_json(struct outbytes *out, const struct push_options *options,
		       const struct push_piece *piece, size_t *profiles)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	int err = to ? 0 : -ENOMEM;

	if (to)
		fputs("{\"series\":[", to);
	for (size_t first = piece->first, end; first < piece->end && !err; first = end) {
		end = push_service_end(piece, first);
		err = put_json(to, options, piece, first, end);
		++*profiles;
	}
	if (to)
		fputs("],\"normalized\":true}", to);
	if (to && fclose(to) && !err)
		err = -ENOMEM;
	if (!err)
		bytes_put(out, text, size);
	free(text);
	return err;
}

int push_series(struct outbytes *out, enum push_protocol protocol,
		const struct push_options *options, const struct push_piece *piece,
		size_t *profiles)
{
	int err = 0;

	*profiles = 0;
	if (protocol == PUSH_PARCA)
		return series_json(out, options, piece, profiles);
	for (size_t first = piece->first, end; first < piece->end && !err; first = end) {
		end = push_service_end(piece, first);
		err = put_series(out, protocol, options, piece, first, end);
		++*profiles;
	}
	if (protocol == PUSH_PARCA_GRPC)
		proto_number(out, 3, 1); /* normalized: there are no addresses */
	return err;
}

/* --- /ingest --------------------------------------------------------------------------------- */

struct ingest_query {
	char *to, *end;
	bool more; /* there is a label */
	bool full;
};

/* RFC 3986 section 2.1. */
static void put_escaped(struct ingest_query *q, const char *text)
{
	for (; *text && q->end - q->to > 4; text++)
		if (isalnum((unsigned char)*text) || strchr("-_.~", *text))
			*q->to++ = *text;
		else
			q->to += sprintf(q->to, "%%%02X", (unsigned int)(unsigned char)*text);
	q->full |= *text != '\0';
	*q->to = '\0';
}

/* In NAME{KEY=VALUE,...} these end a value. */
static void put_value(struct ingest_query *q, const char *value)
{
	char plain[PUSH_TEXT_MAX];

	snprintf(plain, sizeof(plain), "%s", value);
	for (char *s = plain; *s; s++)
		if (strchr("{},=\"", *s))
			*s = '_';
	put_escaped(q, plain);
}

/* As a whole, or not at all. */
static void put_query_label(void *arg, const char *name, const char *value)
{
	struct ingest_query *q = arg;
	char *begin = q->to;

	/* The first is the name of the series; /ingest finds it by the types of the profile. */
	if (!strcmp(name, "__name__"))
		return;
	if (!strcmp(name, "service_name")) {
		put_value(q, value);
		return;
	}
	put_escaped(q, q->more ? "," : "{");
	put_escaped(q, name);
	put_escaped(q, "=");
	put_value(q, value);
	if (q->full)
		q->to = begin;
	else
		q->more = true;
	q->full = false;
}

int push_ingest(struct push_request *out, const struct push_options *options,
		const struct push_piece *piece)
{
	const struct export_model *c = piece->c;
	const uint64_t from = c->slices[0].time;
	struct ingest_query q = {out->query, out->query + sizeof(out->query) - 256, false, false};
	char *profile;
	size_t size;
	int err;

	out->end = push_service_end(piece, piece->first);
	out->profiles = 1;
	err = make_profile(piece, piece->first, out->end, &profile, &size);
	if (!err) {
		q.to += sprintf(q.to, "?name=");
		each_label(options, piece, piece->first, put_query_label, &q);
		sprintf(q.to,
			"%s&from=%" PRIu64 "&until=%" PRIu64
			"&format=pprof&spyName=stacktop&sampleRate=%u",
			q.more ? "%7D" : "", from / 1000000000u,
			(from + c->health.elapsed + 999999999u) / 1000000000u, c->health.frequency);
		bytes_put(&out->body, profile, size);
	}
	free(profile);
	return err;
}
