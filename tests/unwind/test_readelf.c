// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every row of real files against `readelf --debug-dump=frames-interp`: --dump-unwind's line for a
 * row's first and last byte must equal the result of binutils' interpreter, and between two
 * functions it must be `end`. The dump is decoded from the compact table, so that tests the
 * packing, too.
 * Covers: unwind/table.c unwind/cfa.c unwind/ehframe.c unwind/dump.c
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/elf/elffile.h"
#include "tests/support/scratch.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define COLUMNS_MAX 40
#define CIES_MAX    1024

struct line {
	uint64_t pc;
	const char *cfa, *fp, *ra;
};

struct listing {
	char *text;
	struct line *lines;
	size_t count;
};

static void listing_parse(struct listing *l)
{
	size_t room = 0;
	char *save = NULL;

	for (char *s = strtok_r(l->text, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		char *columns = NULL;

		if (l->count == room) {
			room = room ? 2 * room : 1024;
			l->lines = realloc(l->lines, room * sizeof(*l->lines));
			assert_non_null(l->lines);
		}
		l->lines[l->count].pc = strtoull(strtok_r(s, "\t", &columns), NULL, 16);
		l->lines[l->count].cfa = strtok_r(NULL, "\t", &columns);
		l->lines[l->count].fp = strtok_r(NULL, "\t", &columns);
		l->lines[l->count].ra = strtok_r(NULL, "\t", &columns);
		assert_non_null(l->lines[l->count].ra);
		assert_true(!l->count || l->lines[l->count].pc > l->lines[l->count - 1].pc);
		l->count++;
	}
}

static void listing_free(struct listing *l)
{
	free(l->lines);
	free(l->text);
}

struct soon {
	const struct wide_rules *wide;
	struct listing listing;
};

static void listing_dump(struct listing *l, const struct unwind_table *table,
			 const struct wide_rules *wide)
{
	size_t size;
	FILE *out = open_memstream(&l->text, &size);

	assert_non_null(out);
	assert_int_equal(unwind_table_dump(table, wide, out), 0);
	fclose(out);
	listing_parse(l);
}

static void take_soon(void *arg, const struct unwind_table *table)
{
	struct soon *soon = arg;

	assert_null(soon->listing.text);
	listing_dump(&soon->listing, table, soon->wide);
}

static const struct line *listing_at(const struct listing *l, uint64_t pc);

/* What comes before the rest of a large file is right: nothing but rows of other code is missing.
 */
static void check_soon(const struct soon *soon, const struct listing *all, uint64_t cfi_bytes)
{
	const struct listing *l = &soon->listing;

	assert_int_equal(l->count != 0, cfi_bytes >= 256 << 10);
	for (size_t i = 0; i < l->count; i++) {
		const struct line *line = &l->lines[i], *at = listing_at(all, line->pc);

		if (!strcmp(line->cfa, "end"))
			continue;
		assert_string_equal(line->cfa, at->cfa);
		assert_string_equal(line->fp, at->fp);
		assert_string_equal(line->ra, at->ra);
	}
}

static void listing_new(struct listing *l, const char *path)
{
	struct wide_rules *wide = wide_rules_new();
	struct soon found = {.wide = wide};
	const struct unwind_soon soon = {take_soon, &found};
	struct unwind_table *table;
	struct elf_file *file;

	memset(l, 0, sizeof(*l));
	assert_non_null(wide);
	assert_int_equal(elf_file_open(path, &file), 0);
	assert_int_equal(unwind_table_build_soon(file, wide, &soon, &table), 0);
	assert_int_equal(table->bad_fdes, 0);
	listing_dump(l, table, wide);
	check_soon(&found, l, table->cfi_bytes);
	listing_free(&found.listing);
	unwind_table_free(table);
	wide_rules_free(wide);
	elf_file_free(file);
}

static const struct line *listing_at(const struct listing *l, uint64_t pc)
{
	static const struct line none = {0, "end", "-", "-"};
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->lines[middle].pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &l->lines[low - 1] : &none;
}

/* --- readelf ------------------------------------------------------------------------------- */

struct columns {
	char cfa[32], fp[32], ra[32];
};

struct reading {
	const char *path;
	const struct listing *ours;
	uint64_t rows, gaps, wrong;
	/* An FDE without instructions of its own has the row of its CIE. */
	struct {
		uint64_t offset;
		struct columns row;
	} cies[CIES_MAX];
	size_t ncies;
	bool in_cie;
	char names[COLUMNS_MAX][16];
	int nnames;
	uint64_t start, end; /* of the FDE */
	uint64_t pc;	     /* of the current row */
	struct columns row;
};

/* readelf prints `exp` for every expression. */
static bool cfa_agrees(const char *theirs, const char *ours)
{
	if (!strcmp(theirs, "exp"))
		return ours[0] == '*' || !strcmp(ours, "plt") || !strcmp(ours, "expr") ||
		       strchr(ours, '+');
	return !strcmp(theirs, ours);
}

static bool fp_agrees(const char *theirs, const char *ours)
{
	if (!strcmp(theirs, "exp"))
		return ours[0] == '*' || ours[0] == 'c' || !strcmp(ours, "expr");
	if (!strcmp(theirs, "s"))
		return !strcmp(ours, "u");
	if (theirs[0] == 'r')
		return !strcmp(ours, "reg");
	return !strcmp(theirs, ours);
}

static bool ra_agrees(const char *theirs, const char *ours)
{
	if (!strcmp(theirs, "exp"))
		return ours[0] == '*' || ours[0] == 'c' || !strcmp(ours, "expr");
	return !strcmp(theirs, ours);
}

static void reading_check(struct reading *r, uint64_t pc)
{
	const struct line *ours = listing_at(r->ours, pc);
	const struct columns *row = &r->row;

	r->rows++;
	/* Rows with an unsupported expression as CFA, which readelf does not show. */
	if (!strcmp(row->cfa, "exp") && !strcmp(ours->cfa, "expr"))
		return;
	if (cfa_agrees(row->cfa, ours->cfa) && fp_agrees(row->fp, ours->fp) &&
	    ra_agrees(row->ra, ours->ra))
		return;
	if (r->wrong++ < 10)
		print_error("%s: %" PRIx64 ": readelf %s %s %s, we %s %s %s\n", r->path, pc,
			    row->cfa, row->fp, row->ra, ours->cfa, ours->fp, ours->ra);
}

/* The current row ends. */
static void reading_row_end(struct reading *r, uint64_t end)
{
	if (r->in_cie || end <= r->pc || !r->end)
		return;
	reading_check(r, r->pc);
	reading_check(r, end - 1);
}

static void reading_fde_end(struct reading *r)
{
	reading_row_end(r, r->end);
	if (r->in_cie)
		r->cies[r->ncies - 1].row = r->row;
	r->end = 0;
}

static void reading_cie(struct reading *r, const char *line)
{
	reading_fde_end(r);
	assert_true(r->ncies < CIES_MAX);
	r->cies[r->ncies++].offset = strtoull(line, NULL, 16);
	r->in_cie = true;
}

/* `... FDE cie=00000000 pc=0000000000026000..0000000000026360` */
static void reading_fde(struct reading *r, const char *line)
{
	size_t i = r->ncies;
	uint64_t cie;

	reading_fde_end(r);
	r->in_cie = false;
	assert_int_equal(
		sscanf(line, "cie=%" SCNx64 " pc=%" SCNx64 "..%" SCNx64, &cie, &r->start, &r->end),
		3);
	while (i && r->cies[i - 1].offset != cie)
		i--;
	assert_true(i > 0);
	r->row = r->cies[i - 1].row;
	r->pc = r->start;
}

static void reading_columns(struct reading *r, char *line)
{
	char *save = NULL;

	r->nnames = 0;
	for (char *s = strtok_r(line, " \n", &save); s && r->nnames < COLUMNS_MAX;
	     s = strtok_r(NULL, " \n", &save))
		snprintf(r->names[r->nnames++], sizeof(r->names[0]), "%s", s);
}

static void reading_row(struct reading *r, char *line)
{
	struct columns row = {.fp = "u", .ra = "u"};
	uint64_t pc = 0;
	char *save = NULL;
	int i = 0;

	for (char *s = strtok_r(line, " \n", &save); s && i <= r->nnames;
	     s = strtok_r(NULL, " \n", &save), i++) {
		/* A register is one cell with a space in it: `r5 (rdi)`. */
		if (s[0] == '(') {
			i--;
			s++;
			s[strcspn(s, ")")] = '\0';
		}
		if (i < 0 || i == r->nnames)
			continue;
		if (!strcmp(r->names[i], "LOC"))
			pc = strtoull(s, NULL, 16);
		else if (!strcmp(r->names[i], "CFA"))
			snprintf(row.cfa, sizeof(row.cfa), "%s", s);
		else if (!strcmp(r->names[i], "rbp"))
			snprintf(row.fp, sizeof(row.fp), "%s", s);
		else if (!strcmp(r->names[i], "ra"))
			snprintf(row.ra, sizeof(row.ra), "%s", s);
	}
	if (!r->in_cie)
		reading_row_end(r, pc < r->end ? pc : r->end);
	r->pc = pc;
	r->row = row;
}

static void reading_run(struct reading *r, FILE *in)
{
	char line[4096];

	while (fgets(line, sizeof(line), in)) {
		const char *fde = strstr(line, "cie=");

		if (strstr(line, " CIE ")) {
			reading_cie(r, line);
		} else if (fde) {
			reading_fde(r, fde);
		} else if (!strncmp(line, "   LOC", 6)) {
			reading_columns(r, line);
		} else if (strspn(line, "0123456789abcdef") == 16) {
			reading_row(r, line);
		}
	}
	reading_fde_end(r);
}

/*
 * Counts our rows where readelf has no function, except for stubs of lld and the system calls of
 * clone (test_clonegap.py).
 */
static uint64_t count_outside(const struct listing *l, const char *path)
{
	char command[512], line[512];
	uint64_t outside = 0, start, end, (*ranges)[2] = NULL;
	size_t n = 0, room = 0;
	FILE *in;

	snprintf(command, sizeof(command),
		 "readelf -W --debug-dump=frames '%s' 2>/dev/null | grep -o 'pc=[0-9a-f.]*'", path);
	in = popen(command, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		if (sscanf(line, "pc=%" SCNx64 "..%" SCNx64, &start, &end) != 2)
			continue;
		if (n == room) {
			room = room ? 2 * room : 1024;
			ranges = realloc(ranges, room * sizeof(*ranges));
			assert_non_null(ranges);
		}
		ranges[n][0] = start;
		ranges[n++][1] = end;
	}
	pclose(in);
	/* Right after each function: `end`, unless another begins there or still continues. */
	for (size_t i = 0; i < n; i++) {
		const struct line *behind = listing_at(l, ranges[i][1]);
		bool covered = false;

		if (!strcmp(behind->cfa, "end") ||
		    (behind->pc == ranges[i][1] && !strcmp(behind->ra, "c-8|u")))
			continue;
		for (size_t j = 0; j < n && !covered; j++)
			covered = ranges[j][0] <= ranges[i][1] && ranges[i][1] < ranges[j][1];
		outside += !covered;
	}
	free(ranges);
	return outside;
}

/* path: a file that may be absent; least: the rows that the test needs to prove something. */
static void check_file(const char *path, uint64_t least, bool gaps)
{
	static struct reading r;
	struct listing ours;
	char command[512];
	FILE *in;

	if (access(path, R_OK) < 0) {
		print_message("# %s: not here\n", path);
		skip();
	}
	listing_new(&ours, path);
	memset(&r, 0, sizeof(r));
	r.path = path;
	r.ours = &ours;
	snprintf(command, sizeof(command), "readelf -W --debug-dump=frames-interp '%s' 2>/dev/null",
		 path);
	in = popen(command, "r");
	assert_non_null(in);
	reading_run(&r, in);
	pclose(in);
	print_message("%s: %" PRIu64 " places, %zu lines\n", path, r.rows, ours.count);
	assert_int_equal(r.wrong, 0);
	assert_true(r.rows >= least);
	if (gaps)
		assert_int_equal(count_outside(&ours, path), 0);
	listing_free(&ours);
}

static void test_ls(void **state)
{
	(void)state;
	check_file("/bin/ls", 1000, true);
}

static void test_libc(void **state)
{
	(void)state;
	check_file("/lib/x86_64-linux-gnu/libc.so.6", 40000, true);
}

static void test_libstdcxx(void **state)
{
	(void)state;
	check_file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 20000, true);
}

