/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_DIEREADER_H
#define STACKTOP_SYMBOLS_DWARF_DIEREADER_H

/*
 * Reads the entries of a unit of .debug_info (DWARF 5 section 7.5) one by one, for where they and
 * their code are; for debugunit.c and debugtree.c. Everything else about an entry is asked of
 * libdw.
 */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diereader;

enum diereader_code { /* how an entry describes its code */
		      DIEREADER_NONE,
		      DIEREADER_RANGE,	/* low and high are set */
		      DIEREADER_RANGES, /* a list at `ranges` in .debug_rnglists, or in
				      .debug_ranges before DWARF 5 */
		      DIEREADER_OTHER,	/* in a way that libdw has to decode */
};

struct diereader_entry {
	const uint8_t *at;
	const uint8_t *next;	/* behind it, where its children begin */
	const uint8_t *sibling; /* behind its children; NULL: not known */
	unsigned int tag;	/* 0: the end of a list of children */
	bool children;
	enum diereader_code code;
	uint64_t low, high;
	uint64_t ranges;
};

/*
 * unit: the first entry of a unit, which must outlive the reader. -ENOMEM; -EINVAL: broken, or with
 * unknown forms.
 */
int diereader_new(Dwarf_Die *unit, struct diereader **out);
void diereader_free(struct diereader *reader);
/* Bytes of memory held. */
size_t diereader_bytes(const struct diereader *reader);
unsigned int diereader_version(const struct diereader *reader);
/* First byte of the section; libdw knows entries by their offset from there. */
const uint8_t *diereader_base(const struct diereader *reader);

/*
 * Behind the last byte of the section that contains the entry; NULL: unknown. All sections are
 * searched.
 */
const uint8_t *diereader_section_end(Dwarf_Die *die);

/*
 * True if the text ends before its section does, which libdw does not check. die: the entry that
 * has the text; alternate: the file that dwz moved shared texts to, or NULL. reader: of any unit,
 * or NULL; most texts are in the same sections. left: bytes that may still be searched in texts of
 * more than 64 KiB; once they are used up, such a text counts as endless.
 */
bool diereader_string_ends(struct diereader *reader, Dwarf_Die *die, Dwarf *alternate,
			   const char *text, uint64_t *left);

/*
 * Reads the entry at `at`, within the unit or just behind it, or the first one behind it that has
 * children, ends a list, or is a function or an inlined call. False: there is none, or it cannot be
 * read.
 */
bool diereader_read(const struct diereader *reader, const uint8_t *at,
		    struct diereader_entry *entry);

#endif
