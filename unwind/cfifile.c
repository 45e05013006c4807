// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the CFI sections of a file, and for each address the one that counts: .eh_frame first, by
 * which the program itself unwinds, as in elfutils and gdb.
 */
#include "unwind/cfifile.h"

#include <string.h>
#include <sys/stat.h>

#include "symbols/base/grow.h"
#include "symbols/elf/elffile.h"
#include "symbols/base/limits.h"

/*
 * -ENOENT when the section does not exist or describes no function. *left: bytes that may be read.
 */
static int read_section(const struct elf_file *file, const char *name, uint64_t *left,
			struct cfi_section *out, struct cfi *cfi)
{
	struct elf_section section, other;
	int err = elf_file_section_within(file, name, left, &section);

	if (err)
		return err;
	*out = (struct cfi_section){
		.data = section.data,
		.size = section.size,
		.addr = section.addr,
		.eh_frame = !strcmp(name, ".eh_frame"),
		.work = elf_file_work(file),
	};
	/*
	 * The slot that an indirect pointer names is filled by relocation, so it is not read. No
	 * linker for x86-64 writes text-relative pointers, but PHP and LuaJIT do for code made at
	 * run time.
	 */
	if (!elf_file_section_header(file, elf_file_section_index(file, ".text"), &other))
		out->text = other.addr;
	if (!elf_file_section_header(file, elf_file_section_index(file, ".got.plt"), &other) ||
	    !elf_file_section_header(file, elf_file_section_index(file, ".got"), &other))
		out->got = other.addr;
	err = cfi_read(out, cfi);
	if (!err && !cfi->nfdes && !cfi->bad_fdes)
		err = -ENOENT;
	if (err)
		out->size = 0;
	return err;
}

/* Where FDE i of a sorted list without duplicates ends. */
static uint64_t fde_end(const struct cfi *cfi, uint32_t i)
{
	const struct cfi_fde *fde = &cfi->fdes[i];

	if (i + 1 < cfi->nfdes && cfi_from(fde + 1) < fde->end)
		return cfi_from(fde + 1);
	return fde->end;
}

int cfi_gaps(const struct cfi *cfi, const struct cfi *more, struct cfi *out)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < more->nfdes; i++) {
		struct cfi_fde part = more->fdes[i];
		uint64_t from = cfi_from(&part), end = fde_end(more, i);

		while (at < cfi->nfdes && fde_end(cfi, at) <= from)
			at++;
		for (uint32_t j = at; from < end; j++) {
			part.skip = from - part.start;
			part.end = end;
			if (j < cfi->nfdes && cfi_from(&cfi->fdes[j]) < end)
				part.end = cfi_from(&cfi->fdes[j]);
			if (part.end > from && cfi_append(out, &part))
				return -ENOMEM;
			if (part.end == end)
				break;
			from = fde_end(cfi, j) > from ? fde_end(cfi, j) : from;
		}
	}
	return 0;
}

/* Adds the CIEs of more, and the FDEs of the list, which refer to them. */
static int cfi_join(struct cfi *cfi, const struct cfi *more, const struct cfi *list)
{
	const uint32_t first = cfi->ncies;

	if (GROW_TO(cfi->cies, (size_t)first + more->ncies, cfi->cies_room, UINT32_MAX) ||
	    GROW_TO(cfi->fdes, (size_t)cfi->nfdes + list->nfdes, cfi->fdes_room, UINT32_MAX))
		return -ENOMEM;
	for (uint32_t i = 0; i < more->ncies; i++) {
		cfi->cies[cfi->ncies] = more->cies[i];
		cfi->cies[cfi->ncies++].section = CFI_DEBUG_FRAME;
	}
	for (uint32_t i = 0; i < list->nfdes; i++) {
		cfi->fdes[cfi->nfdes] = list->fdes[i];
		cfi->fdes[cfi->nfdes++].cie += first;
	}
	return 0;
}

void cfi_unique(struct cfi *cfi)
{
	uint32_t kept = 0;

	cfi_sort(cfi);
	for (uint32_t i = 0; i < cfi->nfdes; i++)
		if (!kept || cfi_from(&cfi->fdes[kept - 1]) != cfi_from(&cfi->fdes[i]))
			cfi->fdes[kept++] = cfi->fdes[i];
	cfi->nfdes = kept;
}

static int cfi_merge(struct cfi *cfi, struct cfi *more, struct cfi_section *section)
{
	struct cfi list = {0};
	int err;

	cfi_unique(cfi);
	cfi_unique(more);
	err = cfi_gaps(cfi, more, &list);
	if (!err && list.nfdes)
		err = cfi_join(cfi, more, &list);
	if (!list.nfdes)
		section->size = 0;
	cfi->bad_fdes += more->bad_fdes;
	cfi->empty_fdes += more->empty_fdes;
	cfi_free(&list);
	return err;
}

/* Twice the file's size and 1 MiB at most: more CFI was compressed, which small files do not need.
 */
uint64_t cfi_limit(const struct elf_file *file)
{
	struct stat st;
	uint64_t size = LIMIT_CFI;

	if (elf_file_fd(file) >= 0 && !fstat(elf_file_fd(file), &st))
		size = 2 * (uint64_t)st.st_size + LIMIT_MIB(1);
	return size < LIMIT_CFI ? size : LIMIT_CFI;
}

int cfi_file_read(const struct elf_file *file, struct cfi_section sections[CFI_SECTIONS],
		  struct cfi *cfi)
{
	const uint64_t limit = cfi_limit(file);
	uint64_t left = limit;
	struct cfi more = {0};
	int err, debug;

	memset(cfi, 0, sizeof(*cfi));
	memset(sections, 0, CFI_SECTIONS * sizeof(*sections));
	err = read_section(file, ".eh_frame", &left, &sections[CFI_EH_FRAME], cfi);
	if (err && err != -ENOENT)
		return err;
	debug = read_section(file, ".debug_frame", &left, &sections[CFI_DEBUG_FRAME], &more);
	if (debug == -ENOENT) {
		cfi_free(&more);
		debug = read_section(file, ".zdebug_frame", &left, &sections[CFI_DEBUG_FRAME],
				     &more);
	}
	if (!debug)
		debug = cfi_merge(cfi, &more, &sections[CFI_DEBUG_FRAME]);
	cfi_free(&more);
	cfi->bytes = limit - left;
	/* A broken .debug_frame must not cost a sound .eh_frame. */
	if (debug == -ENOMEM || debug == -ECANCELED || (err && debug != -ENOENT))
		return debug;
	return 0;
}
