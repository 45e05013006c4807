// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps take locked memory whether it is used or not, so their sizes follow the machine: each CPU
 * has its own samples and stacks, up to a limit where room for them is no longer cheap; the number
 * of processes is limited by pid_max and by the memory that each one takes itself.
 *
 * What they take in the end the kernel is asked for: the memory of a map beyond its values, and for
 * each CPU, differs between kernels.
 */
#include "bpf/sampler/sizes.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/prog/layout.h"

#define CPU_MEMORY  (512ull << 20) /* memory without which a CPU does not count */
#define PROC_MEMORY (128ull << 10) /* minimum of a process, with its page tables */

#define MAPS_MAX 4096u /* maps that are counted: shards, and some for each CPU */

#define COUNTS_MIN  (1u << 14)
#define COUNTS_MAX  (1u << 17)
#define RING_MIN    (2u << 20)
#define RING_MAX    (32u << 20)
#define SEEN_MIN    (1u << 13)
#define SEEN_MAX    (1u << 17)
#define PROCS_MIN   (1u << 12)
#define PROCS_MAX   (1u << 16)
#define THREADS_MIN (1u << 12)
#define THREADS_MAX (1u << 14)

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
	sizes->threads = sizes->procs / 2 < THREADS_MIN	  ? THREADS_MIN
			 : sizes->procs / 2 > THREADS_MAX ? THREADS_MAX
							  : sizes->procs / 2;
}

static uint64_t map_sizes_bytes(const struct map_sizes *sizes, unsigned int cpus)
{
	const uint64_t kept =
		TRAILS * sizeof(struct trail) + ((uint64_t)sizeof(struct found_row) << ROWS_SHIFT);

	/* A hash takes 64 bytes or more for an entry; lists, rules and per-CPU data take 5 MiB. */
	return (uint64_t)sizes->counts * 2 * 96 + sizes->ring + (uint64_t)sizes->seen_sets * 64 +
	       (uint64_t)sizes->procs * 2 * 128 + cpus * kept + (5ull << 20);
}

/* bpf_map_show_fdinfo() of the kernel writes "name:\tvalue" lines; false: it is no map. */
static bool map_read(const char *number, uint64_t *id, uint64_t *bytes)
{
	char path[64], line[128];
	bool has_id = false, has_bytes = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%.16s", number);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		has_id |= sscanf(line, "map_id: %" SCNu64, id) == 1;
		has_bytes |= sscanf(line, "memlock: %" SCNu64, bytes) == 1;
	}
	fclose(f);
	return has_id && has_bytes;
}

/* A map that is open twice counts once. */
static bool is_new(uint64_t *ids, unsigned int *n, uint64_t id)
{
	for (unsigned int i = 0; i < *n; i++)
		if (ids[i] == id)
			return false;
	if (*n == MAPS_MAX)
		return false;
	ids[(*n)++] = id;
	return true;
}

uint64_t memlock_expected(void)
{
	struct machine_limits machine;
	struct map_sizes sizes;

	machine_read(&machine);
	map_sizes_of(&machine, &sizes);
	return map_sizes_bytes(&sizes, machine.cpus);
}

int memlock_maps(uint64_t *bytes)
{
	uint64_t *ids, id = 0, size = 0;
	unsigned int n = 0;
	struct dirent *e;
	DIR *dir;
	int err = 0;

	*bytes = 0;
	ids = calloc(MAPS_MAX, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	dir = opendir("/proc/self/fdinfo");
	if (!dir)
		err = -errno;
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.' && map_read(e->d_name, &id, &size) && is_new(ids, &n, id))
			*bytes += size;
	if (dir)
		closedir(dir);
	free(ids);
	return err;
}
