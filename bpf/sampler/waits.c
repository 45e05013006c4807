// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See waits.h. The programs are an object of their own, so that a start that does not follow
 * threads does not pay for their check by the kernel.
 */
#include "bpf/sampler/waits.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/sampler/events.h"
#include "bpf/sampler/loader.h"
#include "bpf/sampler/objects.h"
#include "bpf/sampler/refusal.h"
#include "bpf/sampler/sampler.h"
#include "symbols/base/grow.h"

#define BATCH	   256u
#define READ_TRIES 1000 /* of an entry that is being written; each takes less than a us */
#define LATE_MAX   64u	/* entries whose CPU a hypervisor has taken meanwhile ... */
#define LATE_TRIES 50	/* ... and tries of them, a turn apart: 10 ms in all */
#define LATE_TURN  200000l

static const char *const hooks[] = {"on_switch", "on_waking", "on_wakeup_new"};

#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

struct taken {
	uint64_t key;
	struct thread_entry entry;
};

struct waits {
	struct bpf_object *object;
	struct bpf_link *links[HOOKS];
	struct sampler_options options;
	struct events *events;
	int outer, threads, counts;
	int possible_cpus;
	uint64_t keys[BATCH];
	struct thread_entry entries[BATCH];
	struct taken *taken;
	size_t ntaken, taken_room;
	uint64_t late[LATE_MAX]; /* keys of those that are still being written */
	size_t nlate;
};

/* --- system calls ---------------------------------------------------------------------------- */

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

static const struct {
	unsigned short call;
	unsigned char cause;
} call_causes[] = {
	{SYS_futex, THREAD_LOCK},
	{SYS_futex_waitv, THREAD_LOCK},
	{SYS_futex_wait, THREAD_LOCK},
	{SYS_semop, THREAD_LOCK},
	{SYS_semtimedop, THREAD_LOCK},
	{SYS_flock, THREAD_LOCK},
	{SYS_nanosleep, THREAD_SLEEP},
	{SYS_clock_nanosleep, THREAD_SLEEP},
#ifdef SYS_poll
	{SYS_poll, THREAD_POLL},
	{SYS_select, THREAD_POLL},
	{SYS_epoll_wait, THREAD_POLL},
	{SYS_vfork, THREAD_CHILD},
#endif
	{SYS_ppoll, THREAD_POLL},
	{SYS_pselect6, THREAD_POLL},
	{SYS_epoll_pwait, THREAD_POLL},
	{SYS_epoll_pwait2, THREAD_POLL},
	{SYS_wait4, THREAD_CHILD},
	{SYS_waitid, THREAD_CHILD},
	{SYS_clone, THREAD_CHILD}, /* CLONE_VFORK */
	{SYS_clone3, THREAD_CHILD},
	{SYS_accept, THREAD_SOCKET},
	{SYS_accept4, THREAD_SOCKET},
	{SYS_connect, THREAD_SOCKET},
	{SYS_recvfrom, THREAD_SOCKET},
	{SYS_recvmsg, THREAD_SOCKET},
	{SYS_recvmmsg, THREAD_SOCKET},
	{SYS_sendto, THREAD_SOCKET},
	{SYS_sendmsg, THREAD_SOCKET},
	{SYS_sendmmsg, THREAD_SOCKET},
	{SYS_fsync, THREAD_DISK},
	{SYS_fdatasync, THREAD_DISK},
	{SYS_sync, THREAD_DISK},
	{SYS_syncfs, THREAD_DISK},
	{SYS_msync, THREAD_DISK},
	{SYS_sync_file_range, THREAD_DISK},
	{SYS_io_getevents, THREAD_DISK},
	{SYS_io_pgetevents, THREAD_DISK},
	{SYS_io_uring_enter, THREAD_DISK},
	{SYS_read, CALL_BY_FILE},
	{SYS_write, CALL_BY_FILE},
	{SYS_readv, CALL_BY_FILE},
	{SYS_writev, CALL_BY_FILE},
	{SYS_pread64, CALL_BY_FILE},
	{SYS_pwrite64, CALL_BY_FILE},
	{SYS_preadv, CALL_BY_FILE},
	{SYS_pwritev, CALL_BY_FILE},
	{SYS_preadv2, CALL_BY_FILE},
	{SYS_pwritev2, CALL_BY_FILE},
	{SYS_sendfile, CALL_BY_FILE},
	{SYS_splice, CALL_BY_FILE},
	{SYS_tee, CALL_BY_FILE},
	{SYS_copy_file_range, CALL_BY_FILE},
	{SYS_ftruncate, CALL_BY_FILE},
	{SYS_fallocate, CALL_BY_FILE},
	{SYS_getdents64, CALL_BY_FILE},
};

