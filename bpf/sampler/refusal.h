/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_REFUSAL_H
#define STACKTOP_BPF_SAMPLER_REFUSAL_H

/* Who refuses a system call: EPERM says no more of a filter than of a missing capability. */

#include <stddef.h>

enum refusal_call { REFUSAL_BPF, REFUSAL_PERF_EVENT_OPEN };

/*
 * "; CULPRIT: REMEDY" for the -errno of one of them, by what this process may do now; "" for an
 * error that says itself what is wrong. Returns text.
 */
const char *refusal_of(enum refusal_call call, int err, char *text, size_t size);

#endif
