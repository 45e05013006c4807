// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs load while timers fire. The verifier gives up at a pending signal and libbpf tries a few
 * times more; a timer that is faster than the verifier would win for ever, and a probe that was
 * interrupted would say that the kernel lacks a helper.
 * Covers: bpf/sampler/sampler.c bpf/sampler/ksyms.c
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <cmocka.h>

#include "bpf/sampler/ksyms.h"
#include "bpf/sampler/sampler.h"
#include "tests/support/rights.h"

#define LOADS 5

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static void arm(int timer, int number, long usec)
{
	struct itimerval every = {.it_interval.tv_usec = usec, .it_value.tv_usec = usec};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	assert_int_equal(sigaction(number, &action, NULL), 0);
	assert_int_equal(setitimer(timer, &every, NULL), 0);
}

/* The knobs of the program that is loaded, out of the kernel. */
static void read_config(struct profiler_config *config)
{
	DIR *dir = opendir("/proc/self/fd");
	struct bpf_map_info info;
	struct dirent *e;
	__u32 size, zero = 0;
	int found = 0;

	assert_non_null(dir);
	while (!found && (e = readdir(dir))) {
		memset(&info, 0, sizeof(info));
		size = sizeof(info);
		found = !bpf_obj_get_info_by_fd(atoi(e->d_name), &info, &size) &&
			strstr(info.name, ".rodata") && info.value_size == sizeof(*config) &&
			!bpf_map_lookup_elem(atoi(e->d_name), &zero, config);
	}
	closedir(dir);
	assert_true(found);
}

static void load_once(struct profiler_config *config)
{
	struct sampler_options options = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.frequency = 99,
		.shards_max = 1,
	};
	struct sampler *s;
	char error[256];
	int err = sampler_new(&options, &s, error, sizeof(error));

	if (err == -EPERM || err == -EACCES)
		skip_without("CAP_BPF");
	if (err)
		fail_msg("%d: %s", err, error);
	read_config(config);
	err = sampler_start(s, error, sizeof(error));
	sampler_free(s);
	if (err)
		fail_msg("%d: %s", err, error);
}

static void storm(int timer, int number, long usec)
{
	struct profiler_config calm, config;
	struct ksyms *k;

	load_once(&calm);
	signals = 0;
	arm(timer, number, usec);
	for (int i = 0; i < LOADS; i++) {
		load_once(&config);
		assert_true(config.hash_key[STACKHASH_FACTOR_A] & 1);
		assert_true(config.hash_key[STACKHASH_FACTOR_B] & 1);
		/* no load has the key of another; all else is as in calm */
		for (int n = 0; n < STACKHASH_KEYS; n++)
			assert_true(config.hash_key[n] != calm.hash_key[n]);
		memcpy(config.hash_key, calm.hash_key, sizeof(config.hash_key));
		assert_memory_equal(&config, &calm, sizeof(calm));
	}
	assert_int_equal(ksyms_new(&k), 0);
	ksyms_free(k);
	arm(timer, number, 0);
	assert_true(signals >= LOADS); /* there was a storm */
}

/* As a profiler inside of the process has it; the kernel looks at it in each of its own ticks. */
static void test_prof(void **state)
{
	(void)state;
	storm(ITIMER_PROF, SIGPROF, 1000);
}

/* Faster than any verifier. */
static void test_real(void **state)
{
	(void)state;
	storm(ITIMER_REAL, SIGALRM, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prof),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
