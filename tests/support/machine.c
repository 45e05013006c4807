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
		{f->nginx, 4121, f->stacks[0], PROFILE_NO_STACK, much, 0},
		{f->nginx, 4121, f->stacks[1], PROFILE_NO_STACK, much / 2, 0},
		{f->nginx, 4133, f->stacks[2], f->stacks[3], much / 2, 0},
		{f->nginx, 4133, f->stacks[8], PROFILE_NO_STACK, 1, 0},
		{f->postgres, 5310, f->stacks[4], PROFILE_NO_STACK, heavy == 1 ? 150 : 60, 0},
		{f->node, 7781, f->stacks[5], PROFILE_NO_STACK, 20, 0},
		{f->node, 7781, f->stacks[6], PROFILE_NO_STACK, 5, 0},
		{f->kswapd, 902, PROFILE_NO_STACK, f->stacks[7], 12, 0},
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

void machine_close(struct machine *f)
{
	profile_lock(f->p);
	for (int i = 0; i < f->nstacks; i++)
		profile_stack_put(f->p, f->stacks[i]);
	profile_unlock(f->p);
	profile_free(f->p);
}
