/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The project's own JSON, one object a line, for scripts: everything in the text report and the
 * stacks besides, with numbers as numbers. docs/FORMATS.md describes it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tui/export/export_model.h"
#include "tui/export/export_priv.h"

#define JSON_VERSION 1

static void write_time(FILE *to, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000u);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	fprintf(to, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"", tm.tm_year + 1900, tm.tm_mon + 1,
		tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(ns / 1000000u % 1000));
}

/* What weights are in. */
static const char *unit_of(const struct export_model *c)
{
	if (c->measure != MEASURE_CPU || profile_is_time(&c->health))
		return "microseconds";
	return c->health.counted ? c->health.event : "samples";
}

static void write_head(FILE *to, const struct export_model *c)
{
	static const char *const losses[LOSS_COUNT] = {
		[LOSS_COUNTS_FULL] = "counts_full",
		[LOSS_STACK_RING] = "stack_ring",
		[LOSS_BUSY] = "busy",
		[LOSS_SIDEBAND] = "sideband",
		[LOSS_SLICE] = "slice",
		[LOSS_KERNEL] = "kernel",
		[LOSS_THROTTLED] = "throttled",
		[LOSS_MISSED] = "missed",
	};
	const struct profile_health *h = &c->health;
	const char *separator = "";

	fprintf(to, "{\"stacktop\":%d,\"time\":", JSON_VERSION);
	write_time(to, c->nslices ? c->slices[0].time : 0);
	/* The decimal point is a point in any locale. */
	fprintf(to, ",\"seconds\":%" PRIu64 ".%09u,\"event\":", h->elapsed / 1000000000u,
		(unsigned int)(h->elapsed % 1000000000u));
	json_string(to, "", h->event);
	fprintf(to,
		",\"frequency\":%u,\"cpus\":%u,\"samples\":%" PRIu64 ",\"user_samples\":%" PRIu64
		",\"kernel_samples\":%" PRIu64 ",\"taken\":%" PRIu64 ",\"filtered\":%" PRIu64
		",\"outside\":%" PRIu64 ",\"ticks\":%" PRIu64 ",\"idle\":%" PRIu64
		",\"walks\":%" PRIu64 ",\"complete_walks\":%" PRIu64
		",\"complete_fp_walks\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"losses\":{",
		h->frequency, h->ncpus, c->count, h->user_samples, h->kernel_samples, h->taken,
		h->filtered, h->outside, h->ticks, h->idle, h->user_walks, h->complete_walks,
		h->complete_fp_walks, profile_lost(h));
	for (int i = 0; i < LOSS_COUNT; i++) {
		if (!losses[i])
			continue;
		fprintf(to, "%s\"%s\":%" PRIu64, separator, losses[i], h->loss[i]);
		separator = ",";
	}
	fprintf(to, "},\"measure\":\"%s\",\"weight\":%" PRIu64, measure_name(c->measure),
		c->weight);
	json_string(to, ",\"unit\":", unit_of(c));
	if (h->waits)
		fprintf(to,
			",\"waits\":{\"walks\":%" PRIu64 ",\"thinned\":%" PRIu64
			",\"untaken\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"missed\":%" PRIu64 "}",
			h->wait_walks, h->wait_thinned, h->wait_untaken, h->wait_lost,
			h->wait_missed);
}

struct json_sum {
	uint64_t count, weight;
};

static void write_procs(FILE *to, const struct export_model *c, const struct json_sum *sums)
{
	fputs(",\"processes\":[", to);
	for (uint32_t i = 0; i < c->nprocs; i++) {
		const struct export_model_proc *proc = &c->procs[i];

		fprintf(to, "%s{\"pid\":%d,\"name\":", i ? "," : "", (int)proc->pid);
		json_string(to, "", export_model_text(c, proc->comm));
		json_string(to, ",\"user\":", export_model_text(c, proc->user));
		json_string(to, ",\"command\":", export_model_text(c, proc->command));
		fprintf(to,
			",\"threads\":%u,\"exited\":%s,\"samples\":%" PRIu64 ",\"weight\":%" PRIu64
			"}",
			proc->nthreads, proc->exited ? "true" : "false", sums[i].count,
			sums[i].weight);
	}
	fputc(']', to);
}

