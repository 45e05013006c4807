/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_STEPS_H
#define STACKTOP_TESTS_SUPPORT_STEPS_H

/*
 * How much work code does, as the number of its basic blocks that run: the same on every machine
 * and however busy that is. Sources whose work counts are compiled into the test by its line
 * `build: -fsanitize-coverage=trace-pc symbols/NAME.c ...`.
 */

#include <stdint.h>

/* Calls run(arg). The test fails as soon as there are more steps than `most`. Returns how many. */
uint64_t steps_of(void (*run)(void *arg), void *arg, uint64_t most);

/* What the compiler calls at each basic block. */
void __sanitizer_cov_trace_pc(void);

#endif
