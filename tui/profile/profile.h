/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_PROFILE_H
#define STACKTOP_TUI_PROFILE_PROFILE_H

/*
 * The profile: what was sampled, by process and stack, in slices of one refresh each. The collector
 * feeds it; screens and reports read it. One lock (profile_lock) guards everything: the collector
 * and readers hold it, but not while they read a file, wait or write to a terminal.
 *
 * Ids are small dense integers and stay valid while something in the profile refers to them: a
 * stack to a function, a cell or its feeder to a stack, a cell to a process. An id that nothing
 * refers to is forgotten at the end of the next successful commit (a process only once it exited),
 * so an id just made can be used until then.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tui/profile/waits.h"

enum func_kind {
	FUNC_USER,
	FUNC_KERNEL,
	FUNC_INLINE, /* inlined into the frame before it */
	FUNC_JIT,    /* anonymous executable memory */
	FUNC_END,    /* why a walk ended early: the name is the reason, without brackets */
	FUNC_EVAL,   /* native code of an interpreter, which runs the frames that follow it */
	FUNC_WAIT,   /* innermost frame of a wait: why it waits (waits.h), without brackets */
	FUNC_TIME,   /* only frame of the time of a thread: what it did, likewise */
	FUNC_LOCK,   /* behind the frames of a wait for a lock: its address */
	FUNC_WAKER, /* behind the frames of a wait: the thread that ended it, whose frames follow */
	/*
	 * Functions of interpreted languages; the module is the source file. Of JavaScript and Java
	 * the frame may be that of their own code, as of FUNC_JIT, and where that does not say the
	 * file the module is "[jit]".
	 */
	FUNC_PYTHON,
	FUNC_PHP,
	FUNC_PERL,
	FUNC_RUBY,
	FUNC_JS,
	FUNC_JAVA,
};

static inline bool func_is_language(enum func_kind kind)
{
	return kind >= FUNC_PYTHON;
}

/* Functions whose code processes have made while they ran, or may have. */
static inline bool func_is_made(enum func_kind kind)
{
	return kind == FUNC_JIT || kind == FUNC_JS || kind == FUNC_JAVA;
}

/* No functions: frames of waits that say why, for which lock, and who ended them. */
static inline bool func_is_wait(enum func_kind kind)
{
	return kind >= FUNC_WAIT && kind <= FUNC_WAKER;
}

/* Functions that are shown by the lines of their source: they have no machine code. */
static inline bool func_has_source(enum func_kind kind)
{
	return func_is_language(kind) && !func_is_made(kind);
}

struct profile_func {
	const char *name;   /* clean (text_clean), NUL-terminated */
	const char *module; /* "libc.so.6", "vmlinux", "[vdso]", "" */
	enum func_kind kind;
	/* Its hottest source line of late, its own or that of a call (profile_line); NULL: none is
	 * known. Clean; valid as long as the profile, also in copies. */
	const char *file;
	unsigned int line;
};

/* The lock of an interpreter that lets one of its threads run at a time (Python's GIL). */
enum stack_lock {
	STACK_LOCK_NONE, /* there is none, or nothing is known of it */
	STACK_LOCK_HELD, /* by the thread */
	STACK_LOCK_WAITS,
	STACK_LOCK_RELEASED, /* the thread runs code that does not need it */
	STACK_LOCKS,
};

/* What cells with this kernel stack are. */
enum stack_use {
	STACK_SAMPLES, /* samples of a CPU */
	STACK_WAITS,   /* FUNC_WAIT */
	STACK_TIMES,   /* FUNC_TIME */
	STACK_WAKES,   /* FUNC_LOCK, FUNC_WAKER */
};

struct profile_stack {
	bool kernel;
	bool complete; /* user stack: the walk reached the outermost frame */
	enum stack_lock lock;
	bool language; /* it has a frame of an interpreted language; profile_stack_new sets it */
	/* Of the kernel's stack of a cell, by its frames; profile_stack_new sets them: */
	enum stack_use use;
	enum wait_cause cause; /* of a wait, or of the time of a thread */
	uint32_t nframes;
	const uint32_t
		*frames; /* func ids, outermost first; a broken stack starts with a FUNC_END */
	/* Where its outermost frame is, as a virtual address of its file (in memory, where it is of
	 * none), for instance: equal stacks may differ in it. 0: not known. */
	uint64_t place;
	/* NULL, or for each frame 0 or the number of a site whose inlined calls are not known yet;
	 * see profile_settle. */
	const uint32_t *sites;
};

