/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples that were packed and unpacked are the same: by a list of all with the names of their
 * frames, made without the code that packs. Their order is that of services, and what is damaged is
 * refused: any bit flipped, any end cut off.
 * Covers: tui/push/pack.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "tests/support/randommodel.h"
#include "tui/push/pack.h"
#include "tui/push/target.h"

#define MODELS 60

static const struct push_options apart = {.service = "{comm}", .threads = true};
static const struct push_options together = {.service = "{comm}"};

/* --- all that a sample says, as a line ------------------------------------------------------- */

static const char *text(const struct export_model *c, size_t at)
{
	return export_model_text(c, at);
}

static void put_frames(FILE *to, const struct export_model *c, uint32_t node)
{
	for (uint32_t n = node; n != EXPORT_MODEL_NONE; n = c->nodes[n].parent) {
		const struct export_model_func *f = &c->funcs[c->nodes[n].func];

		fprintf(to, "|%d %s@%s %s %s:%u depth %u", (int)f->kind, text(c, f->name),
			text(c, f->module), text(c, c->modules[f->number].build),
			f->file == EXPORT_MODEL_NONE ? "-" : text(c, c->files[f->file]), f->line,
			c->nodes[n].depth);
		assert_string_equal(text(c, f->module), text(c, c->modules[f->number].name));
	}
	if (node == EXPORT_MODEL_NONE)
		fprintf(to, "|unknown");
}

struct line {
	char *key;
	uint64_t count, weight;
};

struct lines {
	struct line *list;
	size_t count;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->key, ((const struct line *)b)->key);
}

static struct line line_of(const struct export_model *c, const struct export_model_sample *s,
			   bool threads)
{
	const struct export_model_proc *p = &c->procs[s->proc];
	struct line line = {.count = s->count, .weight = s->weight};
	const uint32_t tid = threads ? s->tid : 0;
	size_t size;
	FILE *to = open_memstream(&line.key, &size);

	assert_non_null(to);
	fprintf(to, "%d.%llu %s %s %s %s thread %u %s cpu %u", (int)p->pid,
		(unsigned long long)p->image, text(c, p->comm), text(c, p->user),
		text(c, p->command), text(c, p->group), tid,
		tid ? export_model_thread(c, s->proc, tid) : "", (unsigned int)s->cpu);
	put_frames(to, c, s->node);
	fclose(to);
	return line;
}

/* Sorted, and those that say the same added up. */
static struct lines lines_of(const struct export_model *c, bool threads)
{
	struct lines lines = {calloc(c->nsamples, sizeof(*lines.list)), 0};
	size_t kept = 0;

	assert_non_null(lines.list);
	for (size_t i = 0; i < c->nsamples; i++)
		lines.list[i] = line_of(c, &c->samples[i], threads);
	qsort(lines.list, c->nsamples, sizeof(*lines.list), by_key);
	for (size_t i = 0; i < c->nsamples; i++)
		if (kept && !by_key(&lines.list[kept - 1], &lines.list[i])) {
			lines.list[kept - 1].count += lines.list[i].count;
			lines.list[kept - 1].weight += lines.list[i].weight;
			free(lines.list[i].key);
		} else {
			lines.list[kept++] = lines.list[i];
		}
	lines.count = kept;
	return lines;
}

static void lines_free(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->list[i].key);
	free(lines->list);
}

static void assert_same(const struct export_model *a, const struct export_model *b, bool threads)
{
	struct lines x = lines_of(a, threads), y = lines_of(b, threads);

	for (size_t i = 0; i < x.count && i < y.count; i++) {
		assert_string_equal(x.list[i].key, y.list[i].key);
		assert_int_equal(x.list[i].count, y.list[i].count);
		assert_int_equal(x.list[i].weight, y.list[i].weight);
	}
	assert_int_equal(x.count, y.count);
	lines_free(&x);
	lines_free(&y);
}

/* --- there and back -------------------------------------------------------------------------- */

struct packed {
	uint8_t *data;
	size_t size, count;
};

static struct packed pack(const struct export_model *c, const struct push_options *options)
{
	struct packed p;

	assert_int_equal(push_pack(c, options, "node1", &p.data, &p.size, &p.count), 0);
	assert_true(p.count > 0);
	return p;
}

static void test_there_and_back(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < MODELS; seed++) {
		const struct push_options *options = seed % 2 ? &apart : &together;
		struct export_model c, back;
		char host[PUSH_HOST_MAX];
		struct packed p, again;

		random_model(&c, seed);
		p = pack(&c, options);
		assert_int_equal(push_unpack(p.data, p.size, &back, host), 0);
		assert_string_equal(host, "node1");
		assert_int_equal(back.nsamples, p.count);
		assert_int_equal(back.count, c.count);
		assert_int_equal(back.weight, c.weight);
		assert_int_equal(back.measure, c.measure);
		assert_string_equal(back.health.event, c.health.event);
		assert_int_equal(back.health.elapsed, c.health.elapsed);
		assert_int_equal(back.health.frequency, c.health.frequency);
		assert_int_equal(back.health.counted, c.health.counted);
		assert_int_equal(back.health.ncpus, c.health.ncpus);
		assert_int_equal(back.nslices, 1);
		assert_int_equal(back.slices[0].time, c.slices[0].time);
		assert_int_equal(export_model_unit(&back), export_model_unit(&c));
		assert_same(&c, &back, options->threads);
		/* Not more than there is, and the same bytes each time. */
		assert_true(back.nnodes <= c.nnodes && back.nfuncs <= c.nfuncs &&
			    back.nprocs <= c.nprocs);
		again = pack(&c, options);
		assert_int_equal(again.size, p.size);
		assert_memory_equal(again.data, p.data, p.size);
		free(again.data);
		free(p.data);
		export_model_free(&back);
		export_model_free(&c);
	}
}

