// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which of a file's sections is its CFI.
 */
#include "unwind/cfifile.h"

#include <errno.h>
#include <string.h>

#include "symbols/elffile.h"

/* -ENOENT when the section does not exist or describes no function. */
static int read_section(const struct elf_file *file, const char *name, struct cfi_section *out,
			struct cfi *cfi)
{
	struct elf_section section, other;
	int err = elf_file_section(file, name, &section);

	if (err)
		return err;
	*out = (struct cfi_section){
		.data = section.data,
		.size = section.size,
		.addr = section.addr,
		.eh_frame = !strcmp(name, ".eh_frame"),
	};
	/*
	 * The slot that an indirect pointer names is filled by relocation, so it is not read. No
	 * x86-64 tool writes text-relative pointers, and to learn the address of .text means to
	 * load it: tens of megabytes.
	 */
	if (!elf_file_section(file, ".got.plt", &other) || !elf_file_section(file, ".got", &other))
		out->got = other.addr;
	err = cfi_read(out, cfi);
	if (!err && !cfi->nfdes && !cfi->bad_fdes)
		err = -ENOENT;
	return err;
}

int cfi_file_read(const struct elf_file *file, struct cfi_section *section, struct cfi *cfi)
{
	int err;

	memset(cfi, 0, sizeof(*cfi));
	memset(section, 0, sizeof(*section));
	/* crtend.o leaves an .eh_frame with a terminator only where the CFI is in .debug_frame. */
	err = read_section(file, ".eh_frame", section, cfi);
	if (err == -ENOENT) {
		cfi_free(cfi);
		err = read_section(file, ".debug_frame", section, cfi);
	}
	if (err == -ENOENT) {
		cfi_free(cfi);
		section->size = 0;
		err = 0;
	}
	return err;
}
