/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_MODULES_PRIV_H
#define STACKTOP_TUI_SYMBOLIZE_MODULES_PRIV_H

/* The modules and what is read of their files. For modules*.c only. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "symbols/base/hash.h"
#include "symbols/elf/debugfile.h"
#include "symbols/files/writtenfile.h"
#include "tui/symbolize/module_reader.h"
#include "tui/symbolize/modules.h"

#define BITS 64u /* of module_bit */

struct known_name {
	uint64_t vaddr; /* start of the function, or an address of none */
	bool hashed;
	UT_hash_handle hh;
	char text[];
};

struct symbol_module {
	uint64_t id;
	struct symtab *symtab; /* NULL: the file cannot be used */
	/* For a file without a full table: a debug file may be installed later. */
	struct debug_link *link;
	pid_t pid;	  /* that mapped it first: debug files are searched below its root */
	bool debug_there; /* a debug file is there, but not usable */
	int fd;	    /* our descriptor if its file system answers; -1: none, or closed for now */
	bool local; /* its file system answers */
	struct writtenfile written;
	bool was_written;    /* in place */
	bool unsure;	     /* see modules_is_rewritten; in the last look */
	struct funcs *funcs; /* NULL: not asked for yet, or there are none */
	bool funcs_read;
	/* What is being read; NULL: nothing. Until then names are module+offset. */
	struct module_job *jobs[MODULE_PARTS];
	struct known_name *names;
	/* Names from before a part was read, which the current stack may still use. */
	struct known_name *stale[MODULE_PARTS];
	size_t bytes;
	uint64_t used; /* round */
	time_t time;   /* CLOCK_MONOTONIC seconds; of the first use in that round */
	bool hashed;
	UT_hash_handle hh;
	char name[];
};

struct modules {
	struct profile *profile;
	struct tracker *tracker;
	struct fileasker *asker;
	struct symbol_module *table; /* least recently used first */
	size_t bytes;
	uint64_t round;
	struct module_reader *reader; /* NULL: files are read at once */
	uint64_t until;		      /* CLOCK_MONOTONIC ns: so long is waited for it */
	bool stale;		      /* a module has stale names */
	struct remotedebug *remote;   /* NULL: not wanted */
	unsigned int remote_found;
	time_t retry, rested; /* CLOCK_MONOTONIC seconds */
	uint64_t debug_files;
	uint64_t changes;
	uint64_t changed[BITS]; /* value of `changes` when names of modules with that bit changed
				   last */
};

/* --- modules_read.c -------------------------------------------------------------------------- */

/* Our own root if the process is gone, and its debug files with it. The caller closes the root. */
struct debug_place modules_debug_place(const struct modules *all, pid_t pid);
/* Frees what was read of its file. */
void module_clear(const struct modules *all, struct symbol_module *m);
/* Reads the symbols now, or has them read. -ENOMEM. An unusable file has no table; its addresses
 * are shown. */
int module_read_symbols(struct modules *all, struct symbol_module *m, const struct object *object);
/* Likewise the functions by CFI. */
void module_read_funcs(struct modules *all, struct symbol_module *m, const struct object *object);
/* Takes what has been read by now. The names that were given until then are only addresses. */
void module_read_more(struct modules *all, struct symbol_module *m);
/* Between two stacks: frees names from before a part was read. */
void modules_drop_stale(struct modules *all);

#endif
