/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_CPUS_H
#define STACKTOP_BPF_SAMPLER_CPUS_H

/*
 * Which CPUs are online. When a CPU goes offline, its perf event ends: the event and its ring can
 * still be read, but the event stays silent when the CPU comes back, so another one must be opened.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The online CPUs by the kernel's list, ascending; if that cannot be read, all configured ones. The
 * caller frees the array. -ENOMEM.
 */
int cpus_online(unsigned int **cpus, size_t *ncpus);
/* The same from a text in the format of that list ("0-3,8"), up to the first error. */
int cpus_parse(const char *list, unsigned int **cpus, size_t *ncpus);

/*
 * Has the event ended since the last call, which was at least some milliseconds ago? The event is
 * enabled, with PERF_FORMAT_TOTAL_TIME_ENABLED and without a group. *enabled is the state between
 * calls, 0 at first.
 */
bool cpus_event_ended(int fd, uint64_t *enabled);

#endif
