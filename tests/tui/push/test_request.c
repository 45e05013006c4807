/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is sent, by each protocol, read by a decoder of the test: the pieces of a model add up to
 * the whole, and their values to those of the model; the same piece has the same bytes, and each
 * other one other ids. Labels of the user are there once.
 * Covers: tui/push/request.c tui/push/series.c tui/push/otlp.c tui/util/proto.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/feed.h"
#include "tests/support/protoread.h"
#include "tests/support/randommodel.h"
#include "tui/push/pack.h"
#include "tui/push/request.h"

#define MODELS 12

static const struct push_options options = {
	.service = "{comm}", .threads = true, .labels = {{"zone", 4, "eu-1"}}, .nlabels = 1};

/* --- what is in requests: sums by all that a sample says ---------------------------------------
 */

struct line {
	char *key;
	uint64_t value;
};

struct lines {
	struct line *list;
	size_t count;
	char **ids; /* of profiles */
	size_t nids;
};

static void add_line(struct lines *lines, char *key, uint64_t value)
{
	lines->list = realloc(lines->list, (lines->count + 1) * sizeof(*lines->list));
	assert_non_null(lines->list);
	lines->list[lines->count++] = (struct line){key, value};
}

/* None is there twice. */
static void add_id(struct lines *lines, const char *id)
{
	for (size_t i = 0; i < lines->nids; i++)
		assert_string_not_equal(lines->ids[i], id);
	lines->ids = realloc(lines->ids, (lines->nids + 1) * sizeof(*lines->ids));
	assert_non_null(lines->ids);
	lines->ids[lines->nids++] = strdup(id);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->key, ((const struct line *)b)->key);
}

static void add_up(struct lines *lines)
{
	size_t kept = 0;

	qsort(lines->list, lines->count, sizeof(*lines->list), by_key);
	for (size_t i = 0; i < lines->count; i++)
		if (kept && !by_key(&lines->list[kept - 1], &lines->list[i])) {
			lines->list[kept - 1].value += lines->list[i].value;
			free(lines->list[i].key);
		} else {
			lines->list[kept++] = lines->list[i];
		}
	lines->count = kept;
}

static void lines_free(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->list[i].key);
	for (size_t i = 0; i < lines->nids; i++)
		free(lines->ids[i]);
	free(lines->list);
	free(lines->ids);
}

static uint64_t total(const struct lines *lines)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < lines->count; i++)
		sum += lines->list[i].value;
	return sum;
}

static void assert_same(struct lines *a, struct lines *b)
{
	add_up(a);
	add_up(b);
	for (size_t i = 0; i < a->count && i < b->count; i++) {
		assert_string_equal(a->list[i].key, b->list[i].key);
		assert_int_equal(a->list[i].value, b->list[i].value);
	}
	assert_int_equal(a->count, b->count);
}

/* All messages of one field. */
struct table {
	struct message *at;
	size_t count;
};

static struct table table_of(struct message m, unsigned int number)
{
	struct table t = {calloc(message_count(m, number) + 1, sizeof(*t.at)), 0};
	struct message_field field;

	assert_non_null(t.at);
	while (message_next(&m, &field))
		if (field.number == number) {
			assert_int_equal(field.wire, 2);
			t.at[t.count++] = field.bytes;
		}
	return t;
}

static struct message entry_of(const struct table *t, uint64_t i)
{
	assert_true(i < t->count);
	return t->at[i];
}

static void put_message(FILE *to, struct message text)
{
	fwrite(text.data, 1, text.size, to);
}

static struct message list_of(struct message m, unsigned int number)
{
	return message_count(m, number) ? message_part(m, number, 0)
					: (struct message){(const uint8_t *)"", 0};
}

/* --- profiles of pprof ----------------------------------------------------------------------- */

struct pprof {
	struct table strings, mappings, locations, functions;
};

/* Items have their place in the table as id, from 1 on; mappings may leave some out. */
static struct message by_id(const struct table *t, uint64_t id)
{
	for (size_t i = 0; i < t->count; i++)
		if (message_value(t->at[i], 1) == id)
			return t->at[i];
	fail_msg("no id %" PRIu64, id);
	return (struct message){0};
}

