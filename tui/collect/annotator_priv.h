/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_ANNOTATOR_PRIV_H
#define STACKTOP_TUI_COLLECT_ANNOTATOR_PRIV_H

/* The inside of the annotator, for annotator*.c only. */

#include "bpf/tracker/tracker.h"
#include "symbols/base/hash.h"
#include "tui/collect/annotator.h"
#include "tui/profile/annotation.h"

/*
 * Objects that are no files. Those of the tracker count from 1, and a process's own code is one
 * object for each process.
 */
#define OBJECT_SOURCE	   (1ull << 61) /* of a language: addresses are lines */
#define OBJECT_KERNEL	   (1ull << 62)
#define OBJECT_PROCESS(of) (1ull << 63 | (uint64_t)(of)->pid << 32 | (uint32_t)(of)->exec_id)

struct annotator_match {	/* samples with the function at this address */
	struct tracker_exec of; /* of the kernel: exec_id is stack_record.kernel_code */
	uint64_t frame;		/* of the kernel: an address within the instruction */
	uint64_t count;
	bool self, once, window, fresh; /* once: counts for the function's total */
	uint64_t object, start, vaddr;	/* object 0: it is not known where its code is */
	uint64_t end;			/* of what is in no file; 0: not known */
};

struct annotator_spot { /* an address of the function with its counts */
	uint64_t vaddr;
	struct annotation_count window, all;
	bool hashed;
	UT_hash_handle hh;
};

struct lister;
struct stack_ring;

struct annotator {
	struct profile *profile;
	struct tracker *tracker;
	struct resolver *resolver;
	struct stackcache *stacks;
	size_t limit;
	struct remotedebug *remote;
	struct stack_ring *hits;
	struct lister *lister; /* NULL: not needed yet */

	struct annotation_wish wish; /* serial 0: none */
	uint64_t counted;	     /* end of the time that is counted in `all` */
	uint64_t since;
	struct annotator_match *found;
	size_t nfound, found_room;
	uint64_t object, start;	       /* the function; object 0: not found yet */
	struct annotator_match chosen; /* an address in it */
	bool exited, replaced;	       /* see struct annotation */
	struct annotator_spot *spots;
	struct annotation_sum window, all;
	struct listing *listing; /* NULL: not there */
	struct cfitext *cfi;	 /* likewise */
	uint64_t at;		 /* the wish's frame in its file; 0: none */
	bool asked;
	char trouble[192];	/* "" none */
	const char *no_source;	/* why a language's lines have no text; NULL: they have, or will */
	unsigned int processes; /* with stacks that were found */
};

/*
 * Looks for the function of the wish in the stacks of the window and those that are not counted
 * yet: `found`. Of a function of a language, frame is the line, 0: not known.
 */
void annotator_search(struct annotator *a, uint64_t now);

#endif
