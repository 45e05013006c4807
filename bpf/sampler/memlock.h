/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_MEMLOCK_H
#define STACKTOP_BPF_SAMPLER_MEMLOCK_H

/* The memory of BPF maps, which cannot be swapped out. */

#include <stdint.h>

/*
 * Bytes of all maps that this process has open, inner maps included, as the kernel counts them
 * (memlock in fdinfo, proc(5)). -errno: they cannot be read.
 */
int memlock_maps(uint64_t *bytes);
/* An estimate for this machine before the maps are made, without shards. */
uint64_t memlock_expected(void);

#endif