static void put_location(FILE *to, const struct pprof *p, uint64_t id)
{
	struct message location = by_id(&p->locations, id), function;
	const uint64_t mapping = message_value(location, 2);

	fprintf(to, "|");
	if (mapping)
		put_message(to,
			    entry_of(&p->strings, message_value(by_id(&p->mappings, mapping), 5)));
	for (unsigned int i = 0; i < message_count(location, 4); i++) {
		struct message line = message_part(location, 4, i);

		function = by_id(&p->functions, message_value(line, 1));
		fprintf(to, ">");
		put_message(to, entry_of(&p->strings, message_value(function, 2)));
		fprintf(to, " ");
		put_message(to, entry_of(&p->strings, message_value(function, 4)));
		fprintf(to, ":%" PRIu64, message_value(line, 2));
	}
}

static void add_pprof_sample(struct lines *lines, const struct pprof *p, const char *series,
			     struct message sample)
{
	struct message places = list_of(sample, 1), values = list_of(sample, 2);
	uint64_t value = 0;
	char *key;
	size_t size;
	FILE *to = open_memstream(&key, &size);

	fprintf(to, "%s", series);
	for (unsigned int i = 0; i < message_count(sample, 3); i++) {
		struct message label = message_part(sample, 3, i);

		fprintf(to, ",");
		put_message(to, entry_of(&p->strings, message_value(label, 1)));
		fprintf(to, "=");
		put_message(to, entry_of(&p->strings, message_value(label, 2)));
		assert_int_equal(message_value(label, 3), 0);
	}
	while (places.size)
		put_location(to, p, message_number(&places));
	fclose(to);
	while (values.size)
		value = message_number(&values);
	add_line(lines, key, value);
}

static void add_pprof(struct lines *lines, const char *series, struct message packed)
{
	struct message m = message_gunzip(packed);
	struct pprof p = {table_of(m, 6), table_of(m, 3), table_of(m, 4), table_of(m, 5)};
	struct table samples = table_of(m, 2);

	assert_true(samples.count > 0);
	assert_int_equal(entry_of(&p.strings, 0).size, 0);
	assert_int_equal(message_value(m, 9), RANDOM_MODEL_TIME);
	for (size_t i = 0; i < samples.count; i++)
		add_pprof_sample(lines, &p, series, samples.at[i]);
	free(p.strings.at);
	free(p.mappings.at);
	free(p.locations.at);
	free(p.functions.at);
	free(samples.at);
	free((void *)(uintptr_t)m.data);
}

/* --- series of Pyroscope and of Parca ----------------------------------------------------------
 */

/* No label twice: receivers refuse that. */
static char *series_text(struct message labels, unsigned int number)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	for (unsigned int i = 0; i < message_count(labels, number); i++) {
		struct message label = message_part(labels, number, i);
		char *name = message_text(label, 1), *value = message_text(label, 2);

		for (unsigned int k = 0; k < i; k++) {
			char *other = message_text(message_part(labels, number, k), 1);

			assert_string_not_equal(name, other);
			free(other);
		}
		fprintf(to, "%s=%s;", name, value);
		free(name);
		free(value);
	}
	fclose(to);
	return text;
}

static void add_series(struct lines *lines, struct message series, bool parca)
{
	struct message labels = parca ? message_part(series, 1, 0) : series;
	struct message sample = message_part(series, 2, 0);
	char *text = series_text(labels, 1), *id = message_text(sample, 2);

	assert_int_equal(message_count(series, 2), 1);
	assert_non_null(strstr(text, "service_name=prog"));
	add_pprof(lines, text, message_part(sample, 1, 0));
	if (!parca) {
		assert_int_equal(strlen(id), 36);
		add_id(lines, id);
	}
	free(text);
	free(id);
}

/* --- Parca's JSON ------------------------------------------------------------------------------
 */

static uint8_t digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, c);

	assert_true(c && at);
	return (uint8_t)(at - digits);
}