static void test_ld_so(void **state)
{
	(void)state;
	check_file("/lib64/ld-linux-x86-64.so.2", 1000, true);
}

static void test_python(void **state)
{
	(void)state;
	check_file("/usr/bin/python3", 20000, true);
}

/* *(rsp+N)+8 in many variants. */
static void test_libcrypto(void **state)
{
	(void)state;
	check_file("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 20000, true);
}

static void test_node(void **state)
{
	struct stat st;
	glob_t libraries;

	(void)state;
	/* Some distributions have it in a library. */
	if (!stat("/usr/bin/node", &st) && st.st_size < 1 << 20 &&
	    !glob("/usr/lib*/*/libnode.so.*", 0, NULL, &libraries)) {
		check_file(libraries.gl_pathv[0], 100000, false);
		globfree(&libraries);
	} else {
		check_file("/usr/bin/node", 100000, false);
	}
}

static void test_vdso(void **state)
{
	const unsigned char *vdso = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	char path[SCRATCH];
	long page = sysconf(_SC_PAGESIZE);
	int fd = scratch_file(path, "readelf");

	(void)state;
	assert_non_null(vdso);
	/* Its section headers are within the second page at most. */
	if (write(fd, vdso, (size_t)page * 2) < page)
		assert_int_equal(write(fd, vdso, (size_t)page), page);
	close(fd);
	check_file(path, 10, true);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ls),	  cmocka_unit_test(test_libc),
		cmocka_unit_test(test_libstdcxx), cmocka_unit_test(test_ld_so),
		cmocka_unit_test(test_python),	  cmocka_unit_test(test_libcrypto),
		cmocka_unit_test(test_node),	  cmocka_unit_test(test_vdso),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
