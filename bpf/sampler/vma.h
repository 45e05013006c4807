/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_VMA_H
#define STACKTOP_BPF_SAMPLER_VMA_H

/* Whether BPF programs can look up mappings of processes (bpf/prog/vma.bpf.h). */

#include <stdbool.h>

/*
 * Loads a BPF program that looks up mappings of this process. True if it finds all executable ones
 * as in /proc/self/maps, and no others.
 */
bool vma_can_be_found(void);

#endif