static struct message unbase64(const char *text, size_t length)
{
	uint8_t *data = malloc(length), *to = data;
	uint32_t bits = 0;
	int have = 0;

	assert_int_equal(length % 4, 0);
	for (size_t i = 0; i < length && text[i] != '='; i++) {
		bits = bits << 6 | digit(text[i]);
		have += 6;
		if (have >= 8) {
			have -= 8;
			*to++ = (uint8_t)(bits >> have);
		}
	}
	return (struct message){data, (size_t)(to - data)};
}

/* As it is written here: no blanks, and these names in this order. */
static void add_json(struct lines *lines, const char *text)
{
	static const char labels[] = "{\"labels\":{\"labels\":[", raw[] = "\"rawProfile\":\"";

	assert_int_equal(strncmp(text, "{\"series\":[", 11), 0);
	assert_non_null(strstr(text, "],\"normalized\":true}"));
	for (const char *at = text + 11; (at = strstr(at, labels));) {
		const char *end = strstr(at, "]}"), *profile = strstr(at, raw);
		char *series = strndup(at + strlen(labels), (size_t)(end - at) - strlen(labels));
		struct message m;

		assert_true(end && profile && end < profile);
		profile += strlen(raw);
		m = unbase64(profile, strcspn(profile, "\""));
		add_pprof(lines, series, m);
		free((void *)(uintptr_t)m.data);
		free(series);
		at = profile;
	}
}

/* --- OpenTelemetry -----------------------------------------------------------------------------
 */

struct dictionary {
	struct table mappings, locations, functions, strings, attributes, stacks;
};

static void put_string(FILE *to, const struct dictionary *d, struct message m, unsigned int number)
{
	put_message(to, entry_of(&d->strings, message_value(m, number)));
}

static void put_value(FILE *to, struct message any)
{
	if (message_count(any, 1))
		put_message(to, message_part(any, 1, 0));
	else
		fprintf(to, "%" PRIu64, message_value(any, 3));
}

static void put_attributes(FILE *to, const struct dictionary *d, struct message list)
{
	while (list.size) {
		struct message a = entry_of(&d->attributes, message_number(&list));

		fprintf(to, ",");
		put_string(to, d, a, 1);
		fprintf(to, "=");
		put_value(to, message_part(a, 2, 0));
	}
}

static void put_otlp_stack(FILE *to, const struct dictionary *d, uint64_t number)
{
	struct message places = list_of(entry_of(&d->stacks, number), 1);

	while (places.size) {
		struct message location = entry_of(&d->locations, message_number(&places));
		struct message mapping = entry_of(&d->mappings, message_value(location, 1));

		fprintf(to, "|");
		put_string(to, d, mapping, 4);
		put_attributes(to, d, list_of(mapping, 5));
		put_attributes(to, d, list_of(location, 4));
		for (unsigned int i = 0; i < message_count(location, 3); i++) {
			struct message line = message_part(location, 3, i);
			struct message function = entry_of(&d->functions, message_value(line, 1));

			fprintf(to, ">");
			put_string(to, d, function, 1);
			fprintf(to, " ");
			put_string(to, d, function, 3);
			fprintf(to, ":%" PRIu64, message_value(line, 2));
		}
	}
}

static char *resource_text(struct message resource)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	for (unsigned int i = 0; i < message_count(resource, 1); i++) {
		struct message pair = message_part(resource, 1, i);
		char *key = message_text(pair, 1);

		for (unsigned int k = 0; k < i; k++) {
			char *other = message_text(message_part(resource, 1, k), 1);

			assert_string_not_equal(key, other);
			free(other);
		}
		fprintf(to, "%s=", key);
		put_value(to, message_part(pair, 2, 0));
		fprintf(to, ";");
		free(key);
	}
	fclose(to);
	return text;
}

static void add_otlp_profile(struct lines *lines, const struct dictionary *d, const char *resource,
			     struct message profile)
{
	struct table samples = table_of(profile, 2);
	struct message id = message_part(profile, 7, 0);
	char text[2 * PUSH_ID + 1];

