// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What stacktop needs from the kernel and from its user, checked one by one. bpf() and
 * perf_event_open() fail with EPERM for a dozen reasons; only a check of each reason can name a
 * remedy. The requirements are a table; the cheap ones come first and are checked at every start.
 */
#include "bpf/report/check.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/report/languages.h"
#include "bpf/sampler/kernelinfo.h"
#include "bpf/sampler/sizes.h"
#include "bpf/sampler/pidns.h"
#include "bpf/sampler/refusal.h"
#include "bpf/sampler/sampler.h"
#include "bpf/sampler/vma.h"
#include "bpf/sampler/waits.h"
#include "symbols/base/memory.h"
#include "unwind/arch.h"
#include "unwind/derive.h"

/* PROC_USER_INIT_INO of include/linux/proc_ns.h: the user namespace the machine started with. */
#define INITIAL_USER_NS 0xeffffffdU

#define WAITS_TRIES  50 /* until a thread has waited */
#define WAITS_TRY_NS 2000000

enum verdict { VERDICT_OK, VERDICT_NO, VERDICT_INFO };

struct facts {
	struct utsname uts;
	uint64_t kernel; /* KERNELINFO_VERSION() */
	uint64_t caps;	 /* effective, a bit each */
	bool caps_known;
	bool loads;		 /* a BPF program could be loaded */
	struct sampler *sampler; /* from the question about its maps to that about waits */
	uint64_t maps;		 /* bytes; 0: unknown */
	char text[256];		 /* of the last answer */
};

struct requirement {
	const char *name;
	enum verdict (*ask)(struct facts *f);
	bool cheap;
};

__attribute__((format(printf, 3, 4))) static enum verdict answer(struct facts *f, enum verdict v,
								 const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
	return v;
}

/* --- checked at every start ------------------------------------------------------------------ */

static enum verdict ask_machine(struct facts *f)
{
	if (strcmp(f->uts.machine, "x86_64") != 0 && strcmp(f->uts.machine, "aarch64") != 0)
		return answer(f, VERDICT_NO,
			      "%s cannot be unwound; run stacktop on an x86_64 or aarch64 machine",
			      f->uts.machine);
	return answer(f, VERDICT_OK, "%s", f->uts.machine);
}

static enum verdict ask_kernel(struct facts *f)
{
	if (f->kernel < KERNELINFO_VERSION(5, 10, 0))
		return answer(f, VERDICT_NO, "Linux %s is too old; update to 5.10 or later",
			      f->uts.release);
	return answer(f, VERDICT_OK, "Linux %s", f->uts.release);
}

static enum verdict ask_btf(struct facts *f)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";

	if (access(path, R_OK) == 0)
		return answer(f, VERDICT_OK, "%s", path);
	return answer(f, VERDICT_NO,
		      "%s: %s; mount /sys, or use a kernel with CONFIG_DEBUG_INFO_BTF=y", path,
		      strerror(errno));
}

static bool has_cap(const struct facts *f, int cap)
{
	return f->caps >> cap & 1;
}

static const char *cap_remedy(void)
{
	if (geteuid() == 0)
		return "root was stripped of it, as in containers: grant it, or run outside";
	return "run with sudo";
}

static enum verdict ask_cap(struct facts *f, int cap)
{
	if (!f->caps_known)
		return answer(f, VERDICT_NO, "/proc/self/status cannot be read; mount /proc");
	if (has_cap(f, cap))
		return answer(f, VERDICT_OK, "held");
	if (has_cap(f, CAP_SYS_ADMIN))
		return answer(f, VERDICT_OK, "implied by CAP_SYS_ADMIN");
	return answer(f, VERDICT_NO, "the capability is missing; %s", cap_remedy());
}

static enum verdict ask_cap_bpf(struct facts *f)
{
	return ask_cap(f, CAP_BPF);
}

static enum verdict ask_cap_perfmon(struct facts *f)
{
	return ask_cap(f, CAP_PERFMON);
}

/* Capabilities of another user namespace look the same but have no effect here. */
static enum verdict ask_user_namespace(struct facts *f)
{
	struct stat st;

	if (stat("/proc/self/ns/user", &st) < 0)
		return answer(f, VERDICT_INFO, "unknown: %s", strerror(errno));
	if (st.st_ino != INITIAL_USER_NS)
		return answer(
			f, VERDICT_NO,
			"capabilities of a user namespace do not reach the kernel; run with sudo "
			"outside of the (rootless) container");
	return answer(f, VERDICT_OK, "the initial one");
}

