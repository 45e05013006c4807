/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_FILEASKER_H
#define STACKTOP_SYMBOLS_FILES_FILEASKER_H

/*
 * Where a thread that must not wait gets the files that rootfile_open_local refuses: it asks, and
 * who has the processes that may wait answers, now or later.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct procfile_owner;
struct stat;

struct file_facts { /* of the file itself, also where what is read is a copy of it */
	uint64_t dev, inode, mtime, size; /* ns; bytes */
	bool copied; /* into memory, as it was; else what is read is what it becomes */
};

struct file_question {
	pid_t pid; /* the path is one below the root of this process; 0: below our own */
	const char *path;
	const struct procfile_owner *owner; /* what is opened as by procfile_open; NULL: any file */
	const struct file_facts *known;	    /* -EALREADY if it would be the same copy; or NULL */
};

struct fileasker {
	/* A descriptor, the caller's own, and *facts; -EAGAIN: not yet, ask again; or -errno. Waits
	 * for a moment at most. May be called from any thread. */
	int (*ask)(void *arg, const struct file_question *question, struct file_facts *facts);
	void *arg;
	_Atomic uint64_t put_off; /* how often -EAGAIN was said */
};

/* Counts what was put off. asker: not NULL. As its ask. */
int fileasker_ask(struct fileasker *asker, const struct file_question *question,
		  struct file_facts *facts);
/* 0 for NULL. */
uint64_t fileasker_put_off(const struct fileasker *asker);

/*
 * A file below the root that the descriptor root stands for (-1: our own), which is that of process
 * pid, for reading as by rootfile_open. asker: NULL where the caller may wait.
 */
int fileasker_open(struct fileasker *asker, int root, pid_t pid, const char *path);

void file_facts_of(struct file_facts *facts, const struct stat *st);

#endif
