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

void machine_close(struct machine *f);

#endif
