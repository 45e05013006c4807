// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=512 */
/*
 * As fuzz_walk.c, for arm64, whatever this machine is.
 * Covers: unwind/arch/arm64/step.h unwind/arch/arm64/code.h
 */
#include "tests/fuzz/fuzz_walk.c" /* NOLINT(bugprone-suspicious-include): the same for it */
