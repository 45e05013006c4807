/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_PROCTABLE_H
#define STACKTOP_BPF_TRACKER_PROCTABLE_H

/*
 * The processes that are known: the live ones, and for a while those that have ended, whose samples
 * may still need names. process.c keeps the table up to date. Guarded by the tracker's lock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/prog/runtime_layout.h"
#include "bpf/tracker/mapping.h"
#include "symbols/base/hash.h"

struct tracker_exec;

#define DOUBTS_MAX 64u
#define FORKED_MAX 256u

struct dead_key {
	uint64_t start_stack;
	uint64_t pid;
};

struct exec_key {
	uint64_t exec_id;
	uint64_t pid;
};

/* How far the tracker is in reading what an exec has changed. */
enum exec_state {
	EXEC_SETTLED,
	/* Just read, but the record of an earlier exec may not have been handled yet. */
	EXEC_READ,
	/* To be read: exec was called, or the process is new. Its mappings too, unless recorded. */
	EXEC_UNREAD,
	/* The same, and what was read before may belong to the next exec. */
	EXEC_UNREAD_AGAIN,
};

enum thread_state {
	THREADS_ONE,
	THREADS_MANY,	    /* it has or had several: the first one's end may not be its own */
	THREADS_LEADERLESS, /* its first thread has ended, others live */
};

enum process_choice { /* by a PID in a command; before all other selectors */
		      CHOICE_NONE,
		      CHOICE_ATTACHED,
		      CHOICE_DETACHED,
};

/* Code that a process makes at run time and describes itself, see runcode.h. */
struct process_code {
	struct object *table; /* of the description that was read last; NULL: none */
	bool described;	      /* a file that it maps says where a description is */
	uint64_t question;    /* open, see opener.h; 0: none */
	uint64_t next;	      /* no question before */
	uint64_t soon;	      /* nor before this, if bare_is_new */
	uint64_t wait;	      /* between two questions */
	uint64_t mark;	      /* of the description in the table; 0: none */
	uint64_t names;	      /* of the names there, see tracker_code_names */
	struct bareset *bare; /* places in code that nothing describes; NULL: none */
	bool bare_is_new;     /* some came since the last question, or are to be read again */
	bool in_blobs;	      /* the description tells for an address what code is there */
	bool in_part;	      /* the open question is about new places only */
	bool whole;	      /* no such question before all has been read again */
	uint64_t asked;	      /* time of the last question */
	uint32_t refusals;    /* answers that the description is not understood */
	uint32_t nreadings;   /* of that code, the first few of them */
};

struct process_runtime {   /* of an interpreted language, see runtimes.h */
	uint64_t object;   /* number of its file; 0: the slot is free */
	bool entered;	   /* the sampler knows it */
	uint64_t question; /* open, see opener.h; 0: none */
	uint64_t next;	   /* no question before */
	uint64_t wait;	   /* between two questions */
	unsigned int refusals;
	int err; /* of the last answer; 0: there was none, or it proved the layout */
};

