// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the sampler's owner writes, read back from the kernel's maps by their names and numbers and
 * not through the sampler; and how it says what it cannot do.
 * Covers: bpf/sampler/sampler.c bpf/sampler/shardmaps.c bpf/sampler/objects.c bpf/prog/layout.h
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <cmocka.h>

#include "bpf/sampler/sampler.h"
#include "bpf/sampler/shardmaps.h"
#include "tests/support/fds.h"
#include "tests/support/rights.h"

#define SHARDS 8u

static struct sampler_options cpu_clock(void)
{
	return (struct sampler_options){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.frequency = 99,
		.shards_max = SHARDS,
	};
}

static struct sampler *start_sampler(void)
{
	struct sampler_options options = cpu_clock();
	struct sampler *s;
	char error[256];
	int err;

	err = sampler_new(&options, &s, error, sizeof(error));
	if (!err) {
		err = sampler_start(s, error, sizeof(error));
		if (err)
			sampler_free(s);
	}
	if (err == -EPERM || err == -EACCES)
		skip_without("CAP_BPF");
	if (err)
		fail_msg("%d: %s", err, error);
	return s;
}

/* The sampler's descriptor of its map. */
static int fd_of_map(const char *name)
{
	DIR *dir = opendir("/proc/self/fd");
	struct bpf_map_info info;
	struct dirent *e;
	int found = -1;
	__u32 size;

	assert_non_null(dir);
	while (found < 0 && (e = readdir(dir))) {
		memset(&info, 0, sizeof(info));
		size = sizeof(info);
		if (!bpf_obj_get_info_by_fd(atoi(e->d_name), &info, &size) &&
		    !strcmp(info.name, name))
			found = atoi(e->d_name);
	}
	closedir(dir);
	assert_true(found >= 0);
	return found;
}

/* The words of shard i as the program finds them; false: there is no such shard. */
static bool read_shard(uint32_t i, uint32_t *words)
{
	__u32 id, zero = 0;
	int fd;

	if (bpf_map_lookup_elem(fd_of_map("shards"), &i, &id))
		return false;
	fd = bpf_map_get_fd_by_id(id);
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &zero, words), 0);
	close(fd);
	return true;
}

static void write_numbers(struct sampler *s, uint32_t shard, uint32_t at, uint32_t count,
			  uint32_t *expected)
{
	uint32_t *words = malloc(count * sizeof(*words));

	assert_non_null(words);
	for (uint32_t i = 0; i < count; i++)
		words[i] = expected[at + i] = (shard << 24) + (at + i) * 2654435761u;
	assert_int_equal(shardmaps_write(sampler_shards(s), shard, at, words, count), 0);
	free(words);
}

static void test_shards(void **state)
{
	uint32_t *got, *expected[2], one = 1;
	struct sampler *s = start_sampler();

	(void)state;
	got = malloc(SHARD_BYTES);
	assert_non_null(got);
	for (uint32_t i = 0; i < SHARDS; i++)
		assert_false(read_shard(i, got));
	for (int i = 0; i < 2; i++) {
		expected[i] = calloc(1, SHARD_BYTES);
		assert_non_null(expected[i]);
		assert_int_equal(shardmaps_create(sampler_shards(s), i ? SHARDS - 1 : 0), 0);
	}
	for (uint32_t round = 0; round < 3; round++) { /* by turns: only one is mapped */
		write_numbers(s, 0, round * 1000, 999, expected[0]);
		write_numbers(s, SHARDS - 1, SHARD_WORDS - 5000 * (round + 1), 5000, expected[1]);
	}
	assert_int_equal(shardmaps_write(sampler_shards(s), 0, SHARD_WORDS, &one, 0), 0);
	assert_true(read_shard(0, got));
	assert_memory_equal(got, expected[0], SHARD_BYTES);
	assert_true(read_shard(SHARDS - 1, got));
	assert_memory_equal(got, expected[1], SHARD_BYTES);

	/* one that comes again is empty */
	shardmaps_destroy(sampler_shards(s), 0);
	assert_false(read_shard(0, got));
	assert_int_equal(shardmaps_write(sampler_shards(s), 0, 0, &one, 1), -EINVAL);
	assert_int_equal(shardmaps_create(sampler_shards(s), 0), 0);
	assert_true(read_shard(0, got));
	memset(expected[0], 0, SHARD_BYTES);
	assert_memory_equal(got, expected[0], SHARD_BYTES);

	assert_int_equal(shardmaps_create(sampler_shards(s), 0), -EINVAL);
	assert_int_equal(shardmaps_create(sampler_shards(s), SHARDS), -EINVAL);
	assert_int_equal(shardmaps_write(sampler_shards(s), SHARDS, 0, &one, 1), -EINVAL);
	assert_int_equal(shardmaps_write(sampler_shards(s), 1, 0, &one, 1), -EINVAL);
	assert_int_equal(shardmaps_write(sampler_shards(s), 0, SHARD_WORDS, &one, 1), -EINVAL);
	assert_int_equal(shardmaps_write(sampler_shards(s), 0, 1, &one, SHARD_WORDS), -EINVAL);
	assert_int_equal(shardmaps_write(sampler_shards(s), 0, UINT32_MAX, &one, 2), -EINVAL);
	shardmaps_destroy(sampler_shards(s), 1);
	shardmaps_destroy(sampler_shards(s), SHARDS);
	assert_true(read_shard(0, got));
	assert_memory_equal(got, expected[0], SHARD_BYTES);
	sampler_free(s);
	free(expected[0]);
	free(expected[1]);
	free(got);
}

