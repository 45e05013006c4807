/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_SKIPPED_H
#define STACKTOP_BPF_SAMPLER_SKIPPED_H

/*
 * Ticks for which the kernel does not run the sampling program, since they hit a kprobe's or
 * tracepoint's program of another tool (bpf/prog/profiler.bpf.c): while the machine has such
 * programs, a program at the end of each timer takes the samples. Used by one thread at a time.
 */

#include <stddef.h>

struct profiler_programs;
struct skipped;

/* Nothing is loaded yet. programs: loaded, must outlive the result. -ENOMEM. */
int skipped_new(const struct profiler_programs *programs, struct skipped **out);
/* Detaches first. NULL is fine. */
void skipped_free(struct skipped *s);
/*
 * Looks for programs of others, and attaches or detaches; costs a system call if there are no new
 * ones. -errno: the samples cannot be taken; it is not tried again.
 */
int skipped_watch(struct skipped *s);
/*
 * Attaches, since ticks are missed: the programs of others may be of another kind, or their list
 * needs a right that this process lacks (CAP_SYS_ADMIN). 0: it was not attached before, and is now.
 */
int skipped_take(struct skipped *s);
/* The names of programs of others, some of them if there are many; empty: they are not known. */
void skipped_names(char *to, size_t size);

#endif
