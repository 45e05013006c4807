/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_IMPORT_PPROF_VALUE_H
#define STACKTOP_TUI_IMPORT_PPROF_VALUE_H

/*
 * Which of the values that the samples of a pprof file have is shown, and as what: a profile has
 * one event, with a count and a weight for each sample.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tui/import/pprof_read.h"

struct pprof_value {
	uint32_t shown, count; /* types; count: PPROF_NONE, if none says how many there are */
	uint64_t unit;	       /* ns of the shown one; 0: it is no time */
	uint64_t period;       /* ns; 0: not known */
	bool regular;	       /* so far all that is shown is a multiple of the period */
	bool counted_so;       /* ... and of the count */
	bool clock;	       /* found by pprof_value_event */
	bool derived;	       /* weights follow from the frequency */
	struct import_event event;
};

/* Chooses: the default type, else the last one, as `go tool pprof` does. */
void pprof_value_choose(struct pprof_value *v, const struct pprof *p);
/* Sees the values of a sample, as many as there are types. */
void pprof_value_see(struct pprof_value *v, const uint64_t *values);
/* After all samples were seen: what they are. */
void pprof_value_event(struct pprof_value *v, const struct pprof *p);
/* Count (0: nothing is shown of this sample) and weight, as import_sample takes them. *rest: ns
 * that are left of the samples before, and of this one. */
void pprof_value_of(const struct pprof_value *v, const uint64_t *values, uint64_t *rest,
		    uint64_t *count, uint64_t *weight);

#endif
