/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_TRACKER_PRIV_H
#define STACKTOP_BPF_TRACKER_TRACKER_PRIV_H

/*
 * Inside the tracker: tracker.c runs the threads, tracker_commands.c does what a person asks for,
 * process.c keeps the processes, targets.c which of them are sampled, mapping.c their lists of
 * mappings, stale.c and rescan.c find out where these are wrong, publish.c tells the walk, object.c
 * keeps the mapped files, asked.c those that were asked for by name, builder.c builds tables,
 * idlefile.c closes files, placement.c and evict.c know the tables' places. All of it is guarded by
 * tracker.lock, apart from the building of tables, which the builder thread does without it.
 * mappings_read, and with it process_scan and process_refresh, give it up for a while; nothing but
 * the tracker thread changes processes then.
 */

#include <stdatomic.h>
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbols/base/keyhash.h" /* uthash takes it */

#include <uthash.h>

#include "bpf/tracker/crowd.h"
#include "bpf/tracker/sideband.h"
#include "bpf/tracker/tracker.h"
#include "bpf/tracker/turnlock.h"
#include "symbols/elf/elffile.h"
#include "symbols/base/quota.h"
#include "unwind/shards.h"
#include "unwind/table.h"
#include "unwind/walk.h"

struct asked;
struct choice;
struct identity;
struct open_answer;
struct open_request;
struct opener;
struct opening;
struct procmap;
struct stat;
struct wide_rules;

enum object_state {
	OBJECT_QUEUED,	/* its table is to be built */
	OBJECT_READY,	/* the spans stand in the shards; none: the file has no CFI */
	OBJECT_EVICTED, /* there was no room; comes back when it is sampled */
	OBJECT_FAILED,	/* unreadable, or larger than the budget */
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
	uint32_t nwords;
	uint32_t ngranules;
};

struct object {
	struct object_key key;
	uint64_t id;
	char name[64];
	uid_t uid;	   /* of the process that mapped it first */
	int fd;		   /* -1: the vDSO; or closed while no process maps it, see idlefile.c */
	const void *image; /* the vDSO */
	size_t image_size;
	struct elf_load *loads;
	size_t nloads;
	enum object_state state;
	bool in_queue;
	bool building;	       /* in_queue, and off the queue */
	unsigned int held;     /* references of those who may use fd without the lock */
	bool wanted;	       /* its file is to be opened again */
	uint64_t wanted_at;    /* since when it is, or was in vain; 0: it is not */
	uint32_t bytes;	       /* charged to uid */
	uint64_t mapped_mtime; /* of its key, which another file may get */
	uint64_t mapped_size;
	struct object_key content; /* when its table was begun: it may be written in place */
	bool refused;		   /* FAILED, since it would cost more than a real file */
	unsigned int torn;	   /* so often was it written while it was read */
	unsigned int refs;
	struct placed_span *spans;
	uint32_t nspans;
	uint32_t spans_room;
	uint64_t nwords;  /* of all spans */
	uint64_t need;	  /* words of the table that was built last */
	uint64_t sampled; /* when a walk was last seen to come upon it; 0: never */
	uint64_t tried;	  /* when its table was last built */
	uint64_t placed;  /* when its table came into the shards */
	uint64_t missed;  /* seconds in which it was sampled without a table */
	uint64_t missed_at;
	uint64_t idle;	 /* since when idlefile.c sees it unmapped; 0: mapped, queued or closed */
	uint64_t change; /* ns; time of the file's last change when it was opened or closed */
	uint64_t seen;	 /* when it was last opened */
	bool copied;	 /* fd is a copy of the file in memory, see openfile.h */
	bool written;	 /* in place, since it was opened first */
	bool by_file;	 /* it is in tracker.files */
	struct file_id file;
	uint64_t waits;	    /* since when it has been without room; 0: it is not */
	uint64_t chosen;    /* evict.c's own */
	bool pinned;	    /* is never evicted; holds a reference */
	uint32_t nrows;	    /* of the table that was built last */
	uint64_t cfi_bytes; /* that it was built of */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
	uint32_t listed; /* inventory.c's own */
	pid_t counted;	 /* inventory.c's own */
	struct object *next_queued;
	uint64_t queued;	      /* since when it is */
	struct object *newer, *older; /* unused objects, by when they became so */
	UT_hash_handle hh;	      /* by key */
	UT_hash_handle id_hh;	      /* by id */
	UT_hash_handle file_hh;	      /* by file */
	uint64_t tag;		      /* as frames have it; 0: it is not in tracker.tags */
	UT_hash_handle tag_hh;	      /* by tag */
	struct file_id shown;	      /* numbers that mappings show, where it has a tag */
	struct published *by_offset;  /* for processes that are not known yet; NULL: none... */
	uint64_t by_offset_change;    /* ...its change of then */
};

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t bias;	       /* run time address - ELF virtual address; objects only */
	struct object *object; /* NULL: anonymous memory, or a file that is not there */
	uint64_t asked;	       /* its file was asked for, see opener.h; 0: it was not */
	uint64_t offset;       /* in the file */
	struct file_id file;   /* as the mapping has it; inode 0: none */
};

