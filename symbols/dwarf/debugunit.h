/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_DEBUGUNIT_H
#define STACKTOP_SYMBOLS_DWARF_DEBUGUNIT_H

/* One compilation unit of debug information; for debuginfo.c only. */

#include <elfutils/libdw.h>

#include "symbols/dwarf/debuginfo.h"
#include "symbols/elf/elffile.h"
#include "symbols/dwarf/rangemap.h"

struct debugimage;
struct debugunit_bounds;
struct debugunit_function;
struct linetable;
struct diereader;

struct debugunit {	/* all zero but for die until it is loaded */
	Dwarf_Die die;	/* of the unit, or the skeleton of a split one */
	Dwarf_Die body; /* where the functions are */
	bool loaded;
	bool deep; /* functions inside of functions and types were read, too */
	struct rangemap ranges;
	struct debugunit_function *functions;
	uint32_t nfunctions, room;
	const char *dir; /* DW_AT_comp_dir */
	const struct debugunit_bounds *bounds;
	Dwarf_Addr base;	  /* its lists of ranges are relative to this address */
	struct diereader *reader; /* of the body; NULL: it cannot be read */
	struct linetable *lines;  /* NULL likewise */
	Dwarf_Files *files;	  /* of a split unit's body */
	size_t nfiles;
};

struct debugunit_bounds {
	uint64_t low, high; /* code is in [low, high): what the linker dropped is elsewhere */
	size_t size;	    /* bytes of all units, an upper limit of their entries */
	const atomic_bool *cancel; /* may be NULL */
	const char *path;	   /* of the file, NULL: unknown */
	struct debugimage *image;  /* that units are read from on demand; NULL: they were read */
	Dwarf *alternate;	   /* dwz's file with shared texts; NULL: none */
	uint64_t *text_left;	   /* as in diereader_string_ends, of all units together */
	size_t *bytes;		   /* grows by what the units hold */
	uid_t user;		   /* as in debuginfo_options */
	struct elf_section line, line_str, str, ranges, rnglists; /* size 0: there is none */
};

/*
 * Reads the functions of the unit. -ENOMEM; -ECANCELED. A unit that cannot be read has no
 * functions. The bounds are used until debugunit_free.
 */
int debugunit_load(struct debugunit *unit, const struct debugunit_bounds *bounds);
void debugunit_free(struct debugunit *unit);
/* As debuginfo_find, of a loaded unit. */
size_t debugunit_find(struct debugunit *unit, uint64_t vaddr,
		      struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX]);
/* As debuginfo_is_one_function. */
bool debugunit_is_one_function(struct debugunit *unit, uint64_t a, uint64_t b);

#endif
