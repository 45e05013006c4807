// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/shell.h"

static char made[SCRATCH];

static void template(char path[SCRATCH], const char *name)
{
	const char *place = getenv("TMPDIR");
	int n = snprintf(path, SCRATCH, "%s/%s.XXXXXX", place && *place ? place : "/tmp", name);

	if (n >= SCRATCH)
		n = snprintf(path, SCRATCH, "/tmp/%s.XXXXXX", name);
	assert_in_range(n, 1, SCRATCH - 1);
}

void scratch_folder(char path[SCRATCH], const char *name)
{
	template(path, name);
	assert_non_null(mkdtemp(path));
	memcpy(made, path, SCRATCH);
}

int scratch_remove(void **state)
{
	(void)state;
	must("cd / && rm -r %s", made);
	return 0;
}

int scratch_file(char path[SCRATCH], const char *name)
{
	int fd;

	template(path, name);
	fd = mkostemp(path, O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

void *scratch_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	void *bytes;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}
