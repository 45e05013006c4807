/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_OPENFILE_H
#define STACKTOP_BPF_OPENFILE_H

/*
 * Opens a file that a process has mapped and reads what the tracker must know of it. Each of these
 * system calls may take for ever, so bpf/openhelper.c does this in a process of its own.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/elffile.h"

#define OPEN_LOADS_MAX 1024u /* real files have a dozen */

struct open_request { /* only as much of it is sent as the name takes */
	uint64_t id;
	uint64_t start, end; /* of the mapping */
	uint64_t dev, inode; /* as /proc/PID/maps and records say */
	uint64_t copy_max;   /* bytes that a copy may have */
	int32_t pid;	     /* of the thread whose /proc shows it */
	char name[PATH_MAX];
};

struct open_answer { /* only as much of it is sent as the segments take */
	uint64_t id;
	int32_t err;	 /* -errno: nothing else is set. -EFBIG: copy_max is too small */
	int32_t elf_err; /* of elf_file_open_fd; -EINVAL also with too many segments */
	uint64_t dev, inode, mtime, ctime, size; /* ns; bytes */
	uint8_t copied;				 /* see openfile_do */
	uint8_t deleted;			 /* it has no name any more */
	uint8_t build_id_size;
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t nloads;
	struct elf_load loads[OPEN_LOADS_MAX];
};

/*
 * Opens the file of the mapping, or, where that cannot be had, the one of its name below the root
 * of the process or below our own, if it has the same number. Nothing but a regular file is ever
 * opened. *fd, the caller's own, is -1 on an error.
 *
 * A file of a file system that another program or machine serves is copied into memory, so that who
 * reads the descriptor never waits for those. root_dev: of our own root folder, whose file system
 * is not taken for such a one.
 */
void openfile_do(const struct open_request *request, uint64_t root_dev, struct open_answer *answer,
		 int *fd);

#endif
