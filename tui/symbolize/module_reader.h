/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_MODULE_READER_H
#define STACKTOP_TUI_SYMBOLIZE_MODULE_READER_H

/*
 * Reads symbol tables and functions of files: at once, or in a thread of its own, so that the
 * caller can stop waiting. A large table takes a second of a CPU, and many where others want it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "symbols/elf/debugfile.h"
#include "tui/profile/profile.h"

struct elf_file;
struct fileasker;
struct funcs;
struct module_job;
struct module_reader;
struct symtab;

enum module_part { MODULE_SYMBOLS, MODULE_FUNCS, MODULE_PARTS };

/* What was read of a file; the caller owns the pointers. */
struct module_read {
	struct symtab *symtab;	 /* NULL: the file cannot be used, or functions were asked for */
	struct debug_link *link; /* of a file without a full table: debug files may come later */
	bool debug_there;	 /* a debug file is there, but not usable */
	char build[PROFILE_BUILD_MAX]; /* "": none */
	struct funcs *funcs;	       /* NULL: there are none, or symbols were asked for */
	int err;		       /* 0, -ENOMEM, or of opening the file */
};

/* Reads this part of the file now. An unusable file has no table, which is no error. */
void module_read_file(const struct elf_file *file, const struct debug_place *place,
		      enum module_part part, struct module_read *out);

/* NULL: no memory, or no thread. */
struct module_reader *module_reader_new(void);
/* Waits for the file that is being read. Jobs must have been dropped. reader may be NULL. */
void module_reader_free(struct module_reader *reader);
/*
 * Has the thread read a part of the file, of which it takes a descriptor of its own; it closes
 * place->root when it has finished. NULL: no memory or descriptor; the root is the caller's then.
 */
struct module_job *module_reader_ask(struct module_reader *reader, int fd,
				     const struct debug_place *place, enum module_part part);
/*
 * Waits until CLOCK_MONOTONIC ns for the job. True: it is done, and freed; *out is what it read.
 */
bool module_reader_take(struct module_reader *reader, struct module_job *job, uint64_t until,
			struct module_read *out);
/* Its answer is not wanted any more. job may be NULL. */
void module_reader_drop(struct module_reader *reader, struct module_job *job);

#endif
