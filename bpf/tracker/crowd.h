/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_CROWD_H
#define STACKTOP_BPF_TRACKER_CROWD_H

/*
 * Which of too many mappings of a process are kept. In a process with tens of thousands, most of
 * them map a single file or anonymous memory. The program and its libraries, which its stacks need,
 * have a few mappings each, anywhere among the others.
 */

#include <stdint.h>

struct file_id {
	uint64_t dev, inode; /* 0: no file */
};

/*
 * Writes the indices 0 to n - 1 of the mappings to order[], those to keep first: mappings of files
 * with the fewest mappings come first; mappings of one file stay in order. files[i] is the file of
 * mapping i. -ENOMEM.
 */
int crowd_order(const struct file_id *files, uint32_t n, uint32_t *order);

#endif
