/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings of this process as its own calls know them, and texts that no kernel writes.
 * Covers: symbols/files/procmaps.c symbols/files/lines.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbols/files/procmaps.h"
#include "tests/support/scratch.h"

struct seen {
	unsigned int count;
	struct procmap last;
	char name[20000];
	uint64_t sought; /* address whose mapping is kept in last; 0: any */
	int stop_at;	 /* answer non-zero at this call */
};

static int see(const struct procmap *map, void *arg)
{
	struct seen *seen = arg;

	assert_true(map->start < map->end);
	seen->count++;
	if (!seen->sought || (map->start <= seen->sought && seen->sought < map->end)) {
		seen->last = *map;
		snprintf(seen->name, sizeof(seen->name), "%s", map->name);
	}
	return seen->stop_at && (int)seen->count == seen->stop_at ? 77 : 0;
}

static unsigned int parse(const char *text, struct seen *seen)
{
	memset(seen, 0, sizeof(*seen));
	assert_int_equal(procmaps_parse(text, strlen(text), false, see, seen), 0);
	return seen->count;
}

/* Prints what it is told as the kernel does, for a comparison of texts. */
static int print_map(const struct procmap *map, void *arg)
{
	fprintf(arg, "%" PRIx64 "-%" PRIx64 " %d %" PRIx64 " %x:%x %" PRIu64 " %s\n", map->start,
		map->end, map->exec, map->offset, map->dev_major, map->dev_minor, map->inode,
		map->name);
	return 0;
}

/* A child that stands still is read by awk and by the reader. */
static void compare_with_awk(bool exec_only)
{
	char command[512], *want = NULL, *got = NULL;
	size_t want_size = 0, got_size = 0;
	FILE *pipe, *out;
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	out = open_memstream(&got, &got_size);
	assert_int_equal(procmaps_read(child, exec_only, print_map, out), 0);
	fclose(out);
	snprintf(
		command, sizeof(command),
		"awk '{x = substr($2, 3, 1) == \"x\"; if (%d && !x) next; split($1, r, \"-\"); "
		"split($4, d, \":\"); sub(/^0+/, \"\", r[1]); sub(/^0+/, \"\", r[2]); "
		"sub(/^0+/, \"\", $3); sub(/^0/, \"\", d[1]); sub(/^0/, \"\", d[2]); "
		"print r[1] \"-\" r[2], x, ($3 == \"\" ? 0 : $3), d[1] \":\" d[2], $5, $6 ($7 ? \" \" $7 : \"\")}' "
		"/proc/%d/maps",
		exec_only, (int)child);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_true(getdelim(&want, &want_size, '\0', pipe) > 100);
	pclose(pipe);
	assert_string_equal(got, want);
	free(want);
	free(got);
	kill(child, 9);
}

static void test_awk(void **state)
{
	(void)state;
	compare_with_awk(false);
	compare_with_awk(true);
}

/* A mapped file with a newline, a backslash and spaces in its name, deleted on top. */
static void test_odd_name(void **state)
{
	struct seen seen = {0};
	char name[SCRATCH], want[128];
	struct stat st;
	void *map;
	int fd;

	(void)state;
	fd = scratch_file(name, "odd\n\\040\\134 ");
	assert_int_equal(ftruncate(fd, 8192), 0);
	assert_int_equal(fstat(fd, &st), 0);
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	assert_true(map != MAP_FAILED);
	seen.sought = (uintptr_t)map;
	assert_int_equal(procmaps_read(getpid(), true, see, &seen), 0);
	assert_string_equal(seen.name, name);
	assert_int_equal(seen.last.start, (uintptr_t)map);
	assert_int_equal(seen.last.end, (uintptr_t)map + 4096);
	assert_int_equal(seen.last.offset, 4096);
	assert_int_equal(seen.last.inode, st.st_ino);
	assert_int_equal(seen.last.dev_major, major(st.st_dev));
	assert_int_equal(seen.last.dev_minor, minor(st.st_dev));
	assert_true(seen.last.exec);
	unlink(name);
	assert_int_equal(procmaps_read(getpid(), true, see, &seen), 0);
	snprintf(want, sizeof(want), "%s (deleted)", name);
	assert_string_equal(seen.name, want);
	munmap(map, 4096);
	close(fd);
}

