/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_DEBUGFILE_H
#define STACKTOP_SYMBOLS_ELF_DEBUGFILE_H

/*
 * Separate debug files, found as GDB finds them (GDB manual, "Debugging Information in Separate
 * Files"): by build-id, then by the name and the CRC-32 in .gnu_debuglink.
 */

#include <stdatomic.h>

#include "symbols/elf/elffile.h"

struct fileasker;
struct remotedebug;
struct stat;

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
	uint64_t code;	/* where the file has its code; 0: not known */
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
 * which is computed within limits (debugsum_of). If the place's root is not our own, our own
 * FOLDER/.build-id is tried last, and then the servers, which answer later. -ENOENT: none of these;
 * else -ENOMEM. The caller frees *out with elf_file_free. cancel: NULL, or what ends the
 * computation of a file's sum.
 */
int debug_link_open(const struct debug_link *link, const struct debug_place *place,
		    const atomic_bool *cancel, struct elf_file **out);
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

/*
 * Opens "MiniDebugInfo" (GDB manual): an ELF file in itself, compressed by xz into the section
 * .gnu_debugdata of a stripped file, with the .symtab that complements .dynsym. -ENOENT: no such
 * section; -EINVAL: broken, or larger than any real one; -ENOMEM. The caller frees *out with
 * elf_file_free.
 */
int minidebug_open(const struct elf_file *file, struct elf_file **out);

/*
 * CRC-32 sums of the files that .gnu_debuglink names, to tell whether a debug file without a
 * build-id is the right one. Any user can name large files, and new ones all the time. So a sum is
 * computed once, and for at most DEBUGSUM_BYTES in DEBUGSUM_SECONDS. Any thread may call these.
 */
#define DEBUGSUM_BYTES	 ((uint64_t)320 << 20) /* of one file, and of all files in that time */
#define DEBUGSUM_SECONDS 10u
#define DEBUGSUM_KEPT	 256u /* sums; the least recently used one goes */

/*
 * The sum of the whole file as it is now, kept for as long as its device, inode, size and times
 * stay the same. -EFBIG: larger than DEBUGSUM_BYTES; -EAGAIN: the budget is used up, ask again
 * later; -ECANCELED and -E2BIG: see elf_file_work; or the error of a read.
 */
int debugsum_of(const struct elf_file *file, uint32_t *sum);
/* How often -EAGAIN was returned so far. */
uint64_t debugsum_put_off(void);

/* True if it is one file, and its size and times say that it was not changed. */
bool debugfile_is_same(const struct stat *a, const struct stat *b);

#endif
