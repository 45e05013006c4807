// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libelf has a list of the pieces that it was asked for, and goes through all of it for each: a
 * file of 65,535 note segments, which costs its owner 4 MB, took it two minutes. So the notes are
 * read here.
 */
#include "symbols/elf/elfnote.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* The length of a part with its padding. Sizes are 32 bits, so nothing wraps. */
static uint64_t padded(uint64_t at, uint64_t align)
{
	return (at + align - 1) & ~(align - 1);
}

static size_t find_build_id(const uint8_t *notes, size_t size, uint64_t align,
			    uint8_t id[ELFNOTE_ID_MAX])
{
	uint64_t at = 0, desc;
	Elf64_Nhdr note;

	while (at <= size && size - at >= sizeof(note)) {
		memcpy(&note, notes + at, sizeof(note));
		desc = padded(at + sizeof(note) + note.n_namesz, align);
		if (desc > size || note.n_descsz > size - desc)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + at + sizeof(note), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) &&
		    note.n_descsz && note.n_descsz <= ELFNOTE_ID_MAX) {
			memcpy(id, notes + desc, note.n_descsz);
			return note.n_descsz;
		}
		at = padded(desc + note.n_descsz, align);
	}
	return 0;
}

size_t elfnote_build_id(const struct bytes *bytes, const struct elfnote_place *place,
			uint8_t id[ELFNOTE_ID_MAX])
{
	size_t size = place->size < ELFNOTE_BYTES ? (size_t)place->size : ELFNOTE_BYTES, length = 0;
	uint8_t *notes = size ? malloc(size) : NULL;

	if (notes && !bytes_read(bytes, place->offset, notes, size))
		length = find_build_id(notes, size, place->align == 8 ? 8 : 4, id);
	free(notes);
	return length;
}
