/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints for each file: bytes of its call frame information, bytes of its table, rows of the
 * table, and milliseconds of CPU to build it. With -t prints only one line, `total`, for all ELF
 * files with CFI below the directories: the same, the number of files, and the bytes of the wide
 * rules, which the tables share.
 */
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "symbols/elf/elffile.h"
#include "unwind/table.h"
#include "unwind/wide.h"

struct total {
	struct wide_rules *wide;
	unsigned long long cfi, table, rows, files;
	double ms;
};

static struct total total; /* nftw passes no argument of the caller's */

/* CPU time of this thread, free of other work on the machine. */
static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static unsigned long long wide_bytes(const struct wide_rules *wide)
{
	unsigned int rules;

	wide_rules_all(wide, &rules);
	return rules * sizeof(struct wide_rule);
}

static int measure(const char *path)
{
	struct wide_rules *wide = wide_rules_new();
	struct unwind_table *table = NULL;
	struct elf_file *file = NULL;
	double start = now_ms();
	int err = wide ? elf_file_open(path, &file) : -1;

	if (!err)
		err = unwind_table_build(file, wide, &table);
	if (err)
		fprintf(stderr, "tablesize: %s: error %d\n", path, err);
	else
		printf("%s %llu %llu %u %.1f\n", path, (unsigned long long)table->cfi_bytes,
		       (unsigned long long)table->nwords * sizeof(*table->words) + wide_bytes(wide),
		       table->nrows, now_ms() - start);
	unwind_table_free(table);
	elf_file_free(file);
	wide_rules_free(wide);
	return err;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct unwind_table *table = NULL;
	struct elf_file *file = NULL;
	double start = now_ms();

	(void)ftw;
	if (type != FTW_F || !S_ISREG(st->st_mode) || elf_file_open(path, &file) < 0)
		return 0;
	if (unwind_table_build(file, total.wide, &table) == 0 && table->cfi_bytes) {
		total.files++;
		total.ms += now_ms() - start;
		total.cfi += table->cfi_bytes;
		total.table += (unsigned long long)table->nwords * sizeof(*table->words);
		total.rows += table->nrows;
	}
	unwind_table_free(table);
	elf_file_free(file);
	return 0;
}

static int measure_total(int count, char **paths)
{
	int failed = 0;

	total.wide = wide_rules_new();
	if (!total.wide)
		return 1;
	for (int i = 0; i < count; i++)
		if (nftw(paths[i], visit, 32, FTW_PHYS) < 0) {
			perror(paths[i]);
			failed = 1;
		}
	printf("total %llu %llu %llu %.1f %llu %llu\n", total.cfi,
	       total.table + wide_bytes(total.wide), total.rows, total.ms, total.files,
	       wide_bytes(total.wide));
	wide_rules_free(total.wide);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc > 1 && !strcmp(argv[1], "-t"))
		return measure_total(argc - 2, argv + 2);
	for (int i = 1; i < argc; i++)
		failed |= measure(argv[i]) != 0;
	return failed;
}
