/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_PROCMAPS_H
#define STACKTOP_SYMBOLS_FILES_PROCMAPS_H

/* Reads /proc/PID/maps (proc_pid_maps(5)). */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct procmap {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file, bytes */
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t inode; /* 0, with a device of 0: no file */
	bool exec, write;
	const char *name; /* rest of the line, octal escapes of the kernel resolved, "" when
			     anonymous; valid during the call only */
};

/*
 * Calls fn for each mapping (exec_only: executable ones only), in ascending order, until it returns
 * non-zero, and returns that. Lines that make no sense are skipped. -errno if the file cannot be
 * read.
 */
int procmaps_read(pid_t pid, bool exec_only, int (*fn)(const struct procmap *map, void *arg),
		  void *arg);

/* The same for a text in memory, for tests and the fuzzer. */
int procmaps_parse(const char *text, size_t length, bool exec_only,
		   int (*fn)(const struct procmap *map, void *arg), void *arg);

#endif
