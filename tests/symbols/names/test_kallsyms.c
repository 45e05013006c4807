/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own list as awk reads it, and lists that no kernel writes.
 * Covers: symbols/names/kallsyms.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbols/names/kallsyms.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"

/* ADDRESS NAME MODULE by address, of text symbols. */
#define AWK                                                                                        \
	"awk '$2 ~ /^[tTwW]$/ && $1 !~ /^0+$/ && $3 !~ /^(__pfx_|\\.|[$][adtx]([.]|$))/ "          \
	"{gsub(/[][]/, \"\", $4); print $1, $3, ($4 == \"\" ? \"vmlinux\" : $4)}' %s | "           \
	"LC_ALL=C sort"

static const char *write_list(const char *text, size_t length)
{
	static char path[SCRATCH];
	int fd = scratch_file(path, "kallsyms");

	assert_int_equal(write(fd, text, length), length);
	close(fd);
	return path;
}

static struct kallsyms *open_list(const char *text)
{
	const char *path = write_list(text, strlen(text));
	struct kallsyms *table;

	assert_int_equal(kallsyms_new(path, &table), 0);
	unlink(path);
	return table;
}

static void expect(const struct kallsyms *table, uint64_t addr, const char *name,
		   const char *module, uint64_t offset)
{
	const char *found, *in;
	uint64_t at;

	if (kallsyms_find(table, addr, &found, &in, &at))
		fail_msg("nothing at %" PRIx64 ", not %s", addr, name);
	assert_string_equal(found, name);
	assert_string_equal(in, module);
	assert_int_equal(at, offset);
}

struct want {
	uint64_t addr;
	char name[512];
	char module[64];
};

/* The name that was found must be one of those that awk lists for the address. */
static bool is_listed(const struct want *list, size_t count, size_t i, const char *name,
		      const char *module)
{
	uint64_t addr = list[i].addr;

	for (; i < count && list[i].addr == addr; i++)
		if (!strcmp(list[i].name, name) && !strcmp(list[i].module, module))
			return true;
	return false;
}

/* How many addresses have not the name that they are listed with. */
static size_t count_wrong(const struct kallsyms *table, const struct want *list, size_t count)
{
	const char *name, *module;
	uint64_t offset, last;
	size_t i, next, wrong = 0;

	for (i = 0; i < count; i = next) {
		for (next = i; next < count && list[next].addr == list[i].addr; next++)
			;
		if (kallsyms_find(table, list[i].addr, &name, &module, &offset) || offset ||
		    !is_listed(list, count, i, name, module)) {
			print_message("%" PRIx64 " is not %s\n", list[i].addr, list[i].name);
			wrong++;
			continue;
		}
		last = next < count ? list[next].addr - 1 : list[i].addr + 100;
		if (last - list[i].addr >= 1u << 20)
			continue;
		if (kallsyms_find(table, last, &name, &module, &offset) ||
		    offset != last - list[i].addr || !is_listed(list, count, i, name, module)) {
			print_message("%" PRIx64 " is not at the end of %s\n", last, list[i].name);
			wrong++;
		}
	}
	return wrong;
}

static struct want *grow(struct want *list, size_t count)
{
	struct want *more = reallocarray(list, count ? 2 * count : 1, sizeof(*list));

	assert_non_null(more);
	return more;
}

/* As awk reads it. */
static struct want *read_list(size_t *size)
{
	struct want *list = NULL;
	size_t count = 0;
	char command[512];
	FILE *pipe;

	snprintf(command, sizeof(command), AWK, "/proc/kallsyms");
	pipe = popen(command, "r");
	assert_non_null(pipe);
	for (;;) {
		if (!(count & (count - 1)))
			list = grow(list, count);
		if (fscanf(pipe, "%" SCNx64 " %511s %63s", &list[count].addr, list[count].name,
			   list[count].module) != 3)
			break;
		count++;
	}
	pclose(pipe);
	*size = count;
	return list;
}

