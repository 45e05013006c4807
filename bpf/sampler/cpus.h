/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_CPUS_H
#define STACKTOP_BPF_SAMPLER_CPUS_H

/*
 * Which CPUs are online. A perf event on a CPU that goes offline has ended: it can be read, and so
 * can its ring, but it stays silent when the CPU comes back, and another one is to be opened.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Ascending, by the kernel's list; where that cannot be read all that are configured, online or
 * not. The array is the caller's, to be freed. -ENOMEM.
 */
int cpus_online(unsigned int **cpus, size_t *ncpus);
/* The same of text in the format of that list ("0-3,8"); what is behind an error is left out. */
int cpus_parse(const char *list, unsigned int **cpus, size_t *ncpus);
bool cpus_include(const unsigned int *cpus, size_t ncpus, unsigned int cpu);

/*
 * Had the event ended when it was asked last? It has PERF_FORMAT_TOTAL_TIME_ENABLED and no group,
 * and is enabled. *enabled is zero at first, then what the call before left there, at least some
 * milliseconds ago.
 */
bool cpus_event_ended(int fd, uint64_t *enabled);

#endif
