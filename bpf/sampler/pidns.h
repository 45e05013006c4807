/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_PIDNS_H
#define STACKTOP_BPF_SAMPLER_PIDNS_H

/*
 * The PID namespace that stacktop is in (pid_namespaces(7)): by its numbers the side-band records,
 * /proc and people name processes, so the sampler has to, too.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pidns {
	uint32_t inode; /* of /proc/self/ns/pid */
	uint32_t level; /* of nested namespaces; 0: the initial one */
};

/* The namespace that the machine started with? True as well where the kernel has no others. */
bool pidns_is_initial(void);
/*
 * How many numbers a line "NSpid:" of /proc/PID/status names, and the first of them: more than one,
 * and that /proc is of a namespace above the process's own. 0: it is no such line, or malformed.
 */
unsigned int pidns_numbers(const char *line, long *first);
/* Is /proc of the namespace that stacktop is in? False: error says what to do. */
bool pidns_has_proc(char *error, size_t size);
/*
 * All zeros in the initial namespace. Else loads and runs a BPF program, which is compared with
 * getpid(). -errno: numbers cannot be translated, and error says why.
 */
int pidns_read(struct pidns *out, char *error, size_t size);

#endif
