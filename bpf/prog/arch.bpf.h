/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_ARCH_BPF_H
#define STACKTOP_BPF_PROG_ARCH_BPF_H

/* What the programs must know about the processor: a file for each, with the same names in all. */

#if defined(__TARGET_ARCH_x86)
#include "bpf/prog/arch/x86_64.bpf.h"
#elif defined(__TARGET_ARCH_arm64)
#include "bpf/prog/arch/arm64.bpf.h"
#else
#error "no registers of this processor are known"
#endif

#endif
