/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_DIEREADER_H
#define STACKTOP_SYMBOLS_DWARF_DIEREADER_H

/*
 * The entries of a unit of .debug_info (DWARF 5 section 7.5), read one by one for where they and
 * their code are, and for nothing else; for debugunit.c only. What an entry says besides is libdw's
 * to tell.
 */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diereader;

enum diereader_code { /* what an entry says of its code */
		      DIEREADER_NONE,
		      DIEREADER_RANGE,	/* low and high are set */
		      DIEREADER_RANGES, /* a list at `ranges` in .debug_rnglists, or in
				      .debug_ranges before DWARF 5 */
		      DIEREADER_OTHER,	/* in a way that libdw is to be asked about */
};

struct diereader_entry {
	const uint8_t *at;
	const uint8_t *next;	/* behind it, where its children begin */
	const uint8_t *sibling; /* behind its children, NULL: it does not say */
	unsigned int tag;	/* 0: the end of a list of children */
	bool children;
	enum diereader_code code;
	uint64_t low, high;
	uint64_t ranges;
};

/*
 * unit: the first entry of a unit, valid as long as what is made of it. -ENOMEM; -EINVAL: broken,
 * or with unknown forms.
 */
int diereader_new(Dwarf_Die *unit, struct diereader **out);
void diereader_free(struct diereader *skim);
/* Bytes of memory held. */
size_t diereader_bytes(const struct diereader *skim);
unsigned int diereader_version(const struct diereader *skim);
/* First byte of the section; entries are known to libdw by their offset from there. */
const uint8_t *diereader_base(const struct diereader *skim);

/*
 * Behind the last byte of the section that holds the entry; NULL: it is not known. The section is
 * searched for among all.
 */
const uint8_t *diereader_section_end(Dwarf_Die *die);

/*
 * libdw does not look whether each text ends before its section does; die is whose text it is, and
 * alternate the file that dwz moved what is common to, or NULL. skim is of any unit, or NULL: most
 * texts are in the same sections. left: bytes that may still be looked at of texts of more than 64
 * KiB; when they are used up such a text counts as endless.
 */
bool diereader_string_ends(struct diereader *skim, Dwarf_Die *die, Dwarf *alternate,
			   const char *text, uint64_t *left);

/*
 * The entry at `at`, within the unit or just behind it, or the first behind it that is not dull:
 * that has children, ends a list, or is a function or an inlined call. False: there is none, or one
 * that cannot be read.
 */
bool diereader_read(const struct diereader *skim, const uint8_t *at, struct diereader_entry *entry);

#endif
