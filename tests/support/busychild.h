/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_BUSYCHILD_H
#define STACKTOP_TESTS_SUPPORT_BUSYCHILD_H

/* Children of a test, which end with it. */

#include <sys/types.h>

/* It is in the function for good. */
pid_t busychild_new(const char *comm, void (*busy)(void));
/* Kills it and waits for its end. */
void busychild_end(pid_t pid);

#endif
