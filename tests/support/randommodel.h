/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_RANDOMMODEL_H
#define STACKTOP_TESTS_SUPPORT_RANDOMMODEL_H

/*
 * Samples of a made-up machine, the same ones from the same seed: of a clock, of an event without
 * time, or of waits; one to three slices, with threads, CPUs, inlined calls, frames of the kernel
 * and of languages, ends, stacks that are not known, and the same names in several modules, which
 * may have none.
 */

#include "tui/export/export_model.h"

/* *c is zeroed or was freed; export_model_free frees it. The first slice begins at
 * RANDOM_MODEL_TIME, and each has RANDOM_MODEL_ELAPSED. */
void random_model(struct export_model *c, uint64_t seed);

#define RANDOM_MODEL_TIME    (1700000000 * 1000000000ull) /* CLOCK_REALTIME ns */
#define RANDOM_MODEL_ELAPSED 1000000000ull

#endif