/* A process's list in the map_lists map; shared by processes that forked from each other. */
struct published {
	unsigned int refs;
	uint32_t word; /* in the list allocator's space, 8 words an entry */
	uint32_t count;
	bool cold;	  /* stands for a longer one, see publish.c */
	bool changed;	  /* entries of processes do not lead to it yet */
	uint64_t scanned; /* see evict_scan */
	uint64_t sampled; /* when a walk was last seen to come upon it; 0: never */
	uint64_t since;	  /* when it was made, or was last warm */
	/* publish.c's own, in a round over all lists */
	uint64_t round, order;
	const struct process *owner;
};

struct dead_key {
	uint64_t image;
	uint64_t pid;
};

struct exec_key {
	uint64_t exec;
	uint64_t pid;
};

struct process {
	pid_t pid;
	pid_t ppid;
	uint64_t start;	  /* as in struct procstat; 0: not known yet */
	uint64_t image;	  /* 0: not known yet */
	uint64_t exec_id; /* see struct proc_entry; 0: no sample has told yet */
	uint64_t exec_at; /* likewise */
	char comm[16];
	uid_t uid;		  /* effective */
	uint32_t groups;	  /* targets.c's own */
	struct mapping *mappings; /* ascending, disjoint */
	size_t nmappings;
	uid_t payer; /* to whom they are charged */
	bool asks;   /* some of them have been asked for */
	struct published *list;
	bool entered; /* has an entry in the map of processes */
	bool kthread;
	bool dirty;	/* the list is out of date */
	bool unsettled; /* just read: a record of an exec before that may be unread */
	bool unread;	/* the image could not be read, or was not complete */
	bool fresh;	/* exec'd: the image is to be read, and the mappings, unless... */
	bool recorded;	/* ...the records have told of them all since the exec */
	unsigned int tries;
	bool leaderless;     /* its first thread has ended, others live */
	bool threaded;	     /* has or had threads: the first one's end may not be its own */
	bool ambiguous;	     /* dead, and not the only one of its key */
	uint64_t exec_kb;    /* of executable memory when it was last looked at; 0: not yet */
	uint64_t scan_next;  /* no doubt leads to a reading of its mappings before */
	uint64_t scan_round; /* see rescan.c */
	uint64_t scan_wait;  /* between such readings: grows while they find nothing new */
	uint64_t scan_rest;  /* no reading before, for what the last one has cost */
	struct process *next_dirty, **prev_dirty;
	bool follow;   /* of COMMAND's tree */
	bool attached; /* by its number */
	bool excluded; /* detached by its number, although it is chosen otherwise */
	bool target;   /* in the targets map */
	bool exited;
	uint64_t exit_time;
	struct process *next_dead;
	struct dead_key dead_key;
	UT_hash_handle hh; /* of the live ones, by pid */
	struct exec_key exec_key;
	UT_hash_handle dead_hh; /* of the dead ones, by dead_key */
	UT_hash_handle exec_hh; /* of the dead ones whose exec_id is known, by exec_key */
};

#define BUILDERS      2u
#define BUILD_USES    64u
#define DOUBTS_MAX    64u
#define FORKED_MAX    256u
#define STRANGERS_MAX 256u
#define CHOICE_WORDS  24u

#define IDLE_NS (2ull * 1000000000) /* not sampled for so long: may give way */
#define STAY_NS                                                                                    \
	(10ull * 1000000000) /* in use, but has been here for so long: may give way, too           \
			      */

struct garbage { /* blocks that running programs may still read */
	struct shards *from;
	uint32_t word;
};

struct tracker {
	struct sampler *sampler;
	const struct tracker_filter *filter;
	tracker_say *say;
	void *say_arg;
	struct turnlock lock;