/* What is written to the two that are mapped for good is in the maps of that name. */
static void test_lists(void **state)
{
	struct sampler *s = start_sampler();
	const size_t size[2] = {MAP_ENTRIES_MAX * sizeof(struct map_entry),
				WIDE_RULES_MAX * sizeof(struct wide_rule)};
	uint8_t *memory[2] = {(uint8_t *)sampler_memory(s)->map_entries,
			      (uint8_t *)sampler_memory(s)->wide_rules};
	static const char *const names[2] = {"map_lists", "wide_rules"};
	__u32 zero = 0;
	uint8_t *got;

	(void)state;
	for (int i = 0; i < 2; i++) {
		got = malloc(size[i]);
		assert_non_null(got);
		for (size_t at = 0; at < size[i]; at++)
			memory[i][at] = (uint8_t)(at * 31 + at / 251 + i);
		assert_int_equal(bpf_map_lookup_elem(fd_of_map(names[i]), &zero, got), 0);
		assert_memory_equal(got, memory[i], size[i]);
		free(got);
	}
	sampler_free(s);
}

/* --- errors ---------------------------------------------------------------------------------- */

/* The sampler loads, but cannot start: a text with the given word. */
static void check_start(const struct sampler_options *options, const char *word)
{
	struct sampler *s;
	char error[256], brief[8];
	int err;

	err = sampler_new(options, &s, error, sizeof(error));
	if (err == -EPERM || err == -EACCES)
		skip_without("CAP_BPF");
	assert_int_equal(err, 0);
	memset(error, 'x', sizeof(error));
	err = sampler_start(s, error, sizeof(error));
	assert_in_range(-err, 1, 4095);
	assert_non_null(memchr(error, '\0', sizeof(error)));
	if (!strstr(error, word) || !strstr(error, strerror(-err)) || strstr(error, "(null)"))
		fail_msg("%d: %s", err, error);
	sampler_free(s);
	assert_int_equal(sampler_new(options, &s, brief, sizeof(brief)), 0);
	memset(brief, 'x', sizeof(brief));
	assert_true(sampler_start(s, brief, 4) < 0);
	assert_memory_equal(brief + 4, "xxxx", 4);
	assert_int_equal(brief[3], '\0');
	sampler_free(s);
}

static void test_errors(void **state)
{
	const unsigned int none = 1u << 20, bad[2] = {0, none};
	struct sampler_options options = cpu_clock();
	size_t fds = count_fds();
	char error[256] = "";
	struct sampler *s;
	int err;

	(void)state;
	options.cpus = bad;
	options.ncpus = 2; /* the first is good, and is to be closed again */
	check_start(&options, "CPU 1048576");
	options = cpu_clock();
	options.type = 0xffff;
	check_start(&options, "cpu-clock");
	options.type = PERF_TYPE_SOFTWARE;
	options.config = 0xffff;
	check_start(&options, "cpu-clock");
	options = cpu_clock();
	options.frequency = 1000000000;
	check_start(&options, "-F");

	options = cpu_clock();
	options.shards_max = 0;
	s = (struct sampler *)&options;
	err = sampler_new(&options, &s, error, sizeof(error));
	assert_in_range(-err, 1, 4095);
	assert_null(s);
	assert_true(error[0] && !strstr(error, "(null)"));
	sampler_free(NULL);
	assert_int_equal(count_fds(), fds);
}

/* Without any privilege, in a child that tells by its status which word was not true. */
static void test_nobody(void **state)
{
	struct sampler_options options = cpu_clock();
	char error[256] = "";
	struct sampler *s = (struct sampler *)&options;
	size_t fds;
	int status, err;
	pid_t pid;

	(void)state;
	need_sampling();
	if (geteuid() != 0)
		skip_since("not root");
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(99);
		fds = count_fds();
		err = sampler_new(&options, &s, error, sizeof(error));
		_exit((err != -EPERM) | (s != NULL) << 1 | !strstr(error, "CAP_BPF") << 2 |
		      (count_fds() != fds) << 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 99 << 8)
		skip_since("this user cannot be left");
	assert_int_equal(status, 0);
}

static void test_descriptors(void **state)
{
	const struct sampler_options options = cpu_clock();
	const struct sampler_count *counts;
	size_t fds = count_fds(), n;
	struct sampler *s;
	char error[256];

	(void)state;
	for (int i = 0; i < 3; i++) {
		s = start_sampler();
		assert_int_equal(shardmaps_create(sampler_shards(s), i), 0);
		assert_int_equal(sampler_drain(s, NULL, NULL, &counts, &n), 0);
		sampler_free(s);
	}
	/* and one that never starts */
	assert_int_equal(sampler_new(&options, &s, error, sizeof(error)), 0);
	sampler_free(s);
	assert_int_equal(count_fds(), fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shards),	    cmocka_unit_test(test_lists),
		cmocka_unit_test(test_errors),	    cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
