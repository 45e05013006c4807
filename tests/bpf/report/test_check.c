// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The requirements, each taken away in a child of its own: capabilities by capset(2), files by
 * mounting over them, so that the answers are about what the test did and not about the machine.
 * Covers: bpf/report/check.c bpf/sampler/kernelinfo.c bpf/sampler/refusal.c
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/report/check.h"
#include "bpf/sampler/kernelinfo.h"
#include "bpf/sampler/refusal.h"
#include "tests/support/fds.h"
#include "tests/support/rights.h"

#define UNABLE	 99 /* the child could not take away what it should */
#define BIT(cap) (1ULL << (cap))

struct outcome {
	int privileges, printed;
	size_t fds_before, fds_after;
	char error[256];
	char text[8192];
};

/* Runs the checks in a child after take(arg); returns false when take cannot be done here. */
static bool run(int (*take)(void *arg), void *arg, struct outcome *o)
{
	FILE *file = tmpfile();
	int status, fds[2];
	pid_t pid;
	size_t n;

	memset(o, 0, sizeof(*o));
	assert_non_null(file);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct outcome mine = {0};

		if (take && take(arg) < 0)
			_exit(UNABLE);
		mine.privileges = check_privileges(mine.error, sizeof(mine.error));
		mine.fds_before = count_fds();
		mine.printed = check_print(file);
		mine.fds_after = count_fds();
		/* smaller than PIPE_BUF without the text: one write */
		_exit(write(fds[1], &mine, offsetof(struct outcome, text)) < 0);
	}
	close(fds[1]);
	n = (size_t)read(fds[0], o, offsetof(struct outcome, text));
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == UNABLE) {
		fclose(file);
		return false;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(n, offsetof(struct outcome, text));
	assert_int_equal(o->fds_before, o->fds_after);
	rewind(file);
	n = fread(o->text, 1, sizeof(o->text) - 1, file);
	o->text[n] = '\0';
	fclose(file);
	return true;
}

/* The line of name, from its mark on; NULL without one. */
static const char *line_of(const struct outcome *o, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = o->text; *p;) {
		const char *end = strchr(p, '\n');

		if (strlen(p) > 4 + n && strncmp(p + 4, name, n) == 0 && p[4 + n] == ' ')
			return p;
		if (!end)
			break;
		p = end + 1;
	}
	return NULL;
}

static void assert_mark(const struct outcome *o, const char *name, const char *mark)
{
	const char *line = line_of(o, name);

	if (!line || strncmp(line, mark, 2) != 0)
		fail_msg("%s is not '%s' in:\n%s", name, mark, o->text);
}

static void need_all(void)
{
	need_sampling();
	need_sys_admin();
}

/* --- what is taken --------------------------------------------------------------------------- */

static int become_nobody(void *arg)
{
	(void)arg;
	return setgid(65534) < 0 || setuid(65534) < 0 ? -1 : 0;
}

/* CAP_SYS_RESOURCE only as far as it is held, as containers and some machines withhold it. */
static int keep_caps(void *arg)
{
	uint64_t keep = *(const uint64_t *)arg;
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return -1;
	if (!(data[0].permitted & BIT(CAP_SYS_RESOURCE)))
		keep &= ~BIT(CAP_SYS_RESOURCE);
	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted = (uint32_t)(keep >> 32 * i);
	data[0].inheritable = data[1].inheritable = 0;
	return (int)syscall(SYS_capset, &head, data);
}

static int enter_user_namespace(void *arg)
{
	(void)arg;
	return unshare(CLONE_NEWUSER);
}

static int cover(const char *path)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	return mount("tmpfs", path, "tmpfs", 0, NULL);
}

static int hide(void *arg)
{
	return cover(arg);
}

static int lock_down(void *arg)
{
	FILE *file;

	if (cover("/sys/kernel/security") < 0)
		return -1;
	file = fopen("/sys/kernel/security/lockdown", "w");
	if (!file)
		return -1;
	fputs(arg, file);
	return fclose(file);
}