/* Services stand together, and so do the processes of one; no sample is there twice. */
static void test_order(void **state)
{
	static const struct push_options rules[] = {
		{.service = "all", .threads = true},
		{.service = "{comm}", .threads = true},
		{.service = "{pid}-{host}", .threads = true},
		{.service = "{cgroup}"},
		{.service = "{user}"},
	};

	(void)state;
	for (uint64_t seed = 0; seed < MODELS; seed++) {
		const struct push_options *options = &rules[seed % 5];
		struct export_model c, back;
		char host[PUSH_HOST_MAX];
		struct packed p;
		struct lines lines;

		random_model(&c, seed);
		p = pack(&c, options);
		assert_int_equal(push_unpack(p.data, p.size, &back, host), 0);
		for (size_t i = 0; i < back.nsamples; i++) {
			const struct export_model_proc *proc = &back.procs[back.samples[i].proc];
			const struct push_names names = {text(&back, proc->comm),
							 text(&back, proc->user),
							 text(&back, proc->group), host, proc->pid};
			char service[PUSH_TEXT_MAX];

			assert_true(push_service(options->service, &names, service));
			assert_string_equal(service, text(&back, proc->service));
			if (i) {
				const uint32_t before = back.samples[i - 1].proc;
				int order =
					strcmp(text(&back, back.procs[before].service), service);

				assert_true(order <= 0);
				assert_true(order < 0 || before <= back.samples[i].proc);
			}
		}
		lines = lines_of(&back, true);
		assert_int_equal(lines.count, back.nsamples);
		lines_free(&lines);
		free(p.data);
		export_model_free(&back);
		export_model_free(&c);
	}
}

static void test_nothing(void **state)
{
	struct export_model c;
	struct packed p;

	(void)state;
	random_model(&c, 1);
	c.nsamples = 0;
	assert_int_equal(push_pack(&c, &apart, "", &p.data, &p.size, &p.count), -ENODATA);
	assert_null(p.data);
	export_model_free(&c);
	random_model(&c, 1);
	for (size_t i = 0; i < c.nsamples; i++)
		c.samples[i].count = c.samples[i].weight = 0;
	assert_int_equal(push_pack(&c, &apart, "", &p.data, &p.size, &p.count), -ENODATA);
	assert_null(p.data);
	export_model_free(&c);
}

/* --- damage ---------------------------------------------------------------------------------- */

static void assert_refused(const uint8_t *data, size_t size)
{
	struct export_model back;
	char host[PUSH_HOST_MAX];

	assert_int_equal(push_unpack(data, size, &back, host), -EBADMSG);
	assert_int_equal(back.nsamples, 0);
	assert_null(back.samples);
}

static void test_damaged(void **state)
{
	struct export_model c, back;
	char host[PUSH_HOST_MAX];
	struct packed p;

	(void)state;
	random_model(&c, 3);
	p = pack(&c, &apart);
	for (size_t size = 0; size < p.size; size++) {
		/* In a block of its own size. */
		uint8_t *part = malloc(size ? size : 1);

		memcpy(part, p.data, size);
		assert_refused(part, size);
		free(part);
	}
	for (size_t at = 0; at < p.size; at++)
		for (int bit = 0; bit < 8; bit++) {
			p.data[at] ^= (uint8_t)(1 << bit);
			/* A bit of the head that means nothing. */
			if (!push_unpack(p.data, p.size, &back, host)) {
				assert_same(&c, &back, true);
				export_model_free(&back);
			}
			p.data[at] ^= (uint8_t)(1 << bit);
		}
	/* Something behind it. */
	p.data = realloc(p.data, 2 * p.size);
	memcpy(p.data + p.size, p.data, p.size);
	assert_refused(p.data, p.size + 1);
	assert_refused(p.data, 2 * p.size);
	free(p.data);
	export_model_free(&c);
}

/* The same behind the check sum: whatever is taken makes sense, and can be packed again. */
static void test_damaged_inside(void **state)
{
	static uint8_t plain[1 << 20], packed[1 << 20];
	struct export_model c, back;
	char host[PUSH_HOST_MAX];
	struct packed p, again;
	size_t full, taken = 0, size;

	(void)state;
	random_model(&c, 5);
	p = pack(&c, &apart);
	full = ZSTD_decompress(plain, sizeof(plain), p.data, p.size);
	assert_false(ZSTD_isError(full));
	for (size_t at = 0; at < full; at++) {
		static const uint8_t flips[] = {1, 0x80, 0xff, 0x7f};

		for (size_t f = 0; f < sizeof(flips); f++) {
			plain[at] ^= flips[f];
			size = ZSTD_compress(packed, sizeof(packed), plain, full, 1);
			plain[at] ^= flips[f];
			if (push_unpack(packed, size, &back, host))
				continue;
			taken++;
			if (!push_pack(&back, &apart, host, &again.data, &again.size, &again.count))
				free(again.data);
			export_model_free(&back);
		}
	}
	assert_true(taken > 0);
	for (size_t n = 0; n < full; n++) {
		size = ZSTD_compress(packed, sizeof(packed), plain, n, 1);
		assert_refused(packed, size);
	}
	/* One that says how large it is, and is not. */
	memset(packed, 0, 64);
	assert_refused(packed, 64);
	free(p.data);
	export_model_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_order),
		cmocka_unit_test(test_nothing),	       cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_damaged_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
