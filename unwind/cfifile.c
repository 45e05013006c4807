// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the CFI sections of a file, and for each address the one that counts: .eh_frame first, by
 * which the program itself unwinds, as in elfutils and gdb.
 */
#include "unwind/cfifile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
	 * x86-64 tool writes text-relative pointers.
	 */
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

static int read_debug_frame(const struct elf_file *file, uint64_t *left, struct cfi_section *out,
			    struct cfi *cfi)
{
	int err = read_section(file, ".debug_frame", left, out, cfi);

	if (err == -ENOENT) {
		cfi_free(cfi);
		err = read_section(file, ".zdebug_frame", left, out, cfi);
	}
	return err;
}

/* A growing list of FDEs. */
struct fdes {
	struct cfi_fde *list;
	uint32_t count;
	uint32_t room;
};

static int fdes_add(struct fdes *to, const struct cfi_fde *fde, uint64_t from, uint64_t end)
{
	if (to->count == to->room) {
		uint32_t room = to->room ? 2 * to->room : 256;
		struct cfi_fde *list;

		if (room < to->room)
			return -ENOMEM;
		list = realloc(to->list, (size_t)room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		to->list = list;
		to->room = room;
	}
	to->list[to->count] = *fde;
	to->list[to->count].skip = from - fde->start;
	to->list[to->count++].end = end;
	return 0;
}

/* Where FDE i of a sorted list without duplicates ends. */
static uint64_t fde_end(const struct cfi *cfi, uint32_t i)
{
	const struct cfi_fde *fde = &cfi->fdes[i];

	if (i + 1 < cfi->nfdes && cfi_from(fde + 1) < fde->end)
		return cfi_from(fde + 1);
	return fde->end;
}

/* Appends the FDEs of `more` for addresses that `cfi` does not cover. Both are sorted. */
static int fdes_gaps(const struct cfi *cfi, const struct cfi *more, struct fdes *out)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < more->nfdes; i++) {
		const struct cfi_fde *fde = &more->fdes[i];
		uint64_t from = cfi_from(fde), end = fde_end(more, i);

		while (at < cfi->nfdes && fde_end(cfi, at) <= from)
			at++;
		for (uint32_t j = at; from < end; j++) {
			uint64_t limit = end;
			int err = 0;

			if (j < cfi->nfdes && cfi_from(&cfi->fdes[j]) < end)
				limit = cfi_from(&cfi->fdes[j]);
			if (limit > from)
				err = fdes_add(out, fde, from, limit);
			if (err)
				return err;
			if (limit == end)
				break;
			from = fde_end(cfi, j) > from ? fde_end(cfi, j) : from;
		}
	}
	return 0;
}

/* Appends the CIEs of more, and the FDEs of the list, which refer to them. */
static int cfi_append(struct cfi *cfi, const struct cfi *more, const struct fdes *list)
{
	size_t ncies = (size_t)cfi->ncies + more->ncies;
	size_t nfdes = (size_t)cfi->nfdes + list->count;
	struct cfi_cie *cies;
	struct cfi_fde *fdes;

	if (ncies > UINT32_MAX || nfdes > UINT32_MAX)
		return -EINVAL;
	cies = realloc(cfi->cies, ncies * sizeof(*cies));
	if (!cies)
		return -ENOMEM;
	cfi->cies = cies;
	fdes = realloc(cfi->fdes, nfdes * sizeof(*fdes));
	if (!fdes)
		return -ENOMEM;
	cfi->fdes = fdes;
	memcpy(cies + cfi->ncies, more->cies, more->ncies * sizeof(*cies));
	memcpy(fdes + cfi->nfdes, list->list, list->count * sizeof(*fdes));
	for (size_t i = cfi->ncies; i < ncies; i++)
		cies[i].section = CFI_DEBUG_FRAME;
	for (size_t i = cfi->nfdes; i < nfdes; i++)
		fdes[i].cie += cfi->ncies;
	cfi->ncies = (uint32_t)ncies;
	cfi->nfdes = (uint32_t)nfdes;
	return 0;
}

/* Of several FDEs with one start the first counts. */
static void cfi_unique(struct cfi *cfi)
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
	struct fdes list = {0};
	int err;

	cfi_unique(cfi);
	cfi_unique(more);
	err = fdes_gaps(cfi, more, &list);
	if (!err && list.count)
		err = cfi_append(cfi, more, &list);
	if (!list.count)
		section->size = 0;
	cfi->bad_fdes += more->bad_fdes;
	cfi->empty_fdes += more->empty_fdes;
	free(list.list);
	return err;
}

/* Sections that are compressed to less than half of their size are not those of a small file. */
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
	debug = read_debug_frame(file, &left, &sections[CFI_DEBUG_FRAME], &more);
	if (!debug)
		debug = cfi_merge(cfi, &more, &sections[CFI_DEBUG_FRAME]);
	cfi_free(&more);
	cfi->bytes = limit - left;
	/* A broken .debug_frame must not cost a sound .eh_frame. */
	if (debug == -ENOMEM || debug == -ECANCELED || (err && debug != -ENOENT))
		return debug;
	return 0;
}
