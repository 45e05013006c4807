// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel does not report to the owner of a perf event that its CPU went offline, and when the
 * list of online CPUs is read, the CPU may be back. The event's own time shows it: it advances as
 * long as the event exists (perf_event_open(2), time_enabled).
 */
#include "bpf/sampler/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbols/base/grow.h"

#define ONLINE	   "/sys/devices/system/cpu/online" /* sysfs-devices-system-cpu of the kernel's ABI */
#define LIST_BYTES 65536u
#define CPU_MAX	   65535ul /* the largest number in a list: no kernel has more CPUs */

struct cpulist {
	unsigned int *cpus;
	size_t n, room;
};

/* first must be above all that are there already. */
static int add_range(struct cpulist *l, unsigned long first, unsigned long last)
{
	if (last > CPU_MAX || first > last || (l->n && first <= l->cpus[l->n - 1]))
		return -EINVAL;
	for (; first <= last; first++) {
		if (GROW(l->cpus, l->n, l->room, CPU_MAX + 1))
			return -ENOMEM;
		l->cpus[l->n++] = (unsigned int)first;
	}
	return 0;
}

int cpus_parse(const char *list, unsigned int **cpus, size_t *ncpus)
{
	struct cpulist l = {0};
	unsigned long first, last;
	char *end;
	int err = 0;

	while (!err && *list >= '0' && *list <= '9') {
		first = last = strtoul(list, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		err = add_range(&l, first, last);
		list = *end == ',' ? end + 1 : end;
	}
	if (err == -ENOMEM) {
		free(l.cpus);
		l = (struct cpulist){0};
	}
	*cpus = l.cpus;
	*ncpus = l.n;
	return err == -ENOMEM ? err : 0;
}

int cpus_online(unsigned int **cpus, size_t *ncpus)
{
	FILE *f = fopen(ONLINE, "re");
	char *text = malloc(LIST_BYTES);
	int err = text ? 0 : -ENOMEM;
	long configured;
	bool known;

	*cpus = NULL;
	*ncpus = 0;
	known = f && text && fgets(text, LIST_BYTES, f);
	if (f)
		fclose(f);
	if (known)
		err = cpus_parse(text, cpus, ncpus);
	if (!err && !*ncpus) {
		configured = sysconf(_SC_NPROCESSORS_CONF);
		snprintf(text, LIST_BYTES, "0-%ld", configured < 1 ? 0 : configured - 1);
		err = cpus_parse(text, cpus, ncpus);
	}
	free(text);
	return err;
}

bool cpus_event_ended(int fd, uint64_t *enabled)
{
	struct {
		uint64_t count, enabled, running; /* `running` only if the event has it */
	} now;
	ssize_t n = read(fd, &now, sizeof(now));
	bool ended;

	/* An event in error reads as its end. */
	if (n < (ssize_t)(2 * sizeof(uint64_t)))
		return n == 0;
	ended = now.enabled == *enabled;
	*enabled = now.enabled;
	return ended;
}
