/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_OBJECT_H
#define STACKTOP_BPF_TRACKER_OBJECT_H

/*
 * Mapped files and their unwind tables. A file is identified by device, inode, time and size, so
 * all processes that map it share one table. An object that no process maps keeps its table until
 * the room is needed: short commands run again. Guarded by the tracker's lock.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/tracker/codereader.h"
#include "bpf/tracker/mapsreader.h"
#include "symbols/base/hash.h"
#include "symbols/base/quota.h"
#include "symbols/elf/elffile.h"

struct stat;

enum object_state {
	OBJECT_QUEUED,	/* its table is to be built */
	OBJECT_READY,	/* the spans are in the shards; no spans: the file has no CFI */
	OBJECT_EVICTED, /* there was no room; comes back when it is sampled */
	OBJECT_FAILED,	/* unreadable, or larger than the budget */
	OBJECT_UNASKED, /* no chosen process has mapped it yet: see objects.chosen_only */
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
	int fd;		   /* -1: the vDSO, or closed (idlefile.c) */
	const void *image; /* the vDSO's, in memory; NULL: a file */
	size_t image_size;
	struct elf_load *loads;
	size_t nloads;
	enum object_state state;
	bool in_queue;
	bool building;	       /* in_queue, and a builder has taken it off the queue */
	bool partial;	       /* building, and the rows of its CFI are in use */
	unsigned int held;     /* references that allow the use of fd without the lock */
	bool wanted;	       /* its file is to be opened again */
	uint64_t wanted_at;    /* time of the last such wish; 0: none since it was opened */
	uint32_t bytes;	       /* charged to uid */
	uint64_t mapped_mtime; /* of its key, which another file may get */
	uint64_t mapped_size;
	struct object_key content; /* when the table was begun: the file may be written in place */
	bool refused;		   /* FAILED: the table would cost more than a real file's */
	unsigned int torn;	   /* number of builds during which the file was written */
	unsigned int refs;
	struct placed_span *spans;
	uint32_t nspans;
	uint32_t spans_room;
	uint64_t nwords;  /* of all spans */
	uint64_t need;	  /* words of the table that was built last */
	uint64_t sampled; /* time of the last sample that was seen in it; 0: never */
	uint64_t tried;	  /* when its table was last built */
	uint64_t placed;  /* when its table came into the shards */
	uint64_t missed;  /* seconds in which it was sampled without a table */
	uint64_t missed_at;
	uint64_t idle;	 /* when idlefile.c first saw it unmapped; 0: mapped, queued or closed */
	uint64_t change; /* ctime in ns, when the file was opened or closed */
	uint64_t seen;	 /* when it was last opened */
	bool copied;	 /* fd is a copy of the file in memory, see openfile.h */
	bool written;	 /* in place, since it was opened first */
	bool no_code;	 /* as in struct open_answer */
	bool by_key;	 /* it is in objects.by_key */
	bool by_file;	 /* it is in objects.by_file */
	struct file_id file;
	uint64_t waits;	    /* since when it has been evicted; 0: it is not */
	uint64_t chosen;    /* evict.c: the last round that saw it mapped by a target */
	bool pinned;	    /* never evicted; holds a reference */
	uint32_t nrows;	    /* of the table that was built last */
	uint32_t nderived;  /* of them: derived from machine code */
	uint64_t cfi_bytes; /* from which it was built */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
	uint32_t listed; /* inventory.c: index */
	pid_t counted;	 /* inventory.c: the process that was counted last */
	struct object *prev_queued, *next_queued;
	uint64_t queued;		/* since when */
	struct object *newer, *older;	/* unused objects, by when they became so */
	bool hashed;			/* in the table to which it was added last */
	UT_hash_handle hh;		/* by id */
	UT_hash_handle key_hh;		/* by key */
	UT_hash_handle file_hh;		/* by file */
	uint64_t tag;			/* of the file, as in frames; 0: not in objects.by_tag */
	UT_hash_handle tag_hh;		/* by tag */
	struct file_id shown;		/* numbers in /proc/PID/maps and records; has a tag */
	struct code_symbols symbols;	/* codereader.h: ELF addresses */
	bool describes;			/* it has one of them */
	struct runtime_object *runtime; /* runtimefile.h; NULL: it has none */
	bool code; /* no file: code of a process, runcode.h; fd: a codefile.h */
	/* publish.c: for processes that are not known yet; NULL: none */
	struct maplist *by_offset;
	uint64_t by_offset_change; /* ctime for which that list was made */
	struct object *prev_filed, *next_filed;
};

