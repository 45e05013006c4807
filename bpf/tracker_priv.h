/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_PRIV_H
#define STACKTOP_BPF_TRACKER_PRIV_H

/*
 * Inside the tracker: tracker.c runs the threads, process.c keeps the processes and their lists
 * of mappings, object.c the mapped files and their tables. All of it is guarded by tracker.lock,
 * apart from the building of tables, which the builder thread does without it.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <uthash.h>

#include "bpf/sideband.h"
#include "bpf/tracker.h"
#include "symbols/elffile.h"
#include "unwind/shards.h"
#include "unwind/table.h"
#include "unwind/walk.h"

struct wide_rules;

enum object_state {
	OBJECT_QUEUED, /* its table is to be built */
	OBJECT_READY,  /* the spans stand in the shards; none: the file has no CFI */
	OBJECT_FAILED, /* unreadable, or there was no room */
};

struct object_key {
	uint64_t dev;
	uint64_t inode;
	uint64_t mtime; /* ns */
	uint64_t size;
};

struct placed_span {
	uint64_t start; /* ELF virtual address */
	uint64_t end;
	uint32_t word;
	uint32_t ngranules;
};

struct object {
	struct object_key key;
	uint64_t id;
	char name[64];
	int fd;
	const void *image; /* the vDSO */
	size_t image_size;
	struct elf_load *loads;
	size_t nloads;
	enum object_state state;
	bool in_queue;
	unsigned int refs;
	struct placed_span *spans;
	uint32_t nspans;
	struct object *next_queued;
	struct object *newer, *older; /* unused objects, by when they became so */
	UT_hash_handle hh;
};

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t bias;	       /* run time address - ELF virtual address; objects only */
	struct object *object; /* NULL: anonymous memory, or a file that cannot be read */
};

/* A process's list in the map_lists map; shared by processes that forked from each other. */
struct published {
	unsigned int refs;
	uint32_t word; /* in the list allocator's space, 8 words an entry */
	uint32_t count;
};

struct dead_key {
	uint64_t image;
	uint64_t pid;
};

struct process {
	pid_t pid;
	pid_t ppid;
	uint64_t image; /* 0: not known yet */
	char comm[16];
	uid_t uid;
	struct mapping *mappings; /* ascending, disjoint */
	size_t nmappings;
	struct published *list;
	bool kthread;
	bool dirty;    /* the list is out of date */
	bool fresh;    /* exec'd: the image is to be read, and the mappings, unless... */
	bool recorded; /* ...the records have told of them all since the exec */
	unsigned int tries;
	bool follow;   /* of COMMAND's tree */
	bool attached; /* by key */
	bool excluded; /* detached by key although the options choose it */
	bool target;   /* in the targets map */
	bool exited;
	uint64_t exit_time;
	struct process *next_dead;
	struct dead_key dead_key;
	UT_hash_handle hh;	/* of the live ones, by pid */
	UT_hash_handle dead_hh; /* of the dead ones, by dead_key */
};

struct garbage { /* blocks that running programs may still read */
	struct shards *from;
	uint32_t word;
};

struct tracker {
	struct sampler *sampler;
	const struct tracker_filter *filter;
	tracker_say *say;
	void *say_arg;
	pthread_mutex_t lock;

	struct process *processes;	  /* by pid, live ones */
	struct process *dead, **dead_end; /* exited ones, oldest first */
	struct process *dead_by_key;
	unsigned int ndead;
	uint64_t keep_dead; /* ns */
	unsigned int nattached;
	bool filtering;
	bool by_options; /* the filter of the command line is in force */
	bool following;
	bool any_dirty;

	struct object *objects; /* by key */
	struct object *vdso;
	struct object *unused_oldest, *unused_newest;
	unsigned int nunused;
	uint64_t next_object;
	struct shards *shards;
	struct shards *lists;
	bool told_full;
	struct wide_rules *wide;

	struct garbage *garbage;
	size_t ngarbage, garbage_room;

	struct object *queue, **queue_end;
	pthread_cond_t builder_wake;
	bool building;
	bool stop;
	pthread_t tracker_thread, builder_thread;
	bool tracker_runs, builder_runs;
	int wake_fd; /* eventfd: commands, finished tables, stop */

	struct sideband *sideband;
	uint64_t lost_records;
	struct posted *posted, **posted_end;
};

uint64_t tracker_now(void);
/* The block is freed once no program can read it. */
void tracker_discard(struct tracker *t, struct shards *from, uint32_t word);
void tracker_flush(struct tracker *t);
void tracker_wake(struct tracker *t);
void tracker_tell(struct tracker *t, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* --- object.c: lock held -------------------------------------------------------------------- */

/* The object mapped at [start, end) of the process, with a reference; NULL: not readable. */
struct object *object_of_mapping(struct tracker *t, pid_t pid, uint64_t start, uint64_t end,
				 const char *name, dev_t dev, uint64_t inode);
struct object *object_vdso(struct tracker *t);
void object_get(struct tracker *t, struct object *o);
void object_unref(struct tracker *t, struct object *o);
/* False when no PT_LOAD covers the file offset of an executable mapping. */
bool object_bias(const struct object *o, uint64_t start, uint64_t offset, uint64_t *bias);
/* Takes the table away (garbage) and queues it to be built again. */
void object_rebuild(struct tracker *t, struct object *o);
/* Builds the next queued table; the lock is given up meanwhile. False: the queue is empty. */
bool object_build_next(struct tracker *t);
void objects_free(struct tracker *t);

/* --- process.c: lock held ------------------------------------------------------------------- */

void process_on_event(struct tracker *t, const struct sideband_event *e);
/* Reads one process, or all of them, from /proc. */
void process_scan(struct tracker *t, pid_t pid);
void process_scan_all(struct tracker *t);
/* Brings the BPF maps up to date with all dirty processes; true: some must be tried again soon. */
bool process_publish(struct tracker *t);
/* Marks all processes that map the object dirty. */
void process_touch(struct tracker *t, const struct object *o);
struct process *process_find(struct tracker *t, pid_t pid, uint64_t image);
/* Decides anew whether the process is sampled. */
void process_choose(struct tracker *t, struct process *p);
void process_choose_all(struct tracker *t);
void process_bury(struct tracker *t, uint64_t before);
void processes_free(struct tracker *t);

#endif