	assert_int_equal(id.size, PUSH_ID);
	for (int i = 0; i < PUSH_ID; i++)
		sprintf(text + 2 * i, "%02x", id.data[i]);
	add_id(lines, text);
	assert_int_equal(message_value(profile, 3), RANDOM_MODEL_TIME);
	for (size_t i = 0; i < samples.count; i++) {
		struct message values = list_of(samples.at[i], 4);
		char *key;
		size_t size;
		FILE *to = open_memstream(&key, &size);

		fprintf(to, "%s", resource);
		put_attributes(to, d, list_of(samples.at[i], 2));
		put_otlp_stack(to, d, message_value(samples.at[i], 1));
		fclose(to);
		add_line(lines, key, message_number(&values));
		assert_int_equal(values.size, 0);
	}
	free(samples.at);
}

static void add_otlp(struct lines *lines, struct message packed)
{
	struct message m = message_gunzip(packed), d = message_part(m, 2, 0);
	struct dictionary tables = {table_of(d, 1), table_of(d, 2), table_of(d, 3),
				    table_of(d, 5), table_of(d, 6), table_of(d, 7)};
	struct table resources = table_of(m, 1);

	for (size_t i = 0; i < resources.count; i++) {
		char *resource = resource_text(message_part(resources.at[i], 1, 0));

		assert_non_null(strstr(resource, "service.name=prog"));
		add_otlp_profile(lines, &tables, resource,
				 message_part(message_part(resources.at[i], 2, 0), 2, 0));
		free(resource);
	}
	free(tables.mappings.at);
	free(tables.locations.at);
	free(tables.functions.at);
	free(tables.strings.at);
	free(tables.attributes.at);
	free(tables.stacks.at);
	free(resources.at);
	free((void *)(uintptr_t)m.data);
}

/* --- pieces and the whole ----------------------------------------------------------------------
 */

static const uint8_t first_id[PUSH_ID] = "0123456789abcde", other_id[PUSH_ID] = "other";

static void add_request(struct lines *lines, enum push_protocol protocol,
			const struct push_request *r)
{
	struct message body = {r->body.data, r->body.size};
	const unsigned int number = protocol == PUSH_PYROSCOPE ? 1 : 2;
	char *text;

	switch (protocol) {
	case PUSH_INGEST:
		assert_int_equal(strncmp(r->query, "?name=prog", 10), 0);
		assert_non_null(strstr(r->query, "&format=pprof"));
		text = strndup(r->query, strcspn(r->query, "&"));
		add_pprof(lines, text, body);
		free(text);
		break;
	case PUSH_PARCA:
		text = strndup((const char *)body.data, body.size);
		add_json(lines, text);
		free(text);
		break;
	case PUSH_PYROSCOPE:
	case PUSH_PARCA_GRPC:
		assert_int_equal(message_count(body, number), r->profiles);
		for (unsigned int i = 0; i < r->profiles; i++)
			add_series(lines, message_part(body, number, i),
				   protocol == PUSH_PARCA_GRPC);
		break;
	default:
		add_otlp(lines, body);
	}
}

static struct push_piece piece_of(const struct export_model *c, size_t first, size_t end,
				  const uint8_t *id)
{
	struct push_piece piece = {.c = c, .host = "node1", .first = first, .end = end};

	memcpy(piece.id, id, PUSH_ID);
	return piece;
}

/* As the sender does it: in requests of at most that many samples, each made twice. */
static void send_all(struct lines *lines, enum push_protocol protocol, const struct export_model *c,
		     size_t most, const uint8_t *id)
{
	struct push_request r = {0}, again = {0};

	for (size_t at = 0; at < c->nsamples; at = r.end) {
		const size_t end = c->nsamples - at > most ? at + most : c->nsamples;
		const struct push_piece piece = piece_of(c, at, end, id);

		assert_int_equal(push_request_make(&r, protocol, &options, &piece), 0);
		assert_int_equal(push_request_make(&again, protocol, &options, &piece), 0);
		assert_int_equal(r.body.size, again.body.size);
		assert_memory_equal(r.body.data, again.body.data, r.body.size);
		assert_string_equal(r.query, again.query);
		assert_int_equal(r.end, again.end);
		assert_in_range(r.end, at + 1, end);
		if (protocol != PUSH_INGEST)
			assert_int_equal(r.end, end);
		add_request(lines, protocol, &r);
	}
	push_request_free(&r);
	push_request_free(&again);
}

