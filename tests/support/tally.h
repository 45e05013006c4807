/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_TALLY_H
#define STACKTOP_TESTS_SUPPORT_TALLY_H

/*
 * All that a sampler of the running kernel gave, added up by stack and by thread, and children that
 * are busy in a known way, to be sampled. What they used and who they are is taken from /proc.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/sampler/sampler.h"

#define PATIENCE_NS  60000000000ull
#define FIRST_FRAMES 6

struct seen_stack {
	uint64_t hash, frames; /* all of them, mixed */
	uint32_t times;
	uint32_t tgid;
	uint64_t image, leaf;
	uint64_t first[FIRST_FRAMES];
	uint32_t nframes;
	uint8_t kernel, reason;
};

struct thread {
	uint32_t tgid, tid;
	uint64_t count, with_user, with_kernel;
	uint64_t image, last_user, last_kernel;
	char comm[16];
};

struct tally {
	struct seen_stack *stacks; /* by hash */
	struct thread *threads;
	size_t nthreads;
	uint64_t total;
	uint64_t records, kernel_records;
	uint64_t missing; /* counts of stacks that had not come */
};

struct tally *tally_new(void);

void tally_free(struct tally *t);

/* Where the hash is, or would be. */
struct seen_stack *stack_of(struct tally *t, uint64_t hash);

void on_stack(const struct stack_record *rec, void *arg);

struct thread *thread_of(struct tally *t, uint32_t tgid, uint32_t tid);

size_t drain(struct sampler *s, struct tally *t);

uint64_t count_of(const struct tally *t, pid_t tgid);

uint64_t now(void);

/* Drains until the process was counted n more times. */
void drain_until(struct sampler *s, struct tally *t, pid_t tgid, uint64_t n);

/* Throws away what was sampled before. */
void drain_old(struct sampler *s, struct tally *t);

/* Not part of its callers: tests look for its address. */
void spin(void);

void enter_kernel(void);

/* A child that does work, with so many threads more, on one CPU or on any (-1). */
pid_t start_child(const char *comm, void (*work)(void), int nthreads, int cpu);

void end_child(pid_t pid);

/* Field number of /proc/PID/stat (proc_pid_stat(5)), from the fourth on. */
uint64_t stat_field(pid_t pid, int number);

struct sampler_options cpu_clock(unsigned int frequency);

/* Skips where it is not permitted, or where PIDs are not those that the kernel program sees. */
struct sampler *start_sampler(const struct sampler_options *options);

#endif