static enum verdict ask_pid_namespace(struct facts *f)
{
	char error[160];

	if (!pidns_has_proc(error, sizeof(error)))
		return answer(f, VERDICT_NO, "%s", error);
	if (pidns_is_initial())
		return answer(f, VERDICT_OK, "the initial one");
	return answer(
		f, VERDICT_INFO,
		"not the initial one: samples of processes outside of it, and of the kernel's "
		"threads, are counted, not shown");
}

static enum verdict ask_lockdown(struct facts *f)
{
	char line[128];

	if (!kernelinfo_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return answer(f, VERDICT_OK, "not in this kernel, or not visible");
	if (strstr(line, "[confidentiality]"))
		return answer(f, VERDICT_NO,
			      "confidentiality mode forbids reading of kernel memory; boot with "
			      "lockdown=integrity or without lockdown=");
	return answer(f, VERDICT_OK, "%s", strstr(line, "[integrity]") ? "integrity" : "none");
}

/* Since 5.11 maps are charged to the memory cgroup; before, libbpf raises the limit if it may. */
static enum verdict ask_memlock(struct facts *f)
{
	struct rlimit limit;

	if (f->kernel >= KERNELINFO_VERSION(5, 11, 0))
		return answer(f, VERDICT_OK, "not limited since Linux 5.11");
	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return answer(f, VERDICT_INFO, "unknown: %s", strerror(errno));
	if (limit.rlim_cur == RLIM_INFINITY)
		return answer(f, VERDICT_OK, "unlimited");
	if (limit.rlim_max == RLIM_INFINITY || has_cap(f, CAP_SYS_RESOURCE))
		return answer(f, VERDICT_OK, "%llu KiB, raised at start",
			      (unsigned long long)limit.rlim_cur / 1024);
	return answer(f, VERDICT_NO,
		      "%llu KiB are too few for the tables; ulimit -l unlimited, or run with sudo",
		      (unsigned long long)limit.rlim_cur / 1024);
}

/* Programs, maps and three perf descriptors a CPU; the soft limit is raised to the hard one. */
static enum verdict ask_descriptors(struct facts *f)
{
	const rlim_t needed = 48 + 3 * (rlim_t)sysconf(_SC_NPROCESSORS_ONLN);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return answer(f, VERDICT_INFO, "unknown: %s", strerror(errno));
	if (limit.rlim_max < needed)
		return answer(
			f, VERDICT_NO,
			"%ju are too few for maps, events and files; raise ulimit -n, to 1024 "
			"at least",
			(uintmax_t)limit.rlim_max);
	return answer(f, VERDICT_OK, "up to %ju", (uintmax_t)limit.rlim_max);
}

/* --- checked by --check ---------------------------------------------------------------------- */

static enum verdict ask_bpf_load(struct facts *f)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	const char *remedy = "; see the kernel's log";
	char refusal[200];
	int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "stacktop_check", "GPL", nothing,
			       sizeof(nothing) / sizeof(nothing[0]), NULL);

	f->loads = fd >= 0;
	if (fd >= 0) {
		close(fd);
		return answer(f, VERDICT_OK, "a program for perf events loads");
	}
	if (*refusal_of(REFUSAL_BPF, fd, refusal, sizeof(refusal)))
		remedy = refusal;
	else if (fd == -ENOSYS)
		remedy = "; use a kernel with CONFIG_BPF_SYSCALL=y";
	else if (fd == -EINVAL)
		remedy = "; use a kernel with CONFIG_BPF_EVENTS=y";
	else if (fd == -ENOMEM)
		remedy = "; free memory or raise ulimit -l";
	return answer(f, VERDICT_NO, "no program loads: %s%s", strerror(-fd), remedy);
}

