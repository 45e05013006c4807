// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps take locked memory whether it is used or not, so their sizes follow the machine: each CPU
 * has its own samples and stacks, up to a limit where room for them is no longer cheap; the number
 * of processes is limited by pid_max and by the memory that each one takes itself.
 */
#include "bpf/sampler/sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define CPU_MEMORY  (512ull << 20) /* memory without which a CPU does not count */
#define PROC_MEMORY (128ull << 10) /* minimum of a process, with its page tables */

#define COUNTS_MIN (1u << 14)
#define COUNTS_MAX (1u << 17)
#define RING_MIN   (2u << 20)
#define RING_MAX   (32u << 20)
#define SEEN_MIN   (1u << 13)
#define SEEN_MAX   (1u << 17)
#define PROCS_MIN  (1u << 12)
#define PROCS_MAX  (1u << 16)

void machine_read(struct machine_limits *m)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), pages = sysconf(_SC_PHYS_PAGES);
	FILE *f = fopen("/proc/sys/kernel/pid_max", "re");

	*m = (struct machine_limits){.cpus = cpus > 0 ? (unsigned int)cpus : 1};
	if (pages > 0)
		m->memory = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
	if (f && fscanf(f, "%" SCNu64, &m->pid_max) != 1)
		m->pid_max = 0;
	if (f)
		fclose(f);
}

/* min / 2 for each CPU; a power of two, as min and max are. */
static uint32_t scale_size(uint64_t cpus, uint32_t min, uint32_t max)
{
	uint64_t size = min;

	while (size < cpus * (min / 2) && size < max)
		size *= 2;
	return (uint32_t)size;
}

void map_sizes_of(const struct machine_limits *m, struct map_sizes *sizes)
{
	uint64_t cpus = m->memory / CPU_MEMORY, procs = m->memory / PROC_MEMORY;

	if (cpus > m->cpus)
		cpus = m->cpus;
	if (procs > m->pid_max)
		procs = m->pid_max;
	*sizes = (struct map_sizes){
		.counts = scale_size(cpus, COUNTS_MIN, COUNTS_MAX),
		.ring = scale_size(cpus, RING_MIN, RING_MAX),
		.seen_sets = scale_size(cpus, SEEN_MIN, SEEN_MAX),
		.procs = procs < PROCS_MIN   ? PROCS_MIN
			 : procs > PROCS_MAX ? PROCS_MAX
					     : (uint32_t)procs,
	};
}

uint64_t map_sizes_bytes(const struct map_sizes *sizes)
{
	/* A hash takes 64 bytes or more for an entry; lists, rules and per-CPU data take 5 MiB. */
	return (uint64_t)sizes->counts * 2 * 96 + sizes->ring + (uint64_t)sizes->seen_sets * 64 +
	       (uint64_t)sizes->procs * 2 * 128 + (5ull << 20);
}
