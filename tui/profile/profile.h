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

enum func_kind {
	FUNC_USER,
	FUNC_KERNEL,
	FUNC_INLINE, /* inlined into the frame before it */
	FUNC_JIT,    /* anonymous executable memory */
	FUNC_END,    /* why a walk ended early: the name is the reason, without brackets */
};

struct profile_func {
	const char *name;   /* clean (text_clean), NUL-terminated */
	const char *module; /* "libc.so.6", "vmlinux", "[vdso]", "" */
	enum func_kind kind;
	/* Its hottest source line of late, its own or that of a call (profile_line); NULL: none is
	 * known. Clean; valid as long as the profile, also in copies. */
	const char *file;
	unsigned int line;
};

struct profile_stack {
	bool kernel;
	bool complete; /* user stack: the walk reached the outermost frame */
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
};

#define PROFILE_NO_STACK UINT32_MAX
/* Of an image: the process is not of this time, but of a session that is compared with. */
#define PROFILE_RECORDED ((uint64_t)1 << 63)

struct profile_cell {  /* so many samples of this stack */
	uint32_t proc; /* id */
	uint32_t tid;
	uint32_t ustack; /* id or PROFILE_NO_STACK */
	uint32_t kstack; /* id or PROFILE_NO_STACK */
	uint64_t count : 48;
	uint64_t cpu : 16; /* + 1; 0: not known, since CPUs were not told apart */
};

_Static_assert(sizeof(struct profile_cell) == 24, "there are millions of them");

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
	uint64_t filtered;	 /* taken of processes that are not attached, or outside */
	uint64_t outside;	 /* of these: without a number in our PID namespace */
	uint64_t user_walks;	 /* user stacks walked ... */
	uint64_t complete_walks; /* ... and to their outermost frame */
	uint64_t frames;	 /* of all user stacks */
	uint64_t run_ns;	 /* of the BPF program ... */
	uint64_t runs;		 /* ... while the kernel measured it */
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

/* Adds up the counters; what is a state, not a counter, is taken from the newer. */
void profile_health_add(struct profile_health *sum, const struct profile_health *health);

enum message_level { MESSAGE_INFO, MESSAGE_WARNING, MESSAGE_ERROR };

struct profile;
struct inventory;
struct inspection;

/*
 * window: slices that the sliding window spans, in seconds. Memory is bounded: totals keep at most
 * cells_max cells, beyond which processes that exited before the window are merged into one,
 * "[exited]" (PID 0), then the rarest cells per process into stacks of one frame "[folded away]"
 * (FUNC_END). No sample is lost by that, and the shares of kernel samples and of complete stacks
 * stay exact. The window is never folded.
 */
struct profile *profile_new(unsigned int window, size_t cells_max);
void profile_free(struct profile *p);

/*
 * Another span of the sliding window, 1 to PROFILE_WINDOW_MAX seconds, from slices that are there:
 * a longer one is full when the time has passed. The lock is held. -ENOMEM: it stays as it is.
 */
#define PROFILE_WINDOW	   10 /* as is usual */
#define PROFILE_WINDOW_MAX 300
int profile_set_window(struct profile *p, unsigned int seconds);
unsigned int profile_window(const struct profile *p);

void profile_lock(struct profile *p);
void profile_unlock(struct profile *p);

/*
 * From now on slices that are older than the sliding window and the time before it are kept, too:
 * up to so many seconds and so many bytes of memory, of which the oldest go first. Counted are the
 * cells of all slices and, once, their numbers (sample_ids.h), and the stacks, functions and
 * processes that slices refer to.
 */
void profile_keep(struct profile *p, unsigned int seconds, uint64_t bytes);
/*
 * Stacks and names take so many bytes at most, unless told otherwise their part of memory.h: near
 * it old slices and rare stacks give way, at it new stacks are "[folded away]" at once.
 */
void profile_bound(struct profile *p, uint64_t bytes);

