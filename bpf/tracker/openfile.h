/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_OPENFILE_H
#define STACKTOP_BPF_TRACKER_OPENFILE_H

/*
 * Opens a file that a process has mapped, and reads what the tracker needs to know of it, or opens
 * a file by a name that a process has chosen. Each of these system calls may block forever, so
 * bpf/tracker/openhelper.c makes them in a process of its own.
 */

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bpf/tracker/codereader.h"
#include "bpf/tracker/runtimefile.h"
#include "symbols/elf/elffile.h"
#include "symbols/files/fileasker.h"
#include "symbols/files/procfile.h"

#define OPEN_LOADS_MAX 1024u /* real files have a dozen */
#define OPEN_COPY_NAME "stacktop-copy"

enum open_kind {
	OPEN_MAPPED,
	OPEN_NAMED,   /* the name is below the root of pid; 0: below our own */
	OPEN_CODE,    /* what a process says of the code that it makes, see codereader.h */
	OPEN_OWN,     /* the same, if it belongs to the owner as procfile_open requires */
	OPEN_RUNTIME, /* is the runtime of pid laid out like this? See runtimefile.h */
	OPEN_MEMORY,  /* bytes of the memory of pid; the name says which, see openfile_range */
};

struct open_request { /* sent only up to the end of the name */
	uint64_t id;
	uint32_t kind;
	int32_t pid;		     /* of the thread whose /proc shows it */
	uint64_t copy_max;	     /* bytes that a copy may have */
	uint64_t start, end;	     /* OPEN_MAPPED: of the mapping */
	uint64_t dev, inode;	     /* OPEN_MAPPED: as /proc/PID/maps and records say */
	struct procfile_owner owner; /* OPEN_OWN */
	struct code_places code;     /* OPEN_CODE */
	struct file_facts known;     /* if copied and still the same: -EALREADY, no new copy */
	union {
		char name[PATH_MAX];
		struct code_bare bare;		 /* OPEN_CODE */
		struct runtime_question runtime; /* OPEN_RUNTIME */
	};
};

/* What is sent of a request. */
static inline size_t open_request_bytes(const struct open_request *r)
{
	size_t size;

	switch ((enum open_kind)r->kind) {
	case OPEN_CODE:
		size = r->code.nbare ? offsetof(struct code_bare, places) +
					       r->code.nbare * sizeof(r->bare.places[0])
				     : 1;
		break;
	case OPEN_RUNTIME:
		size = sizeof(r->runtime);
		break;
	default:
		size = strlen(r->name) + 1;
	}
	return offsetof(struct open_request, name) + size;
}

#define RUNTIME_READ_MAX (64u << 20)  /* bytes, of all checks of one runtime */
#define OPEN_MEMORY_MAX	 (256u << 10) /* bytes */

/* The name for so many bytes, at most OPEN_MEMORY_MAX, from an address on. */
void openfile_range(char name[40], uint64_t addr, uint64_t size);

struct open_answer { /* sent only up to the last segment */
	uint64_t id;
	int32_t err;	 /* -errno: nothing else is set. -EFBIG: copy_max is too small */
	int32_t elf_err; /* of elf_file_open_fd; -EINVAL also with too many segments */
	struct file_facts file;
	uint64_t ctime;	 /* ns */
	uint64_t mark;	 /* OPEN_CODE: of the description; OPEN_RUNTIME: of runtimefile_check */
	uint64_t spent;	 /* OPEN_CODE: ns of CPU time */
	char why[80];	 /* OPEN_RUNTIME: the contradiction; OPEN_CODE: the missing field */
	uint8_t deleted; /* it has no name any more */
	uint8_t no_code; /* OPEN_MAPPED: neither an ELF file nor a PE image */
	uint8_t moved;	 /* OPEN_CODE: no code is mapped from the file of the program */
	uint8_t build_id_size;
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t generation; /* OPEN_MAPPED: see vma_frame_tag */
	uint32_t nloads;
	struct elf_load loads[OPEN_LOADS_MAX];
};

/*
 * OPEN_CODE makes a file in memory, and so does OPEN_MEMORY of the bytes up to the first that is
 * not there (-EFAULT: all). OPEN_MAPPED opens the file of the mapping, or, if that is impossible,
 * the file of its name below the root of the process or below our own, if it has the same numbers.
 * For the other kinds nothing is read. Only regular files are opened. *fd, the caller's own, is -1
 * on an error.
 *
 * A file of a file system that another program or machine serves is copied into memory, so that
 * reading the descriptor never blocks. root_dev: of our own root folder, whose file system is not
 * treated as one of these.
 */
void openfile_do(struct open_request *request, uint64_t root_dev, struct open_answer *answer,
		 int *fd);

#endif
