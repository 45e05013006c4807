/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_TRACKER_H
#define STACKTOP_BPF_TRACKER_TRACKER_H

/*
 * Knows the processes, their executable mappings and the mapped objects, and keeps the BPF maps up
 * to date. A tracker thread follows side-band records and commands; builder threads compile tables.
 * All functions may be called from any thread.
 */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file_facts;
struct file_question;
struct sampler;
struct tracker;

struct tracker_filter { /* all empty: the whole machine */
	const pid_t *pids;
	size_t npids;
	const regex_t *comm; /* NULL: any */
	bool user_given;
	uid_t user;	       /* effective */
	const char *cgroup;    /* cgroup_fits (symbols/files/cgroup.h); NULL: any */
	const char *container; /* cgroup_fits_container; NULL: any, or none */
};

/*
 * Receives a message for the user; level: as in enum message_level. The calling thread holds the
 * tracker's lock, so callers of the tracker must not hold a lock that this takes.
 */
typedef void tracker_say(void *arg, int level, const char *text);

/* filter must outlive the tracker. shards_max: the budget. */
int tracker_new(struct sampler *sampler, const struct tracker_filter *filter,
		unsigned int shards_max, tracker_say *say, void *arg, struct tracker **out);
/* Starts the threads. One reads /proc first; see tracker_state.started. */
int tracker_start(struct tracker *t);
void tracker_free(struct tracker *t);

/*
 * Exited processes stay known for so long, 5 s before the first call, so that the samples of a
 * refresh can be named at its end; of more than 32,768 the oldest go earlier.
 */
void tracker_keep_dead(struct tracker *t, uint64_t ns);

/* Also follow this process and its descendants (a COMMAND). */
int tracker_follow(struct tracker *t, pid_t pid);

enum tracker_command {
	TRACKER_ATTACH, /* a selector, see bpf/tracker/selector.h */
	TRACKER_DETACH,
	TRACKER_DETACH_ALL,
	TRACKER_RESET_SHARD, /* number */
	TRACKER_RESET_SHARDS,
	TRACKER_DROP,	 /* object_id: its table goes, and comes back when it is sampled */
	TRACKER_PIN,	 /* object_id: it is never evicted, or may be again */
	TRACKER_CAPTURE, /* "PID REASON": see sampler_capture */
};
/* Never waits. arg is copied. The result is reported through tracker_say. */
void tracker_post(struct tracker *t, enum tracker_command command, const char *arg);

/*
 * A walk of the process's stack ended with this reason (enum walk_reason). If outdated knowledge of
 * the process may be the cause, it is read again soon.
 */
void tracker_doubt(struct tracker *t, pid_t pid, unsigned int reason);

enum place_kind { PLACE_UNKNOWN, PLACE_FILE, PLACE_VDSO, PLACE_JIT };

struct tracker_exec { /* the process of a sample or frame, between two execs */
	pid_t pid;
	uint64_t start_stack; /* stack_record.image; 0: not known, or a kernel thread */
	uint64_t exec_id;     /* stack_record.exec; 0: any with that start_stack */
};

struct code_place { /* of a frame */
	enum place_kind kind;
	struct object *object; /* FILE, VDSO: with a reference, object_put */
	uint64_t vaddr;	       /* FILE, VDSO: ELF virtual address; JIT: address, 0: not known */
	bool since;	       /* FILE: mapped later, else the frame would not be an address */
};

/*
 * frame: as in a record, without FRAME_EXACT. If it is in no object, it is an address of the
 * process and is looked up in the mappings that are known now. PLACE_JIT: code made at run time, in
 * memory without a file or in a file that has none.
 */
void tracker_place(struct tracker *t, const struct tracker_exec *of, uint64_t frame,
		   struct code_place *out);

typedef int tracker_name_fn(void *arg, uint64_t start, uint64_t size, const char *name);

/*
 * Calls fn, without the lock, with the names of the code that the process has made and describes
 * in its own memory, unless they are those of *version (0: none), which becomes theirs. 1: new
 * names; 0: none; or -errno, also that of fn, which ends the calls.
 */
int tracker_code_names(struct tracker *t, const struct tracker_exec *of, uint64_t *version,
		       tracker_name_fn *fn, void *arg);
/* A language runtime of a process, and the state of its frames. */
struct tracker_runtime {
	unsigned int kind;   /* enum runtime; RUNTIME_COUNT: a HotSpot virtual machine */
	uint64_t object;     /* number of its file, as frames have it */
	uint64_t eval[2][2]; /* frames in the code that runs the language's own; 0: not known */
	bool made;	     /* the language runs in code that no file has, or in eval */
	bool refused;	     /* for good, so that no frames of the language are looked for */
	bool settled;	     /* refused, or had time to have some; else it is being found out */
	uint32_t
		enough; /* report the process after this many consecutive samples without a frame */
	char shown[32]; /* "Python 3.11" */
	char why[112];	/* why there are no frames of the language, as far as it is known */
};
/* The n-th of its runtimes. False: the process has no more, or is unknown. */
bool tracker_runtime(struct tracker *t, const struct tracker_exec *of, unsigned int n,
		     struct tracker_runtime *out);
