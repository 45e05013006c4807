// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/machine.h"

#include <string.h>

#include "tests/support/feed.h"

uint32_t machine_proc(struct machine *f, pid_t pid, const char *user, const char *comm,
		      const char *cmdline, unsigned int threads)
{
	struct profile_proc proc = {.pid = pid, .image = 1, .nthreads = threads};

	strncpy(proc.user, user, sizeof(proc.user) - 1);
	strncpy(proc.comm, comm, sizeof(proc.comm) - 1);
	strncpy(proc.cmdline, cmdline, sizeof(proc.cmdline) - 1);
	return (uint32_t)profile_proc(f->p, &proc);
}

uint32_t machine_stack(struct machine *f, const char *frames)
{
	return feed_frames(f->p, frames, 0);
}

void machine_health(struct machine *f, struct profile_health *h, uint64_t user, uint64_t kernel,
		    uint64_t complete)
{
	*h = (struct profile_health){
		.time = f->time,
		.elapsed = MACHINE_SECOND,
		.samples = user + kernel,
		.user_samples = user,
		.kernel_samples = kernel,
		.user_walks = user,
		.complete_walks = complete,
		.ncpus = 4,
		.frequency = 99,
		.event = "cpu-clock",
		.nprocs = 231,
		.shards_used = 2,
		.shards_created = 2,
		.shards_max = 16,
		.words_used = 6375000,
		.words_max = 16777216,
		.counts_used = 721,
		.counts_max = 16384,
		.drain_ns = 3100000,
		.locked = 14155776,
		.self_ns = 4000000,
	};
}

void machine_open(struct machine *f)
{
	*f = (struct machine){.p = profile_new(10, 16384), .time = MACHINE_NOW};
	profile_lock(f->p);
	f->nginx = machine_proc(f, 4121, "www", "nginx", "nginx: worker process", 24);
	f->postgres = machine_proc(f, 5310, "postgres", "postgres", "postgres: SELECT", 1);
	f->node = machine_proc(f, 7781, "app", "node", "node server.js", 11);
	f->kswapd = machine_proc(f, 902, "root", "kswapd0", "[kswapd0]", 1);
#define RUN "ngx_worker_process_cycle@nginx;ngx_process_events_and_timers@nginx;"
	f->stacks[0] =
		machine_stack(f, RUN "ngx_process_request_line@nginx;ngx_parse_header@nginx");
	f->stacks[1] = machine_stack(f, RUN "ngx_process_request_line@nginx;memmove@libc.so.6");
	f->stacks[2] = machine_stack(f, RUN "ngx_writev@nginx");
	f->stacks[3] = machine_stack(f, "k:do_syscall_64@vmlinux;k:tcp_sendmsg@vmlinux");
	f->stacks[4] =
		machine_stack(f, "main@postgres;ExecutorRun@postgres;ExecInterpExpr@postgres");
	f->stacks[5] = machine_stack(f, "!no table for pc;Builtins_Call@node");
	f->stacks[6] = machine_stack(f, "main@node;uv_run@libuv.so.1;node::Parse(int)@node");
	f->stacks[7] =
		machine_stack(f, "k:kthread@vmlinux;k:kswapd@vmlinux;k:shrink_folio@vmlinux");
	f->stacks[8] = machine_stack(f, RUN "rare_one@nginx");
	f->nstacks = 9;
	profile_unlock(f->p);
}

int machine_slice(struct machine *f, int heavy)
{
	uint64_t much = heavy == 0 ? 100 : 10;
	struct profile_cell cells[] = {
		{f->nginx, 4121, f->stacks[0], PROFILE_NO_STACK, much, 0, 0},
		{f->nginx, 4121, f->stacks[1], PROFILE_NO_STACK, much / 2, 0, 0},
		{f->nginx, 4133, f->stacks[2], f->stacks[3], much / 2, 0, 0},
		{f->nginx, 4133, f->stacks[8], PROFILE_NO_STACK, 1, 0, 0},
		{f->postgres, 5310, f->stacks[4], PROFILE_NO_STACK, heavy == 1 ? 150 : 60, 0, 0},
		{f->node, 7781, f->stacks[5], PROFILE_NO_STACK, 20, 0, 0},
		{f->node, 7781, f->stacks[6], PROFILE_NO_STACK, 5, 0, 0},
		{f->kswapd, 902, PROFILE_NO_STACK, f->stacks[7], 12, 0, 0},
	};
	struct profile_health h;
	uint64_t user = 0, kernel = 12 + much / 2, broken = 20;
	int err;

	for (int i = 0; i < 7; i++)
		user += cells[i].count;
	user -= much / 2;
	f->time += MACHINE_SECOND;
	machine_health(f, &h, user, kernel, user - broken);
	profile_lock(f->p);
	err = profile_commit(f->p, cells, sizeof(cells) / sizeof(cells[0]), &h);
	profile_unlock(f->p);
	return err;
}

/* --- waits ----------------------------------------------------------------------------------- */

#define MS	1000ull
#define MUTEX	"ngx_shmtx_lock@nginx;pthread_mutex_lock@libc.so.6"
#define FUTEX	"k:do_syscall_64@vmlinux;k:futex_wait@vmlinux;"
#define HOLDER	"waker:nginx@pid 4121;k:futex_wake@vmlinux;pthread_mutex_unlock@libc.so.6;"
#define SLOW	"ngx_shmtx_unlock@nginx;ngx_log_error@nginx"
#define FAST	"ngx_slab_free@nginx;ngx_http_finalize@nginx"
#define WOKEN	";waker:node@pid 7781;uv_async_send@libuv.so.1"
#define BY_DISK "waker:interrupt;k:blk_mq_complete_request@vmlinux;k:asm_common_interrupt@vmlinux"