/* UNAME26 makes the kernel call itself 2.6.N, and limits of that age count. */
static int grow_old(void *arg)
{
	struct rlimit limit = {.rlim_cur = 65536, .rlim_max = 65536};
	uint64_t keep = BIT(CAP_BPF) | BIT(CAP_PERFMON);

	(void)arg;
	if (personality(UNAME26) < 0 || setrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return -1;
	return keep_caps(&keep);
}

/* perf_event_open(2) fails as under a container's filter. */
static int refuse_events(void *arg)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	(void)arg;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int limit_descriptors(void *arg)
{
	struct rlimit limit = {.rlim_cur = 20, .rlim_max = 20};

	(void)arg;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_root(void **state)
{
	static const char *const needed[] = {
		"machine",  "kernel",  "BTF",	   "CAP_BPF",	"CAP_PERFMON", "user_namespace",
		"lockdown", "memlock", "bpf_load", "cpu-clock", "descriptors",
	};
	struct utsname uts;
	struct outcome o;

	(void)state;
	need_all();
	assert_true(run(NULL, NULL, &o));
	assert_int_equal(o.privileges, 0);
	assert_int_equal(o.printed, 0);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		assert_mark(&o, needed[i], "ok");
	assert_int_equal(uname(&uts), 0);
	assert_non_null(strstr(line_of(&o, "kernel"), uts.release));
}

static void test_lines(void **state)
{
	struct outcome o;
	size_t lines = 0;
	bool missing = false;

	(void)state;
	assert_true(run(become_nobody, NULL, &o) || run(NULL, NULL, &o));
	for (char *save, *p = strtok_r(o.text, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
		char mark[3], name[64], detail[256];

		lines++;
		assert_int_equal(sscanf(p, "%2s  %63s  %255[^\n]", mark, name, detail), 3);
		assert_true(!strcmp(mark, "ok") || !strcmp(mark, "no") || !strcmp(mark, "--"));
		assert_memory_equal(p + 2, "  ", 2);
		if (!strcmp(mark, "no")) {
			missing = true;
			assert_non_null(strchr(detail, ';'));
		}
		for (const char *c = p; *c; c++)
			assert_true(*c >= ' ' && *c <= '~');
	}
	assert_int_equal(lines, 30);
	assert_int_equal(o.printed, missing ? 1 : 0);
}

static void test_nobody(void **state)
{
	struct outcome o;

	(void)state;
	if (geteuid() != 0)
		skip_since("not root");
	assert_true(run(become_nobody, NULL, &o));
	assert_int_equal(o.privileges, -EPERM);
	assert_non_null(strstr(o.error, "CAP_BPF"));
	assert_non_null(strstr(o.error, "sudo"));
	assert_int_equal(o.printed, 1);
	assert_mark(&o, "CAP_BPF", "no");
	assert_mark(&o, "CAP_PERFMON", "no");
	assert_mark(&o, "bpf_load", "no");
	assert_mark(&o, "CAP_SYS_PTRACE", "--");
	assert_mark(&o, "bpf_maps", "--");
	/* never a yes from a probe that was refused */
	assert_mark(&o, "bpf_task_pt_regs", "--");
	assert_mark(&o, "bpf_snprintf", "--");
}

static void test_caps(void **state)
{
	static const struct {
		uint64_t keep;
		const char *missing; /* NULL: enough */
	} rows[] = {
		{0, "CAP_BPF"},
		{BIT(CAP_PERFMON), "CAP_BPF"},
		{BIT(CAP_BPF), "CAP_PERFMON"},
		{BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_RESOURCE), NULL},
		{BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_RESOURCE), NULL},
	};

	(void)state;
	need_all();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t keep = rows[i].keep;
		struct outcome o;

		assert_true(run(keep_caps, &keep, &o));
		assert_int_equal(o.privileges, rows[i].missing ? -EPERM : 0);
		assert_int_equal(o.printed, rows[i].missing ? 1 : 0);
		assert_mark(&o, "bpf_load", rows[i].missing ? "no" : "ok");
		assert_mark(&o, "CAP_SYS_PTRACE", "--");
		assert_mark(&o, "CAP_CHECKPOINT_RESTORE", keep & BIT(CAP_SYS_ADMIN) ? "ok" : "--");
		if (!rows[i].missing)
			continue;
		assert_memory_equal(o.error, rows[i].missing, strlen(rows[i].missing));
		/* root has no use for sudo */
		assert_null(strstr(o.error, "sudo"));
	}
}

