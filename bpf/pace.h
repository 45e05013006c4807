/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PACE_H
#define STACKTOP_BPF_PACE_H

/*
 * How often the tracker reads records. To wake up for each one costs more than to follow it, where
 * commands come by the thousand; in a larger portion there are also those of processes that have
 * ended, which need not be looked at any more. A few are read without delay.
 */

#include <stdbool.h>
#include <stdint.h>

#define PACE_NS	     (1000ull * 1000) /* between two readings, once there were... */
#define PACE_AT_ONCE 16u	      /* ...so many without a pause */

struct pace {
	uint64_t until; /* ns; up to when the readings so far are accounted for; 0: at the start */
};

/*
 * Nanoseconds until records should be read, PACE_NS at most; 0: as soon as they come. has_read:
 * they were since the last call. now: of one clock in all calls.
 */
uint64_t pace_wait(struct pace *pace, bool has_read, uint64_t now);

#endif