struct profile_proc {
	pid_t pid;
	pid_t ppid;
	uint64_t image;	   /* struct count_key's exec; (pid, image) is a process */
	char comm[16];	   /* clean */
	char user[32];	   /* name, else the number */
	char group[40];	   /* clean: container or unit, "docker 0123456789ab"; "" where none */
	char cmdline[256]; /* clean, arguments joined by spaces; comm in brackets when empty */
	unsigned int nthreads;
	bool attached; /* chosen by option or key; meaningful when health.filtered */
	bool exited;
	bool kthread;
	uint64_t exit_time; /* ns, by the clock of profile_health.time */
	/* It runs this language, but its stacks have no frames of it; FUNC_USER: it is not so. */
	enum func_kind mute;
	char why[128]; /* clean: "Python 3.11: its layout is not known" */
};

/* From here on PIDs are numbers of processes whose PID is not known: Linux has none that large
 * (PID_MAX_LIMIT). */
#define PROFILE_NO_PID	 4194304
#define PROFILE_NO_STACK UINT32_MAX
/* Of an image: the process is not of this time, but of a session that is compared with. */
#define PROFILE_RECORDED ((uint64_t)1 << 63)

/* So many samples of this stack, or waits. */
struct profile_cell {
	uint32_t proc; /* id */
	uint32_t tid;
	uint32_t ustack; /* id or PROFILE_NO_STACK */
	uint32_t kstack; /* id or PROFILE_NO_STACK */
	uint64_t count : 48;
	uint64_t cpu : 16; /* + 1; 0: not known, since CPUs were not told apart */
	/* What they stand for: us of a clock or of waits, else how often the event happened; 0:
	 * profile_commit finds it out. */
	uint64_t weight;
};

_Static_assert(sizeof(struct profile_cell) == 32, "there are millions of them");

enum loss {		      /* samples that are counted nowhere else, by cause */
	    LOSS_COUNTS_FULL, /* the stack-count map had no room */
	    LOSS_STACK_RING,  /* counted, but its frames could not be handed over */
	    LOSS_BUSY,	      /* the per-CPU state was in use */
	    LOSS_SIDEBAND,    /* lost side-band records: processes were scanned again */
	    LOSS_SLICE,	      /* read from the map, but their slice could not be kept */
	    LOSS_KERNEL,      /* counted, but the kernel gave no stack of its own */
	    LOSS_THROTTLED,   /* never taken: the kernel held the event back */
	    LOSS_MISSED,      /* never taken: ticks that came late, together, or not at all */
	    LOSS_COUNT,
};

/* State of the collection when a slice ended. Counters are those of the slice, not sums. */
struct profile_health {
	uint64_t time;	       /* CLOCK_MONOTONIC ns, end of the slice */
	uint64_t clock;	       /* CLOCK_REALTIME ns, the same moment; 0: not known */
	uint64_t elapsed;      /* ns */
	uint64_t taken;	       /* by the program's own count, filtered ones included */
	uint64_t idle;	       /* ticks of idle CPUs */
	uint64_t ticks;	       /* due on all CPUs; 0: the event is not a clock */
	uint64_t samples;      /* taken and not filtered; of them lost: profile_lost() */
	uint64_t user_samples; /* of which hit user mode */
	uint64_t kernel_samples;
	uint64_t filtered;	    /* taken of processes that are not attached, or outside */
	uint64_t outside;	    /* of these: without a number in our PID namespace */
	uint64_t user_walks;	    /* user stacks walked ... */
	uint64_t complete_walks;    /* ... and to their outermost frame */
	uint64_t complete_fp_walks; /* of these: only a frame pointer of zero says so */
	uint64_t frames;	    /* of all user stacks */
	uint64_t run_ns;	    /* of the BPF program ... */
	uint64_t runs;		    /* ... while the kernel measured it */
	uint64_t loss[LOSS_COUNT];
	unsigned int ncpus;	/* sampled */
	unsigned int frequency; /* Hz */
	char event[32];		/* "cpu-clock" */
	bool filtering;		/* only attached processes are sampled */
	unsigned int nattached;
	unsigned int nprocs; /* known to the tracker... */
	bool reading_procs;  /* ...which has not yet read all that were there at the start */
	unsigned int shards_used, shards_created, shards_max;
	uint64_t words_used, words_max;	      /* of the unwind tables' budget */
	unsigned int evicted;		      /* objects whose table has no room */
	uint64_t evictions;		      /* in the slice, of tables in use */
	unsigned int counts_used, counts_max; /* entries of the stack-count map in this slice */
	uint64_t drain_ns;		      /* time to swap, read and resolve */
	uint64_t locked;		      /* bytes of all BPF maps but the tables' shards */
	bool by_cpu;			      /* CPUs are told apart, at its end */
	uint64_t self_ns;		      /* CPU time of stacktop itself in the slice */
	uint64_t counted;      /* how often the event happened; 0: a clock, or not known */
	uint64_t weight;       /* of the cells of samples; profile_commit sets it */
	bool waits;	       /* waits of threads are followed */
	uint64_t wait_ns;      /* what that costs: of all CPUs ... */
	uint64_t wait_walks;   /* ... for so many stacks */
	uint64_t wait_thinned; /* waits whose stacks were left out, to save time, ... */
	uint64_t wait_untaken; /* ... of which these are long, and shown without */
	uint64_t wait_lost;    /* waits of which only the time of their thread is known */
	uint64_t wait_missed;  /* switches that the kernel did not report: a wait or a run is longer
				*/
};