static void test_seccomp(void **state)
{
	struct outcome o;

	(void)state;
	need_all();
	if (!run(refuse_events, NULL, &o)) {
		skip_since("no seccomp filters here");
	}
	assert_int_equal(o.printed, 1);
	assert_mark(&o, "seccomp", "--");
	assert_mark(&o, "cpu-clock", "no");
	strtok((char *)line_of(&o, "cpu-clock"), "\n");
	assert_non_null(strstr(line_of(&o, "cpu-clock"), "CAP_PERFMON is held"));
	assert_non_null(strstr(line_of(&o, "cpu-clock"), "seccomp"));
	assert_non_null(strstr(line_of(&o, "cpu-clock"), "perf_event_open"));
}

static void test_descriptors(void **state)
{
	struct outcome o;

	(void)state;
	need_all();
	assert_true(run(limit_descriptors, NULL, &o));
	assert_int_equal(o.privileges, -EPERM);
	assert_memory_equal(o.error, "descriptors: 20 are too few", 27);
	assert_non_null(strstr(o.error, "ulimit -n"));
	assert_mark(&o, "descriptors", "no");
}

static int refusals(void *arg)
{
	const char *event = arg;
	char text[256];

	if (strcmp(refusal_of(REFUSAL_BPF, -EMFILE, text, sizeof(text)),
		   "; raise ulimit -n, which is 20"))
		return 1;
	if (*refusal_of(REFUSAL_BPF, -EINVAL, text, sizeof(text)))
		return 2;
	refusal_of(REFUSAL_PERF_EVENT_OPEN, -EACCES, text, sizeof(text));
	if (strncmp(text, event, strlen(event)))
		return 3;
	return 0;
}

/* In a child: what it may do is not given back. */
static int refusals_of(int (*take)(void *), void *arg, const char *event)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(take(arg) || limit_descriptors(NULL) ? UNABLE : refusals((void *)event));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_refusals(void **state)
{
	uint64_t none = 0;
	int status;

	(void)state;
	need_all();
	assert_int_equal(refusals_of(keep_caps, &none, "; CAP_PERFMON is missing"), 0);
	status = refusals_of(refuse_events, NULL, "; CAP_PERFMON is held, but a seccomp filter");
	assert_true(!status || status == UNABLE);
}

static void test_user_namespace(void **state)
{
	struct outcome o;

	(void)state;
	if (!run(enter_user_namespace, NULL, &o)) {
		need_sys_admin();
		skip_since("no user namespaces here");
	}
	assert_int_equal(o.privileges, -EPERM);
	assert_int_equal(o.printed, 1);
	assert_mark(&o, "user_namespace", "no");
	assert_mark(&o, "bpf_load", "no");
	assert_non_null(strstr(o.error, "user_namespace"));
}

static void test_files(void **state)
{
	struct outcome o;

	(void)state;
	need_all();
	assert_true(run(hide, "/sys/kernel/btf", &o));
	assert_int_equal(o.privileges, -EPERM);
	assert_non_null(strstr(o.error, "BTF"));
	assert_mark(&o, "BTF", "no");

	assert_true(run(hide, "/proc", &o));
	assert_int_equal(o.privileges, -EPERM);
	assert_non_null(strstr(o.error, "mount /proc"));
}

static void test_lockdown(void **state)
{
	struct outcome o;

	(void)state;
	need_all();
	if (!run(lock_down, "none integrity [confidentiality]\n", &o)) {
		skip_since("no /sys/kernel/security here");
	}
	assert_int_equal(o.privileges, -EPERM);
	assert_non_null(strstr(o.error, "lockdown"));
	assert_mark(&o, "lockdown", "no");
	assert_true(run(lock_down, "none [integrity] confidentiality\n", &o));
	assert_int_equal(o.privileges, 0);
	assert_mark(&o, "lockdown", "ok");
}

