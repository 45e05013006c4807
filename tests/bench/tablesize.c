/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints for each file: bytes of its call frame information, bytes of the table made of it, rows
 * in it, and milliseconds to make it.
 */
#include <stdio.h>
#include <time.h>

#include "symbols/elffile.h"
#include "unwind/table.h"
#include "unwind/wide.h"

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int measure(const char *path)
{
	struct wide_rules *wide = wide_rules_new();
	struct unwind_table *table = NULL;
	struct elf_file *file = NULL;
	double start = now_ms();
	unsigned int rules = 0;
	int err = wide ? elf_file_open(path, &file) : -1;

	if (!err)
		err = unwind_table_build(file, wide, &table);
	if (err) {
		fprintf(stderr, "tablesize: %s: error %d\n", path, err);
	} else {
		wide_rules_all(wide, &rules);
		printf("%s %llu %llu %u %.1f\n", path, (unsigned long long)table->cfi_bytes,
		       (unsigned long long)table->nwords * sizeof(*table->words) +
			       rules * sizeof(struct wide_rule),
		       table->nrows, now_ms() - start);
	}
	unwind_table_free(table);
	elf_file_free(file);
	wide_rules_free(wide);
	return err;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= measure(argv[i]) != 0;
	return failed;
}