/* Opens the event on a CPU, for all processes, as the sampler does. -errno. */
static int event_try(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_freq = 99,
		.freq = 1,
		.disabled = 1,
	};
	int cpu = sched_getcpu();
	int fd = (int)syscall(__NR_perf_event_open, &attr, -1, cpu < 0 ? 0 : cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Whether the filter allows the two calls is shown by the checks that make them. */
static enum verdict ask_seccomp(struct facts *f)
{
	uint64_t mode;

	if (!kernelinfo_status("Seccomp", 10, &mode))
		return answer(f, VERDICT_INFO, "unknown: /proc/self/status has no such line");
	return mode ? answer(f, VERDICT_INFO, "a filter is in force, as in containers")
		    : answer(f, VERDICT_OK, "no filter");
}

static enum verdict ask_pid_numbers(struct facts *f)
{
	struct pidns ns;
	char error[sizeof(f->text)];

	if (!f->loads && !pidns_is_initial())
		return answer(f, VERDICT_INFO, "unknown, as no program loads");
	if (pidns_read(&ns, error, sizeof(error)))
		return answer(f, VERDICT_NO, "%s", error);
	if (!ns.inode)
		return answer(f, VERDICT_OK, "as the kernel has them");
	return answer(f, VERDICT_OK, "those of PID namespace %u, %u below the initial one",
		      ns.inode, ns.level);
}

static enum verdict ask_mappings(struct facts *f)
{
	if (!f->loads)
		return answer(f, VERDICT_INFO, "unknown, as no program loads");
	if (vma_can_be_found())
		return answer(f, VERDICT_OK, "a walk sees what is mapped at that moment");
	return answer(f, VERDICT_INFO,
		      "cannot be looked up in this kernel; where programs map code at addresses "
		      "that were in use before, names may be out of date");
}

/* Loads the sampler's programs and maps, without tables. */
static enum verdict ask_maps(struct facts *f)
{
	const struct sampler_options options = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.frequency = 99,
		.shards_max = 1,
	};
	uint64_t bytes;
	char error[200];
	int err;

	if (!f->loads)
		return answer(f, VERDICT_INFO, "unknown, as no program loads");
	if (sampler_new(&options, &f->sampler, error, sizeof(error)))
		return answer(f, VERDICT_NO, "%s%s", error,
			      strchr(error, ';') ? "" : "; free memory or raise ulimit -l");
	err = memlock_maps(&bytes);
	f->maps = err ? 0 : bytes;
	if (err)
		return answer(f, VERDICT_INFO, "unknown: %s", strerror(-err));
	return answer(f, VERDICT_OK, "%.1f MiB of locked memory, and --memory for the tables",
		      (double)bytes / (1 << 20));
}

/* print_parts adds a line for each part. */
static enum verdict ask_memory(struct facts *f)
{
	const struct memory_plan *plan = memory_used();
	uint64_t sum;

	if (!plan)
		return answer(f, VERDICT_INFO, "not limited");
	sum = plan->sum + f->maps;
	return answer(f, sum <= plan->available ? VERDICT_OK : VERDICT_INFO,
		      "up to %ju MiB with locked memory, %ju of them for itself, of %ju MiB that "
		      "are available%s",
		      (uintmax_t)(sum >> 20), (uintmax_t)(plan->itself >> 20),
		      (uintmax_t)(plan->available >> 20),
		      sum <= plan->available ? "" : ": too few for all parts at once");
}

static enum verdict ask_cpu_clock(struct facts *f)
{
	const char *remedy = "; see the kernel's log";
	int err = event_try(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	char refusal[200];

	if (!err)
		return answer(f, VERDICT_OK, "the event opens on a CPU");
	if (*refusal_of(REFUSAL_PERF_EVENT_OPEN, err, refusal, sizeof(refusal)))
		remedy = refusal;
	else if (err == -ENOSYS)
		remedy = "; use a kernel with CONFIG_PERF_EVENTS=y";
	return answer(f, VERDICT_NO, "the event does not open: %s%s", strerror(-err), remedy);
}

static enum verdict ask_cycles(struct facts *f)
{
	int err = event_try(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	if (!err)
		return answer(f, VERDICT_OK, "the hardware event opens");
	if (err == -ENOENT || err == -EOPNOTSUPP)
		return answer(f, VERDICT_INFO, "no hardware event, as in most virtual machines");
	return answer(f, VERDICT_INFO, "the hardware event does not open: %s", strerror(-err));
}

static enum verdict ask_helper(struct facts *f, enum bpf_func_id id, const char *without)
{
	int found;

	/* Where nothing loads, the probe takes the refusal for success. */
	if (!f->loads)
		return answer(f, VERDICT_INFO, "unknown, as no program loads");
	found = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, id, NULL);
	if (found < 0)
		return answer(f, VERDICT_INFO, "unknown: %s", strerror(-found));
	if (found == 0)
		return answer(f, VERDICT_INFO, "not in this kernel: %s", without);
	return answer(f, VERDICT_OK, "available");
}

static enum verdict ask_task_pt_regs(struct facts *f)
{
	return ask_helper(f, BPF_FUNC_task_pt_regs, "user registers are found through BTF");
}

static enum verdict ask_snprintf(struct facts *f)
{
	return ask_helper(f, BPF_FUNC_snprintf, "kernel names come from /proc/kallsyms");
}

/* The programs of waits are loaded and attached for a moment. */
static enum verdict ask_waits(struct facts *f)
{
	struct wait_stats stats = {0};
	char error[200];
	int err;

