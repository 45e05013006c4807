/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part of a model has its samples and what these refer to, and nothing else; the profile of pprof
 * that is made of it for receivers has their labels, and the same sums.
 * Covers: tui/export/export_part.c tui/export/export_pprof.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/feed.h"
#include "tests/support/protoread.h"
#include "tests/support/randommodel.h"
#include "tui/export/export_priv.h"

#define MODELS 60

static const char *text(const struct export_model *c, size_t at)
{
	return export_model_text(c, at);
}

static void assert_same_func(const struct export_model *a, uint32_t x, const struct export_model *b,
			     uint32_t y)
{
	const struct export_model_func *f = &a->funcs[x], *g = &b->funcs[y];

	assert_string_equal(text(a, f->name), text(b, g->name));
	assert_string_equal(text(a, f->module), text(b, g->module));
	assert_string_equal(text(b, g->module), text(b, b->modules[g->number].name));
	assert_string_equal(text(a, a->modules[f->number].build),
			    text(b, b->modules[g->number].build));
	assert_int_equal(f->kind, g->kind);
	assert_int_equal(f->line, g->line);
	assert_int_equal(f->file == EXPORT_MODEL_NONE, g->file == EXPORT_MODEL_NONE);
	if (f->file != EXPORT_MODEL_NONE)
		assert_string_equal(text(a, a->files[f->file]), text(b, b->files[g->file]));
}

static void assert_same_sample(const struct export_model *a, const struct export_model_sample *x,
			       const struct export_model *b, const struct export_model_sample *y)
{
	const struct export_model_proc *p = &a->procs[x->proc], *q = &b->procs[y->proc];
	uint32_t n = x->node, m = y->node;

	assert_int_equal(p->pid, q->pid);
	assert_int_equal(p->image, q->image);
	assert_string_equal(text(a, p->comm), text(b, q->comm));
	assert_string_equal(text(a, p->user), text(b, q->user));
	assert_string_equal(text(a, p->command), text(b, q->command));
	assert_string_equal(text(a, p->group), text(b, q->group));
	assert_string_equal(export_model_thread(a, x->proc, x->tid),
			    export_model_thread(b, y->proc, y->tid));
	assert_int_equal(x->tid, y->tid);
	assert_int_equal(x->count, y->count);
	assert_int_equal(x->weight, y->weight);
	assert_int_equal(x->cpu, y->cpu);
	assert_int_equal(y->slice, 0);
	for (; n != EXPORT_MODEL_NONE && m != EXPORT_MODEL_NONE;
	     n = a->nodes[n].parent, m = b->nodes[m].parent) {
		assert_int_equal(a->nodes[n].depth, b->nodes[m].depth);
		assert_same_func(a, a->nodes[n].func, b, b->nodes[m].func);
	}
	assert_int_equal(n, m);
}

/* Each of them is referred to. */
static void assert_no_more(const struct export_model *c)
{
	bool *procs = calloc(c->nprocs + 1u, 1), *nodes = calloc(c->nnodes + 1u, 1);
	bool *funcs = calloc(c->nfuncs + 1u, 1), *modules = calloc(c->nmodules + 1u, 1);
	bool *files = calloc(c->nfiles + 1u, 1);

	for (size_t i = 0; i < c->nsamples; i++) {
		procs[c->samples[i].proc] = true;
		for (uint32_t n = c->samples[i].node; n != EXPORT_MODEL_NONE;
		     n = c->nodes[n].parent) {
			nodes[n] = funcs[c->nodes[n].func] = true;
			assert_true(c->nodes[n].parent == EXPORT_MODEL_NONE ||
				    c->nodes[n].parent < n);
		}
	}
	for (uint32_t i = 0; i < c->nfuncs; i++) {
		assert_true(funcs[i]);
		modules[c->funcs[i].number] = true;
		if (c->funcs[i].file != EXPORT_MODEL_NONE)
			files[c->funcs[i].file] = true;
	}
	for (uint32_t i = 0; i < c->nprocs; i++)
		assert_true(procs[i]);
	for (uint32_t i = 0; i < c->nnodes; i++)
		assert_true(nodes[i]);
	for (uint32_t i = 0; i < c->nmodules; i++)
		assert_true(modules[i]);
	for (uint32_t i = 0; i < c->nfiles; i++)
		assert_true(files[i]);
	free(procs);
	free(nodes);
	free(funcs);
	free(modules);
	free(files);
}

