/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_ACCOUNTING_H
#define STACKTOP_TUI_COLLECT_ACCOUNTING_H

/* Accounts for every tick: turns the sampler's sums since its start into those of a slice. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/sampler/sampler.h"
#include "tui/profile/profile.h"

struct accounting_sums {
	struct profiler_stats stats;
	struct sampler_ticks ticks;
	uint64_t idle, missed; /* ticks */
	uint64_t run_ns, runs; /* of stacktop itself, as far as the kernel measures it */
};

/* Starts zeroed. */
struct accounting {
	struct accounting_sums now, before; /* sums at the end of the last slice that was kept */
	struct accounting_sums base;	    /* when the current event began to sample */
	uint64_t dropped;		    /* samples of slices that were not kept */
	bool told_throttled, told_missed, told_skipped;
	int untaken;	   /* -errno: ticks in other BPF programs are not taken */
	bool began_taking; /* they are, since the end of the last slice */
};

/* Reads the sampler; what cannot be read stays as it was. */
void accounting_read(struct accounting *b, struct sampler *s);
/* ... or takes what the caller has read. */
void accounting_take(struct accounting *b, const struct profiler_stats *stats,
		     const struct sampler_ticks *ticks);
/*
 * After accounting_read, if another event samples. A sample of an event without a clock has no due
 * tick, so sums of two events cannot be compared.
 */
void accounting_restart(struct accounting *b);
/*
 * Completes the health of a slice; samples and kernel_samples must be those of its cells, filtered
 * those of counts that became no cell.
 */
void accounting_fill(const struct accounting *b, bool no_kernel, struct profile_health *h);
/*
 * True if text says, with the remedy, why the slice was not sampled as it should be. Each cause is
 * reported once: the figures go on in the header and in the reports.
 */
bool accounting_warning(struct accounting *b, const struct profile_health *h, char *text,
			size_t size);
/* Is so much of the slice missed that it is worth a warning? */
bool accounting_misses(const struct profile_health *h);
/* Ends the slice. If it is not kept, its counters go into the next one, its samples are lost. */
void accounting_close(struct accounting *b, bool kept, const struct sampler_count *counts,
		      size_t ncounts);

#endif
