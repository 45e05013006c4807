/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_LISTER_H
#define STACKTOP_TUI_COLLECT_LISTER_H

/*
 * The thread that reads the machine code, the debug information and the sources of one function
 * after the other, so that neither the screen nor the collection waits for it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbols/code/memcode.h"

struct cfitext;
struct lister;
struct listing;
struct remotedebug;
struct tracker;

enum lister_source {
	LISTER_FILE,
	LISTER_KERNEL,
	LISTER_MEMORY, /* of a process: code that it made */
	LISTER_SOURCE, /* of a function of a language: lines of a file */
};

struct lister_job {
	uint64_t serial; /* returned with the answer */
	enum lister_source source;
	int fd;	     /* the file, owned; -1: see image */
	void *image; /* owned, malloc; NULL: none */
	size_t size;
	uint64_t start;		       /* of the function in the ELF file, or in memory */
	uint64_t end;		       /* in memory; 0: not known. Of a file it is found */
	uint64_t marks[MEMCODE_MARKS]; /* see memcode.h */
	size_t nmarks;
	uint64_t at;	/* an address in it, for its CFI; of a source: a line */
	pid_t pid;	/* process with the root for debug files and sources */
	char file[256]; /* the source; below the working folder where it is not absolute */
};

/*
 * limit: bytes of debug information. remote: fetches debug files; NULL: none are fetched. tracker:
 * reads the memory of processes; must outlive the lister. -ENOMEM, or what pthread_create says.
 */
int lister_new(size_t limit, struct remotedebug *remote, struct tracker *tracker,
	       struct lister **out);
/* Cancels what is being read and waits for that. l may be NULL. */
void lister_free(struct lister *l);
/* Takes the job over; the job before is cancelled. */
void lister_ask(struct lister *l, const struct lister_job *job);
/*
 * The answer to the last job, once: 0 and a listing, or why there is none, and the CFI, NULL if
 * there is none, each with a reference. False: not yet.
 */
bool lister_take(struct lister *l, uint64_t *serial, int *err, struct listing **out,
		 struct cfitext **cfi);

#endif
