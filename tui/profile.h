/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_H
#define STACKTOP_TUI_PROFILE_H

/*
 * The profile: what was sampled, by process and stack, in slices of one refresh each. The collector
 * feeds it; screens and reports read it. One lock (profile_lock) guards everything; whoever feeds
 * or reads holds it, and nobody holds it while reading a file, waiting or writing to a terminal.
 *
 * Ids are small dense integers and stay valid while something in the profile refers to them: a
 * stack to a function, a cell or its feeder to a stack, a cell to a process. What nobody refers to
 * any more, or not yet, is forgotten at the end of the next successful commit, so an id just made
 * can be used until then.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum func_kind {
	FUNC_USER,
	FUNC_KERNEL,
	FUNC_JIT, /* anonymous executable memory */
	FUNC_END, /* why a walk ended early: the name is the reason, without brackets */
};

struct profile_func {
	const char *name;   /* clean (text_clean), NUL-terminated */
	const char *module; /* "libc.so.6", "vmlinux", "[vdso]", "" */
	enum func_kind kind;
};

struct profile_stack {
	bool kernel;
	bool complete; /* user stack: the walk reached the outermost frame */
	uint32_t nframes;
	const uint32_t
		*frames; /* func ids, outermost first; a broken stack starts with a FUNC_END */
};

struct profile_proc {
	pid_t pid;
	pid_t ppid;
	uint64_t image;	   /* changes at exec and when a pid is reused: (pid, image) is a process */
	char comm[16];	   /* clean */
	char user[32];	   /* name, else the number */
	char cmdline[256]; /* clean, arguments joined by spaces; comm in brackets when empty */
	unsigned int nthreads;
	bool attached; /* chosen by option or key; meaningful when health.filtered */
	bool exited;
	bool kthread;
	uint64_t exit_time; /* CLOCK_MONOTONIC ns */
};

#define PROFILE_NO_STACK UINT32_MAX

struct profile_cell {  /* so many samples of this stack */
	uint32_t proc; /* id */
	uint32_t tid;
	uint32_t ustack; /* id or PROFILE_NO_STACK */
	uint32_t kstack; /* id or PROFILE_NO_STACK */
	uint64_t count;
};

enum loss {		      /* samples that are counted nowhere else, by cause */
	    LOSS_COUNTS_FULL, /* the stack-count map had no room */
	    LOSS_STACK_RING,  /* counted, but its frames could not be handed over */
	    LOSS_BUSY,	      /* the per-CPU state was in use */
	    LOSS_SIDEBAND,    /* lost side-band records: processes were scanned again */
	    LOSS_COUNT,
};

/* State of the collection when a slice ended. Counters are those of the slice, not sums. */
struct profile_health {
	uint64_t time;	       /* CLOCK_MONOTONIC ns, end of the slice */
	uint64_t elapsed;      /* ns */
	uint64_t samples;      /* taken on all CPUs and not filtered */
	uint64_t user_samples; /* of which hit user mode */
	uint64_t kernel_samples;
	uint64_t filtered;	 /* taken of processes that are not attached */
	uint64_t user_walks;	 /* user stacks walked ... */
	uint64_t complete_walks; /* ... and to their outermost frame */
	uint64_t loss[LOSS_COUNT];
	unsigned int ncpus;	/* sampled */
	unsigned int frequency; /* Hz */
	char event[32];		/* "cpu-clock" */
	bool filtering;		/* only attached processes are sampled */
	unsigned int nattached;
	unsigned int nprocs; /* known to the tracker */
	unsigned int shards_used, shards_created, shards_max;
	uint64_t words_used, words_max;	      /* of the unwind tables' budget */
	unsigned int counts_used, counts_max; /* entries of the stack-count map in this slice */
	uint64_t drain_ns;		      /* time to swap, read and resolve */
	uint64_t self_ns;		      /* CPU time of stacktop itself in the slice */
};

enum message_level { MESSAGE_INFO, MESSAGE_WARNING, MESSAGE_ERROR };

struct profile;

/*
 * window: slices that the sliding window spans, in seconds. Memory is bounded: totals keep at most
 * cells_max cells, beyond which processes that exited before the window are merged into one,
 * "[exited]" (PID 0), then the rarest cells per process into stacks of one frame "[folded away]"
 * (FUNC_END). No sample is lost by that, and the shares of kernel samples and of complete stacks
 * stay exact. The window is never folded.
 */
struct profile *profile_new(unsigned int window, size_t cells_max);
void profile_free(struct profile *p);

void profile_lock(struct profile *p);
void profile_unlock(struct profile *p);

/* --- feeding; the lock is held ------------------------------------------------------------- */

/* Id of the function, interned by all three fields. The strings are copied (a name up to 1023
 * bytes, a module up to 255). -ENOMEM as a negative result. */
int64_t profile_func(struct profile *p, enum func_kind kind, const char *name, const char *module);
/*
 * A stack with one more reference, which the caller gives back by profile_stack_put when it
 * forgets the id. Equal stacks have the same id. Cells hold references of their own. The frames are
 * copied. -ENOMEM, or -EINVAL when a frame is no function.
 */
int64_t profile_stack_new(struct profile *p, const struct profile_stack *stack);
void profile_stack_put(struct profile *p, uint32_t stack);
/* Id of process (pid, image); made when new, its other fields updated when not. -ENOMEM. The
 * process is forgotten some time after it exited and its last cell is gone; feeding it again by
 * (pid, image) is always right. */
int64_t profile_proc(struct profile *p, const struct profile_proc *info);
/* Ends a slice: cells and the state of the collection. Old slices leave the window. -ENOMEM, or
 * -EINVAL for an id that is not in use: the slice is dropped as a whole. */
int profile_commit(struct profile *p, const struct profile_cell *cells, size_t ncells,
		   const struct profile_health *health);
/* A line for the person, shown for some seconds (live) or written to stderr (batch). */
void profile_message(struct profile *p, enum message_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