	if (!f->sampler)
		return answer(f, VERDICT_INFO, "unknown, as the programs do not load");
	err = sampler_follow_waits(f->sampler, 0, UINT64_MAX, error, sizeof(error));
	for (int i = 0; i < WAITS_TRIES && !err && !stats.walks; i++) {
		nanosleep(&(struct timespec){.tv_nsec = WAITS_TRY_NS}, NULL);
		err = waits_stats(sampler_waits(f->sampler), &stats);
	}
	if (err)
		return answer(f, VERDICT_INFO, "off-CPU and wall are not available: %s", error);
	if (!stats.walks)
		return answer(f, VERDICT_INFO, "no thread has left a CPU; the programs load");
	return answer(f, VERDICT_OK,
		      "stacks are taken as a thread leaves its CPU, by the event of the switch");
}

static enum verdict ask_sys_ptrace(struct facts *f)
{
	if (has_cap(f, CAP_SYS_PTRACE))
		return answer(f, VERDICT_OK, "processes of other users can be read");
	return answer(f, VERDICT_INFO, "processes of other users get no tables and names; %s",
		      cap_remedy());
}

/* proc_map_files_get_link() in fs/proc/base.c requires it. */
static enum verdict ask_checkpoint_restore(struct facts *f)
{
	if (has_cap(f, CAP_CHECKPOINT_RESTORE) || has_cap(f, CAP_SYS_ADMIN))
		return answer(f, VERDICT_OK, "/proc/PID/map_files can be opened");
	return answer(f, VERDICT_INFO, "mapped files that were deleted get no names; %s",
		      cap_remedy());
}

/* Hidden addresses read as 0. On some kernels the first symbols are 0 anyway. */
static bool kallsyms_visible(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024];
	unsigned long long address = 0;

	if (!file)
		return false;
	for (int i = 0; i < 1000 && !address && fgets(line, sizeof(line), file); i++)
		address = strtoull(line, NULL, 16);
	fclose(file);
	return address != 0;
}

static enum verdict ask_kptr_restrict(struct facts *f)
{
	long value;

	if (!kernelinfo_number("/proc/sys/kernel/kptr_restrict", &value))
		return answer(f, VERDICT_INFO, "cannot be read");
	if (kallsyms_visible())
		return answer(f, VERDICT_OK, "%ld, kernel addresses are visible", value);
	return answer(f, VERDICT_INFO, "%ld, /proc/kallsyms shows no addresses; run with sudo%s",
		      value, value > 1 ? " and sysctl kernel.kptr_restrict=1" : "");
}

static enum verdict answer_sysctl(struct facts *f, const char *path, const char *meaning)
{
	long value;

	if (!kernelinfo_number(path, &value))
		return answer(f, VERDICT_INFO, "not in this kernel, or not readable");
	return answer(f, VERDICT_INFO, "%ld, %s", value, meaning);
}

/* A setting for those without the capability. */
static enum verdict answer_unless(struct facts *f, const char *path, int cap, const char *name)
{
	const bool held = has_cap(f, cap) || has_cap(f, CAP_SYS_ADMIN);
	char meaning[64];

	snprintf(meaning, sizeof(meaning), "%s %s",
		 held ? "does not apply with" : "applies without", name);
	return answer_sysctl(f, path, meaning);
}

static enum verdict ask_paranoid(struct facts *f)
{
	return answer_unless(f, "/proc/sys/kernel/perf_event_paranoid", CAP_PERFMON, "CAP_PERFMON");
}

static enum verdict ask_unprivileged_bpf(struct facts *f)
{
	return answer_unless(f, "/proc/sys/kernel/unprivileged_bpf_disabled", CAP_BPF, "CAP_BPF");
}

static enum verdict ask_sample_rate(struct facts *f)
{
	return answer_sysctl(f, KERNELINFO_SAMPLE_RATE,
			     "the highest frequency that can be asked for");
}

static enum verdict ask_cpu_time(struct facts *f)
{
	long value;

	if (kernelinfo_number(KERNELINFO_CPU_TIME, &value) && (value <= 0 || value >= 100))
		return answer(f, VERDICT_INFO, "%ld, the kernel never lowers the sample rate",
			      value);
	return answer_sysctl(f, KERNELINFO_CPU_TIME,
			     "the share of a CPU beyond which the kernel lowers the sample rate");
}

