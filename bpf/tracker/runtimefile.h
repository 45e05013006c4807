/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_RUNTIMEFILE_H
#define STACKTOP_BPF_TRACKER_RUNTIMEFILE_H

/* The runtime of an interpreted language in a mapped file, and in a process that maps it. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/prog/runtime_layout.h"

struct code_memory;
struct elf_file;
struct object;
struct process;
struct process_runtime;
struct sampler;

struct runtime_object { /* of one file */
	enum runtime kind;
	char shown[32];	     /* "Python 3.11" */
	int err;	     /* its layout is not known */
	const char *missing; /* what is not known of it, a static string; NULL: nothing special */
	/* With ELF addresses. */
	struct runtime_process elf;
	bool proven;	/* by a process of the user */
	uid_t user;	/* 0: for all users */
	uint64_t asked; /* time of the last question about it */
	bool told;	/* that it is not used, and why */
	char why[80];	/* what in a process contradicts the layout, last */
};

struct runtime_question { /* is the layout right in the process? */
	enum runtime kind;
	bool brief; /* it is asked again soon: tries without pauses are enough */
	struct runtime_process process;
};

/* NULL: there is no runtime in the file, or no memory. To be freed. Called without the lock. */
struct runtime_object *runtimefile_read(const struct elf_file *file, const char *name);

/* The n-th object with a runtime that the process has mapped, by address; NULL: there are no more.
 */
struct object *runtimefile_of(const struct process *p, unsigned int n);
/* What is known of that runtime in the process; NULL: it has too many. */
struct process_runtime *runtimefile_slot(struct process *p, const struct object *o);
/* The same, if it is known. */
const struct process_runtime *runtimefile_known(const struct process *p, const struct object *o);
/* The code that runs the language's own, as frames have it; 0: not known. */
void runtimefile_eval(const struct object *o, uint64_t eval[2][2]);
/* May the walk use it in this process? */
bool runtimefile_is_proven(const struct runtime_object *r, const struct process *p);
/* Hands the proven runtimes of the process to the sampler: proc_entry.runtimes. */
uint32_t runtimefile_enter(struct sampler *s, struct process *p);
/* Removes all of them from the sampler and clears the process's slots. */
void runtimefile_leave(struct sampler *s, struct process *p);

/* bias: run time - ELF address. */
void runtimefile_question(const struct object *o, uint64_t bias, struct runtime_question *q);
/*
 * Answers it, in a process of openhelper.c. 0: all agrees. -ENOENT: no code of the language runs
 * yet, ask again. -EINVAL: the memory contradicts the layout, and *why says how, a static string.
 * *mark: what it proved, for runtimefile_prove: bit 0: which thread holds the lock was seen, else
 * that part of the layout is not proven; above: what only the memory says.
 */
int runtimefile_check(struct code_memory *m, struct runtime_question *q, uint64_t *mark,
		      const char **why);
/* What it proved holds for the file. */
void runtimefile_prove(struct runtime_object *r, uid_t user, uint64_t mark);

#endif