/* Far more lines than fit in the reader's buffer. */
static void test_many_mappings(void **state)
{
	const size_t count = 20000;
	struct seen seen = {0};
	char *map = mmap(NULL, 2 * count * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int before;

	(void)state;
	assert_true(map != MAP_FAILED);
	assert_int_equal(procmaps_read(getpid(), true, see, &seen), 0);
	before = seen.count;
	for (size_t i = 0; i < count; i++)
		assert_int_equal(mprotect(map + 2 * i * 4096, 4096, PROT_READ | PROT_EXEC), 0);
	seen = (struct seen){0};
	assert_int_equal(procmaps_read(getpid(), true, see, &seen), 0);
	assert_int_equal(seen.count, before + count);
	munmap(map, 2 * count * 4096);
}

static void test_stop(void **state)
{
	struct seen seen = {.stop_at = 2};

	(void)state;
	assert_int_equal(procmaps_read(getpid(), false, see, &seen), 77);
	assert_int_equal(seen.count, 2);
	assert_int_equal(procmaps_read(0x7ffffff0, false, see, &seen), -ENOENT);
}

static void test_texts(void **state)
{
	struct seen seen;

	(void)state;
	assert_int_equal(parse("", &seen), 0);
	assert_int_equal(parse("1000-2000 r-xp 00000010 fd:01 42    /a b\n", &seen), 1);
	assert_string_equal(seen.name, "/a b");
	assert_int_equal(seen.last.inode, 42);
	assert_int_equal(seen.last.dev_major, 0xfd);
	/* no newline, no name, no space after the inode */
	assert_int_equal(parse("1000-2000 r-xp 0 0:0 0", &seen), 1);
	assert_string_equal(seen.name, "");
	assert_int_equal(
		parse("ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]", &seen), 1);
	assert_int_equal(seen.last.start, 0xffffffffff600000);
	/* overlapping or descending lines come from a hostile or torn text */
	assert_int_equal(parse("3000-4000 r-xp 0 0:0 0\n1000-2000 r-xp 0 0:0 0\n"
			       "3800-5000 r-xp 0 0:0 0\n4000-5000 r-xp 0 0:0 0\n",
			       &seen),
			 2);
}

static void test_nonsense(void **state)
{
	static const char *const lines[] = {
		"2000-1000 r-xp 0 0:0 0",
		"1000-1000 r-xp 0 0:0 0",
		"1000 r-xp 0 0:0 0",
		"-2000 r-xp 0 0:0 0",
		"1000- r-xp 0 0:0 0",
		"x000-2000 r-xp 0 0:0 0",
		"1000-2000 r-",
		"1000-2000 r-?p 0 0:0 0",
		"1000-2000 r-xp",
		"1000-2000 r-xp g 0:0 0",
		"1000-2000 r-xp 0 00 0",
		"1000-2000 r-xp 0 0:0 ",
		"1000-2000 r-xp 0 0:0 f",
		"1000-2000 r-xp 0 100000000:0 0",
		"1000-10000000000000000 r-xp 0 0:0 0",
		"1000-2000 r-xp 0 0:0 99999999999999999999",
		"1000-2000 r-xp 0 0:0 1x",
		"\n\n",
		" ",
		"1000-2000",
	};
	struct seen seen = {0};
	char *text = malloc(200000);

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (parse(lines[i], &seen))
			fail_msg("accepted: %s", lines[i]);
	assert_int_equal(procmaps_parse("1000-2000 r-xp 0 0:0 0 a\0b\n", 27, false, see, &seen), 0);
	assert_int_equal(seen.count, 0);
	/* a name of any length, and the line after it */
	memset(text, 'a', 200000);
	memcpy(text, "1000-2000 r-xp 0 0:0 0 ", 23);
	strcpy(text + 199000, "\n3000-4000 r-xp 0 0:0 0 z\n");
	assert_int_equal(parse(text, &seen), 1);
	assert_string_equal(seen.name, "z");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_awk),   cmocka_unit_test(test_odd_name),
		cmocka_unit_test(test_stop),  cmocka_unit_test(test_many_mappings),
		cmocka_unit_test(test_texts), cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
