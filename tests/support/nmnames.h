/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_NMNAMES_H
#define STACKTOP_TESTS_SUPPORT_NMNAMES_H

/* What nm says about a file's functions, and a table that is compared with it at random addresses.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "symbols/names/symtab.h"

#define SAMPLES 3000

/* A line of nm. */
struct line {
	uint64_t addr;
	uint64_t size;
	char *name;
	bool label;
};

struct names {
	struct line *lines;
	size_t count;
};

__attribute__((format(printf, 1, 2))) FILE *nmnames_run(const char *format, ...);

/* The functions, stubs (without a size) and labels that nm lists (name, value, class, type, size),
 * versions cut. */
void nmnames_read(struct names *names, const char *path, const char *options);

void nmnames_sort(struct names *names);

void nmnames_free(struct names *names);

/* Index of the first line behind addr. */
size_t nmnames_after(const struct names *names, uint64_t addr);

struct symtab *open_table(const char *path, const char *debug_root);

/* Random addresses: half in .text and its like, half near where a symbol begins or ends. */
void nmnames_pick(const char *path, const struct names *names, uint64_t *addrs);

void check_nm(const char *path, const char *root, const struct names *names);

#endif
