/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_DEBUGINFO_H
#define STACKTOP_SYMBOLS_DWARF_DEBUGINFO_H

/*
 * Source lines and inlined calls of one ELF file, from its DWARF (versions 2 to 5, through libdw)
 * or that of its separate debug file. A unit is read when an address of it is first asked for, and
 * so is a function. Used by one thread at a time.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct debug_place;
struct debuginfo;
struct elf_file;

#define DEBUGINFO_FRAMES_MAX 64u /* of one address; the outermost calls beyond are left out */

struct debuginfo_frame {
	const char *name;  /* linkage name if known, not demangled; NULL: unknown */
	const char *dir;   /* what `file` is relative to; NULL: unknown, or it is absolute */
	const char *file;  /* NULL: unknown */
	unsigned int line; /* 0: unknown */
};

struct debuginfo_options {
	const struct debug_place *place; /* where debug files are; NULL: none is looked for */
	size_t limit;			 /* bytes of debug sections and of what is made from them */
	const atomic_bool *cancel;	 /* NULL, or true: give up soon */
	uid_t user; /* split units (.dwo) are read from files of this user and of root */
};

/*
 * Takes the file over, even on failure. -ENOENT: there is no debug information; -EFBIG: more than
 * the limit; -ENOTSUP: relocatable; -EINVAL, -ENOMEM.
 */
int debuginfo_new(struct elf_file *file, const struct debuginfo_options *options,
		  struct debuginfo **out);
void debuginfo_free(struct debuginfo *info);
/* True if its common file (dwz) was not found: names and inlined calls that stand there lack. */
bool debuginfo_lacks_alternate(const struct debuginfo *info);
/* Bytes of memory held: sections, what libdw made of them (an estimate), and the index. */
size_t debuginfo_bytes(const struct debuginfo *info);

/*
 * The calls at an ELF address, innermost first; the last is the function that is not inlined. The
 * file and line of a caller are those of the call. Returns how many (at most DEBUGINFO_FRAMES_MAX),
 * 0 if nothing is known. Strings are valid until debuginfo_free.
 */
size_t debuginfo_find(struct debuginfo *info, uint64_t vaddr,
		      struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX]);
/* True if both addresses are in one function that is not inlined. */
bool debuginfo_is_one_function(struct debuginfo *info, uint64_t a, uint64_t b);

#endif
