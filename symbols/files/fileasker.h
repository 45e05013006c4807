/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_FILEASKER_H
#define STACKTOP_SYMBOLS_FILES_FILEASKER_H

/*
 * Gets files that rootfile_open_local refuses to a thread that must not wait: it asks a process
 * that may, which answers at once or later.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct procfile_owner;
struct stat;

struct file_facts {			  /* of the file itself, also if a copy of it is read */
	uint64_t dev, inode, mtime, size; /* ns; bytes */
	bool copied; /* read from a copy in memory, which does not change any more */
};

struct file_question {
	pid_t pid; /* the path is below the root of this process; 0: below our own */
	const char *path;
	const struct procfile_owner *owner; /* open it as procfile_open does; NULL: any file */
	const struct file_facts *known;	    /* -EALREADY if it would be the same copy; or NULL */
};

struct fileasker {
	/*
	 * Returns a descriptor, which the caller owns, and *facts; -EAGAIN: not yet, ask again; or
	 * -errno. Waits a moment at most. Any thread may call it.
	 */
	int (*ask)(void *arg, const struct file_question *question, struct file_facts *facts);
	void *arg;
	_Atomic uint64_t put_off; /* how often -EAGAIN was returned */
};

/* Calls asker->ask, which must exist, and counts -EAGAIN. */
int fileasker_ask(struct fileasker *asker, const struct file_question *question,
		  struct file_facts *facts);
/* The count of -EAGAIN; 0 for NULL. */
uint64_t fileasker_put_off(const struct fileasker *asker);

/*
 * Opens a file for reading, as rootfile_open does, below the root folder that the descriptor root
 * refers to (-1: our own), which is that of process pid. asker: NULL if the caller may wait.
 */
int fileasker_open(struct fileasker *asker, int root, pid_t pid, const char *path);

void file_facts_of(struct file_facts *facts, const struct stat *st);

#endif