static void write_threads(FILE *to, const struct export_model *c)
{
	fputs(",\"threads\":[", to);
	for (uint32_t i = 0; i < c->nthreads; i++) {
		const struct export_model_thread *thread = &c->threads[i];

		fprintf(to, "%s{\"process\":%u,\"thread\":%u,\"name\":", i ? "," : "", thread->proc,
			thread->tid);
		json_string(to, "", export_model_text(c, thread->comm));
		fputc('}', to);
	}
	fputc(']', to);
}

static void write_funcs(FILE *to, const struct export_model *c, const struct export_model_sum *sums)
{
	static const char *const kinds[] = {
		[FUNC_USER] = "user",	[FUNC_KERNEL] = "kernel", [FUNC_INLINE] = "inline",
		[FUNC_JIT] = "jit",	[FUNC_END] = "end",	  [FUNC_EVAL] = "eval",
		[FUNC_WAIT] = "wait",	[FUNC_TIME] = "time",	  [FUNC_LOCK] = "lock",
		[FUNC_WAKER] = "waker", [FUNC_PYTHON] = "python", [FUNC_PHP] = "php",
		[FUNC_PERL] = "perl",	[FUNC_RUBY] = "ruby",	  [FUNC_JS] = "js",
		[FUNC_JAVA] = "java"};

	fputs(",\"functions\":[", to);
	for (uint32_t i = 0; i < c->nfuncs; i++) {
		const struct export_model_func *func = &c->funcs[i];

		fprintf(to, "%s{\"name\":", i ? "," : "");
		json_string(to, "", export_model_text(c, func->name));
		json_string(to, ",\"module\":", export_model_text(c, func->module));
		fprintf(to,
			",\"kind\":\"%s\",\"self\":%" PRIu64 ",\"total\":%" PRIu64
			",\"self_weight\":%" PRIu64 ",\"total_weight\":%" PRIu64,
			kinds[func->kind], sums[i].self, sums[i].total, sums[i].self_weight,
			sums[i].total_weight);
		if (func->file != EXPORT_MODEL_NONE) {
			json_string(to, ",\"file\":", export_model_text(c, c->files[func->file]));
			if (func->line)
				fprintf(to, ",\"line\":%u", func->line);
		}
		fputc('}', to);
	}
	fputc(']', to);
}

static int write_stacks(FILE *to, const struct export_model *c)
{
	uint32_t *frames = export_model_frames_new(c);

	if (!frames)
		return -ENOMEM;
	fputs(",\"stacks\":[", to);
	for (size_t i = 0; i < c->nsamples; i++) {
		const struct export_model_sample *sample = &c->samples[i];
		uint32_t n = export_model_frames(c, sample->node, frames);

		fprintf(to,
			"%s{\"process\":%u,\"thread\":%u,\"count\":%" PRIu64 ",\"weight\":%" PRIu64,
			i ? "," : "", sample->proc, sample->tid, (uint64_t)sample->count,
			sample->weight);
		if (sample->cpu)
			fprintf(to, ",\"cpu\":%u", (unsigned int)sample->cpu - 1);
		fputs(",\"frames\":[", to);
		for (uint32_t f = 0; f < n; f++)
			fprintf(to, "%s%u", f ? "," : "", frames[f]);
		fputs("]}", to);
	}
	fputs("]}\n", to);
	free(frames);
	return 0;
}

int export_json(FILE *to, const struct export_model *c)
{
	struct export_model_sum *sums = export_model_sums(c);
	struct json_sum *procs = calloc((size_t)c->nprocs + 1, sizeof(*procs));
	int err = -ENOMEM;

	if (sums && procs) {
		for (size_t i = 0; i < c->nsamples; i++) {
			procs[c->samples[i].proc].count += c->samples[i].count;
			procs[c->samples[i].proc].weight += c->samples[i].weight;
		}
		write_head(to, c);
		write_procs(to, c, procs);
		write_threads(to, c);
		write_funcs(to, c, sums);
		err = write_stacks(to, c);
	}
	free(procs);
	free(sums);
	return err;
}