/* What a sample counts, in the unit in which it is sent. */
static uint64_t want_total(const struct export_model *c, bool otlp)
{
	const enum export_unit unit = export_model_unit(c);

	if (unit == EXPORT_SAMPLES)
		return otlp ? c->count : c->count * (1000000000 / c->health.frequency);
	return unit == EXPORT_TIME ? 1000 * c->weight : c->weight;
}

static void packed_model(struct export_model *c, uint64_t seed, const struct push_options *o)
{
	struct export_model made;
	char host[PUSH_HOST_MAX];
	size_t size, count;
	uint8_t *data;

	random_model(&made, seed);
	assert_int_equal(push_pack(&made, o, "node1", &data, &size, &count), 0);
	assert_int_equal(push_unpack(data, size, c, host), 0);
	free(data);
	export_model_free(&made);
}

/* Pieces that are cut otherwise, or of another interval, have ids of their own. */
static void test_ids(void **state)
{
	static const enum push_protocol with_ids[] = {PUSH_PYROSCOPE, PUSH_OTLP, PUSH_OTLP_GRPC};

	(void)state;
	for (uint64_t seed = 0; seed < MODELS; seed++) {
		struct export_model c;

		packed_model(&c, seed, &options);
		for (int p = 0; p < 3 && c.nsamples > 5; p++) {
			struct lines all = {0};

			send_all(&all, with_ids[p], &c, SIZE_MAX, first_id);
			send_all(&all, with_ids[p], &c, SIZE_MAX, other_id);
			send_all(&all, with_ids[p], &c, 1, first_id);
			send_all(&all, with_ids[p], &c, 2, other_id);
			assert_true(all.nids > c.nsamples);
			lines_free(&all);
		}
		export_model_free(&c);
	}
}

static void test_pieces(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < MODELS; seed++) {
		struct export_model c;

		packed_model(&c, seed, &options);
		for (int p = PUSH_PYROSCOPE; p < PUSH_PROTOCOLS; p++) {
			struct lines whole = {0}, parts = {0};

			send_all(&whole, (enum push_protocol)p, &c, SIZE_MAX, first_id);
			send_all(&parts, (enum push_protocol)p, &c, 1 + seed % 5, first_id);
			assert_int_equal(total(&whole),
					 want_total(&c, p == PUSH_OTLP || p == PUSH_OTLP_GRPC));
			assert_same(&whole, &parts);
			lines_free(&whole);
			lines_free(&parts);
		}
		export_model_free(&c);
	}
}

/* A request of /ingest has one service, and goes to its end. */
static void test_ingest(void **state)
{
	struct push_request r = {0};
	bool several = false;

	(void)state;
	for (uint64_t seed = 0; seed < MODELS; seed++) {
		struct export_model c;

		packed_model(&c, seed, &options);
		for (size_t at = 0; at < c.nsamples; at = r.end) {
			const struct push_piece piece = piece_of(&c, at, c.nsamples, first_id);
			const size_t service = c.procs[c.samples[at].proc].service;

			assert_int_equal(push_request_make(&r, PUSH_INGEST, &options, &piece), 0);
			assert_int_equal(r.profiles, 1);
			assert_int_equal(r.end, push_service_end(&piece, at));
			for (size_t i = at; i < c.nsamples; i++)
				assert_int_equal(
					strcmp(export_model_text(&c, service),
					       export_model_text(
						       &c, c.procs[c.samples[i].proc].service)) ==
						0,
					i < r.end);
			several |= r.end < c.nsamples;
		}
		export_model_free(&c);
	}
	assert_true(several);
	push_request_free(&r);
}

/* --- labels ------------------------------------------------------------------------------------
 */

