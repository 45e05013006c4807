// SPDX-License-Identifier: GPL-2.0-or-later
/* See refusal.h. */
#include "bpf/sampler/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bpf/sampler/kernelinfo.h"

static const struct {
	const char *call, *cap;
	int bit;
	const char *sysctl, *sysctl_path; /* NULL: none */
} calls[] = {
	[REFUSAL_BPF] = {"bpf", "CAP_BPF", CAP_BPF, NULL, NULL},
	[REFUSAL_PERF_EVENT_OPEN] = {"perf_event_open", "CAP_PERFMON", CAP_PERFMON,
				     "kernel.perf_event_paranoid",
				     "/proc/sys/kernel/perf_event_paranoid"},
};

static bool has_cap(int bit)
{
	uint64_t caps;

	/* If it cannot be read, a missing capability is not the first guess. */
	return !kernelinfo_status("CapEff", 16, &caps) || caps >> bit & 1 ||
	       caps >> CAP_SYS_ADMIN & 1;
}

static void tell_culprit(enum refusal_call call, char *text, size_t size)
{
	char line[128] = "", setting[80] = "";
	uint64_t seccomp = 0;
	long value;

	if (!has_cap(calls[call].bit)) {
		if (calls[call].sysctl && kernelinfo_number(calls[call].sysctl_path, &value))
			snprintf(setting, sizeof(setting), " and %s is %ld", calls[call].sysctl,
				 value);
		snprintf(text, size, "; %s is missing%s: run as root, or grant it", calls[call].cap,
			 setting);
	} else if (kernelinfo_status("Seccomp", 10, &seccomp) && seccomp) {
		snprintf(text, size,
			 "; %s is held, but a seccomp filter is in force, as in containers "
			 "(Seccomp: %" PRIu64 " in /proc/self/status): allow %s in it, or run "
			 "outside",
			 calls[call].cap, seccomp, calls[call].call);
	} else if (kernelinfo_line("/sys/kernel/security/lockdown", line, sizeof(line)) &&
		   strstr(line, "[confidentiality]")) {
		snprintf(text, size,
			 "; lockdown=confidentiality forbids it: boot with lockdown=integrity");
	} else {
		kernelinfo_line("/sys/kernel/security/lsm", line, sizeof(line));
		snprintf(text, size,
			 "; %s is held and no seccomp filter is in force: does a security module "
			 "forbid it%s%s?",
			 calls[call].cap, *line ? ", of " : "", line);
	}
}

const char *refusal_of(enum refusal_call call, int err, char *text, size_t size)
{
	struct rlimit limit;

	text[0] = '\0';
	if (err == -EPERM || err == -EACCES)
		tell_culprit(call, text, size);
	else if (err == -EMFILE && !getrlimit(RLIMIT_NOFILE, &limit))
		snprintf(text, size, "; raise ulimit -n, which is %ju", (uintmax_t)limit.rlim_cur);
	else if (err == -ENFILE)
		snprintf(text, size, "; raise fs.file-max");
	return text;
}
