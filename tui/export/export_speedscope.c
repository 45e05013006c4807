/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file format of speedscope (speedscope.app/file-format-schema.json): sampled profiles, one for
 * each thread, over one list of frames. Weights are whole numbers, so that sums stay exact:
 * samples, events, or microseconds of waits.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "tui/export/export_model.h"
#include "tui/export/export_priv.h"

static void write_frames(FILE *to, const struct export_model *c)
{
	char name[EXPORT_NAME_MAX];

	fputs("\"shared\":{\"frames\":[", to);
	for (uint32_t i = 0; i < c->nfuncs; i++) {
		const char *module = export_model_text(c, c->funcs[i].module);

		json_string(to, i ? ",\n{\"name\":" : "\n{\"name\":", export_name(name, c, i));
		if (*module)
			json_string(to, ",\"file\":", module);
		if (func_is_language(c->funcs[i].kind) && c->funcs[i].line)
			fprintf(to, ",\"line\":%u", c->funcs[i].line);
		fputc('}', to);
	}
	fputs("]},\n", to);
}

static void write_profile(FILE *to, const struct export_model *c,
			  const struct export_model_sample *samples, size_t count, uint32_t *frames)
{
	const struct export_model_proc *proc = &c->procs[samples->proc];
	const char *comm = export_model_text(c, proc->comm);
	char name[96];
	uint64_t sum = 0;

	if (samples->tid && samples->tid != (uint32_t)proc->pid)
		snprintf(name, sizeof(name), "%s (%d), thread %s (%u)", comm, (int)proc->pid,
			 export_model_thread(c, samples->proc, samples->tid), samples->tid);
	else
		snprintf(name, sizeof(name), "%s (%d)", comm, (int)proc->pid);
	json_string(to, "{\"type\":\"sampled\",\"name\":", name);
	fprintf(to, ",\"unit\":\"%s\",\"samples\":[",
		export_model_unit(c) == EXPORT_TIME ? "microseconds" : "none");
	for (size_t i = 0; i < count; i++) {
		uint32_t n = export_model_frames(c, samples[i].node, frames);

		fputs(i ? ",[" : "[", to);
		for (uint32_t f = 0; f < n; f++)
			fprintf(to, "%s%u", f ? "," : "", frames[f]);
		fputc(']', to);
	}
	fputs("],\"weights\":[", to);
	for (size_t i = 0; i < count; i++) {
		fprintf(to, "%s%" PRIu64, i ? "," : "", export_model_value(c, &samples[i]));
		sum += export_model_value(c, &samples[i]);
	}
	fprintf(to, "],\"startValue\":0,\"endValue\":%" PRIu64 "}", sum);
}

int export_speedscope(FILE *to, const struct export_model *c)
{
	size_t count, end;
	struct export_model_sample *samples = export_model_merged(c, &count);
	uint32_t *frames = export_model_frames_new(c);
	int err = samples && frames ? 0 : -ENOMEM;

	if (!err) {
		fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		      "\"exporter\":\"stacktop " STACKTOP_VERSION "\",\"name\":\"stacktop\",",
		      to);
		write_frames(to, c);
		fputs("\"profiles\":[", to);
	}
	for (size_t i = 0; i < count && !err; i = end) {
		for (end = i; end < count && samples[end].proc == samples[i].proc &&
			      samples[end].tid == samples[i].tid;)
			end++;
		fputs(i ? ",\n" : "\n", to);
		write_profile(to, c, samples + i, end - i, frames);
	}
	if (!err)
		fputs("]}\n", to);
	free(frames);
	free(samples);
	return err;
}