/*
 * Samples that were taken and are in no cell. Of the slices up to the one that ended the sampling:
 * taken = filtered + the samples of all cells + profile_lost(). Of each slice of a clock:
 * ticks = taken + idle + loss[LOSS_THROTTLED] + loss[LOSS_MISSED].
 */
static inline uint64_t profile_lost(const struct profile_health *health)
{
	return health->loss[LOSS_COUNTS_FULL] + health->loss[LOSS_BUSY] + health->loss[LOSS_SLICE];
}

/* Samples of processes that could be attached, and are not. */
static inline uint64_t profile_unattached(const struct profile_health *health)
{
	return health->filtered > health->outside ? health->filtered - health->outside : 0;
}

/*
 * Does the event come with time, so that samples are shares of a CPU's? Of all others nothing is
 * known but which share of the samples something has.
 */
bool profile_is_time(const struct profile_health *health);
/* Samples that CPU% takes for 100: of a CPU that is busy all the time, or all that there are. */
double profile_full(const struct profile_health *health);

/* Adds the counters; takes the rest, which is state, from the newer. */
void profile_health_add(struct profile_health *sum, const struct profile_health *health);

struct board;
struct profile;

/*
 * window: length of the sliding window in seconds. Memory is bounded: totals keep at most cells_max
 * cells. Beyond that, processes that exited before the window are merged into one, "[exited]" (PID
 * 0), then the rarest cells of each process into stacks of one frame "[folded away]" (FUNC_END). No
 * sample is lost, and the shares of kernel samples and of complete stacks stay exact. The window is
 * never folded.
 */
struct profile *profile_new(unsigned int window, size_t cells_max);
void profile_free(struct profile *p);

/*
 * Changes the length of the sliding window to 1 to PROFILE_WINDOW_MAX seconds. A longer window
 * starts with the slices that are there. The lock is held. -ENOMEM: it stays as it is.
 */
#define PROFILE_WINDOW	   10 /* the default */
#define PROFILE_WINDOW_MAX 300
int profile_set_window(struct profile *p, unsigned int seconds);
unsigned int profile_window(const struct profile *p);

/* Needs no lock; valid as long as the profile. */
struct board *profile_board(const struct profile *p);

void profile_lock(struct profile *p);
void profile_unlock(struct profile *p);

/*
 * Keeps slices that are older than the sliding window and the time before it: up to so many seconds
 * and bytes, dropping the oldest first. The bytes cover the cells of all slices, and once each
 * their numbers (celltable.h) and the stacks, functions and processes that slices refer to.
 */
void profile_keep(struct profile *p, unsigned int seconds, uint64_t bytes);
/*
 * Limits the memory of stacks and names; the default is MEMORY_STACKS. Near the limit old slices
 * and rare stacks are dropped, at the limit new stacks are "[folded away]" at once.
 */
void profile_bound(struct profile *p, uint64_t bytes);

