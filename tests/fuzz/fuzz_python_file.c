/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A byte with a name and an ELF image of any shape: what is found of CPython in it may be used.
 * Covers: symbols/runtime/python_file.c
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#include "symbols/elf/elffile.h"
#include "symbols/runtime/python_file.h"
#include "symbols/runtime/python_offsets.h"

static void check(const struct python_file *p, int found)
{
	require(found == (p->runtime && p->type));
	for (int i = 0; i < 2; i++)
		require(p->eval[i][0] ? p->eval[i][0] < p->eval[i][1] : !p->eval[i][1]);
	require(!p->err || p->err == -ENOTSUP || p->err == -EINVAL);
	require(python_layout_is_sane(&p->layout) == (found && !p->err));
}

static int take_input(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"libpython3.8.so.1.0", "python3.10", "libpython3.12.so",
					    "other"};
	const char *name = names[fuzz_u8(&data, &size) % 4];
	uint8_t *image = fuzz_copy(data, size);
	struct python_file found;
	struct elf_file *file;

	if (!elf_file_open_memory(image, size, &file)) {
		int is = python_file_read(file, name, &found);

		check(&found, is);
		elf_file_free(file);
	}
	free(image);
	return 0;
}

FUZZ_TARGET(take_input, 16u << 20, 1024)
