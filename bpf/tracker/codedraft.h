/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_CODEDRAFT_H
#define STACKTOP_BPF_TRACKER_CODEDRAFT_H

/*
 * What a process says of the code that it makes at run time: rows and names by address, as they are
 * found, in any order. Everything comes from the process, so all of it is bounded.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct elf_file;
struct wide_rules;

#define CODE_ROWS_MAX  (1u << 18)
#define CODE_NAMES_MAX (1u << 16)
#define CODE_TEXT_MAX  (4u << 20)   /* bytes of all names */
#define CODE_ADDR_MAX  (1ull << 56) /* of user addresses */

struct code_row { /* holds from pc on; unwind/row.h */
	uint64_t pc;
	uint32_t rule; /* of ROW_WIDE: the index counts in the draft's own set */
	uint32_t pad;
};

struct code_name {
	uint64_t start;
	uint32_t size;
	uint32_t text; /* offset of the name, which ends with a NUL */
};

struct code_run { /* rows of one function, from start to end */
	uint64_t start, end;
	uint32_t first, nrows;
};

struct code_draft {
	struct code_row *rows;
	uint32_t nrows, rows_room;
	struct code_run *runs; /* the last one may be open */
	uint32_t nruns, runs_room;
	struct code_name *names;
	uint32_t nnames, names_room;
	char *text;
	uint32_t ntext, text_room;
	struct wide_rules *wide;
};

/* -ENOMEM. To be freed in any case. */
int codedraft_init(struct code_draft *d);
void codedraft_free(struct code_draft *d);

/*
 * The rule from pc on. Rows of a run come in ascending order; of two with the same pc the second
 * counts. -ENOMEM, -E2BIG.
 */
int codedraft_row(struct code_draft *d, uint64_t pc, uint32_t rule);
/* Ends the run, which begins with the first row since the last end. A run without rows is none. */
int codedraft_end(struct code_draft *d, uint64_t end);
/* length: without a NUL; a longer name than any list shows is cut. -ENOMEM, -E2BIG. */
int codedraft_name(struct code_draft *d, uint64_t start, uint64_t size, const char *name,
		   size_t length);
/*
 * Adds the CFI and the functions of an ELF image whose sections of code say where they are in the
 * process. -ENOMEM, -E2BIG; an image that is no good adds nothing.
 */
int codedraft_elf(struct code_draft *d, const struct elf_file *file);

/* Sorts the runs. Where they overlap, the one that begins later counts. */
void codedraft_sort(struct code_draft *d);
/* Writes the draft, which was sorted, to a file, see codefile.h. -errno. */
int codedraft_write(const struct code_draft *d, int fd);

#endif