_Static_assert(THREAD_STATES <= 16 && THREAD_RUNNABLE == CALL_BY_FILE,
	       "four bits, and a state in which no call waits");

void waits_calls(__u64 calls[CALLS_MAX / 16])
{
	memset(calls, 0, CALLS_MAX / 16 * sizeof(*calls));
	for (size_t i = 0; i < sizeof(call_causes) / sizeof(call_causes[0]); i++)
		calls[call_causes[i].call / 16] |= (__u64)call_causes[i].cause
						   << call_causes[i].call % 16 * 4;
}

/* --- life ------------------------------------------------------------------------------------ */

static int load(struct waits *w, struct bpf_object *profiler, const struct profiler_config *config)
{
	struct bpf_program *program;
	sigset_t all, old;
	int err;

	w->object = objects_waits();
	if (!w->object)
		return -EINVAL;
	bpf_object__for_each_program(program, w->object)
	{
		if (!strncmp(bpf_program__name(program), "on_module_", 10))
			bpf_program__set_autoload(program, false); /* they run already */
	}
	err = programs_share_maps(w->object, profiler, config);
	if (err)
		return err;
	sigfillset(&all); /* a signal makes the verifier start over */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = bpf_object__load(w->object);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

static int put_threads(struct waits *w, uint32_t threads)
{
	__u32 zero = 0;

	w->threads = bpf_map_create(BPF_MAP_TYPE_HASH, "threads_inner", sizeof(__u64),
				    sizeof(struct thread_entry), threads, NULL);
	if (w->threads < 0 || bpf_map_update_elem(w->outer, &zero, &w->threads, BPF_ANY))
		return -errno;
	return 0;
}

/* Threads that wait already. Without this they are known when they run next. */
static void find_waiting(struct waits *w)
{
	struct bpf_link *link = bpf_program__attach_iter(
		bpf_object__find_program_by_name(w->object, "on_task"), NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	char nothing[64];

	while (fd >= 0 && read(fd, nothing, sizeof(nothing)) > 0)
		;
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
}

static int attach(struct waits *w, char *error, size_t size)
{
	int err;

	for (size_t i = 0; i < HOOKS; i++) {
		w->links[i] =
			bpf_program__attach(bpf_object__find_program_by_name(w->object, hooks[i]));
		if (!w->links[i])
			return -errno;
	}
	err = events_start(w->events, error, size);
	if (!err)
		find_waiting(w);
	return err;
}

int waits_new(struct bpf_object *profiler, const struct profiler_config *config,
	      const struct sampler_options *options, uint32_t threads, struct waits **out,
	      char *error, size_t size)
{
	struct waits *w = calloc(1, sizeof(*w));
	char remedy[256];
	int err = -ENOMEM;

	*out = NULL;
	error[0] = '\0';
	if (!w)
		goto fail;
	w->threads = -1;
	w->options = *options;
	w->options.type = PERF_TYPE_SOFTWARE;
	w->options.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	w->options.period = 1;
	w->possible_cpus = libbpf_num_possible_cpus();
	w->outer = bpf_object__find_map_fd_by_name(profiler, "threads");
	w->counts = bpf_object__find_map_fd_by_name(profiler, "wait_counts");
	err = load(w, profiler, config);
	if (!err)
		err = put_threads(w, threads);
	if (!err)
		err = events_new(&w->options,
				 bpf_object__find_program_by_name(w->object, "on_switch_out"),
				 bpf_object__find_map_fd_by_name(profiler, "stats"), &w->events);
	if (!err)
		err = attach(w, error, size);
	if (err)
		goto fail;
	*out = w;
	return 0;
fail:
	if (!error[0]) {
		refusal_of(REFUSAL_BPF, err, remedy, sizeof(remedy));
		snprintf(error, size, "cannot follow waits of threads: %s%s", strerror(-err),
			 remedy);
	}
	waits_free(w);
	return err;
}

void waits_free(struct waits *w)
{
	__u32 zero = 0;

	if (!w)
		return;
	for (size_t i = 0; i < HOOKS; i++)
		bpf_link__destroy(w->links[i]);
	events_free(w->events);
	if (w->threads >= 0) {
		bpf_map_delete_elem(w->outer, &zero);
		close(w->threads);
	}
	bpf_object__close(w->object);
	free(w->taken);
	free(w);
}

int waits_watch(struct waits *w)
{
	return events_watch(w->events);
}

/* --- reading --------------------------------------------------------------------------------- */

static bool is_whole(const struct thread_entry *t)
{
	return t->seq == t->seq_end && t->seq % 2 == 0;
}

/* Reads an entry until it is whole. False: it is gone. */
static bool read_again(struct waits *w, const uint64_t *key, struct thread_entry *t)
{
	for (int i = 0; i < READ_TRIES; i++) {
		if (bpf_map_lookup_elem(w->threads, key, t))
			return false;
		if (is_whole(t))
			return true;
	}
	return false;
}

static int keep(struct waits *w, const uint64_t *key, const struct thread_entry *t)
{
	if (GROW(w->taken, w->ntaken, w->taken_room, SIZE_MAX))
		return -ENOMEM;
	w->taken[w->ntaken].key = *key;
	w->taken[w->ntaken++].entry = *t;
	return 0;
}

/*
 * Those that could not be read are tried again when the others were: what does not run in the
 * middle of writing needs some time to go on.
 */
static int read_late(struct waits *w)
{
	const struct timespec turn = {.tv_nsec = LATE_TURN};
	struct thread_entry t;
	int kept = 0;

	for (int i = 0; i < LATE_TRIES && w->nlate; i++) {
		const size_t n = w->nlate;

		nanosleep(&turn, NULL);
		w->nlate = 0;
		for (size_t k = 0; k < n && !kept; k++) {
			if (bpf_map_lookup_elem(w->threads, &w->late[k], &t))
				continue; /* it is gone */
			if (is_whole(&t))
				kept = keep(w, &w->late[k], &t);
			else
				w->late[w->nlate++] = w->late[k];
		}
	}
	return kept;
}

int waits_take(struct waits *w)
{
	uint64_t batch = 0;
	void *in = NULL;
	int err, kept = 0;
	__u32 n;

	w->ntaken = w->nlate = 0;
	do {
		n = BATCH;
		err = bpf_map_lookup_batch(w->threads, in, &batch, w->keys, w->entries, &n, NULL)
			      ? -errno
			      : 0;
		if (err && err != -ENOENT) /* -ENOSPC: a bucket with more, which none has */
			return err;
		for (__u32 i = 0; i < n && !kept; i++) {
			if (is_whole(&w->entries[i]) || read_again(w, &w->keys[i], &w->entries[i]))
				kept = keep(w, &w->keys[i], &w->entries[i]);
			else if (w->nlate < LATE_MAX)
				w->late[w->nlate++] = w->keys[i];
		}
		in = &batch;
	} while (!err && !kept);
	return kept ? kept : read_late(w);
}

void waits_threads(struct waits *w,
		   void (*fn)(uint64_t key, const struct thread_entry *t, void *arg), void *arg)
{
	for (size_t i = 0; i < w->ntaken; i++)
		fn(w->taken[i].key, &w->taken[i].entry, arg);
}

int waits_stats(const struct waits *w, struct wait_stats *sum)
{
	struct wait_stats *each = calloc((size_t)w->possible_cpus, sizeof(*each));
	const size_t n = sizeof(*each) / sizeof(__u64);
	__u32 zero = 0;

	if (!each)
		return -ENOMEM;
	memset(sum, 0, sizeof(*sum));
	if (bpf_map_lookup_elem(w->counts, &zero, each)) {
		free(each);
		return -errno;
	}
	for (int cpu = 0; cpu < w->possible_cpus; cpu++) {
		const uint64_t limit = sum->limit;

		for (size_t i = 0; i < n; i++)
			((__u64 *)sum)[i] += ((const __u64 *)&each[cpu])[i];
		sum->limit = each[cpu].limit > limit ? each[cpu].limit : limit;
	}
	free(each);
	return 0;
}
