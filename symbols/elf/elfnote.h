/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_ELFNOTE_H
#define STACKTOP_SYMBOLS_ELF_ELFNOTE_H

/*
 * The build-id among the notes of an ELF file ("Note Section" in the ELF specification). Each place
 * of notes is one read, and at most ELFNOTE_BYTES of it are looked at, ELFNOTE_PLACES places a
 * file: real files have four, and of some hundred bytes.
 */

#include <stddef.h>
#include <stdint.h>

#include "symbols/base/bytes.h"

#define ELFNOTE_PLACES 16u
#define ELFNOTE_BYTES  65536u
#define ELFNOTE_ID_MAX 64u

struct elfnote_place { /* a PT_NOTE or an SHT_NOTE */
	uint64_t offset;
	uint64_t size;
	uint64_t align; /* p_align: names and descriptions begin at multiples of 8, if it is 8 */
};

/* Bytes of the first build-id that were copied to id; 0: there is none, or it cannot be read. */
size_t elfnote_build_id(const struct bytes *bytes, const struct elfnote_place *place,
			uint8_t id[ELFNOTE_ID_MAX]);

#endif
