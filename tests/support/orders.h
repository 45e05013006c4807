/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_ORDERS_H
#define STACKTOP_TESTS_SUPPORT_ORDERS_H

/* Commands to a running tracker, and what the kernel's maps then have. */

#include <setjmp.h>
#include <stdio.h>

#include "tests/support/serve.h"

/* The sampler's map of that name; of a test's before that failed there may be one, too. */
int fd_of_map(const char *name);

bool has_target(pid_t pid);

unsigned int count_attached(struct running *r);

/* Posts the command and waits for its answer, of that level, which begins so. */
void post(struct running *r, enum tracker_command command, const char *arg, int level,
	  const char *begin);

void post_pid(struct running *r, enum tracker_command command, pid_t pid, int level,
	      const char *begin);

#endif