enum span {
	SPAN_WINDOW, /* the last N seconds */
	SPAN_TOTAL,  /* since the last profile_zero */
	SPAN_LAST,   /* the last slice only (batch) */
	/* All slices, by a weight that halves every half window; slices of less than a thousandth
	 * are left out. Cells have whole numbers of samples: the fraction cut from one is added to
	 * the next, so that sums stay right. */
	SPAN_DECAY,
	SPAN_MOMENT,   /* FROZEN_MOMENT */
	SPAN_BEFORE,   /* FROZEN_BEFORE */
	SPAN_BASELINE, /* FROZEN_BASELINE */
};

/* --- feeding; the lock is held ------------------------------------------------------------- */

/* Id of the function, interned by all three fields. The strings are copied (a name up to 1023
 * bytes, a module up to 255). -ENOMEM as a negative result. */
int64_t profile_func(struct profile *p, enum func_kind kind, const char *name, const char *module);
/* Sets the build-id of a module, in hexadecimal. If files of the same name have different
 * build-ids, the module has none. -ENOMEM. */
#define PROFILE_BUILD_MAX 132
int profile_module(struct profile *p, const char *module, const char *build);
/*
 * Returns the id of the stack with one more reference, which the caller drops by profile_stack_put.
 * Equal stacks have the same id. Cells hold references of their own. The frames are copied.
 * -ENOMEM, or -EINVAL when a frame is not a function.
 */
int64_t profile_stack_new(struct profile *p, const struct profile_stack *stack);
void profile_stack_put(struct profile *p, uint32_t stack);
/* The kernel stack of cells with the time of a thread, exact and without its stacks: us of it are
 * the weight, and the count is 1. */
uint32_t profile_time_stack(const struct profile *p, enum wait_cause cause);
/*
 * The kernel stack of a wait: n frames of the kernel, outermost first, then its cause; WAIT_NONE:
 * of time on a CPU that no sample stands for. With a reference like profile_stack_new. -ENOMEM.
 */
int64_t profile_wait_stack(struct profile *p, const uint32_t *kernel, uint32_t n,
			   enum wait_cause cause);
/*
 * Looks up the calls inlined at a site and writes their functions (FUNC_INLINE) to inlined,
 * outermost first. Returns how many, PROFILE_SITE_WAITS if they are not known yet, or -ENOMEM. name
 * and module are those of *outer, the frame's own function, which may be replaced by one with a
 * better name.
 */
#define PROFILE_INLINED_MAX 64
#define PROFILE_SITE_WAITS  (-1000)
typedef int (*profile_site_fn)(uint32_t site, const char *name, const char *module, uint32_t *outer,
			       uint32_t inlined[PROFILE_INLINED_MAX], void *arg);
/* Adds inlined calls that became known to the stacks that wait for them. -ENOMEM: the rest waits.
 */
int profile_settle(struct profile *p, profile_site_fn known, void *arg);
/* Counts samples of the function at that line (file clean, line at least 1), or in a call from
 * there. Files beyond the limit are not counted. -ENOMEM, or -EINVAL: no such function. */
int profile_line(struct profile *p, uint32_t func, const char *file, unsigned int line,
		 uint64_t count);
/* Sets the hottest line of the function, whatever was counted before. Errors likewise. */
int profile_line_recorded(struct profile *p, uint32_t func, const char *file, unsigned int line);
/* Returns the id of process (pid, image) and updates its other fields. -ENOMEM. A process is
 * forgotten some time after it exited and its last cell is gone; it may be fed again at any time.
 */
int64_t profile_proc(struct profile *p, const struct profile_proc *info);
/* Sets the name of a thread (clean); lives as long as its process. -ENOMEM, or -EINVAL: no such
 * process. */
int profile_thread(struct profile *p, uint32_t proc, uint32_t tid, const char *comm);
/* What a cell of such a slice stands for, if its own weight does not say. */
uint64_t profile_weight(const struct profile_health *health, const struct profile_cell *cell);
/* Adds a slice, and moves the window. -ENOMEM, or -EINVAL for an id that is not in use: the whole
 * slice is dropped. */
int profile_commit(struct profile *p, const struct profile_cell *cells, size_t ncells,
		   const struct profile_health *health);
/* How a CPU spent the time of a slice, in thousandths. */
#define CPU_USE_MAX 4096 /* CPUs; those beyond are left out */
struct cpu_use {
	uint16_t cpu;
	uint16_t user, kernel;
};

/* Sets what the CPUs did in the newest slice, which has none yet; sorted by CPU. -ENOMEM. */
int profile_cpu_use(struct profile *p, const struct cpu_use *use, size_t n);
/* Forgets all counts, but not functions, processes, the timeline and the last health. */
void profile_zero(struct profile *p);
/* Calls fn before that, with the lock held, as the last chance to read the slices; NULL: that of
 * the same arg no more. At most four at a time. */
