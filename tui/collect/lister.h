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

struct cfitext;
struct lister;
struct listing;
struct remotedebug;

struct lister_job {
	uint64_t serial; /* returned with the answer */
	int fd;		 /* the file, owned; -1: see image */
	void *image;	 /* owned, malloc; NULL: none */
	size_t size;
	uint64_t start; /* of the function in the ELF file */
	uint64_t at;	/* an address in it, for its CFI */
	pid_t pid;	/* process with the root for debug files and sources */
};

/*
 * limit: bytes of debug information. remote: fetches debug files; NULL: none are fetched. -ENOMEM,
 * or what pthread_create says.
 */
int lister_new(size_t limit, struct remotedebug *remote, struct lister **out);
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