	struct process *processes;	  /* by pid, live ones */
	struct process *dead, **dead_end; /* exited ones, oldest first */
	struct process *dead_by_key, *dead_by_exec;
	unsigned int ndead;
	struct forked { /* who has forked with an image, by the image */
		uint64_t image;
		pid_t pid;
	} forked[FORKED_MAX];
	_Atomic uint64_t keep_dead; /* ns; who changes it does not wait for the lock */
	unsigned int nattached;
	bool filtering;
	bool by_options; /* the filter of the command line is in force */
	bool following;
	struct identity *named; /* the processes of filter->pids, in their order */
	uint64_t named_looked;	/* time of the last choice_watch that looked */
	bool named_ends;	/* a record told of the end of one, which may be under way */
	struct choice *words[CHOICE_WORDS]; /* in the order in which they were said */
	size_t nwords;
	uint64_t looked;       /* time of the last choice_look that looked */
	pid_t look_at;	       /* which process is to be looked at next */
	struct process *dirty; /* whose lists are out of date */
	pid_t doubts[DOUBTS_MAX];
	size_t ndoubts;
	uint64_t checked; /* time of the last process_check */
	pid_t check_at;	  /* which process is to be looked at next */

	struct object *objects; /* by key */
	struct object *objects_by_id;
	struct object *files;	   /* the younger ones of each file, by file */
	struct object *tags;	   /* likewise, by the tag of the file */
	uint64_t copied;	   /* bytes of all copies of files */
	struct quota mappings;	   /* of all processes, how many */
	struct quota bytes;	   /* of objects, by the user who mapped them first */
	unsigned int nopen;	   /* objects whose files are open */
	unsigned int open_max;	   /* 0: no limit; see rest_keep */
	unsigned int nwanted;	   /* objects whose files are to be opened again */
	struct opener *opener;	   /* NULL: files are opened at once, by who asks */
	struct asked *asked;	   /* files that were asked for by name... */
	pthread_cond_t asked_wake; /* ...of which one is answered */
	struct object *vdso;
	struct object *unused_oldest, *unused_newest;
	unsigned int nunused;
	uint64_t next_object;
	struct shards *shards;
	struct shards *lists;
	uint64_t shard_since[SHARDS_MAX];     /* when it was created */
	uint64_t shard_evictions[SHARDS_MAX]; /* since the start */
	bool told_full, told_procs, told_files, told_mappings, told_silent, told_copies;
	bool told_quota, told_objects, told_rest;
	bool told_targets;     /* since a person chose something */
	uint64_t list_round;   /* publish.c's own */
	char told_failed[64];  /* the file of the last such message */
	unsigned int nevicted; /* objects in that state */
	uint64_t evictions;    /* since the start, of tables in use */
	uint64_t scanned;      /* time of the last evict_scan */
	uint64_t chosen_round; /* evict.c's own */
	uint64_t rested;       /* time of the last rest_look that looked */
	struct wide_rules *wide;

	struct garbage *garbage;
	size_t ngarbage, garbage_room;
	bool publishing;   /* some dirty processes are left for the next turn */
	bool unpublished;  /* lists may lead to garbage that tables have left */
	bool collecting;   /* a builder waits... */
	size_t ncollected; /* ...for the first of them, as far as they are still there */

	struct object *queue, **queue_end;
	pthread_cond_t builder_wake;
	unsigned int building; /* builders that are at it */
	bool stop;
	atomic_bool stopping; /* the same for what is being built, without the lock */
	pthread_t tracker_thread;
	bool tracker_runs;
	pthread_t tracker_self; /* the same, by itself... */
	bool in_thread;		/* ...once it has begun */
	bool reading;		/* it reads mappings, without the lock: see mapping.c */
	pthread_cond_t has_read;
	struct builder {
		struct tracker *tracker;
		struct wide_rules *wide;
		uint64_t size_max; /* of the files that it takes */
		pthread_t thread;
		bool runs;
	} builders[BUILDERS];
	struct build_use { /* how much of the builders' time a user has had lately */
		uint64_t ns, since;
	} build_uses[BUILD_USES];
	int wake_fd; /* eventfd: commands, finished tables, stop */

	DIR *rescan; /* of /proc, while all processes are read anew */
	bool rescan_again;
	uint64_t rescan_round;
	uint64_t rescan_spent;		/* ns of CPU time in this round */
	uint64_t rescan_rest;		/* until then no round begins */
	pid_t strangers[STRANGERS_MAX]; /* were sampled, and are to be read first */
	size_t nstrangers;
	bool started; /* all processes that were there at the start are known */

