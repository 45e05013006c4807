/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_REMOTEDEBUG_H
#define STACKTOP_SYMBOLS_ELF_REMOTEDEBUG_H

/*
 * Debug files from the servers in $DEBUGINFOD_URLS (debuginfod(8)), through libdebuginfod where it
 * is installed, fetched by a thread of its own; remotedebug_open does not wait for it. May be used
 * from any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elffile.h"

struct remotedebug;

struct remotedebug_state {
	unsigned int waiting; /* asked for, the one being fetched included */
	unsigned int found, missing;
	uint64_t done, total;	       /* bytes of the one being fetched; total 0: not known yet */
	char id[2 * BUILD_ID_MAX + 1]; /* of it, in hexadecimal; "": none */
};

/* -ENOENT: $DEBUGINFOD_URLS is not set; -ELIBACC: no libdebuginfod; -ENOMEM; else of the thread. */
int remotedebug_new(struct remotedebug **out);
/* What to tell a person of such an error; static, or as strerror. */
const char *remotedebug_trouble(int err);
/* Cancels what is being fetched. What does not end at once is left behind with what it needs. */
void remotedebug_free(struct remotedebug *rd);

/*
 * True when a transfer is to be given up: `done` of `total` bytes (0: not known) came in `seconds`,
 * and `left` more may come in this run. A file may have LIMIT_REMOTE bytes; a server may take 30 s
 * before the first of them, and 10 s and a second for each 64 KiB from then on.
 */
bool remotedebug_is_too_much(uint64_t done, uint64_t total, uint64_t left, double seconds);

/*
 * A descriptor, the caller's own, of the debug file of that build-id in the library's cache;
 * -EAGAIN: it has been asked for, try again later; -ENOENT: no server has it, it was too much, or
 * too many were asked for.
 */
int remotedebug_open(struct remotedebug *rd, const uint8_t *id, size_t length);

/* What was asked for and is not here is given up, and not asked for again. Returns how many. */
unsigned int remotedebug_cancel(struct remotedebug *rd);

void remotedebug_state(struct remotedebug *rd, struct remotedebug_state *out);

#endif
