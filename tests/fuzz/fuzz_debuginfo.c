/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF image with DWARF of any shape: chains are bounded, and every string in them can be read to
 * its end. Every other image is a file, from which debugimage.c makes another image.
 * Covers: symbols/dwarf/debuginfo.c symbols/dwarf/debugimage.c symbols/dwarf/debugunit.c
 * Covers: symbols/dwarf/debugtree.c symbols/dwarf/diereader.c
 * Covers: symbols/dwarf/linetable.c symbols/dwarf/lineprogram.c tui/symbolize/inline_chain.c
 */
#include "fuzz.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/dwarf/debuginfo.h"
#include "symbols/elf/elffile.h"
#include "tui/symbolize/inline_chain.h"

#define LIMIT ((size_t)16 << 20)

static void look_up(struct debuginfo *info, uint64_t vaddr)
{
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];
	size_t count = debuginfo_find(info, vaddr, frames), length = 0;
	struct inline_chain *calls;

	require(count <= DEBUGINFO_FRAMES_MAX);
	for (size_t i = 0; i < count; i++) {
		length += frames[i].name ? strlen(frames[i].name) : 0;
		length += frames[i].file ? strlen(frames[i].file) : 0;
		length += frames[i].dir ? strlen(frames[i].dir) : 0;
	}
	require(length < SIZE_MAX);
	if (inline_chain_read(info, vaddr, vaddr & ~63ull, &calls))
		return;
	require((calls != NULL) == (count != 0) && (!calls || calls->count == count));
	free(calls);
}

static int open_any(const uint8_t *image, size_t size, struct elf_file **out)
{
	int fd, err;

	if (size % 2)
		return elf_file_open_memory(image, size, out);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, image, size) == (ssize_t)size);
	err = elf_file_open_fd(fd, out);
	close(fd);
	return err;
}

static int take_input(const uint8_t *data, size_t size)
{
	struct debuginfo_options options = {.limit = LIMIT};
	const struct elf_load *loads;
	uint64_t starts[16], sizes[16];
	struct debuginfo *info;
	struct elf_file *file;
	size_t count, i;
	uint8_t *image;

	image = fuzz_copy(data, size);
	if (open_any(image, size, &file)) {
		free(image);
		return 0;
	}
	loads = elf_file_loads(file, &count);
	if (count > 16)
		count = 16;
	for (i = 0; i < count; i++) {
		starts[i] = loads[i].vaddr;
		sizes[i] = loads[i].memsz;
	}
	if (!debuginfo_new(file, &options, &info)) {
		for (i = 0; i < count; i++)
			for (uint64_t step = 0; step < 64; step++)
				look_up(info, starts[i] + sizes[i] / 64 * step);
		look_up(info, 0);
		look_up(info, UINT64_MAX);
		require(debuginfo_bytes(info) > 0);
		debuginfo_free(info);
	}
	free(image);
	return 0;
}

FUZZ_TARGET(take_input, 8u << 20, 1024)
