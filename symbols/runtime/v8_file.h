/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_V8_FILE_H
#define STACKTOP_SYMBOLS_RUNTIME_V8_FILE_H

/*
 * Finds V8 in an ELF file, a program or a library, by the constants v8dbg_* that it has for
 * debuggers (tools/gen-postmortem-metadata.py in V8).
 */

#include <stdbool.h>
#include <stdint.h>

#include "symbols/runtime/v8_layout.h"

struct elf_file;

struct v8_file {
	/* ELF addresses. */
	uint64_t major, minor; /* int: its version, for a check of the memory; 0: none */
	uint64_t code[2];      /* [start, end) of the builtins; 0: a stripped file does not say */
	int err;	       /* -ENOTSUP: a constant is missing, or is not what is understood */
	const char *missing;   /* which, a static string */
	struct v8_layout layout;
};

/* False: there is no V8 in it. */
bool v8_file_read(const struct elf_file *file, struct v8_file *out);

/* --- for v8_file_read and tests -------------------------------------------------------------- */

struct v8_constants;

/* NULL: no memory. */
struct v8_constants *v8_constants_new(void);
void v8_constants_free(struct v8_constants *c);
/* Notes a constant; others than v8dbg_* and those that are not needed are passed over. */
void v8_constants_note(struct v8_constants *c, const char *name, int32_t value);
/* 0, or -ENOTSUP with *missing. out->version is not set. */
int v8_constants_layout(const struct v8_constants *c, struct v8_layout *out, const char **missing);

#endif
