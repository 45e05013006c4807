/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_TARGETS_H
#define STACKTOP_BPF_TRACKER_TARGETS_H

/*
 * Which processes are sampled: those that the command line chooses, changed by the selectors that
 * the user enters later. A selector stays in force, also for processes that fit it later; the last
 * one that fits a process decides. A PID comes before them, since it means this one process.
 * Guarded by the tracker's lock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process;
struct selector;

#define TARGET_RULES 24u

struct targets {
	bool filtering;	 /* some processes are chosen; else all are sampled */
	bool judged;	 /* by what processes are, not by their numbers: new ones may be, too */
	bool by_options; /* the filter of the command line is in force */
	bool following;	 /* COMMAND's tree is chosen */
	unsigned int nattached;
	struct identity *named; /* the processes of filter->pids, in their order */
	uint64_t named_looked;	/* time of the last targets_watch that looked */
	bool named_ends;	/* a record reported the end of one; it may go on */
	struct target_rule *rules[TARGET_RULES]; /* in the order in which they were entered */
	size_t nrules;
	uint64_t looked; /* time of the last targets_look that looked */
	pid_t look_at;	 /* which process is to be looked at next */

	const struct tracker_filter *filter;
	struct sampler *sampler;
	struct proctable *procs;
	struct objects *objects;
	struct notices *notices;
};

/* Looks up the processes that the filter names by PID. -ENOMEM. */
int targets_init(struct targets *ts, const struct tracker_filter *filter);
void targets_free(struct targets *ts);
/* Reads what rules need to know of the process and refresh does not read anyway. */
void targets_read(const struct targets *ts, struct process *p);
/* Decides anew whether the process is sampled. */
void targets_apply(struct targets *ts, struct process *p);
/* The process ends. */
void targets_drop(struct targets *ts, struct process *p);
/* Is a process chosen that is, or was, p, but with that name? p may be NULL: only its name counts.
 */
bool targets_choose(const struct targets *ts, const struct process *p, const char comm[16]);
/* The process of that number has ended. */
void targets_note_end(struct targets *ts, pid_t pid);
/* Reports the ends of processes that the filter names. True: one is about to end. */
bool targets_watch(struct targets *ts, uint64_t now);
/* Looks for processes that have another user or control group now. */
void targets_look(struct targets *ts, uint64_t now);
/* Follows COMMAND and its descendants. */
void targets_follow(struct targets *ts, struct process *command);
/* Samples only targets if any rule is in force, else all processes. */
void targets_filter(struct targets *ts);
/* Commands: attach or detach what a selector fits (takes it); sample the whole machine again. */
void targets_attach(struct targets *ts, struct selector *selector, bool on);
void targets_clear(struct targets *ts);

#endif
