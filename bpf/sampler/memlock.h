/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_MEMLOCK_H
#define STACKTOP_BPF_SAMPLER_MEMLOCK_H

/* What BPF maps cost: memory that the kernel can neither swap out nor give to anyone else. */

#include <stdint.h>

/*
 * Bytes of all maps that this process has open, as the kernel counts them (memlock in proc(5)'s
 * fdinfo); inner maps count when they are open, too. -errno when that cannot be read.
 */
int memlock_maps(uint64_t *bytes);
/* About what they are going to take here, without shards: before they are made. */
uint64_t memlock_expected(void);

#endif
