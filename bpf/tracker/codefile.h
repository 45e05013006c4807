/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_CODEFILE_H
#define STACKTOP_BPF_TRACKER_CODEFILE_H

/*
 * The file in memory in which a helper process says what it has read of the code that a process
 * makes at run time: a head, rows in ascending order, wide rules, names, and their text. The helper
 * has parsed what another program wrote, so the reader trusts none of it.
 */

#include <stdatomic.h>
#include <stdint.h>

struct code_draft;
struct unwind_table;
struct wide_rules;

#define CODEFILE_NAME  "stacktop-code"
#define CODEFILE_MAGIC 0x65646f63u

/* Words of a table: 2 MiB, of 64 in all. Code beyond that is walked by frame pointers. */
#define CODE_WORDS_MAX (1u << 19)
#define CODE_SPANS_MAX 4096u /* each is an entry of the process's list */

struct codefile_head {
	uint32_t magic;
	uint32_t nrows;
	uint32_t nwide;
	uint32_t nnames;
	uint32_t ntext;
	uint32_t pad;
};

/*
 * Builds the table of its rows, by run-time address. Rows that do not fit CODE_WORDS_MAX or
 * CODE_SPANS_MAX are left out. -EINVAL, -ENOMEM, -ECANCELED, or the error of a read. The caller
 * frees *out.
 */
int codefile_table(int fd, struct wide_rules *wide, const atomic_bool *cancel,
		   struct unwind_table **out);

/* Adds its rows to a draft that was sorted, but where that has some. Errors as above, or -E2BIG. */
int codefile_rows(int fd, struct code_draft *d);

typedef int codefile_name_fn(void *arg, uint64_t start, uint64_t size, const char *name);

/* Calls fn with each name, until it returns an error, which is returned. Errors as above. */
int codefile_names(int fd, codefile_name_fn *fn, void *arg);

#endif
