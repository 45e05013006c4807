/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_SIZES_H
#define STACKTOP_BPF_SAMPLER_SIZES_H

/* How large the maps are that a larger machine fills faster. Set before they are made. */

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
	uint32_t procs;	    /* entries, each, of the maps of processes and of targets */
};

/* What cannot be read is taken for small. */
void machine_read(struct machine_limits *m);
void map_sizes_of(const struct machine_limits *m, struct map_sizes *sizes);
/* About what all maps but the shards take; the kernel knows it better, when they are made. */
uint64_t map_sizes_bytes(const struct map_sizes *sizes);

#endif
