// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of CPUs in the kernel's format, good and bad, and events that have ended.
 * Covers: bpf/sampler/cpus.c
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/sampler/cpus.h"
#include "tests/support/rights.h"

/* As "%u %u ", in a buffer of the caller's. */
static const char *parsed(const char *list, char *text, size_t size)
{
	unsigned int *cpus;
	size_t n, used = 0;

	text[0] = '\0';
	assert_int_equal(cpus_parse(list, &cpus, &n), 0);
	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, size - used, "%u ", cpus[i]);
	free(cpus);
	return text;
}

static void test_lists(void **state)
{
	static const struct {
		const char *list, *cpus;
	} cases[] = {
		{"0\n", "0 "},
		{"0-1\n", "0 1 "},
		{"0-3,8,10-11\n", "0 1 2 3 8 10 11 "},
		{"5", "5 "},
		{"65535", "65535 "},
		{"", ""},
		{"\n", ""},
		{",1", ""},
		{"-1", ""},
		{"x", ""},
		{"2-1", ""},	   /* backward */
		{"0-1,1", "0 1 "}, /* twice */
		{"4,2", "4 "},	   /* not ascending */
		{"0,", "0 "},
		{"0,70000", "0 "},
		{"0-4294967295", ""}, /* is not asked of the memory */
		{"0-99999999999999999999", ""},
		{"18446744073709551616", ""},
		{"0-1:1/2", "0 1 "},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(parsed(cases[i].list, text, sizeof(text)), cases[i].cpus);
}

static void test_many(void **state)
{
	unsigned int *cpus;
	size_t n;

	(void)state;
	assert_int_equal(cpus_parse("1-65535", &cpus, &n), 0);
	assert_int_equal(n, 65535);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(cpus[i], i + 1);
	free(cpus);
}

/* 0 in a file of its own says that a CPU is not; the first may have none. */
static bool is_online(unsigned int cpu)
{
	char path[64];
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	if (access(path, F_OK))
		return false;
	strcat(path, "/online");
	f = fopen(path, "re");
	c = f ? fgetc(f) : '1';
	if (f)
		fclose(f);
	return c == '1';
}

/* Whichever of them this program may run on. */
static void test_online(void **state)
{
	unsigned int *cpus;
	size_t n, at = 0;

	(void)state;
	assert_int_equal(cpus_online(&cpus, &n), 0);
	assert_true(n > 0);
	for (size_t i = 1; i < n; i++)
		assert_true(cpus[i] > cpus[i - 1]);
	for (unsigned int cpu = 0; cpu < 1024; cpu++) {
		bool listed = at < n && cpus[at] == cpu;

		assert_int_equal(listed, is_online(cpu));
		at += listed;
	}
	free(cpus);
}

/* What is disabled stands still as what has ended does. */
static void test_ended(void **state)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
	};
	int fd = (int)syscall(__NR_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	int none[2];
	uint64_t enabled = 0;

	(void)state;
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		skip_without("CAP_PERFMON");
	assert_true(fd >= 0);
	for (int i = 0; i < 20; i++) {
		usleep(5000);
		assert_false(cpus_event_ended(fd, &enabled));
	}
	assert_int_equal(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	assert_false(cpus_event_ended(fd, &enabled)); /* it went on until then */
	usleep(5000);
	assert_true(cpus_event_ended(fd, &enabled));
	assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	usleep(5000);
	assert_false(cpus_event_ended(fd, &enabled));
	close(fd);
	assert_false(cpus_event_ended(fd, &enabled)); /* says nothing */
	assert_int_equal(pipe(none), 0);
	close(none[1]);
	assert_true(cpus_event_ended(none[0], &enabled)); /* as an event in error reads */
	close(none[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_online),
		cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
