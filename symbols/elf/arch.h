/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_ARCH_H
#define STACKTOP_SYMBOLS_ELF_ARCH_H

/* What reading symbols must know about the processor; a file for each, with the same names. */

#if defined(__x86_64__)
#include "symbols/elf/arch/x86_64.h"
#else
#error "symbols/elf/arch/ has no file for this processor"
#endif

#endif