static void test_old_kernel(void **state)
{
	struct outcome o;

	(void)state;
	need_all();
	assert_true(run(grow_old, NULL, &o));
	assert_int_equal(o.privileges, -EPERM);
	assert_non_null(strstr(o.error, "kernel: Linux 2.6."));
	assert_non_null(strstr(o.error, "5.10"));
	assert_mark(&o, "kernel", "no");
	assert_mark(&o, "memlock", "no");
	assert_non_null(strstr(line_of(&o, "memlock"), "64 KiB"));
}

static void test_write_error(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_equal(check_print(full), -EIO);
	fclose(full);
}

static void test_short_error(void **state)
{
	char error[8] = "xxxxxxx";

	(void)state;
	need_all();
	/* nothing is missing: left alone */
	assert_int_equal(check_privileges(error, 4), 0);
	assert_string_equal(error, "xxxxxxx");
}

static void test_hangs(void **state)
{
	static const char plain[] = "#1 SMP PREEMPT_DYNAMIC Thu Jan 1 00:00:00 UTC 2026";
	static const struct {
		const char *release, *version;
		bool hangs;
	} rows[] = {
		{"5.10.0", plain, false},
		{"5.15.167", plain, false},
		{"5.18.19", plain, false},
		{"5.19", plain, true},
		{"5.19.0-50-generic", "#50-Ubuntu SMP", true},
		{"5.20.1", plain, true},
		{"6.0.19", plain, true},
		{"6.1.0", plain, true},
		{"6.1.35", plain, true},
		{"6.1.35-custom", plain, true},
		{"6.1.36", plain, false},
		{"6.1.350", plain, false},
		{"6.2.0-39-generic", "#40~22.04.1-Ubuntu", true},
		{"6.2.16", plain, true},
		{"6.2.99999999999999999999", plain, true},
		{"6.3.0", plain, true},
		{"6.3.9", plain, true},
		{"6.3.10", plain, false},
		{"6.4.0-rc1", plain, false},
		{"6.18.44", plain, false},
		{"16.2.1", plain, false},
		{"6.20.1", plain, false},
		{"6.1.0-9-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.27-1 (2023-05-08)", true},
		{"6.1.0-10-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.37-1 (2023-07-03)", false},
		{"6.1.0-50-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.187-1 (2026-01-01)", false},
		{"6.3.0-1-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.3.7-1 (2023-06-12)", true},
		{"6.3.0-2-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.3.11-1 (2023-07-01)", false},
		{"6.1.0-1-amd64", "#1 SMP Debian unknown", true},
		{"", "", false},
		{"6", "", false},
		{"6.", "Debian ", false},
		{"x.y.z", "Debian x", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (kernelinfo_hangs(rows[i].release, rows[i].version) != rows[i].hangs)
			fail_msg("%s, %s", rows[i].release, rows[i].version);
}

static void test_hang_warning(void **state)
{
	struct utsname uts;
	bool signature = access("/proc/version_signature", R_OK) == 0;

	(void)state;
	if (signature)
		skip_since("Ubuntu's kernel");
	assert_int_equal(uname(&uts), 0);
	assert_int_equal(kernelinfo_hang_warning() != NULL,
			 kernelinfo_hangs(uts.release, uts.version));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_root),	    cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nobody),	    cmocka_unit_test(test_caps),
		cmocka_unit_test(test_seccomp),	    cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_refusals),    cmocka_unit_test(test_user_namespace),
		cmocka_unit_test(test_files),	    cmocka_unit_test(test_lockdown),
		cmocka_unit_test(test_write_error), cmocka_unit_test(test_short_error),
		cmocka_unit_test(test_hangs),	    cmocka_unit_test(test_hang_warning),
		cmocka_unit_test(test_old_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
