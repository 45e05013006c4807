/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_SIDEBAND_H
#define STACKTOP_BPF_TRACKER_SIDEBAND_H

/*
 * Side-band records of perf_event_open(2): processes that fork, exec, change their name, map
 * executable memory or exit, and code that the kernel gets or gives up. One dummy event per CPU
 * with a ring each; used by one thread.
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
	SIDEBAND_KSYMBOL, /* of no process */
};

struct sideband_event {
	enum sideband_kind kind;
	pid_t pid; /* process (tgid) */
	pid_t tid;
	pid_t ppid;    /* FORK: the parent's tgid */
	uint64_t time; /* kernelclock_now's */
	char comm[16]; /* EXEC, COMM; raw */
	/* MMAP: an executable mapping; KSYMBOL: start, length and name of kernel code */
	uint64_t start, length, offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *name; /* raw, valid during the call */
	bool gone;	  /* KSYMBOL: it was there until now */
};

/* Opens the events on the given CPUs (NULL: all that are online, now and later). -errno. */
int sideband_new(const unsigned int *cpus, size_t ncpus, struct sideband **out);
void sideband_free(struct sideband *s);
/*
 * Opens the events of CPUs that came online and gives up those of CPUs that went, whose records are
 * still read. An interrupt on each CPU, so to be called about once a second; a CPU that was off
 * between two calls is found by the one after them at the latest. Returns how many came or went:
 * then records may be missing, and what is known about processes is to be read anew after the next
 * sideband_read. -errno: nothing but that one that came has no events yet.
 */
int sideband_watch(struct sideband *s);
/* Readable when there are records (an epoll descriptor). */
int sideband_fd(const struct sideband *s);
/*
 * Hands all records up to now to fn in the order of their time over all CPUs and calls. FORK and
 * EXIT of threads are given too (pid != tid). Returns the number of records that were lost: those
 * of which the kernel has told since the last call, and those for which there was no memory.
 */
int64_t sideband_read(struct sideband *s, void (*fn)(const struct sideband_event *e, void *arg),
		      void *arg);
/*
 * Whether records may be missing that belong before the end of the last reading, and that no
 * earlier reading has told of. Then what is known about processes is to be read anew. It is known
 * before the kernel tells how many they are.
 */
bool sideband_has_gap(const struct sideband *s);

#endif
