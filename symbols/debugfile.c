/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link from a stripped file to its symbols. The build-id is the only link that is followed: a
 * path taken from the file (.gnu_debuglink) would be the path of another mount namespace.
 */
#include "symbols/debugfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "symbols/elffile.h"

int debugfile_open(const struct elf_file *file, const char *debug_root, struct elf_file **out)
{
	uint8_t id[BUILD_ID_MAX], other[BUILD_ID_MAX];
	char hex[2 * BUILD_ID_MAX + 1], path[PATH_MAX];
	size_t length = elf_file_build_id(file, id), i;
	struct elf_file *debug;
	int n, err;

	if (length < 2)
		return -ENOENT;
	for (i = 0; i < length; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	n = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", debug_root, hex, hex + 2);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	err = elf_file_open(path, &debug);
	if (err)
		return err;
	if (elf_file_build_id(debug, other) != length || memcmp(id, other, length) ||
	    elf_file_machine(debug) != elf_file_machine(file)) {
		elf_file_free(debug);
		return -ENOENT;
	}
	*out = debug;
	return 0;
}