	struct kernelcode *kernel_code;
	uint32_t kernel_told; /* generation that the sampler has */
	struct sideband *sideband;
	uint64_t watched;    /* time of the last sideband_watch */
	bool told_unwatched; /* that a CPU cannot be followed */
	uint64_t lost_records;
	pthread_mutex_t posted_lock; /* held for a moment only: the screen's thread waits for it */
	struct posted *posted, **posted_end;
};

uint64_t tracker_now(void);
uint64_t tracker_cpu_time(void); /* of the calling thread, ns */
/* The block is freed once no program can read it. */
void tracker_discard(struct tracker *t, struct shards *from, uint32_t word);
/* The same, now, with all blocks of an allocator; no list may lead to them. NULL: of all of them.
 */
void tracker_flush(struct tracker *t, const struct shards *from);
void tracker_wake(struct tracker *t);
void tracker_tell(struct tracker *t, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* --- asked.c: lock held ---------------------------------------------------------------------- */

/* NULL: no memory. */
struct asked *asked_new(void);
void asked_free(struct asked *a);
/* Of what was not asked for as mapped; takes the descriptor. */
void asked_on_answer(struct tracker *t, const struct opening *o, const struct open_answer *answer,
		     int fd);
/* Closes what was answered and not fetched. */
void asked_age(struct tracker *t, uint64_t now);

/* --- object.c: lock held -------------------------------------------------------------------- */

/*
 * The object of a file, by its numbers as stat(2) has them, or as the mapping has it, with a
 * reference. NULL: it has to be asked for, since none is known, or the file has changed.
 */
struct object *object_known(struct tracker *t, const struct file_id *id, uid_t uid);
struct object *object_still(struct tracker *t, const struct mapping *m);
/* What is to be asked for (bpf/tracker/openfile.h); all but the id. */
void object_request(const struct tracker *t, struct open_request *r, pid_t pid,
		    const struct procmap *map);
/*
 * The object of the file that has come, with a reference; takes the descriptor. NULL: no memory, or
 * no more for files of this user.
 */
struct object *object_of_answer(struct tracker *t, const struct open_request *r,
				const struct open_answer *a, uid_t uid, int fd);
struct object *object_vdso(struct tracker *t);
void object_get(struct tracker *t, struct object *o);
void object_unref(struct tracker *t, struct object *o);
/*
 * Of an executable mapping at a file offset, which may hold more than one segment: the one that is
 * code counts. False when it has nothing of any.
 */
bool object_bias(const struct object *o, const struct mapping *m, uint64_t offset, uint64_t *bias);
/* vma_file_tag of a file, by its numbers as the mapping has them. */
uint64_t object_file_tag(const struct file_id *id);
/*
 * Where the place at an offset in a file is, whose tag a frame has: the object, without a
 * reference, and the ELF address. NULL: no such file is known, or it has no segment there.
 */
struct object *object_by_tag(struct tracker *t, uint64_t frame, uint64_t *vaddr);
/* Its memory has changed by so much. False: the user has no more, and nothing has changed. */
bool object_charge(struct tracker *t, struct object *o, int64_t bytes);
/* The object with that id, without a reference; NULL: it has been forgotten. */
struct object *object_by_id(struct tracker *t, uint64_t id);
/* Takes the table away (garbage) and queues it to be built again. */
void object_rebuild(struct tracker *t, struct object *o);
void object_set_state(struct tracker *t, struct object *o, enum object_state state);
/* Its words become garbage; lists may still lead to them until they are published again. */
void object_drop_spans(struct tracker *t, struct object *o);
void object_key(struct object_key *key, const struct stat *st);
/* Forgets the oldest object that no process maps; false when there is none. */
bool object_evict_unused(struct tracker *t);
/* Its table is to be built. */
void object_enqueue(struct tracker *t, struct object *o);
void objects_free(struct tracker *t);

/* --- builder.c: lock held ------------------------------------------------------------------- */

/*
 * Builds the next queued table that is for this builder; the lock is given up meanwhile. False:
 * there is none.
 */
bool object_build_next(struct builder *b);
/* Is there one? */
bool object_is_queued(const struct builder *b);

/* --- mapping.c: lock held ------------------------------------------------------------------- */

void mappings_clear(struct tracker *t, struct process *p);
/* to has none so far. */
int mappings_copy(struct tracker *t, struct process *to, const struct process *from);
/* A record tells of an executable mapping: true when it was not known. */
bool mapping_record(struct tracker *t, struct process *p, const struct procmap *map);
/*
 * Replaces all by what /proc/PID/maps says: 1 when that is something else, 0, or -errno. -EAGAIN:
 * the process has called exec since its image was read, and what it had is still there.
 */
int mappings_read(struct tracker *t, struct process *p);
/* An opener_on_answer; arg is the tracker. */
void mappings_on_answer(struct tracker *t, const struct opening *o, const struct open_answer *a,
			int fd);

/* --- process.c: lock held ------------------------------------------------------------------- */

void process_on_event(struct tracker *t, const struct sideband_event *e);
/* The number under which /proc shows what all its threads share. */
pid_t process_thread(const struct process *p);
/* Is p->image still what /proc says? */
bool process_has_image(const struct process *p);
/* Reads the process from /proc. True: something has changed. */
bool process_scan(struct tracker *t, pid_t pid);
/* Only whether it still exists. */
void process_scan_gone(struct tracker *t, pid_t pid);
/*
 * Reads the images of processes that have called exec. True: some were read, and the side-band
 * records up to now are to be handed over before anything is published: they tell whether an image
 * is that of the exec that is known, or already of the next one.
 */
bool process_refresh(struct tracker *t);
/* Brings the BPF maps up to date with all dirty processes; true: some must be tried again soon. */
bool process_publish(struct tracker *t);
/* The same, as far as it gets in a few milliseconds, or until another thread wants the lock. */
bool process_publish_some(struct tracker *t);
/* Its list is out of date. */
void process_dirty(struct tracker *t, struct process *p);
/* Marks all processes that map the object dirty. */
void process_touch(struct tracker *t, const struct object *o);
/* The living process of that number. */
struct process *process_live(struct tracker *t, pid_t pid);
/* NULL: none, or there are several which it may be. */
struct process *process_find(struct tracker *t, const struct tracker_exec *of);
/*
 * For a process that the tracker does not know yet, or whose record was lost: another one of that
 * image, which has forked and may be its parent. NULL: none is known.
 */
struct process *process_akin(struct tracker *t, uint64_t image);
void process_bury(struct tracker *t, uint64_t before);
void processes_free(struct tracker *t);

/* --- rescan.c: lock held -------------------------------------------------------------------- */

/* Reads all processes from /proc, now. */
void rescan_all(struct tracker *t);
/* The same, by and by, and not right after it was done: rescan_turn goes on with it. */
void rescan_begin(struct tracker *t);
/* True: there is more to be done, after the records that have come meanwhile. False in a rest. */
bool rescan_turn(struct tracker *t);
/* A process was sampled that is not known: it is read before the others. */
void rescan_want(struct tracker *t, pid_t pid);
void rescan_free(struct tracker *t);

/* --- stale.c: lock held --------------------------------------------------------------------- */

void doubt_add(struct tracker *t, pid_t pid);
/* Reads the processes in doubt anew, and has a look at some of the others. */
void doubt_settle(struct tracker *t, uint64_t now);

/* --- idlefile.c: lock held ----------------------------------------------------------------------
 */

/* Closes the files of objects that no process has mapped for a while; all else of them stays. */
void rest_look(struct tracker *t, uint64_t now);
/* ctime, ns. */
uint64_t rest_change_of(const struct stat *st);
/*
 * Keeps no more than t->open_max files open: those of the user who has most of them go, the ones
 * not sampled for the longest time first, mapped or not.
 */
void rest_keep(struct tracker *t);
/* Is the object's file closed? */
bool rest_is(const struct object *o);
/*
 * Something is to be read from its file, which is closed: it is asked for if it is mapped. False:
 * it was and has not come.
 */
bool rest_want(struct tracker *t, struct object *o);
/* Asks for the files that are wanted. */
void rest_ask(struct tracker *t);
/*
 * The object is mapped again, or wanted: takes the descriptor over if the file is still the same.
 */
bool rest_end(struct tracker *t, struct object *o, const struct open_answer *a, int fd);

/* --- placement.c: lock held ----------------------------------------------------------------------
 */

enum room_when {
	ROOM_NOW,     /* as it is */
	ROOM_UNUSED,  /* if all went that no process maps */
	ROOM_CHOSEN,  /* and what no chosen process maps, by the last look at them */
	ROOM_SAMPLED, /* ROOM_UNUSED, and what gives way to a table that a sample has asked for */
	ROOM_EVER,    /* if all went that is not pinned */
};

/* -ENOMEM: *out is none. */
int room_measure(const struct tracker *t, enum room_when when, struct shards_room *out);
/* Will room_place succeed with a table of nwords? */
bool room_fits(const struct shards_room *room, uint64_t nwords);
/* Would it, if nothing else were there? */
bool room_fits_empty(const struct tracker *t, uint64_t nwords);
/* Copies the table's blocks to the shards, cut where the gaps want it; all of them or none. */
int room_place(struct tracker *t, struct object *o, const struct unwind_table *table);

/* --- evict.c: lock held --------------------------------------------------------------------- */

/* Reads the marks that walks have left, and queues evicted objects that were sampled. */
void evict_scan(struct tracker *t, uint64_t now);
/* Did a chosen process map the object at the last evict_for, or are all chosen? */
bool evict_is_chosen(const struct tracker *t, const struct object *o);
/* May the object's table, which a process maps, go? when: ROOM_CHOSEN or ROOM_SAMPLED. */
bool evict_may(const struct tracker *t, const struct object *o, enum room_when when, uint64_t now);
/*
 * Makes room for a table of nwords. -EFBIG: larger than the budget; -ENOSPC: not now, and nothing
 * has gone that could stay.
 */
int evict_for(struct tracker *t, const struct object *for_whom, uint64_t nwords);
/* Objects that are sampled and have no room. */
unsigned int evict_waiting(const struct tracker *t);

/* --- targets.c: lock held -------------------------------------------------------------------- */

/* The effective user; false: the process is gone. */
bool choice_uid(pid_t pid, uid_t *uid);
/* Reads what choices need to know of the process and refresh does not read anyway. */
void choice_read(const struct tracker *t, struct process *p);
/* Decides anew whether the process is sampled. */
void choice_apply(struct tracker *t, struct process *p);
/* Takes hold of the processes that the filter names by their numbers. -ENOMEM. */
int choice_name(struct tracker *t);
/* The process of that number has ended. */
void choice_ends(struct tracker *t, pid_t pid);
/* Tells of those that have ended. True: one is about to. */
bool choice_watch(struct tracker *t, uint64_t now);
/* Has a look at who has another user or control group now. */
void choice_look(struct tracker *t, uint64_t now);
/* Samples only the processes that are chosen, if there is any choice. */
void choice_filter(struct tracker *t);
/* Commands: by a word of bpf/tracker/selector.h, and the whole machine again. */
void choice_attach(struct tracker *t, const char *arg, bool on);
void choice_clear(struct tracker *t);
void choice_free(struct tracker *t);

/* --- tracker_commands.c: lock held
 * ------------------------------------------------------------------- */

/* Does what was posted. */
void commands_take(struct tracker *t);
void commands_free(struct tracker *t);

/* --- inventory.c: lock held ----------------------------------------------------------------- */

/* Commands; arg is an object's id. */
void inventory_drop(struct tracker *t, const char *arg);
void inventory_pin(struct tracker *t, const char *arg); /* or no longer, if it was */

/* --- publish.c: lock held ------------------------------------------------------------------- */

/*
 * Makes the process's list anew. -ENOSPC: the map of lists is full; -E2BIG: that of processes is,
 * and it has no list now; -ENOMEM.
 */
int publish_list(struct tracker *t, struct process *p);
/*
 * What makes a frame of an address in the mapping, as in struct map_entry. Of what is no ELF file
 * frames stay addresses: it may be code that the process has made, which has names by address.
 */
uint64_t publish_frame(const struct mapping *m);
/* Tells the walk where the list is. On an error the process has none any more. */
int publish_entry(struct tracker *t, struct process *p);
/* Takes over which exec that is, if a sample has told since the entry was made. */
void publish_read_exec(struct tracker *t, struct process *p);
/* Cold lists whose .sampled is now get their entries back, as far as there is room. */
void publish_scan(struct tracker *t, uint64_t now);
/* Gives back a reference; NULL is none. */
void publish_put(struct tracker *t, struct published *list);
/*
 * Tells the walk of a file, for processes that are not known yet, if that is of use and there is
 * room; nothing changes where it has been told. publish_unfile before the object's table goes.
 */
void publish_file(struct tracker *t, struct object *o);
void publish_unfile(struct tracker *t, struct object *o);
/* Which of these the walk has come upon; now: as evict_scan. */
void publish_scan_files(struct tracker *t, uint64_t now);

#endif
