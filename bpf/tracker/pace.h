/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_PACE_H
#define STACKTOP_BPF_TRACKER_PACE_H

/*
 * How often the tracker reads records. Where thousands of commands run, to wake up for each record
 * costs more than to process it, and with more records at once more of the processes have ended
 * already and need not be read. A few records are read without delay.
 */

#include <stdbool.h>
#include <stdint.h>

/* ns between two readings after PACE_AT_ONCE without a pause; longer if new processes are walked by
 * the lists of their files */
#define PACE_NS	      (1000ull * 1000)
#define PACE_FILES_NS (4000ull * 1000)
#define PACE_AT_ONCE  16u

struct pace {
	uint64_t until; /* ns; time up to which the readings so far count; 0: at the start */
};

/*
 * Nanoseconds until records should be read, at most `each`; 0: as soon as they come. has_read: they
 * were read since the last call. now: from the same clock in all calls. each: PACE_NS or
 * PACE_FILES_NS, which may change.
 */
uint64_t pace_wait(struct pace *pace, uint64_t each, bool has_read, uint64_t now);

#endif
