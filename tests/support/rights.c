/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/rights.h"

#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SYSLOG_ACTION_SIZE_UNREAD 9

static bool is_open(long fd)
{
	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

/* A kind of map that users without the right cannot make even where others are allowed. */
static bool may_load(void)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_LPM_TRIE,
			       .key_size = 8,
			       .value_size = 8,
			       .max_entries = 1,
			       .map_flags = BPF_F_NO_PREALLOC};

	return is_open(syscall(__NR_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static bool may_open(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = 10000000};

	return is_open(syscall(__NR_perf_event_open, &attr, -1, sched_getcpu(), -1, 0));
}

static bool may_unshare(void)
{
	return !unshare(CLONE_NEWNS);
}

static bool may_come_first(void)
{
	const struct sched_param first = {.sched_priority = 1};

	return !sched_setscheduler(0, SCHED_FIFO, &first);
}

static bool in_child(bool (*try)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(!try());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return !status;
}

bool may_sample(void)
{
	return may_load() && may_open();
}

void skip_since(const char *why)
{
	print_message("# %s\n", why);
	skip();
}

void skip_without(const char *right)
{
	print_message("# no %s\n", right);
	skip();
}

void need_sampling(void)
{
	if (!may_load())
		skip_without("CAP_BPF");
	if (!may_open())
		skip_without("CAP_PERFMON");
}

void need_sys_admin(void)
{
	if (!in_child(may_unshare))
		skip_without("CAP_SYS_ADMIN");
}

void need_sys_nice(void)
{
	if (!in_child(may_come_first))
		skip_without("CAP_SYS_NICE");
}

void need_sys_ptrace(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct held[2] = {{0}};

	assert_int_equal(syscall(__NR_capget, &head, held), 0);
	if (!(held[0].effective >> CAP_SYS_PTRACE & 1))
		skip_without("CAP_SYS_PTRACE");
}

void need_syslog(void)
{
	if (klogctl(SYSLOG_ACTION_SIZE_UNREAD, NULL, 0) < 0)
		skip_without("CAP_SYSLOG");
}
