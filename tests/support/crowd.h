/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_CROWD_H
#define STACKTOP_TESTS_SUPPORT_CROWD_H

/*
 * Many processes on the made-up machine of a typist: "job-00" with PID 1000, "job-01" with PID
 * 1001, and so on, all of whose samples are in main and in work_N.
 */

#include "tests/support/typist.h"

#define CROWD_MAX 200

struct crowd {
	struct typist *t;
	int count;
	uint32_t ids[CROWD_MAX];
	uint32_t stacks[CROWD_MAX];
	uint32_t samples[CROWD_MAX]; /* of each in the next seconds */
};

/* None of them is known before it has samples. */
void crowd_open(struct crowd *c, struct typist *t, int count);
void crowd_close(struct crowd *c);
/* So many seconds pass, and the screen shows them. */
void crowd_seconds(struct crowd *c, int n);
/* It has exited at the end of the last second. */
void crowd_exits(struct crowd *c, int job);
/* Gives it another name, and another parent if that is not 0. */
void crowd_names(struct crowd *c, int job, const char *comm, const char *cmdline, int parent);

#endif
