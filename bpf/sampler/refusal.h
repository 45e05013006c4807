/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_REFUSAL_H
#define STACKTOP_BPF_SAMPLER_REFUSAL_H

/* What refuses a system call: EPERM may mean a seccomp filter or a missing capability. */

#include <stddef.h>

enum refusal_call { REFUSAL_BPF, REFUSAL_PERF_EVENT_OPEN };

/*
 * Writes "; CULPRIT: REMEDY" for the -errno of such a call, by what this process may do now, or ""
 * if the error explains itself. Returns text.
 */
const char *refusal_of(enum refusal_call call, int err, char *text, size_t size);

#endif
