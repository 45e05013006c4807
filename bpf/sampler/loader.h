/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_LOADER_H
#define STACKTOP_BPF_SAMPLER_LOADER_H

/* Loads profiler.bpf.c: what the kernel can do becomes constants of its programs. */

#include <stdbool.h>
#include <stddef.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/sampler.h"
#include "bpf/sampler/sizes.h"

struct profiler_programs {
	struct bpf_object *object;
	struct bpf_program *on_sample;
	struct profiler_config config; /* as the programs have it */
	bool knows_starts;	       /* they can compare start times */
	bool checks_lists;	       /* they look a mapping up in the kernel */
	unsigned int refused;	       /* by the kernel: a bit for each enum runtime */
};

/*
 * p is all zero and belongs to the caller, who frees it whatever this returns. -errno; error has a
 * message, if there is one for people.
 */
int programs_load(struct profiler_programs *p, const struct sampler_options *options,
		  const struct map_sizes *sizes, char *error, size_t size);
void programs_free(struct profiler_programs *p);
/*
 * Gives an object that is not loaded yet this config, and the maps of the loaded profiler that have
 * the same names; with config->sampler without those of programs, which have another type there.
 */
int programs_share_maps(struct bpf_object *object, const struct bpf_object *profiler,
			const struct profiler_config *config);
/*
 * Loads on_timer_end, with the maps of p, which is loaded. *object is for the caller to close, also
 * after an error.
 */
int programs_load_timer(const struct profiler_programs *p, struct bpf_object **object);
/* The program's name of a runtime that the kernel has refused, or NULL. */
const char *programs_refused(const struct profiler_programs *p, enum runtime runtime);

#endif