enum span {
	SPAN_WINDOW, /* the last N seconds */
	SPAN_TOTAL,  /* since the last profile_zero */
	SPAN_LAST,   /* the last slice only (batch) */
	/* All slices, the newest in full and those that ended half a window earlier by half, and so
	 * on; what weighs less than a thousandth is left out. Cells have whole numbers of samples;
	 * what is rounded away is carried on to the next cell, so that sums stay. */
	SPAN_DECAY,
	SPAN_MOMENT,   /* FROZEN_MOMENT */
	SPAN_BEFORE,   /* FROZEN_BEFORE */
	SPAN_BASELINE, /* FROZEN_BASELINE */
};

/* --- feeding; the lock is held ------------------------------------------------------------- */

/* Id of the function, interned by all three fields. The strings are copied (a name up to 1023
 * bytes, a module up to 255). -ENOMEM as a negative result. */
int64_t profile_func(struct profile *p, enum func_kind kind, const char *name, const char *module);
/* The build-id of the file that functions call so, in hexadecimal. Once two files of one name have
 * told different ones, it is none of them. -ENOMEM. */
#define PROFILE_BUILD_MAX 132
int profile_module(struct profile *p, const char *module, const char *build);
/*
 * A stack with one more reference, which the caller gives back by profile_stack_put when it
 * forgets the id. Equal stacks have the same id. Cells hold references of their own. The frames are
 * copied. -ENOMEM, or -EINVAL when a frame is no function.
 */
int64_t profile_stack_new(struct profile *p, const struct profile_stack *stack);
void profile_stack_put(struct profile *p, uint32_t stack);
/*
 * Gives the frames that wait for sites of a module the calls inlined there: functions (FUNC_INLINE)
 * of which the outer one comes first, written to inlined. Returns how many, PROFILE_SITE_WAITS when
 * they are not known yet, or -ENOMEM. *outer, the frame's own function, whose name is given, may be
 * replaced by one with a better name.
 */
#define PROFILE_INLINED_MAX 64
#define PROFILE_SITE_WAITS  (-1000)
typedef int (*profile_site_fn)(uint32_t site, const char *name, const char *module, uint32_t *outer,
			       uint32_t inlined[PROFILE_INLINED_MAX], void *arg);
/* Asks for all that frames wait for. -ENOMEM: the rest waits on. */
int profile_settle(struct profile *p, profile_site_fn known, void *arg);
/* So many samples were at that line (clean, at least 1) of the function, or in what it called from
 * there. What is too much to be kept is not counted. -ENOMEM, or -EINVAL: no such function. */
int profile_line(struct profile *p, uint32_t func, const char *file, unsigned int line,
		 uint64_t count);
/* That line is the hottest one of the function, whatever was counted before. Errors likewise. */
int profile_line_recorded(struct profile *p, uint32_t func, const char *file, unsigned int line);
/* Id of process (pid, image); made when new, its other fields updated when not. -ENOMEM. The
 * process is forgotten some time after it exited and its last cell is gone; feeding it again by
 * (pid, image) is always right. */
int64_t profile_proc(struct profile *p, const struct profile_proc *info);
/* Name of a thread (clean), good for as long as its process. -ENOMEM, or -EINVAL: no such process.
 */
int profile_thread(struct profile *p, uint32_t proc, uint32_t tid, const char *comm);
/* Ends a slice: cells and the state of the collection. Old slices leave the window. -ENOMEM, or
 * -EINVAL for an id that is not in use: the slice is dropped as a whole. */
int profile_commit(struct profile *p, const struct profile_cell *cells, size_t ncells,
		   const struct profile_health *health);