/*
 * So many samples of the process ran that language, and none has a frame of it: says so, once for
 * each file of a runtime, unless it was said why.
 */
void tracker_runtime_mute(struct tracker *t, const struct tracker_exec *of, unsigned int n,
			  uint64_t samples);
/* Has the process mapped a HotSpot virtual machine? */
bool tracker_runs_hotspot(struct tracker *t, const struct tracker_exec *of);
/*
 * A descriptor, the caller's own, of the first file with a wanted base name that the process has
 * mapped executable; -ENOENT, or -errno of opening it.
 */
int tracker_open_mapped(struct tracker *t, const struct tracker_exec *of,
			bool (*is_wanted)(const char *name));

/*
 * A fileasker (symbols/files/fileasker.h) for threads that must not wait: another process opens the
 * file. All calls together wait for no more than the patience within 30 s, which is half a second
 * unless it is set.
 */
int tracker_ask_file(struct tracker *t, const struct file_question *question,
		     struct file_facts *facts);
/*
 * The same for bytes of the memory of a process, which may be served by a program that does not
 * answer: a descriptor of a file with those up to the first that is not there. Never waits:
 * -EAGAIN: not yet, ask again. -EFAULT: there are none; -ESRCH: the process is gone.
 */
int tracker_ask_memory(struct tracker *t, pid_t pid, uint64_t addr, uint64_t size);
void tracker_patience(struct tracker *t, uint64_t ns);
/* Looks for code made at run time only twice a second: the first samples of a process count less
 * than CPU time. Before other threads use the tracker. */
void tracker_calm(struct tracker *t);

/*
 * Calls fn under the tracker's lock, so that tables, lists and entries in the sampler's maps do not
 * change. Returns what fn does.
 */
int tracker_with_maps(struct tracker *t, int (*fn)(struct sampler *sampler, void *arg), void *arg);

/* Changes of kernel code; belongs to the tracker. */
struct kernelcode *tracker_kernel_code(struct tracker *t);

void object_put(struct tracker *t, struct object *object);
uint64_t object_id(const struct object *object);      /* never used again */
const char *object_name(const struct object *object); /* base name, raw; "[vdso]" */
/*
 * Is its file open? If not, it is asked for, which has an effect while a process maps it. For an
 * object from tracker_place only.
 */
bool object_is_open(struct tracker *t, const struct object *object);
/* Descriptor for reading the file, owned by the object; -1: it is closed, or the vDSO. */
int object_fd(const struct object *object);
/*
 * *facts: of its file when it was first mapped; copied: object_fd is a copy. True: the file has
 * been written in place since (tracker_written).
 */
bool tracker_mapped_as(struct tracker *t, const struct object *object, struct file_facts *facts);
/* The file of the object with that id was written in place: its table is built again. */
void tracker_written(struct tracker *t, uint64_t id);
/* The vDSO's image in memory. */
const void *object_image(const struct object *object, size_t *size);

/*
 * Sets mapped[i] if a process maps the object ids[i], or one that has ended and is still known. The
 * ids are ascending.
 */
void tracker_mapped(struct tracker *t, const uint64_t *ids, size_t n, bool *mapped);

struct tracker_proc {
	pid_t ppid;
	char comm[16]; /* raw; empty: the name that it has in this exec is not known */
	bool attached;
	bool exited;
	bool kthread;
	uint64_t exit_time; /* CLOCK_MONOTONIC ns */
};
/*
 * Is the process of a sample chosen that was undecided (COUNT_UNDECIDED)? comm: its name by the
 * sample, which counts where the tracker does not know it.
 */
bool tracker_is_chosen(struct tracker *t, const struct tracker_exec *of, const char comm[16]);
/* False: the process is unknown, or known only before or after that exec. */
bool tracker_proc(struct tracker *t, const struct tracker_exec *of, struct tracker_proc *out);

struct tracker_state {
	unsigned int nprocs;
	unsigned int nattached;
	bool filtering;
	unsigned int nobjects;
	unsigned int shards_used, shards_created, shards_max;
	uint64_t words_used, words_max;
	uint64_t lost_records; /* since the start */
	unsigned int evicted;  /* objects that are sampled and whose table has no room */
	uint64_t evictions;    /* of tables in use, since the start */
	bool started;	       /* the processes from before the start are known */
	bool idle;	       /* started, and no sampled process waits for a table */
};
void tracker_state(struct tracker *t, struct tracker_state *out);

#endif
