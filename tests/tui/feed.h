/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_TUI_FEED_H
#define STACKTOP_TESTS_TUI_FEED_H

/* A small made-up machine for the tests of the screen: four processes, stacks of known shares. */

#include <stdint.h>
#include <string.h>

#include "tui/profile.h"

#define FEED_SECOND 1000000000ULL
#define FEED_NOW    (1000 * FEED_SECOND)

struct feed {
	struct profile *p;
	uint64_t time;
	uint32_t nginx, postgres, node, kswapd;
	uint32_t stacks[16];
	int nstacks;
};

static inline uint32_t feed_proc(struct feed *f, pid_t pid, const char *user, const char *comm,
				 const char *cmdline, unsigned int threads)
{
	struct profile_proc proc = {.pid = pid, .image = 1, .nthreads = threads};

	strncpy(proc.user, user, sizeof(proc.user) - 1);
	strncpy(proc.comm, comm, sizeof(proc.comm) - 1);
	strncpy(proc.cmdline, cmdline, sizeof(proc.cmdline) - 1);
	return (uint32_t)profile_proc(f->p, &proc);
}

/* frames: "function@module", outermost first, separated by ';'. '!' starts an end, 'k:' kernel.
 * place: see struct profile_stack. */
static inline uint32_t feed_stack_at(struct feed *f, const char *frames, uint64_t place)
{
	uint32_t ids[1024];
	struct profile_stack stack = {.complete = true, .frames = ids, .place = place};
	char copy[16384];
	char *save = NULL;

	strncpy(copy, frames, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = '\0';
	for (char *at = strtok_r(copy, ";", &save); at; at = strtok_r(NULL, ";", &save)) {
		enum func_kind kind = FUNC_USER;
		char *module = strchr(at, '@');

		if (module)
			*module++ = '\0';
		if (*at == '!') {
			kind = FUNC_END;
			stack.complete = false;
			at++;
		} else if (strncmp(at, "k:", 2) == 0) {
			kind = FUNC_KERNEL;
			stack.kernel = true;
			at += 2;
		}
		ids[stack.nframes++] = (uint32_t)profile_func(f->p, kind, at, module ? module : "");
	}
	return (uint32_t)profile_stack_new(f->p, &stack);
}

static inline uint32_t feed_stack(struct feed *f, const char *frames)
{
	return feed_stack_at(f, frames, 0);
}

static inline void feed_health(struct feed *f, struct profile_health *h, uint64_t user,
			       uint64_t kernel, uint64_t complete)
{
	*h = (struct profile_health){
		.time = f->time,
		.elapsed = FEED_SECOND,
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

static inline void feed_open(struct feed *f)
{
	*f = (struct feed){.p = profile_new(10, 16384), .time = FEED_NOW};
	profile_lock(f->p);
	f->nginx = feed_proc(f, 4121, "www", "nginx", "nginx: worker process", 24);
	f->postgres = feed_proc(f, 5310, "postgres", "postgres", "postgres: SELECT", 1);
	f->node = feed_proc(f, 7781, "app", "node", "node server.js", 11);
	f->kswapd = feed_proc(f, 902, "root", "kswapd0", "[kswapd0]", 1);
#define RUN "ngx_worker_process_cycle@nginx;ngx_process_events_and_timers@nginx;"
	f->stacks[0] = feed_stack(f, RUN "ngx_process_request_line@nginx;ngx_parse_header@nginx");
	f->stacks[1] = feed_stack(f, RUN "ngx_process_request_line@nginx;memmove@libc.so.6");
	f->stacks[2] = feed_stack(f, RUN "ngx_writev@nginx");
	f->stacks[3] = feed_stack(f, "k:do_syscall_64@vmlinux;k:tcp_sendmsg@vmlinux");
	f->stacks[4] = feed_stack(f, "main@postgres;ExecutorRun@postgres;ExecInterpExpr@postgres");
	f->stacks[5] = feed_stack(f, "!no table for pc;Builtins_Call@node");
	f->stacks[6] = feed_stack(f, "main@node;uv_run@libuv.so.1;node::Parse(int)@node");
	f->stacks[7] = feed_stack(f, "k:kthread@vmlinux;k:kswapd@vmlinux;k:shrink_folio@vmlinux");
	f->stacks[8] = feed_stack(f, RUN "rare_one@nginx");
	f->nstacks = 9;
	profile_unlock(f->p);
}

/* One second. heavy chooses which process is the busiest: 0 nginx, 1 postgres. */
static inline int feed_slice(struct feed *f, int heavy)
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
	f->time += FEED_SECOND;
	feed_health(f, &h, user, kernel, user - broken);
	profile_lock(f->p);
	err = profile_commit(f->p, cells, sizeof(cells) / sizeof(cells[0]), &h);
	profile_unlock(f->p);
	return err;
}

static inline void feed_close(struct feed *f)
{
	profile_lock(f->p);
	for (int i = 0; i < f->nstacks; i++)
		profile_stack_put(f->p, f->stacks[i]);
	profile_unlock(f->p);
	profile_free(f->p);
}

#endif