typedef void (*profile_zero_fn)(const struct profile *p, void *arg);
void profile_before_zero(struct profile *p, profile_zero_fn fn, void *arg);
/* --- reading; the lock is held --------------------------------------------------------------- */

#define QUERY_ALL UINT32_MAX /* no process, or all */

/* NULL: there is no such id, or no longer. */
const struct profile_func *query_func(const struct profile *p, uint32_t func);
const struct profile_stack *query_stack(const struct profile *p, uint32_t stack);
const struct profile_proc *query_proc(const struct profile *p, uint32_t proc);
/* The function's hottest source line as "parse.c:42", "" if it is not known. */
void sourcename(const struct profile_func *func, char *to, size_t size);
/* Name of the thread; that of the process unless another is known. */
const char *query_thread(const struct profile *p, uint32_t proc, uint32_t tid);
/* The build-id of a module; "": not known. Valid while the lock is held. */
const char *query_build(const struct profile *p, const char *module);

/* The process with that PID that has not exited, of any image; QUERY_ALL: none. */
uint32_t query_pid(const struct profile *p, pid_t pid);

/* The process (pid, image); QUERY_ALL: none. */
uint32_t query_find_proc(const struct profile *p, pid_t pid, uint64_t image);

/* Ids are reused, serial numbers are not: they tell whether an id still stands for the same
 * function or stack. 0: there is no such id. */
uint64_t query_func_serial(const struct profile *p, uint32_t func);
uint64_t query_stack_serial(const struct profile *p, uint32_t stack);

/* Health of the last slice (zeroed: there was none), and that of a span. */
void query_health(const struct profile *p, struct profile_health *last);
void query_health_sum(const struct profile *p, enum span span, struct profile_health *sum);
/* What the CPUs did in the slice that ended at that time (profile_health.time), sorted by CPU;
 * returns how many, 0: not known. */
size_t query_cpu_use(const struct profile *p, uint64_t time, struct cpu_use *to, size_t max);
/* CPU use of the last slices, oldest first, 0..1 of all sampled CPUs; returns how many (<= max). */
size_t query_timeline(const struct profile *p, float *use, size_t max);
/* Number of slices committed so far. */
uint64_t query_slices(const struct profile *p);

/* Slices are numbered in the order of their commits, from 1 on. */
struct history {
	uint64_t first, last; /* slices that are kept; first > last: none */
	double seconds;
	uint64_t bytes, bytes_max;
};

void query_history(const struct profile *p, struct history *history);
/* Cells and health of that slice, valid while the lock is held; false: the slice is gone. */
bool query_slice_cells(const struct profile *p, uint64_t slice, const struct profile_cell **cells,
		       size_t *ncells, struct profile_health *health);
/* Health of that slice; false: the slice is gone. */
bool query_slice_health(const struct profile *p, uint64_t slice, struct profile_health *health);
/* The slice whose end is nearest to so many seconds after (negative: before) the end of `from`, but
 * not `from` itself unless it is the first or last. */
uint64_t query_slice_step(const struct profile *p, uint64_t from, double seconds);
/* The first slice of the window that ends with that slice. */
uint64_t query_window_first(const struct profile *p, uint64_t last);
/* True if there are slices for all seconds of the window that ends with that slice. */
bool query_window_whole(const struct profile *p, uint64_t last);

/* --- what is shown is a recording (tui/session/player.h); the lock is held -------------------- */

struct profile_replay {
	bool paused;
	bool ended; /* at the end of the session */
	double speed;
	uint64_t position, length; /* ns from the start of the session */
	uint64_t from;		   /* likewise: where the part begins that is replayed */
	bool cut;		   /* it is not all of the session; it ends at length */
	uint64_t interval;	   /* ns between two slices, on average; 0: too few */
	uint64_t clock;		   /* CLOCK_REALTIME ns of the position */
	char host[65];		   /* clean */
};

void profile_set_replay(struct profile *p, const struct profile_replay *replay);
/* NULL: live. */
const struct profile_replay *profile_replay(const struct profile *p);
/* profile_zero, and clears the timeline: the next slice is earlier. */
void profile_rewind(struct profile *p);
/* Number of processes. */
uint32_t profile_nprocs(const struct profile *p);

#endif
