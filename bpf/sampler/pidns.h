/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_PIDNS_H
#define STACKTOP_BPF_SAMPLER_PIDNS_H

/*
 * The PID namespace of stacktop (pid_namespaces(7)). Side-band records, /proc and users name
 * processes by its numbers, so the sampler has to, too.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pidns {
	uint32_t inode; /* of /proc/self/ns/pid */
	uint32_t level; /* of nested namespaces; 0: the initial one */
};

/* Is it the initial one? Also true where the kernel has no PID namespaces. */
bool pidns_is_initial(void);
/*
 * Counts the numbers in a line "NSpid:" of /proc/PID/status. More than one: that /proc belongs to
 * an outer namespace. 0: it is no such line, or malformed.
 */
unsigned int pidns_numbers(const char *line, long *first);
/* Does /proc belong to stacktop's namespace? False: error says what to do. */
bool pidns_has_proc(char *error, size_t size);
/*
 * All zeros in the initial namespace. Else loads and runs a BPF program and compares its result
 * with getpid(). -errno: numbers cannot be translated; error says why.
 */
int pidns_read(struct pidns *out, char *error, size_t size);

#endif