static const struct {
	int proc; /* number in procs */
	uint32_t tid;
	const char *user, *kernel;
	uint64_t count, us;
} waits[] = {
	{0, 4121, RUN MUTEX, FUTEX "wait:lock", 30, 600 * MS},
	{0, 4121, RUN "ngx_writev@nginx", "k:schedule@vmlinux;wait:runnable", 10, 150 * MS},
	{0, 4133, RUN MUTEX, FUTEX "wait:lock", 45, 900 * MS},
	{1, 5310, "main@postgres;ExecutorRun@postgres;FileRead@postgres",
	 "k:do_syscall_64@vmlinux;k:io_schedule@vmlinux;wait:disk", 70, 700 * MS},
	{2, 7781, "main@node;uv_run@libuv.so.1;epoll_wait@libc.so.6", "wait:poll", 19, 350 * MS},
	{2, 7781, "main@node;uv_run@libuv.so.1;uv_mutex_lock@libuv.so.1", FUTEX "wait:lock", 1,
	 600 * MS},
	/* Who ended them. */
	{0, 4121, RUN MUTEX, FUTEX "wait:lock;lock:0x7f0000001000;" HOLDER SLOW, 20, 400 * MS},
	{0, 4121, RUN MUTEX, FUTEX "wait:lock;lock:0x7f0000001000;" HOLDER FAST, 10, 200 * MS},
	{0, 4133, RUN MUTEX, FUTEX "wait:lock;lock:0x7f0000001000;" HOLDER SLOW WOKEN, 45,
	 900 * MS},
	{1, 5310, "main@postgres;ExecutorRun@postgres;FileRead@postgres",
	 "k:do_syscall_64@vmlinux;k:io_schedule@vmlinux;wait:disk;" BY_DISK, 70, 700 * MS},
	{2, 7781, "main@node;uv_run@libuv.so.1;uv_mutex_lock@libuv.so.1",
	 FUTEX "wait:lock;lock:0x7f0000002000", 1, 600 * MS},
};

static const struct {
	int proc;
	uint32_t tid;
	enum wait_cause cause;
	uint64_t us;
} times[] = {
	{0, 4121, WAIT_NONE, 250 * MS}, {0, 4121, WAIT_RUNNABLE, 150 * MS},
	{0, 4121, WAIT_LOCK, 600 * MS}, {0, 4133, WAIT_NONE, 100 * MS},
	{0, 4133, WAIT_LOCK, 900 * MS}, {1, 5310, WAIT_NONE, 300 * MS},
	{1, 5310, WAIT_DISK, 700 * MS}, {2, 7781, WAIT_NONE, 50 * MS},
	{2, 7781, WAIT_POLL, 350 * MS}, {2, 7781, WAIT_LOCK, 600 * MS},
};

#define NWAITS (sizeof(waits) / sizeof(waits[0]))
#define NTIMES (sizeof(times) / sizeof(times[0]))

void machine_waits_health(struct machine *f, struct profile_health *h)
{
	machine_health(f, h, 25, 0, 25);
	h->waits = true;
	h->wait_ns = 3000000;
	h->wait_walks = 174;
}

int machine_waits_with(struct machine *f, const struct profile_health *h)
{
	const uint32_t procs[] = {f->nginx, f->postgres, f->node};
	struct profile_cell cells[NWAITS + NTIMES + 1];
	struct profile_health health = *h;
	size_t n = 0;
	int err;

	f->time += MACHINE_SECOND;
	health.time = f->time;
	profile_lock(f->p);
	for (size_t i = 0; i < NWAITS; i++)
		cells[n++] = (struct profile_cell){.proc = procs[waits[i].proc],
						   .tid = waits[i].tid,
						   .ustack = feed_frames(f->p, waits[i].user, 0),
						   .kstack = feed_frames(f->p, waits[i].kernel, 0),
						   .count = waits[i].count,
						   .weight = waits[i].us};
	for (size_t i = 0; i < NTIMES; i++)
		cells[n++] = (struct profile_cell){
			.proc = procs[times[i].proc],
			.tid = times[i].tid,
			.ustack = PROFILE_NO_STACK,
			.kstack = profile_time_stack(f->p, times[i].cause),
			.count = 1,
			.weight = times[i].us,
		};
	cells[n++] = (struct profile_cell){.proc = f->nginx,
					   .tid = 4121,
					   .ustack = f->stacks[0],
					   .kstack = PROFILE_NO_STACK,
					   .count = 25};
	err = profile_commit(f->p, cells, n, &health);
	for (size_t i = 0; i < NWAITS; i++) {
		profile_stack_put(f->p, cells[i].ustack);
		profile_stack_put(f->p, cells[i].kstack);
	}
	profile_unlock(f->p);
	return err;
}

int machine_waits(struct machine *f)
{
	struct profile_health h;

	machine_waits_health(f, &h);
	return machine_waits_with(f, &h);
}

void machine_close(struct machine *f)
{
	profile_lock(f->p);
	for (int i = 0; i < f->nstacks; i++)
		profile_stack_put(f->p, f->stacks[i]);
	profile_unlock(f->p);
	profile_free(f->p);
}