struct process {
	pid_t pid;
	pid_t ppid;
	uint64_t start;	      /* as in struct procstat; 0: not known yet */
	uint64_t start_stack; /* likewise */
	uint64_t exec_id;     /* see struct proc_entry; 0: no sample has reported it yet */
	uint64_t exec_at;     /* likewise */
	char comm[16];
	char scanned[16]; /* a name in /proc that no record has told */
	uid_t uid;	  /* effective */
	uint32_t groups;  /* targets.c: the rules by group that it fits */
	enum exec_state exec_state;
	bool stack_start_open; /* could not be read, or not within an exec */
	bool recorded;	       /* records have reported all mappings since the exec */
	unsigned int tries;
	enum thread_state threads;
	struct mapping *mappings; /* ascending, disjoint */
	size_t nmappings;
	uid_t payer; /* to whom they are charged */
	bool asks;   /* some of their files have been asked for */
	struct process_code code;
	struct process_runtime runtimes[PROCESS_RUNTIMES];
	bool unproven; /* its list was published without one of them */
	struct maplist *list;
	bool entered; /* has an entry in the procs map */
	bool kthread;
	uint64_t exec_kb;    /* of executable memory at the last check; 0: none yet */
	uint64_t scan_next;  /* doubts do not make the tracker read its mappings before */
	uint64_t scan_wait;  /* between such readings: grows while they find nothing new */
	uint64_t scan_rest;  /* no reading before, because of the time of the last one */
	uint64_t scan_round; /* rescan.c: the last round that has read it */
	bool dirty;	     /* the list is out of date */
	struct process *prev_dirty, *next_dirty;
	enum process_choice choice;
	bool follow;	      /* of COMMAND's tree */
	bool waits;	      /* COMMAND before its exec: the files that it has mapped do not run */
	bool target;	      /* chosen, and the sampler knows or may ask */
	bool listed;	      /* in the targets map, */
	char listed_comm[16]; /* under that name */
	bool exited;
	bool ambiguous; /* exited, and not the only one of its dead_key */
	uint64_t exit_time;
	struct process *prev_dead, *next_dead;
	bool hashed;
	UT_hash_handle hh; /* of the live ones, by pid */
	struct dead_key dead_key;
	UT_hash_handle dead_hh; /* of the dead ones, by dead_key */
	struct exec_key exec_key;
	UT_hash_handle exec_hh; /* of the dead ones whose exec_id is known, by exec_key */
};

struct proctable {
	bool runtime_came;    /* a list was published of a process whose runtime is not proven */
	struct process *live; /* by pid */
	struct process *dead; /* oldest first */
	struct process *dead_by_key, *dead_by_exec;
	unsigned int ndead;
	struct forked { /* the process that forked last with that start_stack, by a hash of it */
		uint64_t start_stack;
		pid_t pid;
	} forked[FORKED_MAX];
	struct process *dirty;
	pid_t doubts[DOUBTS_MAX]; /* to be read anew, see rescan.c */
	size_t ndoubts;
};

/* A new live process; NULL: no memory. */
struct process *proctable_add(struct proctable *procs, pid_t pid);
/* The live process of that number. */
struct process *proctable_live(const struct proctable *procs, pid_t pid);
/* NULL: none, or it may be one of several. */
struct process *proctable_find(const struct proctable *procs, const struct tracker_exec *of);
/*
 * For a process that is not known yet, or whose record was lost: another one with that start_stack,
 * which has forked and may be its parent. NULL: none is known.
 */
struct process *proctable_akin(const struct proctable *procs, uint64_t start_stack);
/* parent has forked. */
void proctable_note_fork(struct proctable *procs, const struct process *parent);
/* Takes the process out of the live ones. */
void proctable_remove(struct proctable *procs, struct process *p);
/* Enters it as one that has ended. It keeps its mappings, to name its last samples. */
void proctable_add_dead(struct proctable *procs, struct process *p);
/* Takes out the oldest of the dead if it ended before that time, or if there are too many. */
struct process *proctable_take_dead(struct proctable *procs, uint64_t before);
/* Its list is out of date, or no longer. */
void proctable_dirty(struct proctable *procs, struct process *p);
void proctable_clean(struct proctable *procs, struct process *p);
/* Marks all processes dirty that map the object. */
void proctable_touch(struct proctable *procs, const struct object *o);
/* What is known of the process may be wrong. */
void proctable_doubt(struct proctable *procs, pid_t pid);

/* The number under which /proc shows what all its threads share. */
pid_t process_thread(const struct process *p);
/* Does /proc still show p->start_stack? */
bool process_has_stack_start(const struct process *p);
/* Does a file that it maps say where the process describes code that it makes? */
bool process_is_described(const struct process *p);
/* Is it to be read because of an exec? */
bool process_is_unread(const struct process *p);

/*
 * The bias at which most of the object's code is mapped: that of its data. Code may be mapped a
 * second time elsewhere, as V8 does with its builtins. 0: it is not mapped.
 */
uint64_t process_home(const struct process *p, const struct object *o);

#endif
