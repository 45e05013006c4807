// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * As fuzz_unwind.c, for arm64, whatever this machine is.
 * Covers: unwind/arch/arm64/gocode.c unwind/arch/arm64/clonegap.c
 */
#include "tests/fuzz/fuzz_unwind.c" /* NOLINT(bugprone-suspicious-include): the same for it */
