/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_KERNELCLOCK_H
#define STACKTOP_SYMBOLS_FILES_KERNELCLOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * CLOCK_MONOTONIC as the kernel's records and BPF programs have it, in ns. Compare it with their
 * times only: in a time namespace clock_gettime, conditions and timers use another clock.
 */
uint64_t kernelclock_now(void);
/*
 * The offset that the time namespace adds to CLOCK_BOOTTIME, as /proc shows it, in ns modulo 2^64.
 * False: it cannot be found out.
 */
bool kernelclock_boottime_offset(uint64_t *ns);

#endif