static void test_parts(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < MODELS; seed++) {
		struct export_model c, part;
		struct export_model_sample *some;
		uint64_t random = seed + 1, weight = 0, count = 0;
		size_t n = 0;

		random_model(&c, seed);
		some = calloc(c.nsamples, sizeof(*some));
		for (size_t i = 0; i < c.nsamples; i++)
			if (!feed_random(&random, 1 + (uint32_t)seed % 5))
				some[n++] = c.samples[i];
		assert_int_equal(export_model_part(&c, some, n, &part), 0);
		assert_int_equal(part.nsamples, n);
		for (size_t i = 0; i < n; i++) {
			assert_same_sample(&c, &some[i], &part, &part.samples[i]);
			count += some[i].count;
			weight += some[i].weight;
		}
		assert_no_more(&part);
		assert_int_equal(part.count, count);
		assert_int_equal(part.weight, weight);
		assert_int_equal(part.measure, c.measure);
		assert_int_equal(part.nslices, 1);
		assert_int_equal(part.slices[0].time, c.slices[0].time);
		assert_int_equal(part.slices[0].elapsed, c.health.elapsed);
		assert_int_equal(export_model_unit(&part), export_model_unit(&c));
		export_model_free(&part);
		export_model_free(&c);
		free(some);
	}
}

/* --- as a profile of pprof for receivers ---------------------------------------------------------
 */

static struct message string_of(struct message profile, uint64_t number)
{
	return message_part(profile, 6, (unsigned int)number);
}

static bool is(struct message m, const char *want)
{
	return m.size == strlen(want) && !memcmp(m.data, want, m.size);
}

/* The value of the label, as text; NULL: it is not there. The caller frees it. */
static char *label_of(struct message profile, struct message sample, const char *key)
{
	for (unsigned int i = 0; i < message_count(sample, 3); i++) {
		struct message label = message_part(sample, 3, i), value;

		if (!is(string_of(profile, message_value(label, 1)), key))
			continue;
		/* Receivers make labels of texts only. */
		assert_int_equal(message_value(label, 3), 0);
		value = string_of(profile, message_value(label, 2));
		return strndup((const char *)value.data, value.size);
	}
	return NULL;
}

static void assert_label(struct message profile, struct message sample, const char *key,
			 const char *want)
{
	char *value = label_of(profile, sample, key);

	if (!*want)
		assert_null(value);
	else
		assert_string_equal(value, want);
	free(value);
}

static struct message pushed(const struct export_model *c)
{
	struct message packed, m;
	char *data;
	size_t size;
	FILE *to = open_memstream(&data, &size);

	assert_int_equal(export_pprof_push(to, c), 0);
	fclose(to);
	packed = (struct message){(const uint8_t *)data, size};
	m = message_gunzip(packed);
	free(data);
	return m;
}

static void assert_pushed(const struct export_model *c, struct message m)
{
	const bool waits = c->measure == MEASURE_OFF;
	struct message type = message_part(m, 1, 0), second;
	struct message_field field;
	uint64_t count = 0;

	assert_true(is(string_of(m, message_value(type, 1)), waits ? "waits" : "samples"));
	assert_true(is(string_of(m, message_value(type, 2)), "count"));
	assert_int_equal(message_count(m, 1), 2);
	second = message_part(m, 1, 1);
	assert_true(is(string_of(m, message_value(second, 1)), waits ? "off_cpu"
							       : export_period(c)
								       ? "cpu"
								       : c->health.event));
	for (struct message rest = m; message_next(&rest, &field);)
		if (field.number == 2) {
			struct message values = message_part(field.bytes, 2, 0);

			count += message_number(&values);
		}
	assert_int_equal(count, c->count);
	/* Viewers know frames of the kernel by their mapping. */
	for (struct message rest = m; message_next(&rest, &field);)
		if (field.number == 3) {
			struct message name = string_of(m, message_value(field.bytes, 5));

			assert_int_equal(name.size >= 7 &&
						 !memcmp(name.data + name.size - 7, "vmlinux", 7),
					 name.size > 9 && !memcmp(name.data, "[kernel] ", 9));
		}
}

static void test_push(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < MODELS; seed++) {
		struct export_model c, part;

		random_model(&c, seed);
		for (size_t i = 0; i < c.nsamples; i += 17) {
			const struct export_model_sample *s = &c.samples[i];
			const struct export_model_proc *proc = &c.procs[s->proc];
			char number[24];
			struct message m, sample;

			assert_int_equal(export_model_part(&c, s, 1, &part), 0);
			m = pushed(&part);
			assert_pushed(&part, m);
			assert_int_equal(message_count(m, 2), 1);
			sample = message_part(m, 2, 0);
			assert_label(m, sample, "comm", text(&c, proc->comm));
			snprintf(number, sizeof(number), "%d", (int)proc->pid);
			assert_label(m, sample, "pid", number);
			assert_label(m, sample, "user", text(&c, proc->user));
			assert_label(m, sample, "command", text(&c, proc->command));
			assert_label(m, sample, "cgroup", text(&c, proc->group));
			snprintf(number, sizeof(number), "%u", s->tid);
			assert_label(m, sample, "thread", s->tid ? number : "");
			assert_label(m, sample, "thread_comm",
				     s->tid ? export_model_thread(&c, s->proc, s->tid) : "");
			free((void *)(uintptr_t)m.data);
			export_model_free(&part);
		}
		export_model_free(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_push),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