struct objects {
	struct object *all;	/* by id */
	struct object *by_key;	/* without those whose key belongs to another file now */
	struct object *by_file; /* the younger ones of each file */
	struct object *by_tag;	/* likewise */
	struct object *vdso;
	struct object *unused; /* oldest first */
	unsigned int nunused;
	uint64_t next_id;
	uint64_t copied;	  /* bytes of all copies of files */
	struct quota bytes;	  /* by the user who mapped the object first */
	unsigned int nopen;	  /* objects whose files are open */
	unsigned int nwanted;	  /* objects whose files are to be opened again */
	unsigned int nevicted;	  /* in that state */
	unsigned int ndescribing; /* objects that describe code made at run time */
	struct object *queue;	  /* for the builders */
	bool chosen_only;	  /* tables are built for the files of chosen processes only */

	pthread_cond_t *queue_wake;
	struct shards *shards;
	struct garbage *garbage;
	struct publisher *publisher;
	struct proctable *procs;
	struct notices *notices;
};

/* Takes the descriptor (-1: none). NULL: no memory. */
struct object *object_new(const struct object_key *key, int fd, const char *name);
/*
 * Enters the new object, and queues it unless it is known to have no CFI. False: no memory.
 */
bool object_add(struct objects *os, struct object *o, bool has_no_cfi);
void object_free(struct object *o);
/* Another file has its key now: the object goes when no process maps it any more. */
void object_disown(struct objects *os, struct object *o);
/* Takes its tag away: frames of that file do not mean this object any more. */
void object_untag(struct objects *os, struct object *o);
void object_get(struct objects *os, struct object *o);
void object_unref(struct objects *os, struct object *o);
/* The same for code of a process: without the process there is no use for it. */
void object_unref_code(struct objects *os, struct object *o);
/* Has its table built anew; the one that is there stays until then. It must not be in_queue. */
void object_renew(struct objects *os, struct object *o);
/* Is its file closed? */
bool object_is_closed(const struct object *o);
/* Does a process map it? Also one that has ended and is still known. */
bool object_is_mapped(const struct object *o);
/* Closes the file; everything else about the object stays. */
void object_close(struct objects *os, struct object *o);
/* Its memory has changed by so much. False: over the user's quota; nothing has changed. */
bool object_charge(struct objects *os, struct object *o, int64_t bytes);
/*
 * The same for a new object. Unused objects make room: the user's own, or any where the memory of
 * all users is used up.
 */
bool object_charge_new(struct objects *os, struct object *o, size_t nloads);
/* The object with that id, without a reference; NULL: it has been forgotten. */
struct object *object_by_id(struct objects *os, uint64_t id);
/* A process that is sampled maps it: its table is built now, unless it was asked for before. */
void object_want_table(struct objects *os, struct object *o);
/*
 * From now on tables are built for chosen processes only, and those that are queued are not built
 * until object_want_table; or for all again.
 */
void objects_choose(struct objects *os, bool chosen_only);
/* Removes the table (garbage) and queues it to be built again. */
void object_rebuild(struct objects *os, struct object *o);
void object_set_state(struct objects *os, struct object *o, enum object_state state);
/* Its words become garbage; lists may refer to them until they are published again. */
void object_drop_spans(struct objects *os, struct object *o);
void object_key(struct object_key *key, const struct stat *st);
uint64_t object_ctime(const struct stat *st); /* ns */
/* Forgets the oldest object that no process maps; false when there is none. */
bool object_evict_unused(struct objects *os);
/* Queues the object for the builders, or removes it from the queue until it is sampled. */
void object_enqueue(struct objects *os, struct object *o);
void object_unqueue(struct objects *os, struct object *o);
void objects_free(struct objects *os);

#endif
