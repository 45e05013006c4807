/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_VMA_H
#define STACKTOP_BPF_SAMPLER_VMA_H

/* Whether a BPF program can look up what a process has mapped (bpf/prog/vma.bpf.h). */

#include <stdbool.h>

/*
 * Loads a BPF program that looks up our own mappings. True if it finds all executable ones as
 * /proc/self/maps shows them, and none that is not there.
 */
bool vma_can_be_found(void);

#endif
