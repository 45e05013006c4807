/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_KERNELTEXT_H
#define STACKTOP_BPF_SAMPLER_KERNELTEXT_H

/* Reads kernel text by a BPF program, which is loaded for the call. Since Linux 5.14. */

#include <stddef.h>
#include <stdint.h>

/* All bytes. -ENOTSUP: this kernel does not permit it; -EFAULT: some are not there. */
int kerneltext_read(uint64_t addr, void *to, size_t size);

#endif
