/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names FILE       for each hexadecimal address on stdin a line `NAME OFFSET`, the symbol as it is
 *                  in the file and hexadecimal bytes from its start, or `?`: for the tests that
 *                  compare with other tools
 * names -t FILE... what each file's table costs, with the names of 1,000 functions all over it,
 * while the tables of those before are kept
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/elffile.h"
#include "symbols/names/symtab.h"

static int open_table(const char *path, struct symtab **table, uint64_t *from, uint64_t *size)
{
	const struct debug_place place = {.root = -1, .folder = "/usr/lib/debug"};
	const struct elf_load *loads;
	struct elf_file *file;
	size_t count;
	int err = elf_file_open(path, &file);

	if (err)
		return err;
	err = symtab_new(file, &place, table);
	loads = elf_file_loads(file, &count);
	*from = *size = 0;
	for (size_t i = 0; i < count; i++) {
		if (!loads[i].exec || loads[i].memsz < *size)
			continue;
		*from = loads[i].vaddr;
		*size = loads[i].memsz;
	}
	elf_file_free(file);
	return err;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Kilobytes now, and at most. */
static void resident(long *now, long *most)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128];

	while (status && fgets(line, sizeof(line), status)) {
		sscanf(line, "VmRSS: %ld", now);
		sscanf(line, "VmHWM: %ld", most);
	}
	if (status)
		fclose(status);
}

/* The table is left as it is. */
static void measure(const char *path)
{
	double start = cpu_ms(), built;
	long now = 0, most = 0;
	unsigned int found = 0;
	uint64_t from, size;
	struct symtab *table;
	struct symbol symbol;

	if (open_table(path, &table, &from, &size)) {
		printf("%s: no table\n", path);
		return;
	}
	built = cpu_ms();
	for (unsigned int i = 0; i < 1000; i++)
		found += !symtab_find(table, from + size / 1000 * i, &symbol);
	resident(&now, &most);
	printf("%.1f ms table, %.1f ms %u names; %zu functions, %zu bytes; resident %.1f MiB, "
	       "at most %.1f: %s\n",
	       built - start, cpu_ms() - built, found, symtab_count(table), symtab_bytes(table),
	       (double)now / 1024, (double)most / 1024, path);
}

int main(int argc, char **argv)
{
	struct symtab *table;
	struct symbol symbol;
	uint64_t addr, from, size;

	if (argc > 2 && !strcmp(argv[1], "-t")) {
		for (int i = 2; i < argc; i++)
			measure(argv[i]);
		return 0;
	}
	if (argc != 2 || open_table(argv[1], &table, &from, &size))
		return 1;
	while (scanf("%" SCNx64, &addr) == 1) {
		if (symtab_find(table, addr, &symbol))
			puts("?");
		else
			printf("%s %" PRIx64 "\n", symbol.name, addr - symbol.start);
	}
	symtab_free(table);
	return 0;
}
