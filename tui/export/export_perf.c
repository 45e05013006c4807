/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of `perf script`, which many tools read (stackcollapse-perf.pl, Firefox Profiler,
 * speedscope, FlameScope). Some of them count records and some add up periods, so each sample is a
 * record of its own, with a period of 1. Where samples stand for events, or for time, their periods
 * do, of time in nanoseconds, as perf has it. There may be a million short waits of one stack in a
 * second, so only WAITS_MAX of them have a record of their own; periods are right all the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/text.h"
#include "tui/export/export_model.h"
#include "tui/export/export_priv.h"

#define WAITS_MAX 1000u

/*
 * Readers take the first number behind blanks as the PID, so a name with blanks in it must not look
 * as if it had one.
 */
static const char *perf_comm(char *to, size_t size, const char *comm)
{
	text_clean(to, size, comm, strlen(comm));
	for (char *s = to; *s; s++)
		if (*s == ' ' && (s == to || (s[1] >= '0' && s[1] <= '9')))
			*s = '_';
	return *to ? to : "?";
}

/* Readers cut off an offset, which most frames of perf's own have. */
static bool has_offset(const char *name)
{
	const char *plus = strrchr(name, '+');

	return plus && plus[1] == '0' && plus[2] == 'x' &&
	       strspn(plus + 3, "0123456789abcdef") == strlen(plus + 3);
}

/* Readers split at blanks, and at the last bracket behind one. */
static const char *perf_word(char *to, size_t size, const char *text)
{
	text_clean(to, size, text, strlen(text));
	for (char *s = to; *s; s++)
		if (*s == ' ' && (s == to || s[1] == '('))
			*s = '_';
	return to;
}

static void write_frames(FILE *to, const struct export_model *c, uint32_t node)
{
	char name[EXPORT_NAME_MAX], word[EXPORT_NAME_MAX], file[EXPORT_NAME_MAX];

	for (; node != EXPORT_MODEL_NONE; node = c->nodes[node].parent) {
		const struct export_model_func *func = &c->funcs[c->nodes[node].func];
		const char *module = export_model_text(c, func->module);

		if (!*module)
			module = func->kind == FUNC_KERNEL ? "[kernel.kallsyms]" : "[unknown]";
		export_name(name, c, c->nodes[node].func);
		fprintf(to, "\t%16x %s%s (%s)\n", 0, perf_word(word, sizeof(word), name),
			has_offset(name) ? "+0x0" : "", perf_word(file, sizeof(file), module));
	}
	fputc('\n', to);
}

/* Periods of a sample's records, together. */
static uint64_t period_sum(const struct export_model *c, const struct export_model_sample *sample)
{
	uint64_t value = export_model_value(c, sample);

	return export_model_unit(c) == EXPORT_TIME ? 1000 * value : value;
}

/* No period is 0. */
static uint64_t records_of(const struct export_model *c, const struct export_model_sample *sample)
{
	uint64_t n = sample->count, sum = period_sum(c, sample);

	if (export_model_unit(c) == EXPORT_TIME && n > WAITS_MAX)
		n = WAITS_MAX;
	return n > sum ? sum : n;
}

/* frames: the text behind the record's first line. */
static void write_record(FILE *to, const struct export_model *c,
			 const struct export_model_sample *sample, const char *frames,
			 uint64_t period, uint64_t time)
{
	const struct export_model_proc *proc = &c->procs[sample->proc];
	char comm[32], cpu[16] = "";

	if (sample->cpu)
		snprintf(cpu, sizeof(cpu), " [%03u]", (unsigned int)sample->cpu - 1);
	fprintf(to, "%-16s %d/%u%s %5" PRIu64 ".%06u: %10" PRIu64 " %s:\n",
		perf_comm(comm, sizeof(comm), export_model_thread(c, sample->proc, sample->tid)),
		(int)proc->pid, sample->tid ? sample->tid : (uint32_t)proc->pid, cpu,
		time / 1000000000u, (unsigned int)(time / 1000 % 1000000), period,
		export_counted(c));
	fputs(frames, to);
}

/* The text of a stack, to be freed; NULL if there is no memory for it. */
static char *frames_text(const struct export_model *c, uint32_t node)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	write_frames(to, c, node);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

/* The times of a slice's samples are unknown, so they are spread over it. */
static int write_slice(FILE *to, const struct export_model *c,
		       const struct export_model_sample *samples, size_t count)
{
	const struct export_model_slice *slice = &c->slices[samples->slice];
	uint64_t whole = 0, n = 0;

	for (size_t i = 0; i < count; i++)
		whole += records_of(c, &samples[i]);
	for (size_t i = 0; i < count; i++) {
		const uint64_t records = records_of(c, &samples[i]),
			       sum = period_sum(c, &samples[i]);
		char *frames = frames_text(c, samples[i].node);

		if (!frames)
			return -ENOMEM;
		for (uint64_t k = 0; k < records && !ferror(to); k++, n++)
			write_record(to, c, &samples[i], frames,
				     sum / records + (k < sum % records),
				     slice->time + (uint64_t)((double)slice->elapsed * (double)n /
							      (double)whole));
		free(frames);
	}
	return 0;
}

int export_perf(FILE *to, const struct export_model *c)
{
	size_t end;
	int err = 0;

	for (size_t i = 0; i < c->nsamples && !err; i = end) {
		for (end = i; end < c->nsamples && c->samples[end].slice == c->samples[i].slice;)
			end++;
		err = write_slice(to, c, c->samples + i, end - i);
	}
	return err;
}
