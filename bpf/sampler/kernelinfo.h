/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_KERNELINFO_H
#define STACKTOP_BPF_SAMPLER_KERNELINFO_H

/* The kernel's version and settings, and whether it is one that hangs. */

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Headers older than Linux 5.9 lack them; include/uapi/linux/capability.h. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define KERNELINFO_SAMPLE_RATE "/proc/sys/kernel/perf_event_max_sample_rate"
#define KERNELINFO_CPU_TIME    "/proc/sys/kernel/perf_cpu_time_max_percent"

/* The first line of a small file, without its end; false: there is none. */
bool kernelinfo_line(const char *path, char *line, size_t size);
/* A file that is a number. */
bool kernelinfo_number(const char *path, long *value);

/* A number from /proc/self/status ("CapEff", 16); false: there is no such line. */
bool kernelinfo_status(const char *field, int base, uint64_t *value);

#define KERNELINFO_VERSION(major, minor, patch)                                                    \
	(((uint64_t)(major) << 32) | ((uint64_t)(minor) << 16) | (patch))

/* "6.1.35-anything", "6.4-rc1" as KERNELINFO_VERSION; 0: it is not a version. */
uint64_t kernelinfo_version(const char *s);

/*
 * kernel.perf_event_max_sample_rate (Hz) and kernel.perf_cpu_time_max_percent (0 or 100: no limit),
 * by which the kernel throttles events; false: they cannot be read.
 */
bool kernelinfo_rate_limits(long *rate, long *percent);

/*
 * A warning to show, or NULL: kernels 5.19 to 6.1.35, 6.2.x and 6.3 before 6.3.10 may hang when a
 * perf event's program reads user memory.
 */
const char *kernelinfo_hang_warning(void);

/*
 * Whether a kernel is one of those, by its release and version (uname -r and -v). Debian's releases
 * name an ABI ("6.1.0-37-amd64"), so "Debian 6.1.140-1" in the version takes precedence. False if
 * no version can be read.
 */
bool kernelinfo_hangs(const char *release, const char *version);

/*
 * The bits that an address of user space may have, by what the kernel has put on the main thread's
 * stack, which is at the upper end, whatever the layout of the rest: 39, 42, 47 or 48 of them on
 * arm64, by the kernel's configuration.
 */
uint64_t kernelinfo_address_mask(void);

#endif