/* Modules and programs come and go between two readings: a fault is there each time. */
static void test_this_kernel(void **state)
{
	time_t until = time(NULL) + 60;
	struct kallsyms *table;
	struct want *list;
	size_t count, wrong;

	(void)state;
	do {
		int err = kallsyms_new("/proc/kallsyms", &table);

		if (err == -EPERM || err == -ENOENT) {
			need_syslog();
			skip_since("no /proc/kallsyms");
		}
		assert_int_equal(err, 0);
		list = read_list(&count);
		assert_true(count > 10000);
		wrong = count_wrong(table, list, count);
		print_message("%zu text symbols, %zu wrong\n", count, wrong);
		free(list);
		kallsyms_free(table);
	} while (wrong && time(NULL) < until);
	assert_int_equal(wrong, 0);
}

static void test_choice(void **state)
{
	struct kallsyms *table = open_list("ffffffff81000000 t local\n"
					   "ffffffff81000000 W weak\n"
					   "ffffffff81000000 T __global\n"
					   "ffffffff81000000 T global_long\n"
					   "ffffffff81000000 T globalb\n"
					   "ffffffff81000000 T globala\n"
					   "ffffffff81000100 T __pfx_next\n"
					   "ffffffff81000110 T next\n"
					   "ffffffff81000118 D data\n"
					   "ffffffff81000200 w weak_object\n"
					   "ffffffffc0000010 t second\t[mod_b]\n"
					   "ffffffffc0000000 t first\t[mod_b]\n"
					   "ffffffffa0000000 t bpf_prog_1234_x\t[bpf]\n");
	const char *name, *module;
	uint64_t offset;

	(void)state;
	expect(table, 0xffffffff81000000, "globala", "vmlinux", 0);
	expect(table, 0xffffffff8100010f, "globala", "vmlinux", 0x10f);
	expect(table, 0xffffffff81000120, "next", "vmlinux", 0x10);
	expect(table, 0xffffffff81000204, "weak_object", "vmlinux", 4);
	expect(table, 0xffffffffc000000f, "first", "mod_b", 0xf);
	expect(table, 0xffffffffc0000011, "second", "mod_b", 1);
	expect(table, 0xffffffffa0000001, "bpf_prog_1234_x", "bpf", 1);
	assert_int_equal(kallsyms_find(table, 0xffffffff80ffffff, &name, &module, &offset),
			 -ENOENT);
	assert_int_equal(kallsyms_find(table, 0xffffffff91000000, &name, &module, &offset),
			 -ENOENT);
	assert_int_equal(kallsyms_find(table, UINT64_MAX, &name, &module, &offset), -ENOENT);
	kallsyms_free(table);
}

static void test_hidden(void **state)
{
	const char *text = "0000000000000000 T _text\n0000000000000000 t foo\n";
	const char *path = write_list(text, strlen(text));
	struct kallsyms *table = NULL;

	(void)state;
	assert_int_equal(kallsyms_new(path, &table), -EPERM);
	unlink(path);
	assert_int_equal(kallsyms_new(path, &table), -ENOENT);
	assert_int_equal(kallsyms_new("/proc", &table), -EISDIR);
}

static void test_nonsense(void **state)
{
	struct kallsyms *table =
		open_list("\n\n \nT\nzz T name\n1 T\n1 T \n12345678123456781 T long\n"
			  "10 Tx name\n10 T name\tmod\n10 T name\t[\n10 T name\t[]x\n"
			  "20 T good\n30 T cut");
	const char *name, *module;
	char *text = malloc(400001);
	uint64_t offset;

	(void)state;
	assert_int_equal(kallsyms_find(table, 0x1f, &name, &module, &offset), -ENOENT);
	expect(table, 0x40, "good", "vmlinux", 0x20);
	kallsyms_free(table);

	memset(text, 'a', 400000);
	memcpy(text, "10 T x", 6);
	strcpy(text + 300000, "\n30 T good\n");
	table = open_list(text);
	expect(table, 0x31, "good", "vmlinux", 1);
	kallsyms_free(table);
	free(text);

	table = open_list("");
	assert_int_equal(kallsyms_find(table, 0x1f, &name, &module, &offset), -ENOENT);
	kallsyms_free(table);
	kallsyms_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this_kernel),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
