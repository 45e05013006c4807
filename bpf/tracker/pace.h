/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_PACE_H
#define STACKTOP_BPF_TRACKER_PACE_H

/*
 * How often the tracker reads records. To wake up for each one costs more than to follow it, where
 * commands come by the thousand; in a larger portion there are also those of processes that have
 * ended, which need not be looked at any more. A few are read without delay.
 */

#include <stdbool.h>
#include <stdint.h>

/* ns between two readings, once there were PACE_AT_ONCE without a pause... */
#define PACE_NS	      (1000ull * 1000)
#define PACE_FILES_NS (4000ull * 1000) /* ...where new processes are walked by their files */
#define PACE_AT_ONCE  16u

struct pace {
	uint64_t until; /* ns; up to when the readings so far are accounted for; 0: at the start */
};

/*
 * Nanoseconds until records should be read, `each` at most; 0: as soon as they come. has_read: they
 * were since the last call. now: of one clock in all calls. each: PACE_NS or PACE_FILES_NS, which
 * may change.
 */
uint64_t pace_wait(struct pace *pace, uint64_t each, bool has_read, uint64_t now);

#endif
