/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_SIDEBAND_H
#define STACKTOP_BPF_TRACKER_SIDEBAND_H

/*
 * Side-band records of perf_event_open(2): processes that fork, exec, change their name, map
 * executable memory or exit, and kernel code that comes and goes. Each CPU has a dummy event with a
 * ring. Used by one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sideband;

enum sideband_kind {
	SIDEBAND_FORK,
	SIDEBAND_EXEC,
	SIDEBAND_COMM,
	SIDEBAND_MMAP,
	SIDEBAND_EXIT,
	SIDEBAND_KSYMBOL, /* belongs to no process */
};

struct sideband_event {
	enum sideband_kind kind;
	pid_t pid; /* process (tgid) */
	pid_t tid;
	pid_t ppid;    /* FORK: the parent's tgid, */
	pid_t ptid;    /* ... and the thread that has forked */
	uint64_t time; /* as kernelclock_now */
	char comm[16]; /* EXEC, COMM; raw */
	/* MMAP: an executable mapping; KSYMBOL: start, length and name of kernel code */
	uint64_t start, length, offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *name; /* raw, valid during the call */
	bool gone;	  /* KSYMBOL: it has gone, else come */
	bool write;	  /* MMAP: it is writable, too */
};

/* Opens the events on the given CPUs (NULL: all that are online, now and later). -errno. */
int sideband_new(const unsigned int *cpus, size_t ncpus, struct sideband **out);
void sideband_free(struct sideband *s);
/*
 * Opens events on CPUs that came online and closes those of CPUs that went offline once their
 * records are read. Interrupts each CPU, so to be called about once a second; a CPU that was
 * offline between two calls is found by the next one at the latest. Returns how many came or went:
 * then records may be missing, and processes are to be read again after the next sideband_read.
 * -errno: a new CPU has no event yet, and nothing else has changed.
 */
int sideband_watch(struct sideband *s);
/* An epoll descriptor, readable when there are records. */
int sideband_fd(const struct sideband *s);
/*
 * Passes all records up to now to fn, ordered by time over all CPUs and calls, including FORK and
 * EXIT of threads (pid != tid). Returns the number of lost records: those that the kernel has
 * reported since the last call, and those for which there was no memory.
 */
int64_t sideband_read(struct sideband *s, void (*fn)(const struct sideband_event *e, void *arg),
		      void *arg);
/*
 * May records be missing from before the end of the last reading that no earlier call has reported?
 * Then processes are to be read again. This is known before the kernel reports how many were lost.
 */
bool sideband_has_gap(const struct sideband *s);

#endif
