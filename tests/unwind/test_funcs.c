// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Function boundaries against those printed by readelf.
 * Covers: unwind/funcs.c
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/elf/elffile.h"
#include "tests/support/scratch.h"
#include "unwind/funcs.h"

static const char *const files[] = {
	"/proc/self/exe", "/usr/bin/readelf", "/usr/bin/perl", "/usr/bin/xz", "/bin/bash",
};

static struct funcs *load(const char *path)
{
	struct elf_file *file;
	struct funcs *f;

	assert_int_equal(elf_file_open(path, &file), 0);
	assert_int_equal(funcs_new(file, &f), 0);
	elf_file_free(file);
	return f;
}

/* Lines of readelf: "00000014 000000000000002c 00000018 FDE cie=00000000 pc=1060..1082". */
static unsigned int compare(const char *path)
{
	unsigned long long pc, end;
	struct funcs *f = load(path);
	char command[PATH_MAX + 64], line[PATH_MAX];
	uint64_t start;
	unsigned int n = 0;
	const char *at;
	FILE *out;

	if (!realpath(path, line))
		fail();
	snprintf(command, sizeof(command), "readelf -W --debug-dump=frames '%s' 2>/dev/null", line);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		at = strstr(line, " pc=");
		if (!at || sscanf(at, " pc=%llx..%llx", &pc, &end) != 2 || pc == end)
			continue;
		assert_true(funcs_find(f, pc, &start));
		assert_int_equal(start, pc);
		assert_true(funcs_find(f, pc + (end - pc) / 2, &start));
		assert_int_equal(start, pc);
		assert_true(funcs_find(f, end - 1, &start));
		assert_int_equal(start, pc);
		/* the next function begins here, or none is known here */
		if (funcs_find(f, end, &start))
			assert_int_equal(start, end);
		n++;
	}
	assert_int_equal(pclose(out), 0);
	assert_false(funcs_find(f, 0, &start));
	assert_false(funcs_find(f, UINT64_MAX, &start));
	assert_true(funcs_bytes(f) >= 8 * n && funcs_bytes(f) <= 8 * n + 4096);
	funcs_free(f);
	return n;
}

static void as_readelf(void **state)
{
	unsigned int checked = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!access(files[i], R_OK)) {
			unsigned int n = compare(files[i]);

			if (n < 5)
				fail_msg("readelf shows %u functions of %s", n, files[i]);
			checked++;
		}
	assert_true(checked >= 3);
}

static struct funcs *assemble(const char *code)
{
	char path[SCRATCH], command[512];
	struct funcs *f;

	close(scratch_file(path, "funcs"));
	snprintf(command, sizeof(command), "echo '%s' | gcc -shared -nostdlib -x assembler -o %s -",
		 code, path);
	assert_int_equal(system(command), 0);
	f = load(path);
	unlink(path);
	return f;
}

#define FUNCTION " .cfi_startproc; nop; nop; ret; .cfi_endproc; "

static void largest_gap(void **state)
{
	struct funcs *f = assemble(FUNCTION ".skip 40;" FUNCTION ".skip 5000;" FUNCTION FUNCTION
					    ".skip 300;" FUNCTION ".skip 9000");
	uint64_t gap[2], start;

	(void)state;
	funcs_gap(f, gap);
	assert_int_equal(gap[1] - gap[0], 5000);
	assert_false(funcs_find(f, gap[0], &start));
	assert_true(funcs_find(f, gap[0] - 1, &start));
	assert_int_equal(start, gap[0] - 3);
	assert_true(funcs_find(f, gap[1], &start));
	assert_int_equal(start, gap[1]);
	funcs_free(f);
	f = assemble(FUNCTION FUNCTION);
	funcs_gap(f, gap);
	assert_int_equal(gap[0], 0);
	assert_int_equal(gap[1], 0);
	funcs_free(f);
}

/* Of three with a gap behind each; the gap in the middle is known. */
static void reach_of_a_function(void **state)
{
	struct funcs *f = assemble(FUNCTION ".skip 40;" FUNCTION ".skip 500;" FUNCTION ".skip 9");
	uint64_t gap[2], first;

	(void)state;
	funcs_gap(f, gap);
	assert_int_equal(gap[1] - gap[0], 500);
	first = gap[0] - 46;
	assert_true(funcs_reaches(f, first, first + 2));
	assert_true(funcs_reaches(f, first + 1, first + 2));
	assert_false(funcs_reaches(f, first, first + 3)); /* it ends */
	assert_true(funcs_reaches(f, first + 3, first + 42));
	assert_false(funcs_reaches(f, first + 3, first + 43)); /* the next one begins */
	assert_true(funcs_reaches(f, gap[0], gap[1] - 1));
	assert_false(funcs_reaches(f, gap[0], gap[1] + 100));
	assert_true(funcs_reaches(f, gap[1] + 3, gap[1] + 3000));
	assert_true(funcs_reaches(f, first - 10, first - 1));
	assert_false(funcs_reaches(f, first - 10, first));
	funcs_free(f);
	f = assemble("");
	assert_true(funcs_reaches(f, 1, UINT64_MAX));
	funcs_free(f);
}

static void nothing_known(void **state)
{
	struct funcs *f = assemble("");
	uint64_t start, gap[2];

	(void)state;
	funcs_gap(f, gap);
	assert_int_equal(gap[1], 0);
	assert_false(funcs_find(f, 0, &start));
	assert_false(funcs_find(f, 4096, &start));
	funcs_free(f);
	funcs_free(NULL);
	assert_int_equal(funcs_bytes(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_readelf),
		cmocka_unit_test(largest_gap),
		cmocka_unit_test(reach_of_a_function),
		cmocka_unit_test(nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