/* Forgets all counts (not functions or processes); the timeline and the last health stay. */
void profile_zero(struct profile *p);
/* A line for the person, shown for some seconds (live) or written to stderr (batch). */
void profile_message(struct profile *p, enum message_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* --- reading; the lock is held --------------------------------------------------------------- */

#define QUERY_ALL UINT32_MAX /* no process, or all */

/* NULL when there is no such id (any more). */
const struct profile_func *query_func(const struct profile *p, uint32_t func);
const struct profile_stack *query_stack(const struct profile *p, uint32_t stack);
const struct profile_proc *query_proc(const struct profile *p, uint32_t proc);
/* Name of the thread, which is that of the process unless another is known. */
const char *query_thread(const struct profile *p, uint32_t proc, uint32_t tid);
/* The build-id of a module, "" where it is not known. Valid as long as the lock is held. */
const char *query_build(const struct profile *p, const char *module);

/* The process of that PID which has not exited, whatever its image; QUERY_ALL: none. */
uint32_t query_pid(const struct profile *p, pid_t pid);

/* Id of process (pid, image), QUERY_ALL when it is not there. */
uint32_t query_find_proc(const struct profile *p, pid_t pid, uint64_t image);

/* Ids are used again, these numbers are not: they tell whether the id still stands for the same
 * function or stack. 0 when there is no such id. */
uint64_t query_func_serial(const struct profile *p, uint32_t func);
uint64_t query_stack_serial(const struct profile *p, uint32_t stack);

/* Health of the last slice (zeroed when there was none), and summed over a span. */
void query_health(const struct profile *p, struct profile_health *last);
void query_health_sum(const struct profile *p, enum span span, struct profile_health *sum);
/* CPU use of the last seconds, oldest first, 0..1 of all sampled CPUs; returns how many (<= max).
 */
size_t query_timeline(const struct profile *p, float *use, size_t max);
/* Number of slices committed so far. */
uint64_t query_slices(const struct profile *p);

/* Slices are numbered as they were committed, from 1 on. */
struct history {
	uint64_t first, last; /* that are kept; first > last: none */
	double seconds;
	uint64_t bytes, bytes_max;
};

void query_history(const struct profile *p, struct history *history);
/* How it stood when that slice ended; false: the slice is gone. */
bool query_slice_health(const struct profile *p, uint64_t slice, struct profile_health *health);
/* The slice that ended so many seconds (negative: before) from the end of that one, or the one
 * that is nearest to it; a step is one slice at least. */
uint64_t query_slice_step(const struct profile *p, uint64_t from, double seconds);
/* The first of the slices that make up the window which ends with that one. */
uint64_t query_window_first(const struct profile *p, uint64_t last);

/* The message that a screen shows; NULL: the last one has stood there for max_age ns. serial tells
 * one from the next. It is the newest, but warnings that came together have turns. */
const char *query_message(const struct profile *p, uint64_t now, uint64_t max_age,
			  enum message_level *level, uint64_t *serial);
/* The message that follows number *serial, which moves on to it; NULL: no newer one. Start at 0;
 * some of a long burst are forgotten. */
const char *query_message_after(const struct profile *p, enum message_level *level,
				uint64_t *serial);

/* --- what is shown is a recording (tui/session/player.h); the lock is held -------------------- */

struct profile_replay {
	bool paused;
	bool ended; /* everything was played */
	double speed;
	uint64_t position, length; /* ns from the start of the session */
	uint64_t interval;	   /* ns between two slices, on average; 0: too few */
	uint64_t clock;		   /* CLOCK_REALTIME ns of the position */
	char host[65];		   /* clean */
};

void profile_set_replay(struct profile *p, const struct profile_replay *replay);
/* NULL: live. */
const struct profile_replay *profile_replay(const struct profile *p);
/* profile_zero, and no slice ever was: what is fed next is earlier. */
void profile_rewind(struct profile *p);
/* Processes that it has at the moment. */
uint32_t profile_nprocs(const struct profile *p);

/* --- what stands in the shards (bpf/tracker/inventory.h); the lock is held -------------------- */

/* Asks the collector for a new one unless there is a fresh one. */
void profile_want_inventory(struct profile *p, uint64_t now);
/* The wish, which is gone by that. */
bool profile_inventory_wanted(struct profile *p);
/* With its reference. */
void profile_set_inventory(struct profile *p, struct inventory *inventory);
/* With a reference of its own; NULL: none was taken yet. */
struct inventory *profile_inventory(const struct profile *p);

/* --- the walk that was captured last (tui/profile/inspection.h); the lock is held ------------- */

/* With its reference. */
void profile_set_inspection(struct profile *p, struct inspection *inspection);
/* With a reference of its own; NULL: none was captured yet. */
struct inspection *profile_inspection(const struct profile *p);

#endif