static char *labels_of(const struct push_options *o, enum push_protocol protocol)
{
	struct export_model c;
	struct push_request r = {0};
	struct push_piece piece;
	struct message m;
	char *text;

	packed_model(&c, 1, o);
	piece = piece_of(&c, 0, 1, first_id);
	assert_int_equal(push_request_make(&r, protocol, o, &piece), 0);
	m = (struct message){r.body.data, r.body.size};
	if (protocol == PUSH_PYROSCOPE) {
		text = series_text(message_part(m, 1, 0), 1);
	} else if (protocol == PUSH_PARCA_GRPC) {
		text = series_text(message_part(message_part(m, 2, 0), 1, 0), 1);
	} else if (protocol == PUSH_INGEST) {
		text = strndup(r.query, strcspn(r.query, "&"));
	} else {
		m = message_gunzip(m);
		text = resource_text(message_part(message_part(m, 1, 0), 1, 0));
		free((void *)(uintptr_t)m.data);
	}
	push_request_free(&r);
	export_model_free(&c);
	return text;
}

static void assert_has(char *text, const char *part, bool has)
{
	if (!strstr(text, part) == has)
		fail_msg("\"%s\" in \"%s\"", part, text);
}

/* Of two labels of one name the last one counts, and each before those that are there anyway. */
static void test_labels(void **state)
{
	static const struct push_options o = {.service = "all",
					      .labels = {{"host", 4, "mine"},
							 {"a.b", 3, "first"},
							 {"a_b", 3, "second"},
							 {"service_name", 12, "other"},
							 {"service.name", 12, "other"},
							 {"host.name", 9, "mine"},
							 {"x", 1, "1"},
							 {"x", 1, "2"},
							 {"__name__", 8, "wrong"},
							 {"process.pid", 11, "42"}},
					      .nlabels = 10};
	static const enum push_protocol both[] = {PUSH_PYROSCOPE, PUSH_PARCA_GRPC};
	char *text;

	(void)state;
	for (int i = 0; i < 2; i++) {
		text = labels_of(&o, both[i]);
		assert_has(text, "host=mine;", true);
		assert_has(text, "node1", false);
		assert_has(text, "a_b=second;", true);
		assert_has(text, "first", false);
		assert_has(text, "service_name=other;", true);
		assert_has(text, "service_name=all;", false);
		assert_has(text, "x=2;", true);
		/* Says what was counted, and is not the user's. */
		assert_has(text, "wrong", false);
		free(text);
	}
	text = labels_of(&o, PUSH_OTLP);
	assert_has(text, "host=mine;", true);
	assert_has(text, "host.name=mine;", true);
	assert_has(text, "service.name=other;", true);
	assert_has(text, "a.b=first;", true);
	assert_has(text, "a_b=second;", true);
	assert_has(text, "x=2;", true);
	assert_has(text, "x=1;", false);
	assert_has(text, "process.pid=42;", true);
	free(text);
	text = labels_of(&o, PUSH_INGEST);
	assert_has(text, "?name=other%7B", true);
	assert_has(text, "host%3Dmine", true);
	free(text);
}

/* The query is whole, however long the labels are. */
static void test_long_labels(void **state)
{
	static char value[PUSH_TEXT_MAX];
	static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct push_options o = {.service = "x", .nlabels = 8};
	char *text;

	(void)state;
	memset(value, '%', sizeof(value) - 1);
	for (size_t i = 0; i < o.nlabels; i++)
		o.labels[i] = (struct push_label){keys[i], 1, value};
	text = labels_of(&o, PUSH_INGEST);
	assert_true(strlen(text) > 6);
	assert_string_equal(text + strlen(text) - 3, "%7D");
	/* Each value is there as a whole, or not at all. */
	for (char *at = text; (at = strstr(at, "%3D")); at += 3) {
		size_t n = 0;

		while (!strncmp(at + 3 + n, "%25", 3))
			n += 3;
		assert_true(n == 0 || n == 3 * (sizeof(value) - 1));
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),	    cmocka_unit_test(test_ids),
		cmocka_unit_test(test_ingest),	    cmocka_unit_test(test_labels),
		cmocka_unit_test(test_long_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
