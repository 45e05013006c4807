/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_MACHINE_H
#define STACKTOP_TESTS_SUPPORT_MACHINE_H

/* A small made-up machine for the tests of the screen: four processes, stacks of known shares. */

#include "tui/profile/profile.h"

#define MACHINE_SECOND 1000000000ULL
#define MACHINE_NOW    (1000 * MACHINE_SECOND)

struct machine {
	struct profile *p;
	uint64_t time;
	uint32_t nginx, postgres, node, kswapd;
	uint32_t stacks[16];
	int nstacks;
};

uint32_t machine_proc(struct machine *f, pid_t pid, const char *user, const char *comm,
		      const char *cmdline, unsigned int threads);

/* See feed_frames(). */
uint32_t machine_stack(struct machine *f, const char *frames);

void machine_health(struct machine *f, struct profile_health *h, uint64_t user, uint64_t kernel,
		    uint64_t complete);

void machine_open(struct machine *f);

/* One second. heavy chooses which process is the busiest: 0 nginx, 1 postgres. */
int machine_slice(struct machine *f, int heavy);

/*
 * One second whose threads are followed, with 25 samples of nginx. Its threads 4121 and 4133 wait
 * for the same lock, for 600 and 900 ms, and 4121 also 150 ms for a CPU. postgres waits 700 ms for
 * a disk, whose interrupt ends that. node polls for 350 ms, and waits 600 ms for a lock, which goes
 * on. The rest is time on CPUs.
 */
int machine_waits(struct machine *f);

/* Likewise, with this health instead of that of machine_waits_health(). */
void machine_waits_health(struct machine *f, struct profile_health *h);
int machine_waits_with(struct machine *f, const struct profile_health *h);

void machine_close(struct machine *f);

#endif
