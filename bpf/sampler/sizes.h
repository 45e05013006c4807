/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_SIZES_H
#define STACKTOP_BPF_SAMPLER_SIZES_H

/*
 * The sizes of maps that a larger machine fills faster, set before they are made, and the memory of
 * all maps, which cannot be swapped out.
 */

#include <stdint.h>

struct machine_limits {
	unsigned int cpus;
	uint64_t memory; /* bytes */
	uint64_t pid_max;
};

struct map_sizes {
	uint32_t counts;    /* entries of a map of stack counts; there are two */
	uint32_t ring;	    /* bytes for new stacks, a power of two */
	uint32_t seen_sets; /* of hashes, a power of two */
	uint32_t procs;	    /* entries of the procs map and of the targets map */
	uint32_t threads;   /* that can be followed through their waits */
};

/* A limit that cannot be read is set low. */
void machine_read(struct machine_limits *m);
void map_sizes_of(const struct machine_limits *m, struct map_sizes *sizes);
/* Estimates the bytes of all maps of this machine without shards, before they are made. */
uint64_t memlock_expected(void);
/*
 * Bytes of all maps that this process has open, inner maps included, as the kernel counts them
 * (memlock in fdinfo, proc(5)). -errno: they cannot be read.
 */
int memlock_maps(uint64_t *bytes);

#endif
