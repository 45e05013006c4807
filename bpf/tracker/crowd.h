/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_CROWD_H
#define STACKTOP_BPF_TRACKER_CROWD_H

/*
 * Which of too many mappings of a process are kept. A process with tens of thousands of them has
 * most of a single file, or of memory without one; its program and libraries, on which its stacks
 * depend, are mapped a few times each, and may be anywhere among them.
 */

#include <stddef.h>
#include <stdint.h>

struct file_id {
	uint64_t dev, inode; /* 0: no file */
};

/*
 * Writes to order[] the numbers 0 to n - 1 of the mappings, those to keep first: by how many of the
 * n have the same file, fewest first; of one file in their order. files[i] is that of mapping i.
 * -ENOMEM.
 */
int crowd_order(const struct file_id *files, uint32_t n, uint32_t *order);

#endif
