/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_CODE_SOURCELIST_H
#define STACKTOP_SYMBOLS_CODE_SOURCELIST_H

/*
 * A source file of an interpreted language as a listing: what is an instruction elsewhere is a line
 * here, and its number is its address.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define SOURCELIST_LINES 65536u /* that one has at most; the rest is left out */

struct listing;

struct sourcelist_request {
	int root;	  /* as in sourcefile_read */
	const char *path; /* absolute */
	uint32_t around;  /* a line to be in the listing, from 1 on */
	time_t since;	  /* its process began; a file written later may be another. 0: not known */
	const atomic_bool *cancel; /* NULL, or true: give up soon */
};

/* A listing with one reference. -ENODATA: the file ends before the line; -ECANCELED, -ENOMEM; else
 * as in sourcefile_read. */
int sourcelist_read(const struct sourcelist_request *request, struct listing **out);
/*
 * The same without the file: the lines of these numbers, ascending, without their text. why:
 * static. -ENOMEM.
 */
int sourcelist_bare(const uint32_t *numbers, uint32_t n, const char *why, struct listing **out);

#endif
