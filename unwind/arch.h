/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ARCH_H
#define STACKTOP_UNWIND_ARCH_H

/*
 * What the tables and the walk must know about the processor: a folder for each, with the same
 * files and names in all. The Makefile compiles the sources of the same folder. clang -target bpf
 * defines no macro of the machine, so the Makefile passes __TARGET_ARCH_*, as libbpf wants it.
 * FOR_X86_64 and FOR_ARM64 choose another processor than the one that the code is compiled for: its
 * tables are built to be shown (unwind/machine.h).
 */

#if defined(FOR_ARM64) ||                                                                          \
	(!defined(FOR_X86_64) && (defined(__aarch64__) || defined(__TARGET_ARCH_arm64)))
#include "unwind/arch/arm64/code.h"
#include "unwind/arch/arm64/registers.h"
#include "unwind/arch/arm64/sigcontext.h"
#elif defined(FOR_X86_64) || defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "unwind/arch/x86_64/code.h"
#include "unwind/arch/x86_64/registers.h"
#include "unwind/arch/x86_64/sigcontext.h"
#else
#error "unwind/arch/ has no folder for this processor"
#endif

#endif
