/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_REMOTEDEBUG_H
#define STACKTOP_SYMBOLS_ELF_REMOTEDEBUG_H

/*
 * Debug files from the servers in $DEBUGINFOD_URLS (debuginfod(8)), through libdebuginfod if it is
 * installed. A thread of its own fetches them; remotedebug_open does not wait for it. Any thread
 * may call these.
 */

#include "symbols/elf/elffile.h"

struct remotedebug;

struct remotedebug_state {
	unsigned int waiting; /* files asked for, including the current one */
	unsigned int found, missing;
	int error; /* -errno, why the last of the missing failed; 0: no server has any of them */
	uint64_t done, total;	       /* bytes of the current one; total 0: not known yet */
	char id[2 * BUILD_ID_MAX + 1]; /* of the current one, in hexadecimal; "": none */
};

/*
 * -ENOENT: $DEBUGINFOD_URLS is not set; -ELIBACC: no libdebuginfod; -ENOMEM; or the error of a
 * thread.
 */
int remotedebug_new(struct remotedebug **out);
/* Such an error in words; static, or as strerror. */
const char *remotedebug_trouble(int err);
/* Cancels the transfer. A thread that does not end at once is left behind with what it needs. */
void remotedebug_free(struct remotedebug *rd);

/*
 * True if a transfer has to be cancelled: `done` of `total` bytes (0: not known) came in `seconds`,
 * and `left` more may come in this run. A file may have LIMIT_REMOTE bytes; a server may take 30 s
 * for the first of them, and from then on 10 s and a second for each 64 KiB.
 */
bool remotedebug_is_too_much(uint64_t done, uint64_t total, uint64_t left, double seconds);

/*
 * A descriptor, which the caller owns, of the debug file with that build-id in the library's cache;
 * -EAGAIN: it has been asked for, try again later; -ENOENT: no server has it, it is too large, or
 * too many files were asked for.
 */
int remotedebug_open(struct remotedebug *rd, const uint8_t *id, size_t length);

/*
 * Gives up on all files that were asked for and are not here; they are not asked for again. Returns
 * how many.
 */
unsigned int remotedebug_cancel(struct remotedebug *rd);

void remotedebug_state(struct remotedebug *rd, struct remotedebug_state *out);

#endif
