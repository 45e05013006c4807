/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_DEBUGFILE_H
#define STACKTOP_SYMBOLS_ELF_DEBUGFILE_H

/*
 * Separate debug files, found as GDB finds them (GDB manual, "Debugging Information in Separate
 * Files"): by build-id, then by the name and the CRC-32 in .gnu_debuglink.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbols/elf/elffile.h"

struct fileasker;
struct remotedebug;

struct debug_place {
	int root;	    /* of the process that maps the file (rootfile_root); -1: our own */
	const char *folder; /* of debug files below that root: "/usr/lib/debug" */
	struct remotedebug *remote; /* asked last, for files that are not found here; NULL: none */
	struct fileasker *asker;    /* NULL: the caller may wait for a file */
	pid_t pid;		    /* process that root belongs to; only the asker needs it */
};

/* How a file refers to its debug file; outlives the file. */
struct debug_link {
	uint8_t id[BUILD_ID_MAX];
	uint8_t id_length; /* 0: no build-id */
	bool has_crc;	   /* name and crc are set */
	uint32_t crc;
	uint16_t machine;
	char name[256]; /* no '/' in it */
	char dir[4096]; /* of the file, "" when unknown */
};

/*
 * Reads the file's link. The folder is the path that the kernel reports for the file's descriptor;
 * for a file of another mount namespace it is the path there.
 */
void debug_link_read(const struct elf_file *file, struct debug_link *out);

/*
 * Opens the debug file: FOLDER/.build-id/ab/cdef.debug, then DIR/NAME, DIR/.debug/NAME and
 * FOLDER/DIR/NAME. It must have the build-id of the file or, if one of them has none, the CRC,
 * which is computed within limits (debugsum.h). If the place's root is not our own, our own
 * FOLDER/.build-id is tried last, and then the servers, which answer later. -ENOENT: none of these;
 * else -ENOMEM. The caller frees *out with elf_file_free.
 */
int debug_link_open(const struct debug_link *link, const struct debug_place *place,
		    struct elf_file **out);
/* True if a file is at one of these paths, so that another try is worth it. A few system calls. */
bool debug_link_present(const struct debug_link *link, const struct debug_place *place);

/* Both in one. What cancels the work on the file cancels this and the work on the debug file. */
int debugfile_open(const struct elf_file *file, const struct debug_place *place,
		   struct elf_file **out);

/*
 * Opens the file that dwz moved common parts of a debug file to (.gnu_debugaltlink: a path,
 * absolute or from the debug file's folder, and a build-id that must match). It is looked for at
 * that path, then in FOLDER/.build-id. -ENOENT: no such section or file.
 */
int debugfile_open_alt(const struct elf_file *debug, const struct debug_place *place,
		       struct elf_file **out);

#endif
