// SPDX-License-Identifier: GPL-2.0-or-later
/* See kernelinfo.h. */
#include "bpf/sampler/kernelinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

bool kernelinfo_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool ok = file && fgets(line, (int)size, file);

	if (file)
		fclose(file);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

bool kernelinfo_number(const char *path, long *value)
{
	char line[32], *end;

	if (!kernelinfo_line(path, line, sizeof(line)))
		return false;
	errno = 0;
	*value = strtol(line, &end, 10);
	return end != line && *end == '\0' && errno == 0;
}

bool kernelinfo_status(const char *field, int base, uint64_t *value)
{
	FILE *file = fopen("/proc/self/status", "re");
	size_t n = strlen(field);
	bool found = false;
	char line[256];

	while (!found && file && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, field, n) && line[n] == ':';
		if (found)
			*value = strtoull(line + n + 1, NULL, base);
	}
	if (file)
		fclose(file);
	return found;
}

bool kernelinfo_rate_limits(long *rate, long *percent)
{
	return kernelinfo_number(KERNELINFO_SAMPLE_RATE, rate) &&
	       kernelinfo_number(KERNELINFO_CPU_TIME, percent);
}

static bool number_parse(const char **at, uint64_t *value)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*value = strtoull(*at, &end, 10);
	if (*value > 0xffff)
		*value = 0xffff;
	*at = end;
	return true;
}

uint64_t kernelinfo_version(const char *s)
{
	uint64_t major, minor, patch = 0;

	if (!number_parse(&s, &major) || *s++ != '.' || !number_parse(&s, &minor))
		return 0;
	if (*s == '.') {
		s++;
		if (!number_parse(&s, &patch))
			patch = 0;
	}
	return KERNELINFO_VERSION(major, minor, patch);
}

bool kernelinfo_hangs(const char *release, const char *version)
{
	static const char mark[] = "Debian ";
	const char *debian = strstr(version, mark);
	uint64_t v = debian ? kernelinfo_version(debian + strlen(mark)) : 0;

	if (!v)
		v = kernelinfo_version(release);
	return (v >= KERNELINFO_VERSION(5, 19, 0) && v <= KERNELINFO_VERSION(6, 1, 35)) ||
	       (v >= KERNELINFO_VERSION(6, 2, 0) && v < KERNELINFO_VERSION(6, 3, 10));
}

const char *kernelinfo_hang_warning(void)
{
	struct utsname uts;
	char line[256];
	const char *release;

	if (uname(&uts) < 0)
		return NULL;
	release = uts.release;
	/* "Ubuntu 6.2.0-39.40-generic 6.2.16": the last one is the version that it is based on. */
	if (kernelinfo_line("/proc/version_signature", line, sizeof(line))) {
		const char *last = strrchr(line, ' ');

		if (last && kernelinfo_version(last + 1))
			release = last + 1;
	}
	if (!kernelinfo_hangs(release, uts.version))
		return NULL;
	return "this kernel may hang while it is profiled (Linux 5.19 to 6.1.35, 6.2 and 6.3 before "
	       "6.3.10 do); update it to 6.1.36, 6.3.10 or later";
}

uint64_t kernelinfo_address_mask(void)
{
	return ~0ull >> __builtin_clzll(getauxval(AT_RANDOM) | 1);
}