static enum verdict ask_hang(struct facts *f)
{
	const char *warning = kernelinfo_hang_warning();

	if (warning)
		return answer(f, VERDICT_INFO, "%s", warning);
	return answer(f, VERDICT_OK, "not one of the kernels that hang when profiled");
}

/* --- all of them ----------------------------------------------------------------------------- */

static enum verdict ask_derived(struct facts *f)
{
	if (!ARCH_DERIVES)
		return answer(f, VERDICT_INFO,
			      "none: code without CFI is walked by its frame records");
	if (derive_missing())
		return answer(f, VERDICT_INFO,
			      "code without CFI is walked by frame pointers only: %s",
			      derive_missing());
	return answer(f, VERDICT_OK, "code without CFI has rows from its instructions");
}

static const struct requirement requirements[] = {
	{"machine", ask_machine, true},
	{"kernel", ask_kernel, true},
	{"BTF", ask_btf, true},
	{"CAP_BPF", ask_cap_bpf, true},
	{"CAP_PERFMON", ask_cap_perfmon, true},
	{"user_namespace", ask_user_namespace, true},
	{"PID_namespace", ask_pid_namespace, true},
	{"lockdown", ask_lockdown, true},
	{"memlock", ask_memlock, true},
	{"descriptors", ask_descriptors, true},
	{"seccomp", ask_seccomp, false},
	{"bpf_load", ask_bpf_load, false}, /* before the helpers */
	{"PID_numbers", ask_pid_numbers, false},
	{"mappings", ask_mappings, false},
	{"bpf_maps", ask_maps, false},
	{"memory", ask_memory, false}, /* after the maps */
	{"cpu-clock", ask_cpu_clock, false},
	{"cycles", ask_cycles, false},
	{"bpf_task_pt_regs", ask_task_pt_regs, false},
	{"bpf_snprintf", ask_snprintf, false},
	{"waits of threads", ask_waits, false},
	{"CAP_SYS_PTRACE", ask_sys_ptrace, false},
	{"CAP_CHECKPOINT_RESTORE", ask_checkpoint_restore, false},
	{"kernel.kptr_restrict", ask_kptr_restrict, false},
	{"kernel.perf_event_paranoid", ask_paranoid, false},
	{"kernel.unprivileged_bpf_disabled", ask_unprivileged_bpf, false},
	{"kernel.perf_event_max_sample_rate", ask_sample_rate, false},
	{"kernel.perf_cpu_time_max_percent", ask_cpu_time, false},
	{"derived_rows", ask_derived, false},
	{"hang", ask_hang, false},
};

#define NREQUIREMENTS (sizeof(requirements) / sizeof(requirements[0]))

static int print_parts(FILE *to)
{
	for (unsigned int i = 0; memory_used() && i < MEMORY_PARTS; i++)
		if (fprintf(to, "--  %-33s  up to %zu MiB: %s\n", memory_name(i),
			    memory_limit(i) >> 20, memory_meaning(i)) < 0)
			return -EIO;
	return 0;
}

static void facts_read(struct facts *f)
{
	memset(f, 0, sizeof(*f));
	if (uname(&f->uts) == 0)
		f->kernel = kernelinfo_version(f->uts.release);
	f->caps_known = kernelinfo_status("CapEff", 16, &f->caps);
}

int check_print(FILE *to)
{
	static const char *const marks[] = {
		[VERDICT_OK] = "ok",
		[VERDICT_NO] = "no",
		[VERDICT_INFO] = "--",
	};
	struct facts f;
	int missing = 0, err = 0;

	facts_read(&f);
	for (size_t i = 0; i < NREQUIREMENTS && !err; i++) {
		enum verdict v = requirements[i].ask(&f);

		if (v == VERDICT_NO)
			missing = 1;
		if (fprintf(to, "%s  %-33s  %s\n", marks[v], requirements[i].name, f.text) < 0 ||
		    (requirements[i].ask == ask_memory && print_parts(to)))
			err = -EIO;
	}
	if (!err)
		err = languages_print(to, f.sampler) == -EIO ? -EIO : 0;
	sampler_free(f.sampler);
	return !err && fflush(to) == 0 ? missing : -EIO;
}

int check_privileges(char *error, size_t size)
{
	struct facts f;

	facts_read(&f);
	for (size_t i = 0; i < NREQUIREMENTS; i++) {
		if (!requirements[i].cheap || requirements[i].ask(&f) != VERDICT_NO)
			continue;
		snprintf(error, size, "%s: %s", requirements[i].name, f.text);
		return -EPERM;
	}
	return 0;
}
