/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_OPENFILE_H
#define STACKTOP_BPF_TRACKER_OPENFILE_H

/*
 * Opens a file that a process has mapped, and reads what the tracker must know of it, or one that
 * is at a name which a process chooses. Each of these system calls may take for ever, so
 * bpf/tracker/openhelper.c does this in a process of its own.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/elf/elffile.h"
#include "symbols/files/fileasker.h"
#include "symbols/files/procfile.h"

#define OPEN_LOADS_MAX 1024u /* real files have a dozen */
#define OPEN_COPY_NAME "stacktop-copy"

enum open_kind {
	OPEN_MAPPED,
	OPEN_NAMED, /* the name is below the root of pid; 0: below our own */
	OPEN_OWN,   /* the same, and as procfile_open does for the owner */
};

struct open_request { /* only as much of it is sent as the name takes */
	uint64_t id;
	uint32_t kind;
	int32_t pid;		     /* of the thread whose /proc shows it */
	uint64_t copy_max;	     /* bytes that a copy may have */
	uint64_t start, end;	     /* OPEN_MAPPED: of the mapping */
	uint64_t dev, inode;	     /* OPEN_MAPPED: as /proc/PID/maps and records say */
	struct procfile_owner owner; /* OPEN_OWN */
	struct file_facts known;     /* if copied: the same file is not copied again, -EALREADY */
	char name[PATH_MAX];
};

struct open_answer { /* only as much of it is sent as the segments take */
	uint64_t id;
	int32_t err;	 /* -errno: nothing else is set. -EFBIG: copy_max is too small */
	int32_t elf_err; /* of elf_file_open_fd; -EINVAL also with too many segments */
	struct file_facts file;
	uint64_t ctime;	 /* ns */
	uint8_t deleted; /* it has no name any more */
	uint8_t build_id_size;
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t nloads;
	struct elf_load loads[OPEN_LOADS_MAX];
};

/*
 * OPEN_MAPPED opens the file of the mapping, or, where that cannot be had, the one of its name
 * below the root of the process or below our own, if it has the same number; of the others nothing
 * is read. Nothing but a regular file is ever opened. *fd, the caller's own, is -1 on an error.
 *
 * A file of a file system that another program or machine serves is copied into memory, so that who
 * reads the descriptor never waits for those. root_dev: of our own root folder, whose file system
 * is not taken for such a one.
 */
void openfile_do(const struct open_request *request, uint64_t root_dev, struct open_answer *answer,
		 int *fd);

#endif
